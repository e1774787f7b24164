//! Operations that took effect, with their outcomes.

use std::collections::{BTreeSet, HashMap};

use async_trait::async_trait;

use super::{
    MemoryStore,
    judging_queue::{Dismissed, Reopened},
};
use crate::{
    Timestamp,
    model::{Judgment, ParticipantId, RunId, TenantId},
    store::{
        Applied, ClassCreated, ClassReplaced, ItemMoved, JudgmentRemoved, KnownOperation,
        Operation, OperationId, OperationStore, Receipt, Recorded, RuleAppended, RuleStopped,
        StoreResult, Write,
    },
};

/// The operations of a tenant.
#[derive(Debug, Default)]
pub(super) struct Operations {
    pub(super) kept: HashMap<OperationId, Kept>,
    ends: BTreeSet<(Timestamp, OperationId)>,
}

#[derive(Debug)]
pub(super) struct Kept {
    pub(super) body: [u8; 32],
    pub(super) keep_until: Timestamp,
    pub(super) receipt: Receipt,
}

/// What one kind of transition can come to.
pub(super) trait Outcome: Clone {
    /// The outcome as it is kept; `None` for one that refuses.
    fn receipt(&self) -> Option<Receipt>;

    /// The outcome that was kept; `None` if it was another kind of transition's.
    fn replayed(receipt: &Receipt) -> Option<Self>;
}

macro_rules! outcome {
    ($($type:ident: $kept:pat => $receipt:ident;)*) => {$(
        impl Outcome for $type {
            fn receipt(&self) -> Option<Receipt> {
                matches!(self, $kept).then(|| Receipt::$receipt(self.clone()))
            }

            fn replayed(receipt: &Receipt) -> Option<Self> {
                match receipt {
                    Receipt::$receipt(outcome) => Some(outcome.clone()),
                    _ => None,
                }
            }
        }
    )*};
}

outcome! {
    Recorded: Recorded::Ok { .. } => Recorded;
    JudgmentRemoved: JudgmentRemoved::Ok => JudgmentRemoved;
    ClassCreated: ClassCreated::Ok(_) => ClassCreated;
    ClassReplaced: ClassReplaced::Ok(_) => ClassReplaced;
    RuleAppended: RuleAppended::Ok(_) => RuleAppended;
    RuleStopped: RuleStopped::Ok => RuleStopped;
}

/// An outcome that another kind of transition has, too.
macro_rules! outcome_of {
    ($($type:ident => $receipt:ident;)*) => {$(
        impl Outcome for $type {
            fn receipt(&self) -> Option<Receipt> {
                matches!(self.0, ItemMoved::Ok(_)).then(|| Receipt::$receipt(self.0.clone()))
            }

            fn replayed(receipt: &Receipt) -> Option<Self> {
                match receipt {
                    Receipt::$receipt(outcome) => Some(Self(outcome.clone())),
                    _ => None,
                }
            }
        }
    )*};
}

outcome_of! {
    Dismissed => Dismissed;
    Reopened => Reopened;
}

impl Operations {
    /// Forgets what is kept until this instant or an earlier one.
    pub(super) fn forget_before(&mut self, now: Timestamp) {
        while let Some(first) = self.ends.first().copied().filter(|(end, _)| *end <= now) {
            self.ends.remove(&first);
            self.kept.remove(&first.1);
        }
    }

    /// What to answer, if the operation took effect before.
    pub(super) fn known<T: Outcome>(&self, operation: Operation<'_>) -> Option<Applied<T>> {
        let kept = self.kept.get(operation.id)?;
        let outcome = T::replayed(&kept.receipt).filter(|_| kept.body == *operation.body);
        Some(outcome.map_or(Applied::OtherBody, Applied::Replayed))
    }

    /// Keeps an operation that isn't known, if it took effect.
    pub(super) fn keep<T: Outcome>(&mut self, operation: Operation<'_>, outcome: &T) {
        if let Some(receipt) = outcome.receipt() {
            self.keep_receipt(operation, receipt);
        }
    }

    pub(super) fn keep_receipt(&mut self, operation: Operation<'_>, receipt: Receipt) {
        let kept = Kept {
            body: *operation.body,
            keep_until: operation.keep_until,
            receipt,
        };
        self.kept.insert(*operation.id, kept);
        self.ends.insert((operation.keep_until, *operation.id));
    }

    fn receipt(&self, operation: Operation<'_>, now: Timestamp) -> Option<KnownOperation> {
        let kept = self.kept.get(operation.id)?;
        if kept.keep_until <= now {
            return None;
        }
        Some(match kept.body == *operation.body {
            true => KnownOperation::Done(kept.receipt.clone()),
            false => KnownOperation::OtherBody,
        })
    }

    /// Clears what the outcomes tell of a run's content.
    pub(super) fn erase_run(&mut self, run: &RunId) {
        for kept in self.kept.values_mut() {
            match &mut kept.receipt {
                Receipt::Recorded(Recorded::Ok { judgment, .. }) if judgment.run == *run => {
                    judgment.reason = None;
                    judgment.correction = None;
                }
                Receipt::Dismissed(ItemMoved::Ok(item)) if item.run == *run => {
                    item.reason = None;
                }
                _ => {}
            }
        }
    }

    /// Clears what the outcomes tell of a participant.
    pub(super) fn erase_participant(
        &mut self,
        participant: &ParticipantId,
        pseudonym: &ParticipantId,
    ) {
        for kept in self.kept.values_mut() {
            if let Receipt::Recorded(Recorded::Ok { judgment, .. }) = &mut kept.receipt
                && judgment.participant.as_ref() == Some(participant)
            {
                forget_who(judgment, pseudonym);
            }
        }
    }
}

#[async_trait]
impl OperationStore for MemoryStore {
    async fn receipt(
        &self,
        tenant: &TenantId,
        now: Timestamp,
        operation: Operation<'_>,
    ) -> StoreResult<Option<KnownOperation>> {
        Ok(self.look(tenant, |tenant| tenant.operations.receipt(operation, now)))
    }

    async fn keep(&self, write: Write<'_>, receipt: &Receipt) -> StoreResult<Applied<Receipt>> {
        let Some(operation) = write.operation else {
            return Ok(Applied::Done(receipt.clone()));
        };
        Ok(self.change(write.tenant, |tenant| {
            let operations = &mut tenant.operations;
            operations.forget_before(write.now);
            match operations.receipt(operation, write.now) {
                Some(KnownOperation::Done(kept)) if same_kind(&kept, receipt) => {
                    Applied::Replayed(kept)
                }
                Some(_) => Applied::OtherBody,
                None => {
                    operations.keep_receipt(operation, receipt.clone());
                    Applied::Done(receipt.clone())
                }
            }
        }))
    }
}

/// Whether two receipts are of one kind of transition.
fn same_kind(a: &Receipt, b: &Receipt) -> bool {
    std::mem::discriminant(a) == std::mem::discriminant(b)
}

/// Clears what a participant said, and who they were.
pub(super) fn forget_who(judgment: &mut Judgment, pseudonym: &ParticipantId) {
    judgment.reason = None;
    judgment.correction = None;
    judgment.participant = Some(pseudonym.clone());
}
