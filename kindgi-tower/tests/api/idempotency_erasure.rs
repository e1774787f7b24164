//! What was erased is in no kept answer, nor in one that is kept too late.

use http::Method;
use http_body_util::BodyExt;
use kindgi_core::model::{ParticipantId, TenantId};
use tower::ServiceExt;

use crate::common::{Answer, App, Gate, TENANT, Trouble, finished, id, judgment, queue, raw};

const FULL: &str = r#""pointer":""},"reason":"secret","participantId":"somebody","correction":{"calls":[],"notCalled":["secret-tool"]"#;

async fn judge(app: &App, run: &str) -> Answer {
    let body = judgment(run, "k", FULL);
    app.keyed_post("judge", "/v1/judgments", &body, run).await
}

async fn dismiss(app: &App, run: &str) -> Answer {
    let path = format!("{}/{run}/dismiss", queue("p1"));
    app.keyed_post("admin", &path, r#"{"reason":"secret"}"#, run)
        .await
}

async fn erase_participant(app: &App) {
    let tenant = id::<TenantId>(TENANT);
    let who = id::<ParticipantId>("somebody");
    app.engine.erase_participant(&tenant, &who).await.unwrap();
}

#[tokio::test]
async fn a_retry_after_the_run_was_erased_shows_nothing_of_its_content() {
    let app = App::new();
    app.rule("p1", "n", "").await;
    app.queued("p1", &["a", "b"]).await;
    for run in ["a", "b"] {
        assert!(dismiss(&app, run).await.is(200).body.contains("secret"));
        assert!(judge(&app, run).await.is(201).body.contains("secret"));
    }
    let live = app.ids("judge", "/v1/judgments").await;
    app.erase("a").await;
    for host_knows in [false, true] {
        for (answer, status) in [
            (judge(&app, "a").await, 201),
            (dismiss(&app, "a").await, 200),
        ] {
            let answer = answer.is(status);
            assert!(!answer.body.contains("secret"), "{}", answer.body);
            assert_eq!(answer.text("/runId"), "a");
        }
        if !host_knows {
            let mut erased = finished("a", "p1", "{}");
            erased.erased = true;
            app.run(erased);
        }
    }
    // The other run's are kept.
    for answer in [judge(&app, "b").await, dismiss(&app, "b").await] {
        assert!(answer.is_replay());
        assert!(answer.body.contains("secret"));
    }
    assert_eq!(app.ids("judge", "/v1/judgments").await, live);
}

#[tokio::test]
async fn a_retry_after_the_participant_was_erased_shows_nothing_of_them() {
    let app = App::new();
    let first = judge(&app, "run-1").await.is(201);
    erase_participant(&app).await;
    for _ in 0..2 {
        let retry = judge(&app, "run-1").await.is(201);
        for gone in ["secret", "somebody"] {
            assert!(!retry.body.contains(gone), "{}", retry.body);
        }
        assert_eq!(retry.text("/id"), first.text("/id"));
    }
    assert_eq!(app.ids("judge", "/v1/judgments").await.len(), 1);
}

#[tokio::test]
async fn an_answer_that_would_be_kept_after_the_erasure_is_not() {
    for of_run in [true, false] {
        let app = App::new();
        let gate = Gate::closed();
        app.host
            .faults
            .set("complete", Trouble::Waits(gate.clone()));
        let (service, body) = (app.service.clone(), judgment("run-1", "k", FULL));
        let request = app.keyed_request(Method::POST, "judge", "/v1/judgments", &body, "run-1");
        let first = tokio::spawn(async move { service.oneshot(request).await.unwrap() });
        gate.arrival().await;
        match of_run {
            true => app.erase("run-1").await,
            false => erase_participant(&app).await,
        }
        gate.let_through();
        app.host.faults.clear();
        // It was on its way before.
        let Ok(first) = first.await.unwrap().into_body().collect().await;
        let first = String::from_utf8(first.to_bytes().to_vec()).unwrap();
        assert!(first.contains("secret"), "{first}");
        let retry = judge(&app, "run-1").await.is(201);
        assert!(!retry.body.contains("secret"), "{}", retry.body);
        assert!(first.contains(&retry.text("/id")));
        assert_eq!(app.ids("judge", "/v1/judgments").await.len(), 1);
    }
}

#[tokio::test]
async fn a_run_erased_while_its_judgment_is_under_way_is_erased() {
    let app = App::new();
    let gate = Gate::closed();
    app.host.faults.set("record", Trouble::Waits(gate.clone()));
    let (service, body) = (app.service.clone(), judgment("run-1", "k", FULL));
    let request = app.keyed_request(Method::POST, "judge", "/v1/judgments", &body, "run-1");
    let first = tokio::spawn(async move { service.oneshot(request).await.unwrap() });
    gate.arrival().await;
    app.erase("run-1").await;
    gate.let_through();
    gate.let_through();
    assert_eq!(first.await.unwrap().status(), 410);
    app.host.faults.clear();
    judge(&app, "run-1").await.refused("run-erased");
}

#[tokio::test]
async fn an_erasure_that_could_not_forget_the_answers_says_so_and_can_be_done_again() {
    let app = App::new();
    judge(&app, "run-1").await.is(201);
    app.host.faults.set("forget", Trouble::Fails);
    let (tenant, run) = (id(TENANT), id("run-1"));
    assert!(app.engine.erase_run(&tenant, &run).await.is_err());
    app.host.faults.clear();
    app.erase("run-1").await;
    let retry = judge(&app, "run-1").await.is(201);
    assert!(!retry.body.contains("secret"), "{}", retry.body);
    assert!(raw(&retry.body).members().is_some());
}
