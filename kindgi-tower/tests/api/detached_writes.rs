//! A write whose body has arrived goes on to its end, whoever hangs up; shutdown waits for it.

use std::{
    future::{Future, poll_fn},
    pin::pin,
    task::Poll,
};

use http::Method;
use http_body_util::Full;
use tower::ServiceExt;

use crate::common::{App, Gate, Trouble, judgment, queue, rules};

/// Whether a future is ready now.
async fn is_ready<F: Future + Unpin>(future: &mut F) -> bool {
    let mut future = std::pin::Pin::new(future);
    poll_fn(|cx| Poll::Ready(future.as_mut().poll(cx).is_ready())).await
}

fn post(app: &App, key: &str) -> http::Request<Full<bytes::Bytes>> {
    app.request(
        Method::POST,
        "judge",
        "/v1/judgments",
        judgment("run-1", key, ""),
    )
}

/// An app whose store waits at a gate before it records, with one judgment, so that the run's
/// copy is kept and further ones come to the gate once.
async fn gated(max_writes: u32) -> (App, Gate) {
    let app = App::with(|builder| builder.max_writes_in_flight(max_writes));
    app.judge("judge", "run-1", "before").await;
    let gate = Gate::closed();
    app.host.faults.set("record", Trouble::Waits(gate.clone()));
    (app, gate)
}

#[tokio::test]
async fn a_dropped_request_still_finishes_and_drained_waits_for_it() {
    let (app, gate) = gated(8).await;
    {
        let mut dropped = pin!(app.service.clone().oneshot(post(&app, "k")));
        assert!(!is_ready(&mut dropped).await);
        gate.arrival().await;
        assert!(!is_ready(&mut dropped).await);
    }
    let mut drained = pin!(app.service.drained());
    assert!(!is_ready(&mut drained).await);
    assert_eq!(app.ids("judge", "/v1/judgments").await.len(), 1);
    gate.let_through();
    drained.await;
    assert_eq!(app.ids("judge", "/v1/judgments").await.len(), 2);
}

#[tokio::test]
async fn a_request_dropped_before_its_body_arrived_does_nothing() {
    let (app, gate) = gated(8).await;
    {
        let (mut sender, body) = channel();
        let (parts, _) = post(&app, "k").into_parts();
        let mut dropped = pin!(
            app.service
                .clone()
                .oneshot(http::Request::from_parts(parts, body))
        );
        assert!(!is_ready(&mut dropped).await);
        sender.send(r#"{"runId":"run-1","#);
        assert!(!is_ready(&mut dropped).await);
    }
    app.service.drained().await;
    assert!(!gate.has_arrival());
}

/// A body in pieces that a test sends.
fn channel() -> (Sender, Pieces) {
    let (sender, receiver) = tokio::sync::mpsc::unbounded_channel();
    (Sender(sender), Pieces(receiver))
}

struct Sender(tokio::sync::mpsc::UnboundedSender<bytes::Bytes>);

impl Sender {
    fn send(&mut self, piece: &'static str) {
        self.0
            .send(bytes::Bytes::from_static(piece.as_bytes()))
            .unwrap();
    }
}

struct Pieces(tokio::sync::mpsc::UnboundedReceiver<bytes::Bytes>);

impl http_body::Body for Pieces {
    type Data = bytes::Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        mut self: std::pin::Pin<&mut Self>,
        cx: &mut std::task::Context<'_>,
    ) -> Poll<Option<Result<http_body::Frame<bytes::Bytes>, Self::Error>>> {
        self.0
            .poll_recv(cx)
            .map(|piece| piece.map(|piece| Ok(http_body::Frame::data(piece))))
    }
}

