//! Clients that hang up: futures that are dropped, and tasks that are aborted.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use kindgi_core::store::{Candidate, JudgingQueueStore, JudgingRuleStore};
use kindgi_store_sqlx::SqlxStore;
use sqlx::PgPool;

use super::{
    invariants::assert_whole,
    support::{
        Random, assert_pool_is_whole, builder, cell, ended, poll_then_drop, pool, project, read,
        record, rule, tenant, until_idle, url, write,
    },
};

/// What was answered is there for everybody else at once.
async fn assert_seen(other: &PgPool, id: &str) {
    let sql = "SELECT COUNT(*) FROM kindgi_judgments WHERE id = $1";
    let count: i64 = sqlx::query_scalar(sql)
        .bind(id)
        .fetch_one(other)
        .await
        .unwrap();
    assert_eq!(count, 1, "{id} was answered");
}

/// One of the calls that a client may make; the judgment that it was told of.
async fn call(store: &SqlxStore, which: usize, n: usize) -> Option<String> {
    let (tenant, run) = (tenant(), format!("run-{}", n % 40));
    match which {
        0..4 => {
            let id = format!("id-{n}");
            record(store, &id, &format!("key-{}", n % 5)).await.unwrap();
            return Some(id);
        }
        4 => {
            read(store, &format!("id-{}", n / 2)).await.unwrap();
        }
        5 => {
            let candidates = [Candidate::from(&rule("rule", 1))];
            let run = ended(&run);
            let taken = store.take(write(&tenant), &run, 1, &candidates).await;
            taken.unwrap();
        }
        6 => {
            let (by, run) = ("user:ada".parse().unwrap(), run.parse().unwrap());
            let moved = store
                .dismiss(write(&tenant), &project(), &run, &by, None)
                .await;
            moved.unwrap();
        }
        _ => {
            let (by, run) = ("user:ada".parse().unwrap(), run.parse().unwrap());
            let moved = store.reopen(write(&tenant), &project(), &run, &by).await;
            moved.unwrap();
        }
    }
    None
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_clients_that_hang_up_leave_whole_writes_and_a_usable_pool() {
    let url = url();
    let (own, other) = (pool(&url, 6).await, pool(&url, 4).await);
    let store = builder().postgres(own.clone()).await.unwrap();
    let tenant = tenant();
    let made = store
        .append_rule_version(write(&tenant), &rule("rule", 1), None)
        .await;
    made.unwrap();
    let counts: [Arc<AtomicUsize>; 2] = Default::default();
    let [answered, dropped] = &counts;
    let clients: Vec<_> = (0..10)
        .map(|client| {
            let (store, other) = (store.clone(), other.clone());
            let (answered, dropped) = (Arc::clone(answered), Arc::clone(dropped));
            tokio::spawn(async move {
                let mut random = Random::new(client as u64 + 1);
                for n in 0..100 {
                    let (n, which) = (client * 100 + n, random.below(8));
                    // Most take longer, and a few of any number of steps are done.
                    let times = 1 << random.below(12);
                    let came = match n % 2 {
                        0 => poll_then_drop(call(&store, which, n), times).await,
                        _ => {
                            let store = store.clone();
                            let task = tokio::spawn(async move { call(&store, which, n).await });
                            for _ in 0..times {
                                tokio::task::yield_now().await;
                            }
                            task.abort();
                            task.await.ok()
                        }
                    };
                    match came {
                        Some(told) => {
                            answered.fetch_add(1, Ordering::Relaxed);
                            if let Some(id) = told {
                                assert_seen(&other, &id).await;
                            }
                        }
                        None => {
                            dropped.fetch_add(1, Ordering::Relaxed);
                        }
                    }
                }
            })
        })
        .collect();
    for client in clients {
        client.await.unwrap();
    }
    let [answered, dropped] = counts.map(|count| count.load(Ordering::Relaxed));
    assert_eq!(answered + dropped, 1000);
    assert!(
        answered > 50 && dropped > 300,
        "{answered} answered, {dropped} dropped"
    );
    // What comes now stands behind all that is still in line.
    record(&store, "last", "last").await.unwrap();
    until_idle(&url).await;
    assert_whole(&url);
    let live = "SELECT COUNT(*) FROM kindgi_judgments WHERE unregistered_at IS NULL";
    assert_eq!(cell(&url, live), "6", "one of each key");
    assert_pool_is_whole(&url, &own).await;
}

#[test]
fn a_runtime_that_ends_during_writes_leaves_a_usable_database() {
    let runtime = || {
        tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .unwrap()
    };
    let url = url();
    let first = runtime();
    let store = first.block_on(async { builder().postgres(pool(&url, 5).await).await.unwrap() });
    for n in 0..100 {
        let store = store.clone();
        // It may be told that its runtime is gone.
        first.spawn(async move {
            let _ = super::support::record(&store, &format!("{n}"), &format!("{}", n % 3)).await;
        });
    }
    let rows = "SELECT COUNT(*) FROM kindgi_judgments";
    first.block_on(super::support::until("some are written", || {
        cell(&url, rows) != "0"
    }));
    first.shutdown_background();
    runtime().block_on(async {
        let again = super::support::open(&url).await;
        record(&again, "after", "0").await.unwrap();
        until_idle(&url).await;
        assert_whole(&url);
    });
}
