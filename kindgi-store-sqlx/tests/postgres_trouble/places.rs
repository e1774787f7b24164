//! Nodes that say where the tables are, and nodes that leave it to the connection.

use kindgi_core::{
    model::MaxOpen,
    store::{Candidate, JudgingQueueStore, JudgingRuleStore, Taken},
};
use sqlx::AssertSqlSafe;

use super::{
    invariants::assert_whole,
    support::{
        builder, cell, ended, execute, open, pool, project, read, record, rule, run, session,
        tenant, until_waiting, url, write,
    },
};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_schema_that_is_said_and_the_same_one_unsaid_are_locked_as_one() {
    let url = url();
    let unsaid = open(&url).await;
    let said = builder().schema("public").connect(&url).await.unwrap();
    let mut other = session(&url).await;
    execute(&mut other, "BEGIN").await;
    let close = "LOCK TABLE kindgi_judgments IN SHARE MODE";
    execute(&mut other, close).await;
    let stores = [("a", unsaid), ("b", said)];
    let writes = stores
        .map(|(id, store)| tokio::spawn(async move { record(&store, id, "key").await.unwrap() }));
    until_waiting(&url, 2).await;
    // One is kept from the table, and the other waits for that one.
    let by_name = "SELECT COUNT(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted \
                   AND database = (SELECT oid FROM pg_database WHERE datname = current_database())";
    let by_name = cell(&url, by_name);
    execute(&mut other, "ROLLBACK").await;
    for write in writes {
        write.await.unwrap();
    }
    assert_eq!(by_name, "1");
    assert_whole(&url);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nodes_that_say_the_schema_and_that_do_not_write_the_same_at_once() {
    let url = url();
    let unsaid = open(&url).await;
    let said = builder().schema("public").connect(&url).await.unwrap();
    let tenant = tenant();
    let mut capped = rule("rule", 1);
    capped.max_open = MaxOpen::new(3);
    let appended = unsaid.append_rule_version(write(&tenant), &capped, None);
    appended.await.unwrap();
    let enabled = unsaid.enabled_rules(&tenant, &project()).await.unwrap();
    let candidate = Candidate::from(&enabled.rules[0]);
    let tasks: Vec<_> = (0..40)
        .map(|n| {
            let store = [&unsaid, &said][n % 2].clone();
            let (candidates, revision) = ([candidate.clone()], enabled.revision);
            tokio::spawn(async move {
                record(&store, &format!("id-{n}"), &format!("key-{}", n / 8))
                    .await
                    .unwrap();
                let (tenant, run) = (super::support::tenant(), ended(&format!("run-{n}")));
                let taken = store.take(write(&tenant), &run, revision, &candidates);
                matches!(taken.await.unwrap(), Taken::Queued(_))
            })
        })
        .collect();
    let mut queued = 0;
    for task in tasks {
        queued += usize::from(task.await.unwrap());
    }
    assert_eq!(queued, 3);
    let live = "SELECT COUNT(*) FROM kindgi_judgments WHERE unregistered_at IS NULL";
    assert_eq!(cell(&url, live), "5");
    assert_whole(&url);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn where_connections_look_once_the_store_is_open_does_not_matter() {
    let url = url();
    let own = pool(&url, 3).await;
    let store = builder().postgres(own.clone()).await.unwrap();
    // One goes on looking where it did, one elsewhere, and one where other such tables are.
    run(&url, "CREATE SCHEMA elsewhere");
    let theirs = builder().schema("theirs").connect(&url).await.unwrap();
    let mut connections = Vec::new();
    for path in ["public", "elsewhere", "theirs, public"] {
        let mut connection = own.acquire().await.unwrap();
        let set = AssertSqlSafe(format!("SET search_path TO {path}"));
        sqlx::raw_sql(set).execute(&mut *connection).await.unwrap();
        connections.push(connection);
    }
    for n in 0..3 {
        // The only one that is free.
        connections.remove(0).return_to_pool().await;
        let id = format!("id-{n}");
        record(&store, &id, "key").await.unwrap();
        assert!(read(&store, &id).await.unwrap());
        connections.push(own.acquire().await.unwrap());
    }
    drop(connections);
    let there = "SELECT COUNT(*) FROM public.kindgi_judgments";
    assert_eq!(cell(&url, there), "3");
    assert!(!read(&theirs, "id-0").await.unwrap());
    assert_whole(&url);
}
