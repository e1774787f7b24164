//! Outcomes of operations, as they are kept.

use kindgi_core::{
    model::{Judgment, JudgmentId, TenantId},
    store::{
        ClassCreated, ClassReplaced, ItemMoved, JudgmentRemoved, Receipt, Recorded, RuleAppended,
        RuleStopped,
    },
};

use super::{
    codec::{self, class_cells, judgment_cells, parse, queue, rule_cells},
    judge_classes::{CREATE, REPLACE},
    judging_queue::{DISMISS, REOPEN},
    judging_rules::{APPEND, STOP},
    judgments::{RECORD, REMOVE},
    operations::About,
};
use crate::{
    error::DbError,
    sql::{Cell, Row},
};

/// What is kept of an operation that found nothing to do, since what it was to end had ended.
const NOT_LIVE: &str = "not-live";

/// A receipt as it is kept: under which kind of transition, its cells, and whom it tells of.
pub(super) struct Kept<'a> {
    pub(super) kind: &'static str,
    pub(super) cells: Vec<Cell>,
    pub(super) about: About<'a>,
}

/// `None` for the outcome of a transition that was refused: such are never kept.
pub(super) fn encode(receipt: &Receipt) -> Option<Kept<'_>> {
    let of = |kind, cells| {
        let about = About::default();
        Some(Kept { kind, cells, about })
    };
    let moved = |kind, moved: &'_ ItemMoved| match moved {
        ItemMoved::Ok(item) => of(kind, queue::item_cells(item)),
        _ => None,
    };
    match receipt {
        Receipt::Recorded(Recorded::Ok {
            judgment,
            superseded,
        }) => Some(Kept {
            kind: RECORD,
            cells: recorded_cells(judgment, superseded.as_ref()),
            about: of_judgment(judgment),
        }),
        Receipt::JudgmentRemoved(JudgmentRemoved::Ok) => of(REMOVE, Vec::new()),
        Receipt::JudgmentRemoved(JudgmentRemoved::NotLive) => of(REMOVE, vec![NOT_LIVE.into()]),
        Receipt::ClassCreated(ClassCreated::Ok(class)) => of(CREATE, class_cells(class)),
        Receipt::ClassReplaced(ClassReplaced::Ok(class)) => of(REPLACE, class_cells(class)),
        Receipt::RuleAppended(RuleAppended::Ok(rule)) => of(APPEND, rule_cells(rule)),
        Receipt::RuleStopped(RuleStopped::Ok) => of(STOP, Vec::new()),
        Receipt::RuleStopped(RuleStopped::NotLive) => of(STOP, vec![NOT_LIVE.into()]),
        Receipt::Dismissed(item) => moved(DISMISS, item).map(|kept| about_item(kept, item)),
        Receipt::Reopened(item) => moved(REOPEN, item).map(|kept| about_item(kept, item)),
        _ => None,
    }
}

/// From what [`encode`] gave, and from the outcome of a transition of that kind.
pub(super) fn decode(tenant: &TenantId, kind: &str, row: &mut Row) -> Result<Receipt, DbError> {
    Ok(match kind {
        RECORD => Receipt::Recorded(recorded(tenant, row)?),
        REMOVE => Receipt::JudgmentRemoved(removed(row)?),
        CREATE => {
            let class = Box::new(codec::class(tenant, row)?);
            Receipt::ClassCreated(ClassCreated::Ok(class))
        }
        REPLACE => {
            let class = Box::new(codec::class(tenant, row)?);
            Receipt::ClassReplaced(ClassReplaced::Ok(class))
        }
        APPEND => {
            let rule = Box::new(codec::rule(tenant, row)?);
            Receipt::RuleAppended(RuleAppended::Ok(rule))
        }
        STOP => Receipt::RuleStopped(stopped(row)?),
        DISMISS => Receipt::Dismissed(moved(row)?),
        REOPEN => Receipt::Reopened(moved(row)?),
        _ => return Err(DbError::corrupt("a kind of outcome")),
    })
}

pub(super) fn recorded_cells(judgment: &Judgment, superseded: Option<&JudgmentId>) -> Vec<Cell> {
    let mut cells = judgment_cells(judgment);
    cells.push(superseded.map(|id| id.as_str()).into());
    cells
}

pub(super) fn of_judgment(judgment: &Judgment) -> About<'_> {
    About {
        run: Some(judgment.run.as_str()),
        participant: judgment.participant.as_ref().map(|it| it.as_str()),
    }
}

pub(super) fn recorded(tenant: &TenantId, row: &mut Row) -> Result<Recorded, DbError> {
    Ok(Recorded::Ok {
        judgment: Box::new(codec::judgment(tenant, row)?),
        superseded: row.opt_text()?.map(parse).transpose()?,
    })
}

pub(super) fn removed(row: &mut Row) -> Result<JudgmentRemoved, DbError> {
    Ok(match was_live(row)? {
        true => JudgmentRemoved::Ok,
        false => JudgmentRemoved::NotLive,
    })
}

pub(super) fn stopped(row: &mut Row) -> Result<RuleStopped, DbError> {
    Ok(match was_live(row)? {
        true => RuleStopped::Ok,
        false => RuleStopped::NotLive,
    })
}

fn was_live(row: &mut Row) -> Result<bool, DbError> {
    if row.is_over() {
        return Ok(true);
    }
    match &*row.text()? {
        NOT_LIVE => Ok(false),
        _ => Err(DbError::corrupt("an outcome")),
    }
}

pub(super) fn moved(row: &mut Row) -> Result<ItemMoved, DbError> {
    Ok(ItemMoved::Ok(Box::new(queue::item(row)?)))
}

fn about_item<'a>(kept: Kept<'a>, moved: &'a ItemMoved) -> Kept<'a> {
    let run = match moved {
        ItemMoved::Ok(item) => Some(item.run.as_str()),
        _ => None,
    };
    let participant = None;
    Kept {
        about: About { run, participant },
        ..kept
    }
}
