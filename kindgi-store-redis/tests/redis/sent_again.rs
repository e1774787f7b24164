//! A step whose link broke is sent again, and is as though it had been sent once.

use kindgi_core::{
    StoreError, StoreErrorKind,
    idempotency::{Begun, Completed, IdempotencyStore, Token},
    rate_limit::{RateDecision, RateLimiter},
};
use kindgi_store_redis::RedisRateLimiter;

use super::{
    made::{LONG, answer, begin, caller, complete, key, release, run, store, tenant},
    support::{alone, prefix},
    watched::{Fate, Watched},
};

const BREAKS: [Fate; 2] = [Fate::NeverSent, Fate::AnswerLost];

fn text(error: &StoreError) -> String {
    let source = std::error::Error::source(error).unwrap();
    format!("{error}: {source}")
}

#[tokio::test]
async fn a_claim_knows_itself() {
    let watched = Watched::new(alone().await.unwrap());
    let (store, _) = store(watched.clone(), &prefix());
    for (number, fate) in (0..).zip(BREAKS) {
        watched.fates(&[fate]);
        assert_eq!(begin(&store, number, 1, LONG).await.unwrap(), Begun::Run);
        watched.sent();
        let other = begin(&store, number, 2, LONG).await.unwrap();
        assert!(matches!(other, Begun::InFlight { .. }), "{other:?}");
    }
}

#[tokio::test]
async fn a_renewal_is_one() {
    let watched = Watched::new(alone().await.unwrap());
    let (store, _) = store(watched.clone(), &prefix());
    begin(&store, 0, 1, LONG).await.unwrap();
    for fate in BREAKS {
        for (by, held) in [(1, true), (2, false)] {
            watched.fates(&[fate]);
            let renewed = store.renew(&key(0), &Token([by; 16]), 2 * LONG).await;
            assert_eq!(renewed.unwrap(), held);
        }
    }
    let other = begin(&store, 0, 2, LONG).await.unwrap();
    let retry_after = 2 * LONG;
    assert_eq!(other, Begun::InFlight { retry_after });
}

#[tokio::test]
async fn an_answer_is_kept_or_forgotten_as_the_first_time() {
    let watched = Watched::new(alone().await.unwrap());
    let (store, _) = store(watched.clone(), &prefix());
    for (number, fate) in (0..).zip(BREAKS) {
        begin(&store, number, 1, LONG).await.unwrap();
        watched.fates(&[fate]);
        let kept = complete(&store, number, 1, &[run("a")]).await.unwrap();
        assert_eq!(kept, Completed::Kept);
        let replay = begin(&store, number, 1, LONG).await.unwrap();
        assert_eq!(replay, Begun::Replay(answer()));
        // Who comes later is another.
        let lost = complete(&store, number, 1, &[run("a")]).await.unwrap();
        assert_eq!(lost, Completed::NotHeld);
        watched.sent();
    }
    for (number, fate) in (10..).zip(BREAKS) {
        begin(&store, number, 1, LONG).await.unwrap();
        store.forget(&tenant(), &run("a")).await.unwrap();
        watched.fates(&[fate]);
        let forgotten = complete(&store, number, 1, &[run("a")]).await.unwrap();
        assert_eq!(forgotten, Completed::Forgotten);
        assert_eq!(begin(&store, number, 2, LONG).await.unwrap(), Begun::Run);
        let lost = complete(&store, number, 1, &[run("a")]).await.unwrap();
        assert_eq!(lost, Completed::NotHeld);
        watched.sent();
    }
}

#[tokio::test]
async fn a_release_is_one() {
    let watched = Watched::new(alone().await.unwrap());
    let (store, clock) = store(watched.clone(), &prefix());
    for fate in BREAKS {
        begin(&store, 0, 1, LONG).await.unwrap();
        watched.fates(&[fate]);
        assert!(release(&store, 0, 1).await.unwrap());
        assert!(!release(&store, 0, 1).await.unwrap());
        assert_eq!(begin(&store, 0, 2, LONG).await.unwrap(), Begun::Run);
        assert!(!release(&store, 0, 1).await.unwrap());
        assert!(release(&store, 0, 2).await.unwrap());
    }
    // What is remembered of it ends.
    clock.advance_millis(60_000);
    assert_eq!(store.purge(std::num::NonZeroU16::MAX).await.unwrap(), 1);
}

