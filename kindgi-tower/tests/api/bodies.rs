//! Bodies: their size, their media type, and strict JSON.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use bytes::Bytes;
use futures_util::{StreamExt, stream};
use http::{HeaderValue, Method, Request, header};
use http_body::Frame;
use http_body_util::{Full, StreamBody};
use kindgi_core::BoxError;

use crate::common::{Answer, App, class, finished, judgment, project_scope};

const TENANT_SCOPE: &str = r#"{"kind":"tenant"}"#;

/// Posts chunks of a body whose length nobody knows.
async fn chunked(app: &App, chunks: Vec<Result<&'static str, &'static str>>) -> Answer {
    let chunks = chunks.into_iter().map(|chunk| match chunk {
        Ok(text) => Ok(Frame::data(Bytes::from_static(text.as_bytes()))),
        Err(e) => Err(BoxError::from(e)),
    });
    let request = Request::post("/v1/judgments")
        .header(header::AUTHORIZATION, "Bearer judge")
        .body(StreamBody::new(stream::iter(chunks)))
        .unwrap();
    app.send(request).await
}

async fn typed(app: &App, types: &[&[u8]]) -> Answer {
    let mut request = app.request(
        Method::POST,
        "judge",
        "/v1/judgments",
        judgment("run-1", "k", ""),
    );
    request.headers_mut().remove(header::CONTENT_TYPE);
    for each in types {
        let each = HeaderValue::from_bytes(each).unwrap();
        request.headers_mut().append(header::CONTENT_TYPE, each);
    }
    app.send(request).await
}

#[tokio::test]
async fn a_body_over_the_limit_is_413_and_says_the_limit() {
    let body = judgment("run-1", "k", "");
    let app = App::with(|builder| builder.max_body_bytes(body.len()));
    app.record("judge", &body).await.is(201);
    let too_large = app
        .record("judge", &format!("{body} "))
        .await
        .refused("request-too-large");
    assert_eq!(
        too_large.shown("/error/details"),
        format!(r#"{{"maxBytes":{}}}"#, body.len())
    );
}

#[tokio::test]
async fn the_limit_is_1_mib_unless_configured() {
    let app = App::new();
    let body = judgment("run-1", "k", "");
    let padded = |bytes: usize| format!("{body}{}", " ".repeat(bytes - body.len()));
    app.record("judge", &padded(1 << 20)).await.is(201);
    let too_large = app
        .record("judge", &padded((1 << 20) + 1))
        .await
        .refused("request-too-large");
    assert_eq!(too_large.shown("/error/details/maxBytes"), "1048576");
}

#[tokio::test]
async fn a_body_in_chunks_is_capped_while_it_streams() {
    let app = App::with(|builder| builder.max_body_bytes(64));
    let whole = r#"{"runId":"run-1","item":{"key":"k"},"verdict":"yes"}"#;
    let (one, two) = whole.split_at(20);
    chunked(&app, vec![Ok(one), Ok(""), Ok(two)]).await.is(201);
    // Over the cap is over the cap, also when it breaks off later.
    let endless = vec![Ok(whole), Ok(whole), Err("read on")];
    chunked(&app, endless).await.refused("request-too-large");
    chunked(&app, vec![Ok(one), Err("hung up")])
        .await
        .refused("bad-input");
}

/// How many bytes of a body in pieces of 1 KiB are read until the answer, of so many there are.
async fn bytes_read(app: &App, pieces: usize) -> usize {
    let read = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&read);
    let pieces = stream::iter(0..pieces).map(move |_| {
        count.fetch_add(1024, Ordering::SeqCst);
        Ok::<_, BoxError>(Frame::data(Bytes::from_static(&[b' '; 1024])))
    });
    let request = Request::post("/v1/judgments")
        .header(header::AUTHORIZATION, "Bearer judge")
        .body(StreamBody::new(pieces))
        .unwrap();
    app.send(request).await.refused("request-too-large");
    read.load(Ordering::SeqCst)
}

