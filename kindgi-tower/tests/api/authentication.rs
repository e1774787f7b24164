//! Who calls: bearer tokens, or a principal that the host's middleware set.

use bytes::Bytes;
use http::{HeaderValue, Method, Request, header::AUTHORIZATION};
use http_body_util::Full;
use kindgi_core::model::Principal;

use crate::common::{App, Known, TENANT, Trouble, id};

const LIST: &str = "/v1/judgments";

async fn with(app: &App, headers: &[&[u8]]) -> crate::common::Answer {
    let mut request = app.request(Method::GET, "", LIST, "");
    for header in headers {
        request
            .headers_mut()
            .append(AUTHORIZATION, HeaderValue::from_bytes(header).unwrap());
    }
    app.send(request).await
}

#[tokio::test]
async fn the_scheme_is_read_in_any_case_and_may_be_followed_by_several_blanks() {
    let app = App::new();
    for header in [
        "Bearer judge",
        "bearer judge",
        "BEARER judge",
        "bEaReR   judge",
    ] {
        with(&app, &[header.as_bytes()]).await.is(200);
    }
}

#[tokio::test]
async fn a_missing_a_malformed_and_an_unknown_token_are_all_auth_missing() {
    let app = App::new();
    app.host.token("b", Known::Expired);
    with(&app, &[]).await.refused("auth-missing");
    let malformed: &[&[u8]] = &[
        b"",
        b"Bearer",
        b"Bearer ",
        b"Bearer    ",
        b"judge",
        b"Basic judge",
        b"Bearerjudge",
        b"Bearer\tjudge",
        b"Bearer judge judge",
        b"Bearer judge, Bearer judge",
        b"Bearer jud\xffge",
        "Bearer é".as_bytes(),
        b"Bearer nobody",
        b" Bearer judge",
    ];
    for header in malformed {
        let answer = with(&app, &[header]).await;
        assert_eq!(
            answer.code(),
            "auth-missing",
            "{:?}",
            String::from_utf8_lossy(header)
        );
    }
}

#[tokio::test]
async fn two_authorization_headers_are_none() {
    let app = App::new();
    with(&app, &[b"Bearer judge", b"Bearer judge"])
        .await
        .refused("auth-missing");
    with(&app, &[b"Basic x", b"Bearer judge"])
        .await
        .refused("auth-missing");
}

#[tokio::test]
async fn an_expired_and_a_revoked_token_say_so() {
    let app = App::new();
    app.host.token("old", Known::Expired);
    app.host.token("stolen", Known::Revoked);
    app.get("old", LIST).await.refused("auth-expired");
    app.get("stolen", LIST).await.refused("auth-revoked");
    // A HEAD has the status, and no more.
    app.head("stolen", LIST).await.is(401);
}

#[tokio::test]
async fn a_principal_in_the_extensions_wins_over_any_header() {
    let app = App::new();
    app.host.token("old", Known::Expired);
    let who = Principal::user(id(TENANT), id("judge"));
    for header in [
        "Bearer reader",
        "Bearer old",
        "Bearer nobody",
        "nonsense",
        "",
    ] {
        let body = crate::common::judgment("run-1", "k", "");
        let mut request = app.request(Method::POST, "", LIST, body);
        if !header.is_empty() {
            request
                .headers_mut()
                .insert(AUTHORIZATION, HeaderValue::from_static(header));
        }
        request.extensions_mut().insert(who.clone());
        let answer = app.send(request).await.is(201);
        assert_eq!(answer.text("/assertedBy/id"), "judge");
    }
    assert_eq!(app.host.faults.calls("authenticate"), 0);
}

#[tokio::test]
async fn without_an_authenticator_only_the_extensions_let_anyone_in() {
    use kindgi_tower::KindgiService;
    let mut app = App::new();
    app.service = KindgiService::builder(app.engine.clone()).build();
    app.get("judge", LIST).await.refused("auth-missing");
    let mut request = app.request(Method::GET, "", LIST, "");
    request
        .extensions_mut()
        .insert(Principal::user(id(TENANT), id("judge")));
    app.send(request).await.is(200);
}

#[tokio::test]
async fn route_and_method_come_before_authentication() {
    let app = App::new();
    app.get("", "/v1/nothing").await.refused("not-found");
    app.call(Method::DELETE, "", LIST, "")
        .await
        .refused("method-not-allowed");
    assert_eq!(app.host.faults.calls("authenticate"), 0);
}

#[tokio::test]
async fn authentication_comes_before_body_size_media_type_and_shape() {
    let app = App::with(|builder| builder.max_body_bytes(8));
    let request = |body: &'static str| {
        Request::post(format!("{LIST}?nope=1"))
            .header("content-type", "text/plain")
            .header("idempotency-key", "")
            .body(Full::<Bytes>::from(body))
            .unwrap()
    };
    app.send(request("far more than eight bytes"))
        .await
        .refused("auth-missing");
    app.send(request("{")).await.refused("auth-missing");
}

#[tokio::test]
async fn an_authenticator_that_fails_is_a_server_error_and_never_a_401() {
    let app = App::new();
    app.host.faults.set("authenticate", Trouble::Fails);
    app.get("judge", LIST)
        .await
        .refused("internal-server-error");
    app.host.faults.set("authenticate", Trouble::Panics);
    app.get("judge", LIST)
        .await
        .refused("internal-server-error");
    app.host.faults.set("authenticate", Trouble::Busy);
    app.get("judge", LIST).await.refused("database-busy");
    app.record("judge", "{}")
        .await
        .refused("internal-server-error");
    app.host.faults.clear();
    app.get("judge", LIST).await.is(200);
}
