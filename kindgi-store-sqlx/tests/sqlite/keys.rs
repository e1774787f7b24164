//! Idempotency keys on disk, and of several processes.

use std::{
    num::NonZeroU16,
    process::{Child, Command},
    sync::{Arc, Barrier},
    time::{Duration, Instant},
};

use kindgi_core::{
    ManualClock,
    idempotency::{
        About, Begun, Claim, Completed, HOLD, IdempotencyStore, KEEP, KeptAnswer, Outcome, Token,
    },
    store::{JudgmentStore, Operation, OperationId, Write},
};
use kindgi_store_sqlx::SqlxStore;

use crate::support::{Folder, SECRET, at, builder, holds_secret, judgment, number, record, tenant};

const BODY: [u8; 32] = [7; 32];

async fn begin(store: &SqlxStore, key: u8, token: Token) -> Begun {
    let claim = Claim {
        tenant: &tenant(),
        key: &OperationId([key; 32]),
        body: &BODY,
        token: &token,
        hold: HOLD,
    };
    store.begin(claim).await.unwrap()
}

fn answer(text: &str) -> KeptAnswer {
    KeptAnswer {
        status: 201,
        headers: vec![("location".to_owned(), text.to_owned().into())],
        body: text.to_owned().into(),
    }
}

async fn complete(store: &SqlxStore, key: u8, token: Token, answer: KeptAnswer) {
    let outcome = Outcome::Answer(answer);
    let about = [
        About::Run("run".parse().unwrap()),
        About::Participant("grace".parse().unwrap()),
    ];
    let key = OperationId([key; 32]);
    let completed = store.complete(&key, &token, &outcome, &about, KEEP).await;
    assert_eq!(completed.unwrap(), Completed::Kept);
}

/// What says to a process of this test that it is one of those below: the file's URL.
const FILE: &str = "KINDGI_TEST_FILE";
/// Its name.
const NAME: &str = "KINDGI_TEST_NAME";
/// The other's.
const OTHER: &str = "KINDGI_TEST_OTHER";
const KEYS: u8 = 60;
/// How long one of them waits for the other.
const PATIENCE: Duration = Duration::from_secs(60);

fn start(folder: &Folder, name: &str, other: &str) -> Child {
    let this = std::env::current_exe().unwrap();
    let mut command = Command::new(this);
    command.args(["--exact", "keys::a_process_that_claims"]);
    command
        .env(FILE, folder.url())
        .env(NAME, name)
        .env(OTHER, other)
        .spawn()
        .unwrap()
}

/// Waits until the other process is about to claim the same key: each lays down a file.
fn meet(url: &str, name: &str, key: u8) {
    let Ok(other) = std::env::var(OTHER) else {
        return;
    };
    let path = |name: &str| format!("{}-{name}-{key}", url.trim_start_matches("sqlite:"));
    std::fs::write(path(name), "").unwrap();
    let began = Instant::now();
    while !std::fs::exists(path(&other)).unwrap() {
        assert!(began.elapsed() < PATIENCE, "the other process is gone");
        std::thread::yield_now();
    }
}

/// The program of the processes: claims the keys in turn, and tells of each that it got by a
/// judgment of its own. Started as one of all tests it has no file, and writes to one of its own.
#[tokio::test]
async fn a_process_that_claims() {
    let own = Folder::new();
    let url = std::env::var(FILE).unwrap_or_else(|_| own.url());
    let name = std::env::var(NAME).unwrap_or_default();
    let store = builder().connect(&url).await.unwrap();
    for key in 0..KEYS {
        let token = Token::random();
        meet(&url, &name, key);
        loop {
            match begin(&store, key, token).await {
                Begun::Run => {
                    let id = format!("{name}-{key}");
                    record(&store, &id, "run", &id).await;
                    complete(&store, key, token, answer(&name)).await;
                }
                Begun::InFlight { .. } => {}
                Begun::Replay(_) => break,
                other => panic!("{other:?}"),
            }
        }
    }
}

#[tokio::test]
async fn of_two_processes_that_claim_the_same_keys_one_gets_each() {
    let folder = Folder::new();
    let mut processes = [start(&folder, "one", "two"), start(&folder, "two", "one")];
    for process in &mut processes {
        assert!(process.wait().unwrap().success());
    }
    let pool = folder.pool().await;
    let judgments = number(&pool, "SELECT COUNT(*) FROM kindgi_judgments").await;
    assert_eq!(judgments, i64::from(KEYS), "one effect for each key");
    let store = folder.store().await;
    for key in 0..KEYS {
        let Begun::Replay(kept) = begin(&store, key, Token::random()).await else {
            panic!("an answer is gone");
        };
        let name = String::from_utf8(kept.body.to_vec()).unwrap();
        let id = format!("{name}-{key}").parse().unwrap();
        let found = store.judgment(&tenant(), &id).await.unwrap();
        assert!(found.is_some(), "the answer is of who had the effect");
    }
}

/// Two pools, as two processes have, let loose at once on each key.
#[test]
fn of_two_pools_that_claim_a_key_at_once_one_gets_it() {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .unwrap();
    let folder = Folder::new();
    let stores = [0, 1].map(|_| runtime.block_on(folder.store()));
    let barrier = Arc::new(Barrier::new(2));
    let claimants = stores.map(|store| {
        let (barrier, handle) = (Arc::clone(&barrier), runtime.handle().clone());
        std::thread::spawn(move || {
            let claim = |key| {
                barrier.wait();
                handle.block_on(begin(&store, key, Token::random()))
            };
            (0..KEYS).map(claim).collect::<Vec<_>>()
        })
    });
    let [one, two] = claimants.map(|claimant| claimant.join().unwrap());
    for both in one.iter().zip(&two) {
        assert!(
            matches!(
                both,
                (Begun::Run, Begun::InFlight { .. }) | (Begun::InFlight { .. }, Begun::Run)
            ),
            "{both:?}"
        );
    }
}

