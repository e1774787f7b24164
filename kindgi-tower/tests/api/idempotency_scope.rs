//! A key is one caller's, for one method and path.

use http::Method;
use kindgi_core::model::Principal;

use crate::common::{App, TENANT, id, judgment, queue};

#[tokio::test]
async fn another_callers_key_is_another() {
    let app = App::new();
    app.user("ada", "read:* judge:*");
    app.person(
        "service",
        Principal::service(id(TENANT), id("ada")),
        "read:* judge:*",
    );
    app.person(
        "elsewhere",
        Principal::user(id("other"), id("ada")),
        "read:* judge:*",
    );
    app.host
        .run_of("other", crate::common::finished("run-1", "p1", "{}"));
    let body = judgment("run-1", "k", "");
    let mut ids = Vec::new();
    for token in ["ada", "service", "elsewhere"] {
        let first = app.keyed_post(token, "/v1/judgments", &body, "key").await;
        assert!(!first.is_replay(), "{token}");
        ids.push(first.is(201).text("/id"));
    }
    ids.dedup();
    assert_eq!(ids.len(), 3);
    // Another token of the same caller is the same caller.
    app.person(
        "ada-2",
        Principal::user(id(TENANT), id("ada")),
        "read:* judge:*",
    );
    let retry = app.keyed_post("ada-2", "/v1/judgments", &body, "key").await;
    assert!(retry.is_replay());
    assert_eq!(retry.text("/id"), ids[0]);
}

#[tokio::test]
async fn another_path_or_method_or_key_is_another_request() {
    let app = App::new();
    app.rule("p1", "n", "").await;
    app.queued("p1", &["a", "b"]).await;
    for run in ["a", "b"] {
        for how in ["dismiss", "reopen"] {
            let path = format!("{}/{run}/{how}", queue("p1"));
            let answer = app.keyed_post("admin", &path, "{}", "key").await;
            assert!(!answer.is_replay(), "{path}");
            assert_eq!(answer.is(200).text("/runId"), run);
        }
    }
    // Keys compare exactly.
    let body = judgment("run-1", "k", "");
    let mut ids = Vec::new();
    for key in ["key", "Key", "key.", "kez"] {
        let answer = app.keyed_post("judge", "/v1/judgments", &body, key).await;
        assert!(!answer.is_replay(), "{key}");
        ids.push(answer.is(201).text("/id"));
    }
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), 4);
}

#[tokio::test]
async fn a_key_is_the_same_wherever_the_service_is_mounted() {
    let app = App::with(|builder| builder.base_path("/kindgi"));
    let body = judgment("run-1", "k", "");
    let first = app.keyed_post("judge", "/v1/judgments", &body, "key").await;
    let retry = app
        .keyed_post("judge", "/kindgi/v1/judgments", &body, "key")
        .await;
    assert!(retry.is_replay());
    assert_eq!(retry.body, first.body);
}

#[tokio::test]
async fn a_key_on_a_read_is_not_claimed() {
    let app = App::new();
    let request = |method| app.keyed_request(method, "judge", "/v1/judgments", "", "key");
    app.send(request(Method::GET)).await.is(200);
    app.send(request(Method::HEAD)).await.is(200);
    assert_eq!(app.host.faults.calls("begin"), 0);
    app.judge("judge", "run-1", "k").await;
    let again = app.send(request(Method::GET)).await.is(200);
    assert!(!again.is_replay());
    assert_eq!(again.ids().len(), 1);
}
