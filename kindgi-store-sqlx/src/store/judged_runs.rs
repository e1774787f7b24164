//! The list of judged runs.

use std::collections::HashMap;

use kindgi_core::{
    model::{Judgment, PageSize, RunId, Segment, TenantId},
    store::{JudgedRun, JudgedRunFilter, Keyset, Slice},
};

use super::{
    Tables,
    codec::{self, COPY, JUDGMENT, parse},
    columns_of, newest_first, of_run, run_paths,
};
use crate::{
    dialect::Dialect,
    error::DbError,
    sql::{Row, Sql},
};

/// The statement of a page: first the copies, each once however many judgments it has, then the
/// judgments.
pub(super) fn list(
    tables: &Tables,
    dialect: &Dialect,
    tenant: &TenantId,
    filter: &JudgedRunFilter,
    keyset: &Keyset,
) -> Sql {
    let page = page(tables, dialect, tenant, filter, keyset);
    let nulls = |columns: &str| vec!["NULL"; columns.split(", ").count()].join(", ");
    let sql = format!(
        "WITH page AS ({}) SELECT r.project, r.run, {}, {} FROM page p JOIN {} r ON {} \
         UNION ALL SELECT NULL, NULL, {}, {} FROM page p JOIN {} j \
         ON {} AND j.unregistered_at IS NULL",
        page.text,
        columns_of("r", COPY),
        nulls(JUDGMENT),
        tables.runs,
        of_run(dialect, "r", "p"),
        nulls(COPY),
        columns_of("j", JUDGMENT),
        tables.judgments,
        of_run(dialect, "j", "p"),
    );
    Sql::new(sql).bind_all(page.args)
}

/// The statement of a page's runs. Segments, or else agent and version or flow, have an index that
/// gives the order, alone and with the project; the rest is checked row by row.
pub(super) fn page(
    tables: &Tables,
    dialect: &Dialect,
    tenant: &TenantId,
    filter: &JudgedRunFilter,
    keyset: &Keyset,
) -> Sql {
    let f = filter;
    let kind = match (
        f.agent.is_some() || f.agent_version.is_some(),
        f.flow.is_some(),
    ) {
        (false, false) => None,
        (true, false) => Some("agent"),
        (false, true) => Some("flow"),
        // Nothing is both.
        (true, true) => Some("neither"),
    };
    let agent = f.agent.as_ref().map(|agent| agent.as_str());
    let subject = agent.or(f.flow.as_ref().map(|flow| flow.as_str()));
    let (paths, runs) = (&tables.run_paths, &tables.runs);
    // The table that gives the order: of paths, or of the runs themselves.
    let by = if f.segments.is_empty() { "r" } else { "p" };
    let is_exact = run_paths::is_exact(&f.segments);
    let from = match f.segments.is_empty() {
        true => format!("{runs} r"),
        // Paths have no rows of those that are erased, nor of replays.
        false if kind.is_none() && is_exact => format!("{paths} p"),
        false => format!("{paths} p JOIN {runs} r ON {}", of_run(dialect, "r", "p")),
    };
    let mut sql = Sql::new(format!(
        "SELECT {by}.tenant, {by}.run FROM {from} WHERE {by}.tenant = ?"
    ))
    .bind(tenant.as_str());
    if f.segments.is_empty() {
        sql = sql.push(" AND r.erased = 0 AND r.replay = 0");
    } else {
        sql = sql
            .push(" AND p.path = ?")
            .bind(run_paths::key(&f.segments));
        if !is_exact {
            sql = begins_with(sql, "r.segments", &f.segments);
        }
    }
    sql = sql.and_is("r.subject_id", subject);
    sql = sql.and_is("r.subject_kind", kind);
    let version = f.agent_version.as_ref().map(|version| version.as_str());
    sql = sql.and_is("r.version", version);
    let project = f.project.as_ref().map(|project| project.as_str());
    sql = sql.and_is(&format!("{by}.project"), project);
    for (at, compares) in [(f.since, ">="), (f.until, "<")] {
        if let Some(at) = at {
            sql = sql
                .push(&format!(" AND {by}.captured_at {compares} ?"))
                .bind(at.as_unix_millis());
        }
    }
    let sql = sql.push(&format!(
        " AND EXISTS (SELECT 1 FROM {} j WHERE {} AND j.unregistered_at IS NULL)",
        tables.judgments,
        of_run(dialect, "j", by),
    ));
    let columns = (&*format!("{by}.captured_at"), &*format!("{by}.run"));
    newest_first(sql, columns, keyset)
}

/// That a path begins with these segments: its text is theirs, or goes on with a comma where
/// theirs ends. Nothing sorts between a comma and `-`, which comes next.
fn begins_with(sql: Sql, column: &str, segments: &[Segment]) -> Sql {
    let open = run_paths::open(segments);
    let path = format!("{open}]");
    let (from, to) = (format!("{open},"), format!("{open}-"));
    let begins = format!(" AND ({column} = ? OR ({column} >= ? AND {column} < ?))");
    sql.push(&begins).bind(path).bind(from).bind(to)
}

/// From the rows of [`list`], which come in any order.
pub(super) fn slice(
    tenant: &TenantId,
    rows: Vec<Row>,
    limit: PageSize,
) -> Result<Slice<JudgedRun>, DbError> {
    let mut runs = Vec::new();
    let mut judgments: HashMap<RunId, Vec<Judgment>> = HashMap::new();
    for mut row in rows {
        let project = row.opt_text()?;
        match row.opt_text()? {
            Some(run) => {
                let project = project.ok_or_else(|| DbError::corrupt("a run of no project"))?;
                runs.push(JudgedRun {
                    project: parse(project)?,
                    copy: codec::copy(parse(run)?, &mut row)?,
                    judgments: Vec::new(),
                });
            }
            None => {
                row.skip(COPY.split(", ").count());
                let judgment = codec::judgment(tenant, &mut row)?;
                let of_run = judgments.entry(judgment.run.clone()).or_default();
                of_run.push(judgment);
            }
        }
    }
    runs.sort_by(|a, b| {
        let (a, b) = (&a.copy, &b.copy);
        (b.captured_at, &b.run).cmp(&(a.captured_at, &a.run))
    });
    let limit = usize::from(limit.get());
    let more = runs.len() > limit;
    runs.truncate(limit);
    for run in &mut runs {
        run.judgments = judgments.remove(&run.copy.run).unwrap_or_default();
        run.judgments
            .sort_by(|a, b| (b.created_at, &b.id).cmp(&(a.created_at, &a.id)));
    }
    Ok(Slice { rows: runs, more })
}