#[tokio::test]
async fn a_body_over_the_cap_is_read_to_its_end_unless_it_is_far_over() {
    let app = App::with(|builder| builder.max_body_bytes(64));
    // So that its client, still sending, gets to see the answer.
    assert_eq!(bytes_read(&app, 1).await, 1024);
    assert_eq!(bytes_read(&app, 1024).await, 1 << 20);
    // The piece that showed it, the megabyte, and the piece that ended it.
    assert_eq!(bytes_read(&app, usize::MAX).await, (1 << 20) + 2048);
}

#[tokio::test(start_paused = true)]
async fn a_client_that_stops_over_the_cap_and_waits_is_answered() {
    let app = App::with(|builder| builder.max_body_bytes(64));
    let piece = Ok::<_, BoxError>(Frame::data(Bytes::from_static(&[b' '; 65])));
    let pieces = stream::iter([piece]).chain(stream::pending());
    let request = Request::post("/v1/judgments")
        .header(header::AUTHORIZATION, "Bearer judge")
        .body(StreamBody::new(pieces))
        .unwrap();
    app.send(request).await.refused("request-too-large");
}

#[tokio::test]
async fn a_content_length_that_lies_changes_nothing() {
    let app = App::with(|builder| builder.max_body_bytes(64));
    for (length, body, status) in [
        ("1", judgment("run-1", "k", ""), 201),
        ("9999", judgment("run-1", "k", ""), 201),
        ("1", " ".repeat(65), 413),
    ] {
        let mut request = app.request(Method::POST, "judge", "/v1/judgments", body);
        request
            .headers_mut()
            .insert(header::CONTENT_LENGTH, HeaderValue::from_static(length));
        app.send(request).await.is(status);
    }
}

#[tokio::test]
async fn body_size_comes_before_media_type_and_that_before_shape() {
    let app = App::with(|builder| builder.max_body_bytes(8));
    let post = |body: &'static str| {
        Request::post("/v1/judgments?nope=1")
            .header("authorization", "Bearer judge")
            .header("content-type", "text/plain")
            .body(Full::<Bytes>::from(body))
            .unwrap()
    };
    app.send(post("far too long"))
        .await
        .refused("request-too-large");
    app.send(post("{")).await.refused("unsupported-media-type");
    app.post("judge", "/v1/judgments?nope=1", "{")
        .await
        .refused_at("bad-input", "nope");
}

#[tokio::test]
async fn a_missing_content_type_and_every_json_one_are_taken() {
    let app = App::new();
    typed(&app, &[]).await.is(201);
    for json in [
        "application/json",
        "Application/JSON",
        "application/json;charset=utf-8",
        "application/json; charset=UTF-8",
        "application/json ; charset=\"utf-8\"",
        "application/json; profile=x",
        "application/merge-patch+json",
    ] {
        typed(&app, &[json.as_bytes()]).await.is(201);
    }
}

#[tokio::test]
async fn any_other_content_type_is_415() {
    let app = App::new();
    for other in [
        "",
        "text/plain",
        "text/json",
        "application/jsonp",
        "application/x-www-form-urlencoded",
        "application/json; charset=utf-16",
        "application/json; charset=iso-8859-1",
        "application/json, application/json",
        "json",
        "*/*",
    ] {
        typed(&app, &[other.as_bytes()])
            .await
            .refused("unsupported-media-type");
    }
    typed(&app, &[b"application/json\xff"])
        .await
        .refused("unsupported-media-type");
    typed(&app, &[b"application/json", b"text/plain"])
        .await
        .refused("unsupported-media-type");
    typed(&app, &[b"application/json", b"application/json"])
        .await
        .refused("unsupported-media-type");
}

#[tokio::test]
async fn a_content_coding_is_415() {
    let app = App::new();
    for (coding, status) in [("gzip", 415), ("br, identity", 415), ("identity", 201)] {
        let mut request = app.request(
            Method::POST,
            "judge",
            "/v1/judgments",
            judgment("run-1", "k", ""),
        );
        request
            .headers_mut()
            .insert(header::CONTENT_ENCODING, HeaderValue::from_static(coding));
        app.send(request).await.is(status);
    }
}

