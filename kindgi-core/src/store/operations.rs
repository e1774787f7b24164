//! What a backend promises for operations that took effect.

use std::sync::Arc;

use async_trait::async_trait;

use super::{
    Applied, ClassCreated, ClassReplaced, ItemMoved, JudgmentRemoved, Operation, Recorded,
    RuleAppended, RuleStopped, StoreResult, Write,
};
use crate::{clock::Timestamp, model::TenantId};

/// The receipts of [operations](Operation): what every writing transition keeps and looks at, seen
/// from outside.
#[async_trait]
pub trait OperationStore: Send + Sync + 'static {
    /// What is kept of an operation at `now`. The engine asks before it refuses what an operation
    /// may have done before: a second try at retiring a class finds it retired.
    async fn receipt(
        &self,
        tenant: &TenantId,
        now: Timestamp,
        operation: Operation<'_>,
    ) -> StoreResult<Option<KnownOperation>>;

    /// Keeps an operation that took effect by changing nothing, unless it is known:
    /// [`Applied::Replayed`], with what was kept, or [`Applied::OtherBody`]. Without an operation
    /// nothing is kept.
    async fn keep(&self, write: Write<'_>, receipt: &Receipt) -> StoreResult<Applied<Receipt>>;
}

/// What is kept of an operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KnownOperation {
    /// It took effect, with this outcome.
    Done(Receipt),
    /// It took effect, with another body.
    OtherBody,
}

/// The outcome of an operation that took effect, of each kind of transition. What an erasure cleared
/// since is gone from it, too.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Receipt {
    /// A judgment was recorded.
    Recorded(Recorded),
    /// A judgment was removed.
    JudgmentRemoved(JudgmentRemoved),
    /// A class was created.
    ClassCreated(ClassCreated),
    /// A class was changed or retired.
    ClassReplaced(ClassReplaced),
    /// A version was appended to a rule, or the rule was as wanted.
    RuleAppended(RuleAppended),
    /// A rule was stopped, or was stopped before.
    RuleStopped(RuleStopped),
    /// An item was dismissed.
    Dismissed(ItemMoved),
    /// An item was reopened.
    Reopened(ItemMoved),
}

#[async_trait]
impl<T: OperationStore + ?Sized> OperationStore for Arc<T> {
    async fn receipt(
        &self,
        tenant: &TenantId,
        now: Timestamp,
        operation: Operation<'_>,
    ) -> StoreResult<Option<KnownOperation>> {
        (**self).receipt(tenant, now, operation).await
    }

    async fn keep(&self, write: Write<'_>, receipt: &Receipt) -> StoreResult<Applied<Receipt>> {
        (**self).keep(write, receipt).await
    }
}
