//! Judgments with one fault.

use std::{sync::atomic::Ordering, time::Duration};

use async_trait::async_trait;
use kindgi_core::{
    model::{Judgment, JudgmentId, JudgmentWithCopies, Readable, RunCopy, TenantId},
    store::{
        Applied, ClassAt, JudgeClassStore, JudgingQueueStore, JudgmentFilter, JudgmentRemoved,
        JudgmentStore, Keyset, NewJudgment, Recorded, Slice, StoreResult, Write,
    },
};

use super::{Fault, Faulty};

#[async_trait]
impl JudgmentStore for Faulty {
    async fn record(
        &self,
        write: Write<'_>,
        new: &NewJudgment,
        copy: Option<&RunCopy>,
        class: Option<ClassAt<'_>>,
    ) -> StoreResult<Applied<Recorded>> {
        let _writing = self.begin();
        let races = [Fault::SupersedeRaces, Fault::ErasureRaces].contains(&self.fault);
        let crowded = races && self.is_crowded().await;
        let of = |id: &JudgmentId| (write.tenant.clone(), id.clone());
        let key = write
            .operation
            .map(|operation| (write.tenant.clone(), *operation.id));
        self.note(|noted| noted.tenants.push(write.tenant.clone()));
        if let Some(operation) = write.operation.filter(|_| self.is(Fault::OperationsShared)) {
            let tenant = write.tenant.clone();
            let used = self.note(|noted| noted.used.entry(*operation.id).or_insert(tenant).clone());
            if used != *write.tenant {
                return Ok(Applied::OtherBody);
            }
        }
        let kept = key
            .as_ref()
            .and_then(|key| self.note(|noted| noted.answers.get(key).cloned()));
        if let Some(kept) = kept.clone().filter(|_| self.is(Fault::RefusalKept)) {
            return Ok(Applied::Replayed(kept));
        }
        let mut changed = new.clone();
        self.change_new(&mut changed, crowded);
        let mut copy = copy.cloned();
        copy.iter_mut().for_each(|copy| self.change_copy(copy));
        let mut class = class.filter(|_| !self.is(Fault::ClassUncheckedByRecord));
        if let (Fault::RecordClassRaces, Some(at)) = (self.fault, class) {
            let found = self.store.class(write.tenant, at.id).await?;
            if found.is_some_and(|found| found.revision == at.revision) {
                // Whoever retires the class meanwhile looks for the judgment afterwards.
                self.class_checks.fetch_add(1, Ordering::SeqCst);
                let patience = Duration::from_millis(20);
                self.until_others_did(&self.counts.judgment_reads, patience)
                    .await;
                class = None;
            }
        }
        let (project, run) = (&new.judgment.project, &new.judgment.run);
        let was = self.store.queue_item(write.tenant, project, run).await?;
        if self.is(Fault::CopyInAStepOfItsOwn) && copy.is_some() {
            let mut first = changed.clone();
            first.judgment.id = "first".parse().unwrap();
            first.judgment.item.key = "first".parse().unwrap();
            let write = Write {
                operation: None,
                ..write
            };
            self.store
                .record(write, &first, copy.as_ref(), None)
                .await?;
            self.store.remove(write, &first.judgment.id).await?;
            tokio::task::yield_now().await;
        }
        let operation = self.operation(&write).await;
        let inner = Write { operation, ..write };
        let mut applied = self
            .store
            .record(inner, &changed, copy.as_ref(), class)
            .await?;
        match &mut applied {
            Applied::Done(Recorded::Ok {
                judgment,
                superseded,
            }) => {
                if self.is(Fault::CreatedAtNotMoved) {
                    judgment.created_at = new.judgment.created_at;
                }
                if let Some(old) = superseded
                    .as_ref()
                    .filter(|_| self.is(Fault::SupersedeInTwoSteps))
                {
                    self.note(|noted| noted.unfinished.insert(of(old)));
                    tokio::task::yield_now().await;
                    self.note(|noted| noted.unfinished.remove(&of(old)));
                }
                if let Some(item) = was.filter(|_| self.is(Fault::ItemSettledInAStepOfItsOwn)) {
                    let key = (write.tenant.clone(), item.run.clone());
                    self.note(|noted| noted.unsettled.insert(key.clone(), item));
                    tokio::task::yield_now().await;
                    self.note(|noted| noted.unsettled.remove(&key));
                }
                if let Some(value) = &new.item_value {
                    self.note(|noted| noted.item_values.insert(of(&judgment.id), value.clone()));
                }
                if let Some(copy) = &copy {
                    let run = (write.tenant.clone(), copy.run.clone());
                    self.note(|noted| noted.copies.insert(run, copy.clone()));
                }
                if let Some(key) = key.filter(|_| self.is(Fault::ReceiptsOutliveErasure)) {
                    let (judgment, superseded) = (judgment.clone(), superseded.clone());
                    self.note(|noted| {
                        noted.answers.insert(
                            key,
                            Recorded::Ok {
                                judgment,
                                superseded,
                            },
                        )
                    });
                }
            }
            Applied::Replayed(outcome) if self.is(Fault::ReceiptsOutliveErasure) => {
                *outcome = kept.unwrap_or_else(|| outcome.clone());
            }
            Applied::Done(refusal) if self.is(Fault::RefusalKept) => {
                self.note(|noted| key.map(|key| noted.answers.insert(key, refusal.clone())));
            }
            _ => {}
        }
        Ok(applied)
    }

