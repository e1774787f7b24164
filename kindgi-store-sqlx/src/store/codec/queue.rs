//! Items of the queue, and rows.

use kindgi_core::{
    Timestamp,
    model::{ClassProgress, ItemState, QueueItem, TakenBy},
};

use super::{named, opt_parse, parse, time};
use crate::{
    error::DbError,
    sql::{self, Cell, Row},
};

/// The columns of an item, in the order of [`item_cells`].
pub(in crate::store) const ITEM: &str = "run, project, agent, agent_version, flow, completed_at, \
     added_at, taken_by, progress, state, closed_at, closed_by, reason";

pub(in crate::store) fn item_cells(item: &QueueItem) -> Vec<Cell> {
    let agent = item.agent.as_ref();
    vec![
        item.run.as_str().into(),
        item.project.as_str().into(),
        agent.map(|(id, _)| id.as_str()).into(),
        agent.map(|(_, version)| version.as_str()).into(),
        item.flow.as_str().into(),
        item.completed_at.as_unix_millis().into(),
        item.added_at.as_unix_millis().into(),
        taken_by_text(&item.taken_by).into(),
        progress_text(&item.progress).into(),
        item.state.as_str().into(),
        item.closed_at.map(Timestamp::as_unix_millis).into(),
        item.closed_by.as_ref().map(|by| by.as_str()).into(),
        item.reason.as_ref().map(|reason| reason.as_str()).into(),
    ]
}

pub(in crate::store) fn item(row: &mut Row) -> Result<QueueItem, DbError> {
    Ok(QueueItem {
        run: parse(row.text()?)?,
        project: parse(row.text()?)?,
        agent: {
            let id = opt_parse(row.opt_text()?)?;
            let version = opt_parse(row.opt_text()?)?;
            id.zip(version)
        },
        flow: parse(row.text()?)?,
        completed_at: time(row.int()?)?,
        added_at: time(row.int()?)?,
        taken_by: taken_by(row.text()?)?,
        progress: progress(row.text()?)?,
        state: named(row.text()?, ItemState::from_name)?,
        closed_at: row.opt_int()?.map(time).transpose()?,
        closed_by: opt_parse(row.opt_text()?)?,
        reason: opt_parse(row.opt_text()?)?,
    })
}

/// What is kept of those that took an item: three cells each, in one text.
fn taken_by_text(taken_by: &[TakenBy]) -> String {
    let cells = taken_by.iter().flat_map(|by| -> [Cell; 3] {
        [
            by.rule.as_str().into(),
            i64::from(by.version).into(),
            by.wants.as_ref().map(|class| class.as_str()).into(),
        ]
    });
    sql::to_json(&cells.collect::<Vec<_>>())
}

fn taken_by(text: String) -> Result<Vec<TakenBy>, DbError> {
    let corrupt = |_| DbError::corrupt("a rule's version");
    each(text, 3, |row| {
        Ok(TakenBy {
            rule: parse(row.text()?)?,
            version: row.int()?.try_into().map_err(corrupt)?,
            wants: opt_parse(row.opt_text()?)?,
        })
    })
}

/// An item's progress: two cells for each class, in one text.
pub(in crate::store) fn progress_text(progress: &[ClassProgress]) -> String {
    let cells = progress.iter().flat_map(|under| -> [Cell; 2] {
        [
            under.class.as_ref().map(|class| class.as_str()).into(),
            i64::try_from(under.judgments).unwrap_or(i64::MAX).into(),
        ]
    });
    sql::to_json(&cells.collect::<Vec<_>>())
}

fn progress(text: String) -> Result<Vec<ClassProgress>, DbError> {
    each(text, 2, |row| {
        Ok(ClassProgress {
            class: opt_parse(row.opt_text()?)?,
            judgments: count(row.int()?)?,
        })
    })
}

/// How many of something there are.
pub(in crate::store) fn count(count: i64) -> Result<u64, DbError> {
    u64::try_from(count).map_err(|_| DbError::corrupt("a count"))
}

/// Things of so many cells each, from one text.
fn each<T>(
    text: String,
    cells: usize,
    decode: impl Fn(&mut Row) -> Result<T, DbError>,
) -> Result<Vec<T>, DbError> {
    let all = sql::from_json(text)?;
    let rows = all.chunks(cells).map(|cells| Row::new(cells.to_vec()));
    rows.map(|mut row| decode(&mut row)).collect()
}
