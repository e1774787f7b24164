//! Requests through the whole service, as HTTP types within the process: all but the socket.

#![allow(
    clippy::expect_used,
    reason = "a benchmark that can't be set up must stop"
)]
#![allow(missing_docs, reason = "criterion's macros write undocumented items")]

use bytes::Bytes;
use criterion::{Criterion, criterion_group, criterion_main};
use http::{Request, StatusCode};
use http_body_util::{BodyExt, Full};
use kindgi_benches::{engine_with, judge};
use kindgi_tower::KindgiService;
use tokio::runtime::Builder;
use tower_service::Service;

const ROWS: usize = 100_000;
const BODY: &str =
    r#"{"runId":"run-1","item":{"key":"item-1","pointer":"/matches/0"},"verdict":"no"}"#;

fn service(c: &mut Criterion) {
    let runtime = Builder::new_current_thread()
        .enable_time()
        .build()
        .expect("a runtime");
    let who = judge().expect("a principal");
    let engine = runtime.block_on(engine_with(ROWS)).expect("an engine");
    let mut service = KindgiService::builder(engine).build();
    let mut keyed =
        |method: &str, path: &str, key: &str, body: &'static str, status: StatusCode| {
            let body = Full::new(Bytes::from_static(body.as_bytes()));
            let mut request = Request::builder()
                .method(method)
                .uri(path)
                .body(body)
                .expect("a request");
            if !key.is_empty() {
                let key = key.parse().expect("a key");
                request.headers_mut().insert("idempotency-key", key);
            }
            request.extensions_mut().insert(who.clone());
            runtime.block_on(async {
                let Ok(response) = service.call(request).await;
                assert_eq!(response.status(), status);
                let Ok(body) = response.into_body().collect().await;
                body.to_bytes()
            })
        };
    let mut group = c.benchmark_group("service");
    let path = "/v1/judgments";
    let mut number = 0;
    group.bench_function("post_with_a_new_key", |b| {
        b.iter(|| {
            number += 1;
            let key = number.to_string();
            keyed("POST", path, &key, BODY, StatusCode::CREATED)
        });
    });
    group.bench_function("post_replayed", |b| {
        b.iter(|| keyed("POST", path, "1", BODY, StatusCode::CREATED));
    });

    let mut send = |method: &str, path: &str, body: &'static str, status: StatusCode| {
        keyed(method, path, "", body, status)
    };
    let page = "/v1/judgments?runId=run-500&limit=1";
    let found = send("GET", page, "", StatusCode::OK);
    let found = String::from_utf8(found.to_vec()).expect("text");
    let id = found.split('"').nth(5).expect("an id");
    let one = format!("/v1/judgments/{id}");

    group.bench_function("post_one_that_supersedes", |b| {
        b.iter(|| send("POST", path, BODY, StatusCode::CREATED));
    });
    group.bench_function("get_one_with_copies", |b| {
        b.iter(|| send("GET", &one, "", StatusCode::OK));
    });
    group.bench_function("list_25_of_100_000", |b| {
        b.iter(|| send("GET", "/v1/judgments", "", StatusCode::OK));
    });
    group.bench_function("refuse_unknown_path", |b| {
        b.iter(|| send("GET", "/v1/nothing", "", StatusCode::NOT_FOUND));
    });
    group.finish();
}

criterion_group!(benches, service);
criterion_main!(benches);
