//! Operations that took effect, with their outcomes.

use std::collections::{BTreeSet, HashMap};

use super::judging_queue::{Dismissed, Reopened};
use crate::{
    Timestamp,
    model::{Judgment, ParticipantId, RunId},
    store::{
        Applied, ClassCreated, ClassReplaced, ItemMoved, JudgmentRemoved, Operation, OperationId,
        Recorded, RuleAppended, RuleStopped,
    },
};

/// The operations of a tenant.
#[derive(Debug, Default)]
pub(super) struct Operations {
    kept: HashMap<OperationId, Kept>,
    ends: BTreeSet<(Timestamp, OperationId)>,
}

#[derive(Debug)]
struct Kept {
    body: [u8; 32],
    receipt: Receipt,
}

/// The outcome of an operation that took effect.
#[derive(Clone, Debug)]
pub(super) enum Receipt {
    Recorded(Recorded),
    Removed(JudgmentRemoved),
    ClassCreated(ClassCreated),
    ClassReplaced(ClassReplaced),
    RuleAppended(RuleAppended),
    RuleStopped(RuleStopped),
    Dismissed(Dismissed),
    Reopened(Reopened),
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
    JudgmentRemoved: JudgmentRemoved::Ok => Removed;
    ClassCreated: ClassCreated::Ok(_) => ClassCreated;
    ClassReplaced: ClassReplaced::Ok(_) => ClassReplaced;
    RuleAppended: RuleAppended::Ok(_) => RuleAppended;
    RuleStopped: RuleStopped::Ok => RuleStopped;
    Dismissed: Dismissed(ItemMoved::Ok(_)) => Dismissed;
    Reopened: Reopened(ItemMoved::Ok(_)) => Reopened;
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
            let body = *operation.body;
            self.kept.insert(*operation.id, Kept { body, receipt });
            self.ends.insert((operation.keep_until, *operation.id));
        }
    }

    /// Clears what the outcomes tell of a run's content.
    pub(super) fn erase_run(&mut self, run: &RunId) {
        for kept in self.kept.values_mut() {
            match &mut kept.receipt {
                Receipt::Recorded(Recorded::Ok { judgment, .. }) if judgment.run == *run => {
                    judgment.reason = None;
                    judgment.correction = None;
                }
                Receipt::Dismissed(Dismissed(ItemMoved::Ok(item))) if item.run == *run => {
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

/// Clears what a participant said, and who they were.
pub(super) fn forget_who(judgment: &mut Judgment, pseudonym: &ParticipantId) {
    judgment.reason = None;
    judgment.correction = None;
    judgment.participant = Some(pseudonym.clone());
}