#[tokio::test]
async fn what_isnt_one_json_value_in_utf_8_is_bad_input_of_the_whole_body() {
    let app = App::new();
    let valid = judgment("run-1", "k", "");
    let utf_16: Vec<u8> = valid.encode_utf16().flat_map(u16::to_be_bytes).collect();
    let with_bom = format!("\u{feff}{valid}");
    let twice = format!("{valid}{valid}");
    let control = valid.replace("\"k\"", "\"k\n\"");
    let latin = [b"{\"runId\":\"caf\xe9\"}".as_slice()].concat();
    let bodies: &[&[u8]] = &[
        b"",
        b" ",
        b"{",
        b"nul",
        b"{'a':1}",
        b"{\"a\":1,}",
        b"[1,]",
        b"{\"a\":01}",
        b"{\"a\":+1}",
        b"{\"a\":.5}",
        b"{\"a\":1.}",
        b"{\"a\":NaN}",
        b"{\"a\":\"\\x\"}",
        b"{\"a\":\"\\u12g4\"}",
        b"{\"a\" 1}",
        b"{} // comment",
        &utf_16,
        with_bom.as_bytes(),
        twice.as_bytes(),
        control.as_bytes(),
        &latin,
    ];
    for body in bodies {
        let request = app.request(
            Method::POST,
            "judge",
            "/v1/judgments",
            Bytes::copy_from_slice(body),
        );
        app.send(request).await.refused_at("bad-input", "");
    }
    app.record("judge", &format!("\t\r\n {valid} \n"))
        .await
        .is(201);
}

#[tokio::test]
async fn a_body_that_is_no_object_is_bad_input() {
    let app = App::new();
    for body in ["[]", "null", "1", "\"{}\"", "true"] {
        app.record("judge", body).await.refused_at("bad-input", "");
        app.post("admin", "/v1/judge-classes", body)
            .await
            .refused_at("bad-input", "");
    }
}

