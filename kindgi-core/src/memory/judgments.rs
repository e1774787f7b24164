//! Judgments, and the copies of their runs.

use std::collections::HashMap;

use async_trait::async_trait;

use super::{Live, MemoryStore, Tenant, place, slice};
use crate::{
    Timestamp,
    json::RawJson,
    model::{
        AssertedBy, ItemKey, Judgment, JudgmentId, JudgmentWithCopies, ParticipantId, Position,
        Readable, RunCopy, RunId, TenantId,
    },
    store::{
        Applied, ClassAt, JudgmentFilter, JudgmentRemoved, JudgmentStore, Keyset, NewJudgment,
        Recorded, Slice, StoreResult, Write,
    },
};

/// The judgments of a tenant, by id and by run.
#[derive(Debug, Default)]
pub(super) struct Judgments {
    rows: HashMap<JudgmentId, NewJudgment>,
    runs: HashMap<RunId, JudgedRun>,
    live: Live<JudgmentId>,
}

/// A run with a copy.
#[derive(Debug)]
struct JudgedRun {
    copy: RunCopy,
    judgments: Vec<JudgmentId>,
    live: Live<JudgmentId>,
    /// The live judgment of each key.
    by_key: HashMap<LiveKey, JudgmentId>,
}

/// What at most one live judgment of a run has.
type LiveKey = (ItemKey, AssertedBy, Option<ParticipantId>);

fn live_key(judgment: &Judgment) -> LiveKey {
    (
        judgment.item.key.clone(),
        judgment.asserted_by.clone(),
        judgment.participant.clone(),
    )
}

fn place_of(judgment: &Judgment) -> Position {
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
            self.runs.insert(judgment.run.clone(), JudgedRun::of(copy));
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

impl JudgedRun {
    /// Keeps the copy with texts of its own: a slice would keep a whole document in memory.
    fn of(copy: &RunCopy) -> Self {
        let mut copy = copy.clone();
        copy.input = copy.input.detached();
        copy.output = copy.output.detached();
        Self {
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
        self.judgments.record(&new, copy)
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
            tenant.apply(write, |tenant| tenant.judgments.end(id, write.now, None))
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
