//! Who may do what: what the caller may not read is 404, what they may only read is 403.

use crate::common::{App, agent_scope, class, judgment, project_scope, queue, rule, rules};

const RIGHTS: &[&str] = &[
    "read:p1", "judge:p1", "write:p1", "admin:p1", "read:p2", "admin",
];
const TENANT_SCOPE: &str = r#"{"kind":"tenant"}"#;
const WEIGHT: &str = r#"{"weight":3}"#;

/// A status of success, or an error's code.
type Expected = Result<u16, &'static str>;

/// What an operation answers whom it needs to let read and to let do.
fn expected(readable: bool, allowed: bool, hidden: &'static str, done: u16) -> Expected {
    match (readable, allowed) {
        (false, _) => Err(hidden),
        (true, false) => Err("permission-denied"),
        (true, true) => Ok(done),
    }
}

async fn check(app: &App, method: &str, path: &str, body: &str, expected: Expected) {
    let method = http::Method::from_bytes(method.as_bytes()).unwrap();
    let answer = app.call(method.clone(), "ann", path, body).await;
    match expected {
        Ok(status) => assert_eq!(answer.status, status, "{method} {path} {}", answer.body),
        Err(code) => assert_eq!(answer.refused(code).code(), code, "{method} {path}"),
    }
}

/// Every set of rights, with each operation on each kind of thing.
#[tokio::test]
async fn every_operation_needs_exactly_its_rights() {
    for set in 0..1_u32 << RIGHTS.len() {
        let has = |right: &str| {
            let at = RIGHTS.iter().position(|r| *r == right).unwrap();
            set & (1 << at) != 0
        };
        let rights: Vec<&str> = RIGHTS.iter().copied().filter(|right| has(right)).collect();
        let app = App::new();
        app.user("ann", &rights.join(" "));
        let (read, any) = (has("read:p1"), has("read:p1") || has("read:p2"));

        let judged = app.judge("admin", "run-1", "k").await;
        let of_tenant = app.class(TENANT_SCOPE, "n", "").await;
        let of_project = app.class(&project_scope("p1"), "n", "").await;
        let of_agent = app.class(&agent_scope("p1", "acme.matcher"), "n", "").await;

        let listed = app.ids("ann", "/v1/judgments").await;
        assert_eq!(
            listed,
            if read { vec![judged.clone()] } else { vec![] },
            "{rights:?}"
        );
        let mut classes = if read {
            vec![of_agent.clone(), of_project.clone()]
        } else {
            vec![]
        };
        classes.extend(any.then(|| of_tenant.clone()));
        assert_eq!(
            app.ids("ann", "/v1/judge-classes").await,
            classes,
            "{rights:?}"
        );

        let path = format!("/v1/judgments/{judged}");
        check(
            &app,
            "GET",
            &path,
            "",
            expected(read, true, "judgment-not-found", 200),
        )
        .await;
        let new = judgment("run-1", "k", "");
        let may = expected(read, has("judge:p1"), "run-not-found", 201);
        check(&app, "POST", "/v1/judgments", &new, may).await;
        let path = format!("/v1/judgments/{judged}/unregister");
        let may = expected(read, has("write:p1"), "judgment-not-found", 200);
        check(&app, "POST", &path, "", may).await;

        for (id, readable, admin) in [
            (&of_tenant, any, has("admin")),
            (&of_project, read, has("admin:p1")),
            (&of_agent, read, has("admin:p1")),
        ] {
            let path = format!("/v1/judge-classes/{id}");
            let hidden = "judge-class-not-found";
            check(
                &app,
                "GET",
                &path,
                "",
                expected(readable, true, hidden, 200),
            )
            .await;
            check(
                &app,
                "PATCH",
                &path,
                WEIGHT,
                expected(readable, admin, hidden, 200),
            )
            .await;
            let path = format!("{path}/unregister");
            check(
                &app,
                "POST",
                &path,
                "",
                expected(readable, admin, hidden, 200),
            )
            .await;
        }

        let create = "/v1/judge-classes";
        let may = expected(true, has("admin"), "", 201);
        check(&app, "POST", create, &class(TENANT_SCOPE, "m", ""), may).await;
        for scope in [project_scope("p1"), agent_scope("p1", "any")] {
            let may = expected(read, has("admin:p1"), "project-not-found", 201);
            check(&app, "POST", create, &class(&scope, "m", ""), may).await;
        }
        check_rules(&app, read, has("write:p1")).await;
        check_queue(&app, read, has("write:p1")).await;
    }
}

