//! Creating, listing, fetching, changing and stopping judging rules.

use std::sync::Arc;

use super::{ATTEMPTS, Engine, keyset, overtaken};
use crate::{
    error::{Error, ErrorKind},
    host::Permission,
    model::{
        JudgeClassId, JudgingRule, MaxOpen, Page, PageRequest, PageSize, Position, Principal,
        PrincipalRef, ProjectId, RuleId, RuleName, RuleWhen, Sample,
    },
    store::{ClassAt, Receipt, RuleAppended, RuleStopped},
};

/// What a judging rule says.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RuleSpec {
    /// Its name.
    pub name: RuleName,
    /// Which runs.
    pub when: RuleWhen,
    /// How large a share of them: all unless said.
    pub sample: Sample,
    /// How many open items at most.
    pub max_open: Option<MaxOpen>,
    /// Whose judgment it wants.
    pub class: Option<JudgeClassId>,
    /// Whether it takes runs: yes unless said.
    pub enabled: bool,
}

impl RuleSpec {
    /// A rule that takes every run that matches and wants anyone's judgment.
    pub fn new(name: RuleName, when: RuleWhen) -> Self {
        Self {
            name,
            when,
            sample: Sample::ALL,
            max_open: None,
            class: None,
            enabled: true,
        }
    }
}

/// What to change of a judging rule; what isn't said stays.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RulePatch {
    /// The new name.
    pub name: Option<RuleName>,
    /// Which runs, in place of all that was said before.
    pub when: Option<RuleWhen>,
    /// The new share.
    pub sample: Option<Sample>,
    /// The new cap; `Some(None)` lifts it.
    pub max_open: Option<Option<MaxOpen>>,
    /// Whose judgment it wants; `Some(None)` anyone's.
    pub class: Option<Option<JudgeClassId>>,
    /// Whether it takes runs.
    pub enabled: Option<bool>,
}

impl RulePatch {
    fn apply(&self, rule: &JudgingRule) -> JudgingRule {
        let mut next = rule.clone();
        if let Some(name) = &self.name {
            next.name = name.clone();
        }
        if let Some(when) = &self.when {
            next.when = when.clone();
        }
        if let Some(class) = &self.class {
            next.class = class.clone();
        }
        next.sample = self.sample.unwrap_or(next.sample);
        next.max_open = self.max_open.unwrap_or(next.max_open);
        next.enabled = self.enabled.unwrap_or(next.enabled);
        next
    }
}

impl Engine {
    /// Creates a judging rule: its version 1. The checks, in this order: the project exists and
    /// is readable ([`ProjectNotFound`](ErrorKind::ProjectNotFound)); the caller may write in it
    /// ([`PermissionDenied`](ErrorKind::PermissionDenied)); the class it wants lives and can
    /// apply in the project ([`JudgeClassNotFound`](ErrorKind::JudgeClassNotFound)).
    pub async fn create_judging_rule(
        &self,
        who: &Principal,
        project: &ProjectId,
        spec: RuleSpec,
    ) -> Result<JudgingRule, Error> {
        let created = self.create_rule(who, project, spec).await;
        self.unless_done(who, created, appended).await
    }

    async fn create_rule(
        &self,
        who: &Principal,
        project: &ProjectId,
        spec: RuleSpec,
    ) -> Result<JudgingRule, Error> {
        self.writable_project(who, project).await?;
        let rule = JudgingRule {
            id: self.new_id()?,
            tenant: who.tenant.clone(),
            project: project.clone(),
            version: 1,
            name: spec.name,
            when: spec.when,
            sample: spec.sample,
            max_open: spec.max_open,
            class: spec.class,
            enabled: spec.enabled,
            created_by: None,
            created_at: self.0.clock.now(),
            unregistered_at: None,
        };
        for _ in 0..ATTEMPTS {
            match self.append(who, rule.clone(), rule.class.as_ref()).await? {
                RuleAppended::Ok(rule) => return Ok(*rule),
                RuleAppended::ClassChanged | RuleAppended::Stale => {}
                RuleAppended::NotLive => return Err(no_rule()),
            }
        }
        Err(overtaken())
    }

