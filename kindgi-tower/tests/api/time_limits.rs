//! A host or a store that never answers holds nobody for ever.

use std::time::Duration;

use http::Method;

use crate::common::{App, Gate, Trouble, judgment, queue, rules};

fn app() -> App {
    App::with(|builder| {
        builder
            .time_limit(Duration::from_secs(5))
            .max_writes_in_flight(1)
    })
}

#[tokio::test(start_paused = true)]
async fn a_read_without_an_answer_is_busy() {
    let app = app();
    for at in ["judgments", "readable_projects"] {
        app.host.faults.set(at, Trouble::Waits(Gate::closed()));
        let before = tokio::time::Instant::now();
        app.get("judge", "/v1/judgments")
            .await
            .refused("database-busy");
        assert_eq!(before.elapsed(), Duration::from_secs(5), "{at}");
        app.host.faults.clear();
    }
    app.get("judge", "/v1/judgments").await.is(200);
}

#[tokio::test(start_paused = true)]
async fn a_preview_of_a_host_that_cant_say_its_runs_is_busy() {
    let app = app();
    let path = format!("{}/preview", rules("p1"));
    app.host
        .faults
        .set("last_ended", Trouble::Waits(Gate::closed()));
    app.get("judge", &path).await.refused("database-busy");
    app.host.faults.clear();
    app.get("judge", &path).await.is(200);
}

#[tokio::test(start_paused = true)]
async fn a_dismissal_without_an_answer_is_a_server_error_and_gives_its_turn_back() {
    let app = app();
    app.rule("p1", "n", "").await;
    app.queued("p1", &["r"]).await;
    app.host
        .faults
        .set("dismiss", Trouble::Waits(Gate::closed()));
    let path = format!("{}/r/dismiss", queue("p1"));
    let answer = app.post("admin", &path, "").await;
    answer.refused("internal-server-error");
    app.service.drained().await;
    app.host.faults.clear();
    app.post("admin", &path, "").await.is(200);
}

#[tokio::test(start_paused = true)]
async fn a_write_without_an_answer_is_a_server_error_and_gives_its_turn_back() {
    let app = app();
    for at in ["run", "allows", "capture"] {
        app.host.faults.set(at, Trouble::Waits(Gate::closed()));
        app.record("judge", &judgment("run-1", "k", ""))
            .await
            .refused("internal-server-error");
        app.service.drained().await;
        app.host.faults.clear();
    }
    assert_eq!(app.ids("judge", "/v1/judgments").await, [""; 0]);
    app.judge("judge", "run-1", "k").await;
}

#[tokio::test(start_paused = true)]
async fn a_token_that_nobody_resolves_is_no_401() {
    let app = app();
    app.host
        .faults
        .set("authenticate", Trouble::Waits(Gate::closed()));
    app.get("judge", "/v1/judgments")
        .await
        .refused("database-busy");
    let request = app.request(
        Method::POST,
        "judge",
        "/v1/judgments",
        judgment("run-1", "k", ""),
    );
    app.send(request).await.refused("internal-server-error");
}
