//! Moving house: all that a store holds, out of it and into another.
//!
//! An [`Archive`] gives everything as [`Record`]s, page by page, and takes them in batch by batch.
//! [`crate::archive`] writes them as lines of text. It is no part of
//! [`Store`](super::Store): a backend may be one without being the other.
//!
//! # A move
//!
//! 1. **Stop the writes** to the old store. An export is no snapshot: each page is read when it is
//!    asked for, so what is written meanwhile may be in it, in part or not at all. It is good for
//!    trying a move out, not for moving.
//! 2. **[Export](Archive::export)** from the beginning to the end. Whoever stops keeps the
//!    [`ExportPosition`], which is a text, too, and goes on there.
//! 3. **[Import](Archive::import)** into a store that is empty, in the order of the export.
//!    Whoever stops begins again, at the batch that was cut off or at the first: what is there and
//!    equal changes nothing.
//! 4. **Compare**: walk both exports side by side. They are in the same order, and equal record by
//!    record.
//! 5. Point the host at the new store.
//!
//! # Erasures
//!
//! **Erase nothing between the beginning of the export and the end of the import**, in neither
//! store. What was exported before an erasure still has what that cleared, and puts it into the new
//! store.
//!
//! - **A run** that the new store has erased meanwhile stays erased: a record that would bring
//!   something of it back is [refused](Because::Erased) by its name, and so is the run's own, which
//!   [differs](Because::Differs). Nothing of such a batch is kept.
//! - **A participant** that was erased meanwhile can't be known again: no store keeps the ids of
//!   those whom it has erased. A later batch brings the id back, with what was said in its name.
//!
//! Where an erasure couldn't wait, erase in the old store, too, and move again, into an empty
//! store.
//!
//! # What isn't moved
//!
//! - What a store counts or derives, such as how many items of a queue are open: the new one
//!   derives it anew.
//! - Idempotency keys, that is the kept answers and the holds of
//!   [an idempotency store](crate::idempotency::IdempotencyStore). The
//!   [receipts](super::Receipt) are moved, so that a request that is sent again takes effect once
//!   all the same, and is answered anew from its receipt. This holds for the engine's operations. A
//!   host's own routes that only keep answers have no receipts: for them, wait until their keys
//!   have ended.

mod batch;
mod position;
mod record;

use std::{num::NonZeroU16, sync::Arc};

use async_trait::async_trait;

use super::StoreResult;

pub(crate) use record::{hex, unhex};

pub use batch::{Because, Present, Refused, additions};
pub use position::{ArchivePart, ExportPosition, InvalidPosition, RecordId};
pub use record::{
    CopyRecord, OperationRecord, PurgeRecord, Record, RulesRecord, RunRecord, TellingRecord, Unique,
};

/// Everything that a store holds, out of it and into it. See the [module](self).
#[async_trait]
pub trait Archive: Send + Sync + 'static {
    /// Records of all tenants: the [parts](ArchivePart) one after the other and, within each,
    /// [by tenant and id](RecordId), compared bytewise.
    ///
    /// A page has `limit` records of one part at most. If there are so many, the next one goes on
    /// after the last of them; if there are fewer, at the beginning of the next part, so that a
    /// page may be empty before the end. `from` is where the page before said to go on, at
    /// whatever store of the same records; `None` begins.
    ///
    /// Each page reads a bounded part of the store, however much that holds.
    async fn export(
        &self,
        from: Option<&ExportPosition>,
        limit: NonZeroU16,
    ) -> StoreResult<Exported>;

    /// Puts records in, all of them in one step, or none.
    ///
    /// One that is there and equal changes nothing, so that a batch may be repeated. What
    /// [`additions`] refuses is [`Imported::Refused`], and nothing of the batch is kept. Records
    /// come in the order of an export: a judgment after its run, a rule's versions one after the
    /// other. What is derived of them is kept up with each batch.
    async fn import(&self, records: &[Record]) -> StoreResult<Imported>;
}

/// A page of an export.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exported {
    /// The records, in order.
    pub records: Vec<Record>,
    /// Where to go on; `None` once nothing is left.
    pub next: Option<ExportPosition>,
}

impl Exported {
    /// The page of so many records of a part at most.
    pub fn page(part: ArchivePart, records: Vec<Record>, limit: NonZeroU16) -> Self {
        let is_full = records.len() >= usize::from(limit.get());
        let last = records.last().filter(|_| is_full).map(Record::id);
        let next = match last {
            Some(last) => Some(ExportPosition::After(last)),
            None => part.next().map(ExportPosition::Start),
        };
        Self { records, next }
    }
}

/// What became of an import.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Imported {
    /// All records of the batch are there.
    Ok {
        /// How many of them are new.
        added: u64,
    },
    /// A record can't be put in. Nothing of the batch was kept.
    Refused(Refused),
}

#[async_trait]
impl<T: Archive + ?Sized> Archive for Arc<T> {
    async fn export(
        &self,
        from: Option<&ExportPosition>,
        limit: NonZeroU16,
    ) -> StoreResult<Exported> {
        (**self).export(from, limit).await
    }

    async fn import(&self, records: &[Record]) -> StoreResult<Imported> {
        (**self).import(records).await
    }
}
