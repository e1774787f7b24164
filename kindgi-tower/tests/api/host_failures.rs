//! A host or a store in trouble: 500 or 503, never a refusal, and the service goes on.

use http::Method;

use crate::common::{App, Trouble, class, judgment, project_scope, queue, rule, rules};

/// An app with a judgment and a class, and every operation with the methods it calls.
async fn operations() -> (App, Vec<(Method, String, String, Vec<&'static str>)>) {
    let app = App::new();
    let judged = app.judge("admin", "run-1", "k").await;
    app.host.org("acme", "o", &["p1"]);
    let restricted = r#""assertableBy":{"principalIds":["admin"]}"#;
    let of_project = app.class(&project_scope("p1"), "n", restricted).await;
    let of_tenant = app.class(r#"{"kind":"tenant"}"#, "n", restricted).await;
    let get = |path: String, calls| (Method::GET, path, String::new(), calls);
    let post = |path: &str, body: String, calls| (Method::POST, path.to_owned(), body, calls);
    let under = |class: &str| {
        judgment("run-1", "new", "").replacen('{', &format!(r#"{{"judgeClassId":"{class}","#), 1)
    };
    let classes = "/v1/judge-classes";
    let of_rule = app.rule("p1", "n", "").await;
    let (list, versions) = (rules("p1"), format!("{of_rule}/versions"));
    let wants = format!(r#""judgeClassId":"{of_project}""#);
    app.queued("p1", &["open", "dismissed"]).await;
    app.moved("admin", "dismissed", "dismiss", "").await.is(200);
    let operations = vec![
        get(
            "/v1/judgments".to_owned(),
            vec!["authenticate", "readable_projects", "judgments"],
        ),
        get(
            "/v1/judgments?scopeKind=org&scopeId=o".to_owned(),
            vec!["readable_projects", "projects_of_org", "judgments"],
        ),
        get(
            format!("/v1/judgments/{judged}"),
            vec!["authenticate", "judgment", "allows"],
        ),
        get(
            classes.to_owned(),
            vec!["authenticate", "readable_projects", "classes", "allows"],
        ),
        get(
            format!("{classes}/{of_project}"),
            vec!["authenticate", "class", "allows"],
        ),
        get(
            format!("{classes}/{of_tenant}"),
            vec!["class", "readable_projects", "allows"],
        ),
        post(
            "/v1/judgments",
            under(&of_project),
            vec!["authenticate", "run", "allows", "class", "record"],
        ),
        post(
            &format!("/v1/judgments/{judged}/unregister"),
            String::new(),
            vec!["judgment", "allows", "remove"],
        ),
        post(
            classes,
            class(&project_scope("p1"), "m", ""),
            vec!["project_exists", "allows", "create_class"],
        ),
        post(
            classes,
            class(r#"{"kind":"tenant"}"#, "m", ""),
            vec!["allows", "create_class"],
        ),
        (
            Method::PATCH,
            format!("{classes}/{of_project}"),
            r#"{"weight":5}"#.to_owned(),
            vec!["class", "allows", "replace_class"],
        ),
        post(
            &format!("{classes}/{of_tenant}/unregister"),
            String::new(),
            vec!["class", "readable_projects", "allows", "replace_class"],
        ),
        get(
            list.clone(),
            vec!["authenticate", "project_exists", "allows", "rules"],
        ),
        get(
            of_rule.clone(),
            vec!["authenticate", "project_exists", "allows", "rule"],
        ),
        get(
            versions,
            vec!["authenticate", "project_exists", "allows", "rule_versions"],
        ),
        (
            Method::PATCH,
            of_rule.clone(),
            r#"{"sample":0.5}"#.to_owned(),
            vec!["project_exists", "allows", "rule", "append_rule_version"],
        ),
        get(
            format!("{of_rule}/results"),
            vec!["authenticate", "project_exists", "allows", "rule_results"],
        ),
        get(
            format!("{list}/preview?ruleId={}", id_of(&of_rule)),
            vec!["project_exists", "allows", "rule", "last_ended"],
        ),
        get(
            queue("p1"),
            vec!["authenticate", "project_exists", "allows", "queue"],
        ),
        get(
            format!("{}?forMe=true", queue("p1")),
            vec!["project_exists", "allows", "wanted_classes", "queue"],
        ),
        post(
            &format!("{}/open/dismiss", queue("p1")),
            r#"{"reason":"x"}"#.to_owned(),
            vec!["project_exists", "allows", "queue_item", "dismiss"],
        ),
        post(
            &format!("{}/dismissed/reopen", queue("p1")),
            String::new(),
            vec!["project_exists", "allows", "queue_item", "reopen"],
        ),
        post(
            &format!("{of_rule}/unregister"),
            String::new(),
            vec!["project_exists", "allows", "rule", "stop_rule"],
        ),
        post(
            &list,
            rule("m", &wants),
            vec!["project_exists", "allows", "class", "append_rule_version"],
        ),
    ];
    (app, operations)
}

fn id_of(path: &str) -> &str {
    path.rsplit('/').next().unwrap()
}

/// All that can be read of what is written.
async fn everything(app: &App) -> Vec<String> {
    let mut bodies = Vec::new();
    for path in [
        "/v1/judgments".to_owned(),
        "/v1/judge-classes".to_owned(),
        rules("p1"),
        queue("p1"),
    ] {
        bodies.push(app.get("admin", &path).await.is(200).body);
    }
    bodies
}

#[tokio::test]
async fn trouble_anywhere_is_a_server_error_and_the_next_request_is_fine() {
    let (app, operations) = operations().await;
    for (method, path, body, calls) in &operations {
        for at in calls {
            for trouble in [Trouble::Fails, Trouble::Busy, Trouble::Panics] {
                let busy = matches!(trouble, Trouble::Busy) && method == Method::GET;
                app.host.faults.set(at, trouble);
                let answer = app.call(method.clone(), "admin", path, body).await;
                let expected = if busy {
                    "database-busy"
                } else {
                    "internal-server-error"
                };
                assert_eq!(answer.code(), expected, "{method} {path} {at}");
                assert!(!answer.body.contains("secret"));
                app.host.faults.clear();
            }
        }
        let fine = app.call(method.clone(), "admin", path, body).await;
        assert!(fine.status.is_success(), "{method} {path} {}", fine.body);
    }
}

#[tokio::test]
async fn a_read_of_a_busy_store_is_503_with_retry_after_also_for_head() {
    let (app, operations) = operations().await;
    for (_, path, ..) in operations
        .iter()
        .filter(|(method, ..)| method == Method::GET)
    {
        for at in [
            "judgment",
            "judgments",
            "class",
            "classes",
            "rule",
            "rules",
            "rule_versions",
            "rule_results",
            "queue",
        ] {
            app.host.faults.set(at, Trouble::Busy);
        }
        // `send` checks that Retry-After is whole seconds, and only there.
        app.get("admin", path).await.refused("database-busy");
        app.head("admin", path).await.is(503);
    }
}

#[tokio::test]
async fn nothing_is_written_where_the_store_failed_before() {
    let (app, operations) = operations().await;
    let before = everything(&app).await;
    for (method, path, body, calls) in operations
        .iter()
        .filter(|(method, ..)| method != Method::GET)
    {
        for at in calls {
            app.host.faults.set(at, Trouble::Fails);
            app.call(method.clone(), "admin", path, body)
                .await
                .refused("internal-server-error");
            app.host.faults.clear();
        }
    }
    assert_eq!(everything(&app).await, before);
}

#[tokio::test]
async fn a_permission_that_cant_be_told_is_no_refusal() {
    let app = App::new();
    app.host.faults.set("allows", Trouble::Fails);
    for token in ["judge", "reader"] {
        app.record(token, &judgment("run-1", "k", ""))
            .await
            .refused("internal-server-error");
    }
    // But what doesn't exist needs no permission to be told.
    app.record("judge", &judgment("none", "k", ""))
        .await
        .refused("run-not-found");
}

#[tokio::test]
async fn an_erasure_that_cant_be_told_is_no_refusal() {
    let app = App::new();
    app.host.faults.set("is_erased", Trouble::Fails);
    let body = judgment("run-1", "k", r#""pointer":"/none""#);
    app.record("judge", &body)
        .await
        .refused("internal-server-error");
    app.host.faults.clear();
    app.record("judge", &body).await.refused("item-not-found");
}

#[tokio::test]
async fn a_document_too_large_for_the_store_is_413_and_nothing_is_stored() {
    let app = App::new();
    app.host.faults.set("record", Trouble::TooLarge);
    app.record("judge", &judgment("run-1", "k", ""))
        .await
        .refused("request-too-large");
    app.host.faults.clear();
    assert_eq!(app.ids("judge", "/v1/judgments").await, [""; 0]);
}
