//! Request ids: one for each answer, made by the server.

use std::collections::HashSet;

use http::{HeaderValue, Method};
use kindgi_tower::RequestId;

use crate::common::{Answer, App};

const LIST: &str = "/v1/judgments";

async fn with(app: &App, extension: Option<&str>, headers: &[&[u8]]) -> Answer {
    let mut request = app.request(Method::GET, "judge", LIST, "");
    if let Some(id) = extension {
        request.extensions_mut().insert(RequestId::new(id).unwrap());
    }
    for header in headers {
        let header = HeaderValue::from_bytes(header).unwrap();
        request.headers_mut().append("x-request-id", header);
    }
    app.send(request).await.is(200)
}

#[tokio::test]
async fn every_answer_has_a_request_id_of_its_own() {
    let app = App::new();
    let mut seen = HashSet::new();
    for path in [
        LIST,
        LIST,
        "/v1/nothing",
        "/v1/judgments/none",
        "/v1/judgments?x=1",
    ] {
        let answer = app.get("judge", path).await;
        assert!(seen.insert(answer.header("x-request-id").unwrap().to_owned()));
    }
}

#[tokio::test]
async fn the_hosts_id_in_the_extensions_is_taken_over_whatever_the_header() {
    for trust in [false, true] {
        let app = App::with(|builder| builder.trust_request_id_header(trust));
        let long = "~".repeat(128);
        for id in ["host-1", "!", long.as_str()] {
            let answer = with(&app, Some(id), &[b"client-1"]).await;
            assert_eq!(answer.header("x-request-id"), Some(id));
        }
    }
    // In the envelope, too: `send` compares the two.
    let app = App::new();
    let mut request = app.request(Method::GET, "", LIST, "");
    request
        .extensions_mut()
        .insert(RequestId::new("host-2").unwrap());
    let answer = app.send(request).await.refused("auth-missing");
    assert_eq!(answer.text("/error/requestId"), "host-2");
}

#[tokio::test]
async fn a_clients_header_counts_only_if_the_host_says_so() {
    let app = App::new();
    let answer = with(&app, None, &[b"client-1"]).await;
    assert_ne!(answer.header("x-request-id"), Some("client-1"));
    let app = App::with(|builder| builder.trust_request_id_header(true));
    let answer = with(&app, None, &[b"client-1"]).await;
    assert_eq!(answer.header("x-request-id"), Some("client-1"));
}

#[tokio::test]
async fn a_trusted_header_that_is_no_id_is_replaced() {
    let app = App::with(|builder| builder.trust_request_id_header(true));
    let long = [b'a'; 129];
    for header in [
        b"".as_slice(),
        b"two words",
        b"a\tb",
        b"\xff",
        "é".as_bytes(),
        &long,
    ] {
        let answer = with(&app, None, &[header]).await;
        let id = answer.header("x-request-id").unwrap();
        assert_ne!(id.as_bytes(), header);
    }
}

#[test]
fn an_id_is_1_to_128_visible_ascii_characters() {
    assert!(RequestId::new("a".repeat(128)).is_some());
    for wrong in [
        "",
        " ",
        "a b",
        "a\n",
        "\u{7f}",
        "é",
        "a\0",
        &"a".repeat(129),
    ] {
        assert!(RequestId::new(wrong).is_none(), "{wrong:?}");
    }
}
