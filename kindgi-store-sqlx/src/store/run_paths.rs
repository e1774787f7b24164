//! The paths that runs' segments begin with, for finding judged runs by one.

use std::collections::BTreeSet;

use kindgi_core::model::{ProjectId, RunContext, RunCopy, Segment};

use crate::sql::{Cell, Sql};

/// How many characters of a path are kept, its last: what an index takes is limited.
const MAX_CHARS: usize = 100;
/// How many segments a path has that is kept.
const MAX_SEGMENTS: usize = 32;

pub(super) const RUN_PATH: &str = "tenant, run, project, path, captured_at";

/// A path as JSON, without its last bracket: with one or with a comma it begins those that begin
/// with it.
pub(super) fn open(path: &[Segment]) -> String {
    let mut json = Segment::path_to_json(path).to_string();
    json.pop();
    json
}

/// What a path is found by. Others may have the same.
pub(super) fn key(path: &[Segment]) -> String {
    let open = open(&path[..path.len().min(MAX_SEGMENTS)]);
    let chars = open.chars().count();
    open.chars().skip(chars.saturating_sub(MAX_CHARS)).collect()
}

/// Whether what it is found by is the path and no other's.
pub(super) fn is_exact(path: &[Segment]) -> bool {
    path.len() <= MAX_SEGMENTS && open(path).chars().count() < MAX_CHARS
}

/// The rows of a copy that is listed. A replay isn't.
pub(super) fn rows(tenant: &str, project: &ProjectId, copy: &RunCopy) -> Vec<Vec<Cell>> {
    if copy.context.as_ref().is_some_and(RunContext::is_of_replay) {
        return Vec::new();
    }
    let segments = copy.segments.as_deref().unwrap_or_default();
    let lengths = 1..=segments.len().min(MAX_SEGMENTS);
    let keys: BTreeSet<_> = lengths.map(|length| key(&segments[..length])).collect();
    let row = |key: String| {
        vec![
            tenant.into(),
            copy.run.as_str().into(),
            project.as_str().into(),
            key.into(),
            copy.captured_at.as_unix_millis().into(),
        ]
    };
    keys.into_iter().map(row).collect()
}

/// The statement that keeps rows, if there are any.
pub(super) fn kept(table: &str, rows: Vec<Vec<Cell>>) -> Option<Sql> {
    if rows.is_empty() {
        return None;
    }
    let values = vec!["(?, ?, ?, ?, ?)"; rows.len()].join(", ");
    let sql = Sql::new(format!("INSERT INTO {table} ({RUN_PATH}) VALUES {values}"));
    Some(sql.bind_all(rows.into_iter().flatten()))
}
