//! Where an item of the queue is: a function of facts.

use crate::model::{ItemState, JudgeClassId};

/// What there is to know of an item.
#[derive(Clone, Copy, Debug)]
pub struct Facts<'a> {
    /// Whether its run was erased, or purged by the host.
    pub erased: bool,
    /// Whether it was dismissed, and not reopened since.
    pub dismissed: bool,
    /// What each rule that took it wants, as its version then said: a class, or any judgment.
    pub wants: &'a [Option<JudgeClassId>],
    /// The class of each live judgment of the run; `None` for an unclassified one.
    pub live: &'a [Option<JudgeClassId>],
}

/// The item's state: erased, else dismissed, else judged if every rule that took it has a live
/// judgment it wants, else open.
///
/// So removing the wanted judgment opens the item again, and dismissing wins over judged. Rules
/// stopped or disabled later, and classes retired later, change nothing.
pub fn state(facts: Facts<'_>) -> ItemState {
    match facts {
        Facts { erased: true, .. } => ItemState::Erased,
        Facts {
            dismissed: true, ..
        } => ItemState::Dismissed,
        _ if facts.wants.iter().all(|want| is_met(want, facts.live)) => ItemState::Judged,
        _ => ItemState::Open,
    }
}

/// Whether a rule's want has a live judgment.
fn is_met(want: &Option<JudgeClassId>, live: &[Option<JudgeClassId>]) -> bool {
    match want {
        None => !live.is_empty(),
        Some(_) => live.contains(want),
    }
}
