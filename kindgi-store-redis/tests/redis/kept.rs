//! What the server holds, for how long, and by which clock.

use std::{num::NonZeroU16, time::Duration};

use kindgi_core::{
    StoreErrorKind,
    idempotency::{Begun, Completed, IdempotencyStore},
    rate_limit::{RateDecision, RateLimiter},
};
use kindgi_store_redis::{RedisIdempotencyStore, RedisRateLimiter};
use kindgi_test_servers::{Redis, redis::Reply};

use super::{
    made::{LONG, answer, begin, caller, complete, key, release, run, store, tenant},
    support::{alone, manager, prefix},
};

fn int(server: &Redis, parts: &[&str]) -> i64 {
    server.command(parts).int().unwrap()
}

fn names(server: &Redis) -> Vec<String> {
    let reply = server.command(&["KEYS", "*"]);
    let names = reply.list().unwrap().iter();
    let mut names: Vec<String> = names.map(|name| name.text().unwrap().to_owned()).collect();
    names.sort();
    names
}

#[tokio::test]
async fn idempotency_keys_are_three_names_that_never_expire() {
    let server = Redis::start();
    let store = RedisIdempotencyStore::new(manager(&server).await.unwrap());
    for number in 0..3 {
        begin(&store, number, 1, LONG).await.unwrap();
        complete(&store, number, 1, &[run("a")]).await.unwrap();
    }
    let should_be = ["ends", "index", "records"].map(|what| format!("{{kindgi:keys}}:{what}"));
    assert_eq!(names(&server), should_be);
    for name in &should_be {
        assert_eq!(int(&server, &["PTTL", name]), -1);
    }
}

#[tokio::test]
async fn callers_expire_when_they_have_their_whole_burst_again() {
    let server = Redis::start();
    let connection = manager(&server).await.unwrap();
    let limiter = RedisRateLimiter::per_second(connection, 100.try_into().unwrap());
    for (requests, most) in [(1, 12), (50, 512)] {
        let who = caller(&requests.to_string());
        for _ in 0..requests {
            limiter.check(&who).await.unwrap();
        }
        let all = names(&server);
        // Those of before may be there, or not any more.
        assert!(all.iter().all(|name| name.starts_with("kindgi:rate:100:")));
        for name in &all {
            let left = int(&server, &["PTTL", name]);
            assert!((-2..=most).contains(&left), "{left}");
        }
    }
    while !names(&server).is_empty() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test]
async fn deadlines_are_by_the_servers_clock() {
    let connection = alone().await.unwrap();
    let store = RedisIdempotencyStore::new(connection.clone()).prefix(&prefix());
    begin(&store, 0, 1, LONG).await.unwrap();
    let held = begin(&store, 0, 2, LONG).await.unwrap();
    let Begun::InFlight { retry_after } = held else {
        panic!("{held:?}")
    };
    assert!(retry_after <= LONG && retry_after > LONG / 2);
    begin(&store, 1, 1, Duration::from_millis(30))
        .await
        .unwrap();
    for tries in 0.. {
        assert!(tries < 1000, "the hold doesn't lapse");
        match begin(&store, 1, 2, LONG).await.unwrap() {
            Begun::Run => break,
            Begun::InFlight { retry_after } => tokio::time::sleep(retry_after).await,
            other => panic!("{other:?}"),
        }
    }

    let limiter = RedisRateLimiter::per_second(connection, 20.try_into().unwrap());
    let limiter = limiter.prefix(&prefix()).burst(1.try_into().unwrap());
    let who = caller("ada");
    let (mut through, mut tries) = (0, 0);
    while through < 3 {
        tries += 1;
        assert!(tries < 1000, "nobody goes through any more");
        match limiter.check(&who).await.unwrap() {
            RateDecision::Allowed => through += 1,
            RateDecision::Limited { retry_after } => {
                assert!(retry_after <= Duration::from_millis(50));
                tokio::time::sleep(retry_after).await;
            }
        }
    }
}

