//! The reference for operations that took effect.

use super::{
    call::{Answer, Ask, Call, OwnedOperation},
    model::Model,
};
use crate::store::{
    Applied::{self, Done, OtherBody, Replayed},
    ClassCreated, ClassReplaced, ItemMoved, JudgmentRemoved, KnownOperation, Receipt, Recorded,
    RuleAppended, RuleStopped,
};

impl Model {
    /// What is kept of an operation at the call's time.
    pub(super) fn receipt(
        &self,
        call: &Call,
        operation: &OwnedOperation,
    ) -> Option<KnownOperation> {
        self.kept(call).map(|kept| {
            if kept.operation.body == operation.body {
                KnownOperation::Done(kept.receipt.clone())
            } else {
                KnownOperation::OtherBody
            }
        })
    }
}

/// The receipt of an answer that took effect now.
pub(super) fn receipt_of(answer: &Answer) -> Option<Receipt> {
    Some(match answer.clone() {
        Answer::Recorded(Done(it @ Recorded::Ok { .. })) => Receipt::Recorded(it),
        Answer::Removed(Done(it @ JudgmentRemoved::Ok)) => Receipt::JudgmentRemoved(it),
        Answer::ClassCreated(Done(it @ ClassCreated::Ok(_))) => Receipt::ClassCreated(it),
        Answer::ClassReplaced(Done(it @ ClassReplaced::Ok(_))) => Receipt::ClassReplaced(it),
        Answer::RuleAppended(Done(it @ RuleAppended::Ok(_))) => Receipt::RuleAppended(it),
        Answer::RuleStopped(Done(it @ RuleStopped::Ok)) => Receipt::RuleStopped(it),
        Answer::Dismissed(Done(it @ ItemMoved::Ok(_))) => Receipt::Dismissed(it),
        Answer::Reopened(Done(it @ ItemMoved::Ok(_))) => Receipt::Reopened(it),
        Answer::Kept(Done(it)) => it,
        _ => return None,
    })
}

/// The answer to a call of an operation that is kept: with its receipt, unless it has another body.
pub(super) fn replay(call: &Call, kept: Option<Receipt>) -> Answer {
    fn of<T>(outcome: Option<T>) -> Applied<T> {
        outcome.map_or(OtherBody, Replayed)
    }
    macro_rules! replayed {
        ($answer:ident, $receipt:ident) => {
            Answer::$answer(of(match kept {
                Some(Receipt::$receipt(it)) => Some(it),
                _ => None,
            }))
        };
    }
    match &call.ask {
        Ask::Remove(_) => replayed!(Removed, JudgmentRemoved),
        Ask::CreateClass(_) => replayed!(ClassCreated, ClassCreated),
        Ask::ReplaceClass(..) => replayed!(ClassReplaced, ClassReplaced),
        Ask::AppendRule { .. } => replayed!(RuleAppended, RuleAppended),
        Ask::StopRule(..) => replayed!(RuleStopped, RuleStopped),
        Ask::Dismiss { .. } => replayed!(Dismissed, Dismissed),
        Ask::Reopen { .. } => replayed!(Reopened, Reopened),
        Ask::Keep(receipt) => Answer::Kept(of(kept.filter(|kept| is_alike(kept, receipt)))),
        _ => replayed!(Recorded, Recorded),
    }
}

/// Whether they are of one kind of transition.
pub(super) fn is_alike(one: &Receipt, other: &Receipt) -> bool {
    std::mem::discriminant(one) == std::mem::discriminant(other)
}