async fn check_rules(app: &App, read: bool, write: bool) {
    let path = app.rule("p1", "n", "").await;
    let hidden = "project-not-found";
    let list = rules("p1");
    for path in [
        list.clone(),
        path.clone(),
        format!("{path}/versions"),
        format!("{path}/results"),
        format!("{list}/preview"),
    ] {
        check(app, "GET", &path, "", expected(read, true, hidden, 200)).await;
    }
    let may = expected(read, write, hidden, 201);
    check(app, "POST", &list, &rule("m", ""), may).await;
    // A change of nothing is one that needs the right, too.
    for change in [r#"{"sample":0.5}"#, "{}"] {
        let may = expected(read, write, hidden, 200);
        check(app, "PATCH", &path, change, may).await;
    }
    let may = expected(read, write, hidden, 200);
    check(app, "POST", &format!("{path}/unregister"), "", may).await;
}

async fn check_queue(app: &App, read: bool, write: bool) {
    app.rule("p1", "n", "").await;
    app.queued("p1", &["open", "dismissed", "judged"]).await;
    app.moved("admin", "dismissed", "dismiss", "").await.is(200);
    app.judge("admin", "judged", "k").await;
    let (list, hidden) = (queue("p1"), "project-not-found");
    check(app, "GET", &list, "", expected(read, true, hidden, 200)).await;
    if read {
        let shown = app.get("ann", &list).await.shown("/data/0/can");
        assert_eq!(shown, format!(r#"{{"dismiss":{write},"reopen":{write}}}"#));
    }
    for (run, how) in [("open", "dismiss"), ("dismissed", "reopen")] {
        // What isn't there comes before the permission, and that before the state.
        let path = format!("{list}/none/{how}");
        let may = expected(read, true, hidden, 0).and(Err("judging-item-not-found"));
        check(app, "POST", &path, "", may).await;
        let path = format!("{list}/judged/{how}");
        let may = expected(read, write, hidden, 0).and(Err("judging-item-not-open"));
        check(app, "POST", &path, "", may).await;
        let path = format!("{list}/{run}/{how}");
        let may = expected(read, write, hidden, 200);
        check(app, "POST", &path, "", may).await;
    }
}

#[tokio::test]
async fn rights_on_one_project_are_none_on_another() {
    let app = App::new();
    app.user("ann", "read:p1 judge:p1 write:p1 admin:p1 admin");
    let judged = app.judge("admin", "run-2", "k").await;
    let class_id = app.class(&project_scope("p2"), "n", "").await;
    app.record("ann", &judgment("run-2", "k", ""))
        .await
        .refused("run-not-found");
    app.get("ann", &format!("/v1/judgments/{judged}"))
        .await
        .refused("judgment-not-found");
    app.post("ann", &format!("/v1/judgments/{judged}/unregister"), "")
        .await
        .refused("judgment-not-found");
    app.get("ann", &format!("/v1/judge-classes/{class_id}"))
        .await
        .refused("judge-class-not-found");
    let body = class(&project_scope("p2"), "m", "");
    app.post("ann", "/v1/judge-classes", &body)
        .await
        .refused("project-not-found");
    assert_eq!(app.ids("ann", "/v1/judgments?runId=run-2").await, [""; 0]);
    assert_eq!(
        app.ids("ann", "/v1/judgments?scopeKind=project&scopeId=p2")
            .await,
        [""; 0]
    );
    assert_eq!(
        app.ids("ann", "/v1/judge-classes?scopeKind=project&projectId=p2")
            .await,
        [""; 0]
    );
    let path = app.rule("p2", "n", "").await;
    app.queued("p2", &["run-9"]).await;
    for path in [
        rules("p2"),
        path.clone(),
        format!("{path}/versions"),
        format!("{path}/results"),
        format!("{}/preview", rules("p2")),
        queue("p2"),
    ] {
        app.get("ann", &path).await.refused("project-not-found");
    }
    for how in ["dismiss", "reopen"] {
        let path = format!("{}/run-9/{how}", queue("p2"));
        let answer = app.post("ann", &path, "").await;
        answer.refused("project-not-found");
        let answer = app.moved("ann", "run-9", how, "").await;
        answer.refused("judging-item-not-found");
    }
    assert_eq!(app.state("p2", "run-9").await, "open");
    let answer = app.post("ann", &rules("p2"), &rule("m", "")).await;
    answer.refused("project-not-found");
    let answer = app.patch("ann", &path, r#"{"name":"m"}"#).await;
    answer.refused("project-not-found");
    let answer = app.post("ann", &format!("{path}/unregister"), "").await;
    answer.refused("project-not-found");
    // Nor is the rule one of a project that may be read.
    let elsewhere = path.replace("/p2/", "/p1/");
    for path in [
        elsewhere.clone(),
        format!("{elsewhere}/versions"),
        format!("{elsewhere}/results"),
        elsewhere.replacen("rules/", "rules/preview?ruleId=", 1),
    ] {
        let answer = app.get("ann", &path).await;
        answer.refused("judging-rule-not-found");
    }
    let answer = app.patch("ann", &elsewhere, r#"{"name":"m"}"#).await;
    answer.refused("judging-rule-not-found");
    let answer = app
        .post("ann", &format!("{elsewhere}/unregister"), "")
        .await;
    answer.refused("judging-rule-not-found");
    assert_eq!(app.get("admin", &path).await.is(200).text("/name"), "n");
}

#[tokio::test]
async fn an_unreadable_thing_answers_as_one_that_doesnt_exist() {
    let app = App::new();
    let judged = app.judge("admin", "run-2", "k").await;
    let class_id = app.class(&project_scope("p2"), "n", "").await;
    let same = |a: crate::common::Answer, b: crate::common::Answer| {
        let own = |x: &crate::common::Answer| {
            (
                x.status,
                x.body.replace(x.header("x-request-id").unwrap(), ""),
            )
        };
        assert_eq!(own(&a), own(&b));
    };
    same(
        app.get("judge", &format!("/v1/judgments/{judged}")).await,
        app.get("judge", "/v1/judgments/none")
            .await
            .refused("judgment-not-found"),
    );
    same(
        app.get("judge", &format!("/v1/judge-classes/{class_id}"))
            .await,
        app.get("judge", "/v1/judge-classes/none")
            .await
            .refused("judge-class-not-found"),
    );
    same(
        app.record("judge", &judgment("run-2", "k", "")).await,
        app.record("judge", &judgment("none", "k", ""))
            .await
            .refused("run-not-found"),
    );
    let create = "/v1/judge-classes";
    same(
        app.post("judge", create, &class(&project_scope("p2"), "m", ""))
            .await,
        app.post("judge", create, &class(&project_scope("x"), "m", ""))
            .await
            .refused("project-not-found"),
    );
    let path = app.rule("p2", "n", "").await;
    same(
        app.get("judge", &path).await,
        app.get("judge", &path.replace("/p2/", "/x/"))
            .await
            .refused("project-not-found"),
    );
    same(
        app.get("judge", &path.replace("/p2/", "/p1/")).await,
        app.get("judge", &format!("{}/none", rules("p1")))
            .await
            .refused("judging-rule-not-found"),
    );
    app.queued("p2", &["run-9"]).await;
    let dismiss = |project, run| format!("{}/{run}/dismiss", queue(project));
    same(
        app.post("judge", &dismiss("p2", "run-9"), "").await,
        app.post("judge", &dismiss("x", "run-9"), "")
            .await
            .refused("project-not-found"),
    );
    same(
        app.post("judge", &dismiss("p1", "run-9"), "").await,
        app.post("judge", &dismiss("p1", "none"), "")
            .await
            .refused("judging-item-not-found"),
    );
}

#[tokio::test]
async fn anyones_judgment_may_be_removed_by_who_may_write() {
    let app = App::new();
    app.user("wendy", "read:p1 write:p1");
    let judged = app.judge("judge", "run-1", "k").await;
    app.post("judge", &format!("/v1/judgments/{judged}/unregister"), "")
        .await
        .refused("permission-denied");
    app.post("wendy", &format!("/v1/judgments/{judged}/unregister"), "")
        .await
        .is(200);
}

#[tokio::test]
async fn permission_comes_before_state() {
    let app = App::new();
    let judged = app.judge("judge", "run-1", "k").await;
    let class_id = app.class(TENANT_SCOPE, "n", "").await;
    app.post("admin", &format!("/v1/judgments/{judged}/unregister"), "")
        .await
        .is(200);
    app.post(
        "admin",
        &format!("/v1/judge-classes/{class_id}/unregister"),
        "",
    )
    .await
    .is(200);
    app.post("reader", &format!("/v1/judgments/{judged}/unregister"), "")
        .await
        .refused("permission-denied");
    app.patch("reader", &format!("/v1/judge-classes/{class_id}"), WEIGHT)
        .await
        .refused("permission-denied");
    app.post(
        "reader",
        &format!("/v1/judge-classes/{class_id}/unregister"),
        "",
    )
    .await
    .refused("permission-denied");
    let path = app.rule("p1", "n", "").await;
    let unregister = format!("{path}/unregister");
    app.post("admin", &unregister, "").await.is(200);
    let answer = app.post("reader", &unregister, "").await;
    answer.refused("permission-denied");
    let answer = app.patch("reader", &path, r#"{"name":"m"}"#).await;
    answer.refused("permission-denied");
    let unknown_class = rule("m", r#""judgeClassId":"none""#);
    let answer = app.post("reader", &rules("p1"), &unknown_class).await;
    answer.refused("permission-denied");
    // A taken name, too.
    app.class(TENANT_SCOPE, "taken", "").await;
    let body = class(TENANT_SCOPE, "taken", "");
    app.post("reader", "/v1/judge-classes", &body)
        .await
        .refused("permission-denied");
}

#[tokio::test]
async fn who_may_read_nothing_has_empty_lists() {
    let app = App::new();
    app.user("blind", "judge:p1 write:p1 admin:p1");
    app.judge("judge", "run-1", "k").await;
    app.class(TENANT_SCOPE, "n", "").await;
    for path in [
        "/v1/judgments",
        "/v1/judge-classes",
        "/v1/judge-classes?scopeKind=tenant",
    ] {
        assert_eq!(
            app.get("blind", path).await.is(200).body,
            r#"{"data":[],"hasMore":false}"#
        );
    }
}

#[tokio::test]
async fn rights_are_asked_for_with_every_request() {
    let app = App::new();
    app.user("ann", "read:p1 judge:p1");
    let judged = app.judge("ann", "run-1", "k").await;
    app.user("ann", "judge:p1");
    app.get("ann", &format!("/v1/judgments/{judged}"))
        .await
        .refused("judgment-not-found");
    app.record("ann", &judgment("run-1", "k", ""))
        .await
        .refused("run-not-found");
}
