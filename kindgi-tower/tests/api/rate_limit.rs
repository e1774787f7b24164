//! A caller who asks too often is told when to come again; nobody else is.

use std::{
    num::NonZeroU32,
    pin::Pin,
    sync::{Arc, Mutex},
    task::{Context, Poll},
    time::Duration,
};

use async_trait::async_trait;
use http::{Method, Request};
use kindgi_core::{
    ManualClock, StoreError,
    model::Principal,
    rate_limit::{LocalRateLimiter, RateDecision, RateLimiter},
    store::StoreResult,
};

use crate::common::{App, TENANT, id, judgment};

/// A limiter that decides as it is told, and notes whom it was asked about.
#[derive(Clone)]
struct Told(Arc<Mutex<(What, Vec<Principal>)>>);

#[derive(Clone, Copy)]
enum What {
    Allow,
    Limit(Duration),
    Fail,
    BeBusy,
}

#[async_trait]
impl RateLimiter for Told {
    async fn check(&self, who: &Principal) -> StoreResult<RateDecision> {
        let mut told = self.0.lock().unwrap();
        told.1.push(who.clone());
        match told.0 {
            What::Allow => Ok(RateDecision::Allowed),
            What::Limit(retry_after) => Ok(RateDecision::Limited { retry_after }),
            What::Fail => Err(StoreError::other("secret of the limiter")),
            What::BeBusy => Err(StoreError::busy("secret of the limiter")),
        }
    }
}

impl Told {
    fn app(what: What) -> (Self, App) {
        let told = Self(Arc::new(Mutex::new((what, Vec::new()))));
        let limiter = told.clone();
        (told, App::with(|builder| builder.rate_limiter(limiter)))
    }

    fn tell(&self, what: What) {
        self.0.lock().unwrap().0 = what;
    }

    fn asked(&self) -> usize {
        self.0.lock().unwrap().1.len()
    }
}

/// A body that must not be read.
struct Unread;

impl http_body::Body for Unread {
    type Data = bytes::Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<http_body::Frame<bytes::Bytes>, Self::Error>>> {
        panic!("the body is read")
    }
}

#[tokio::test]
async fn a_limited_caller_is_refused_before_the_body_is_read() {
    let (told, app) = Told::app(What::Limit(Duration::from_secs(3)));
    let request = Request::post("/v1/judgments")
        .header("authorization", "Bearer judge")
        .header("content-type", "text/plain")
        .body(Unread)
        .unwrap();
    let answer = app.send(request).await.refused("rate-limit-exceeded");
    assert_eq!(answer.header("retry-after"), Some("3"));
    app.get("judge", "/v1/judgments?unknown=1")
        .await
        .refused("rate-limit-exceeded");
    app.head("judge", "/v1/judgments").await.is(429);
    // No key is claimed.
    let body = judgment("run-1", "k", "");
    app.keyed_post("judge", "/v1/judgments", &body, "key")
        .await
        .refused("rate-limit-exceeded");
    assert_eq!(app.host.faults.calls("begin"), 0);
    assert_eq!(told.asked(), 4);
    told.tell(What::Allow);
    app.keyed_post("judge", "/v1/judgments", &body, "key")
        .await
        .is(201);
}

#[tokio::test]
async fn who_is_not_let_in_and_what_is_not_there_count_for_nobody() {
    let (told, app) = Told::app(What::Limit(Duration::from_secs(3)));
    app.get("", "/v1/judgments").await.refused("auth-missing");
    app.get("nobody", "/v1/judgments")
        .await
        .refused("auth-missing");
    app.get("judge", "/v1/none").await.refused("not-found");
    app.call(Method::DELETE, "judge", "/v1/judgments", "")
        .await
        .refused("method-not-allowed");
    assert_eq!(told.asked(), 0);
}

#[tokio::test]
async fn retry_after_is_in_whole_seconds_rounded_up() {
    let (told, app) = Told::app(What::Allow);
    for (wait, seconds) in [
        (Duration::ZERO, "1"),
        (Duration::from_nanos(1), "1"),
        (Duration::from_millis(999), "1"),
        (Duration::from_secs(1), "1"),
        (Duration::from_nanos(1_000_000_001), "2"),
        (Duration::from_millis(59_001), "60"),
    ] {
        told.tell(What::Limit(wait));
        let answer = app.get("judge", "/v1/judgments").await;
        let answer = answer.refused("rate-limit-exceeded");
        assert_eq!(answer.header("retry-after"), Some(seconds), "{wait:?}");
    }
}

#[tokio::test]
async fn a_limiter_in_trouble_is_a_server_error_and_limits_nobody() {
    let (told, app) = Told::app(What::Fail);
    let body = judgment("run-1", "k", "");
    app.get("judge", "/v1/judgments")
        .await
        .refused("internal-server-error");
    app.record("judge", &body)
        .await
        .refused("internal-server-error");
    told.tell(What::BeBusy);
    app.get("judge", "/v1/judgments")
        .await
        .refused("database-busy");
    app.record("judge", &body)
        .await
        .refused("internal-server-error");
    told.tell(What::Allow);
    app.get("judge", "/v1/judgments").await.is(200);
}

#[tokio::test]
async fn callers_are_limited_each_for_themselves_and_by_the_clock() {
    let clock = Arc::new(ManualClock::default());
    let limiter = LocalRateLimiter::per_second(NonZeroU32::new(1).unwrap())
        .burst(NonZeroU32::new(2).unwrap())
        .clock(Arc::clone(&clock));
    let app = App::with(|builder| builder.rate_limiter(limiter));
    app.person("service", Principal::service(id(TENANT), id("judge")), "");
    app.person("elsewhere", Principal::user(id("other"), id("judge")), "");
    app.person("judge-2", Principal::user(id(TENANT), id("judge")), "");
    for token in ["judge", "reader", "service", "elsewhere"] {
        for _ in 0..2 {
            app.get(token, "/v1/judgments").await.is(200);
        }
        let limited = app.get(token, "/v1/judgments").await;
        let limited = limited.refused("rate-limit-exceeded");
        assert_eq!(limited.header("retry-after"), Some("1"), "{token}");
    }
    // By whatever token.
    app.get("judge-2", "/v1/judgments")
        .await
        .refused("rate-limit-exceeded");
    clock.advance_millis(999);
    app.get("judge", "/v1/judgments")
        .await
        .refused("rate-limit-exceeded");
    clock.advance_millis(1);
    app.get("judge", "/v1/judgments").await.is(200);
    app.get("judge", "/v1/judgments")
        .await
        .refused("rate-limit-exceeded");
}

#[tokio::test]
async fn without_a_limiter_nobody_is_limited() {
    let app = App::new();
    for _ in 0..500 {
        app.get("judge", "/v1/judgments").await.is(200);
    }
}