    async fn remove(
        &self,
        write: Write<'_>,
        id: &JudgmentId,
    ) -> StoreResult<Applied<JudgmentRemoved>> {
        let _writing = self.begin();
        let was = self.store.judgment(write.tenant, id).await?;
        let was_live = was.as_ref().is_some_and(|it| it.judgment.is_live());
        if self.is(Fault::RemoveReadsThenWrites) && was_live {
            // Whoever else is about to remove it reads it first.
            let reads = &self.counts.removal_reads;
            reads.fetch_add(1, Ordering::SeqCst);
            self.until_others_did(reads, Duration::from_millis(20))
                .await;
        }
        let inner = Write {
            operation: self.operation(&write).await,
            ..write
        };
        let applied = self.store.remove(inner, id).await?;
        if applied == Applied::Done(JudgmentRemoved::Ok) {
            self.note(|noted| {
                noted
                    .removed
                    .insert((write.tenant.clone(), id.clone()), write.now)
            });
        }
        let lie = match self.fault {
            Fault::RemovedTwice => was.is_some(),
            Fault::RemoveReadsThenWrites => was_live,
            _ => false,
        };
        if lie && applied == Applied::Done(JudgmentRemoved::NotLive) {
            return Ok(Applied::Done(JudgmentRemoved::Ok));
        }
        Ok(applied)
    }

    async fn judgment(
        &self,
        tenant: &TenantId,
        id: &JudgmentId,
    ) -> StoreResult<Option<JudgmentWithCopies>> {
        let mut found = self.store.judgment(tenant, id).await?;
        self.counts.judgment_reads.fetch_add(1, Ordering::SeqCst);
        if found.is_none() && self.is(Fault::TenantIgnoredById) {
            for other in self.note(|noted| noted.tenants.clone()) {
                found = found.or(self.store.judgment(&other, id).await?);
            }
        }
        let Some(mut it) = found else {
            return Ok(None);
        };
        let key = (tenant.clone(), id.clone());
        self.note(|noted| {
            if noted.unfinished.contains(&key) {
                it.judgment.unregistered_at = None;
                it.judgment.superseded_by = None;
            }
            let copy = noted.copies.get(&(tenant.clone(), it.judgment.run.clone()));
            match self.fault {
                Fault::CopyOverwritten => it.run = copy.cloned().unwrap_or(it.run.clone()),
                Fault::ItemValuesOutliveErasure => {
                    it.item_value = noted.item_values.get(&key).cloned()
                }
                Fault::ChainBroken if it.judgment.superseded_by.is_some() => {
                    let end = it.judgment.unregistered_at;
                    it.judgment.unregistered_at = end.map(|end| end.saturating_add_millis(1));
                }
                Fault::RemovedBeforeItBegan => {
                    let at = noted.removed.get(&key).copied();
                    it.judgment.unregistered_at = at.or(it.judgment.unregistered_at);
                }
                _ => {}
            }
        });
        Ok(Some(it))
    }

    async fn judgments(
        &self,
        tenant: &TenantId,
        filter: &JudgmentFilter,
        readable: &Readable,
        keyset: &Keyset,
    ) -> StoreResult<Slice<Judgment>> {
        let mut filter = filter.clone();
        if self.is(Fault::VerdictFilterIgnored) {
            filter.verdict = None;
        }
        if let Some(after) = keyset
            .after
            .as_ref()
            .filter(|_| self.is(Fault::CursorRowMustLive))
        {
            let row = self
                .store
                .judgment(tenant, &after.id.parse().unwrap())
                .await?;
            if row.is_none_or(|it| !it.judgment.is_live()) {
                return Ok(Slice {
                    rows: Vec::new(),
                    more: false,
                });
            }
        }
        let inner = self.change_keyset(keyset);
        let all = self.change_readable(readable);
        let mut page = self.store.judgments(tenant, &filter, &all, &inner).await?;
        if self.is(Fault::ReadableAfterPaging) {
            page.rows.retain(|row| readable.contains(&row.project));
        }
        self.change_page(&mut page, keyset.limit, |row| row.id.as_str());
        Ok(page)
    }
}
