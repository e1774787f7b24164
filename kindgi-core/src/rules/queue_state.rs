//! How an item of the queue moves: its state is a function of facts.
//!
//! An item is erased if its run was erased; else dismissed if it was dismissed and not reopened
//! since; else judged if every rule that took it, as its version then said, has a live judgment it
//! wants; else open. So removing the wanted judgment opens the item again, and dismissing wins
//! over judged. Rules stopped or disabled later, and classes retired later, change nothing.
//!
//! Each function here gives the item after something happened to it.

use crate::{
    clock::Timestamp,
    model::{
        ClassProgress, DismissReason, EndedRun, ItemState, JudgeClassId, PrincipalRef, QueueItem,
        TakenBy,
    },
};

/// The live judgments of a run under one class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LiveJudgments {
    /// The class; `None` for unclassified ones.
    pub class: Option<JudgeClassId>,
    /// How many; at least one.
    pub judgments: u64,
    /// When the first of them that still lives was recorded.
    pub first_at: Timestamp,
}

/// Since when every want has had a live judgment; `None` while one has none.
pub fn judged_at<'a>(
    wants: impl IntoIterator<Item = Option<&'a JudgeClassId>>,
    live: &[LiveJudgments],
) -> Option<Timestamp> {
    let met_at = |want: Option<&JudgeClassId>| {
        let wanted = live
            .iter()
            .filter(|under| want.is_none() || under.class.as_ref() == want);
        wanted.map(|under| under.first_at).min()
    };
    let mut latest = None;
    for want in wants {
        latest = latest.max(Some(met_at(want)?));
    }
    latest
}

/// The item of a run that rules took, whose judgments may have come before.
pub fn queued(
    run: &EndedRun,
    mut taken_by: Vec<TakenBy>,
    live: &[LiveJudgments],
    now: Timestamp,
) -> QueueItem {
    taken_by.sort();
    let agent = run.subject.agent().cloned();
    let item = QueueItem {
        run: run.id.clone(),
        project: run.project.clone(),
        agent: agent.map(|agent| (agent, run.subject.version().clone())),
        flow: run.flow_id(),
        completed_at: run.ended_at,
        added_at: now,
        taken_by,
        progress: Vec::new(),
        state: ItemState::Open,
        closed_at: None,
        closed_by: None,
        reason: None,
    };
    settled(item, live)
}

/// The item after the live judgments of its run changed. An erased one stays as it is, a
/// dismissed one shows them; a judged one that stays judged keeps the time it was closed at.
pub fn settled(mut item: QueueItem, live: &[LiveJudgments]) -> QueueItem {
    if item.state == ItemState::Erased {
        return item;
    }
    let progress = live.iter().map(|under| ClassProgress {
        class: under.class.clone(),
        judgments: under.judgments,
    });
    item.progress = progress.collect();
    item.progress.sort();
    if item.state == ItemState::Dismissed {
        return item;
    }
    let wants = item.taken_by.iter().map(|by| by.wants.as_ref());
    match (judged_at(wants, live), item.state) {
        (Some(_), ItemState::Judged) => {}
        (Some(at), _) => {
            item.state = ItemState::Judged;
            item.closed_at = Some(at);
        }
        (None, _) => {
            item.state = ItemState::Open;
            item.closed_at = None;
        }
    }
    item
}

/// The item after somebody dismissed it, by a clock that may have gone back behind the item's
/// beginning; `None` unless it is open.
pub fn dismissed(
    mut item: QueueItem,
    by: &PrincipalRef,
    reason: Option<&DismissReason>,
    now: Timestamp,
) -> Option<QueueItem> {
    if item.state != ItemState::Open {
        return None;
    }
    item.state = ItemState::Dismissed;
    item.closed_at = Some(now.max(item.added_at));
    item.closed_by = Some(by.clone());
    item.reason = reason.cloned();
    Some(item)
}

/// The item after somebody reopened it: judged at once if it has what it wants by now; `None`
/// unless it is dismissed.
pub fn reopened(
    mut item: QueueItem,
    by: &PrincipalRef,
    live: &[LiveJudgments],
) -> Option<QueueItem> {
    if item.state != ItemState::Dismissed {
        return None;
    }
    item.state = ItemState::Open;
    item.closed_at = None;
    item.closed_by = Some(by.clone());
    item.reason = None;
    Some(settled(item, live))
}

/// The item after its run was erased: what it says of the run and of people's words is gone. An
/// open one is closed now; one that was closed keeps that time.
pub fn erased(mut item: QueueItem, now: Timestamp) -> QueueItem {
    if item.state == ItemState::Open {
        item.closed_at = Some(now.max(item.added_at));
    }
    item.state = ItemState::Erased;
    item.agent = None;
    item.progress = Vec::new();
    item.reason = None;
    item
}
