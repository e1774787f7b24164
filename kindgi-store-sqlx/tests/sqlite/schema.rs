//! What the schema itself holds up, whatever the code does.

use kindgi_core::{
    model::{ClassScope, EndedRun, JudgeClass, Weight},
    store::{Applied, Candidate, ClassCreated, JudgeClassStore, JudgingQueueStore, Taken, Write},
};
use sqlx::SqlitePool;

use crate::support::{Folder, append_rule, at, judgment, record, tenant};

async fn refused(pool: &SqlitePool, sql: &'static str) -> bool {
    match sqlx::query(sql).execute(pool).await {
        Ok(_) => false,
        Err(e) => e
            .as_database_error()
            .is_some_and(|e| e.is_unique_violation() || e.is_check_violation()),
    }
}

#[tokio::test]
async fn a_second_live_judgment_of_one_key_is_refused() {
    let folder = Folder::new();
    let store = folder.store().await;
    record(&store, "a", "run", "key").await;
    let pool = folder.pool().await;
    let columns = "tenant, project, run, subject_kind, subject_id, version, item_key, verdict, \
                   restricted, author_kind, author_id, created_at, live_key";
    let second = format!(
        "INSERT INTO kindgi_judgments (id, {columns}) SELECT 'b', {columns} FROM kindgi_judgments"
    );
    assert!(refused(&pool, second.leak()).await);
}

#[tokio::test]
async fn living_and_having_a_key_are_one() {
    let folder = Folder::new();
    let store = folder.store().await;
    record(&store, "a", "run", "key").await;
    let pool = folder.pool().await;
    assert!(refused(&pool, "UPDATE kindgi_judgments SET live_key = NULL").await);
    assert!(refused(&pool, "UPDATE kindgi_judgments SET unregistered_at = 1").await);
}

#[tokio::test]
async fn a_second_live_class_of_one_name_is_refused() {
    let folder = Folder::new();
    let store = folder.store().await;
    let class = JudgeClass {
        id: "a".parse().unwrap(),
        tenant: tenant(),
        scope: ClassScope::Tenant,
        name: "expert".parse().unwrap(),
        weight: Weight::new(0.1).unwrap(),
        description: None,
        assertable_by: None,
        created_at: at(0),
        updated_at: at(0),
        unregistered_at: None,
    };
    let write = Write {
        tenant: &tenant(),
        now: at(0),
        operation: None,
    };
    let created = store.create_class(write, &class).await.unwrap();
    assert_eq!(created, Applied::Done(ClassCreated::Ok(Box::new(class))));
    let pool = folder.pool().await;
    let columns = "tenant, revision, scope_kind, name, weight, created_at, updated_at, live_name";
    let second = format!(
        "INSERT INTO kindgi_classes (id, {columns}) SELECT 'b', {columns} FROM kindgi_classes"
    );
    assert!(refused(&pool, second.leak()).await);
}

#[tokio::test]
async fn a_repeated_version_of_a_rule_is_refused() {
    let folder = Folder::new();
    let store = folder.store().await;
    append_rule(&store, "a", 1).await;
    append_rule(&store, "b", 1).await;
    let pool = folder.pool().await;
    let columns = "tenant, name, matching, sample, enabled, created_at";
    let again = |rule: &str, version: u32| -> &'static str {
        let again = format!(
            "INSERT INTO kindgi_rule_versions (rule, version, {columns}) \
             SELECT '{rule}', {version}, {columns} FROM kindgi_rule_versions WHERE rule = 'a'"
        );
        again.leak()
    };
    assert!(refused(&pool, again("a", 1)).await);
    assert!(!refused(&pool, again("a", 2)).await);
    assert!(refused(&pool, again("b", 1)).await);
}

#[tokio::test]
async fn a_second_rule_of_one_id_is_refused() {
    let folder = Folder::new();
    append_rule(&folder.store().await, "a", 1).await;
    let pool = folder.pool().await;
    let columns = "tenant, id, latest_version, first_created_at";
    let second = format!(
        "INSERT INTO kindgi_rules (project, {columns}) SELECT 'other', {columns} FROM kindgi_rules"
    );
    assert!(refused(&pool, second.leak()).await);
}

#[tokio::test]
async fn a_key_is_held_or_answered_and_there_once() {
    let folder = Folder::new();
    folder.store().await;
    let pool = folder.pool().await;
    let insert = |rest: &str| -> &'static str {
        let insert = format!(
            "INSERT INTO kindgi_idempotency_keys \
             (id, tenant, body, ends_at, token, answered_at, status, headers, answer) \
             VALUES {rest}"
        );
        insert.leak()
    };
    let held = "('a', 'acme', 'b', 1, 't', NULL, NULL, NULL, NULL)";
    assert!(!refused(&pool, insert(held)).await);
    assert!(refused(&pool, insert(held)).await);
    for neither in [
        "('c', 'acme', 'b', 1, 't', 1, 200, NULL, NULL)",
        "('c', 'acme', 'b', 1, NULL, NULL, NULL, NULL, NULL)",
        "('c', 'acme', 'b', 1, NULL, 1, NULL, NULL, NULL)",
        "('c', 'acme', 'b', 1, NULL, 1, 200, '[]', NULL)",
    ] {
        assert!(refused(&pool, insert(neither)).await, "{neither}");
    }
}

#[tokio::test]
async fn what_is_kept_once_of_a_queue_can_not_be_twice() {
    let folder = Folder::new();
    let store = folder.store().await;
    let rule = append_rule(&store, "rule", 1).await;
    let write = Write {
        tenant: &tenant(),
        now: at(0),
        operation: None,
    };
    let subject = judgment("a", "run", "key").1.subject;
    let ended = EndedRun::new("run".parse().unwrap(), rule.project.clone(), subject, at(0));
    let candidates = [Candidate::from(&rule)];
    let taken = store.take(write, &ended, 1, &candidates).await.unwrap();
    assert!(matches!(taken, Taken::Queued(_)), "{taken:?}");
    let pool = folder.pool().await;
    for (table, columns) in [
        (
            "queue_items",
            "tenant, run, project, flow, completed_at, added_at, taken_by, wants_any, progress, \
             state",
        ),
        ("queue_counts", "tenant, project, kind, of_id, state, items"),
        (
            "tellings",
            "tenant, run, rule, project, version, skipped, told_at, age",
        ),
        ("project_rules", "tenant, project, revision"),
    ] {
        let again =
            format!("INSERT INTO kindgi_{table} ({columns}) SELECT {columns} FROM kindgi_{table}");
        assert!(refused(&pool, again.leak()).await, "{table}");
    }
    assert!(refused(&pool, "UPDATE kindgi_queue_counts SET items = -1").await);
    assert!(refused(&pool, "UPDATE kindgi_queue_items SET closed_at = 1").await);
}
