//! While the first request runs, its key is held: renewed, and ended before the answer.

use std::time::Duration;

use http::{Method, Request, Response};
use http_body_util::{BodyExt, Full};
use kindgi_tower::ResponseBody;
use tokio::task::JoinHandle;
use tower::ServiceExt;

use crate::common::{Answer, App, Gate, Trouble, judgment};

fn body() -> String {
    judgment("run-1", "k", "")
}

async fn retry(app: &App, body: &str) -> Answer {
    app.keyed_post("judge", "/v1/judgments", body, "key").await
}

fn first(app: &App) -> Request<Full<bytes::Bytes>> {
    app.keyed_request(Method::POST, "judge", "/v1/judgments", &body(), "key")
}

type Running = JoinHandle<Response<ResponseBody>>;

/// An app with one judgment, and a first request that waits at a gate of the store.
async fn running() -> (App, Gate, Running) {
    let app = App::with(|builder| builder.time_limit(Duration::from_secs(600)));
    app.judge("judge", "run-1", "before").await;
    let gate = Gate::closed();
    app.host.faults.set("record", Trouble::Waits(gate.clone()));
    let service = app.service.clone();
    let request = first(&app);
    let running = tokio::spawn(async move { service.oneshot(request).await.unwrap() });
    gate.arrival().await;
    (app, gate, running)
}

async fn answered(running: Running) -> Answer {
    let (parts, body) = running.await.unwrap().into_parts();
    let Ok(body) = body.collect().await;
    Answer::checked(parts, body.to_bytes(), false)
}

#[tokio::test(start_paused = true)]
async fn a_retry_while_the_first_runs_is_told_how_long_the_key_is_held() {
    let (app, gate, running) = running().await;
    for (passed, retry_after) in [(0, "30"), (1, "30"), (999, "29"), (28_999, "1")] {
        app.clock.advance_millis(passed);
        let answer = retry(&app, &body()).await;
        let answer = answer.refused("idempotency-key-in-flight");
        assert_eq!(answer.header("retry-after"), Some(retry_after), "{passed}");
    }
    retry(&app, &format!("{} ", body()))
        .await
        .refused("idempotency-key-body-mismatch");
    gate.let_through();
    let first = answered(running).await.is(201);
    let retry = retry(&app, &body()).await.is(201);
    assert!(retry.is_replay());
    assert_eq!(retry.body, first.body);
    assert!(!gate.has_arrival());
}

#[tokio::test(start_paused = true)]
async fn a_hold_is_renewed_every_10_seconds_while_its_request_runs() {
    let (app, gate, running) = running().await;
    let (renew, renewed) = (Gate::closed(), Gate::closed());
    app.host.faults.set("renew", Trouble::Waits(renew.clone()));
    app.host
        .faults
        .set("renewed", Trouble::Waits(renewed.clone()));
    for _ in 0..7 {
        // Time is paused: it moves to the next timer once everyone waits.
        let before = tokio::time::Instant::now();
        renew.arrival().await;
        assert_eq!(before.elapsed(), Duration::from_secs(10));
        app.clock.advance_millis(10_000);
        renew.let_through();
        renewed.arrival().await;
        renewed.let_through();
        let answer = retry(&app, &body()).await;
        let answer = answer.refused("idempotency-key-in-flight");
        assert_eq!(answer.header("retry-after"), Some("30"));
    }
    gate.let_through();
    answered(running).await.is(201);
    assert!(retry(&app, &body()).await.is_replay());
}

#[tokio::test(start_paused = true)]
async fn a_renewal_that_hangs_holds_up_nothing() {
    let (app, gate, running) = running().await;
    let renew = Gate::closed();
    app.host.faults.set("renew", Trouble::Waits(renew.clone()));
    renew.arrival().await;
    gate.let_through();
    answered(running).await.is(201);
    assert!(retry(&app, &body()).await.is_replay());
}

#[tokio::test(start_paused = true)]
async fn two_requests_under_one_key_whose_hold_lapsed_take_effect_once() {
    let (app, gate, running) = running().await;
    app.host.faults.set("renew", Trouble::Fails);
    app.clock.advance_millis(30_000);
    // It runs, too, and comes to the gate.
    let service = app.service.clone();
    let request = first(&app);
    let second = tokio::spawn(async move { service.oneshot(request).await.unwrap() });
    gate.arrival().await;
    for _ in 0..2 {
        gate.let_through();
    }
    let first = answered(running).await.is(201);
    let second = answered(second).await.is(201);
    assert_eq!(first.body, second.body);
    let third = retry(&app, &body()).await;
    assert!(third.is_replay());
    assert_eq!(third.body, first.body);
    let live = app.ids("judge", "/v1/judgments").await;
    assert_eq!(live.len(), 2);
    assert!(live.contains(&first.text("/id")));
}

#[tokio::test]
async fn a_request_whose_client_hung_up_keeps_its_answer() {
    let (app, gate, running) = running().await;
    running.abort();
    assert!(running.await.unwrap_err().is_cancelled());
    gate.let_through();
    app.service.drained().await;
    let live = app.ids("judge", "/v1/judgments").await;
    assert_eq!(live.len(), 2);
    let retry = retry(&app, &body()).await;
    assert!(retry.is_replay());
    assert!(live.contains(&retry.text("/id")));
    assert_eq!(app.ids("judge", "/v1/judgments").await, live);
}

#[tokio::test]
async fn a_host_or_store_that_fails_or_panics_frees_the_key() {
    let app = App::new();
    for at in ["run", "allows", "record"] {
        for trouble in [Trouble::Fails, Trouble::Busy, Trouble::Panics] {
            app.host.faults.set(at, trouble);
            // With another body each time, too: there is nothing to mismatch.
            for body in [body(), format!("{} ", body())] {
                retry(&app, &body).await.refused("internal-server-error");
            }
            app.host.faults.clear();
        }
    }
    let first = retry(&app, &body()).await.is(201);
    assert!(!first.is_replay());
    assert!(retry(&app, &body()).await.is_replay());
    assert_eq!(app.ids("judge", "/v1/judgments").await.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_write_cut_off_by_the_time_limit_frees_the_key_and_is_done_once() {
    let app = App::with(|builder| builder.time_limit(Duration::from_secs(5)));
    app.judge("judge", "run-1", "before").await;
    for (at, key) in [("record", "before its effect"), ("recorded", "after it")] {
        let before = app.ids("judge", "/v1/judgments").await;
        let body = judgment("run-1", key, "");
        app.host.faults.set(at, Trouble::Waits(Gate::closed()));
        let cut = app.keyed_post("judge", "/v1/judgments", &body, at).await;
        cut.refused("internal-server-error");
        app.host.faults.clear();
        let took_effect = app.ids("judge", "/v1/judgments").await;
        assert_eq!(
            took_effect.len() - before.len(),
            usize::from(at == "recorded")
        );
        let done = app.keyed_post("judge", "/v1/judgments", &body, at).await;
        let done = done.is(201).text("/id");
        let live = app.ids("judge", "/v1/judgments").await;
        assert_eq!(live.len(), before.len() + 1);
        assert!(live.contains(&done));
        assert!(at == "record" || live == took_effect);
    }
}
