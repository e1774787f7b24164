//! What is sent for each step, and which keys it touches.

use std::{collections::BTreeSet, num::NonZeroU16};

use futures_util::StreamExt;
use kindgi_core::{
    idempotency::{Begun, Completed, IdempotencyStore, Token},
    rate_limit::RateLimiter,
};
use kindgi_store_redis::{Connection, RedisRateLimiter};
use kindgi_test_servers::{Redis, RedisCluster};
use redis::Client;

use super::{
    made::{LONG, begin, caller, complete, key, release, run, store, tenant},
    support::{alone, cluster, manager, prefix},
    watched::{Fate, Watched, keys_of},
};

/// Takes every step in each of its ways, and looks after each at what was sent.
async fn every_step<C: Connection>(connection: C, mut look: impl FnMut(&str, &Watched<C>)) {
    let watched = Watched::new(connection);
    let prefix = prefix();
    let (store, clock) = store(watched.clone(), &prefix);
    let token = |by| Token([by; 16]);
    let mut look = |what: &str| look(what, &watched);

    assert_eq!(begin(&store, 0, 1, LONG).await.unwrap(), Begun::Run);
    look("a claim");
    begin(&store, 0, 1, LONG).await.unwrap();
    look("a claim again");
    begin(&store, 0, 2, LONG).await.unwrap();
    look("a claim of a held key");
    assert!(store.renew(&key(0), &token(1), LONG).await.unwrap());
    look("a renewal");
    store.renew(&key(0), &token(2), LONG).await.unwrap();
    look("a lost renewal");
    complete(&store, 0, 2, &[]).await.unwrap();
    look("a lost answer");
    let kept = complete(&store, 0, 1, &[run("a"), run("b")]).await;
    assert_eq!(kept.unwrap(), Completed::Kept);
    look("an answer");
    begin(&store, 0, 1, LONG).await.unwrap();
    look("a replay");
    begin(&store, 1, 1, LONG).await.unwrap();
    look("a claim");
    store.forget(&tenant(), &run("a")).await.unwrap();
    look("forgetting");
    let forgotten = complete(&store, 1, 1, &[run("a")]).await;
    assert_eq!(forgotten.unwrap(), Completed::Forgotten);
    look("a forgotten answer");
    begin(&store, 1, 1, LONG).await.unwrap();
    look("a claim");
    assert!(release(&store, 1, 1).await.unwrap());
    look("a release");
    begin(&store, 2, 1, LONG).await.unwrap();
    look("a claim");
    clock.advance_millis(i64::try_from(LONG.as_millis()).unwrap());
    assert_eq!(store.purge(NonZeroU16::MAX).await.unwrap(), 2);
    look("a purge");

    let limiter = RedisRateLimiter::per_second(watched.clone(), std::num::NonZeroU32::MIN);
    let limiter = limiter.prefix(&prefix);
    for what in ["a request", "a request too many"] {
        limiter.check(&caller("ada")).await.unwrap();
        look(what);
    }
}

#[tokio::test]
async fn each_step_is_one_script_that_the_server_knows() {
    let server = Redis::start();
    let first = manager(&server).await.unwrap();
    // The server has no script before.
    every_step(first, |_, watched| {
        let sent = watched.sent();
        assert!((1..=2).contains(&sent.len()));
    })
    .await;
    every_step(manager(&server).await.unwrap(), |what, watched| {
        let sent = watched.sent();
        let names: Vec<&[u8]> = sent.iter().map(|command| &*command[0]).collect();
        assert_eq!(names, [b"EVALSHA"], "{what}");
    })
    .await;
}

#[tokio::test]
async fn a_script_that_the_server_lost_is_sent_whole_once() {
    let server = Redis::start();
    let watched = Watched::new(manager(&server).await.unwrap());
    let (store, _) = store(watched.clone(), &prefix());
    let mut number = 0;
    for _ in 0..3 {
        server.command(&["SCRIPT", "FLUSH"]);
        for names in [&["EVALSHA", "EVAL"][..], &["EVALSHA"], &["EVALSHA"]] {
            number += 1;
            assert_eq!(begin(&store, number, 1, LONG).await.unwrap(), Begun::Run);
            let sent = watched.sent();
            let sent = sent
                .iter()
                .map(|command| str::from_utf8(&command[0]).unwrap());
            assert_eq!(sent.collect::<Vec<_>>(), names);
        }
    }
}

#[tokio::test]
async fn all_keys_of_a_step_are_in_one_slot() {
    let cluster_of = RedisCluster::shared();
    let mut slots = BTreeSet::new();
    let look = |what: &str, watched: &Watched<_>| {
        for command in watched.sent() {
            let keys = keys_of(&command);
            assert!(!keys.is_empty(), "{what}");
            let of: BTreeSet<i64> = keys.iter().map(|key| cluster_of.slot_of(key)).collect();
            assert_eq!(of.len(), 1, "{what}: {keys:?}");
            slots.extend(of);
        }
    };
    every_step(cluster().await.unwrap(), look).await;
    assert!(slots.len() > 1, "{slots:?}");
}

/// A cluster lets a script touch what it likes in its own node, so that isn't asked here: the server
/// is, which tells each command of a script to who watches it.
#[tokio::test]
async fn a_script_touches_no_key_but_its_own() {
    let server = Redis::start();
    let client = Client::open(server.url()).unwrap();
    let mut told = client
        .get_async_monitor()
        .await
        .unwrap()
        .into_on_message::<String>();
    let mut own = BTreeSet::new();
    every_step(manager(&server).await.unwrap(), |_, watched| {
        own.extend(watched.sent().iter().flat_map(|command| keys_of(command)));
    })
    .await;
    server.command(&["ECHO", "all is told"]);
    let mut touched = BTreeSet::new();
    while let Some(line) = told.next().await {
        // The time, where it comes from in brackets, and the parts in quotes.
        let parts: Vec<&str> = line.split('"').collect();
        let [from, command, _, key, ..] = parts[..] else {
            continue;
        };
        if command == "ECHO" {
            break;
        }
        if from.contains("lua]") {
            touched.insert(key.to_owned());
        }
    }
    assert_eq!(touched, own);
}

#[tokio::test]
async fn a_purge_goes_in_steps_up_to_its_limit() {
    let watched = Watched::new(alone().await.unwrap());
    let (store, clock) = store(watched.clone(), &prefix());
    for number in 0..450 {
        begin(&store, number, 1, LONG).await.unwrap();
    }
    // The server knows the script.
    assert_eq!(store.purge(NonZeroU16::MAX).await.unwrap(), 0);
    clock.advance_millis(i64::try_from(LONG.as_millis()).unwrap());
    watched.sent();
    let limit = |limit| NonZeroU16::new(limit).unwrap();
    for (most, purged, steps) in [(201, 201, 2), (1, 1, 1), (1000, 248, 2), (1000, 0, 1)] {
        assert_eq!(store.purge(limit(most)).await.unwrap(), purged);
        assert_eq!(watched.sent().len(), steps);
    }
}

#[tokio::test]
async fn a_command_that_was_answered_is_not_sent_again() {
    let watched = Watched::new(alone().await.unwrap());
    let (store, _) = store(watched.clone(), &prefix());
    begin(&store, 0, 1, LONG).await.unwrap();
    watched.sent();
    for fate in [Fate::NoServer, Fate::TooLate] {
        watched.fates(&[fate]);
        begin(&store, 1, 1, LONG).await.unwrap_err();
        assert_eq!(watched.sent().len(), 1, "{fate:?}");
    }
}