#[tokio::test]
async fn a_purge_leaves_nothing_of_what_ended() {
    let server = Redis::start();
    let (store, clock) = store(manager(&server).await.unwrap(), "a");
    let things = [run("a"), run("b"), run("a")];
    for number in 0..40 {
        begin(&store, number, 1, LONG).await.unwrap();
        match number % 4 {
            0 => drop(complete(&store, number, 1, &things).await.unwrap()),
            1 => drop(release(&store, number, 1).await.unwrap()),
            2 => drop(
                store
                    .renew(
                        &key(number),
                        &kindgi_core::idempotency::Token([1; 16]),
                        2 * LONG,
                    )
                    .await
                    .unwrap(),
            ),
            _ => {}
        }
        if number == 20 {
            store.forget(&tenant(), &run("b")).await.unwrap();
        }
    }
    clock.advance_millis(2 * i64::try_from(LONG.as_millis()).unwrap());
    assert!(store.purge(NonZeroU16::MAX).await.unwrap() > 30);
    assert_eq!(names(&server), [""; 0]);
}

#[tokio::test]
async fn keys_that_end_are_dropped_as_others_come() {
    let server = Redis::start();
    let (store, clock) = store(manager(&server).await.unwrap(), "a");
    for number in 0..100 {
        begin(&store, number, 1, LONG).await.unwrap();
        complete(&store, number, 1, &[run("a")]).await.unwrap();
    }
    clock.advance_millis(i64::try_from(LONG.as_millis()).unwrap());
    for number in 200..220 {
        begin(&store, number, 1, LONG).await.unwrap();
    }
    for (what, command) in [("records", "HLEN"), ("ends", "ZCARD"), ("index", "ZCARD")] {
        assert_eq!(int(&server, &[command, &format!("{{a:keys}}:{what}")]), 20);
    }
}

/// More have ended than a claim drops, so a key's old record is there when it is claimed anew.
#[tokio::test]
async fn a_key_that_is_used_again_is_not_about_what_it_was_about() {
    let (store, clock) = store(alone().await.unwrap(), &prefix());
    for number in 0..40 {
        begin(&store, number, 1, LONG).await.unwrap();
        complete(&store, number, 1, &[run("a")]).await.unwrap();
    }
    clock.advance_millis(i64::try_from(LONG.as_millis()).unwrap());
    for number in [0, 20, 39] {
        assert_eq!(begin(&store, number, 2, LONG).await.unwrap(), Begun::Run);
        complete(&store, number, 2, &[run("b")]).await.unwrap();
    }
    store.forget(&tenant(), &run("a")).await.unwrap();
    for number in [0, 20, 39] {
        let replay = begin(&store, number, 3, LONG).await.unwrap();
        assert_eq!(replay, Begun::Replay(answer()));
    }
}

#[tokio::test]
async fn stores_with_different_prefixes_have_nothing_in_common() {
    let connection = alone().await.unwrap();
    let base = prefix();
    let prefixes = ["", "{", "}", "{}", "é", "a:keys}", " "].map(|end| format!("{base}{end}"));
    for prefix in &prefixes {
        let (store, _) = store(connection.clone(), prefix);
        assert_eq!(
            begin(&store, 0, 1, LONG).await.unwrap(),
            Begun::Run,
            "{prefix}"
        );
        complete(&store, 0, 1, &[run("a")]).await.unwrap();
    }
    let (first, _) = store(connection.clone(), &prefixes[0]);
    first.forget(&tenant(), &run("a")).await.unwrap();
    for prefix in &prefixes[1..] {
        let (store, _) = store(connection.clone(), prefix);
        let replay = begin(&store, 0, 1, LONG).await.unwrap();
        assert_eq!(replay, Begun::Replay(answer()), "{prefix}");
    }
}

#[tokio::test]
async fn durations_without_end_are_to_the_last_instant() {
    let (store, _) = store(alone().await.unwrap(), &prefix());
    begin(&store, 0, 1, Duration::MAX).await.unwrap();
    let held = begin(&store, 0, 2, LONG).await.unwrap();
    let Begun::InFlight { retry_after } = held else {
        panic!("{held:?}")
    };
    let last = kindgi_core::Timestamp::UNIX_EPOCH.saturating_add_millis(i64::MAX);
    let now = kindgi_core::Clock::now(&kindgi_core::ManualClock::default());
    let left = last.as_unix_millis() - now.as_unix_millis();
    assert_eq!(retry_after, Duration::from_millis(left.try_into().unwrap()));
}

