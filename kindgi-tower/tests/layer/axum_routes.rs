//! The layer in an axum router.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use axum::{
    Router,
    body::Body,
    extract::{Path, State},
    middleware::map_request,
    routing::post,
};
use http::Request;
use kindgi_core::idempotency::{IdempotencyStore, MemoryIdempotency};
use kindgi_tower::IdempotencyLayer;
use tower::ServiceExt;

use crate::support::{Answer, ada};

#[tokio::test]
async fn a_hosts_routes_keep_the_promise_inside_of_what_says_who_calls() {
    let keys: Arc<dyn IdempotencyStore> = Arc::new(MemoryIdempotency::new());
    let made = Arc::new(AtomicUsize::new(0));
    let make = |State(made): State<Arc<AtomicUsize>>, Path(what): Path<String>, body: String| async move {
        let n = made.fetch_add(1, Ordering::SeqCst) + 1;
        ([("location", format!("/{what}/{n}"))], body)
    };
    let app: Router = Router::new()
        .route("/{what}", post(make).get(|| async { "read" }))
        .with_state(Arc::clone(&made))
        .layer(IdempotencyLayer::new(keys))
        .layer(map_request(|mut request: Request<Body>| async {
            request.extensions_mut().insert(ada());
            request
        }));
    let send = |method: &str, key: &str| {
        let request = Request::builder()
            .method(method)
            .uri("/invoices")
            .header("idempotency-key", key)
            .body(Body::from("body"));
        app.clone().oneshot(request.unwrap())
    };
    for (key, at) in [("a", "/invoices/1"), ("b", "/invoices/2")] {
        for retry in [false, true] {
            let answer = Answer::of(send("POST", key).await.unwrap()).await;
            assert_eq!(answer.is_replay(), retry);
            assert_eq!(answer.all("location"), [at]);
            assert_eq!(answer.body, "body");
        }
    }
    let read = Answer::of(send("GET", "a").await.unwrap()).await;
    assert_eq!((read.body.as_str(), read.is_replay()), ("read", false));
    assert_eq!(made.load(Ordering::SeqCst), 2);
}
