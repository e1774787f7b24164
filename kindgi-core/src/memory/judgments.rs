//! Judgments, and the copies of their runs.

use std::collections::{BTreeMap, HashMap};

use async_trait::async_trait;

use super::{Live, MemoryStore, Tenant, operations::forget_who, place, slice};
use crate::{
    Timestamp,
    json::RawJson,
    model::{
        AssertedBy, ItemKey, JudgeClassId, Judgment, JudgmentId, JudgmentWithCopies, ParticipantId,
        Position, ProjectId, Readable, RunContext, RunCopy, RunId, TenantId, Verdict,
    },
    rules::queue_state::LiveJudgments,
    store::{
        Applied, ClassAt, JudgedRun, JudgedRunFilter, JudgmentFilter, JudgmentRemoved,
        JudgmentStore, Keyset, NewJudgment, Recorded, Slice, StoreResult, Write,
    },
};

/// The judgments of a tenant, by id and by run.
#[derive(Debug, Default)]
pub(super) struct Judgments {
    pub(super) rows: HashMap<JudgmentId, NewJudgment>,
    pub(super) runs: HashMap<RunId, KeptRun>,
    pub(super) live: Live<JudgmentId>,
}

/// A run with a copy.
#[derive(Debug)]
pub(super) struct KeptRun {
    pub(super) project: ProjectId,
    pub(super) copy: RunCopy,
    pub(super) judgments: Vec<JudgmentId>,
    pub(super) live: Live<JudgmentId>,
    /// The live judgment of each key.
    pub(super) by_key: HashMap<LiveKey, JudgmentId>,
}

/// What at most one live judgment of a run has.
pub(super) type LiveKey = (ItemKey, AssertedBy, Option<ParticipantId>);

pub(super) fn live_key(judgment: &Judgment) -> LiveKey {
    (
        judgment.item.key.clone(),
        judgment.asserted_by.clone(),
        judgment.participant.clone(),
    )
}

pub(super) fn place_of(judgment: &Judgment) -> Position {
    place(judgment.created_at, judgment.id.as_str())
}

impl Judgments {
    fn record(&mut self, new: &NewJudgment, copy: Option<&RunCopy>) -> Recorded {
        let mut new = new.clone();
        let judgment = &mut new.judgment;
        if !self.runs.contains_key(&judgment.run) {
            let Some(copy) = copy else {
                return Recorded::NeedsCopy;
            };
            let kept = KeptRun::of(&judgment.project, copy);
            self.runs.insert(judgment.run.clone(), kept);
        }
        let predecessor = self
            .runs
            .get(&judgment.run)
            .and_then(|run| run.by_key.get(&live_key(judgment)))
            .cloned();
        if let Some(old) = predecessor.as_ref().and_then(|id| self.rows.get(id)) {
            judgment.created_at = judgment.created_at.max(old.judgment.created_at);
        }
        if let Some(id) = &predecessor {
            self.end(id, judgment.created_at, Some(&judgment.id));
        }
        self.live.insert(place_of(judgment), judgment.id.clone());
        if let Some(run) = self.runs.get_mut(&judgment.run) {
            run.judgments.push(judgment.id.clone());
            run.live.insert(place_of(judgment), judgment.id.clone());
            run.by_key.insert(live_key(judgment), judgment.id.clone());
        }
        let stored = Box::new(judgment.clone());
        self.rows.insert(stored.id.clone(), new);
        Recorded::Ok {
            judgment: stored,
            superseded: predecessor,
        }
    }

    /// Ends a live judgment's life, not before it began.
    fn end(
        &mut self,
        id: &JudgmentId,
        at: Timestamp,
        successor: Option<&JudgmentId>,
    ) -> JudgmentRemoved {
        let Some(row) = self.rows.get_mut(id).filter(|row| row.judgment.is_live()) else {
            return JudgmentRemoved::NotLive;
        };
        let judgment = &mut row.judgment;
        self.live.remove(&place_of(judgment));
        if let Some(run) = self.runs.get_mut(&judgment.run) {
            run.live.remove(&place_of(judgment));
            run.by_key.remove(&live_key(judgment));
        }
        judgment.unregistered_at = Some(at.max(judgment.created_at));
        judgment.superseded_by = successor.cloned();
        JudgmentRemoved::Ok
    }

