//! Changing judge classes: weight, description, `assertableBy`, and nothing else.

use crate::common::App;

const TENANT_SCOPE: &str = r#"{"kind":"tenant"}"#;

/// A class with everything, and its path.
async fn begun() -> (App, String) {
    let app = App::new();
    let more = r#""description":"d","assertableBy":{"principalKinds":["user"]}"#;
    let id = app.class(TENANT_SCOPE, "n", more).await;
    app.clock.advance_millis(1000);
    (app, format!("/v1/judge-classes/{id}"))
}

#[tokio::test]
async fn only_what_is_given_changes() {
    let (app, path) = begun().await;
    let mut expected = app.get("admin", &path).await.body;
    for (change, from, to) in [
        (r#"{"weight":0.5}"#, r#""weight":2"#, r#""weight":0.5"#),
        (
            r#"{"description":"e"}"#,
            r#""description":"d""#,
            r#""description":"e""#,
        ),
        (
            r#"{"assertableBy":{"minReviewerRole":"senior"}}"#,
            r#"{"principalKinds":["user"]}"#,
            r#"{"minReviewerRole":"senior"}"#,
        ),
        (
            r#"{"assertableBy":null}"#,
            r#""assertableBy":{"minReviewerRole":"senior"},"#,
            "",
        ),
    ] {
        let answer = app.patch("admin", &path, change).await.is(200);
        let changed = expected.replace(from, to);
        assert_ne!(changed, expected);
        expected = changed.replace(
            r#""updatedAt":"2026-01-01T00:00:00.000Z""#,
            r#""updatedAt":"2026-01-01T00:00:01.000Z""#,
        );
        assert_eq!(answer.body, expected);
        assert_eq!(app.get("admin", &path).await.body, expected);
    }
    let all = r#"{"assertableBy":{"principalIds":["x"]},"description":"","weight":7}"#;
    let answer = app.patch("admin", &path, all).await.is(200);
    assert_eq!(answer.shown("/weight"), "7");
    assert_eq!(answer.text("/description"), "");
    assert_eq!(answer.shown("/assertableBy/principalIds"), r#"["x"]"#);
}

#[tokio::test]
async fn nothing_to_change_is_bad_input() {
    let (app, path) = begun().await;
    app.patch("admin", &path, "{}")
        .await
        .refused_at("bad-input", "");
    app.patch("admin", &path, "")
        .await
        .refused_at("bad-input", "");
}

#[tokio::test]
async fn null_lifts_the_restriction_and_is_nothing_else() {
    let (app, path) = begun().await;
    app.patch("admin", &path, r#"{"weight":null}"#)
        .await
        .refused_at("bad-input", "/weight");
    app.patch("admin", &path, r#"{"description":null}"#)
        .await
        .refused_at("bad-input", "/description");
    let answer = app
        .patch("admin", &path, r#"{"assertableBy":null}"#)
        .await
        .is(200);
    assert_eq!(answer.raw("/assertableBy"), None);
    // Lifting none is fine.
    app.patch("admin", &path, r#"{"assertableBy":null}"#)
        .await
        .is(200);
}

#[tokio::test]
async fn name_and_scope_cant_be_changed() {
    let (app, path) = begun().await;
    for field in ["name", "scope", "id", "unregisteredAt"] {
        let answer = app
            .patch("admin", &path, &format!(r#"{{"weight":1,"{field}":1}}"#))
            .await;
        answer.refused_at("unknown-field", &format!("/{field}"));
    }
    assert_eq!(app.get("admin", &path).await.shown("/weight"), "2");
}

#[tokio::test]
async fn what_changes_nothing_leaves_its_time() {
    let (app, path) = begun().await;
    let before = app.get("admin", &path).await.body;
    let answer = app
        .patch("admin", &path, r#"{"weight":2.0,"description":"d"}"#)
        .await
        .is(200);
    assert_eq!(answer.body, before);
}

#[tokio::test]
async fn a_change_is_never_before_the_last_one() {
    let (app, path) = begun().await;
    app.patch("admin", &path, r#"{"weight":3}"#).await.is(200);
    app.clock.advance_millis(-5000);
    let answer = app.patch("admin", &path, r#"{"weight":4}"#).await.is(200);
    assert_eq!(answer.text("/updatedAt"), "2026-01-01T00:00:01.000Z");
}
