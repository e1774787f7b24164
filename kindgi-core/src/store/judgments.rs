//! What a backend promises for judgments.

use std::sync::Arc;

use async_trait::async_trait;

use super::{Applied, Keyset, Slice, StoreResult, Write};
use crate::{
    json::RawJson,
    model::{
        AgentId, FlowId, JudgeClassId, Judgment, JudgmentId, JudgmentWithCopies, ParticipantId,
        Readable, RunCopy, RunId, TenantId, Verdict, Version,
    },
};

/// Judgments and the copies of their runs.
#[async_trait]
pub trait JudgmentStore: Send + Sync + 'static {
    /// Records a judgment, and supersedes the live one of the same run, item key, author and
    /// participant (or none), if there is one.
    ///
    /// In this order, in one step:
    ///
    /// 1. the operation is known: [`Applied::Replayed`] or [`Applied::OtherBody`];
    /// 2. the run was erased: [`Recorded::RunErased`];
    /// 3. `class` is given and isn't at that revision: [`Recorded::ClassChanged`]. Whether a
    ///    class at that revision may be judged under is the caller's decision, not the store's;
    /// 4. no copy of the run is kept and none is given: [`Recorded::NeedsCopy`];
    /// 5. the copy is kept, if none was: one that is there never changes;
    /// 6. the new judgment is stored, live. Its `created_at` is moved up to its predecessor's
    ///    if it would be before it;
    /// 7. the predecessor's `unregistered_at` becomes the new one's `created_at`, and its
    ///    `superseded_by` the new one's id;
    /// 8. the run's item of the queue, if it has one, [moves](crate::rules::queue_state::settled);
    /// 9. the operation is kept, with its outcome.
    ///
    /// Nothing is written unless step 5 is reached.
    async fn record(
        &self,
        write: Write<'_>,
        new: &NewJudgment,
        copy: Option<&RunCopy>,
        class: Option<ClassAt<'_>>,
    ) -> StoreResult<Applied<Recorded>>;

    /// Removes a judgment: a live one gets `unregistered_at` (`now`, or its `created_at` if that
    /// is later) and lives no more, and the run's item of the queue
    /// [moves](crate::rules::queue_state::settled). Nothing revives.
    async fn remove(
        &self,
        write: Write<'_>,
        id: &JudgmentId,
    ) -> StoreResult<Applied<JudgmentRemoved>>;

    /// A judgment, live or not, with its copies.
    async fn judgment(
        &self,
        tenant: &TenantId,
        id: &JudgmentId,
    ) -> StoreResult<Option<JudgmentWithCopies>>;

    /// The live judgments that match, newest first: `created_at`, then id, both descending, the
    /// id compared bytewise. Only those of projects in `readable`.
    async fn judgments(
        &self,
        tenant: &TenantId,
        filter: &JudgmentFilter,
        readable: &Readable,
        keyset: &Keyset,
    ) -> StoreResult<Slice<Judgment>>;
}

/// A judgment to record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewJudgment {
    /// The judgment: live, with an id that no other of its tenant has.
    pub judgment: Judgment,
    /// The item's value; `None` where it points at nothing.
    pub item_value: Option<RawJson>,
}

/// A judge class at a revision.
#[derive(Clone, Copy, Debug)]
pub struct ClassAt<'a> {
    /// Which class.
    pub id: &'a JudgeClassId,
    /// The revision that the decision was made on.
    pub revision: u64,
}

/// What became of recording a judgment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Recorded {
    /// It is stored.
    Ok {
        /// As it is stored.
        judgment: Box<Judgment>,
        /// What it superseded.
        superseded: Option<JudgmentId>,
    },
    /// No copy of the run is kept yet, and none was given: capture one and record again.
    NeedsCopy,
    /// The run was erased.
    RunErased,
    /// The judge class isn't at the given revision any more: decide again.
    ClassChanged,
}

/// What became of removing a judgment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JudgmentRemoved {
    /// It was live, and is no more.
    Ok,
    /// There is no such judgment, or it doesn't live.
    NotLive,
}

/// Which judgments. Every part that is set must hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JudgmentFilter {
    /// Of this run.
    pub run: Option<RunId>,
    /// Of runs of this agent.
    pub agent: Option<AgentId>,
    /// Of runs of an agent of this version; the engine sets it with `agent` only.
    pub agent_version: Option<Version>,
    /// Of runs of this flow.
    pub flow: Option<FlowId>,
    /// With this verdict.
    pub verdict: Option<Verdict>,
    /// Recorded under this class.
    pub class: Option<JudgeClassId>,
    /// Made on behalf of this participant.
    pub participant: Option<ParticipantId>,
}

impl JudgmentFilter {
    /// Whether a judgment matches.
    pub fn matches(&self, judgment: &Judgment) -> bool {
        let agent = judgment.subject.agent();
        let version = agent.map(|_| judgment.subject.version());
        fits(&self.run, Some(&judgment.run))
            && fits(&self.agent, agent)
            && fits(&self.agent_version, version)
            && fits(&self.flow, judgment.subject.flow())
            && fits(&self.verdict, Some(&judgment.verdict))
            && fits(&self.class, judgment.class.as_ref())
            && fits(&self.participant, judgment.participant.as_ref())
    }
}

fn fits<T: PartialEq>(wanted: &Option<T>, is: Option<&T>) -> bool {
    wanted.as_ref().is_none_or(|wanted| is == Some(wanted))
}

#[async_trait]
impl<T: JudgmentStore + ?Sized> JudgmentStore for Arc<T> {
    async fn record(
        &self,
        write: Write<'_>,
        new: &NewJudgment,
        copy: Option<&RunCopy>,
        class: Option<ClassAt<'_>>,
    ) -> StoreResult<Applied<Recorded>> {
        (**self).record(write, new, copy, class).await
    }

    async fn remove(
        &self,
        write: Write<'_>,
        id: &JudgmentId,
    ) -> StoreResult<Applied<JudgmentRemoved>> {
        (**self).remove(write, id).await
    }

    async fn judgment(
        &self,
        tenant: &TenantId,
        id: &JudgmentId,
    ) -> StoreResult<Option<JudgmentWithCopies>> {
        (**self).judgment(tenant, id).await
    }

    async fn judgments(
        &self,
        tenant: &TenantId,
        filter: &JudgmentFilter,
        readable: &Readable,
        keyset: &Keyset,
    ) -> StoreResult<Slice<Judgment>> {
        (**self).judgments(tenant, filter, readable, keyset).await
    }
}
