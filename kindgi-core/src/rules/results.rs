//! What comes out of a rule: counts and shares for each of its versions and each agent version.

use std::{cmp::Reverse, collections::BTreeMap};

use crate::model::{ItemState, JudgeClassId, Verdict, Version};

/// What the telling of a run came to, for the version of the rule that took or skipped it.
#[derive(Clone, Debug)]
pub struct Told {
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

/// What there is to count for one version of a rule and one agent version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counted {
    /// The rule's version.
    pub rule_version: u32,
    /// The agent's version; `None` for flows' runs and for those not known any more.
    pub agent_version: Option<Version>,
    /// How many taken runs are in each state, in the order of [`ItemState::ALL`].
    pub states: [u64; ItemState::ALL.len()],
    /// How many runs were skipped because of the cap.
    pub skipped_by_cap: u64,
    /// How many of the taken runs have a live judgment.
    pub runs_with_judgments: u64,
    /// Their live judgments by class: unclassified first, then by the class's id.
    pub by_class: Vec<ClassCount>,
}

impl Counted {
    /// Nothing yet.
    pub fn nothing(rule_version: u32, agent_version: Option<Version>) -> Self {
        Self {
            rule_version,
            agent_version,
            states: [0; ItemState::ALL.len()],
            skipped_by_cap: 0,
            runs_with_judgments: 0,
            by_class: Vec::new(),
        }
    }

    /// Where it stands among a rule's: newest rule version first, then by the agent's version,
    /// `None` last.
    pub fn place(&self) -> impl Ord + use<> {
        let version = self.agent_version.clone();
        (Reverse(self.rule_version), version.is_none(), version)
    }
}

/// Counts tellings. A run is told once.
pub fn count(told: &[Told]) -> Vec<Counted> {
    let mut groups: BTreeMap<(u32, Option<Version>), Counted> = BTreeMap::new();
    for each in told {
        let (version, agent) = (each.rule_version, each.agent_version.clone());
        let group = groups
            .entry((version, agent.clone()))
            .or_insert_with(|| Counted::nothing(version, agent));
        let (state, judgments) = match &each.became {
            Became::Taken { state, judgments } => (state, judgments),
            Became::Skipped => {
                group.skipped_by_cap += 1;
                continue;
            }
        };
        for (count, counted) in group.states.iter_mut().zip(ItemState::ALL) {
            *count += u64::from(counted == *state);
        }
        group.runs_with_judgments += u64::from(!judgments.is_empty());
        for (class, verdict) in judgments {
            let class = class.clone();
            let place = group
                .by_class
                .binary_search_by(|count| count.class.cmp(&class));
            let place = place.unwrap_or_else(|place| {
                let (judgments, yes) = (0, 0);
                let count = ClassCount {
                    class,
                    judgments,
                    yes,
                };
                group.by_class.insert(place, count);
                place
            });
            if let Some(count) = group.by_class.get_mut(place) {
                count.judgments += 1;
                count.yes += u64::from(*verdict == Verdict::Yes);
            }
        }
    }
    let mut groups: Vec<Counted> = groups.into_values().collect();
    groups.sort_by_cached_key(Counted::place);
    groups
}

/// The results, in the order of what was counted.
///
/// A judgment counts with its class's current weight, retired ones' too; an unclassified one with
/// 1. `weight` gives 0 for a class that isn't there any more.
pub fn groups(counted: Vec<Counted>, weight: impl Fn(&JudgeClassId) -> f64) -> Vec<Group> {
    let group = |counted: Counted| {
        let [open, judged, dismissed, erased] = counted.states;
        Group {
            rule_version: counted.rule_version,
            agent_version: counted.agent_version,
            added: open + judged + dismissed + erased,
            open,
            judged,
            dismissed,
            erased,
            skipped_by_cap: counted.skipped_by_cap,
            judgments: counted.by_class.iter().map(|class| class.judgments).sum(),
            runs_with_judgments: counted.runs_with_judgments,
            yes_share: yes_share(&counted.by_class, &weight),
            by_class: counted.by_class,
        }
    };
    counted.into_iter().map(group).collect()
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
