//! The line of writes that wait for their turn is bounded: past that a write is refused, and
//! nothing of it is done.

use std::{future::Future, pin::Pin};

use futures_util::{FutureExt, future::join_all};
use http::{Method, Request, Response};
use http_body_util::{BodyExt, Full};
use kindgi_tower::{Cause, ResponseBody};
use proptest::prelude::*;
use tower::ServiceExt;

use crate::common::{Answer, App, Gate, Trouble, judgment};

const PATH: &str = "/v1/judgments";

/// An app with one judgment, so that the run's copy is kept and further ones come once to the gate
/// that the store waits at before it records.
async fn gated(in_flight: u32, in_line: u32) -> (App, Gate) {
    let app = App::with(|builder| {
        builder
            .max_writes_in_flight(in_flight)
            .max_writes_in_line(in_line)
    });
    app.judge("judge", "run-1", "before").await;
    let gate = Gate::closed();
    app.host.faults.set("record", Trouble::Waits(gate.clone()));
    (app, gate)
}

/// The request for a judgment of an item, under an idempotency key of the same name.
fn keyed(app: &App, item: &str) -> Request<Full<bytes::Bytes>> {
    app.keyed_request(
        Method::POST,
        "judge",
        PATH,
        &judgment("run-1", item, ""),
        item,
    )
}

type Sent = Pin<Box<dyn Future<Output = Response<ResponseBody>> + Send>>;

/// A request that was sent, and is in line or running or refused.
fn sent(app: &App, request: Request<Full<bytes::Bytes>>) -> Sent {
    let service = app.service.clone();
    let mut sent: Sent = Box::pin(async move { service.oneshot(request).await.unwrap() });
    match sent.as_mut().now_or_never() {
        Some(response) => Box::pin(std::future::ready(response)),
        None => sent,
    }
}

/// What was answered at once.
async fn at_once(sent: Sent) -> Answer {
    answer(sent.now_or_never().expect("an answer at once")).await
}

async fn answer(response: Response<ResponseBody>) -> Answer {
    let (parts, body) = response.into_parts();
    let Ok(body) = body.collect().await;
    Answer::checked(parts, body.to_bytes(), false)
}

/// Two writes, one that is at the gate and one in line behind it.
async fn full() -> (App, Gate, [Sent; 2]) {
    let (app, gate) = gated(1, 1).await;
    let first = sent(&app, keyed(&app, "first"));
    gate.arrival().await;
    let second = sent(&app, keyed(&app, "second"));
    (app, gate, [first, second])
}

#[tokio::test]
async fn a_write_that_finds_the_line_full_is_refused_at_once_and_nothing_of_it_is_done() {
    let (app, gate, [first, second]) = full().await;
    let asked = ["begin", "run"];
    let before = asked.map(|method| app.host.faults.calls(method));
    assert!(before.iter().all(|calls| *calls > 0), "{before:?}");
    let third = at_once(sent(&app, keyed(&app, "third"))).await;
    let third = third.refused("internal-server-error");
    assert_eq!(third.header("retry-after"), None);
    assert_eq!(asked.map(|method| app.host.faults.calls(method)), before);
    // Later the same key does the work, even with another body, and does it once.
    gate.let_through();
    gate.let_through();
    answer(first.await).await.is(201);
    answer(second.await).await.is(201);
    app.host.faults.clear();
    let body = judgment("run-1", "other", "");
    let done = app.keyed_post("judge", PATH, &body, "third").await.is(201);
    assert!(!done.is_replay());
    let again = app.keyed_post("judge", PATH, &body, "third").await.is(201);
    assert!(again.is_replay());
    assert_eq!(again.body, done.body);
    assert_eq!(app.ids("judge", PATH).await.len(), 4);
}

