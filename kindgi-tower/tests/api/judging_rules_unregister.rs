//! Stopping judging rules: once for good, and they still read by id.

use crate::common::{App, rules};

async fn stopped(more: &str) -> (App, String) {
    let app = App::new();
    let path = app.rule("p1", "n", more).await;
    app.clock.advance_millis(1000);
    let unregister = format!("{path}/unregister");
    app.post("admin", &unregister, "").await.is(200);
    (app, path)
}

#[tokio::test]
async fn the_answer_says_whether_the_rule_lived() {
    let app = App::new();
    let path = app.rule("p1", "n", "").await;
    let id = path.rsplit('/').next().unwrap();
    let unregister = format!("{path}/unregister");
    for (body, lived) in [("", true), ("{}", false), ("", false)] {
        let answer = app.post("admin", &unregister, body).await.is(200);
        assert_eq!(
            answer.body,
            format!(r#"{{"ruleId":"{id}","unregistered":{lived}}}"#)
        );
    }
}

#[tokio::test]
async fn a_stopped_rule_reads_by_id_and_says_when_it_was_stopped() {
    let (app, path) = stopped("").await;
    let rule = app.get("reader", &path).await.is(200);
    assert_eq!(rule.text("/unregisteredAt"), "2026-01-01T00:00:01.000Z");
    assert_eq!(rule.text("/createdAt"), "2026-01-01T00:00:00.000Z");
    assert_eq!(rule.shown("/version"), "1");
    // A second time changes nothing.
    app.clock.advance_millis(1000);
    app.post("admin", &format!("{path}/unregister"), "")
        .await
        .is(200);
    assert_eq!(app.get("reader", &path).await.body, rule.body);
}

#[tokio::test]
async fn a_stopped_rule_is_listed_no_more_but_its_versions_are() {
    let (app, path) = stopped("").await;
    let other = app.rule("p1", "m", "").await;
    let listed = app.get("admin", &rules("p1")).await.column("ruleId");
    assert_eq!(listed, [other.rsplit('/').next().unwrap()]);
    let versions = app.get("admin", &format!("{path}/versions")).await.is(200);
    assert_eq!(
        versions.column("unregisteredAt"),
        ["2026-01-01T00:00:01.000Z"]
    );
}

#[tokio::test]
async fn a_stopped_rule_changes_no_more() {
    let (app, path) = stopped("").await;
    for change in [r#"{"name":"m"}"#, r#"{"enabled":true}"#, "{}"] {
        let answer = app.patch("admin", &path, change).await;
        answer.refused("judging-rule-not-found");
    }
    assert_eq!(app.get("admin", &path).await.text("/name"), "n");
}

#[tokio::test]
async fn a_disabled_rule_is_still_listed_and_can_be_stopped() {
    let app = App::new();
    let path = app.rule("p1", "n", r#""enabled":false"#).await;
    assert_eq!(app.get("admin", &rules("p1")).await.column("name"), ["n"]);
    let answer = app.post("admin", &format!("{path}/unregister"), "").await;
    assert_eq!(answer.is(200).shown("/unregistered"), "true");
}

#[tokio::test]
async fn a_body_that_isnt_empty_is_refused_and_nothing_is_stopped() {
    let app = App::new();
    let path = app.rule("p1", "n", "").await;
    let unregister = format!("{path}/unregister");
    for body in ["[]", "null", "{", "x", "{} {}"] {
        let answer = app.post("admin", &unregister, body).await;
        answer.refused_at("bad-input", "");
    }
    let answer = app.post("admin", &unregister, r#"{"ruleId":"x"}"#).await;
    answer.refused_at("unknown-field", "/ruleId");
    let answer = app.post("admin", &format!("{unregister}?x=1"), "").await;
    answer.refused_at("bad-input", "x");
    assert_eq!(app.get("admin", &rules("p1")).await.column("name"), ["n"]);
}

#[tokio::test]
async fn an_unknown_rule_or_one_of_another_project_is_404() {
    let app = App::new();
    let path = app.rule("p1", "n", "").await;
    for path in [
        format!("{}/none", rules("p1")),
        path.replace("/p1/", "/p2/"),
    ] {
        let answer = app.post("admin", &format!("{path}/unregister"), "").await;
        answer.refused("judging-rule-not-found");
    }
    assert_eq!(app.get("admin", &rules("p1")).await.column("name"), ["n"]);
}
