//! Futures that are dropped.

use std::{
    future::Future,
    pin::pin,
    task::{Context, Waker},
};

use kindgi_core::{
    model::EndedRun,
    store::{Candidate, JudgingQueueStore, Lifecycle, Write},
};

use crate::support::{
    Folder, append_rule, assert_unbroken_chains, at, judgment, live, number, record, tenant,
};

/// Polls a future so many times, letting others go on between, and drops it; whether it was done.
pub(crate) async fn poll_then_drop<T>(future: impl Future<Output = T>, times: usize) -> bool {
    let mut future = pin!(future);
    for _ in 0..times {
        let mut cx = Context::from_waker(Waker::noop());
        if future.as_mut().poll(&mut cx).is_ready() {
            return true;
        }
        tokio::task::yield_now().await;
    }
    false
}

#[tokio::test]
async fn a_write_that_is_dropped_at_any_await_is_done_or_not_at_all() {
    let folder = Folder::new();
    let store = folder.store().await;
    let pool = folder.pool().await;
    let mut dropped = 0;
    for times in 0..200 {
        let id = format!("dropped-{times}");
        dropped += usize::from(!poll_then_drop(record(&store, &id, "run", "key"), times).await);
    }
    assert!(dropped > 100, "only {dropped} of 200 were dropped");
    // The store goes on, and what it writes now stands behind all that is still in line.
    record(&store, "last", "run", "key").await;
    assert_eq!(live(&store).await, ["last"]);
    assert_unbroken_chains(&pool).await;
    assert_no_transaction_is_open(&pool).await;
}

#[tokio::test]
async fn an_items_way_that_is_dropped_at_any_await_leaves_exact_numbers() {
    let folder = Folder::new();
    let store = folder.store().await;
    let pool = folder.pool().await;
    let rule = append_rule(&store, "rule", 1).await;
    let candidates = [Candidate::from(&rule)];
    let tenant = tenant();
    let write = Write {
        tenant: &tenant,
        now: at(0),
        operation: None,
    };
    let by = &"user:ada".parse().unwrap();
    let limit = std::num::NonZeroU16::MAX;
    let mut dropped = 0;
    for times in 0..120 {
        let run = format!("run-{}", times % 40);
        let subject = judgment("a", &run, "key").1.subject;
        let ended = EndedRun::new(run.parse().unwrap(), rule.project.clone(), subject, at(0));
        let (project, run) = (&rule.project, &ended.id);
        let done = match times % 5 {
            0 | 1 => poll_then_drop(store.take(write, &ended, 1, &candidates), times).await,
            2 => poll_then_drop(store.dismiss(write, project, run, by, None), times).await,
            3 => poll_then_drop(store.reopen(write, project, run, by), times).await,
            _ => poll_then_drop(store.purge(write, at(-1), None, limit), times).await,
        };
        dropped += usize::from(!done);
    }
    assert!(dropped > 50, "only {dropped} of 120 were dropped");
    // What it writes now stands behind all that is still in line.
    record(&store, "last", "run", "key").await;
    let items = number(&pool, "SELECT COUNT(*) FROM kindgi_queue_items").await;
    assert!(items > 10, "only {items} items");
    crate::against_memory::assert_counted(&pool).await;
    assert_no_transaction_is_open(&pool).await;
}

/// With one open on any connection, this would be refused at once.
pub(crate) async fn assert_no_transaction_is_open(pool: &sqlx::SqlitePool) {
    let mut own = pool.acquire().await.unwrap();
    sqlx::query("PRAGMA busy_timeout = 0")
        .execute(&mut *own)
        .await
        .unwrap();
    sqlx::query("BEGIN EXCLUSIVE")
        .execute(&mut *own)
        .await
        .unwrap();
    sqlx::query("ROLLBACK").execute(&mut *own).await.unwrap();
}

#[tokio::test]
async fn a_read_that_is_dropped_at_any_await_leaves_the_pool_usable() {
    let folder = Folder::new();
    let store = folder.store().await;
    for n in 0..30 {
        record(&store, &format!("{n}"), "run", &format!("{n}")).await;
    }
    for times in 0..300 {
        poll_then_drop(live(&store), times % 60).await;
    }
    assert_eq!(live(&store).await.len(), 30);
}

#[test]
fn a_runtime_that_ends_during_writes_leaves_a_usable_store() {
    let folder = Folder::new();
    let first = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .unwrap();
    let store = first.block_on(folder.store());
    for n in 0..50 {
        let store = store.clone();
        first.spawn(async move {
            let (new, copy) = crate::support::judgment(&format!("{n}"), "run", &format!("{n}"));
            let tenant = crate::support::tenant();
            let write = kindgi_core::store::Write {
                tenant: &tenant,
                now: crate::support::at(0),
                operation: None,
            };
            // It may be told that its runtime is gone.
            use kindgi_core::store::JudgmentStore;
            let _ = store.record(write, &new, Some(&copy), None).await;
        });
    }
    first.shutdown_background();
    let second = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .unwrap();
    second.block_on(async {
        let again = folder.store().await;
        record(&again, "after", "run", "after").await;
        let pool = folder.pool().await;
        let rows = number(&pool, "SELECT COUNT(*) FROM kindgi_judgments").await;
        assert_eq!(live(&again).await.len() as i64, rows);
        assert_unbroken_chains(&pool).await;
    });
}
