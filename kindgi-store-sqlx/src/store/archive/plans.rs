//! Each page of an export is a range of an index.

#![allow(clippy::unwrap_used, reason = "a test")]

use std::num::NonZeroU16;

use kindgi_core::store::archive::{ArchivePart, RecordId};
use sqlx::{AssertSqlSafe, Row as _, SqlitePool};

use super::rows::{Which, select};
use crate::{
    sql::{Cell, Sql},
    store::Tables,
};

/// How SQLite would go about a statement.
async fn plan(pool: &SqlitePool, sql: &Sql) -> String {
    let explain = AssertSqlSafe(format!("EXPLAIN QUERY PLAN {}", sql.text));
    let query = sql.args.iter();
    let query = query.fold(sqlx::query(explain), |query, arg| match arg {
        Cell::Null => query.bind(None::<String>),
        Cell::Int(value) => query.bind(*value),
        Cell::Text(value) => query.bind(value.clone()),
    });
    let rows = query.fetch_all(pool).await.unwrap();
    let steps: Vec<String> = rows.iter().map(|row| row.get("detail")).collect();
    steps.join("; ")
}

#[tokio::test]
async fn every_page_is_a_range_of_an_index() {
    let folder = tempfile::tempdir().unwrap();
    let url = format!("sqlite:{}", folder.path().join("plans.db").display());
    crate::SqlxStore::builder().connect(&url).await.unwrap();
    let pool = SqlitePool::connect(&url).await.unwrap();
    let tables = Tables::new("kindgi_");
    let limit = NonZeroU16::MIN;
    for (part, index, key) in [
        (ArchivePart::Classes, "classes_id", "(tenant,id)>(?,?)"),
        (
            ArchivePart::RuleVersions,
            "rule_versions_version",
            "(tenant,rule,version)>(?,?,?)",
        ),
        (
            ArchivePart::Rules,
            "project_rules_project",
            "(tenant,project)>(?,?)",
        ),
        (ArchivePart::Runs, "runs_run", "(tenant,run)>(?,?)"),
        (ArchivePart::Judgments, "judgments_id", "(tenant,id)>(?,?)"),
        (ArchivePart::Tellings, "tellings_run", "(tenant,run)>(?,?)"),
        (ArchivePart::Purges, "purges_tenant", "tenant>?"),
        (
            ArchivePart::Operations,
            "operations_id",
            "(tenant,id)>(?,?)",
        ),
    ] {
        let after = RecordId {
            part,
            tenant: "acme".parse().unwrap(),
            id: "id".into(),
            version: 1,
        };
        let first = plan(
            &pool,
            &select(&tables, part, Which::Page { after: None, limit }),
        )
        .await;
        let after = Some(&after);
        let later = plan(&pool, &select(&tables, part, Which::Page { after, limit })).await;
        let by = format!("kindgi_{index}");
        assert!(first.contains(&format!("INDEX {by}")), "{part:?}: {first}");
        let range = format!("INDEX {by} ({key})");
        assert!(later.contains(&range), "{part:?}: {later}");
        // What several rules say of a run may be put in order, but not all runs.
        let sorts = later.contains("TEMP B-TREE");
        assert_eq!(sorts, part == ArchivePart::Tellings, "{part:?}: {later}");
        assert!(!later.contains("SCAN kindgi"), "{part:?}: {later}");
    }
}
