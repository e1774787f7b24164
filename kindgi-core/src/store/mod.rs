//! What a backend promises: each method is one atomic transition.
//!
//! - **Atomic.** A method's effects are all there or none is, and under any concurrency its
//!   outcome is one that some sequential order gives. A future that is dropped at any await takes
//!   effect wholly, at once or while others write, or not at all.
//! - **Preconditions travel as data** and are checked again inside the transition: a class
//!   retired or a run erased in between is an outcome.
//! - **Outcomes are enums; errors are only the store's own trouble.** An error of kind
//!   [`Busy`](crate::StoreErrorKind::Busy) or [`TooLarge`](crate::StoreErrorKind::TooLarge) wrote
//!   nothing.
//! - **Ids, time and the operation come from the caller**, in [`Write`]; a backend makes none.
//! - **Text compares bytewise**, whatever a database's collation thinks; JSON is kept verbatim.
//! - **Tenants never meet**: a method sees rows of its tenant alone.
//!
//! The traits are split for the reader; a backend implements all of them and is one [`Store`],
//! since one transaction may touch several. The suite in
//! `kindgi_core::conformance` (feature `conformance`) checks the promise.

pub mod archive;
mod judge_classes;
mod judging_queue;
mod judging_rules;
mod judgments;
mod lifecycle;
mod operations;

pub use archive::{Archive, ExportPosition, Exported, Imported, Record};
pub use judge_classes::{ClassCreated, ClassFilter, ClassReplaced, JudgeClassStore, Revised};
pub use judging_queue::{
    Candidate, ItemMoved, JudgingQueueStore, QueueFilter, QueueSlice, RuleResults, Taken,
};
pub use judging_rules::{EnabledRules, JudgingRuleStore, ListedRule, RuleAppended, RuleStopped};
pub use judgments::{
    ClassAt, JudgmentFilter, JudgmentRemoved, JudgmentStore, NewJudgment, Recorded,
};
pub use lifecycle::{JudgedRun, JudgedRunFilter, Lifecycle, PurgePart, PurgePosition, Purged};
pub use operations::{KnownOperation, OperationStore, Receipt};

use crate::{
    clock::Timestamp,
    error::StoreError,
    model::{PageSize, Position, TenantId},
};

/// What a store's method gives.
pub type StoreResult<T> = Result<T, StoreError>;

/// A whole backend. An `Arc` of one is one, too, `Arc<dyn Store>` included.
pub trait Store:
    JudgmentStore + JudgeClassStore + JudgingRuleStore + JudgingQueueStore + OperationStore + Lifecycle
{
}

impl<T> Store for T where
    T: JudgmentStore
        + JudgeClassStore
        + JudgingRuleStore
        + JudgingQueueStore
        + OperationStore
        + Lifecycle
        + ?Sized
{
}

/// What every write carries.
#[derive(Clone, Copy, Debug)]
pub struct Write<'a> {
    /// Whose data.
    pub tenant: &'a TenantId,
    /// When, by the caller's clock.
    pub now: Timestamp,
    /// Which operation, when it must take effect at most once.
    pub operation: Option<Operation<'a>>,
}

/// An operation that takes effect at most once while it is kept.
///
/// The store keeps the operation with a receipt of its outcome in the same transaction as the
/// effect. The same id again changes nothing: see [`Applied`]. Outcomes that refuse (a taken
/// name, a class that changed) are never kept, so that a later try may succeed.
///
/// An id belongs to one kind of transition: used for another, it is one with another body.
#[derive(Clone, Copy, Debug)]
pub struct Operation<'a> {
    /// Who and what: derived from the caller, the route and the key. Unique within the tenant.
    pub id: &'a OperationId,
    /// The SHA-256 of the request's body.
    pub body: &'a [u8; 32],
    /// Until when it is kept. From that instant on, by the write's
    /// [`now`](Write::now), the same id is a new operation.
    ///
    /// Once a write of the tenant has reached that instant, a write whose clock went back
    /// before it may find the operation gone, too: a store may drop what ended.
    pub keep_until: Timestamp,
}

/// An operation's id: 32 bytes, such as a SHA-256.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OperationId(pub [u8; 32]);

/// What became of a write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Applied<T> {
    /// It was decided now.
    Done(T),
    /// The operation took effect before, with this outcome; nothing changed now.
    Replayed(T),
    /// The operation took effect before, with another body; nothing changed now.
    OtherBody,
}

impl<T> Applied<T> {
    /// The same, with another outcome.
    pub fn map<U>(self, map: impl FnOnce(T) -> U) -> Applied<U> {
        match self {
            Self::Done(outcome) => Applied::Done(map(outcome)),
            Self::Replayed(outcome) => Applied::Replayed(map(outcome)),
            Self::OtherBody => Applied::OtherBody,
        }
    }
}

/// Which rows of a list: those after a position, at most so many.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Keyset {
    /// The last row that was seen.
    pub after: Option<Position>,
    /// How many rows at most.
    pub limit: PageSize,
}

/// Some rows of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slice<T> {
    /// The rows, in the list's order.
    pub rows: Vec<T>,
    /// Whether more follow.
    pub more: bool,
}
