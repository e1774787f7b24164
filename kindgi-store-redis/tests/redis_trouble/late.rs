//! Commands whose link is gone, and which the server takes only after the client has gone on: its
//! second try came first.

use std::time::Duration;

use kindgi_core::idempotency::{Begun, IdempotencyStore, Token};
use kindgi_test_servers::Redis;

use super::{
    made::{LONG, begin, key, release},
    proxy::{Fate::Late, Proxy},
    state::Is,
    steps::{Step, Trial},
    support::manager,
};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_command_that_arrives_after_its_own_second_try_is_one_with_it() {
    let server = Redis::start();
    let proxy = Proxy::start(server.port());
    let connection = manager(proxy.port()).await;
    for step in Step::ALL {
        let trial = Trial::new(step, server.port()).await;
        proxy.fates(&[Late]);
        let answer = step.take(&trial.bench(connection.clone())).await;
        assert_eq!(answer.unwrap(), step.answer());
        trial.assert_taken("before it arrives");
        proxy.deliver();
        trial.assert_taken("it arrived");
    }
}

/// Who holds the key by then isn't disturbed.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_command_that_arrives_late_leaves_anothers_hold_alone() {
    let server = Redis::start();
    let proxy = Proxy::start(server.port());
    let connection = manager(proxy.port()).await;
    for (step, told) in [
        (Step::Renewal, ":0\r\n"),
        // These two know themselves beneath the other's claim.
        (Step::ForgottenAnswer, "$9\r\nforgotten\r\n"),
        (Step::Release, ":1\r\n"),
    ] {
        let trial = Trial::new(step, server.port()).await;
        let bench = trial.bench(connection.clone());
        proxy.fates(&[Late]);
        step.take(&bench).await.unwrap();
        if step == Step::Renewal {
            assert!(release(&bench.keys, 1, 1).await.unwrap());
        }
        assert_eq!(begin(&bench.keys, 1, 2, LONG).await.unwrap(), Begun::Run);
        let before = trial.state();
        assert_eq!(before.only().token, [2; 16]);
        assert_eq!(proxy.deliver(), told, "{step:?}");
        assert_eq!(trial.state(), before, "{step:?}");
    }
}

/// A claim that arrives when it was released already holds for nobody, and not for longer than it
/// asked for.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_claim_that_arrives_after_its_release_lapses() {
    let server = Redis::start();
    let proxy = Proxy::start(server.port());
    let trial = Trial::new(Step::Claim, server.port()).await;
    let bench = trial.bench(manager(proxy.port()).await);
    proxy.fates(&[Late]);
    Step::Claim.take(&bench).await.unwrap();
    assert!(release(&bench.keys, 1, 1).await.unwrap());
    let released = trial.state().only().clone();
    assert_eq!(released.is, Is::Freed);
    trial.clock.advance_millis(5000);
    assert!(proxy.deliver().contains("run"));
    let late = trial.state().only().clone();
    assert_eq!(late.is, Is::Held);
    // By the time that the claim was told, as it is by the server's when it takes it.
    let lease = i64::try_from(LONG.as_millis()).unwrap();
    let minute = 60_000;
    assert_eq!(late.end - lease, released.end - minute);
    let other = begin(&bench.keys, 1, 2, LONG).await.unwrap();
    let retry_after = LONG - Duration::from_secs(5);
    assert_eq!(other, Begun::InFlight { retry_after });
    trial.clock.advance_millis(lease - 5000);
    assert_eq!(begin(&bench.keys, 1, 2, LONG).await.unwrap(), Begun::Run);
    let renewed = bench.keys.renew(&key(1), &Token([1; 16]), LONG).await;
    assert!(!renewed.unwrap());
}
