//! What a backend promises for what the host may ask beside the API.

use std::{num::NonZeroU16, sync::Arc};

use async_trait::async_trait;

use super::{Keyset, Slice, StoreResult, Write};
use crate::{
    clock::Timestamp,
    model::{
        AgentId, FlowId, Judgment, ParticipantId, Position, ProjectId, RunCopy, RunId, Segment,
        TenantId, Version,
    },
};

/// The end of data, and what is built from it before.
#[async_trait]
pub trait Lifecycle: Send + Sync + 'static {
    /// Erases a run, whether or not it was ever judged: clears its copy (input and output become
    /// `null`; context and segments go), its judgments' item values, reasons and corrections,
    /// and the same in the outcomes of kept operations. Verdicts stay, live ones live. Later
    /// judgments of the run are refused. Erasing twice changes nothing.
    ///
    /// Its item of the queue becomes
    /// [erased](crate::rules::queue_state::erased), in the outcomes of kept operations, too, where
    /// only the reason is cleared; and the tellings that took or skipped the run forget its agent's
    /// version.
    ///
    /// The write's operation is not used.
    async fn erase_run(&self, write: Write<'_>, run: &RunId) -> StoreResult<()>;

    /// Whether the run was erased. The engine asks before it refuses a judgment for anything
    /// that an erased run must not tell.
    async fn is_erased(&self, tenant: &TenantId, run: &RunId) -> StoreResult<bool>;

    /// Erases a participant: clears the reasons and corrections of the judgments made on their
    /// behalf, dead ones' too, and puts `pseudonym` in their id's place, in the outcomes of kept
    /// operations, too. Verdicts stay, live ones live, and count as before. How many judgments
    /// changed.
    ///
    /// The pseudonym is one that no judgment of the tenant has. A judgment that is recorded under
    /// the old id later is one of somebody new. The write's operation is not used.
    async fn erase_participant(
        &self,
        write: Write<'_>,
        participant: &ParticipantId,
        pseudonym: &ParticipantId,
    ) -> StoreResult<u64>;

    /// Removes rows for good that are older than `before`; and says where to go on.
    ///
    /// A step looks at `limit` rows of one part at most, oldest first, those after `from`. If there
    /// are so many, the next step goes on after the last of them; if there are fewer, at the
    /// beginning of the next part. The parts, in this order:
    ///
    /// 1. [tellings](PurgePart::Tellings) of runs that were told and had ended before it, each
    ///    with the run's item, whatever its state, and all that took or skipped it: one row;
    /// 2. [judgments](PurgePart::Judgments) recorded before it, live or dead. The item of their
    ///    run, if it stays, [moves](crate::rules::queue_state::settled) as if a live one had been
    ///    removed: a run that was judged before it was told may wait again. A run's copy goes with
    ///    its last judgment, if the run isn't erased; a `superseded_by` may then name a row that is
    ///    gone;
    /// 3. [classes](PurgePart::Classes) retired before it that no judgment and no version of a
    ///    rule names.
    ///
    /// Items go first, so that none opens only to be purged a step later, and fills a rule's cap
    /// meanwhile. Rules stay, and so does that a run is erased. From the first such call on, no run that
    /// ended before `before` is taken: see [`take`](super::JudgingQueueStore::take).
    ///
    /// `from` is where the step before said to go on, for the same `before`; `None` begins. The
    /// write's operation is not used.
    async fn purge(
        &self,
        write: Write<'_>,
        before: Timestamp,
        from: Option<&PurgePosition>,
        limit: NonZeroU16,
    ) -> StoreResult<Purged>;

    /// The judged runs that match, newest first: when their copy was taken, then the run's id,
    /// both descending, the id compared bytewise.
    ///
    /// A judged run is one with a copy and a live judgment. Replays are left out, and so are
    /// erased runs, of which there is nothing left to use.
    async fn judged_runs(
        &self,
        tenant: &TenantId,
        filter: &JudgedRunFilter,
        keyset: &Keyset,
    ) -> StoreResult<Slice<JudgedRun>>;
}

