//! No request, however formed, panics or is answered 5xx.
//!
//! `App::send` checks each answer's headers and envelope, too.

use bytes::Bytes;
use http::{HeaderValue, Method, Request, Uri};
use http_body_util::Full;
use proptest::{collection::vec, prelude::*, sample::select};

use crate::{block_on, common::App};

const PATHS: &[&str] = &[
    "/v1/judgments",
    "/v1/judgments/x",
    "/v1/judgments/x/unregister",
    "/v1/judge-classes",
    "/v1/judge-classes/x",
    "/v1/judge-classes/x/unregister",
    "/v1/projects/p1/judging-rules",
    "/v1/projects/p1/judging-rules/x",
    "/v1/projects/p1/judging-rules/x/unregister",
    "/v1/projects/p1/judging-rules/x/versions",
    "/v1/projects/p1/judging-rules/x/results",
    "/v1/projects/p1/judging-rules/preview",
    "/v1/projects/p1/judging-queue",
    "/v1/projects/p1/judging-queue/x/dismiss",
    "/v1/projects/p1/judging-queue/x/reopen",
];
const METHODS: &[&str] = &["GET", "HEAD", "POST", "PATCH"];
const HEADERS: &[&str] = &[
    "authorization",
    "content-type",
    "content-encoding",
    "content-length",
    "idempotency-key",
    "x-request-id",
    "accept",
    "transfer-encoding",
    "expect",
];

