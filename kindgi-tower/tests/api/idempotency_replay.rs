//! A write with an idempotency key is done once, and every retry gets the first answer.

use http::Method;
use kindgi_core::model::Principal;

use crate::common::{Answer, App, TENANT, class, id, judgment, queue, rule, rules};

/// A write that succeeds, whatever other ones of the table were done before.
pub(crate) struct Write {
    pub(crate) name: &'static str,
    pub(crate) method: Method,
    pub(crate) path: String,
    pub(crate) body: String,
}

impl Write {
    /// Other bytes that say as much.
    pub(crate) fn other_body(&self) -> String {
        match self.body.as_str() {
            "" => "{}".to_owned(),
            body => format!("{body} "),
        }
    }

    pub(crate) async fn send(&self, app: &App, body: &str, key: &str) -> Answer {
        let method = self.method.clone();
        app.send(app.keyed_request(method, "admin", &self.path, body, key))
            .await
    }

    pub(crate) async fn done(&self, app: &App, key: &str) -> Answer {
        self.send(app, &self.body, key).await
    }
}

/// An app, and every operation that writes: those of the API, once more those that change nothing.
pub(crate) async fn writes() -> (App, Vec<Write>) {
    let app = App::new();
    let judged = app.judge("admin", "run-1", "k").await;
    let tenant = r#"{"kind":"tenant"}"#;
    let changed = app.class(tenant, "changed", "").await;
    let retired = app.class(tenant, "retired", "").await;
    let mut by = Vec::new();
    for name in ["changed", "same", "stopped", "stopped before"] {
        by.push(app.rule("p1", name, "").await);
    }
    app.queued("p1", &["open", "dismissed"]).await;
    app.moved("admin", "dismissed", "dismiss", "").await.is(200);
    let stop = format!("{}/unregister", by[3]);
    app.post("admin", &stop, "").await.is(200);
    let write = |name, method, path: String, body: &str| Write {
        name,
        method,
        path,
        body: body.to_owned(),
    };
    let post = |name, path: String, body: &str| write(name, Method::POST, path, body);
    let patch = |name, path: String, body: &str| write(name, Method::PATCH, path, body);
    let (classes, items) = ("/v1/judge-classes", queue("p1"));
    let full = r#""pointer":""},"reason":"why","participantId":"p","correction":{"calls":[],"notCalled":["t"]"#;
    let body = judgment("run-1", "new", full);
    let writes = vec![
        post("judge", "/v1/judgments".to_owned(), &body),
        post("remove", format!("/v1/judgments/{judged}/unregister"), ""),
        post(
            "create a class",
            classes.to_owned(),
            &class(tenant, "new", ""),
        ),
        patch(
            "change a class",
            format!("{classes}/{changed}"),
            r#"{"weight":9}"#,
        ),
        post(
            "retire a class",
            format!("{classes}/{retired}/unregister"),
            "",
        ),
        post("create a rule", rules("p1"), &rule("new", "")),
        patch("change a rule", by[0].clone(), r#"{"name":"m"}"#),
        patch(
            "change nothing of a rule",
            by[1].clone(),
            r#"{"name":"same"}"#,
        ),
        post("stop a rule", format!("{}/unregister", by[2]), ""),
        post("stop a stopped rule", stop, ""),
        post(
            "dismiss",
            format!("{items}/open/dismiss"),
            r#"{"reason":"x"}"#,
        ),
        post("reopen", format!("{items}/dismissed/reopen"), ""),
    ];
    (app, writes)
}

/// All that can be read of what is written.
pub(crate) async fn everything(app: &App) -> Vec<String> {
    let mut bodies = Vec::new();
    for path in [
        "/v1/judgments".to_owned(),
        "/v1/judge-classes".to_owned(),
        rules("p1"),
        queue("p1"),
    ] {
        bodies.push(
            app.get("admin", &format!("{path}?limit=100"))
                .await
                .is(200)
                .body,
        );
    }
    bodies
}

/// The same status, content type and body.
#[track_caller]
pub(crate) fn same(name: &str, first: &Answer, retry: &Answer) {
    assert_eq!(retry.status, first.status, "{name} {}", retry.body);
    assert_eq!(retry.body, first.body, "{name}");
    let content_type = |answer: &Answer| answer.headers.get("content-type").cloned();
    assert_eq!(content_type(retry), content_type(first), "{name}");
}

#[tokio::test]
async fn a_retry_gets_the_first_answer_byte_for_byte_and_changes_nothing() {
    let (app, writes) = writes().await;
    for write in &writes {
        let first = write.done(&app, "key").await;
        assert!(first.status.is_success(), "{} {}", write.name, first.body);
        assert!(!first.is_replay());
        let after = everything(&app).await;
        for _ in 0..2 {
            let retry = write.done(&app, "key").await;
            same(write.name, &first, &retry);
            assert!(retry.is_replay(), "{}", write.name);
            assert_ne!(retry.header("x-request-id"), first.header("x-request-id"));
        }
        assert_eq!(everything(&app).await, after, "{}", write.name);
    }
    // Later, too, when all of it has become something else, and the caller may do nothing.
    let mut firsts = Vec::new();
    for write in &writes {
        firsts.push(write.done(&app, "key").await);
    }
    undo(&app, &writes).await;
    let mut who = Principal::user(id(TENANT), id("admin"));
    who.reviewer_role = None;
    app.host.grant(&who, "");
    for (write, first) in writes.iter().zip(&firsts) {
        let retry = write.done(&app, "key").await;
        same(write.name, first, &retry);
        assert!(retry.is_replay(), "{}", write.name);
    }
}

/// Does to what the writes did whatever the API has for it.
pub(crate) async fn undo(app: &App, writes: &[Write]) {
    app.clock.advance_millis(1);
    for judgment in app.ids("admin", "/v1/judgments").await {
        let path = format!("/v1/judgments/{judgment}/unregister");
        app.post("admin", &path, "").await.is(200);
    }
    for class in app.ids("admin", "/v1/judge-classes").await {
        let path = format!("/v1/judge-classes/{class}/unregister");
        app.post("admin", &path, "").await.is(200);
    }
    for rule in app.get("admin", &rules("p1")).await.column("ruleId") {
        let path = format!("{}/{rule}", rules("p1"));
        app.patch("admin", &path, r#"{"name":"other","sample":0.5}"#)
            .await
            .is(200);
        app.post("admin", &format!("{path}/unregister"), "")
            .await
            .is(200);
    }
    if app.state("p1", "open").await == "dismissed" {
        app.moved("admin", "open", "reopen", "").await.is(200);
    }
    if app.state("p1", "dismissed").await == "open" {
        app.moved("admin", "dismissed", "dismiss", "").await.is(200);
    }
    assert!(!writes.is_empty());
}

#[tokio::test]
async fn the_same_key_with_other_bytes_is_a_mismatch_even_if_they_say_as_much() {
    let (app, writes) = writes().await;
    for write in &writes {
        write.done(&app, "key").await;
        let after = everything(&app).await;
        write
            .send(&app, &write.other_body(), "key")
            .await
            .refused("idempotency-key-body-mismatch");
        assert_eq!(everything(&app).await, after, "{}", write.name);
        // Nor did that take the key from the first body.
        assert!(write.done(&app, "key").await.is_replay());
    }
}

#[tokio::test]
async fn a_body_without_its_shape_is_that_whatever_its_key_was_used_for() {
    let (app, writes) = writes().await;
    for write in &writes {
        write.done(&app, "key").await;
        write
            .send(&app, r#"{"unknown":1}"#, "key")
            .await
            .refused("unknown-field");
        let mut request = app.keyed_request(write.method.clone(), "admin", &write.path, "x", "key");
        request
            .headers_mut()
            .insert("content-type", "text/plain".parse().unwrap());
        app.send(request).await.refused("unsupported-media-type");
        assert!(write.done(&app, "key").await.is_replay());
    }
}

#[tokio::test]
async fn after_24_hours_a_key_is_new() {
    let day = 24 * 60 * 60 * 1000;
    let (app, _) = writes().await;
    let body = judgment("run-1", "new", "");
    let first = app.keyed_post("judge", "/v1/judgments", &body, "key").await;
    app.clock.advance_millis(day - 1);
    let retry = app.keyed_post("judge", "/v1/judgments", &body, "key").await;
    assert!(retry.is_replay());
    assert_eq!(retry.body, first.body);
    app.clock.advance_millis(1);
    let anew = app.keyed_post("judge", "/v1/judgments", &body, "key").await;
    assert!(!anew.is_replay());
    assert_ne!(anew.is(201).text("/id"), first.text("/id"));
    // With another body, too.
    app.clock.advance_millis(day);
    let other = judgment("run-2", "new", "");
    app.keyed_post("admin", "/v1/judgments", &other, "key")
        .await
        .is(201);
}

#[tokio::test]
async fn a_refusal_is_not_kept_and_frees_the_key() {
    let app = App::new();
    let missing = judgment("later", "k", "");
    for _ in 0..2 {
        app.keyed_post("judge", "/v1/judgments", &missing, "key")
            .await
            .refused("run-not-found");
    }
    // There is nothing to mismatch.
    let other = judgment("later", "other", "");
    app.keyed_post("judge", "/v1/judgments", &other, "key")
        .await
        .refused("run-not-found");
    app.run(crate::common::finished("later", "p1", "{}"));
    let done = app
        .keyed_post("judge", "/v1/judgments", &missing, "key")
        .await
        .is(201);
    assert!(!done.is_replay());
    let retry = app
        .keyed_post("judge", "/v1/judgments", &missing, "key")
        .await;
    same("later", &done, &retry);
}

#[tokio::test]
async fn a_request_without_a_key_is_done_as_often_as_it_comes() {
    let app = App::new();
    let body = judgment("run-1", "k", "");
    let first = app.record("judge", &body).await.text("/id");
    let again = app.record("judge", &body).await;
    assert!(!again.is_replay());
    assert_ne!(again.text("/id"), first);
}