/// What is purged, in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PurgePart {
    /// Runs that were told, by the later of when they were told and when they ended, then by the
    /// run's id.
    Tellings,
    /// Judgments, by `created_at` and id.
    Judgments,
    /// Judge classes, by `unregistered_at` and id.
    Classes,
}

impl PurgePart {
    /// All, in order.
    pub const ALL: [Self; 3] = [Self::Tellings, Self::Judgments, Self::Classes];
}

/// How far a purge is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PurgePosition {
    /// In which part.
    pub part: PurgePart,
    /// The last row that was looked at; `None` before the first.
    pub after: Option<Position>,
}

/// What a step of a purge did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Purged {
    /// How many rows it removed: judgments, tellings and classes.
    pub removed: u64,
    /// Where to go on; `None` once nothing is left.
    pub next: Option<PurgePosition>,
}

/// Which judged runs. Every part that is set must hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct JudgedRunFilter {
    /// Of this project.
    pub project: Option<ProjectId>,
    /// Of this agent.
    pub agent: Option<AgentId>,
    /// Of an agent of this version.
    pub agent_version: Option<Version>,
    /// Of this flow.
    pub flow: Option<FlowId>,
    /// With a copy taken at that instant or later.
    pub since: Option<Timestamp>,
    /// With a copy taken before that instant.
    pub until: Option<Timestamp>,
    /// Started with a segment path that begins with these; any path, and none, if this is empty.
    pub segments: Vec<Segment>,
}

impl JudgedRunFilter {
    /// Whether a run matches.
    pub fn matches(&self, run: &JudgedRun) -> bool {
        let copy = &run.copy;
        let agent = copy.subject.agent();
        let version = agent.map(|_| copy.subject.version());
        let path = copy.segments.as_deref().unwrap_or_default();
        fits(&self.project, Some(&run.project))
            && fits(&self.agent, agent)
            && fits(&self.agent_version, version)
            && fits(&self.flow, copy.subject.flow())
            && self.since.is_none_or(|at| copy.captured_at >= at)
            && self.until.is_none_or(|at| copy.captured_at < at)
            && path.starts_with(&self.segments)
    }
}

fn fits<T: PartialEq>(wanted: &Option<T>, is: Option<&T>) -> bool {
    wanted.as_ref().is_none_or(|wanted| is == Some(wanted))
}

/// A judged run: what a test set is built from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JudgedRun {
    /// The project it belonged to when its copy was taken.
    pub project: ProjectId,
    /// Its copy.
    pub copy: RunCopy,
    /// Its live judgments, newest first; at least one.
    pub judgments: Vec<Judgment>,
}

#[async_trait]
impl<T: Lifecycle + ?Sized> Lifecycle for Arc<T> {
    async fn erase_run(&self, write: Write<'_>, run: &RunId) -> StoreResult<()> {
        (**self).erase_run(write, run).await
    }

    async fn is_erased(&self, tenant: &TenantId, run: &RunId) -> StoreResult<bool> {
        (**self).is_erased(tenant, run).await
    }

    async fn erase_participant(
        &self,
        write: Write<'_>,
        participant: &ParticipantId,
        pseudonym: &ParticipantId,
    ) -> StoreResult<u64> {
        (**self)
            .erase_participant(write, participant, pseudonym)
            .await
    }

    async fn purge(
        &self,
        write: Write<'_>,
        before: Timestamp,
        from: Option<&PurgePosition>,
        limit: NonZeroU16,
    ) -> StoreResult<Purged> {
        (**self).purge(write, before, from, limit).await
    }

    async fn judged_runs(
        &self,
        tenant: &TenantId,
        filter: &JudgedRunFilter,
        keyset: &Keyset,
    ) -> StoreResult<Slice<JudgedRun>> {
        (**self).judged_runs(tenant, filter, keyset).await
    }
}
