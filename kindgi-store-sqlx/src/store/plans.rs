//! Every filter of the lists has an index, which also gives the list's order.

#![allow(clippy::unwrap_used, reason = "a test")]

mod idempotency;
mod queue;

use kindgi_core::{
    Timestamp,
    model::{ClassScope, Position, Readable, TenantId, Verdict},
    store::{ClassFilter, JudgmentFilter, Keyset},
};
use sqlx::{AssertSqlSafe, Row as _, SqlitePool};

use super::judgments::list;
use crate::{
    drivers::sqlite::DIALECT,
    sql::{Cell, Sql},
};

/// How SQLite would go about a statement.
pub(super) async fn plan(pool: &SqlitePool, sql: &Sql) -> String {
    let explain = AssertSqlSafe(format!("EXPLAIN QUERY PLAN {}", sql.text));
    let query = sql
        .args
        .iter()
        .fold(sqlx::query(explain), |query, arg| match arg {
            Cell::Null => query.bind(None::<String>),
            Cell::Int(value) => query.bind(*value),
            Cell::Text(value) => query.bind(value.clone()),
        });
    let rows = query.fetch_all(pool).await.unwrap();
    let steps: Vec<String> = rows.iter().map(|row| row.get("detail")).collect();
    steps.join("; ")
}

/// The first page and a later one.
fn pages() -> [Keyset; 2] {
    let at = Timestamp::UNIX_EPOCH;
    let after = Some(Position {
        at,
        id: "id".into(),
    });
    let limit = Default::default();
    [Keyset { after: None, limit }, Keyset { after, limit }]
}

pub(super) async fn pool() -> (tempfile::TempDir, SqlitePool) {
    let folder = tempfile::tempdir().unwrap();
    let url = format!("sqlite:{}", folder.path().join("plans.db").display());
    crate::SqlxStore::builder().connect(&url).await.unwrap();
    (folder, SqlitePool::connect(&url).await.unwrap())
}

fn assert_index(plan: &str, index: &str, what: &str) {
    assert!(
        plan.contains(&format!("USING INDEX {index} ")),
        "{what}: {plan}"
    );
    assert!(!plan.contains("TEMP B-TREE"), "{what} sorts: {plan}");
    assert!(!plan.contains("SCAN"), "{what} scans: {plan}");
}

