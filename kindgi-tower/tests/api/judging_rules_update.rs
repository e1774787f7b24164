//! Changing judging rules: a new version with what is given, or none where nothing changes.

use kindgi_core::model::Principal;

use crate::common::{Answer, App, TENANT, id, project_scope, rules};

/// A rule with everything, and its path, a second later.
async fn begun() -> (App, String) {
    let app = App::new();
    let class = app.class(&project_scope("p1"), "c", "").await;
    let body = format!(
        r#"{{"name":"n","when":{{"agentIds":["a"],"includeDryRuns":true}},"sample":0.5,"maxOpen":5,"judgeClassId":"{class}","enabled":true}}"#
    );
    let made = app.post("admin", &rules("p1"), &body).await.is(201);
    app.clock.advance_millis(1000);
    let path = format!("{}/{}", rules("p1"), made.text("/ruleId"));
    (app, path)
}

async fn versions(app: &App, path: &str) -> Answer {
    let path = format!("{path}/versions?limit=100");
    app.get("admin", &path).await.is(200)
}

#[tokio::test]
async fn only_what_is_given_changes_and_every_change_is_a_version() {
    let (app, path) = begun().await;
    let class = app.get("admin", &path).await.text("/judgeClassId");
    let mut expected = app
        .get("admin", &path)
        .await
        .body
        .replace("2026-01-01T00:00:00.000Z", "2026-01-01T00:00:01.000Z");
    let other = app.class(r#"{"kind":"tenant"}"#, "d", "").await;
    let named_class = format!(r#"{{"judgeClassId":"{other}"}}"#);
    let (of_class, of_other) = (
        format!(r#""judgeClassId":"{class}","#),
        format!(r#""judgeClassId":"{other}","#),
    );
    let changes = [
        (r#"{"name":"m"}"#, r#""name":"n""#, r#""name":"m""#),
        (
            // The whole of it: what it doesn't say is said no more.
            r#"{"when":{"flowIds":["f"]}}"#,
            r#""when":{"agentIds":["a"],"includeDryRuns":true}"#,
            r#""when":{"flowIds":["f"]}"#,
        ),
        (r#"{"sample":0.25}"#, r#""sample":0.5"#, r#""sample":0.25"#),
        (r#"{"maxOpen":7}"#, r#""maxOpen":5"#, r#""maxOpen":7"#),
        (r#"{"maxOpen":null}"#, r#""maxOpen":7,"#, ""),
        (named_class.as_str(), of_class.as_str(), of_other.as_str()),
        (r#"{"judgeClassId":null}"#, of_other.as_str(), ""),
        (
            r#"{"enabled":false}"#,
            r#""enabled":true"#,
            r#""enabled":false"#,
        ),
    ];
    for (at, (change, from, to)) in changes.into_iter().enumerate() {
        let version = at + 2;
        let answer = app.patch("admin", &path, change).await.is(200);
        let changed = expected.replace(from, to);
        assert_ne!(changed, expected, "{change}");
        let (old, new) = (version - 1, version);
        expected = changed.replace(
            &format!(r#""version":{old},"#),
            &format!(r#""version":{new},"#),
        );
        assert_eq!(answer.body, expected);
        assert_eq!(app.get("admin", &path).await.body, expected);
        assert_eq!(versions(&app, &path).await.shown("/data/0"), expected);
    }
}

#[tokio::test]
async fn several_fields_make_one_version() {
    let (app, path) = begun().await;
    let all =
        r#"{"name":"m","when":{},"sample":1,"maxOpen":null,"judgeClassId":null,"enabled":false}"#;
    let answer = app.patch("admin", &path, all).await.is(200);
    for (pointer, shown) in [
        ("/version", "2"),
        ("/name", "\"m\""),
        ("/when", "{}"),
        ("/sample", "1"),
        ("/maxOpen", "nothing"),
        ("/judgeClassId", "nothing"),
        ("/enabled", "false"),
    ] {
        assert_eq!(answer.shown(pointer), shown, "{pointer}");
    }
}

#[tokio::test]
async fn a_change_of_nothing_answers_the_latest_version_and_makes_none() {
    let (app, path) = begun().await;
    app.patch("admin", &path, r#"{"name":"m"}"#).await.is(200);
    app.clock.advance_millis(1000);
    app.user("other", "read:p1 write:p1");
    let latest = app.get("admin", &path).await;
    let same_class = format!(r#"{{"judgeClassId":"{}"}}"#, latest.text("/judgeClassId"));
    for nothing in [
        "{}",
        r#"{"name":"m"}"#,
        r#"{"when":{"includeDryRuns":true,"agentIds":["a","a"]}}"#,
        r#"{"sample":5e-1,"maxOpen":5.0,"enabled":true}"#,
        &same_class,
    ] {
        let answer = app.patch("other", &path, nothing).await.is(200);
        assert_eq!(answer.body, latest.body);
    }
    assert_eq!(
        versions(&app, &path).await.shown_column("version"),
        ["2", "1"]
    );
    app.patch("admin", &path, r#"{"maxOpen":null}"#)
        .await
        .is(200);
    let again = app.patch("admin", &path, r#"{"maxOpen":null}"#).await;
    assert_eq!(again.is(200).shown("/version"), "3");
}

#[tokio::test]
async fn back_to_what_was_said_before_is_a_version_of_its_own() {
    let (app, path) = begun().await;
    for (name, version) in [("m", "2"), ("n", "3")] {
        let change = format!(r#"{{"name":"{name}"}}"#);
        let answer = app.patch("admin", &path, &change).await.is(200);
        assert_eq!(answer.shown("/version"), version);
    }
}

#[tokio::test]
async fn a_version_is_by_who_wrote_it_at_the_time() {
    let (app, path) = begun().await;
    let service = Principal::service(id(TENANT), id("svc"));
    app.person("token-of-svc", service, "read:p1 write:p1");
    let change = r#"{"enabled":false}"#;
    let answer = app.patch("token-of-svc", &path, change).await.is(200);
    assert_eq!(answer.text("/createdBy"), "service_account:svc");
    assert_eq!(answer.text("/createdAt"), "2026-01-01T00:00:01.000Z");
    let versions = versions(&app, &path).await;
    assert_eq!(
        versions.column("createdBy"),
        ["service_account:svc", "user:admin"]
    );
    assert_eq!(
        versions.column("createdAt"),
        ["2026-01-01T00:00:01.000Z", "2026-01-01T00:00:00.000Z"]
    );
}

#[tokio::test]
async fn a_clock_set_back_makes_no_version_older_than_the_one_before() {
    let (app, path) = begun().await;
    app.clock.advance_millis(-5000);
    let answer = app.patch("admin", &path, r#"{"name":"m"}"#).await.is(200);
    assert_eq!(answer.text("/createdAt"), "2026-01-01T00:00:00.000Z");
    assert_eq!(app.get("admin", &path).await.body, answer.body);
}

#[tokio::test]
async fn null_removes_a_cap_and_a_class_and_nothing_else() {
    let (app, path) = begun().await;
    for field in ["name", "when", "sample", "enabled"] {
        let answer = app
            .patch("admin", &path, &format!(r#"{{"{field}":null}}"#))
            .await;
        answer.refused_at("bad-input", &format!("/{field}"));
    }
    assert_eq!(versions(&app, &path).await.shown_column("version"), ["1"]);
}

#[tokio::test]
async fn a_faulty_change_is_refused_and_makes_no_version() {
    let (app, path) = begun().await;
    for (change, field) in [
        (r#"{"name":" "}"#, "/name"),
        (r#"{"sample":0}"#, "/sample"),
        (r#"{"sample":1.5}"#, "/sample"),
        (r#"{"sample":"NaN"}"#, "/sample"),
        (r#"{"maxOpen":0}"#, "/maxOpen"),
        (r#"{"maxOpen":10001}"#, "/maxOpen"),
        (r#"{"maxOpen":1.5}"#, "/maxOpen"),
        (r#"{"judgeClassId":""}"#, "/judgeClassId"),
        (r#"{"enabled":"yes"}"#, "/enabled"),
        (r#"{"name":"m","when":{"agentIds":[]}}"#, "/when/agentIds"),
        ("[]", ""),
        ("null", ""),
        ("", ""),
        ("{", ""),
        (r#"{"name":"m","name":"m"}"#, "/name"),
    ] {
        let answer = app.patch("admin", &path, change).await;
        answer.refused_at("bad-input", field);
    }
    for (change, field) in [
        (r#"{"version":1}"#, "/version"),
        (r#"{"createdBy":"user:x"}"#, "/createdBy"),
        (r#"{"unregisteredAt":null}"#, "/unregisteredAt"),
    ] {
        let answer = app.patch("admin", &path, change).await;
        answer.refused_at("unknown-field", field);
    }
    let answer = app.patch("admin", &format!("{path}?x=1"), "{}").await;
    answer.refused_at("bad-input", "x");
    assert_eq!(versions(&app, &path).await.shown_column("version"), ["1"]);
}

#[tokio::test]
async fn a_small_sample_may_be_written_with_an_exponent() {
    let (app, path) = begun().await;
    let answer = app
        .patch("admin", &path, r#"{"sample":1e-05}"#)
        .await
        .is(200);
    assert_eq!(answer.shown("/sample").parse::<f64>().unwrap(), 1e-5);
}

#[tokio::test]
async fn a_class_named_anew_must_live_and_can_apply() {
    let (app, path) = begun().await;
    let elsewhere = app.class(&project_scope("p2"), "n", "").await;
    let retired = app.class(&project_scope("p1"), "n", "").await;
    let unregister = format!("/v1/judge-classes/{retired}/unregister");
    app.post("admin", &unregister, "").await.is(200);
    for class in ["none", elsewhere.as_str(), &retired] {
        let change = format!(r#"{{"name":"m","judgeClassId":"{class}"}}"#);
        let answer = app.patch("admin", &path, &change).await;
        answer.refused("judge-class-not-found");
    }
    assert_eq!(versions(&app, &path).await.shown_column("version"), ["1"]);
}

#[tokio::test]
async fn a_rule_whose_class_was_retired_changes_in_all_else() {
    let (app, path) = begun().await;
    let class = app.get("admin", &path).await.text("/judgeClassId");
    let unregister = format!("/v1/judge-classes/{class}/unregister");
    app.post("admin", &unregister, "").await.is(200);
    let answer = app
        .patch("admin", &path, r#"{"enabled":false}"#)
        .await
        .is(200);
    assert_eq!(answer.text("/judgeClassId"), class);
    app.patch("admin", &path, r#"{"judgeClassId":null}"#)
        .await
        .is(200);
    // Once it is gone it can't be named again.
    let change = format!(r#"{{"judgeClassId":"{class}"}}"#);
    let answer = app.patch("admin", &path, &change).await;
    answer.refused("judge-class-not-found");
}

#[tokio::test]
async fn an_unknown_rule_or_one_of_another_project_is_404() {
    let (app, path) = begun().await;
    for path in [
        format!("{}/none", rules("p1")),
        path.replace("/p1/", "/p2/"),
    ] {
        let answer = app.patch("admin", &path, r#"{"name":"m"}"#).await;
        answer.refused("judging-rule-not-found");
    }
    let answer = app.patch("admin", &path.replace("/p1/", "/x/"), "{}").await;
    answer.refused("project-not-found");
    assert_eq!(versions(&app, &path).await.shown_column("version"), ["1"]);
}
