//! Cursors: good for one caller's walk through one list with its filters, and nothing else.

use kindgi_core::model::Principal;

use crate::common::{App, TENANT, id};

/// An app with rows on two lists, and the cursor after the first row of a path.
async fn begun(path: &str) -> (App, String) {
    let app = App::new();
    for n in 0..4 {
        app.judge("judge", "run-1", &n.to_string()).await;
        app.class(r#"{"kind":"tenant"}"#, &n.to_string(), "").await;
        app.class(&crate::common::project_scope("p1"), &n.to_string(), "")
            .await;
    }
    let cursor = cursor_of(&app, "judge", path).await;
    (app, cursor)
}

async fn cursor_of(app: &App, token: &str, path: &str) -> String {
    let mark = if path.contains('?') { '&' } else { '?' };
    let page = app
        .get(token, &format!("{path}{mark}limit=1"))
        .await
        .is(200);
    page.text("/nextCursor")
}

async fn is_refused(app: &App, token: &str, path: &str, cursor: &str) {
    let mark = if path.contains('?') { '&' } else { '?' };
    let answer = app
        .get(token, &format!("{path}{mark}cursor={cursor}"))
        .await;
    answer.refused_at("bad-input", "cursor");
}

#[tokio::test]
async fn a_cursor_goes_on_with_any_limit_and_its_filters_in_any_order() {
    let (app, cursor) = begun("/v1/judgments?runId=run-1&verdict=yes").await;
    let whole = app.ids("judge", "/v1/judgments").await;
    for limit in [1, 2, 100] {
        let path = format!("/v1/judgments?limit={limit}&verdict=yes&cursor={cursor}&runId=run%2D1");
        let rows = app.ids("judge", &path).await;
        assert_eq!(rows, whole[1..whole.len().min(limit + 1)]);
    }
}

#[tokio::test]
async fn a_cursor_is_good_again_and_again() {
    let (app, cursor) = begun("/v1/judgments").await;
    let path = format!("/v1/judgments?cursor={cursor}");
    assert_eq!(app.ids("judge", &path).await, app.ids("judge", &path).await);
}

#[tokio::test]
async fn a_cursor_of_another_list_is_refused() {
    let (app, judgments) = begun("/v1/judgments").await;
    is_refused(&app, "judge", "/v1/judge-classes", &judgments).await;
    let classes = cursor_of(&app, "judge", "/v1/judge-classes").await;
    is_refused(&app, "judge", "/v1/judgments", &classes).await;
}

#[tokio::test]
async fn a_cursor_of_other_filters_is_refused() {
    let filters = [
        "",
        "?runId=run-1",
        "?runId=run-2",
        "?verdict=yes",
        "?agentId=acme.matcher",
        "?agentId=acme.matcher&agentVersion=1.2.0",
        "?scopeKind=tenant",
        "?scopeKind=project&scopeId=p1",
        "?runId=run-1&verdict=yes",
    ];
    let (app, _) = begun("/v1/judgments").await;
    for of in filters {
        if of == "?runId=run-2" {
            continue;
        }
        let cursor = cursor_of(&app, "judge", &format!("/v1/judgments{of}")).await;
        for other in filters.iter().filter(|other| **other != of) {
            is_refused(&app, "judge", &format!("/v1/judgments{other}"), &cursor).await;
        }
    }
    let tenant = cursor_of(&app, "judge", "/v1/judge-classes?scopeKind=tenant").await;
    is_refused(&app, "judge", "/v1/judge-classes", &tenant).await;
    is_refused(
        &app,
        "judge",
        "/v1/judge-classes?scopeKind=project&projectId=p1",
        &tenant,
    )
    .await;
}

#[tokio::test]
async fn a_cursor_of_another_caller_is_refused() {
    let (app, cursor) = begun("/v1/judgments").await;
    for other in ["admin", "reader"] {
        is_refused(&app, other, "/v1/judgments", &cursor).await;
    }
    // The same id, but a service; and the same id in another tenant.
    app.person(
        "service",
        Principal::service(id(TENANT), id("judge")),
        "read:p1 judge:p1",
    );
    app.person(
        "elsewhere",
        Principal::user(id("other"), id("judge")),
        "read:p1 judge:p1",
    );
    for other in ["service", "elsewhere"] {
        is_refused(&app, other, "/v1/judgments", &cursor).await;
    }
    // Another token of the same caller is the same caller.
    app.person(
        "judge-2",
        Principal::user(id(TENANT), id("judge")),
        "read:p1 judge:p1",
    );
    app.get("judge-2", &format!("/v1/judgments?cursor={cursor}"))
        .await
        .is(200);
}

#[tokio::test]
async fn every_character_of_a_cursor_counts() {
    let (app, cursor) = begun("/v1/judgments").await;
    let letters = "0123456789abcdefABCDEFgGzZ-_.~";
    for at in 0..cursor.len() {
        let own = &cursor[at..=at];
        for other in letters
            .chars()
            .map(String::from)
            .filter(|other| other != own)
        {
            let mut flipped = cursor.clone();
            flipped.replace_range(at..=at, &other);
            is_refused(&app, "judge", "/v1/judgments", &flipped).await;
        }
    }
}

#[tokio::test]
async fn a_cut_or_padded_cursor_is_refused() {
    let (app, cursor) = begun("/v1/judgments").await;
    for end in 1..cursor.len() {
        is_refused(&app, "judge", "/v1/judgments", &cursor[..end]).await;
        is_refused(&app, "judge", "/v1/judgments", &cursor[end..]).await;
    }
    for padded in [
        format!("{cursor}0"),
        format!("{cursor}00"),
        format!("+{cursor}"),
        format!("{cursor}+"),
        format!("{cursor}%00"),
        cursor.to_uppercase(),
        cursor.repeat(2),
    ] {
        is_refused(&app, "judge", "/v1/judgments", &padded).await;
    }
}

#[tokio::test]
async fn what_was_never_a_cursor_is_refused() {
    let app = App::new();
    for never in [
        "0",
        "00",
        "none",
        "%00",
        "%20",
        "é",
        "null",
        "1",
        "-1",
        &"a".repeat(1 << 14),
        &"0".repeat(66),
    ] {
        for path in ["/v1/judgments", "/v1/judge-classes"] {
            is_refused(&app, "judge", path, never).await;
        }
    }
    // Also from who may read nothing, and so has only empty pages.
    app.user("blind", "");
    is_refused(&app, "blind", "/v1/judgments", "00").await;
}
