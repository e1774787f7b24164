//! Dismissing and reopening: from one state alone, by who may write, with a reason or none.

use crate::common::{App, queue, quoted};

/// An app with a rule, and these runs queued.
async fn with(runs: &[&str]) -> App {
    let app = App::new();
    app.user("wendy", "read:p1 write:p1");
    app.rule("p1", "n", "").await;
    app.queued("p1", runs).await;
    app
}

#[tokio::test]
async fn dismissing_says_when_by_whom_and_why() {
    let app = with(&["r"]).await;
    let before = app.item("p1", "r", "").await;
    app.clock.advance_millis(1500);
    let item = app
        .moved("wendy", "r", "dismiss", r#"{"reason":"not useful ✓"}"#)
        .await
        .is(200);
    let expected = before.replace(
        r#""state":"open","#,
        r#""state":"dismissed","closedAt":"2026-01-01T00:00:01.500Z","closedBy":"user:wendy","reason":"not useful ✓","#,
    );
    assert_eq!(item.body, expected);
    assert_eq!(app.item("p1", "r", "").await, item.body);
}

#[tokio::test]
async fn reopening_clears_the_time_and_the_reason_and_says_by_whom() {
    let app = with(&["r"]).await;
    let before = app.item("p1", "r", "").await;
    let reason = r#"{"reason":"not useful"}"#;
    app.moved("admin", "r", "dismiss", reason).await.is(200);
    let item = app.moved("wendy", "r", "reopen", "{}").await.is(200);
    let expected = before.replace(
        r#""state":"open","#,
        r#""state":"open","closedBy":"user:wendy","#,
    );
    assert_eq!(item.body, expected);
    assert_eq!(app.item("p1", "r", "").await, item.body);
    // And again, as often as anyone likes.
    let item = app.moved("admin", "r", "dismiss", "").await.is(200);
    assert_eq!(item.raw("/reason"), None);
    assert_eq!(item.text("/closedBy"), "user:admin");
}

#[tokio::test]
async fn a_service_is_named_as_one() {
    let app = with(&["r"]).await;
    let bot = kindgi_core::model::Principal::service(
        crate::common::id(crate::common::TENANT),
        crate::common::id("bot-1"),
    );
    app.person("bot", bot, "read:p1 write:p1");
    let item = app.moved("bot", "r", "dismiss", "").await.is(200);
    assert_eq!(item.text("/closedBy"), "service_account:bot-1");
}

#[tokio::test]
async fn only_an_open_item_can_be_dismissed_and_only_a_dismissed_one_reopened() {
    let app = with(&["open", "judged", "dismissed", "erased"]).await;
    app.judge("judge", "judged", "k").await;
    app.moved("admin", "dismissed", "dismiss", r#"{"reason":"first"}"#)
        .await
        .is(200);
    app.erase("erased").await;
    for (how, runs) in [
        ("dismiss", &["judged", "dismissed", "erased"]),
        ("reopen", &["open", "judged", "erased"]),
    ] {
        for run in runs {
            let before = app.item("p1", run, "").await;
            let answer = app.moved("admin", run, how, "").await;
            let answer = answer.refused("judging-item-not-open");
            assert_eq!(answer.field(), None);
            assert_eq!(app.item("p1", run, "").await, before, "{how} {run}");
        }
    }
    assert_eq!(app.item("p1", "dismissed", "/reason").await, r#""first""#);
}

#[tokio::test]
async fn one_that_was_dismissed_and_then_erased_is_neither_dismissed_nor_reopened() {
    let app = with(&["r"]).await;
    app.moved("admin", "r", "dismiss", r#"{"reason":"words"}"#)
        .await
        .is(200);
    app.erase("r").await;
    for how in ["dismiss", "reopen"] {
        let answer = app.moved("admin", "r", how, "").await;
        answer.refused("judging-item-not-open");
    }
}

#[tokio::test]
async fn a_reopened_item_that_has_what_it_wants_by_now_is_judged_at_once() {
    let app = with(&["r"]).await;
    app.moved("admin", "r", "dismiss", "").await.is(200);
    app.clock.advance_millis(10);
    let judged = app.judge("judge", "r", "k").await;
    assert_eq!(app.state("p1", "r").await, "dismissed");
    assert_eq!(app.item("p1", "r", "/progress/total").await, "1");
    app.clock.advance_millis(10);
    let item = app.moved("wendy", "r", "reopen", "").await.is(200);
    assert_eq!(item.text("/state"), "judged");
    assert_eq!(item.text("/closedAt"), "2026-01-01T00:00:00.010Z");
    assert_eq!(item.text("/closedBy"), "user:wendy");
    let answer = app.moved("wendy", "r", "reopen", "").await;
    answer.refused("judging-item-not-open");
    let path = format!("/v1/judgments/{judged}/unregister");
    app.post("admin", &path, "").await.is(200);
    assert_eq!(app.state("p1", "r").await, "open");
}

#[tokio::test]
async fn a_reason_has_at_most_500_code_points_and_an_empty_one_is_none() {
    let longest = "é🔥".repeat(250);
    for (reason, kept) in [
        ("", "nothing"),
        (" ", r#"" ""#),
        (longest.as_str(), &quoted(&longest)),
        ("a\u{1}\n\"\\", &quoted("a\u{1}\n\"\\")),
    ] {
        let app = with(&["r"]).await;
        let body = format!(r#"{{"reason":{}}}"#, quoted(reason));
        let item = app.moved("admin", "r", "dismiss", &body).await.is(200);
        assert_eq!(item.shown("/reason"), kept);
        assert_eq!(item.text("/state"), "dismissed");
        assert_eq!(app.item("p1", "r", "/reason").await, kept);
    }
}

#[tokio::test]
async fn a_wrong_body_moves_nothing_and_says_where_it_is_wrong() {
    let app = with(&["open", "dismissed"]).await;
    app.moved("admin", "dismissed", "dismiss", "").await.is(200);
    let long = format!(r#"{{"reason":"{}"}}"#, "x".repeat(501));
    let shapeless = [
        "[]",
        "null",
        "\"\"",
        "{",
        "x",
        " ",
        "{} {}",
        "\u{feff}{}",
        "{\"reason\":}",
    ];
    for body in shapeless {
        for (run, how) in [("open", "dismiss"), ("dismissed", "reopen")] {
            let answer = app.moved("admin", run, how, body).await;
            answer.refused_at("bad-input", "");
        }
    }
    for (body, code, field) in [
        (long.as_str(), "bad-input", "/reason"),
        (r#"{"reason":null}"#, "bad-input", "/reason"),
        (r#"{"reason":1}"#, "bad-input", "/reason"),
        (r#"{"reason":["x"]}"#, "bad-input", "/reason"),
        (r#"{"reason":"a\u0000"}"#, "bad-input", "/reason"),
        (r#"{"reason":"\ud800"}"#, "bad-input", "/reason"),
        (r#"{"reason":"a","reason":"b"}"#, "bad-input", "/reason"),
        (r#"{"Reason":"a"}"#, "unknown-field", "/Reason"),
        (r#"{"reason":1,"x":2}"#, "unknown-field", "/x"),
    ] {
        let answer = app.moved("admin", "open", "dismiss", body).await;
        answer.refused_at(code, field);
    }
    // Reopening takes no reason.
    let answer = app
        .moved("admin", "dismissed", "reopen", r#"{"reason":"x"}"#)
        .await;
    answer.refused_at("unknown-field", "/reason");
    for (run, how) in [("open", "dismiss"), ("dismissed", "reopen")] {
        let answer = app
            .moved("admin", run, &format!("{how}?reason=x"), "")
            .await;
        answer.refused_at("bad-input", "reason");
    }
    assert_eq!(app.state("p1", "open").await, "open");
    assert_eq!(app.state("p1", "dismissed").await, "dismissed");
}

#[tokio::test]
async fn bytes_that_are_no_text_dismiss_nothing() {
    let app = with(&["r"]).await;
    let path = format!("{}/r/dismiss", queue("p1"));
    for body in [
        &b"{\"reason\":\"\xff\"}"[..],
        b"\xff\xfe{\0}\0",
        b"\0",
        b"{\"reason\":\"a\0\"}",
    ] {
        let body = bytes::Bytes::copy_from_slice(body);
        let request = app.request(http::Method::POST, "admin", &path, body);
        app.send(request).await.refused_at("bad-input", "");
    }
    let mut request = app.request(http::Method::POST, "admin", &path, "{}");
    let text = http::HeaderValue::from_static("text/plain");
    request.headers_mut().insert("content-type", text);
    app.send(request).await.refused("unsupported-media-type");
    assert_eq!(app.state("p1", "r").await, "open");
}

#[tokio::test]
async fn the_project_comes_first_then_the_item_the_permission_and_the_state() {
    let app = with(&["open", "judged"]).await;
    app.judge("judge", "judged", "k").await;
    app.user("blind", "write:p1 write:p2 judge:p1");
    for how in ["dismiss", "reopen"] {
        for run in ["open", "judged", "none"] {
            let path = format!("{}/{run}/{how}", queue("p1"));
            let expected = match run {
                "none" => "judging-item-not-found",
                _ => "permission-denied",
            };
            for token in ["reader", "judge"] {
                app.post(token, &path, "").await.refused(expected);
            }
            let answer = app.post("blind", &path, "").await;
            answer.refused("project-not-found");
            for project in ["p2", "x"] {
                let path = format!("{}/{run}/{how}", queue(project));
                let answer = app.post("wendy", &path, "").await;
                answer.refused("project-not-found");
            }
            // The run is in another project's queue.
            let path = format!("{}/{run}/{how}", queue("p3"));
            let answer = app.post("admin", &path, "").await;
            answer.refused("judging-item-not-found");
        }
    }
    // The body's shape comes before all of it.
    let path = format!("{}/none/dismiss", queue("x"));
    let answer = app.post("reader", &path, r#"{"reason":0}"#).await;
    answer.refused_at("bad-input", "/reason");
    assert_eq!(app.state("p1", "open").await, "open");
}

#[tokio::test]
async fn a_run_that_ended_and_was_not_queued_has_no_item() {
    let app = with(&["queued"]).await;
    let mut dry = app.ended("dry", "p1");
    dry.dry_run = true;
    app.end(dry).await;
    for how in ["dismiss", "reopen"] {
        for run in ["dry", "run-1", "Queued", "queued%20"] {
            let answer = app.moved("admin", run, how, "").await;
            answer.refused("judging-item-not-found");
        }
    }
}

#[tokio::test]
async fn of_many_who_dismiss_at_once_one_does_it() {
    let app = std::sync::Arc::new(with(&["r"]).await);
    let moves = (0..16).map(|n| {
        let app = std::sync::Arc::clone(&app);
        let token = format!("wendy-{n}");
        app.user(&token, "read:p1 write:p1");
        let body = format!(r#"{{"reason":"{token}"}}"#);
        tokio::spawn(async move { app.moved(&token, "r", "dismiss", &body).await })
    });
    let mut done = Vec::new();
    for each in moves.collect::<Vec<_>>() {
        let answer = each.await.unwrap();
        match answer.status.as_u16() {
            200 => done.push(answer.body),
            _ => drop(answer.refused("judging-item-not-open")),
        }
    }
    assert_eq!(done, [app.item("p1", "r", "").await]);
}
