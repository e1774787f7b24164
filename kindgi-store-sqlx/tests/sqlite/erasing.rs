//! What an erasure leaves on disk.

use std::num::NonZeroU16;

use kindgi_core::{
    json::RawJson,
    model::{EndedRun, Segment},
    store::{
        Applied, Candidate, ItemMoved, JudgingQueueStore, JudgmentStore, Lifecycle, Operation,
        OperationId, Taken, Write,
    },
};
use kindgi_store_sqlx::SqlxStore;
use sqlx::sqlite::{SqliteConnectOptions, SqlitePoolOptions};

use crate::support::{
    Folder, SECRET, append_rule, at, builder, holds_secret, judgment, live, number, record, tenant,
};

/// An item of the run that is dismissed with the words.
async fn dismissed(store: &SqlxStore) {
    let tenant = tenant();
    let (id, body) = (OperationId([99; 32]), [0; 32]);
    let operation = Some(Operation {
        id: &id,
        body: &body,
        keep_until: at(1000),
    });
    let write = Write {
        tenant: &tenant,
        now: at(0),
        operation,
    };
    let mut rule = append_rule(store, "rule", 1).await;
    // Wants what nobody gave, so that the item is open.
    rule.class = Some("experts".parse().unwrap());
    let subject = judgment("0", "run", "0").1.subject;
    let ended = EndedRun::new("run".parse().unwrap(), rule.project.clone(), subject, at(0));
    let candidates = [Candidate::from(&rule)];
    let taken = store.take(write, &ended, 1, &candidates).await.unwrap();
    assert!(matches!(taken, Taken::Queued(_)), "{taken:?}");
    let by = &"user:ada".parse().unwrap();
    let reason = SECRET.repeat(10).parse().unwrap();
    let dismissed = store.dismiss(write, &rule.project, &ended.id, by, Some(&reason));
    let dismissed = dismissed.await.unwrap();
    assert!(matches!(dismissed, Applied::Done(ItemMoved::Ok(_))));
}

async fn erased(folder: &Folder, store: &SqlxStore) {
    let tenant = tenant();
    let write = Write {
        tenant: &tenant,
        now: at(0),
        operation: None,
    };
    // Many pages, so that some are freed and not only written over.
    for n in 0..50 {
        let (mut new, mut copy) = judgment(&format!("{n}"), "run", &format!("{n}"));
        new.judgment.reason = Some(SECRET.repeat(50).parse().unwrap());
        copy.segments = Some(vec![Segment::new("said", SECRET).unwrap()]);
        store.record(write, &new, Some(&copy), None).await.unwrap();
    }
    dismissed(store).await;
    assert!(holds_secret(folder));
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
    assert!(!holds_secret(&folder));
    assert_eq!(live(&store).await.len(), 50);
}

/// Fifty judgments with the words, made on behalf of somebody, and kept with their operations.
async fn judged(store: &SqlxStore) {
    let tenant = tenant();
    let write = Write {
        tenant: &tenant,
        now: at(0),
        operation: None,
    };
    for n in 0..50 {
        let (mut new, copy) = judgment(&format!("{n}"), "run", &format!("{n}"));
        new.judgment.reason = Some(SECRET.repeat(50).parse().unwrap());
        new.judgment.participant = Some("grace".parse().unwrap());
        let (id, body) = (OperationId([n; 32]), [0; 32]);
        let operation = Operation {
            id: &id,
            body: &body,
            keep_until: at(1000),
        };
        let write = Write {
            operation: Some(operation),
            ..write
        };
        store.record(write, &new, Some(&copy), None).await.unwrap();
    }
}

#[tokio::test]
async fn an_erased_participants_words_are_neither_in_the_file_nor_in_its_log() {
    let folder = Folder::new();
    let store = folder.store().await;
    judged(&store).await;
    assert!(holds_secret(&folder));
    let tenant = tenant();
    let write = Write {
        tenant: &tenant,
        now: at(0),
        operation: None,
    };
    let (grace, nobody) = ("grace".parse().unwrap(), "nobody".parse().unwrap());
    let changed = store.erase_participant(write, &grace, &nobody).await;
    assert_eq!(changed.unwrap(), 50);
    assert!(!holds_secret(&folder));
    assert_eq!(live(&store).await.len(), 50);
}

#[tokio::test]
async fn what_was_purged_is_neither_in_the_file_nor_in_its_log() {
    let folder = Folder::new();
    let store = folder.store().await;
    let tenant = tenant();
    let write = Write {
        tenant: &tenant,
        now: at(0),
        operation: None,
    };
    for n in 0..50 {
        let (mut new, mut copy) = judgment(&format!("{n}"), "run", &format!("{n}"));
        new.judgment.reason = Some(SECRET.repeat(50).parse().unwrap());
        copy.input = RawJson::string(&SECRET.repeat(50));
        copy.segments = Some(vec![Segment::new("said", SECRET).unwrap()]);
        store.record(write, &new, Some(&copy), None).await.unwrap();
    }
    dismissed(&store).await;
    assert!(holds_secret(&folder));
    let (limit, mut from) = (NonZeroU16::new(20).unwrap(), None);
    // By then the operation that dismissed the item has ended.
    let write = Write {
        now: at(1000),
        ..write
    };
    let mut removed = 0;
    loop {
        let step = store.purge(write, at(1), from.as_ref(), limit);
        let step = step.await.unwrap();
        removed += step.removed;
        if step.next.is_none() {
            break;
        }
        from = step.next;
    }
    assert_eq!(removed, 51);
    assert!(!holds_secret(&folder));
    // What is captured at the same time again is found again.
    let (new, mut copy) = judgment("later", "run", "0");
    copy.segments = Some(vec![Segment::new("said", "little").unwrap()]);
    store.record(write, &new, Some(&copy), None).await.unwrap();
    let paths = "SELECT COUNT(*) FROM kindgi_run_paths";
    assert_eq!(number(&folder.pool().await, paths).await, 1);
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
    assert!(!holds_secret(&folder));
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