    /// The latest versions of the project's live rules, oldest first: version 1's `created_at`,
    /// then the rule's id.
    pub async fn judging_rules(
        &self,
        who: &Principal,
        project: &ProjectId,
        request: &PageRequest,
    ) -> Result<Page<JudgingRule>, Error> {
        self.readable_project(who, project).await?;
        let slice = self
            .0
            .store
            .rules(&who.tenant, project, &keyset(request))
            .await?;
        let last = slice.rows.last().filter(|_| slice.more);
        let next = last.map(|rule| Position {
            at: rule.first_created_at,
            id: Arc::from(rule.latest.id.as_str()),
        });
        let rows = slice.rows.into_iter().map(|rule| rule.latest).collect();
        Ok(Page { rows, next })
    }

    /// A rule's latest version, live or stopped.
    pub async fn judging_rule(
        &self,
        who: &Principal,
        project: &ProjectId,
        id: &RuleId,
    ) -> Result<JudgingRule, Error> {
        self.readable_project(who, project).await?;
        self.latest(who, project, id).await
    }

    /// A rule's versions before a version (all, if none is given), newest first; and whether more
    /// follow.
    pub async fn judging_rule_versions(
        &self,
        who: &Principal,
        project: &ProjectId,
        id: &RuleId,
        before: Option<u32>,
        size: PageSize,
    ) -> Result<(Vec<JudgingRule>, bool), Error> {
        self.readable_project(who, project).await?;
        let store = &self.0.store;
        let found = store
            .rule_versions(&who.tenant, project, id, before, size)
            .await?;
        let slice = found.ok_or_else(no_rule)?;
        Ok((slice.rows, slice.more))
    }

    /// Changes a live rule: a new version with what is given. A change of nothing gives the
    /// latest version and makes none.
    ///
    /// The checks, in this order: the project exists and is readable
    /// ([`ProjectNotFound`](ErrorKind::ProjectNotFound)), the rule exists in it
    /// ([`JudgingRuleNotFound`](ErrorKind::JudgingRuleNotFound)), the caller may write
    /// ([`PermissionDenied`](ErrorKind::PermissionDenied)), the rule lives
    /// ([`JudgingRuleNotFound`](ErrorKind::JudgingRuleNotFound)), and a class that is named anew
    /// lives and can apply ([`JudgeClassNotFound`](ErrorKind::JudgeClassNotFound)).
    pub async fn update_judging_rule(
        &self,
        who: &Principal,
        project: &ProjectId,
        id: &RuleId,
        patch: RulePatch,
    ) -> Result<JudgingRule, Error> {
        let updated = self.update_rule(who, project, id, patch).await;
        self.unless_done(who, updated, appended).await
    }

    async fn update_rule(
        &self,
        who: &Principal,
        project: &ProjectId,
        id: &RuleId,
        patch: RulePatch,
    ) -> Result<JudgingRule, Error> {
        for _ in 0..ATTEMPTS {
            let latest = self.judging_rule(who, project, id).await?;
            self.require_write(who, project).await?;
            if latest.unregistered_at.is_some() {
                return Err(no_rule());
            }
            let mut next = patch.apply(&latest);
            if next == latest {
                let unchanged = Receipt::RuleAppended(RuleAppended::Ok(Box::new(latest)));
                let kept = self.keep_unchanged(who, unchanged).await?;
                return appended(kept).ok_or_else(no_rule);
            }
            next.version = latest.version.checked_add(1).ok_or_else(overtaken)?;
            // A class that stays may have been retired since; the rule keeps what it has.
            let class = next
                .class
                .as_ref()
                .filter(|class| latest.class.as_ref() != Some(class));
            match self.append(who, next.clone(), class).await? {
                RuleAppended::Ok(rule) => return Ok(*rule),
                RuleAppended::NotLive => return Err(no_rule()),
                RuleAppended::Stale | RuleAppended::ClassChanged => {}
            }
        }
        Err(overtaken())
    }

