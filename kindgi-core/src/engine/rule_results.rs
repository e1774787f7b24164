//! What came of a judging rule, and what one would have taken.

use super::{Engine, judging_rules::no_rule};
use crate::{
    clock::Timestamp,
    error::{Error, ErrorKind},
    model::{Principal, ProjectId, RuleId, RuleWhen, Sample, Weight},
    rules::{matching, results, sampling},
};

/// The most recent runs that a preview looks at.
pub const MAX_PREVIEW: u16 = 500;

/// What a rule that isn't there yet, or not like this, would have taken.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PreviewRule {
    /// Which runs.
    pub when: RuleWhen,
    /// How large a share of them; all unless said.
    pub sample: Sample,
    /// How many of the project's last runs to look at: 1 to [`MAX_PREVIEW`], 100 unless said.
    pub last: u16,
    /// The rule whose sampling to use, so that the runs are exactly those that it takes with this
    /// share. Without one, how many is an estimate.
    pub rule: Option<RuleId>,
}

impl PreviewRule {
    /// Every one of the last 100 runs that match.
    pub fn new(when: RuleWhen) -> Self {
        Self {
            when,
            sample: Sample::ALL,
            last: 100,
            rule: None,
        }
    }
}

/// What a preview found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Preview {
    /// How many ended runs of their own that replay nothing it looked at.
    pub considered: u64,
    /// How many of them would have been taken, whatever the cap.
    pub matched: u64,
}

impl Engine {
    /// What came of a rule's runs that were told since an instant (that one included), or ever:
    /// for each of its versions and each agent version, newest rule version first.
    ///
    /// It looks at every telling of that rule since then and at the live judgments of the runs
    /// that it took, and at nothing of other rules.
    pub async fn judging_rule_results(
        &self,
        who: &Principal,
        project: &ProjectId,
        rule: &RuleId,
        since: Option<Timestamp>,
    ) -> Result<Vec<results::Group>, Error> {
        self.readable_project(who, project).await?;
        let store = &self.0.store;
        let found = store
            .rule_results(&who.tenant, project, rule, since)
            .await?;
        let found = found.ok_or_else(no_rule)?;
        let weights = found.weights;
        Ok(results::groups(found.counted, |class| {
            weights
                .get(class)
                .map_or(0.0, |weight: &Weight| weight.get())
        }))
    }

    /// What a rule would have taken of the project's last runs, as the host's
    /// [`RecentRuns`](crate::host::RecentRuns) says them. The checks, in this order: `last` is 1
    /// to [`MAX_PREVIEW`] ([`BadInput`](ErrorKind::BadInput)); the project exists and is readable
    /// ([`ProjectNotFound`](ErrorKind::ProjectNotFound)); so does the rule, if one is named
    /// ([`JudgingRuleNotFound`](ErrorKind::JudgingRuleNotFound)).
    pub async fn preview_judging_rule(
        &self,
        who: &Principal,
        project: &ProjectId,
        preview: &PreviewRule,
    ) -> Result<Preview, Error> {
        if !(1..=MAX_PREVIEW).contains(&preview.last) {
            let message = format!("must be from 1 to {MAX_PREVIEW}");
            return Err(Error::new(ErrorKind::BadInput, message).with_field("last"));
        }
        self.readable_project(who, project).await?;
        if let Some(rule) = &preview.rule {
            let found = self.0.store.rule(&who.tenant, project, rule).await?;
            found.ok_or_else(no_rule)?;
        }
        let runs = self.recent(&who.tenant, project, preview.last).await?;
        let matching = runs
            .iter()
            .filter(|run| matching::matches(&preview.when, run));
        let matched = match &preview.rule {
            Some(rule) => matching
                .filter(|run| sampling::takes(preview.sample, rule, &run.id))
                .count() as u64,
            None => (matching.count() as f64 * preview.sample.get()).round() as u64,
        };
        Ok(Preview {
            considered: runs.len() as u64,
            matched,
        })
    }
}