#[tokio::test]
async fn every_kind_of_write_is_detached() {
    let app = App::new();
    let judged = app.judge("judge", "run-1", "k").await;
    let class = app.class(r#"{"kind":"tenant"}"#, "n", "").await;
    let rule = app.rule("p1", "n", "").await;
    app.queued("p1", &["open", "dismissed"]).await;
    app.moved("admin", "dismissed", "dismiss", "").await.is(200);
    for (at, method, path, body) in [
        (
            "remove",
            Method::POST,
            format!("/v1/judgments/{judged}/unregister"),
            String::new(),
        ),
        (
            "create_class",
            Method::POST,
            "/v1/judge-classes".to_owned(),
            crate::common::class(r#"{"kind":"tenant"}"#, "m", ""),
        ),
        (
            "replace_class",
            Method::PATCH,
            format!("/v1/judge-classes/{class}"),
            r#"{"weight":7}"#.to_owned(),
        ),
        (
            "replace_class",
            Method::POST,
            format!("/v1/judge-classes/{class}/unregister"),
            String::new(),
        ),
        (
            "append_rule_version",
            Method::POST,
            rules("p1"),
            crate::common::rule("m", ""),
        ),
        (
            "append_rule_version",
            Method::PATCH,
            rule.clone(),
            r#"{"sample":0.5}"#.to_owned(),
        ),
        (
            "stop_rule",
            Method::POST,
            format!("{rule}/unregister"),
            String::new(),
        ),
        (
            "dismiss",
            Method::POST,
            format!("{}/open/dismiss", queue("p1")),
            r#"{"reason":"x"}"#.to_owned(),
        ),
        (
            "reopen",
            Method::POST,
            format!("{}/dismissed/reopen", queue("p1")),
            String::new(),
        ),
    ] {
        let gate = Gate::closed();
        app.host.faults.set(at, Trouble::Waits(gate.clone()));
        {
            let request = app.request(method, "admin", &path, body);
            let mut dropped = pin!(app.service.clone().oneshot(request));
            assert!(!is_ready(&mut dropped).await);
            gate.arrival().await;
        }
        gate.let_through();
        app.service.drained().await;
        app.host.faults.clear();
    }
    assert_eq!(app.ids("admin", "/v1/judgments").await, [""; 0]);
    let kept = app
        .get("admin", &format!("/v1/judge-classes/{class}"))
        .await
        .is(200);
    assert_eq!(kept.shown("/weight"), "7");
    assert!(kept.raw("/unregisteredAt").is_some());
    let list = app.get("admin", "/v1/judge-classes").await;
    assert_eq!(list.text("/data/0/name"), "m");
    let kept = app.get("admin", &rule).await.is(200);
    assert_eq!(kept.shown("/sample"), "0.5");
    assert!(kept.raw("/unregisteredAt").is_some());
    assert_eq!(app.get("admin", &rules("p1")).await.column("name"), ["m"]);
    assert_eq!(app.state("p1", "open").await, "dismissed");
    assert_eq!(app.state("p1", "dismissed").await, "open");
}

#[tokio::test]
async fn a_dropped_read_is_cancelled_and_nobody_waits_for_it() {
    let app = App::new();
    let gate = Gate::closed();
    app.host
        .faults
        .set("judgments", Trouble::Waits(gate.clone()));
    {
        let request = app.request(Method::GET, "judge", "/v1/judgments", "");
        let mut dropped = pin!(app.service.clone().oneshot(request));
        assert!(!is_ready(&mut dropped).await);
        gate.arrival().await;
        // A read in flight is none of the writes.
        app.service.drained().await;
    }
    // Nobody is at the gate any more: this goes to who comes next.
    gate.let_through();
    app.get("judge", "/v1/judgments").await.is(200);
}

#[tokio::test]
async fn no_more_writes_run_at_once_than_the_cap() {
    let (app, gate) = gated(2).await;
    let mut writes: Vec<_> = ["a", "b", "c"]
        .map(|key| Box::pin(app.service.clone().oneshot(post(&app, key))))
        .into();
    for write in &mut writes {
        assert!(!is_ready(write).await);
    }
    gate.arrival().await;
    gate.arrival().await;
    // The third waits for its turn, though nothing else keeps it.
    tokio::task::yield_now().await;
    assert!(!is_ready(&mut writes[2]).await);
    assert!(!gate.has_arrival());
    gate.let_through();
    writes.remove(0).await.unwrap();
    assert!(!is_ready(&mut writes[1]).await);
    gate.arrival().await;
    gate.let_through();
    gate.let_through();
    for write in writes {
        assert_eq!(write.await.unwrap().status(), 201);
    }
    assert_eq!(app.ids("judge", "/v1/judgments").await.len(), 4);
}

#[tokio::test]
async fn a_write_that_is_dropped_while_it_waits_for_its_turn_still_finishes() {
    let (app, gate) = gated(1).await;
    let mut first = pin!(app.service.clone().oneshot(post(&app, "a")));
    assert!(!is_ready(&mut first).await);
    gate.arrival().await;
    {
        let mut second = pin!(app.service.clone().oneshot(post(&app, "b")));
        assert!(!is_ready(&mut second).await);
    }
    let mut drained = pin!(app.service.drained());
    assert!(!is_ready(&mut drained).await);
    gate.let_through();
    gate.let_through();
    drained.await;
    assert_eq!(app.ids("judge", "/v1/judgments").await.len(), 3);
}

#[tokio::test]
async fn reads_need_no_turn() {
    let (app, gate) = gated(1).await;
    let mut write = pin!(app.service.clone().oneshot(post(&app, "a")));
    assert!(!is_ready(&mut write).await);
    gate.arrival().await;
    app.get("judge", "/v1/judgments").await.is(200);
    gate.let_through();
    write.await.unwrap();
}

#[tokio::test]
async fn a_panicking_write_gives_its_turn_back() {
    let app = App::with(|builder| builder.max_writes_in_flight(1));
    app.host.faults.set("record", Trouble::Panics);
    for _ in 0..3 {
        app.record("judge", &judgment("run-1", "k", ""))
            .await
            .refused("internal-server-error");
    }
    app.host.faults.clear();
    app.judge("judge", "run-1", "k").await;
    app.service.drained().await;
}

#[tokio::test]
async fn a_cap_of_none_is_one() {
    let app = App::with(|builder| builder.max_writes_in_flight(0));
    app.judge("judge", "run-1", "k").await;
    app.service.drained().await;
}

#[tokio::test]
async fn drained_is_ready_at_once_where_nothing_is_in_flight() {
    let app = App::new();
    let mut drained = pin!(app.service.drained());
    assert!(is_ready(&mut drained).await);
    // And once more, after writes.
    app.judge("judge", "run-1", "k").await;
    app.service.drained().await;
}

#[tokio::test]
async fn a_write_that_comes_while_someone_waits_for_the_drain_finishes_too() {
    let (app, gate) = gated(8).await;
    let mut first = pin!(app.service.clone().oneshot(post(&app, "a")));
    assert!(!is_ready(&mut first).await);
    gate.arrival().await;
    let mut drained = pin!(app.service.drained());
    assert!(!is_ready(&mut drained).await);
    {
        let mut late = pin!(app.service.clone().oneshot(post(&app, "b")));
        assert!(!is_ready(&mut late).await);
    }
    gate.let_through();
    gate.let_through();
    drained.await;
    assert_eq!(app.ids("judge", "/v1/judgments").await.len(), 3);
}
