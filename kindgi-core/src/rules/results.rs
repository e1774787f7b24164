//! What comes out of a rule: counts and shares for each of its versions and each agent version.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::{ItemState, JudgeClassId, RunId, Verdict, Version};

/// What a telling of a run came to, for one version of the rule.
#[derive(Clone, Debug)]
pub struct Told {
    /// The run.
    pub run: RunId,
    /// The rule's version.
    pub rule_version: u32,
    /// The run's agent's version; `None` for a flow's run, and once it is not known any more.
    pub agent_version: Option<Version>,
    /// What became of it.
    pub became: Became,
}

/// What became of a run that matched and was sampled.
#[derive(Clone, Debug)]
pub enum Became {
    /// It was taken, and its item is in this state, with these live judgments.
    Taken {
        /// Where the item is.
        state: ItemState,
        /// Each live judgment: its class, if any, and its verdict.
        judgments: Vec<(Option<JudgeClassId>, Verdict)>,
    },
    /// The rule had as many open items as it may have.
    Skipped,
}

/// The results for one version of a rule and one agent version.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// The rule's version.
    pub rule_version: u32,
    /// The agent's version; `None` for flows' runs and for those not known any more.
    pub agent_version: Option<Version>,
    /// How many runs were taken: the sum of the next four.
    pub added: u64,
    /// Of them, those that wait.
    pub open: u64,
    /// Of them, those that are judged.
    pub judged: u64,
    /// Of them, those that were dismissed.
    pub dismissed: u64,
    /// Of them, those that were erased.
    pub erased: u64,
    /// How many runs were skipped because of the cap.
    pub skipped_by_cap: u64,
    /// How many live judgments there are of runs that were taken.
    pub judgments: u64,
    /// How many of the taken runs have one.
    pub runs_with_judgments: u64,
    /// The weighted share of `yes`; `None` when the weights are nothing together.
    pub yes_share: Option<f64>,
    /// The judgments by class: unclassified first, then by the class's id.
    pub by_class: Vec<ClassCount>,
}

/// The judgments of one class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClassCount {
    /// The class; `None` for unclassified ones.
    pub class: Option<JudgeClassId>,
    /// How many.
    pub judgments: u64,
    /// Of them, how many said `yes`.
    pub yes: u64,
}

/// The groups, newest rule version first, then by the agent's version, `None` last.
///
/// A judgment counts with its class's current weight, retired ones' too; an unclassified one with
/// 1. `weight` gives 0 for a class that isn't there any more.
pub fn groups(told: &[Told], weight: impl Fn(&JudgeClassId) -> f64) -> Vec<Group> {
    let mut groups: BTreeMap<_, Vec<&Told>> = BTreeMap::new();
    for each in told {
        // Descending by rule version; `None` after every version.
        let version = (each.agent_version.is_none(), each.agent_version.clone());
        let key = (std::cmp::Reverse(each.rule_version), version);
        groups.entry(key).or_default().push(each);
    }
    let group = |((version, (_, agent)), told): (_, Vec<&Told>)| {
        let std::cmp::Reverse(version): std::cmp::Reverse<u32> = version;
        group(version, agent, &told, &weight)
    };
    groups.into_iter().map(group).collect()
}

fn group(
    rule_version: u32,
    agent_version: Option<Version>,
    told: &[&Told],
    weight: impl Fn(&JudgeClassId) -> f64,
) -> Group {
    let mut states = [0; ItemState::ALL.len()];
    let mut skipped = BTreeSet::new();
    let mut by_class: BTreeMap<Option<JudgeClassId>, ClassCount> = BTreeMap::new();
    let mut runs_with_judgments = 0;
    for each in told {
        let (state, judgments) = match &each.became {
            Became::Taken { state, judgments } => (state, judgments),
            Became::Skipped => {
                skipped.insert(&each.run);
                continue;
            }
        };
        for (count, counted) in states.iter_mut().zip(ItemState::ALL) {
            *count += u64::from(counted == *state);
        }
        runs_with_judgments += u64::from(!judgments.is_empty());
        for (class, verdict) in judgments {
            let count = by_class.entry(class.clone()).or_insert_with(|| ClassCount {
                class: class.clone(),
                judgments: 0,
                yes: 0,
            });
            count.judgments += 1;
            count.yes += u64::from(*verdict == Verdict::Yes);
        }
    }
    let [open, judged, dismissed, erased] = states;
    let by_class: Vec<ClassCount> = by_class.into_values().collect();
    Group {
        rule_version,
        agent_version,
        added: open + judged + dismissed + erased,
        open,
        judged,
        dismissed,
        erased,
        skipped_by_cap: skipped.len() as u64,
        judgments: by_class.iter().map(|class| class.judgments).sum(),
        runs_with_judgments,
        yes_share: yes_share(&by_class, weight),
        by_class,
    }
}

/// The weighted share of `yes`; `None` instead of a division by nothing.
pub fn yes_share(by_class: &[ClassCount], weight: impl Fn(&JudgeClassId) -> f64) -> Option<f64> {
    let weights: Vec<f64> = by_class
        .iter()
        .map(|count| count.class.as_ref().map_or(1.0, &weight))
        .collect();
    // Relative to the largest, so that no sum of huge weights is infinite.
    let largest = weights.iter().copied().fold(0.0, f64::max);
    if largest == 0.0 {
        return None;
    }
    let sum = |of: fn(&ClassCount) -> u64| -> f64 {
        let weighted = by_class.iter().zip(&weights);
        weighted
            .map(|(count, weight)| of(count) as f64 * (weight / largest))
            .sum()
    };
    let all = sum(|count| count.judgments);
    (all > 0.0).then(|| (sum(|count| count.yes) / all).clamp(0.0, 1.0))
}
