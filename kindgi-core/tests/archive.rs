//! For every law of archives there are movers that lose something, on which it fails; and what the
//! lines of an archive are.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod faults;
#[path = "archive/lines.rs"]
mod lines;

use std::{
    num::NonZeroU16,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use async_trait::async_trait;
use kindgi_core::{
    BoxError, MemoryStore,
    conformance::{
        self,
        archive::{ArchiveBackend, House, laws},
    },
    model::{Reason, RunCopy},
    store::{
        Archive, ExportPosition, Exported, Imported, Receipt, Record, Recorded, StoreResult,
        archive::{Because, RecordId, TellingRecord},
    },
};

/// A way to lose something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    None,
    // Of exports.
    DeadJudgmentsLeftOut,
    FirstVersionsLeftOut,
    PurgesLeftOut,
    NeverJudgedErasedRunsLeftOut,
    PageEndSkipped,
    PageStartRepeated,
    TenantsMixed,
    LimitIgnored,
    // Of imports.
    RevisionsCountedAnew,
    ItemValuesDropped,
    ContextsDropped,
    ReceiptsWithoutBody,
    ReceiptsWithoutReason,
    ReceiptsDropped,
    ItemsDropped,
    ItemsOfSeveralDropped,
    SkipsDropped,
    RulesRevisionDropped,
    BatchInPieces,
    DifferenceOverwritten,
    DifferenceIgnored,
    RepeatRefused,
    RefusedOnesSkipped,
}

struct Broken(Fault);

impl ArchiveBackend for Broken {
    type Guard = ();

    async fn build(&self) -> Result<((), House), BoxError> {
        let store = MemoryStore::new();
        let archive = Mover {
            fault: self.0,
            store: store.clone(),
            imports: AtomicUsize::new(0),
        };
        Ok((
            (),
            House {
                store: Arc::new(store),
                archive: Arc::new(archive),
            },
        ))
    }
}

struct Mover {
    fault: Fault,
    store: MemoryStore,
    imports: AtomicUsize,
}

#[async_trait]
impl Archive for Mover {
    async fn export(
        &self,
        from: Option<&ExportPosition>,
        limit: NonZeroU16,
    ) -> StoreResult<Exported> {
        let fault = self.fault;
        let asked = match fault {
            Fault::LimitIgnored => NonZeroU16::new(limit.get() + 1).unwrap(),
            _ => limit,
        };
        let mut page = self.store.export(from, asked).await?;
        let is_full = page.records.len() == usize::from(limit.get());
        page.records.retain(|record| match (fault, record) {
            (Fault::DeadJudgmentsLeftOut, Record::Judgment(new)) => new.judgment.is_live(),
            (Fault::FirstVersionsLeftOut, Record::RuleVersion(rule)) => rule.version > 1,
            (Fault::PurgesLeftOut, Record::Purge(_)) => false,
            (Fault::NeverJudgedErasedRunsLeftOut, Record::Run(run)) => run.copy.is_some(),
            _ => true,
        });
        match fault {
            Fault::PageEndSkipped if is_full && page.records.len() > 1 => {
                page.records.pop();
            }
            Fault::PageStartRepeated => {
                let after = from.and_then(ExportPosition::after);
                if let Some(after) = after {
                    let again = self.find(after).await?;
                    page.records.splice(0..0, again);
                }
            }
            Fault::TenantsMixed => page.records.sort_by_key(|record| record.id().id),
            _ => {}
        }
        Ok(page)
    }

    async fn import(&self, records: &[Record]) -> StoreResult<Imported> {
        let number = self.imports.fetch_add(1, Ordering::SeqCst);
        let mut records = records.to_vec();
        for record in &mut records {
            self.spoil(record);
        }
        match self.fault {
            Fault::ReceiptsDropped => records.retain(|it| !matches!(it, Record::Operation(_))),
            Fault::RulesRevisionDropped => records.retain(|it| !matches!(it, Record::Rules(_))),
            Fault::BatchInPieces => {
                let mut added = 0;
                for record in records {
                    match self.store.import(&[record]).await? {
                        Imported::Ok { added: one } => added += one,
                        refused => return Ok(refused),
                    }
                }
                return Ok(Imported::Ok { added });
            }
            Fault::DifferenceOverwritten | Fault::DifferenceIgnored => {
                let mut kept = Vec::new();
                for record in records {
                    if self.find(&record.id()).await?.is_none_or(|it| it == record) {
                        kept.push(record);
                    }
                }
                records = kept;
            }
            Fault::RefusedOnesSkipped => loop {
                match self.store.import(&records).await? {
                    Imported::Refused(refused) if refused.because == Because::Erased => {
                        records.retain(|record| record.id() != refused.record);
                    }
                    imported => return Ok(imported),
                }
            },
            Fault::RepeatRefused if number > 0 => {
                for record in &records {
                    if self.find(&record.id()).await?.is_some() {
                        return Err(kindgi_core::StoreError::other("it is there"));
                    }
                }
            }
            _ => {}
        }
        self.store.import(&records).await
    }
}

