//! Every filter of the lists has an index, which also gives the list's order.

#![allow(clippy::unwrap_used, reason = "a test")]

use kindgi_core::{
    Timestamp,
    model::{ClassScope, Position, Readable, TenantId, Verdict},
    store::{ClassFilter, JudgmentFilter, Keyset},
};
use sqlx::{AssertSqlSafe, Row as _, SqlitePool};

use crate::sql::{Cell, Sql};

/// How SQLite would go about a statement.
async fn plan(pool: &SqlitePool, sql: &Sql) -> String {
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

async fn pool() -> (tempfile::TempDir, SqlitePool) {
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

#[tokio::test]
async fn every_filter_of_the_list_of_judgments_has_an_index() {
    let (_folder, pool) = pool().await;
    let tenant: TenantId = "acme".parse().unwrap();
    let all = Readable::All;
    let one = Readable::Only([("project").parse().unwrap()].into());
    let filter = |set: fn(&mut JudgmentFilter)| {
        let mut filter = JudgmentFilter::default();
        set(&mut filter);
        filter
    };
    let none = filter(|_| {});
    let run = filter(|f| f.run = Some("run".parse().unwrap()));
    let agent = filter(|f| f.agent = Some("agent".parse().unwrap()));
    let version = filter(|f| {
        f.agent = Some("agent".parse().unwrap());
        f.agent_version = Some("1".parse().unwrap());
    });
    let flow = filter(|f| f.flow = Some("flow".parse().unwrap()));
    let verdict = filter(|f| f.verdict = Some(Verdict::No));
    let class = filter(|f| f.class = Some("class".parse().unwrap()));
    let participant = filter(|f| f.participant = Some("p".parse().unwrap()));
    for (index, filter, readable) in [
        ("kindgi_judgments_list", &none, &all),
        ("kindgi_judgments_project", &none, &one),
        ("kindgi_judgments_run", &run, &all),
        ("kindgi_judgments_subject", &agent, &all),
        ("kindgi_judgments_version", &version, &all),
        ("kindgi_judgments_subject", &flow, &all),
        ("kindgi_judgments_verdict", &verdict, &all),
        ("kindgi_judgments_class", &class, &all),
        ("kindgi_judgments_participant", &participant, &all),
    ] {
        for keyset in pages() {
            let list =
                super::judgments::list("kindgi_judgments", &tenant, filter, readable, &keyset);
            assert_index(&plan(&pool, &list).await, index, &list.text);
        }
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
        ("kindgi_classes_scope", Some(ClassScope::Tenant)),
        ("kindgi_classes_scope", Some(project)),
        ("kindgi_classes_scope", Some(agent)),
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