#[tokio::test]
async fn what_somebody_else_wrote_is_an_error() {
    let server = Redis::start();
    let (store, _) = store(manager(&server).await.unwrap(), "a");
    begin(&store, 0, 1, LONG).await.unwrap();
    complete(&store, 0, 1, &[]).await.unwrap();
    let field = server.command(&[
        "EVAL",
        "return redis.call('HKEYS', KEYS[1])[1]",
        "1",
        "{a:keys}:records",
    ]);
    assert!(matches!(field, Reply::Text(_)));
    let spoil = |code: &str| server.command(&["EVAL", code, "1", "{a:keys}:records"]);
    for code in [
        "redis.call('HSET', KEYS[1], redis.call('HKEYS', KEYS[1])[1], 'x')",
        "redis.call('HSET', KEYS[1], redis.call('HKEYS', KEYS[1])[1], cmsgpack.pack({2, 9e12, \
         string.rep('\\1', 32), '', '', 0, {}, ''}) .. 'x')",
        "redis.call('SET', KEYS[1], '')",
    ] {
        spoil(code);
        let error = begin(&store, 0, 1, LONG).await.unwrap_err();
        assert_eq!(error.kind(), StoreErrorKind::Other, "{code}");
    }
}

#[tokio::test]
async fn a_multiplexed_connection_will_do() {
    let client = redis::Client::open(Redis::shared().url()).unwrap();
    let connection = client.get_multiplexed_async_connection().await.unwrap();
    let (store, _) = store(connection, &prefix());
    assert_eq!(begin(&store, 0, 1, LONG).await.unwrap(), Begun::Run);
    complete(&store, 0, 1, &[]).await.unwrap();
    let replay = begin(&store, 0, 1, LONG).await.unwrap();
    assert_eq!(replay, Begun::Replay(answer()));
}

#[tokio::test]
async fn what_is_forgotten_of_an_answer_that_was_evicted_leaves_the_next_hold_alone() {
    let server = Redis::start();
    let store = RedisIdempotencyStore::new(manager(&server).await.unwrap());
    begin(&store, 0, 1, LONG).await.unwrap();
    complete(&store, 0, 1, &[run("a")]).await.unwrap();
    assert_eq!(int(&server, &["DEL", "{kindgi:keys}:records"]), 1);
    assert_eq!(begin(&store, 0, 2, LONG).await.unwrap(), Begun::Run);
    store.forget(&tenant(), &run("a")).await.unwrap();
    let held = begin(&store, 0, 3, LONG).await.unwrap();
    assert!(matches!(held, Begun::InFlight { .. }), "{held:?}");
    assert_eq!(
        complete(&store, 0, 2, &[run("b")]).await.unwrap(),
        Completed::Kept
    );
}

#[tokio::test]
async fn a_hold_remembers_256_things_that_were_forgotten_and_then_that_it_is_all() {
    let (store, _clock) = store(alone().await.unwrap(), &prefix());
    for number in 0..4 {
        begin(&store, number, 1, LONG).await.unwrap();
    }
    for number in 0..256 {
        let thing = run(&number.to_string());
        store.forget(&tenant(), &thing).await.unwrap();
    }
    let other = [run("other")];
    assert_eq!(
        complete(&store, 0, 1, &other).await.unwrap(),
        Completed::Kept
    );
    assert_eq!(
        complete(&store, 1, 1, &[run("255")]).await.unwrap(),
        Completed::Forgotten
    );
    store.forget(&tenant(), &run("256")).await.unwrap();
    store.forget(&tenant(), &run("257")).await.unwrap();
    assert_eq!(
        complete(&store, 2, 1, &other).await.unwrap(),
        Completed::Forgotten
    );
    // What is about nothing was not forgotten.
    assert_eq!(complete(&store, 3, 1, &[]).await.unwrap(), Completed::Kept);
}
