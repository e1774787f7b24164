//! A pool that the host hands over, and goes on to use.

use std::time::Duration;

use kindgi_core::store::JudgmentStore;
use sqlx::sqlite::{SqliteConnectOptions, SqlitePoolOptions};

use crate::support::{Folder, builder, judgment, live, record, tenant};

#[tokio::test]
async fn a_database_that_can_not_be_switched_keeps_every_promise() {
    // In memory: there is no write-ahead log, and one connection is the whole database.
    let options = SqliteConnectOptions::new().in_memory(true);
    let pool = SqlitePoolOptions::new()
        .max_connections(1)
        .connect_with(options)
        .await
        .unwrap();
    let store = builder().sqlite(pool.clone()).await.unwrap();
    record(&store, "a", "run", "key").await;
    assert_eq!(
        record(&store, "b", "run", "key").await,
        Some("a".parse().unwrap())
    );
    assert_eq!(live(&store).await, ["b"]);
    let mode: String = sqlx::query_scalar("PRAGMA journal_mode")
        .fetch_one(&pool)
        .await
        .unwrap();
    assert_eq!(mode, "memory");
}

#[tokio::test]
async fn a_pool_without_a_free_connection_is_busy_and_nothing_is_written() {
    let folder = Folder::new();
    let options = SqliteConnectOptions::new()
        .filename(folder.file())
        .create_if_missing(true);
    let pool = SqlitePoolOptions::new()
        .max_connections(1)
        .acquire_timeout(Duration::from_secs(2))
        .connect_with(options)
        .await
        .unwrap();
    let store = builder().sqlite(pool.clone()).await.unwrap();
    let held = pool.acquire().await.unwrap();
    let (new, copy) = judgment("a", "run", "key");
    let tenant = tenant();
    let write = kindgi_core::store::Write {
        tenant: &tenant,
        now: new.judgment.created_at,
        operation: None,
    };
    let refused = store
        .record(write, &new, Some(&copy), None)
        .await
        .unwrap_err();
    assert!(refused.is_busy(), "{refused:?}");
    let refused = store.judgment(&tenant, &new.judgment.id).await.unwrap_err();
    assert!(refused.is_busy(), "{refused:?}");
    drop(held);
    assert!(live(&store).await.is_empty());
    record(&store, "a", "run", "key").await;
    assert_eq!(live(&store).await, ["a"]);
}

#[tokio::test]
async fn a_lock_that_another_holds_too_long_is_busy_and_nothing_is_written() {
    let folder = Folder::new();
    let other = folder.pool().await;
    let options = SqliteConnectOptions::new()
        .filename(folder.file())
        .busy_timeout(Duration::from_millis(50));
    let pool = sqlx::SqlitePool::connect_with(options).await.unwrap();
    let store = builder().sqlite(pool).await.unwrap();
    let holding = other.begin_with("BEGIN IMMEDIATE").await.unwrap();
    let (new, copy) = judgment("a", "run", "key");
    let tenant = tenant();
    let write = kindgi_core::store::Write {
        tenant: &tenant,
        now: new.judgment.created_at,
        operation: None,
    };
    let refused = store
        .record(write, &new, Some(&copy), None)
        .await
        .unwrap_err();
    assert!(refused.is_busy(), "{refused:?}");
    holding.rollback().await.unwrap();
    assert!(live(&store).await.is_empty());
    record(&store, "a", "run", "key").await;
}
