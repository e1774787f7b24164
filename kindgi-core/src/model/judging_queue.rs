//! The judging queue: the runs that rules took, each once.

use super::{
    ids::{FlowId, ProjectId, RuleId, RunId},
    run::{RunStatus, Subject},
};
use crate::clock::Timestamp;

/// The flow of an agent's run that its host says nothing of.
pub const AGENT_TURN: &str = "agent.turn";

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
    /// or [`AGENT_TURN`].
    pub fn flow_id(&self) -> &str {
        let own = self.subject.flow().or(self.flow.as_ref());
        own.map_or(AGENT_TURN, |flow| flow.as_str())
    }
}

/// A rule, at a version, that took a run.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TakenBy {
    /// The rule.
    pub rule: RuleId,
    /// Its version when it took the run.
    pub version: u32,
}
