//! What is left of a store that loses something when it is opened again.

use std::num::NonZeroU16;

use kindgi_core::{
    MemoryStore,
    store::{Archive, Imported, Record},
};

use crate::fault::Lost;

/// The same store without what is lost.
pub(super) async fn without(store: &MemoryStore, lost: Lost) -> MemoryStore {
    let (left, mut from) = (MemoryStore::new(), None);
    loop {
        let page = store.export(from.as_ref(), NonZeroU16::MAX).await.unwrap();
        let records: Vec<Record> = page
            .records
            .into_iter()
            .filter_map(|record| kept(record, lost))
            .collect();
        let imported = left.import(&records).await.unwrap();
        assert!(matches!(imported, Imported::Ok { .. }), "{imported:?}");
        from = page.next;
        if from.is_none() {
            return left;
        }
    }
}

fn kept(mut record: Record, lost: Lost) -> Option<Record> {
    let stays = match (lost, &mut record) {
        (Lost::Everything, _)
        | (Lost::Receipts, Record::Operation(_))
        | (Lost::Purges, Record::Purge(_))
        | (Lost::RulesRevisions, Record::Rules(_)) => false,
        (Lost::Skips, Record::Telling(telling)) => {
            telling.skipped.clear();
            telling.item.is_some()
        }
        (Lost::RunsErasedUnjudged, Record::Run(run)) => run.copy.is_some(),
        (Lost::EndedJudgments, Record::Judgment(new)) => new.judgment.is_live(),
        (Lost::ClassRevisions, Record::Class(class)) => {
            class.revision = 1;
            true
        }
        (Lost::ItemValues, Record::Judgment(new)) => {
            new.item_value = None;
            true
        }
        _ => true,
    };
    stays.then_some(record)
}