#[tokio::test]
async fn the_host_is_told_why() {
    let (app, gate, writes) = full().await;
    let refused = sent(&app, keyed(&app, "third")).now_or_never().unwrap();
    let cause = refused.extensions().get::<Cause>().expect("a cause");
    assert_eq!(cause.to_string(), "the line of writes is full");
    // And nobody else.
    let body = answer(refused).await;
    assert!(!body.body.contains("line"), "{}", body.body);
    gate.let_through();
    gate.let_through();
    join_all(writes).await;
}

#[tokio::test]
async fn a_replay_that_finds_the_line_full_is_had_later() {
    let (app, gate) = gated(1, 1).await;
    gate.let_through();
    let done = answer(sent(&app, keyed(&app, "done")).await).await.is(201);
    gate.arrival().await;
    let first = sent(&app, keyed(&app, "first"));
    gate.arrival().await;
    let second = sent(&app, keyed(&app, "second"));
    at_once(sent(&app, keyed(&app, "done")))
        .await
        .refused("internal-server-error");
    gate.let_through();
    gate.let_through();
    join_all([first, second]).await;
    let again = answer(sent(&app, keyed(&app, "done")).await).await.is(201);
    assert!(again.is_replay());
    assert_eq!(again.body, done.body);
}

#[tokio::test]
async fn once_a_place_is_free_the_next_write_is_taken() {
    let (app, gate, [first, second]) = full().await;
    at_once(sent(&app, keyed(&app, "third")))
        .await
        .refused("internal-server-error");
    gate.let_through();
    answer(first.await).await.is(201);
    // The second runs now, and the third waits.
    gate.arrival().await;
    let third = sent(&app, keyed(&app, "third"));
    at_once(sent(&app, keyed(&app, "fourth")))
        .await
        .refused("internal-server-error");
    gate.let_through();
    gate.let_through();
    answer(second.await).await.is(201);
    answer(third.await).await.is(201);
    assert_eq!(app.ids("judge", PATH).await.len(), 4);
}

#[tokio::test]
async fn with_a_line_of_none_no_write_waits() {
    let (app, gate) = gated(2, 0).await;
    let running = ["a", "b"].map(|item| sent(&app, keyed(&app, item)));
    gate.arrival().await;
    gate.arrival().await;
    at_once(sent(&app, keyed(&app, "c")))
        .await
        .refused("internal-server-error");
    gate.let_through();
    gate.let_through();
    for write in running {
        answer(write.await).await.is(201);
    }
    app.host.faults.clear();
    // Who waits for the answers never meets the cap.
    for n in 0..20 {
        app.judge("judge", "run-1", &format!("k{n}")).await;
    }
}

#[tokio::test]
async fn a_full_line_changes_nothing_for_reads_and_for_what_is_refused_earlier() {
    let (app, gate, writes) = full().await;
    app.get("judge", PATH).await.is(200);
    app.head("judge", PATH).await.is(200);
    // What is checked before the body is there is refused as ever.
    app.post("", PATH, "{}").await.refused("auth-missing");
    app.post("judge", "/v1/nothing", "{}")
        .await
        .refused("not-found");
    gate.let_through();
    gate.let_through();
    join_all(writes).await;
}

#[tokio::test]
async fn a_write_whose_client_hung_up_keeps_its_place_in_line() {
    let (app, gate, [first, second]) = full().await;
    drop(first);
    drop(second);
    at_once(sent(&app, keyed(&app, "third")))
        .await
        .refused("internal-server-error");
    gate.let_through();
    gate.let_through();
    app.service.drained().await;
    assert_eq!(app.ids("judge", PATH).await.len(), 3);
}

#[tokio::test]
async fn the_drain_waits_for_those_in_line_and_not_for_the_refused() {
    let (app, gate, writes) = full().await;
    let service = app.service.clone();
    let mut drained = Box::pin(async move { service.drained().await });
    for _ in 0..3 {
        let refused = at_once(sent(&app, keyed(&app, "third"))).await;
        refused.refused("internal-server-error");
        assert!(drained.as_mut().now_or_never().is_none());
    }
    gate.let_through();
    gate.arrival().await;
    assert!(drained.as_mut().now_or_never().is_none());
    gate.let_through();
    drained.await;
    for write in writes {
        answer(write.await).await.is(201);
    }
    assert_eq!(app.ids("judge", PATH).await.len(), 3);
}

