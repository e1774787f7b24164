//! What an erasure leaves on disk.

use kindgi_core::store::{JudgmentStore, Lifecycle, Write};
use sqlx::sqlite::{SqliteConnectOptions, SqlitePoolOptions};

use crate::support::{Folder, at, builder, judgment, live, record, tenant};

const SECRET: &str = "nobody may read this again";

/// Whether the database's file or its log has the words.
fn is_on_disk(folder: &Folder) -> bool {
    let file = folder.file();
    let log = file.with_extension("db-wal");
    [file, log].iter().any(|file| {
        let bytes = std::fs::read(file).unwrap_or_default();
        bytes
            .windows(SECRET.len())
            .any(|window| window == SECRET.as_bytes())
    })
}

async fn erased(folder: &Folder, store: &kindgi_store_sqlx::SqlxStore) {
    let tenant = tenant();
    let write = Write {
        tenant: &tenant,
        now: at(0),
        operation: None,
    };
    // Many pages, so that some are freed and not only written over.
    for n in 0..50 {
        let (mut new, copy) = judgment(&format!("{n}"), "run", &format!("{n}"));
        new.judgment.reason = Some(SECRET.repeat(50).parse().unwrap());
        store.record(write, &new, Some(&copy), None).await.unwrap();
    }
    assert!(is_on_disk(folder));
    store
        .erase_run(write, &"run".parse().unwrap())
        .await
        .unwrap();
}

#[tokio::test]
async fn an_erased_text_is_neither_in_the_file_nor_in_its_log() {
    let folder = Folder::new();
    let store = folder.store().await;
    erased(&folder, &store).await;
    assert!(!is_on_disk(&folder));
    assert_eq!(live(&store).await.len(), 50);
}

#[tokio::test]
async fn on_a_hosts_own_pool_too() {
    let folder = Folder::new();
    let options = SqliteConnectOptions::new()
        .filename(folder.file())
        .create_if_missing(true);
    let pool = SqlitePoolOptions::new()
        .connect_with(options)
        .await
        .unwrap();
    let store = builder().sqlite(pool).await.unwrap();
    erased(&folder, &store).await;
    assert!(!is_on_disk(&folder));
}

#[tokio::test]
async fn closing_merges_the_log_into_the_file() {
    let folder = Folder::new();
    let store = folder.store().await;
    record(&store, "a", "run", "key").await;
    store.close().await;
    assert!(!folder.file().with_extension("db-wal").exists());
    assert_eq!(live(&folder.store().await).await, ["a"]);
}
