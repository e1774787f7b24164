//! What an `Idempotency-Key` may be, and when it is looked at.

use http::{HeaderValue, Method};

use crate::common::{Answer, App, class, judgment, queue, rule, rules};

const KEY: &str = "idempotency-key";

async fn with(app: &App, method: Method, path: &str, body: &str, keys: &[&[u8]]) -> Answer {
    let mut request = app.request(method, "admin", path, body.to_owned());
    for key in keys {
        request
            .headers_mut()
            .append(KEY, HeaderValue::from_bytes(key).unwrap());
    }
    app.send(request).await
}

#[tokio::test]
async fn a_key_of_1_to_255_visible_ascii_characters_is_taken_everywhere() {
    let app = App::new();
    let long = [b'~'; 255];
    for key in [b"k".as_slice(), b"!!", &long] {
        let judgment = with(
            &app,
            Method::POST,
            "/v1/judgments",
            &judgment("run-1", "k", ""),
            &[key],
        )
        .await
        .is(201);
        let path = format!("/v1/judgments/{}/unregister", judgment.text("/id"));
        with(&app, Method::POST, &path, "", &[key]).await.is(200);
        let scope = r#"{"kind":"tenant"}"#;
        let class = with(
            &app,
            Method::POST,
            "/v1/judge-classes",
            &class(scope, "n", ""),
            &[key],
        )
        .await
        .is(201);
        let path = format!("/v1/judge-classes/{}", class.text("/id"));
        with(&app, Method::PATCH, &path, r#"{"weight":1}"#, &[key])
            .await
            .is(200);
        with(
            &app,
            Method::POST,
            &format!("{path}/unregister"),
            "",
            &[key],
        )
        .await
        .is(200);
        let path = rules("p1");
        let made = with(&app, Method::POST, &path, &rule("n", ""), &[key]).await;
        let path = format!("{path}/{}", made.is(201).text("/ruleId"));
        let run = format!("run-{}", key.len());
        app.queued("p1", &[&run]).await;
        for how in ["dismiss", "reopen"] {
            let path = format!("{}/{run}/{how}", queue("p1"));
            with(&app, Method::POST, &path, "{}", &[key]).await.is(200);
        }
        let answer = with(&app, Method::PATCH, &path, r#"{"sample":0.5}"#, &[key]).await;
        answer.is(200);
        let path = format!("{path}/unregister");
        with(&app, Method::POST, &path, "", &[key]).await.is(200);
    }
}

#[tokio::test]
async fn any_other_key_or_a_second_one_is_bad_input_and_nothing_is_done() {
    let app = App::new();
    let kept = app.judge("judge", "run-1", "k").await;
    let class_id = app.class(r#"{"kind":"tenant"}"#, "n", "").await;
    let kept_rule = app.rule("p1", "n", "").await;
    let long = [b'a'; 256];
    let wrong: &[&[&[u8]]] = &[
        &[b""],
        &[b" "],
        &[b"a b"],
        &[b"a\tb"],
        &[b"\xff"],
        &["é".as_bytes()],
        &[&long],
        &[b"a", b"a"],
        &[b"a", b"b"],
        &[b"", b"a"],
    ];
    app.queued("p1", &["open", "dismissed"]).await;
    app.moved("admin", "dismissed", "dismiss", "").await.is(200);
    let requests = [
        (
            Method::POST,
            "/v1/judgments".to_owned(),
            judgment("run-1", "new", ""),
        ),
        (
            Method::POST,
            format!("/v1/judgments/{kept}/unregister"),
            String::new(),
        ),
        (
            Method::POST,
            "/v1/judge-classes".to_owned(),
            class(r#"{"kind":"tenant"}"#, "new", ""),
        ),
        (
            Method::PATCH,
            format!("/v1/judge-classes/{class_id}"),
            r#"{"weight":9}"#.to_owned(),
        ),
        (
            Method::POST,
            format!("/v1/judge-classes/{class_id}/unregister"),
            String::new(),
        ),
        (Method::POST, rules("p1"), rule("new", "")),
        (
            Method::PATCH,
            kept_rule.clone(),
            r#"{"name":"m"}"#.to_owned(),
        ),
        (
            Method::POST,
            format!("{kept_rule}/unregister"),
            String::new(),
        ),
        (
            Method::POST,
            format!("{}/open/dismiss", queue("p1")),
            r#"{"reason":"x"}"#.to_owned(),
        ),
        (
            Method::POST,
            format!("{}/dismissed/reopen", queue("p1")),
            String::new(),
        ),
    ];
    for keys in wrong {
        for (method, path, body) in &requests {
            let answer = with(&app, method.clone(), path, body, keys).await;
            answer.refused_at("bad-input", "Idempotency-Key");
        }
    }
    assert_eq!(app.ids("admin", "/v1/judgments").await, [kept]);
    let classes = app.get("admin", "/v1/judge-classes").await;
    assert_eq!(classes.ids(), [class_id]);
    assert_eq!(classes.shown("/data/0/weight"), "2");
    assert_eq!(app.get("admin", &rules("p1")).await.column("name"), ["n"]);
    for state in ["open", "dismissed"] {
        assert_eq!(app.state("p1", state).await, state);
    }
}

#[tokio::test]
async fn the_key_comes_after_the_shape_and_before_existence() {
    let app = App::new();
    let answer = with(&app, Method::POST, "/v1/judgments", r#"{"x":1}"#, &[b""]).await;
    answer.refused("unknown-field");
    let body = judgment("no-such-run", "k", "");
    let answer = with(&app, Method::POST, "/v1/judgments", &body, &[b""]).await;
    answer.refused_at("bad-input", "Idempotency-Key");
    let answer = with(&app, Method::PATCH, "/v1/judge-classes/none", "{}", &[b""]).await;
    answer.refused_at("bad-input", "");
    let answer = with(
        &app,
        Method::PATCH,
        "/v1/judge-classes/none",
        r#"{"weight":1}"#,
        &[b""],
    )
    .await;
    answer.refused_at("bad-input", "Idempotency-Key");
    let answer = with(
        &app,
        Method::POST,
        "/v1/judge-classes/none/unregister",
        "",
        &[b""],
    )
    .await;
    answer.refused_at("bad-input", "Idempotency-Key");
    let path = format!("{}/none", rules("p1"));
    let answer = with(&app, Method::PATCH, &path, r#"{"when":null}"#, &[b""]).await;
    answer.refused_at("bad-input", "/when");
    let answer = with(&app, Method::PATCH, &path, "{}", &[b""]).await;
    answer.refused_at("bad-input", "Idempotency-Key");
    let path = format!("{path}/unregister");
    let answer = with(&app, Method::POST, &path, "", &[b""]).await;
    answer.refused_at("bad-input", "Idempotency-Key");
    for how in ["dismiss", "reopen"] {
        let path = format!("{}/none/{how}", queue("x"));
        let answer = with(&app, Method::POST, &path, "[]", &[b""]).await;
        answer.refused_at("bad-input", "");
        let answer = with(&app, Method::POST, &path, "", &[b""]).await;
        answer.refused_at("bad-input", "Idempotency-Key");
    }
}

#[tokio::test]
async fn a_key_on_a_read_is_nobodys_business() {
    let app = App::new();
    with(&app, Method::GET, "/v1/judgments", "", &[b"", b"two words"])
        .await
        .is(200);
}
