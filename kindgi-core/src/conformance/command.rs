//! What generated cases are made of: calls by small numbers, which shrink well. What a number
//! stands for is said in `resolve.rs`.

use super::lab::Case;

/// A call of a case.
#[derive(Clone, Debug)]
pub(crate) struct Command {
    /// Whether it is called at all: a smaller case leaves it out without renumbering the others.
    pub(crate) on: bool,
    /// Which of the case's two tenants.
    pub(crate) tenant: u8,
    /// Which instant.
    pub(crate) at: u8,
    pub(crate) operation: Option<OperationBy>,
    pub(crate) what: What,
}

/// An operation: few ids and bodies, so that they meet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OperationBy {
    pub(crate) id: u8,
    pub(crate) body: u8,
    /// Until which instant it is kept; 255 is for long.
    pub(crate) until: u8,
}

/// Which call. `pick` is one of the case's judgments, classes or rules, counted over all its
/// commands. `elsewhere` is said of another project than the rule's or the run's.
#[derive(Clone, Debug)]
pub(crate) enum What {
    Record(RecordBy),
    Remove {
        pick: u8,
    },
    Judgment {
        pick: u8,
    },
    Judgments {
        filter: FilterBy,
        list: ListBy,
    },
    CreateClass {
        scope: u8,
        name: u8,
        content: u8,
    },
    ReplaceClass {
        pick: u8,
        revision: u8,
        content: u8,
        retire: bool,
    },
    Class {
        pick: u8,
    },
    Classes {
        scope: Option<u8>,
        list: ListBy,
    },
    CreateRule(RuleBy),
    AppendRule {
        pick: u8,
        version: u8,
        elsewhere: bool,
        next: RuleBy,
    },
    StopRule {
        pick: u8,
        elsewhere: bool,
    },
    Rule {
        pick: u8,
        elsewhere: bool,
    },
    Rules {
        project: u8,
        list: ListBy,
    },
    RuleVersions {
        pick: u8,
        elsewhere: bool,
        before: Option<u8>,
        limit: u8,
    },
    EnabledRules {
        project: u8,
    },
    WantedClasses {
        project: u8,
    },
    Take(TakeBy),
    Dismiss {
        run: u8,
        elsewhere: bool,
        /// Who and why.
        content: u8,
    },
    Reopen {
        run: u8,
        elsewhere: bool,
        content: u8,
    },
    QueueItem {
        run: u8,
        elsewhere: bool,
    },
    Queue {
        project: u8,
        filter: QueueFilterBy,
        /// `None` asks only how many there are.
        list: Option<ListBy>,
    },
    RuleResults {
        pick: u8,
        elsewhere: bool,
        since: Option<u8>,
    },
    EraseRun {
        run: u8,
    },
    IsErased {
        run: u8,
    },
    EraseParticipant {
        participant: u8,
    },
    Purge {
        /// Before which instant.
        before: u8,
        limit: u8,
        /// Goes on where the tenant's last step said, if it did.
        goes_on: bool,
    },
    JudgedRuns {
        filter: JudgedFilterBy,
        list: ListBy,
    },
    /// Asks for a receipt.
    Receipt(OperationBy),
    /// Keeps a receipt of what changed nothing.
    Keep {
        /// Of which kind of transition.
        kind: u8,
        pick: u8,
        content: u8,
    },
    /// One of the last four commands with its operation, at another time and for a row of its own.
    Again {
        pick: u8,
    },
}

#[derive(Clone, Debug)]
pub(crate) struct RecordBy {
    pub(crate) run: u8,
    pub(crate) key: u8,
    pub(crate) author: u8,
    pub(crate) participant: u8,
    /// Verdict, reason, correction, item value and how the id is written.
    pub(crate) content: u8,
    pub(crate) copy: Option<u8>,
    /// A class and its revision.
    pub(crate) class: Option<(u8, u8)>,
}

#[derive(Clone, Debug)]
pub(crate) struct RuleBy {
    pub(crate) project: u8,
    pub(crate) name: u8,
    /// All else, and how the id is written.
    pub(crate) content: u8,
    /// A class and its revision.
    pub(crate) class: Option<(u8, u8)>,
}

/// A run that is told to the rules that are enabled by then.
#[derive(Clone, Debug)]
pub(crate) struct TakeBy {
    pub(crate) run: u8,
    /// When it ended.
    pub(crate) ended: u8,
    /// A bit for each rule that takes it; all do, if none of them would.
    pub(crate) which: u8,
    /// Decided at another revision of the rules.
    pub(crate) stale: bool,
    pub(crate) content: u8,
}

/// Each part that is set must hold.
#[derive(Clone, Debug, Default)]
pub(crate) struct QueueFilterBy {
    pub(crate) state: Option<u8>,
    pub(crate) agent: Option<u8>,
    pub(crate) rule: Option<u8>,
    pub(crate) wants: Option<u8>,
    pub(crate) wants_any_or: Option<Vec<u8>>,
    pub(crate) added_after: Option<u8>,
    pub(crate) closed_after: Option<u8>,
}

/// Each part that is set must hold.
#[derive(Clone, Debug, Default)]
pub(crate) struct JudgedFilterBy {
    pub(crate) project: Option<u8>,
    /// An agent, perhaps at a version.
    pub(crate) agent: Option<(u8, Option<u8>)>,
    pub(crate) flow: Option<u8>,
    pub(crate) since: Option<u8>,
    pub(crate) until: Option<u8>,
    /// The beginning of a path, so long.
    pub(crate) segments: Option<(u8, u8)>,
}

/// Each part that is set must hold.
#[derive(Clone, Debug, Default)]
pub(crate) struct FilterBy {
    pub(crate) run: Option<u8>,
    /// An agent, perhaps at a version.
    pub(crate) agent: Option<(u8, Option<u8>)>,
    pub(crate) flow: Option<u8>,
    pub(crate) verdict: Option<bool>,
    pub(crate) class: Option<u8>,
    pub(crate) participant: Option<u8>,
}

/// Which rows of a list.
#[derive(Clone, Debug)]
pub(crate) struct ListBy {
    /// `None` is all projects; else a bit for each of them.
    pub(crate) readable: Option<u8>,
    /// An instant and a row.
    pub(crate) after: Option<(u8, u8)>,
    pub(crate) limit: u8,
}

/// Some commands in order, then some threads' at once.
#[derive(Clone, Debug)]
pub(crate) struct Round {
    pub(crate) before: Vec<Command>,
    pub(crate) threads: Vec<Vec<Command>>,
}

impl Case for Vec<Command> {
    fn fewer(&self) -> Vec<Self> {
        let without = |place: usize| {
            let mut fewer = self.clone();
            fewer
                .get_mut(place)
                .filter(|it| it.on)
                .map(|it| it.on = false)?;
            Some(fewer)
        };
        (0..self.len()).filter_map(without).collect()
    }
}

impl Case for Round {
    fn fewer(&self) -> Vec<Self> {
        let before = self.before.fewer().into_iter();
        let mut all: Vec<Self> = before
            .map(|before| Self {
                before,
                threads: self.threads.clone(),
            })
            .collect();
        for (place, thread) in self.threads.iter().enumerate() {
            for fewer in thread.fewer() {
                let mut round = self.clone();
                round.threads.splice(place..=place, [fewer]);
                all.push(round);
            }
        }
        all
    }
}
