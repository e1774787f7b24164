//! The judging queue: the runs that rules took, each once.

use std::collections::BTreeSet;

use super::{
    ids::{AgentId, FlowId, JudgeClassId, ProjectId, RuleId, RunId, Version},
    principal::PrincipalRef,
    run::{RunStatus, Subject},
    text::{InvalidText, free, text_type},
};
use crate::clock::Timestamp;

/// Where an item of the queue is: a function of facts, see
/// [`rules::queue_state`](crate::rules::queue_state).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ItemState {
    /// It waits for a judgment.
    Open,
    /// Every rule that took it has the judgment it wants.
    Judged,
    /// Somebody dismissed it.
    Dismissed,
    /// Its run was erased.
    Erased,
}

impl ItemState {
    /// All, in the API's order.
    pub const ALL: [Self; 4] = [Self::Open, Self::Judged, Self::Dismissed, Self::Erased];

    /// As the API writes it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Judged => "judged",
            Self::Dismissed => "dismissed",
            Self::Erased => "erased",
        }
    }

    /// From what the API writes.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.as_str() == name)
    }
}

/// How a run's version was chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Via {
    /// It got the live version.
    Live,
    /// The caller named one.
    Named,
}

/// A run that ended, as the host tells it to the rules.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct EndedRun {
    /// The host's id of it.
    pub id: RunId,
    /// The project it belongs to.
    pub project: ProjectId,
    /// What it ran.
    pub subject: Subject,
    /// The flow of an agent's run, where the host says one.
    pub flow: Option<FlowId>,
    /// How it ended.
    pub status: RunStatus,
    /// How its version was chosen; `None` where that wasn't recorded.
    pub via: Option<Via>,
    /// Whether it was only tried out.
    pub dry_run: bool,
    /// Whether it is a comparison's replay.
    pub replay: bool,
    /// Whether it is a run of its own, not a step of another.
    pub top_level: bool,
    /// When it ended.
    pub ended_at: Timestamp,
}

impl EndedRun {
    /// A completed run of its own, no replay and no dry run, whose version choice wasn't
    /// recorded.
    pub fn new(id: RunId, project: ProjectId, subject: Subject, ended_at: Timestamp) -> Self {
        Self {
            id,
            project,
            subject,
            flow: None,
            status: RunStatus::Completed,
            via: None,
            dry_run: false,
            replay: false,
            top_level: true,
            ended_at,
        }
    }

    /// The flow's id as the API shows it: a flow run's own, what the host says of an agent's run,
    /// or [`FlowId::AGENT_TURN`].
    pub fn flow_id(&self) -> FlowId {
        let own = self.subject.flow().or(self.flow.as_ref());
        own.cloned().unwrap_or_else(FlowId::agent_turn)
    }
}

/// The most code points that the reason of a dismissal may have.
pub const MAX_DISMISS_REASON_CHARS: usize = 500;

text_type!(
    /// Why an item was dismissed: at most 500 code points, without U+0000.
    ///
    /// An empty reason is no reason: leave it out.
    DismissReason,
    |text| {
        if text.is_empty() {
            return Err(InvalidText::shape("must not be empty; leave it out"));
        }
        free(text, MAX_DISMISS_REASON_CHARS)
    }
);

/// A rule, at a version, that took a run.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TakenBy {
    /// The rule.
    pub rule: RuleId,
    /// Its version when it took the run.
    pub version: u32,
    /// The class whose judgment that version wants; `None` for any judgment.
    pub wants: Option<JudgeClassId>,
}

/// The live judgments of a run under one class.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ClassProgress {
    /// The class; `None` for unclassified ones.
    pub class: Option<JudgeClassId>,
    /// How many; at least one.
    pub judgments: u64,
}

/// A run in the queue: never its content, only what it was and where it stands.
///
/// It is a run's one item, however many rules took it. How it moves is said in
/// [`rules::queue_state`](crate::rules::queue_state).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueueItem {
    /// The run.
    pub run: RunId,
    /// The project it belongs to.
    pub project: ProjectId,
    /// The agent that ran, and its version; `None` for a flow's run, and once the run is erased.
    pub agent: Option<(AgentId, Version)>,
    /// The flow, as [`EndedRun::flow_id`] gives it.
    pub flow: FlowId,
    /// When the run ended.
    pub completed_at: Timestamp,
    /// When it was queued.
    pub added_at: Timestamp,
    /// The rules that took it, by their ids; at least one.
    pub taken_by: Vec<TakenBy>,
    /// The run's live judgments: unclassified ones first, then by the class's id. Empty once the
    /// run is erased.
    pub progress: Vec<ClassProgress>,
    /// Where it is.
    pub state: ItemState,
    /// When it was closed: of a judged item when the last missing judgment was recorded, which
    /// may be before it was queued; `None` while it is open.
    pub closed_at: Option<Timestamp>,
    /// Who dismissed or reopened it last.
    pub closed_by: Option<PrincipalRef>,
    /// Why it was dismissed; `None` once it was reopened or its run erased.
    pub reason: Option<DismissReason>,
}

impl QueueItem {
    /// Whether one of its rules wants any judgment.
    pub fn wants_any(&self) -> bool {
        self.taken_by.iter().any(|by| by.wants.is_none())
    }

    /// The classes that its rules want, each once, by their ids.
    pub fn wanted_classes(&self) -> BTreeSet<&JudgeClassId> {
        self.taken_by
            .iter()
            .filter_map(|by| by.wants.as_ref())
            .collect()
    }
}
