//! Items follow the judgments of their runs, and erasure.

use kindgi_core::engine::Told;

use crate::common::{App, queue};

/// An app with a rule for a class and one for any judgment, and a run that both took.
async fn with_two_wants() -> (App, String) {
    let app = App::new();
    let class = app.class(r#"{"kind":"tenant"}"#, "n", "").await;
    app.rule("p1", "n", &format!(r#""judgeClassId":"{class}""#))
        .await;
    app.rule("p1", "n", "").await;
    app.queued("p1", &["r"]).await;
    (app, class)
}

#[tokio::test]
async fn an_item_is_judged_once_every_rule_has_what_it_wants() {
    let (app, class) = with_two_wants().await;
    app.clock.advance_millis(1);
    app.judge("judge", "r", "k").await;
    assert_eq!(app.state("p1", "r").await, "open");
    app.clock.advance_millis(1);
    app.judge_under("admin", "r", &class).await;
    assert_eq!(app.state("p1", "r").await, "judged");
    let closed = app.item("p1", "r", "/closedAt").await;
    assert_eq!(closed, r#""2026-01-01T00:00:00.002Z""#);
    // Nobody moved it by hand.
    assert_eq!(app.item("p1", "r", "/closedBy").await, "nothing");
    // A further one changes nothing of that.
    app.clock.advance_millis(1);
    app.user("kim", "read:p1 judge:p1");
    app.judge("kim", "r", "k").await;
    assert_eq!(app.item("p1", "r", "/closedAt").await, closed);
}

#[tokio::test]
async fn removing_or_replacing_the_wanted_judgment_opens_the_item_again() {
    let (app, class) = with_two_wants().await;
    app.judge("judge", "r", "k").await;
    let wanted = app.judge_under("admin", "r", &class).await;
    let unregister = format!("/v1/judgments/{wanted}/unregister");
    app.post("admin", &unregister, "").await.is(200);
    assert_eq!(app.state("p1", "r").await, "open");
    assert_eq!(app.item("p1", "r", "/closedAt").await, "nothing");
    app.judge_under("admin", "r", &class).await;
    assert_eq!(app.state("p1", "r").await, "judged");
    // Superseded by one that isn't of the class.
    app.judge("admin", "r", "k").await;
    assert_eq!(app.state("p1", "r").await, "open");
}

#[tokio::test]
async fn progress_counts_live_judgments_by_class_unclassified_first() {
    let (app, class) = with_two_wants().await;
    let other = app.class(r#"{"kind":"tenant"}"#, "other", "").await;
    for (token, class) in [("a", &class), ("b", &other), ("c", &other)] {
        app.user(token, "read:p1 judge:p1");
        app.judge_under(token, "r", class).await;
    }
    let removed = app.judge("admin", "r", "k").await;
    app.judge("judge", "r", "k").await;
    app.judge("judge", "r", "k").await;
    let unregister = format!("/v1/judgments/{removed}/unregister");
    app.post("admin", &unregister, "").await.is(200);
    let mut by_class = [(&class, 1), (&other, 2)];
    by_class.sort();
    let [(first, of_first), (second, of_second)] = by_class;
    assert_eq!(
        app.item("p1", "r", "/progress").await,
        format!(
            r#"{{"total":4,"byClass":[{{"judgeClassId":null,"count":1}},{{"judgeClassId":"{first}","count":{of_first}}},{{"judgeClassId":"{second}","count":{of_second}}}]}}"#
        )
    );
}

#[tokio::test]
async fn a_run_judged_before_it_was_queued_is_judged_from_the_start() {
    let app = App::new();
    app.rule("p1", "n", "").await;
    let run = app.ended("run-1", "p1");
    app.judge("judge", "run-1", "k").await;
    app.clock.advance_millis(9);
    app.end(run).await;
    assert_eq!(app.state("p1", "run-1").await, "judged");
    let closed = app.item("p1", "run-1", "/closedAt").await;
    assert_eq!(closed, r#""2026-01-01T00:00:00.000Z""#);
}

#[tokio::test]
async fn an_erased_item_keeps_what_is_required_and_nothing_of_the_run() {
    for (state, closed_by) in [
        ("open", ""),
        ("judged", ""),
        ("dismissed", r#""closedBy":"user:admin","#),
    ] {
        let (app, class) = with_two_wants().await;
        app.clock.advance_millis(1);
        match state {
            "judged" => drop(app.judge_under("admin", "r", &class).await),
            "dismissed" => {
                let words = r#"{"reason":"words"}"#;
                drop(app.moved("admin", "r", "dismiss", words).await.is(200));
            }
            _ => {}
        }
        assert_eq!(app.state("p1", "r").await, state);
        let rules = app.item("p1", "r", "/rules").await;
        app.clock.advance_millis(1);
        app.erase("r").await;
        // One that was closed keeps that time.
        let closed = if state == "open" { 2 } else { 1 };
        assert_eq!(
            app.item("p1", "r", "").await,
            format!(
                r#"{{"runId":"r","projectId":"p1","flowId":"agent.turn","runStatus":"completed","completedAt":"2026-01-01T00:00:00.000Z","rules":{rules},"wantedClassIds":["{class}"],"anyJudgment":true,"progress":{{"total":0,"byClass":[]}},"addedAt":"2026-01-01T00:00:00.000Z","state":"erased","closedAt":"2026-01-01T00:00:00.00{closed}Z",{closed_by}"can":{{"dismiss":true,"reopen":true}}}}"#
            )
        );
        // Removing its judgment doesn't open it again.
        let judgments = app.ids("admin", "/v1/judgments?runId=r").await;
        for id in judgments {
            let path = format!("/v1/judgments/{id}/unregister");
            app.post("admin", &path, "").await.is(200);
        }
        assert_eq!(app.state("p1", "r").await, "erased");
        let path = format!("{}?agentId=acme.matcher", queue("p1"));
        assert_eq!(app.get("admin", &path).await.shown("/total"), "0");
    }
}

#[tokio::test]
async fn a_run_told_twice_or_after_its_erasure_is_not_queued_again() {
    let app = App::new();
    app.rule("p1", "n", "").await;
    app.queued("p1", &["r"]).await;
    app.moved("admin", "r", "dismiss", "").await.is(200);
    let before = app.get("admin", &queue("p1")).await.body;
    app.rule("p1", "later", "").await;
    assert_eq!(app.end(app.ended("r", "p1")).await, Told::Known);
    assert_eq!(app.get("admin", &queue("p1")).await.body, before);
    app.erase("gone").await;
    assert_eq!(app.end(app.ended("gone", "p1")).await, Told::Erased);
    assert_eq!(app.get("admin", &queue("p1")).await.body, before);
}

#[tokio::test]
async fn a_cap_skips_runs_until_an_item_is_closed_and_reopening_may_exceed_it() {
    let app = App::new();
    app.rule("p1", "n", r#""maxOpen":2"#).await;
    app.queued("p1", &["a", "b"]).await;
    assert_eq!(app.end(app.ended("c", "p1")).await, Told::Skipped);
    app.moved("admin", "a", "dismiss", "").await.is(200);
    app.queued("p1", &["d"]).await;
    app.moved("admin", "a", "reopen", "").await.is(200);
    let open = format!("{}?state=open&limit=0", queue("p1"));
    assert_eq!(app.get("reader", &open).await.shown("/total"), "3");
    assert_eq!(app.end(app.ended("e", "p1")).await, Told::Skipped);
    app.judge("judge", "a", "k").await;
    assert_eq!(app.end(app.ended("f", "p1")).await, Told::Skipped);
    app.judge("judge", "b", "k").await;
    app.queued("p1", &["g"]).await;
}
