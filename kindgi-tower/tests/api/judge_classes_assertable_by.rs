//! `assertableBy`: its shape, and who sees which principals it names.

use crate::common::{App, agent_scope, class, project_scope};

const TENANT_SCOPE: &str = r#"{"kind":"tenant"}"#;
const CLASSES: &str = "/v1/judge-classes";

#[tokio::test]
async fn at_least_one_part_is_set_and_each_has_its_shape() {
    let app = App::new();
    let ids = |n: usize| {
        let ids: Vec<String> = (0..n).map(|n| format!("\"u{n}\"")).collect();
        format!(r#"{{"principalIds":[{}]}}"#, ids.join(","))
    };
    let id = app.class(TENANT_SCOPE, "kept", "").await;
    for (by, field) in [
        ("{}", ""),
        ("[]", ""),
        ("true", ""),
        (r#"{"minReviewerRole":"boss"}"#, "/minReviewerRole"),
        (r#"{"minReviewerRole":null}"#, "/minReviewerRole"),
        (r#"{"minReviewerRole":"Senior"}"#, "/minReviewerRole"),
        (r#"{"principalKinds":[]}"#, "/principalKinds"),
        (r#"{"principalKinds":"user"}"#, "/principalKinds"),
        (
            r#"{"principalKinds":["user","robot"]}"#,
            "/principalKinds/1",
        ),
        (r#"{"principalIds":[]}"#, "/principalIds"),
        (r#"{"principalIds":["a",""]}"#, "/principalIds/1"),
        (r#"{"principalIds":["a\u0000"]}"#, "/principalIds/0"),
        (&ids(101), "/principalIds"),
    ] {
        let field = format!("/assertableBy{field}");
        let more = format!("\"assertableBy\":{by}");
        app.post("admin", CLASSES, &class(TENANT_SCOPE, "n", &more))
            .await
            .refused_at("bad-input", &field);
        app.patch("admin", &format!("{CLASSES}/{id}"), &format!("{{{more}}}"))
            .await
            .refused_at("bad-input", &field);
    }
    let more = r#""assertableBy":{"principalCount":1}"#;
    app.post("admin", CLASSES, &class(TENANT_SCOPE, "n", more))
        .await
        .refused_at("unknown-field", "/assertableBy/principalCount");
    let most = app
        .class(
            TENANT_SCOPE,
            "most",
            &format!("\"assertableBy\":{}", ids(100)),
        )
        .await;
    let shown = app.get("admin", &format!("{CLASSES}/{most}")).await;
    assert_eq!(shown.shown("/assertableBy/principalCount"), "100");
}

#[tokio::test]
async fn repeated_principals_count_once() {
    let app = App::new();
    let more = r#""assertableBy":{"principalIds":["b","a","b"],"principalKinds":["user","user"]}"#;
    let id = app.class(TENANT_SCOPE, "n", more).await;
    let shown = app.get("admin", &format!("{CLASSES}/{id}")).await;
    let expected = r#"{"principalKinds":["user"],"principalIds":["b","a"],"principalCount":2}"#;
    assert_eq!(shown.shown("/assertableBy"), expected);
}

#[tokio::test]
async fn principal_ids_are_for_an_admin_of_the_scope_and_their_count_for_every_reader() {
    let app = App::new();
    app.user("tenant-admin", "read:* admin");
    app.user("p1-admin", "read:* admin:p1");
    app.user("p2-admin", "read:* admin:p2");
    app.user("plain", "read:* judge:* write:*");
    let more = r#""assertableBy":{"minReviewerRole":"senior","principalIds":["x","y"]}"#;
    let full = r#"{"minReviewerRole":"senior","principalIds":["x","y"],"principalCount":2}"#;
    let short = r#"{"minReviewerRole":"senior","principalCount":2}"#;
    for (scope, admin) in [
        (TENANT_SCOPE, "tenant-admin"),
        (&project_scope("p1"), "p1-admin"),
        (&agent_scope("p1", "a"), "p1-admin"),
        (&project_scope("p2"), "p2-admin"),
    ] {
        let id = app.class(scope, "n", more).await;
        for token in ["tenant-admin", "p1-admin", "p2-admin", "plain"] {
            let expected = if token == admin { full } else { short };
            let one = app.get(token, &format!("{CLASSES}/{id}")).await.is(200);
            assert_eq!(one.shown("/assertableBy"), expected, "{token} {scope}");
            let list = app.get(token, CLASSES).await.is(200);
            assert_eq!(list.text("/data/0/id"), id);
            assert_eq!(
                list.shown("/data/0/assertableBy"),
                expected,
                "{token} {scope}"
            );
        }
    }
    // In one list of all scopes each row is decided by itself.
    let list = app.get("p1-admin", CLASSES).await;
    let shown: Vec<bool> = (0..4)
        .map(|row| {
            list.raw(&format!("/data/{row}/assertableBy/principalIds"))
                .is_some()
        })
        .collect();
    assert_eq!(shown, [false, true, true, false]);
}

#[tokio::test]
async fn a_restriction_by_ids_alone_still_shows_that_there_is_one() {
    let app = App::new();
    let id = app
        .class(
            TENANT_SCOPE,
            "n",
            r#""assertableBy":{"principalIds":["x"]}"#,
        )
        .await;
    let shown = app.get("reader", &format!("{CLASSES}/{id}")).await.is(200);
    assert_eq!(shown.shown("/assertableBy"), r#"{"principalCount":1}"#);
    assert!(!shown.body.contains("\"x\""));
}

#[tokio::test]
async fn who_changes_a_class_is_an_admin_and_sees_the_ids() {
    let app = App::new();
    let id = app
        .class(
            TENANT_SCOPE,
            "n",
            r#""assertableBy":{"principalIds":["x"]}"#,
        )
        .await;
    let answer = app
        .patch("admin", &format!("{CLASSES}/{id}"), r#"{"weight":1}"#)
        .await
        .is(200);
    assert_eq!(answer.shown("/assertableBy/principalIds"), r#"["x"]"#);
}
