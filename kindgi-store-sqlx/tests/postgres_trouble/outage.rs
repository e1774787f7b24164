//! A server that is stopped for a while, and one that crashes.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use kindgi_core::{StoreError, model::JudgmentId};
use kindgi_store_sqlx::{Durability, SqlxStore};
use kindgi_test_servers::Postgres;

use super::{
    invariants::assert_whole_on,
    support::{cell_on, named, operation, read, record_of, tenant},
};

/// How long the server is away.
const AWAY: Duration = Duration::from_secs(5);

/// What the clients saw.
#[derive(Default)]
struct Seen {
    over: AtomicBool,
    done: AtomicUsize,
    busy: AtomicUsize,
    unsure: AtomicUsize,
    reads: AtomicUsize,
}

impl Seen {
    /// An error that may be during an outage.
    fn may_be(&self, error: &StoreError) {
        if error.is_busy() {
            self.busy.fetch_add(1, Ordering::Relaxed);
            return;
        }
        let text = format!("{error:?}");
        assert!(
            text.contains("it isn't known whether it took effect"),
            "{text}"
        );
        self.unsure.fetch_add(1, Ordering::Relaxed);
    }
}

/// Writes, each as an operation of its own and until it is answered, until the end; gives the ids
/// that were answered.
async fn write_on(store: SqlxStore, seen: Arc<Seen>, writer: usize) -> Vec<JudgmentId> {
    let mut answered = Vec::new();
    for n in 0.. {
        let (name, key) = (format!("{writer}-{n}"), format!("{}", n % 4));
        for attempt in 0.. {
            let (id, own) = (named(&name), format!("{name}-{attempt}"));
            let operation = Some(operation(&id));
            match record_of(&store, &tenant(), &own, &key, operation).await {
                Ok(id) => {
                    answered.push(id);
                    seen.done.fetch_add(1, Ordering::Relaxed);
                    break;
                }
                Err(error) => seen.may_be(&error),
            }
        }
        if seen.over.load(Ordering::Relaxed) {
            break;
        }
    }
    answered
}

/// Reads until the end.
async fn read_on(store: SqlxStore, seen: Arc<Seen>) {
    while !seen.over.load(Ordering::Relaxed) {
        match read(&store, "0-0-0").await {
            Ok(_) => {
                seen.reads.fetch_add(1, Ordering::Relaxed);
            }
            Err(error) => {
                assert!(error.is_busy(), "{error:?}");
                seen.busy.fetch_add(1, Ordering::Relaxed);
            }
        }
    }
}

/// Reads and writes go on while the server ends in some way, is away and comes back.
async fn goes_on(mut server: Postgres, end: impl Fn(&mut Postgres)) {
    let url = server.fresh_database();
    let builder = || SqlxStore::builder().durability(Durability::Full);
    let stores = [
        builder().connect(&url).await.unwrap(),
        builder().connect(&url).await.unwrap(),
    ];
    let seen = Arc::<Seen>::default();
    let writers: Vec<_> = (0..8)
        .map(|n| tokio::spawn(write_on(stores[n % 2].clone(), Arc::clone(&seen), n)))
        .collect();
    let readers: Vec<_> = (0..8)
        .map(|n| tokio::spawn(read_on(stores[n % 2].clone(), Arc::clone(&seen))))
        .collect();
    let more = async |than: usize| {
        let done = || seen.done.load(Ordering::Relaxed) + seen.reads.load(Ordering::Relaxed);
        let enough = done() + than;
        super::support::until("calls are answered", || done() > enough).await;
    };
    more(100).await;
    tokio::task::block_in_place(|| end(&mut server));
    tokio::time::sleep(AWAY).await;
    tokio::task::block_in_place(|| server.start_again());
    more(100).await;
    seen.over.store(true, Ordering::Relaxed);
    let mut answered = Vec::new();
    for writer in writers {
        answered.extend(writer.await.unwrap());
    }
    for reader in readers {
        reader.await.unwrap();
    }
    for store in &stores {
        store.close().await;
    }
    for id in &answered {
        let sql = format!("SELECT COUNT(*) FROM kindgi_judgments WHERE id = '{id}'");
        assert_eq!(cell_on(&server, &url, &sql), "1", "{id} was answered");
    }
    for table in ["judgments", "operations"] {
        let sql = format!("SELECT COUNT(*) FROM kindgi_{table}");
        let rows = cell_on(&server, &url, &sql);
        assert_eq!(
            rows,
            answered.len().to_string(),
            "one of {table} for each answer"
        );
    }
    assert_whole_on(&server, &url);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 3)]
async fn a_server_that_is_stopped_for_a_while_loses_and_doubles_nothing() {
    goes_on(Postgres::start(), Postgres::stop).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 3)]
async fn a_server_that_crashes_loses_and_doubles_nothing() {
    goes_on(Postgres::start(), Postgres::kill).await;
}
