//! What changes between a decision and its writing is caught: the decision is made again.

use std::{
    future::{Future, poll_fn},
    pin::{Pin, pin},
    task::Poll,
};

use crate::common::{Answer, App, Gate, OUTPUT, Trouble, finished, judgment};

const TENANT_SCOPE: &str = r#"{"kind":"tenant"}"#;

/// The answer to a request during which something else happens, while the request waits at a
/// method of the store's or the host's.
async fn meanwhile(
    app: &App,
    at: &'static str,
    request: impl Future<Output = Answer>,
    happens: impl Future,
) -> Answer {
    let gate = Gate::closed();
    app.host.faults.set(at, Trouble::Waits(gate.clone()));
    let mut request = pin!(request);
    assert!(is_pending(request.as_mut()).await);
    gate.arrival().await;
    app.host.faults.clear();
    happens.await;
    gate.let_through();
    request.await
}

async fn is_pending<F: Future>(mut future: Pin<&mut F>) -> bool {
    poll_fn(|cx| Poll::Ready(future.as_mut().poll(cx).is_pending())).await
}

/// An app with a class and a kept copy of `run-1`, and the body of a judgment under the class.
async fn begun() -> (App, String, String) {
    let app = App::new();
    let class = app.class(TENANT_SCOPE, "n", "").await;
    app.judge("admin", "run-1", "k").await;
    let body =
        judgment("run-1", "k", "").replacen('{', &format!(r#"{{"judgeClassId":"{class}","#), 1);
    (app, class, body)
}

#[tokio::test]
async fn a_class_retired_in_between_is_not_applicable() {
    let (app, class, body) = begun().await;
    let retire = format!("/v1/judge-classes/{class}/unregister");
    let retire = app.post("admin", &retire, "");
    let answer = meanwhile(&app, "record", app.record("judge", &body), retire).await;
    answer.refused("judge-class-not-applicable");
    assert_eq!(app.ids("judge", "/v1/judgments").await.len(), 1);
}

#[tokio::test]
async fn a_class_restricted_in_between_is_checked() {
    for (by, code) in [("admin", Some("judge-class-not-allowed")), ("judge", None)] {
        let (app, class, body) = begun().await;
        let path = format!("/v1/judge-classes/{class}");
        let restriction = format!(r#"{{"assertableBy":{{"principalIds":["{by}"]}}}}"#);
        let restrict = app.patch("admin", &path, &restriction);
        let answer = meanwhile(&app, "record", app.record("judge", &body), restrict).await;
        match code {
            Some(code) => drop(answer.refused(code)),
            None => assert_eq!(answer.is(201).shown("/restricted"), "true"),
        }
    }
}

#[tokio::test]
async fn a_run_erased_in_between_is_410_and_nothing_of_it_is_kept() {
    let (app, _, body) = begun().await;
    let answer = meanwhile(
        &app,
        "record",
        app.record("judge", &body),
        app.erase("run-1"),
    )
    .await;
    answer.refused("run-erased");
    // Also where its copy was on the way.
    app.run(finished("new", "p1", OUTPUT));
    let body = judgment("new", "k", "");
    let answer = meanwhile(
        &app,
        "capture",
        app.record("judge", &body),
        app.erase("new"),
    )
    .await;
    answer.refused("run-erased");
    assert_eq!(app.ids("judge", "/v1/judgments?runId=new").await, [""; 0]);
}

#[tokio::test]
async fn of_two_first_judgments_at_once_one_copy_is_kept() {
    let app = App::new();
    app.host.context(Some(r#"{"retrieved":"late"}"#));
    let early = async {
        app.host.context(Some(r#"{"retrieved":"early"}"#));
        let id = app.judge("admin", "run-1", "k").await;
        app.host.context(Some(r#"{"retrieved":"late"}"#));
        app.clock.advance_millis(1);
        assert_eq!(
            app.judgment(&id).await.shown("/run/context"),
            r#"{"retrieved":"early"}"#
        );
    };
    let body = judgment("run-1", "k", "");
    let late = meanwhile(&app, "capture", app.record("judge", &body), early)
        .await
        .is(201);
    assert_eq!(app.host.faults.calls("capture"), 2);
    let kept = app.judgment(&late.text("/id")).await;
    assert_eq!(kept.shown("/run/context"), r#"{"retrieved":"early"}"#);
    assert_eq!(kept.text("/run/capturedAt"), "2026-01-01T00:00:00.000Z");
}

#[tokio::test]
async fn two_changes_of_a_class_at_once_are_both_made() {
    let (app, class, _) = begun().await;
    let path = format!("/v1/judge-classes/{class}");
    let describe = app.patch("admin", &path, r#"{"description":"d"}"#);
    let weigh = app.patch("admin", &path, r#"{"weight":9}"#);
    let answer = meanwhile(&app, "replace_class", weigh, describe)
        .await
        .is(200);
    assert_eq!(answer.shown("/weight"), "9");
    assert_eq!(answer.text("/description"), "d");
    assert_eq!(app.get("admin", &path).await.body, answer.body);
}

#[tokio::test]
async fn a_class_retired_while_it_is_changed_stays_as_it_was() {
    let (app, class, _) = begun().await;
    let path = format!("/v1/judge-classes/{class}");
    let retire_path = format!("{path}/unregister");
    let retire = app.post("admin", &retire_path, "");
    let weigh = app.patch("admin", &path, r#"{"weight":9}"#);
    meanwhile(&app, "replace_class", weigh, retire)
        .await
        .refused("judge-class-not-found");
    assert_eq!(app.get("admin", &path).await.shown("/weight"), "2");
}

#[tokio::test]
async fn a_judgment_removed_twice_at_once_is_removed_once() {
    let (app, ..) = begun().await;
    let id = app.judge("judge", "run-1", "k").await;
    let path = format!("/v1/judgments/{id}/unregister");
    let first = async { drop(app.post("admin", &path, "").await.is(200)) };
    let second = app.post("admin", &path, "");
    meanwhile(&app, "remove", second, first)
        .await
        .refused("judgment-not-found");
}

#[tokio::test]
async fn a_judgment_superseded_while_it_is_removed_leaves_its_successor() {
    let (app, ..) = begun().await;
    let old = app.judge("judge", "run-1", "k").await;
    let path = format!("/v1/judgments/{old}/unregister");
    let supersede = app.judge("judge", "run-1", "k");
    let remove = app.post("admin", &path, "");
    meanwhile(&app, "remove", remove, supersede)
        .await
        .refused("judgment-not-found");
    let live = app.ids("judge", "/v1/judgments").await;
    assert_eq!(app.judgment(&old).await.text("/supersededBy"), live[0]);
}