impl Mover {
    async fn find(&self, id: &RecordId) -> StoreResult<Option<Record>> {
        let start = ExportPosition::Start(id.part);
        let all = self.store.export(Some(&start), NonZeroU16::MAX).await?;
        Ok(all.records.into_iter().find(|record| record.id() == *id))
    }

    fn spoil(&self, record: &mut Record) {
        match (self.fault, record) {
            (Fault::RevisionsCountedAnew, Record::Class(class)) => class.revision = 1,
            (Fault::ItemValuesDropped, Record::Judgment(new)) => new.item_value = None,
            (Fault::ContextsDropped, Record::Run(run)) => {
                if let Some(kept) = &mut run.copy {
                    kept.copy = RunCopy {
                        context: None,
                        ..kept.copy.clone()
                    };
                }
            }
            (Fault::ReceiptsWithoutBody, Record::Operation(operation)) => {
                operation.body = [0; 32];
            }
            (Fault::ReceiptsWithoutReason, Record::Operation(operation)) => {
                if let Receipt::Recorded(Recorded::Ok { judgment, .. }) = &mut operation.receipt {
                    judgment.reason = None::<Reason>;
                }
            }
            (Fault::ItemsDropped, Record::Telling(telling)) if !telling.skipped.is_empty() => {
                telling.item = None;
            }
            (Fault::ItemsOfSeveralDropped, Record::Telling(telling)) => {
                telling.item = telling.item.take().filter(|item| item.taken_by.len() < 2);
            }
            (Fault::SkipsDropped, Record::Telling(telling)) => {
                let TellingRecord { item, skipped, .. } = &mut **telling;
                if item.is_some() {
                    skipped.clear();
                }
            }
            _ => {}
        }
    }
}

/// What breaks each law: a law without a function here doesn't compile below.
mod breaks {
    use super::Fault::{self, *};

    pub(super) fn what_was_moved_is_read_alike() -> Vec<Fault> {
        vec![
            DeadJudgmentsLeftOut,
            FirstVersionsLeftOut,
            NeverJudgedErasedRunsLeftOut,
            PageEndSkipped,
            PageStartRepeated,
            TenantsMixed,
            LimitIgnored,
            RevisionsCountedAnew,
            ItemValuesDropped,
            ContextsDropped,
            ReceiptsWithoutBody,
            ReceiptsWithoutReason,
            ReceiptsDropped,
            ItemsDropped,
            SkipsDropped,
            RulesRevisionDropped,
            RepeatRefused,
        ]
    }
    pub(super) fn a_moved_store_goes_on() -> Vec<Fault> {
        vec![
            DeadJudgmentsLeftOut,
            NeverJudgedErasedRunsLeftOut,
            PageEndSkipped,
            ReceiptsDropped,
            RulesRevisionDropped,
        ]
    }
    pub(super) fn a_moved_rule_keeps_its_cap() -> Vec<Fault> {
        vec![RulesRevisionDropped]
    }
    pub(super) fn a_moved_item_is_listed_once() -> Vec<Fault> {
        vec![ItemsOfSeveralDropped]
    }
    pub(super) fn what_was_over_before_the_move_stays_over() -> Vec<Fault> {
        vec![PurgesLeftOut, NeverJudgedErasedRunsLeftOut]
    }
    pub(super) fn a_record_that_differs_is_refused_with_its_batch() -> Vec<Fault> {
        vec![BatchInPieces, DifferenceOverwritten, DifferenceIgnored]
    }
    pub(super) fn a_record_that_fits_nowhere_is_refused_with_its_batch() -> Vec<Fault> {
        vec![BatchInPieces, RefusedOnesSkipped]
    }
}

mod broken_movers {
    use super::{Broken, breaks, conformance, laws};

    conformance::archive::for_each_law! {
        (crate::faults::fails)
        ["conformance::archive", |law, fault| law(&Broken(fault), &Broken(fault))]
    }
}

/// What wraps the store breaks nothing by itself.
mod without_a_fault {
    use super::{Broken, Fault, conformance};

    conformance::archive::laws!(Broken(Fault::None));
}

#[test]
fn an_empty_store_is_walked_in_empty_pages() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let store = MemoryStore::new();
        let (mut from, mut pages) = (None, 0);
        loop {
            let page = store.export(from.as_ref(), NonZeroU16::MIN).await.unwrap();
            assert_eq!(page.records, []);
            pages += 1;
            match page.next {
                Some(next) => from = Some(next),
                None => break,
            }
        }
        assert_eq!(pages, 8);
    });
}
