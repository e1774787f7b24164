//! What is asked of the disk.

use kindgi_store_sqlx::{Durability, SqlxStore};
use sqlx::sqlite::{SqliteConnectOptions, SqlitePoolOptions};

use crate::support::{Folder, record};

/// How `PRAGMA synchronous` numbers its settings.
async fn synchronous_after_a_write(durability: Option<Durability>) -> i64 {
    let folder = Folder::new();
    let options = SqliteConnectOptions::new()
        .filename(folder.file())
        .create_if_missing(true);
    // One connection, so that the one that wrote is the one that is asked.
    let pool = SqlitePoolOptions::new()
        .max_connections(1)
        .connect_with(options)
        .await
        .unwrap();
    let mut builder = SqlxStore::builder();
    if let Some(durability) = durability {
        builder = builder.durability(durability);
    }
    let store = builder.sqlite(pool.clone()).await.unwrap();
    record(&store, "a", "run", "key").await;
    sqlx::query_scalar("PRAGMA synchronous")
        .fetch_one(&pool)
        .await
        .unwrap()
}

#[tokio::test]
async fn a_write_is_flushed_to_disk_unless_the_host_says_otherwise() {
    assert_eq!(synchronous_after_a_write(None).await, 2);
    assert_eq!(synchronous_after_a_write(Some(Durability::Full)).await, 2);
    let weaker = Durability::MayLoseLastWritesOnPowerLoss;
    assert_eq!(synchronous_after_a_write(Some(weaker)).await, 1);
    let weakest = Durability::MayCorruptOnPowerLoss;
    assert_eq!(synchronous_after_a_write(Some(weakest)).await, 0);
}

#[tokio::test]
async fn the_file_is_switched_to_write_ahead_logging() {
    let folder = Folder::new();
    folder.store().await;
    let pool = folder.pool().await;
    let mode: String = sqlx::query_scalar("PRAGMA journal_mode")
        .fetch_one(&pool)
        .await
        .unwrap();
    assert_eq!(mode, "wal");
}