    /// Stops a rule: it takes no more runs and is listed no more. Whether it lived before.
    pub async fn unregister_judging_rule(
        &self,
        who: &Principal,
        project: &ProjectId,
        id: &RuleId,
    ) -> Result<bool, Error> {
        let stopped = self.stop(who, project, id).await;
        self.unless_done(who, stopped, stops).await
    }

    async fn stop(&self, who: &Principal, project: &ProjectId, id: &RuleId) -> Result<bool, Error> {
        self.judging_rule(who, project, id).await?;
        self.require_write(who, project).await?;
        let stopped = self.0.store.stop_rule(self.write(who), project, id).await?;
        match self.done(stopped)? {
            RuleStopped::Ok => Ok(true),
            RuleStopped::NotLive => {
                let unchanged = Receipt::RuleStopped(RuleStopped::NotLive);
                let kept = self.keep_unchanged(who, unchanged).await?;
                stops(kept).ok_or_else(no_rule)
            }
        }
    }

    async fn writable_project(&self, who: &Principal, project: &ProjectId) -> Result<(), Error> {
        self.readable_project(who, project).await?;
        self.require_write(who, project).await
    }

    async fn require_write(&self, who: &Principal, project: &ProjectId) -> Result<(), Error> {
        let message = "you may not manage the judging rules of this project";
        self.require(who, Permission::Write { project }, message)
            .await
    }

    async fn latest(
        &self,
        who: &Principal,
        project: &ProjectId,
        id: &RuleId,
    ) -> Result<JudgingRule, Error> {
        let latest = self.0.store.rule(&who.tenant, project, id).await?;
        latest.ok_or_else(no_rule)
    }

    /// Appends a version by this caller, if the class it names lives and can apply in the
    /// project.
    async fn append(
        &self,
        who: &Principal,
        mut next: JudgingRule,
        class: Option<&JudgeClassId>,
    ) -> Result<RuleAppended, Error> {
        let write = self.write(who);
        next.created_by = Some(PrincipalRef::from(who));
        next.created_at = write.now;
        let revision = match class {
            Some(class) => Some(self.class_for(who, &next.project, class).await?),
            None => None,
        };
        let class = class
            .zip(revision)
            .map(|(id, revision)| ClassAt { id, revision });
        self.done(
            self.0
                .store
                .append_rule_version(write, &next, class)
                .await?,
        )
    }

    /// The revision of a live class that can apply to runs of a project.
    async fn class_for(
        &self,
        who: &Principal,
        project: &ProjectId,
        id: &JudgeClassId,
    ) -> Result<u64, Error> {
        let class = self.0.store.class(&who.tenant, id).await?;
        let fits = class.filter(|class| {
            let own = class.value.scope.project();
            class.value.is_live() && own.is_none_or(|own| own == project)
        });
        match fits {
            Some(class) => Ok(class.revision),
            None => Err(Error::new(
                ErrorKind::JudgeClassNotFound,
                "no such judge class can apply in this project",
            )
            .with_field("/judgeClassId")),
        }
    }
}

fn appended(receipt: Receipt) -> Option<JudgingRule> {
    match receipt {
        Receipt::RuleAppended(RuleAppended::Ok(rule)) => Some(*rule),
        _ => None,
    }
}

/// Whether the rule lived until then.
fn stops(receipt: Receipt) -> Option<bool> {
    match receipt {
        Receipt::RuleStopped(stopped) => Some(stopped == RuleStopped::Ok),
        _ => None,
    }
}

pub(super) fn no_rule() -> Error {
    Error::new(ErrorKind::JudgingRuleNotFound, "no such judging rule")
}