/// A filter: its index, and how it is set.
type Filter = (&'static str, fn(&mut JudgmentFilter, &mut Readable));

/// All filters, in the order in which one is chosen of several.
const FILTERS: [Filter; 8] = [
    ("kindgi_judgments_run", |f, _| {
        f.run = Some("run".parse().unwrap());
    }),
    ("kindgi_judgments_participant", |f, _| {
        f.participant = Some("participant".parse().unwrap());
    }),
    ("kindgi_judgments_class", |f, _| {
        f.class = Some("class".parse().unwrap());
    }),
    ("kindgi_judgments_version", |f, _| {
        f.agent = Some("agent".parse().unwrap());
        f.agent_version = Some("1".parse().unwrap());
    }),
    ("kindgi_judgments_subject", |f, _| {
        f.flow = Some("flow".parse().unwrap());
        (f.agent, f.agent_version) = (None, None);
    }),
    ("kindgi_judgments_subject", |f, _| {
        f.agent = Some("agent".parse().unwrap());
        (f.flow, f.agent_version) = (None, None);
    }),
    ("kindgi_judgments_project", |_, readable| {
        *readable = Readable::Only(["project".parse().unwrap()].into());
    }),
    ("kindgi_judgments_verdict", |f, _| {
        f.verdict = Some(Verdict::No)
    }),
];

/// Whether a list by these filters, the first and a later page of it, goes by this index.
async fn assert_list(pool: &SqlitePool, index: &str, filters: &[Filter]) {
    let tenant: TenantId = "acme".parse().unwrap();
    let (mut filter, mut readable) = (JudgmentFilter::default(), Readable::All);
    for (_, set) in filters {
        set(&mut filter, &mut readable);
    }
    for keyset in pages() {
        let list = list(
            "kindgi_judgments",
            &DIALECT,
            &tenant,
            &filter,
            &readable,
            &keyset,
        );
        assert_index(&plan(pool, &list).await, index, &list.text);
    }
}

#[tokio::test]
async fn every_filter_of_the_list_of_judgments_has_an_index() {
    let (_folder, pool) = pool().await;
    assert_list(&pool, "kindgi_judgments_list", &[]).await;
    for filter in FILTERS {
        assert_list(&pool, filter.0, &[filter]).await;
    }
}

const PROJECT: &str = "kindgi_judgments_project";

#[tokio::test]
async fn of_two_filters_the_one_that_leaves_fewer_rows_has_the_index() {
    let (_folder, pool) = pool().await;
    let filters = FILTERS.iter().filter(|filter| filter.0 != PROJECT);
    let filters: Vec<_> = filters.collect();
    for (n, first) in filters.iter().enumerate() {
        for second in &filters[n + 1..] {
            let of_subject = |filter: &Filter| {
                matches!(
                    filter.0,
                    "kindgi_judgments_subject" | "kindgi_judgments_version"
                )
            };
            if !(of_subject(first) && of_subject(second)) {
                assert_list(&pool, first.0, &[**first, **second]).await;
            }
        }
    }
}

#[tokio::test]
async fn every_filter_but_a_runs_has_an_index_with_the_one_project_too() {
    let (_folder, pool) = pool().await;
    let project = FILTERS.iter().find(|filter| filter.0 == PROJECT).unwrap();
    for filter in FILTERS.iter().filter(|filter| filter.0 != PROJECT) {
        let index = match filter.0 {
            run @ "kindgi_judgments_run" => run.to_owned(),
            other => other.replace("kindgi_judgments_", "kindgi_judgments_project_"),
        };
        assert_list(&pool, &index, &[*filter, *project]).await;
    }
}

#[tokio::test]
async fn several_projects_do_not_keep_a_filter_from_its_index() {
    let (_folder, pool) = pool().await;
    let several: Filter = ("kindgi_judgments_list", |_, readable| {
        *readable = Readable::Only(["one".parse().unwrap(), "two".parse().unwrap()].into());
    });
    assert_list(&pool, several.0, &[several]).await;
    for filter in FILTERS.into_iter().filter(|filter| filter.0 != PROJECT) {
        assert_list(&pool, filter.0, &[filter, several]).await;
    }
}

#[tokio::test]
async fn the_reads_of_rules_have_indexes() {
    let (_folder, pool) = pool().await;
    let tables = super::Tables::new("kindgi_");
    let tenant: TenantId = "acme".parse().unwrap();
    let (project, id) = ("project".parse().unwrap(), "rule".parse().unwrap());
    let latest = super::judging_rules::latest(&tables, &tenant, &project, &id);
    let mut reads = vec![("kindgi_rules_id", latest)];
    for keyset in pages() {
        let list = super::judging_rules::list(&tables, &tenant, &project, &keyset);
        reads.push(("kindgi_rules_list", list));
    }
    for before in [None, Some(7)] {
        let limit = Default::default();
        let versions =
            super::judging_rules::versions(&tables, &tenant, &project, &id, before, limit);
        reads.push(("kindgi_rules_id", versions));
    }
    for (index, sql) in reads {
        let plan = plan(&pool, &sql).await;
        assert_index(&plan, index, &sql.text);
        assert_index(&plan, "kindgi_rule_versions_version", &sql.text);
    }
}

#[tokio::test]
async fn every_filter_of_the_list_of_classes_has_an_index() {
    let (_folder, pool) = pool().await;
    let tenant: TenantId = "acme".parse().unwrap();
    let project = ClassScope::Project("project".parse().unwrap());
    let agent = ClassScope::Agent("project".parse().unwrap(), "agent".parse().unwrap());
    for (index, scope) in [
        ("kindgi_classes_list", None),
        ("kindgi_classes_of_scope", Some(ClassScope::Tenant)),
        ("kindgi_classes_of_scope", Some(project)),
        ("kindgi_classes_of_scope", Some(agent)),
    ] {
        let filter = ClassFilter { scope };
        for keyset in pages() {
            let all = Readable::All;
            let list =
                super::judge_classes::list("kindgi_classes", &tenant, &filter, &all, &keyset);
            assert_index(&plan(&pool, &list).await, index, &list.text);
        }
    }
}

#[tokio::test]
async fn the_classes_of_one_project_are_merged_of_two_ranges() {
    let (_folder, pool) = pool().await;
    let tenant: TenantId = "acme".parse().unwrap();
    let one = Readable::Only(["project".parse().unwrap()].into());
    for keyset in pages() {
        let filter = ClassFilter { scope: None };
        let list = super::judge_classes::list("kindgi_classes", &tenant, &filter, &one, &keyset);
        let plan = plan(&pool, &list).await;
        let range = "INDEX kindgi_classes_project (tenant=? AND <expr>=?";
        assert_eq!(plan.matches(range).count(), 2, "{plan}");
    }
}
