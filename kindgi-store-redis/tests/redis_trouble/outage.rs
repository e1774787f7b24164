//! Servers that are stopped, killed, started again, or too slow.

use std::{
    collections::{HashMap, HashSet},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicU32, Ordering},
    },
    time::Duration,
};

use kindgi_core::{
    StoreErrorKind,
    idempotency::{Begun, Claim, Completed, IdempotencyStore, Outcome, Token},
};
use kindgi_store_redis::RedisIdempotencyStore;
use kindgi_test_servers::Redis;
use redis::{Client, aio::ConnectionManagerConfig};

use super::{
    made::{LONG, answer, begin, complete, key, release, tenant},
    proxy::Proxy,
    refusals::trials,
    state::{Is, State},
    steps::{Step, Trial},
    support::{
        assert_refused, assert_too_late, assert_unknown, direct, hasty_manager, manager, prefix,
        text, until,
    },
};

/// What keeps all that was answered.
const KEEPS: [(&str, &str); 2] = [("appendonly", "yes"), ("appendfsync", "always")];

#[tokio::test]
async fn a_step_after_a_restart_is_taken_as_ever() {
    let mut server = Redis::start_with(&KEEPS);
    for stop in [Redis::stop, Redis::kill] {
        let trials = trials(server.port()).await;
        let connections =
            futures_util::future::join_all(trials.iter().map(|_| manager(server.port())));
        let connections = connections.await;
        stop(&mut server);
        server.start_again();
        for (trial, connection) in trials.iter().zip(connections) {
            trial.assert_untouched("it was started again");
            let step = trial.step;
            assert_eq!(
                step.take(&trial.bench(connection)).await.unwrap(),
                step.answer()
            );
            trial.assert_taken("it was started again");
        }
    }
}

#[tokio::test]
async fn while_no_server_is_there_each_step_is_told_so() {
    let mut server = Redis::start_with(&KEEPS);
    let trials = trials(server.port()).await;
    let connection = hasty_manager(server.port()).await;
    server.stop();
    let mut is_first = true;
    for trial in &trials {
        let bench = trial.bench(connection.clone());
        if is_first {
            // The link broke, maybe only after it was sent.
            assert_unknown(&trial.step.take(&bench).await.unwrap_err());
            is_first = false;
        }
        let error = trial.step.take(&bench).await.unwrap_err();
        assert_refused(&error, StoreErrorKind::Busy, "no server answers");
    }
    server.start_again();
    // The next may be told of the last time that somebody tried to connect.
    let keys = &trials[0].bench(connection.clone()).keys;
    match keys.renew(&key(99), &Token([1; 16]), LONG).await {
        Ok(renewed) => assert!(!renewed),
        Err(error) => assert_refused(&error, StoreErrorKind::Busy, "no server answers"),
    }
    super::refusals::all_taken(&trials, &connection).await;
}

/// What a server that keeps nothing held is gone: whoever held it is told so, and isn't in the way of
/// who comes next.
#[tokio::test]
async fn a_hold_that_the_server_lost_is_lost() {
    let mut server = Redis::start();
    let name = prefix();
    let connection = manager(server.port()).await;
    let store = RedisIdempotencyStore::new(connection).prefix(&name);
    for stop in [Redis::stop, Redis::kill] {
        assert_eq!(begin(&store, 1, 1, LONG).await.unwrap(), Begun::Run);
        stop(&mut server);
        server.start_again();
        assert!(!store.renew(&key(1), &Token([1; 16]), LONG).await.unwrap());
        assert_eq!(begin(&store, 1, 2, LONG).await.unwrap(), Begun::Run);
        let kept = complete(&store, 1, 1, &[]).await.unwrap();
        assert_eq!(kept, Completed::NotHeld);
        assert!(!release(&store, 1, 1).await.unwrap());
        let state = State::of(&mut direct(server.port()), &name);
        assert_eq!(state.only().token, [2; 16]);
        assert!(release(&store, 1, 2).await.unwrap());
    }
}

/// Two who want the same keys, one after the other, while the server is stopped and killed.
struct Rivals {
    store: RedisIdempotencyStore<redis::aio::ConnectionManager>,
    /// Who ran what.
    ran: Mutex<HashMap<u32, HashSet<[u8; 16]>>>,
    kept: AtomicU32,
    failed: AtomicU32,
    is_over: AtomicBool,
}

impl Rivals {
    async fn run(&self) {
        for number in 0.. {
            if self.is_over.load(Ordering::Relaxed) {
                return;
            }
            self.settle(number).await;
        }
    }