#[tokio::test]
async fn the_largest_numbers_are_taken() {
    let app = App::with(|builder| {
        builder
            .max_writes_in_flight(u32::MAX)
            .max_writes_in_line(u32::MAX)
    });
    app.judge("judge", "run-1", "k").await;
}

/// How a write of the property below ends.
#[derive(Clone, Copy, Debug)]
enum End {
    Done,
    HungUp,
    Refused,
}

/// What panics while a crowd is let through: nothing, or a method of the store's, before or after
/// the effect.
#[derive(Clone, Copy, Debug)]
enum Panics {
    Nothing,
    Recording,
    KeepingTheAnswer,
}

/// Sends them all while nothing is let through, and sees who is turned away; then lets all
/// through, and tells how many have taken effect.
async fn crowd(app: &App, places: usize, round: usize, panics: Panics, ends: &[End]) -> usize {
    let gate = Gate::closed();
    app.host.faults.set("begin", Trouble::Waits(gate.clone()));
    match panics {
        Panics::Nothing => {}
        Panics::Recording => app.host.faults.set("record", Trouble::Panics),
        Panics::KeepingTheAnswer => app.host.faults.set("complete", Trouble::Panics),
    }
    let mut waiting = Vec::new();
    let mut effects = 0;
    for (n, end) in ends.iter().enumerate() {
        let item = format!("{round}-{n}");
        let run = match end {
            End::Refused => "no-such-run",
            End::Done | End::HungUp => "run-1",
        };
        let body = judgment(run, &item, "");
        let write = sent(
            app,
            app.keyed_request(Method::POST, "judge", PATH, &body, &item),
        );
        if n >= places {
            at_once(write).await.refused("internal-server-error");
            continue;
        }
        let takes_effect = run == "run-1" && !matches!(panics, Panics::Recording);
        effects += usize::from(takes_effect);
        let status = match (end, panics) {
            (End::HungUp, _) => continue,
            (End::Refused, _) => 404,
            (End::Done, Panics::Nothing) => 201,
            (End::Done, _) => 500,
        };
        waiting.push((write, status));
    }
    for _ in ends {
        gate.let_through();
    }
    for (write, status) in waiting {
        assert_eq!(answer(write.await).await.status, status);
    }
    app.service.drained().await;
    app.host.faults.clear();
    effects
}

fn crowds() -> impl Strategy<Value = Vec<(Panics, Vec<End>)>> {
    let panics = prop_oneof![
        Just(Panics::Nothing),
        Just(Panics::Recording),
        Just(Panics::KeepingTheAnswer),
    ];
    let end = prop_oneof![Just(End::Done), Just(End::HungUp), Just(End::Refused)];
    let crowd = (panics, prop::collection::vec(end, 0..12));
    prop::collection::vec(crowd, 1..5)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// However writes end, each crowd finds as many places as the first, and nothing is done for
    /// who is turned away.
    #[test]
    fn places_come_back_however_writes_end(
        in_flight in 1_u32..4,
        in_line in 0_u32..4,
        crowds in crowds(),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let app = App::with(|builder| {
                builder.max_writes_in_flight(in_flight).max_writes_in_line(in_line)
            });
            let places = (in_flight + in_line) as usize;
            let mut effects = 0;
            for (round, (panics, ends)) in crowds.iter().enumerate() {
                effects += crowd(&app, places, round, *panics, ends).await;
                let listed = app.ids("judge", "/v1/judgments?limit=100").await;
                assert_eq!(listed.len(), effects);
            }
        });
    }
}