#[tokio::test]
async fn a_forgotten_answer_is_neither_in_the_file_nor_in_its_log() {
    for about in [
        About::Run("run".parse().unwrap()),
        About::Participant("grace".parse().unwrap()),
    ] {
        let folder = Folder::new();
        let store = folder.store().await;
        for key in 0..50 {
            let token = Token::random();
            assert_eq!(begin(&store, key, token).await, Begun::Run);
            let mut answer = answer(&SECRET.repeat(50));
            if key % 2 == 0 {
                // Not text, and so in hex.
                answer.body = [&*answer.body, b"\xff"].concat().into();
            }
            complete(&store, key, token, answer).await;
        }
        assert!(holds_secret(&folder));
        store.forget(&tenant(), &about).await.unwrap();
        assert!(!holds_secret(&folder));
        assert_eq!(rows(&folder).await, 0);
        assert_eq!(begin(&store, 0, Token::random()).await, Begun::Run);
    }
}

/// How many rows are kept of keys.
async fn rows(folder: &Folder) -> i64 {
    let sql = "SELECT (SELECT COUNT(*) FROM kindgi_idempotency_keys) \
               + (SELECT COUNT(*) FROM kindgi_idempotency_about) \
               + (SELECT COUNT(*) FROM kindgi_idempotency_bars)";
    number(&folder.pool().await, sql).await
}

/// An operation that is kept until an instant, of any tenant.
async fn operation(store: &SqlxStore, tenant: &str, id: u8, keep_until: i64) {
    let (mut new, copy) = judgment("a", &format!("run-{id}"), "key");
    new.judgment.id = format!("{tenant}-{id}").parse().unwrap();
    new.judgment.tenant = tenant.parse().unwrap();
    let (id, body) = (OperationId([id; 32]), [0; 32]);
    let operation = Some(Operation {
        id: &id,
        body: &body,
        keep_until: at(keep_until),
    });
    let write = Write {
        tenant: &new.judgment.tenant,
        now: at(0),
        operation,
    };
    store.record(write, &new, Some(&copy), None).await.unwrap();
}

#[tokio::test]
async fn a_purge_drops_ended_keys_and_operations_of_all_tenants_and_leaves_nothing_of_them() {
    let folder = Folder::new();
    let clock = Arc::new(ManualClock::at(at(0)));
    let builder = builder().clock(Arc::clone(&clock));
    let store = builder.connect(&folder.url()).await.unwrap();
    for key in 0..5 {
        let token = Token::random();
        begin(&store, key, token).await;
        match key {
            0 | 1 => complete(&store, key, token, answer("kept")).await,
            2 => {
                let about = About::Run("elsewhere".parse().unwrap());
                store.forget(&tenant(), &about).await.unwrap();
            }
            _ => {}
        }
    }
    let day = i64::try_from(KEEP.as_millis()).unwrap();
    for (id, keep_until) in [(1, day - 1), (2, day), (3, day + 1)] {
        for tenant in ["acme", "other"] {
            operation(&store, tenant, id, keep_until).await;
        }
    }
    let limit = NonZeroU16::new(4).unwrap();
    let purged = async |millis| {
        clock.advance_millis(millis);
        let mut steps = Vec::<u64>::new();
        loop {
            let removed = store.purge(limit).await.unwrap();
            if removed == 0 {
                break steps;
            }
            steps.push(removed);
        }
    };
    let hold = i64::try_from(HOLD.as_millis()).unwrap();
    assert!(purged(hold - 1).await.is_empty());
    assert_eq!(purged(1).await, [3]);
    assert_eq!(purged(day - hold - 1).await, [2]);
    // Two answers, four operations.
    assert_eq!(purged(1).await, [4]);
    let left = "SELECT COUNT(*) FROM kindgi_operations";
    assert_eq!(number(&folder.pool().await, left).await, 2);
    assert_eq!(purged(1).await, [2]);
    assert_eq!(rows(&folder).await, 0);
}

#[tokio::test]
async fn a_key_that_ended_is_claimed_anew_without_a_purge_and_leaves_nothing() {
    let folder = Folder::new();
    let clock = Arc::new(ManualClock::at(at(0)));
    let builder = builder().clock(Arc::clone(&clock));
    let store = builder.connect(&folder.url()).await.unwrap();
    let (token, later) = (Token::random(), Token::random());
    begin(&store, 1, token).await;
    complete(&store, 1, token, answer("kept")).await;
    clock.advance_millis(i64::try_from(KEEP.as_millis()).unwrap());
    assert_eq!(begin(&store, 1, later).await, Begun::Run);
    assert_eq!(rows(&folder).await, 1);
    let released = store.release(&OperationId([1; 32]), &later).await;
    assert!(released.unwrap());
    assert_eq!(rows(&folder).await, 0);
}

/// Unless said otherwise, deadlines are by the machine's clock.
#[tokio::test]
async fn without_a_clock_of_the_hosts_a_hold_is_by_the_machines() {
    let folder = Folder::new();
    let store = folder.store().await;
    assert_eq!(begin(&store, 1, Token::random()).await, Begun::Run);
    let Begun::InFlight { retry_after } = begin(&store, 1, Token::random()).await else {
        panic!("held by nobody");
    };
    assert!(retry_after > Duration::ZERO && retry_after <= HOLD);
}
