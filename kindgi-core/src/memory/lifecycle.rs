//! The end of data, and what is built from it before.

use std::num::NonZeroU16;

use async_trait::async_trait;

use super::{MemoryStore, Tenant};
use crate::{
    Timestamp,
    model::{ParticipantId, Position, RunId, TenantId},
    store::{
        JudgedRun, JudgedRunFilter, Keyset, Lifecycle, PurgePart, PurgePosition, Purged, Slice,
        StoreResult, Write,
    },
};

impl Tenant {
    fn purge(
        &mut self,
        before: Timestamp,
        from: Option<&PurgePosition>,
        limit: NonZeroU16,
    ) -> Purged {
        self.queue.purge_before(before);
        let part = from.map_or(PurgePart::Tellings, |from| from.part);
        let after = from.and_then(|from| from.after.as_ref());
        let limit = usize::from(limit.get());
        let (looked_at, last, removed) = match part {
            PurgePart::Judgments => {
                let rows = step(self.judgments.recorded_before(before), after, limit);
                for (_, id) in &rows {
                    if let Some(run) = self.judgments.forget(id) {
                        self.settle(&run);
                    }
                }
                (rows.len(), rows.last().map(|row| row.0.clone()), rows.len())
            }
            PurgePart::Tellings => {
                let rows = step(self.queue.told_before(before), after, limit);
                for (_, run) in &rows {
                    self.queue.forget(run);
                }
                (rows.len(), rows.last().map(|row| row.0.clone()), rows.len())
            }
            PurgePart::Classes => {
                let rows = step(self.classes.retired_before(before), after, limit);
                let (looked_at, last) = (rows.len(), rows.last().map(|row| row.0.clone()));
                let unnamed = rows
                    .into_iter()
                    .filter(|(_, id)| !self.judgments.name(id) && !self.rules.name(id));
                let unnamed: Vec<_> = unnamed.collect();
                for (_, id) in &unnamed {
                    self.classes.forget(id);
                }
                (looked_at, last, unnamed.len())
            }
        };
        let next = match looked_at == limit {
            true => Some(PurgePosition { part, after: last }),
            false => PurgePart::ALL
                .into_iter()
                .find(|later| *later > part)
                .map(|part| PurgePosition { part, after: None }),
        };
        let removed = removed as u64;
        Purged { removed, next }
    }
}

/// The rows after a position, so many at most.
fn step<T>(rows: Vec<(Position, T)>, after: Option<&Position>, limit: usize) -> Vec<(Position, T)> {
    let later = |(place, _): &(Position, T)| after.is_none_or(|after| place > after);
    rows.into_iter().filter(later).take(limit).collect()
}

#[async_trait]
impl Lifecycle for MemoryStore {
    async fn erase_run(&self, write: Write<'_>, run: &RunId) -> StoreResult<()> {
        self.change(write.tenant, |tenant| {
            tenant.erased.insert(run.clone());
            tenant.judgments.erase_run(run);
            tenant.queue.erase_run(run, write.now);
            tenant.operations.erase_run(run);
        });
        Ok(())
    }

    async fn is_erased(&self, tenant: &TenantId, run: &RunId) -> StoreResult<bool> {
        Ok(self.look(tenant, |tenant| tenant.erased.contains(run)))
    }

    async fn erase_participant(
        &self,
        write: Write<'_>,
        participant: &ParticipantId,
        pseudonym: &ParticipantId,
    ) -> StoreResult<u64> {
        Ok(self.change(write.tenant, |tenant| {
            tenant.operations.erase_participant(participant, pseudonym);
            tenant.judgments.erase_participant(participant, pseudonym)
        }))
    }

    async fn purge(
        &self,
        write: Write<'_>,
        before: Timestamp,
        from: Option<&PurgePosition>,
        limit: NonZeroU16,
    ) -> StoreResult<Purged> {
        Ok(self.change(write.tenant, |tenant| tenant.purge(before, from, limit)))
    }

    async fn judged_runs(
        &self,
        tenant: &TenantId,
        filter: &JudgedRunFilter,
        keyset: &Keyset,
    ) -> StoreResult<Slice<JudgedRun>> {
        let found = self.look(tenant, |tenant| {
            let judged = tenant.judgments.judged_runs(filter);
            let runs = judged.filter(|run| !tenant.erased.contains(&run.copy.run));
            Some(newest(runs.collect(), keyset))
        });
        Ok(found.unwrap_or(Slice {
            rows: Vec::new(),
            more: false,
        }))
    }
}

fn newest(mut runs: Vec<JudgedRun>, keyset: &Keyset) -> Slice<JudgedRun> {
    let place = |run: &JudgedRun| super::place(run.copy.captured_at, run.copy.run.as_str());
    runs.sort_by_cached_key(|run| std::cmp::Reverse(place(run)));
    if let Some(after) = &keyset.after {
        runs.retain(|run| place(run) < *after);
    }
    let limit = usize::from(keyset.limit.get());
    let more = runs.len() > limit;
    runs.truncate(limit);
    Slice { rows: runs, more }
}