#[tokio::test]
async fn a_body_may_nest_128_deep_and_no_deeper() {
    let app = App::new();
    let nested = |depth: usize| {
        // The body, the correction, its calls, a call and the arguments are five levels.
        let (open, close) = ("[".repeat(depth - 5), "]".repeat(depth - 5));
        let correction =
            format!(r#"{{"calls":[{{"tool":"t","args":{{"a":{open}{close}}}}}],"notCalled":[]}}"#);
        format!(
            r#"{{"runId":"run-1","item":{{"key":"k","pointer":""}},"verdict":"yes","correction":{correction}}}"#
        )
    };
    app.record("judge", &nested(128)).await.is(201);
    app.record("judge", &nested(129))
        .await
        .refused_at("bad-input", "");
    // Depth is of the syntax: it comes before an unknown field.
    let deep = |depth: usize| {
        format!(
            r#"{{"x":{}{}}}"#,
            "[".repeat(depth - 1),
            "]".repeat(depth - 1)
        )
    };
    app.record("judge", &deep(128))
        .await
        .refused_at("unknown-field", "/x");
    app.record("judge", &deep(129))
        .await
        .refused_at("bad-input", "");
    app.record("judge", &"[".repeat(500_000))
        .await
        .refused_at("bad-input", "");
    app.record("judge", &deep(250_000))
        .await
        .refused_at("bad-input", "");
}

#[tokio::test]
async fn a_lone_surrogate_escape_is_bad_input_where_it_is() {
    let app = App::new();
    for lone in [
        r"\ud83d",
        r"\udd25",
        r"\ud83d\ud83d",
        r"\ud83dx\udd25",
        r"a\uDBFF\u0041",
    ] {
        let body = judgment("run-1", "k", "").replace("\"k\"", &format!("\"{lone}\""));
        app.record("judge", &body)
            .await
            .refused_at("bad-input", "/item/key");
        let args = format!(r#"{{"a":["{lone}"]}}"#);
        let correction = format!(r#"{{"calls":[{{"tool":"t","args":{args}}}],"notCalled":[]}}"#);
        let body = format!(
            r#"{{"runId":"run-1","item":{{"key":"k","pointer":""}},"verdict":"yes","correction":{correction}}}"#
        );
        app.record("judge", &body)
            .await
            .refused_at("bad-input", "/correction/calls/0/args/a/0");
    }
    let body = judgment("run-1", "k", "").replace("\"k\"", r#""\ud83d\udd25""#);
    let pair = app.record("judge", &body).await.is(201);
    assert_eq!(pair.text("/item/key"), "🔥");
}

#[tokio::test]
async fn a_repeated_key_is_bad_input_also_when_it_is_spelled_otherwise() {
    let app = App::new();
    for (body, field) in [
        (
            r#"{"runId":"run-1","runId":"run-1","item":{"key":"k"},"verdict":"yes"}"#,
            "/runId",
        ),
        (
            r#"{"runId":"run-1","\u0072unId":"run-1","item":{"key":"k"},"verdict":"yes"}"#,
            "/runId",
        ),
        (
            r#"{"runId":"run-1","item":{"key":"k","key":"l"},"verdict":"yes"}"#,
            "/item/key",
        ),
        (r#"{"x/y":1,"x/y":1}"#, "/x~1y"),
        (r#"{"x":[{},{"y":1,"y":2}]}"#, "/x/1/y"),
    ] {
        app.record("judge", body)
            .await
            .refused_at("bad-input", field);
    }
    // The same key in two objects is no repeat.
    let answer = app
        .record(
            "judge",
            r#"{"runId":"run-1","item":{"key":"k"},"verdict":"yes"}"#,
        )
        .await;
    answer.is(201);
}

#[tokio::test]
async fn faults_are_reported_in_order_syntax_repeats_unknown_values() {
    let app = App::new();
    let unknown_and_value = r#"{"runId":1,"item":{"key":"k","nope":1},"verdict":"maybe"}"#;
    app.record("judge", unknown_and_value)
        .await
        .refused_at("unknown-field", "/item/nope");
    let repeat_too = r#"{"runId":1,"nope":1,"item":{"key":"k","key":"k"},"verdict":"maybe"}"#;
    app.record("judge", repeat_too)
        .await
        .refused_at("bad-input", "/item/key");
    let broken = &repeat_too[..repeat_too.len() - 1];
    app.record("judge", broken)
        .await
        .refused_at("bad-input", "");
    let value = r#"{"verdict":"maybe","item":{"key":""},"runId":1}"#;
    app.record("judge", value)
        .await
        .refused_at("bad-input", "/runId");
}

#[tokio::test]
async fn null_is_not_absent() {
    let app = App::new();
    for name in [
        "reason",
        "judgeClassId",
        "participantId",
        "correction",
        "runId",
        "verdict",
        "item",
    ] {
        let mut body = judgment("run-1", "k", "");
        match body.contains(&format!("\"{name}\"")) {
            true => {
                let end = if name == "item" { "}" } else { "\"" };
                let start = body.find(&format!("\"{name}\":")).unwrap() + name.len() + 3;
                let length = body[start + 1..].find(end).unwrap() + 2;
                body.replace_range(start..start + length, "null");
            }
            false => body.insert_str(1, &format!("\"{name}\":null,")),
        }
        app.record("judge", &body)
            .await
            .refused_at("bad-input", &format!("/{name}"));
    }
    for name in ["key", "pointer", "rank"] {
        let body = format!(r#"{{"runId":"run-1","item":{{"{name}":null}},"verdict":"yes"}}"#);
        let body = if name == "key" {
            body
        } else {
            judgment("run-1", "k", &format!("\"{name}\":null"))
        };
        app.record("judge", &body)
            .await
            .refused_at("bad-input", &format!("/item/{name}"));
    }
    let body = class(TENANT_SCOPE, "n", r#""description":null"#);
    app.post("admin", "/v1/judge-classes", &body)
        .await
        .refused_at("bad-input", "/description");
    // Where the schema has it, it is.
    let body = class(TENANT_SCOPE, "n", r#""assertableBy":null"#);
    app.post("admin", "/v1/judge-classes", &body).await.is(201);
}

#[tokio::test]
async fn a_missing_field_is_named() {
    let app = App::new();
    for (body, field) in [
        ("{}", "/runId"),
        (r#"{"runId":"run-1"}"#, "/item"),
        (
            r#"{"runId":"run-1","item":{},"verdict":"yes"}"#,
            "/item/key",
        ),
        (r#"{"runId":"run-1","item":{"key":"k"}}"#, "/verdict"),
        (
            r#"{"runId":"r","item":{"key":"k"},"verdict":"yes","correction":{"calls":[]}}"#,
            "/correction/notCalled",
        ),
        (
            r#"{"runId":"r","item":{"key":"k"},"verdict":"yes","correction":{"calls":[{"tool":"t"}],"notCalled":[]}}"#,
            "/correction/calls/0/args",
        ),
    ] {
        app.record("judge", body)
            .await
            .refused_at("bad-input", field);
    }
    for (body, field) in [
        ("{}", "/scope"),
        (r#"{"scope":{},"name":"n","weight":1}"#, "/scope/kind"),
        (
            r#"{"scope":{"kind":"project"},"name":"n","weight":1}"#,
            "/scope/projectId",
        ),
        (
            r#"{"scope":{"kind":"agent","projectId":"p1"},"name":"n","weight":1}"#,
            "/scope/agentId",
        ),
        (r#"{"scope":{"kind":"tenant"},"weight":1}"#, "/name"),
        (r#"{"scope":{"kind":"tenant"},"name":"n"}"#, "/weight"),
    ] {
        app.post("admin", "/v1/judge-classes", body)
            .await
            .refused_at("bad-input", field);
    }
}

#[tokio::test]
async fn operations_without_a_body_take_none_or_an_empty_object() {
    let app = App::new();
    let path = format!(
        "/v1/judgments/{}/unregister",
        app.judge("judge", "run-1", "k").await
    );
    for (body, code, field) in [
        ("null", "bad-input", ""),
        ("[]", "bad-input", ""),
        ("{", "bad-input", ""),
        (" ", "bad-input", ""),
        (r#"{"a":1}"#, "unknown-field", "/a"),
        (r#"{"a":1,"a":1}"#, "bad-input", "/a"),
    ] {
        app.post("admin", &path, body).await.refused_at(code, field);
    }
    let mut request = app.request(Method::POST, "admin", &path, "");
    request
        .headers_mut()
        .insert(header::CONTENT_TYPE, HeaderValue::from_static("text/plain"));
    app.send(request).await.refused("unsupported-media-type");
    app.post("admin", &path, " { } ").await.is(200);

    let scope = project_scope("p1");
    for body in ["", "{}"] {
        let class = app.class(&scope, "n", "").await;
        app.post(
            "admin",
            &format!("/v1/judge-classes/{class}/unregister"),
            body,
        )
        .await
        .is(200);
    }
}

#[tokio::test]
async fn a_run_named_with_escapes_is_the_run_of_that_name() {
    let app = App::new();
    app.run(finished("rün/1", "p1", "1"));
    let body = r#"{"\u0072unId":"r\u00fcn\/1","item":{"key":"\ud83d\udd25"},"verdict":"\u0079es"}"#;
    let answer = app.record("judge", body).await.is(201);
    assert_eq!(answer.text("/runId"), "rün/1");
    assert_eq!(answer.text("/verdict"), "yes");
}

#[tokio::test]
async fn an_answer_names_no_more_than_100_unknown_fields() {
    let app = App::new();
    let members: Vec<String> = (0..250).map(|n| format!(r#""x{n}":1"#)).collect();
    let answer = app
        .record("judge", &format!("{{{}}}", members.join(",")))
        .await
        .refused_at("unknown-field", "/x0");
    assert_eq!(answer.text("/error/details/fields/99"), "/x99");
    assert_eq!(answer.raw("/error/details/fields/100"), None);
    assert!(
        answer
            .text("/error/message")
            .ends_with(", /x99 and 150 more")
    );
}