    fn with_copies(&self, id: &JudgmentId) -> Option<JudgmentWithCopies> {
        let row = self.rows.get(id)?;
        let run = self.runs.get(&row.judgment.run)?;
        Some(JudgmentWithCopies {
            judgment: row.judgment.clone(),
            run: run.copy.clone(),
            item_value: row.item_value.clone(),
        })
    }

    fn list(
        &self,
        filter: &JudgmentFilter,
        readable: &Readable,
        keyset: &Keyset,
    ) -> Option<Slice<Judgment>> {
        let live = match &filter.run {
            None => &self.live,
            Some(run) => &self.runs.get(run)?.live,
        };
        Some(slice(live, keyset, |id| {
            let judgment = &self.rows.get(id)?.judgment;
            let wanted = filter.matches(judgment) && readable.contains(&judgment.project);
            wanted.then_some(judgment)
        }))
    }

    /// A run's live judgments by class.
    pub(super) fn live_of(&self, run: &RunId) -> Vec<LiveJudgments> {
        let mut by_class: BTreeMap<_, LiveJudgments> = BTreeMap::new();
        for judgment in self.live_in(run) {
            let at = judgment.created_at;
            let under = by_class
                .entry(&judgment.class)
                .or_insert_with(|| LiveJudgments {
                    class: judgment.class.clone(),
                    judgments: 0,
                    first_at: at,
                });
            under.judgments += 1;
            under.first_at = under.first_at.min(at);
        }
        by_class.into_values().collect()
    }

    /// The class and the verdict of each of a run's live judgments.
    pub(super) fn verdicts_of(&self, run: &RunId) -> Vec<(Option<JudgeClassId>, Verdict)> {
        let live = self.live_in(run);
        live.map(|judgment| (judgment.class.clone(), judgment.verdict))
            .collect()
    }

    /// A run's live judgments, newest first.
    fn live_in(&self, run: &RunId) -> impl Iterator<Item = &Judgment> {
        let live = self.runs.get(run).into_iter();
        let ids = live.flat_map(|run| run.live.values().rev());
        ids.filter_map(|id| self.rows.get(id))
            .map(|row| &row.judgment)
    }

    /// Whether a judgment names a class.
    pub(super) fn name(&self, class: &JudgeClassId) -> bool {
        let mut rows = self.rows.values();
        rows.any(|row| row.judgment.class.as_ref() == Some(class))
    }

    /// The judgments that were recorded before an instant, oldest first.
    pub(super) fn recorded_before(&self, before: Timestamp) -> Vec<(Position, JudgmentId)> {
        let rows = self.rows.values().map(|row| &row.judgment);
        let old = rows.filter(|judgment| judgment.created_at < before);
        let mut old: Vec<_> = old.map(|it| (place_of(it), it.id.clone())).collect();
        old.sort();
        old
    }

    /// Forgets a judgment, and its run's copy with the last one; gives the run.
    pub(super) fn forget(&mut self, id: &JudgmentId) -> Option<RunId> {
        let at = self.rows.get(id)?.judgment.created_at;
        self.end(id, at, None);
        let run = self.rows.remove(id)?.judgment.run;
        if let Some(kept) = self.runs.get_mut(&run) {
            kept.judgments.retain(|other| other != id);
            if kept.judgments.is_empty() {
                self.runs.remove(&run);
            }
        }
        Some(run)
    }

    /// Clears what a participant said, and who they were; gives how many judgments that changed.
    pub(super) fn erase_participant(
        &mut self,
        participant: &ParticipantId,
        pseudonym: &ParticipantId,
    ) -> u64 {
        let mut changed = 0;
        for row in self.rows.values_mut() {
            let judgment = &mut row.judgment;
            if judgment.participant.as_ref() != Some(participant) {
                continue;
            }
            let old_key = live_key(judgment);
            forget_who(judgment, pseudonym);
            if let Some(run) = self.runs.get_mut(&judgment.run)
                && judgment.is_live()
            {
                run.by_key.remove(&old_key);
                run.by_key.insert(live_key(judgment), judgment.id.clone());
            }
            changed += 1;
        }
        changed
    }

