//! Locks that others hold, and connections that are ended meanwhile.

use kindgi_core::store::{Applied, JudgmentStore, Operation, Recorded, Write};
use kindgi_store_sqlx::SqlxStore;

use super::{
    invariants::assert_whole,
    support::{
        at, builder, cell, execute, judgment, name_of, named, open, pool, read, record, record_of,
        run, session, tenant, until_waiting, url, write,
    },
};

/// Ends the database's sessions that a condition holds for.
fn terminate(url: &str, which: &str) -> u32 {
    let ended = format!(
        "SELECT COUNT(*) FILTER (WHERE pg_terminate_backend(pid, 60000)) FROM pg_stat_activity \
         WHERE datname = current_database() AND pid <> pg_backend_pid() AND {which}"
    );
    cell(url, &ended).parse().unwrap()
}

fn count(url: &str) -> String {
    cell(url, "SELECT COUNT(*) FROM kindgi_judgments")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn connections_that_end_while_nothing_is_done_are_replaced_and_nobody_is_told() {
    let url = url();
    let own = pool(&url, 5).await;
    let store = builder().postgres(own.clone()).await.unwrap();
    for round in 0..5 {
        // As many connections as there may be.
        let mut held = Vec::new();
        for _ in 0..5 {
            held.push(own.acquire().await.unwrap());
        }
        drop(held);
        super::support::until("all are back", || own.num_idle() == 5).await;
        assert_eq!(terminate(&url, "true"), 5);
        let id = format!("id-{round}");
        if round % 2 == 0 {
            record(&store, &id, "key").await.unwrap();
            assert!(read(&store, &id).await.unwrap());
        } else {
            assert!(!read(&store, &id).await.unwrap());
            record(&store, &id, "key").await.unwrap();
        }
    }
    assert_eq!(count(&url), "5");
    assert_whole(&url);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn connections_that_end_amid_a_write_are_replaced_and_it_is_done_once() {
    let url = url();
    let stores = [open(&url).await, open(&url).await];
    let mut other = session(&url).await;
    for round in 0..3 {
        execute(&mut other, "BEGIN").await;
        execute(&mut other, "LOCK TABLE kindgi_judgments IN SHARE MODE").await;
        // One waits for the table amid its transaction, the other for the first one.
        let writes = [0, 1].map(|n| {
            let store = stores[n].clone();
            tokio::spawn(async move { record(&store, &format!("{round}-{n}"), "key").await })
        });
        until_waiting(&url, 2).await;
        assert_eq!(terminate(&url, "wait_event_type = 'Lock'"), 2);
        until_waiting(&url, 2).await;
        execute(&mut other, "ROLLBACK").await;
        for write in writes {
            write.await.unwrap().unwrap();
        }
        assert_eq!(count(&url), (2 * (round + 1)).to_string());
    }
    assert_whole(&url);
}

/// The numbers of the advisory locks that a session of the database holds alone.
fn held_alone(url: &str) -> String {
    let sql = "SELECT (classid::bigint << 32) | objid::bigint FROM pg_locks \
               WHERE locktype = 'advisory' AND granted AND mode = 'ExclusiveLock' \
               AND database = (SELECT oid FROM pg_database WHERE datname = current_database())";
    cell(url, sql)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lock_that_is_held_for_too_long_is_busy_for_all_in_line_and_nothing_is_written() {
    let url = url();
    let store = open(&url).await;
    record(&store, "first", "key").await.unwrap();
    let mut other = session(&url).await;
    execute(&mut other, "BEGIN").await;
    execute(&mut other, "LOCK TABLE kindgi_judgments IN SHARE MODE").await;
    let spawn = |tenant: &'static str, id: &'static str| {
        let store = store.clone();
        tokio::spawn(
            async move { record_of(&store, &tenant.parse().unwrap(), id, "key", None).await },
        )
    };
    // What its tenant's lock is called is seen while a write holds it.
    let before = spawn("acme", "before");
    until_waiting(&url, 1).await;
    let lock = held_alone(&url);
    execute(&mut other, "ROLLBACK").await;
    before.await.unwrap().unwrap();

    let take = format!("SELECT pg_advisory_lock({lock})");
    sqlx::raw_sql(sqlx::AssertSqlSafe(take))
        .execute(&mut other)
        .await
        .unwrap();
    execute(&mut other, "BEGIN").await;
    execute(&mut other, "LOCK TABLE kindgi_judgments IN SHARE MODE").await;
    // Some that wait for the tenant, and one of another, which waits for the table.
    let late = ["a", "b", "c"].map(|id| spawn("acme", id));
    let elsewhere = spawn("elsewhere", "d");
    for write in late.into_iter().chain([elsewhere]) {
        let error = write.await.unwrap().unwrap_err();
        assert!(error.is_busy(), "{error:?}");
    }
    execute(&mut other, "ROLLBACK").await;
    assert_eq!(count(&url), "2");
    let release = "SELECT pg_advisory_unlock_all()";
    execute(&mut other, release).await;
    record(&store, "after", "key").await.unwrap();
    let tenant = "elsewhere".parse().unwrap();
    record_of(&store, &tenant, "after", "key", None)
        .await
        .unwrap();
    assert_eq!(count(&url), "4");
    assert_whole(&url);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_read_that_takes_longer_than_the_servers_limit_is_busy() {
    let url = url();
    let limit = "SET statement_timeout = '100ms'";
    run(&url, &format!("ALTER DATABASE {} {limit}", name_of(&url)));
    let store = open(&url).await;
    record(&store, "a", "key").await.unwrap();
    let mut other = session(&url).await;
    execute(&mut other, "BEGIN").await;
    execute(
        &mut other,
        "LOCK TABLE kindgi_judgments IN ACCESS EXCLUSIVE MODE",
    )
    .await;
    let error = read(&store, "a").await.unwrap_err();
    assert!(error.is_busy(), "{error:?}");
    let error = record(&store, "b", "key").await.unwrap_err();
    assert!(error.is_busy(), "{error:?}");
    execute(&mut other, "ROLLBACK").await;
    assert!(read(&store, "a").await.unwrap());
    record(&store, "b", "key").await.unwrap();
    assert_eq!(count(&url), "2");
}

/// Keyed by an operation that has ended, and supersedes: it changes a judgment's row, and then the
/// operation's.
async fn supersede(store: &SqlxStore, id: &str) -> Result<(), kindgi_core::StoreError> {
    let (new, copy) = judgment(id, "run", "key");
    let tenant = tenant();
    let write = Write {
        now: at(100),
        operation: Some(Operation {
            id: &named("operation"),
            body: &[0; 32],
            keep_until: at(101),
        }),
        ..write(&tenant)
    };
    match store.record(write, &new, Some(&copy), None).await? {
        Applied::Done(Recorded::Ok { superseded, .. }) => assert!(superseded.is_some()),
        other => panic!("{other:?}"),
    }
    Ok(())
}

/// Has a write deadlock so many times with a session that locks the same the other way round, and
/// then lets it go on.
async fn deadlocked(url: &str, times: usize) -> Result<(), kindgi_core::StoreError> {
    // Who waits for so long looks for a deadlock, once: the store's session, since it is the last
    // to wait, and no other looks.
    let soon = "SET deadlock_timeout = '20ms'";
    run(url, &format!("ALTER DATABASE {} {soon}", name_of(url)));
    let store = open(url).await;
    let (tenant, id) = (tenant(), named("operation"));
    let ended = Operation {
        id: &id,
        body: &[0; 32],
        keep_until: at(1),
    };
    record_of(&store, &tenant, "old", "key", Some(ended))
        .await
        .unwrap();
    let (mut other, mut gate) = (session(url).await, session(url).await);
    execute(&mut other, "BEGIN").await;
    execute(&mut other, "SELECT 1 FROM kindgi_operations FOR UPDATE").await;
    let close = "BEGIN; LOCK TABLE kindgi_operations IN SHARE MODE";
    execute(&mut gate, close).await;
    let write = tokio::spawn(async move { supersede(&store, "new").await });
    for round in 1..=times {
        // The write has changed the judgments, and is kept from the operations.
        until_waiting(url, 1).await;
        execute(&mut other, "SAVEPOINT before").await;
        let locking = tokio::spawn(async move {
            execute(&mut other, "LOCK TABLE kindgi_judgments IN SHARE MODE").await;
            other
        });
        until_waiting(url, 2).await;
        execute(&mut gate, "ROLLBACK").await;
        // The write waits for the session's row now, which closes the circle, and is undone.
        other = locking.await.unwrap();
        if round < times {
            // Its next try is kept from the judgments.
            until_waiting(url, 1).await;
            execute(&mut gate, close).await;
            execute(&mut other, "ROLLBACK TO before").await;
        }
    }
    execute(&mut other, "ROLLBACK").await;
    write.await.unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_deadlock_with_somebody_else_is_tried_again_and_never_told() {
    let url = url();
    deadlocked(&url, 4).await.unwrap();
    assert_eq!(count(&url), "2");
    assert_whole(&url);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_deadlock_at_every_try_is_busy_and_nothing_is_written() {
    let url = url();
    let error = deadlocked(&url, 5).await.unwrap_err();
    assert!(error.is_busy(), "{error:?}");
    assert_eq!(count(&url), "1");
    assert_whole(&url);
}
