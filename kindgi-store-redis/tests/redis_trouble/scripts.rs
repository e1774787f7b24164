//! Servers that lose their scripts, or are kept busy by somebody else's.

use std::{
    sync::atomic::{AtomicBool, Ordering},
    thread,
};

use kindgi_core::{StoreErrorKind, idempotency::Begun};
use kindgi_test_servers::Redis;

use super::{
    made::{LONG, begin, store},
    proxy::Proxy,
    refusals::{all_refused, all_taken, trials},
    state::State,
    steps::{Step, Trial},
    support::{direct, manager, prefix, until_it_tells},
};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_script_that_the_server_lost_is_sent_in_whole() {
    let server = Redis::start();
    let proxy = Proxy::start(server.port());
    let connection = manager(proxy.port()).await;
    for step in Step::ALL {
        let trial = Trial::new(step, server.port()).await;
        let bench = trial.bench(connection.clone());
        server.command(&["SCRIPT", "FLUSH"]);
        proxy.fates(&[]);
        assert_eq!(step.take(&bench).await.unwrap(), step.answer());
        trial.assert_taken("scripts are lost");
        assert_eq!(proxy.answered().len(), 2, "by its hash, and in whole");
        step.take(&bench).await.unwrap();
        assert_eq!(proxy.answered().len(), 1, "then it is known");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn scripts_may_be_lost_again_and_again() {
    let server = Redis::start();
    let name = prefix();
    let (store, _) = store(manager(server.port()).await, &name);
    let is_over = AtomicBool::new(false);
    let begun = thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                server.command(&["SCRIPT", "FLUSH"]);
            }
        });
        let all = async {
            let mut all = Vec::new();
            for number in 0..300 {
                all.push(begin(&store, number, 1, LONG).await);
            }
            all
        };
        let handle = tokio::runtime::Handle::current();
        let all = tokio::task::block_in_place(|| handle.block_on(all));
        is_over.store(true, Ordering::Relaxed);
        all
    });
    assert_eq!(begun.len(), 300);
    for begun in begun {
        assert_eq!(begun.unwrap(), Begun::Run);
    }
    let state = State::of(&mut direct(server.port()), &name);
    assert_eq!(state.records.len(), 300);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_somebody_elses_script_keeps_busy_takes_nothing() {
    let server = Redis::start_with(&[("busy-reply-threshold", "1")]);
    let trials = trials(server.port()).await;
    let connection = manager(server.port()).await;
    let endless = thread::scope(|scope| {
        let endless = scope.spawn(|| server.try_command(&["EVAL", "while true do end", "0"]));
        until_it_tells(&server, "BUSY");
        let handle = tokio::runtime::Handle::current();
        tokio::task::block_in_place(|| {
            handle.block_on(all_refused(
                &trials,
                &connection,
                (StoreErrorKind::Busy, "a script of somebody's"),
            ));
        });
        server.command(&["SCRIPT", "KILL"]);
        endless.join().unwrap()
    });
    endless.unwrap_err();
    all_taken(&trials, &connection).await;
}
