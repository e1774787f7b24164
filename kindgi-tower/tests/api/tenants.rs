//! Nothing is ever visible across tenants; the tenant comes from authentication alone.

use kindgi_core::model::Principal;

use crate::common::{App, OUTPUT, class, finished, id, judgment, queue, rules};

/// With `eve`, who may do everything in the tenant `other`.
fn app() -> App {
    let app = App::new();
    app.person(
        "eve",
        Principal::user(id("other"), id("eve")),
        "read:* judge:* write:* admin:* admin",
    );
    app
}

#[tokio::test]
async fn what_another_tenant_has_is_as_if_it_didnt_exist() {
    let app = app();
    let judgment_id = app.judge("judge", "run-1", "k").await;
    let class_id = app.class(r#"{"kind":"tenant"}"#, "n", "").await;
    let requests = [
        (
            "GET",
            "/v1/judgments/{}",
            &judgment_id,
            "judgment-not-found",
        ),
        (
            "POST",
            "/v1/judgments/{}/unregister",
            &judgment_id,
            "judgment-not-found",
        ),
        (
            "GET",
            "/v1/judge-classes/{}",
            &class_id,
            "judge-class-not-found",
        ),
        (
            "PATCH",
            "/v1/judge-classes/{}",
            &class_id,
            "judge-class-not-found",
        ),
        (
            "POST",
            "/v1/judge-classes/{}/unregister",
            &class_id,
            "judge-class-not-found",
        ),
    ];
    for (method, path, real, code) in requests {
        let method = http::Method::from_bytes(method.as_bytes()).unwrap();
        let body = if method == "PATCH" {
            r#"{"weight":1}"#
        } else {
            ""
        };
        let found = app
            .call(method.clone(), "eve", &path.replace("{}", real), body)
            .await;
        let missing = app
            .call(method, "eve", &path.replace("{}", "none"), body)
            .await;
        assert_eq!(found.code(), code);
        // To the last character, but for the request's id.
        let same = |answer: &crate::common::Answer| {
            answer
                .body
                .replace(answer.header("x-request-id").unwrap(), "")
        };
        assert_eq!(same(&found), same(&missing));
    }
    let rule = app.rule("p1", "n", "").await;
    let versions = format!("{rule}/versions");
    let unregister = format!("{rule}/unregister");
    app.queued("p1", &["run-9"]).await;
    let theirs = app.get("eve", &queue("p1")).await.is(200);
    assert_eq!(theirs.body, r#"{"data":[],"hasMore":false,"total":0}"#);
    for how in ["dismiss", "reopen"] {
        let answer = app.moved("eve", "run-9", how, "").await;
        answer.refused("judging-item-not-found");
    }
    assert_eq!(app.state("p1", "run-9").await, "open");
    let preview = format!("{}/preview", rules("p1"));
    let theirs = app.get("eve", &preview).await.is(200);
    assert_eq!(theirs.body, r#"{"considered":0,"matched":0}"#);
    let by_rule = rule.replacen("rules/", "rules/preview?ruleId=", 1);
    for path in [&rule, &versions, &format!("{rule}/results"), &by_rule] {
        let answer = app.get("eve", path).await;
        answer.refused("judging-rule-not-found");
    }
    let answer = app.patch("eve", &rule, r#"{"name":"m"}"#).await;
    answer.refused("judging-rule-not-found");
    let answer = app.post("eve", &unregister, "").await;
    answer.refused("judging-rule-not-found");
    let list = app.get("eve", &rules("p1")).await.is(200);
    assert_eq!(list.body, r#"{"data":[],"hasMore":false}"#);
    let of_class = crate::common::rule("m", &format!(r#""judgeClassId":"{class_id}""#));
    let answer = app.post("eve", &rules("p1"), &of_class).await;
    answer.refused("judge-class-not-found");
    assert_eq!(
        app.get("admin", &versions).await.shown_column("name"),
        ["\"n\""]
    );
    assert_eq!(app.get("admin", &rules("p1")).await.column("name"), ["n"]);
    app.record("eve", &judgment("run-1", "k", ""))
        .await
        .refused("run-not-found");
    assert_eq!(app.ids("eve", "/v1/judgments").await, [""; 0]);
    assert_eq!(app.ids("eve", "/v1/judgments?runId=run-1").await, [""; 0]);
    assert_eq!(app.ids("eve", "/v1/judge-classes").await, [""; 0]);
    assert_eq!(app.ids("judge", "/v1/judgments").await, [judgment_id]);
    assert_eq!(app.ids("judge", "/v1/judge-classes").await, [class_id]);
}

#[tokio::test]
async fn runs_of_the_same_id_in_two_tenants_have_nothing_to_do_with_each_other() {
    let app = app();
    app.host
        .run_of("other", finished("run-1", "p1", "\"theirs\""));
    let body = judgment("run-1", "k", r#""pointer":"""#);
    let ours = app.record("judge", &body).await.is(201);
    let theirs = app.record("eve", &body).await.is(201);
    assert_eq!(ours.text("/tenantId"), "acme");
    assert_eq!(theirs.text("/tenantId"), "other");
    let ours_again = app.record("judge", &body).await.is(201);
    let kept = app
        .get("eve", &format!("/v1/judgments/{}", theirs.text("/id")))
        .await
        .is(200);
    assert_eq!(kept.raw("/unregisteredAt"), None);
    assert_eq!(kept.shown("/run/output"), "\"theirs\"");
    let kept = app.judgment(&ours_again.text("/id")).await;
    assert_eq!(kept.shown("/run/output"), OUTPUT);
    // An erasure in one is none in the other.
    app.erase("run-1").await;
    app.record("judge", &body).await.refused("run-erased");
    app.record("eve", &body).await.is(201);
}

#[tokio::test]
async fn a_class_of_another_tenant_applies_to_nothing() {
    let app = app();
    app.host.run_of("other", finished("run-1", "p1", "1"));
    let ours = app.class(r#"{"kind":"tenant"}"#, "n", "").await;
    let body =
        judgment("run-1", "k", "").replacen('{', &format!("{{\"judgeClassId\":\"{ours}\","), 1);
    app.record("judge", &body).await.is(201);
    app.record("eve", &body)
        .await
        .refused("judge-class-not-applicable");
}

#[tokio::test]
async fn names_are_unique_within_each_tenant() {
    let app = app();
    let body = class(r#"{"kind":"tenant"}"#, "n", "");
    app.post("admin", "/v1/judge-classes", &body).await.is(201);
    app.post("eve", "/v1/judge-classes", &body).await.is(201);
    app.post("eve", "/v1/judge-classes", &body)
        .await
        .refused("judge-class-name-taken");
}

#[tokio::test]
async fn an_org_is_the_callers_tenants_own() {
    let app = app();
    app.host.org("other", "o", &["p1"]);
    app.judge("judge", "run-1", "k").await;
    let path = "/v1/judgments?scopeKind=org&scopeId=o";
    assert_eq!(app.ids("judge", path).await, [""; 0]);
    app.host.org("acme", "o", &["p1"]);
    assert_eq!(app.ids("judge", path).await.len(), 1);
}

#[tokio::test]
async fn a_request_cant_name_a_tenant() {
    let app = app();
    app.get("judge", "/v1/judgments?tenantId=other")
        .await
        .refused_at("bad-input", "tenantId");
    let body = judgment("run-1", "k", "").replacen('{', "{\"tenantId\":\"other\",", 1);
    app.record("judge", &body)
        .await
        .refused_at("unknown-field", "/tenantId");
}