    /// The judged runs that match and replay nothing.
    pub(super) fn judged_runs(&self, filter: &JudgedRunFilter) -> impl Iterator<Item = JudgedRun> {
        let judged = |run: &KeptRun| JudgedRun {
            project: run.project.clone(),
            copy: run.copy.clone(),
            judgments: self.live_in(&run.copy.run).cloned().collect(),
        };
        let counts = |run: &JudgedRun| {
            let context = run.copy.context.as_ref();
            let replays = context.is_some_and(RunContext::is_of_replay);
            !run.judgments.is_empty() && !replays && filter.matches(run)
        };
        self.runs.values().map(judged).filter(counts)
    }

    /// Clears a run's content.
    pub(super) fn erase_run(&mut self, run: &RunId) {
        let Some(run) = self.runs.get_mut(run) else {
            return;
        };
        run.copy = run.copy.erased();
        for id in &run.judgments {
            if let Some(row) = self.rows.get_mut(id) {
                row.item_value = None;
                row.judgment.reason = None;
                row.judgment.correction = None;
            }
        }
    }
}

impl KeptRun {
    /// Keeps the copy with texts of its own: a slice would keep a whole document in memory.
    pub(super) fn of(project: &ProjectId, copy: &RunCopy) -> Self {
        let mut copy = copy.clone();
        copy.input = copy.input.detached();
        copy.output = copy.output.detached();
        Self {
            project: project.clone(),
            copy,
            judgments: Vec::new(),
            live: Live::new(),
            by_key: HashMap::new(),
        }
    }
}

impl Tenant {
    fn record(
        &mut self,
        new: &NewJudgment,
        copy: Option<&RunCopy>,
        class: Option<ClassAt<'_>>,
    ) -> Recorded {
        if self.erased.contains(&new.judgment.run) {
            return Recorded::RunErased;
        }
        if class.is_some_and(|class| !self.classes.is_at(class)) {
            return Recorded::ClassChanged;
        }
        let judgment = new.judgment.clone();
        let item_value = new.item_value.as_ref().map(RawJson::detached);
        let new = NewJudgment {
            judgment,
            item_value,
        };
        let recorded = self.judgments.record(&new, copy);
        self.settle(&new.judgment.run);
        recorded
    }

    fn remove(&mut self, id: &JudgmentId, now: Timestamp) -> JudgmentRemoved {
        let removed = self.judgments.end(id, now, None);
        let found = self.judgments.rows.get(id);
        if let Some(run) = found.map(|row| row.judgment.run.clone()) {
            self.settle(&run);
        }
        removed
    }
}

#[async_trait]
impl JudgmentStore for MemoryStore {
    async fn record(
        &self,
        write: Write<'_>,
        new: &NewJudgment,
        copy: Option<&RunCopy>,
        class: Option<ClassAt<'_>>,
    ) -> StoreResult<Applied<Recorded>> {
        Ok(self.change(write.tenant, |tenant| {
            tenant.apply(write, |tenant| tenant.record(new, copy, class))
        }))
    }

    async fn remove(
        &self,
        write: Write<'_>,
        id: &JudgmentId,
    ) -> StoreResult<Applied<JudgmentRemoved>> {
        Ok(self.change(write.tenant, |tenant| {
            tenant.apply(write, |tenant| tenant.remove(id, write.now))
        }))
    }

    async fn judgment(
        &self,
        tenant: &TenantId,
        id: &JudgmentId,
    ) -> StoreResult<Option<JudgmentWithCopies>> {
        Ok(self.look(tenant, |tenant| tenant.judgments.with_copies(id)))
    }

    async fn judgments(
        &self,
        tenant: &TenantId,
        filter: &JudgmentFilter,
        readable: &Readable,
        keyset: &Keyset,
    ) -> StoreResult<Slice<Judgment>> {
        let found = self.look(tenant, |tenant| {
            tenant.judgments.list(filter, readable, keyset)
        });
        Ok(found.unwrap_or(Slice {
            rows: Vec::new(),
            more: false,
        }))
    }
}