    /// Sees to it that a key has an answer.
    async fn settle(&self, number: u32) {
        let token = Token::random();
        loop {
            let claim = Claim {
                tenant: &tenant(),
                key: &key(number),
                body: &[1; 32],
                token: &token,
                hold: LONG,
            };
            match self.store.begin(claim).await {
                Ok(Begun::Run) => {
                    let mut ran = self.ran.lock().unwrap();
                    ran.entry(number).or_default().insert(token.0);
                }
                Ok(Begun::InFlight { .. }) => {
                    tokio::task::yield_now().await;
                    continue;
                }
                Ok(Begun::Replay(kept)) => {
                    assert_eq!(kept, answer());
                    self.kept.fetch_add(1, Ordering::Relaxed);
                    return;
                }
                Ok(other) => panic!("{other:?}"),
                Err(error) => {
                    self.note(&error);
                    continue;
                }
            }
            let outcome = Outcome::Answer(answer());
            let key = key(number);
            let completed = self.store.complete(&key, &token, &outcome, &[], LONG);
            match completed.await {
                Ok(Completed::Kept) => {}
                Ok(other) => panic!("{other:?}"),
                // Whether it was kept is seen by the next claim.
                Err(error) => self.note(&error),
            }
        }
    }

    fn note(&self, error: &kindgi_core::StoreError) {
        let said = text(error);
        let is_known = said.contains("nothing was written");
        assert_eq!(error.is_busy(), is_known, "{said}");
        assert!(is_known || said.contains("it isn't known"), "{said}");
        self.failed.fetch_add(1, Ordering::Relaxed);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nobody_runs_what_another_ran_while_the_server_is_stopped_and_killed() {
    let mut server = Redis::start_with(&KEEPS);
    let name = prefix();
    let store = RedisIdempotencyStore::new(hasty_manager(server.port()).await);
    let rivals = Arc::new(Rivals {
        store: store.prefix(&name),
        ran: Mutex::default(),
        kept: AtomicU32::default(),
        failed: AtomicU32::default(),
        is_over: AtomicBool::default(),
    });
    let both = [1, 2].map(|_| {
        let rivals = Arc::clone(&rivals);
        tokio::spawn(async move { rivals.run().await })
    });
    let until_more = |of: &AtomicU32| {
        let from = of.load(Ordering::Relaxed);
        let more = || of.load(Ordering::Relaxed) >= from + 10;
        let any_ended = || both.iter().any(tokio::task::JoinHandle::is_finished);
        tokio::task::block_in_place(|| until("ten more", || more() || any_ended()));
        assert!(!any_ended());
    };
    for stop in [Redis::stop, Redis::kill, Redis::kill, Redis::stop] {
        until_more(&rivals.kept);
        tokio::task::block_in_place(|| stop(&mut server));
        until_more(&rivals.failed);
        tokio::task::block_in_place(|| server.start_again());
    }
    until_more(&rivals.kept);
    rivals.is_over.store(true, Ordering::Relaxed);
    for rival in both {
        rival.await.unwrap();
    }
    let ran = rivals.ran.lock().unwrap();
    for (number, by) in &*ran {
        assert_eq!(by.len(), 1, "{number} was run by several");
    }
    let state = State::of(&mut direct(server.port()), &name);
    assert!(state.records.iter().all(|record| record.is == Is::Kept));
    assert_eq!(state.records.len(), ran.len());
}

/// The server takes it all the same, and the link goes on: no answer is taken for another's.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_that_is_too_late_is_not_waited_for_and_not_mixed_up() {
    let server = Redis::start();
    let proxy = Proxy::start(server.port());
    for step in Step::ALL {
        let trial = Trial::new(step, server.port()).await;
        let config = ConnectionManagerConfig::new();
        let config = config.set_connection_timeout(Some(super::support::PATIENCE));
        let config = config.set_response_timeout(Some(Duration::from_millis(50)));
        let client = Client::open(format!("redis://127.0.0.1:{}/", proxy.port())).unwrap();
        let hasty = redis::aio::ConnectionManager::new_with_config(client, config);
        let bench = trial.bench(hasty.await.unwrap());
        proxy.fates(&[]);
        server.command(&["CLIENT", "PAUSE", "600000", "WRITE"]);
        assert_too_late(&step.take(&bench).await.unwrap_err());
        server.command(&["CLIENT", "UNPAUSE"]);
        until("it is answered", || proxy.answered_so_far() == 1);
        trial.assert_taken("when it went on");
        // A busy machine may be too slow yet.
        let another = loop {
            match begin(&bench.keys, 77, 1, LONG).await {
                Ok(begun) => break begun,
                Err(error) => assert_too_late(&error),
            }
        };
        assert_eq!(another, Begun::Run);
        let patient = trial.bench(manager(server.port()).await);
        let again = step.take(&patient).await.unwrap();
        assert_eq!(again, step.answer_to_another_call());
    }
}
