//! No hold is longer than it was asked for, by the server's clock, whatever becomes of a renewal.

use std::time::Duration;

use kindgi_core::idempotency::{Begun, Completed, IdempotencyStore, Token};
use kindgi_store_redis::RedisIdempotencyStore;
use kindgi_test_servers::Redis;

use super::{
    made::{LONG, begin, complete, key, release},
    proxy::{
        Fate::{Cut, Late, Lost},
        Proxy,
    },
    state::{State, clock},
    support::{assert_unknown, direct, manager, multiplexed, prefix},
};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_renewal_that_is_lost_lengthens_nothing() {
    let server = Redis::start();
    let proxy = Proxy::start(server.port());
    let name = prefix();
    let mut look = direct(server.port());
    let by_clean = RedisIdempotencyStore::new(manager(server.port()).await).prefix(&name);
    begin(&by_clean, 1, 1, LONG).await.unwrap();
    // The server knows the script, so that a renewal is one command.
    assert!(
        !by_clean
            .renew(&key(2), &Token([1; 16]), LONG)
            .await
            .unwrap()
    );
    let end = State::of(&mut look, &name).only().end;
    for fate in [Lost(0), Lost(200), Late, Cut(0), Cut(2)] {
        let cut = RedisIdempotencyStore::new(multiplexed(proxy.port()).await).prefix(&name);
        let hold = 2 * LONG;
        proxy.fates(&[fate]);
        let earliest = clock(&mut look) + i64::try_from(hold.as_millis()).unwrap();
        let renewed = cut.renew(&key(1), &Token([1; 16]), hold).await;
        assert_unknown(&renewed.unwrap_err());
        let latest = clock(&mut look) + i64::try_from(hold.as_millis()).unwrap();
        let is = State::of(&mut look, &name).only().end;
        if matches!(fate, Cut(_)) {
            assert!((earliest..=latest).contains(&is), "{fate:?}: {is}");
        } else {
            assert_eq!(is, end, "{fate:?}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_is_cut_off_holds_until_the_hold_ends_and_not_longer() {
    let server = Redis::start();
    let proxy = Proxy::start(server.port());
    let mut look = direct(server.port());
    let other = manager(server.port()).await;
    for fate in [Lost(0), Cut(0)] {
        let name = prefix();
        let other = RedisIdempotencyStore::new(other.clone()).prefix(&name);
        let cut = RedisIdempotencyStore::new(multiplexed(proxy.port()).await).prefix(&name);
        let hold = Duration::from_millis(40);
        assert_eq!(begin(&cut, 1, 1, hold).await.unwrap(), Begun::Run);
        assert!(!other.renew(&key(2), &Token([1; 16]), hold).await.unwrap());
        proxy.fates(&[fate]);
        let renewed = cut.renew(&key(1), &Token([1; 16]), 2 * hold).await;
        assert_unknown(&renewed.unwrap_err());
        let end = State::of(&mut look, &name).only().end;
        loop {
            let before = clock(&mut look);
            match begin(&other, 1, 2, LONG).await.unwrap() {
                Begun::Run => break,
                Begun::InFlight { retry_after } => {
                    assert!(before < end, "held for longer");
                    tokio::time::sleep(retry_after).await;
                }
                begun => panic!("{begun:?}"),
            }
        }
        assert!(clock(&mut look) >= end, "held for less long");
        // What it does yet is of no effect.
        let late = RedisIdempotencyStore::new(multiplexed(proxy.port()).await).prefix(&name);
        assert!(!late.renew(&key(1), &Token([1; 16]), LONG).await.unwrap());
        let kept = complete(&late, 1, 1, &[]).await.unwrap();
        assert_eq!(kept, Completed::NotHeld);
        assert!(!release(&late, 1, 1).await.unwrap());
        assert_eq!(State::of(&mut look, &name).only().token, [2; 16]);
    }
}
