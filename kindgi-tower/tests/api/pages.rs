//! Pages: their size, their shape, and full also where most rows are unreadable.

use crate::common::{App, finished};

#[tokio::test]
async fn an_empty_page_has_no_cursor() {
    let app = App::new();
    for path in ["/v1/judgments", "/v1/judge-classes"] {
        let page = app.get("judge", path).await.is(200);
        assert_eq!(page.body, r#"{"data":[],"hasMore":false}"#);
    }
}

#[tokio::test]
async fn a_page_has_25_rows_unless_told_and_at_most_100() {
    let app = App::new();
    for n in 0..101 {
        app.judge("judge", "run-1", &n.to_string()).await;
        app.class(r#"{"kind":"tenant"}"#, &n.to_string(), "").await;
    }
    for root in ["/v1/judgments", "/v1/judge-classes"] {
        for (query, rows) in [("", 25), ("?limit=1", 1), ("?limit=100", 100)] {
            let page = app.get("judge", &format!("{root}{query}")).await.is(200);
            assert_eq!(page.ids().len(), rows);
            assert_eq!(page.shown("/hasMore"), "true");
            assert!(!page.text("/nextCursor").is_empty());
        }
    }
}

#[tokio::test]
async fn there_is_a_next_cursor_exactly_when_there_is_more() {
    let app = App::new();
    for n in 0..3 {
        app.judge("judge", "run-1", &n.to_string()).await;
    }
    for (limit, more) in [(2, true), (3, false), (4, false)] {
        let page = app
            .get("judge", &format!("/v1/judgments?limit={limit}"))
            .await
            .is(200);
        assert_eq!(page.shown("/hasMore"), more.to_string());
        assert_eq!(page.raw("/nextCursor").is_some(), more);
    }
}

#[tokio::test]
async fn the_last_page_is_found_also_when_its_rows_have_gone() {
    let app = App::new();
    let first = app.judge("judge", "run-1", "a").await;
    app.judge("judge", "run-1", "b").await;
    let page = app.get("judge", "/v1/judgments?limit=1").await;
    let next = format!("/v1/judgments?limit=1&cursor={}", page.text("/nextCursor"));
    app.post("admin", &format!("/v1/judgments/{first}/unregister"), "")
        .await
        .is(200);
    assert_eq!(
        app.get("judge", &next).await.body,
        r#"{"data":[],"hasMore":false}"#
    );
}

#[tokio::test]
async fn a_walk_goes_on_after_its_last_row_was_superseded() {
    let app = App::new();
    let oldest = app.judge("judge", "run-1", "a").await;
    app.judge("judge", "run-1", "b").await;
    let page = app.get("judge", "/v1/judgments?limit=1").await;
    app.judge("judge", "run-1", "b").await;
    let next = format!("/v1/judgments?limit=1&cursor={}", page.text("/nextCursor"));
    assert_eq!(app.ids("judge", &next).await, [oldest]);
}

#[tokio::test]
async fn pages_are_full_where_most_rows_are_unreadable() {
    let app = App::new();
    let mut readable = Vec::new();
    for n in 0..60 {
        let (project, run) = if n % 20 == 0 {
            ("p1", "run-1")
        } else {
            ("p2", "run-2")
        };
        let id = app.judge("admin", run, &n.to_string()).await;
        let scope = crate::common::project_scope(project);
        let class = app.class(&scope, &n.to_string(), "").await;
        if project == "p1" {
            readable.insert(0, (id, class));
        }
    }
    for (root, ids) in [
        (
            "/v1/judgments",
            readable
                .iter()
                .map(|(id, _)| id.clone())
                .collect::<Vec<_>>(),
        ),
        (
            "/v1/judge-classes",
            readable.iter().map(|(_, id)| id.clone()).collect(),
        ),
    ] {
        let page = app.get("reader", &format!("{root}?limit=2")).await.is(200);
        assert_eq!(page.ids(), ids[..2]);
        assert_eq!(page.shown("/hasMore"), "true");
        let next = format!("{root}?limit=2&cursor={}", page.text("/nextCursor"));
        let page = app.get("reader", &next).await.is(200);
        assert_eq!(page.ids(), ids[2..]);
        assert_eq!(page.shown("/hasMore"), "false");
    }
}

#[tokio::test]
async fn rows_of_one_millisecond_are_ordered_by_id_descending() {
    let app = App::new();
    let mut ids = Vec::new();
    for n in 0..20 {
        if n == 10 {
            app.clock.advance_millis(1);
        }
        app.run(finished(&format!("r{n}"), "p1", "1"));
        ids.push(app.judge("judge", &format!("r{n}"), "k").await);
    }
    let mut expected = ids.clone();
    expected[..10].sort();
    expected[10..].sort();
    expected.reverse();
    assert_eq!(app.ids("judge", "/v1/judgments").await, expected);
}

#[tokio::test]
async fn newest_first_is_by_time_before_id() {
    let app = App::new();
    let late = app.judge("judge", "run-1", "a").await;
    // A clock set back gives later ids at earlier instants.
    app.clock.advance_millis(-10);
    let early = app.judge("judge", "run-1", "b").await;
    app.clock.advance_millis(5);
    let middle = app.judge("judge", "run-1", "c").await;
    assert_eq!(
        app.ids("judge", "/v1/judgments").await,
        [late, middle, early]
    );
}

#[tokio::test]
async fn times_are_rfc_3339_in_utc_with_milliseconds() {
    let app = App::new();
    app.clock.advance_millis(7);
    let id = app.judge("judge", "run-1", "a").await;
    let kept = app.judgment(&id).await;
    assert_eq!(kept.text("/createdAt"), "2026-01-01T00:00:00.007Z");
    assert_eq!(kept.text("/run/capturedAt"), "2026-01-01T00:00:00.007Z");
    app.clock.advance_millis(-7);
    let id = app.judge("judge", "run-1", "b").await;
    assert_eq!(
        app.judgment(&id).await.text("/createdAt"),
        "2026-01-01T00:00:00.000Z"
    );
}