/// The answer of a release was lost, and before it comes again somebody else claims the key.
#[tokio::test]
async fn a_release_knows_itself_beneath_anothers_claim() {
    let (name, clean) = (prefix(), alone().await.unwrap());
    let (other, _) = store(clean.clone(), &name);
    // The server knows the scripts.
    release(&other, 0, 1).await.unwrap();
    complete(&other, 0, 1, &[]).await.unwrap();
    for (number, of_answer) in [(0, false), (1, true)] {
        let watched = Watched::new(clean.clone());
        let (mine, _) = store(watched.clone(), &name);
        begin(&mine, number, 1, LONG).await.unwrap();
        mine.forget(&tenant(), &run("a")).await.unwrap();
        watched.sent();
        watched.fates(&[Fate::AnswerLost, Fate::NeverSent]);
        let failed = if of_answer {
            complete(&mine, number, 1, &[run("a")]).await.map(drop)
        } else {
            release(&mine, number, 1).await.map(drop)
        };
        let said = text(&failed.unwrap_err());
        assert!(said.contains("it isn't known whether"), "{said}");
        // A claim may come again, too.
        for _ in 0..2 {
            assert_eq!(begin(&other, number, 2, LONG).await.unwrap(), Begun::Run);
        }
        // As it was sent.
        let sent = watched.sent().remove(0);
        let mut command = redis::Cmd::new();
        command.arg(sent);
        let answer: redis::Value = command.query_async(&mut clean.clone()).await.unwrap();
        let should_be = match of_answer {
            true => redis::Value::BulkString(b"forgotten".into()),
            false => redis::Value::Int(1),
        };
        assert_eq!(answer, should_be);
        assert!(release(&other, number, 2).await.unwrap());
    }
}

#[tokio::test]
async fn forgetting_is_one() {
    let watched = Watched::new(alone().await.unwrap());
    let (store, _) = store(watched.clone(), &prefix());
    for (number, fate) in (0..).zip(BREAKS) {
        begin(&store, number, 1, LONG).await.unwrap();
        complete(&store, number, 1, &[run("a")]).await.unwrap();
        watched.fates(&[fate]);
        store.forget(&tenant(), &run("a")).await.unwrap();
        assert_eq!(begin(&store, number, 2, LONG).await.unwrap(), Begun::Run);
    }
}

#[tokio::test]
async fn a_request_counts_once() {
    let watched = Watched::new(alone().await.unwrap());
    let limiter = RedisRateLimiter::per_second(watched.clone(), 3.try_into().unwrap());
    let clock = kindgi_core::ManualClock::default();
    let limiter = limiter.prefix(&prefix()).clock(clock);
    for fate in BREAKS {
        let who = caller(&format!("{fate:?}"));
        for _ in 0..3 {
            watched.fates(&[fate]);
            assert_eq!(limiter.check(&who).await.unwrap(), RateDecision::Allowed);
        }
        watched.fates(&[fate]);
        let limited = limiter.check(&who).await.unwrap();
        assert!(
            matches!(limited, RateDecision::Limited { .. }),
            "{limited:?}"
        );
        watched.sent();
    }
}

#[tokio::test]
async fn what_nobody_knows_is_said() {
    let watched = Watched::new(alone().await.unwrap());
    let (store, _) = store(watched.clone(), &prefix());
    begin(&store, 0, 1, LONG).await.unwrap();
    watched.sent();
    use Fate::{AnswerLost, NeverSent, NoServer, TooLate};
    let unknown = [
        &[TooLate][..],
        &[AnswerLost, AnswerLost],
        &[NeverSent, NoServer],
        &[AnswerLost, NoServer],
        &[AnswerLost, TooLate],
    ];
    for fates in unknown {
        watched.fates(fates);
        let error = begin(&store, 1, 1, LONG).await.unwrap_err();
        assert_eq!(error.kind(), StoreErrorKind::Other, "{fates:?}");
        let said = text(&error);
        assert!(
            said.contains("it isn't known whether it took effect"),
            "{said}"
        );
        assert_eq!(watched.sent().len(), fates.len());
    }
    watched.fates(&[NoServer]);
    let error = begin(&store, 1, 1, LONG).await.unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::Busy);
    assert!(text(&error).contains("nothing was written"), "{error:?}");
}