/// Text of pieces that mean something where they stand, and some that don't.
fn pieces(pieces: &'static [&'static str]) -> impl Strategy<Value = String> {
    let piece = prop_oneof![4 => select(pieces).prop_map(str::to_owned), 1 => "[!-~]{0,4}"];
    vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

fn query() -> impl Strategy<Value = String> {
    pieces(&[
        "limit",
        "cursor",
        "runId",
        "agentId",
        "agentVersion",
        "scopeKind",
        "scopeId",
        "verdict",
        "projectId",
        "=",
        "=",
        "=",
        "&",
        "&",
        "&",
        "tenant",
        "org",
        "project",
        "agent",
        "yes",
        "1",
        "1e1",
        "%00",
        "%ff",
        "%",
        "%z",
        "+",
        "a",
        "%c3%a9",
        "inherit",
        "state",
        "ruleId",
        "forMe",
        "addedAfter",
        "closedAfter",
        "since",
        "agentIds",
        "flowIds",
        "versions",
        "status",
        "includeDryRuns",
        "sample",
        "last",
        "open",
        "live",
        "completed",
        "true",
        ",",
        "2026-01-01T00:00:00Z",
        "2026-01-01T00:00:00",
        "-01:00",
        "1e-05",
        "0",
        "501",
    ])
}

fn path() -> impl Strategy<Value = String> {
    let parts = pieces(&[
        "/",
        "/",
        "/v1",
        "/v1/judgments",
        "/v1/judge-classes",
        "/v1/projects",
        "/judging-rules",
        "/judging-queue",
        "/preview",
        "/results",
        "/dismiss",
        "/reopen",
        "/unregister",
        "/versions",
        "%2F",
        "%00",
        "%ff",
        "..",
        ".",
        "{id}",
        "*",
        "x",
        "//",
        "kindgi",
    ]);
    parts.prop_map(|parts| format!("/{parts}"))
}

fn header() -> impl Strategy<Value = (&'static str, Vec<u8>)> {
    let value = prop_oneof![
        vec(any::<u8>(), 0..40),
        pieces(&[
            "Bearer ",
            "bearer",
            " ",
            "judge",
            "application/json",
            ";",
            "charset=",
            "utf-8",
            "utf-16",
            "\"",
            ",",
            "gzip",
            "identity",
            "0",
            "99999999999999999999",
            "\t",
        ])
        .prop_map(String::into_bytes),
    ];
    (select(HEADERS), value)
}

/// A request to anywhere; `None` where HTTP itself has no such one.
fn request(
    method: &str,
    target: &str,
    headers: &[(&'static str, Vec<u8>)],
    body: Vec<u8>,
    authenticated: bool,
) -> Option<Request<Full<Bytes>>> {
    let mut request = Request::new(Full::from(Bytes::from(body)));
    *request.method_mut() = Method::from_bytes(method.as_bytes()).ok()?;
    *request.uri_mut() = target.parse::<Uri>().ok()?;
    if authenticated {
        let token = HeaderValue::from_static("Bearer admin");
        request.headers_mut().insert("authorization", token);
    }
    for (name, value) in headers {
        if let Ok(value) = HeaderValue::from_bytes(value) {
            request.headers_mut().append(*name, value);
        }
    }
    Some(request)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1024))]

    #[test]
    fn arbitrary_bytes_as_a_body(
        path in select(PATHS),
        method in select(METHODS),
        body in prop_oneof![vec(any::<u8>(), 0..256), ".*".prop_map(String::into_bytes)],
    ) {
        let app = App::new();
        let request = request(method, path, &[], body, true).unwrap();
        let answer = block_on(app.send(request));
        prop_assert!(answer.status.as_u16() < 500, "{}", answer.body);
    }

    #[test]
    fn json_of_any_shape_as_a_body(
        path in select(PATHS),
        method in select(METHODS),
        body in pieces(&[
            "{", "}", "[", "]", ",", ":", "\"runId\"", "\"item\"", "\"key\"", "\"verdict\"", "\"yes\"", "\"scope\"",
            "\"kind\"", "\"tenant\"", "\"name\"", "\"weight\"", "null", "true", "1", "-0", "1e400", "\"\\ud83d\"",
            "\"\\u0000\"", " ", "{}", "[]", "\"run-1\"", "\"when\"", "\"agentIds\"", "\"sample\"", "\"maxOpen\"",
            "\"reason\"",
        ]),
    ) {
        let app = App::new();
        let request = request(method, path, &[], body.into_bytes(), true).unwrap();
        let answer = block_on(app.send(request));
        prop_assert!(answer.status.as_u16() < 500, "{}", answer.body);
    }

    #[test]
    fn any_path_and_query_and_headers(
        known in select(PATHS),
        unknown in prop::option::weighted(0.3, path()),
        query in prop::option::of(query()),
        method in prop_oneof![4 => select(METHODS).prop_map(str::to_owned), 1 => "[A-Z]{1,8}"],
        headers in vec(header(), 0..4),
        authenticated: bool,
    ) {
        let path = unknown.unwrap_or_else(|| known.to_owned());
        let target = match query {
            Some(query) => format!("{path}?{query}"),
            None => path,
        };
        if let Some(request) = request(&method, &target, &headers, b"{}".to_vec(), authenticated) {
            let app = App::with(|builder| builder.base_path("/kindgi").trust_request_id_header(true));
            let answer = block_on(app.send(request));
            prop_assert!(answer.status.as_u16() < 500, "{target} {}", answer.body);
        }
    }

    #[test]
    fn any_encoded_bytes_as_an_id_and_as_a_filter(bytes in vec(any::<u8>(), 1..40)) {
        let app = App::new();
        let encoded: String = bytes.iter().map(|byte| format!("%{byte:02x}")).collect();
        for path in [
            format!("/v1/judgments/{encoded}"),
            format!("/v1/judge-classes/{encoded}"),
            format!("/v1/projects/{encoded}/judging-rules"),
            format!("/v1/projects/p1/judging-rules/{encoded}"),
            format!("/v1/projects/p1/judging-rules/{encoded}/versions?cursor={encoded}"),
            format!("/v1/projects/p1/judging-rules/{encoded}/results?since={encoded}"),
            format!("/v1/projects/{encoded}/judging-rules/preview?ruleId={encoded}"),
            format!("/v1/projects/p1/judging-rules/preview?agentIds={encoded}"),
            format!("/v1/projects/p1/judging-rules/preview?sample={encoded}"),
            format!("/v1/projects/p1/judging-rules/preview?last={encoded}"),
            format!("/v1/projects/{encoded}/judging-queue"),
            format!("/v1/projects/p1/judging-queue?agentId={encoded}"),
            format!("/v1/projects/p1/judging-queue?addedAfter={encoded}"),
            format!("/v1/projects/p1/judging-queue?cursor={encoded}"),
            format!("/v1/judgments?runId={encoded}"),
            format!("/v1/judgments?cursor={encoded}"),
            format!("/v1/judge-classes?scopeKind=project&projectId={encoded}"),
        ] {
            let answer = block_on(app.get("admin", &path));
            prop_assert!(answer.status.as_u16() < 500, "{path} {}", answer.body);
        }
        for how in ["dismiss", "reopen"] {
            let path = format!("/v1/projects/p1/judging-queue/{encoded}/{how}");
            let answer = block_on(app.post("admin", &path, ""));
            prop_assert!([400, 404].contains(&answer.status.as_u16()), "{path} {}", answer.body);
        }
    }
}
