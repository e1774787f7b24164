//! A pool that the host hands over, and goes on to use.

use std::time::Duration;

use kindgi_core::{
    model::{PageSize, Readable},
    store::{Applied, JudgmentFilter, JudgmentStore, Keyset, Recorded, StoreResult},
};
use kindgi_store_sqlx::{OpenErrorKind, SqlxStore};
use sqlx::{PgPool, postgres::PgPoolOptions};

use super::support::{self, builder, cell, name_of, query, tenant, url};

async fn pool(url: &str, connections: u32) -> PgPool {
    let options = PgPoolOptions::new().max_connections(connections);
    options.connect(url).await.unwrap()
}

async fn record(store: &SqlxStore, id: &str, key: &str) -> StoreResult<Applied<Recorded>> {
    let new = support::judgment(id, "run", key);
    let copy = support::copy(&new.judgment);
    let tenant = tenant();
    let write = support::write(&tenant);
    store.record(write, &new, Some(&copy), None).await
}

/// Records one after another of one key at once on all stores: each but the first supersedes one.
async fn assert_one_lives(stores: &[SqlxStore]) {
    let tasks: Vec<_> = (0..32)
        .map(|n| {
            let store = stores[n % stores.len()].clone();
            tokio::spawn(async move {
                let recorded = record(&store, &format!("id-{n}"), "key").await;
                let (tenant, filter) = (tenant(), JudgmentFilter::default());
                let (all, limit) = (Readable::All, PageSize::default());
                let keyset = Keyset { after: None, limit };
                let page = store.judgments(&tenant, &filter, &all, &keyset);
                assert_eq!(page.await.unwrap().rows.len(), 1);
                recorded
            })
        })
        .collect();
    let mut firsts = 0;
    for task in tasks {
        match task.await.unwrap().unwrap() {
            Applied::Done(Recorded::Ok { superseded, .. }) => {
                firsts += usize::from(superseded.is_none());
            }
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(firsts, 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_connection_is_enough() {
    let pool = pool(&url(), 1).await;
    let stores = [
        builder().postgres(pool.clone()).await.unwrap(),
        builder().postgres(pool.clone()).await.unwrap(),
    ];
    assert_one_lives(&stores).await;
    // The host still uses it.
    let one: i32 = sqlx::query_scalar("SELECT 1")
        .fetch_one(&pool)
        .await
        .unwrap();
    assert_eq!(one, 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_database_that_is_serializable_unless_said_keeps_every_promise() {
    let url = url();
    let set = "SET default_transaction_isolation TO 'serializable'";
    query(&url, &format!("ALTER DATABASE {} {set}", name_of(&url)));
    assert_eq!(cell(&url, "SHOW transaction_isolation"), "serializable");
    let stores = [
        builder().postgres(pool(&url, 5).await).await.unwrap(),
        builder().postgres(pool(&url, 5).await).await.unwrap(),
    ];
    assert_one_lives(&stores).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_database_that_only_reads_unless_said_is_written() {
    let url = url();
    let set = "SET default_transaction_read_only TO on";
    query(&url, &format!("ALTER DATABASE {} {set}", name_of(&url)));
    assert_eq!(cell(&url, "SHOW transaction_read_only"), "on");
    let store = builder().postgres(pool(&url, 5).await).await.unwrap();
    assert_one_lives(&[store]).await;
}

#[tokio::test]
async fn a_closed_pool_is_an_error_that_says_so() {
    let url = url();
    let pool = pool(&url, 2).await;
    let store = builder().postgres(pool.clone()).await.unwrap();
    assert!(record(&store, "a", "key").await.is_ok());
    pool.close().await;
    let write = record(&store, "b", "key").await.unwrap_err();
    let read = store.judgment(&tenant(), &"a".parse().unwrap()).await;
    for error in [write, read.unwrap_err()] {
        assert!(!error.is_busy(), "waiting won't help: {error:?}");
        assert!(format!("{error:?}").contains("PoolClosed"), "{error:?}");
    }
    let opened = builder().postgres(pool).await.unwrap_err();
    assert_eq!(opened.kind(), OpenErrorKind::Database);
    assert_eq!(
        cell(&url, "SELECT string_agg(id, ' ') FROM kindgi_judgments"),
        "a"
    );
}

#[tokio::test]
async fn a_pool_without_a_free_connection_is_busy_and_nothing_is_written() {
    let url = url();
    let options = PgPoolOptions::new().max_connections(1);
    let options = options.acquire_timeout(Duration::from_secs(2));
    let pool = options.connect(&url).await.unwrap();
    let store = builder().postgres(pool.clone()).await.unwrap();
    let held = pool.acquire().await.unwrap();
    assert!(record(&store, "a", "key").await.unwrap_err().is_busy());
    let read = store.judgment(&tenant(), &"a".parse().unwrap()).await;
    assert!(read.unwrap_err().is_busy());
    assert_eq!(cell(&url, "SELECT COUNT(*) FROM kindgi_judgments"), "0");
    drop(held);
    assert!(record(&store, "a", "key").await.is_ok());
}
