//! The layer on a plain tower service.

use std::{
    future::{Future as _, poll_fn},
    panic::resume_unwind,
    pin::pin,
    sync::atomic::{AtomicBool, Ordering},
    task::Poll,
};

use bytes::Bytes;
use http::{HeaderName, Method, Request, Response};
use http_body::Body as _;
use http_body_util::{BodyExt, Full};
use kindgi_core::model::Principal;
use kindgi_tower::Withhold;
use tokio::sync::Semaphore;
use tower::ServiceExt;

use crate::support::{Answer, Pieces, World, ada, post};

const DAY: i64 = 24 * 60 * 60 * 1000;

#[tokio::test]
async fn a_retry_gets_the_first_answer_and_has_no_effect() {
    let world = World::new();
    for method in [Method::POST, Method::PUT, Method::PATCH, Method::DELETE] {
        let before = world.own.effects();
        let mut answers = Vec::new();
        for _ in 0..3 {
            let mut request = post("key", "body");
            *request.method_mut() = method.clone();
            answers.push(world.send(request).await);
        }
        assert_eq!(world.own.effects(), before + 1, "{method}");
        assert_eq!(answers[0].body, format!("answer {}", before + 1));
        assert!(!answers[0].is_replay());
        for retry in &answers[1..] {
            assert!(retry.is_replay());
            assert_eq!(
                (retry.status, &retry.body),
                (answers[0].status, &answers[0].body)
            );
        }
    }
    assert!(
        world
            .own
            .bodies
            .lock()
            .unwrap()
            .iter()
            .all(|body| body == "body")
    );
}

#[tokio::test]
async fn the_named_headers_are_kept_in_order_with_repeats_and_no_other() {
    let link = HeaderName::from_static("link");
    let never = [
        "set-cookie",
        "connection",
        "keep-alive",
        "transfer-encoding",
        "te",
        "trailer",
        "upgrade",
    ];
    let world = World::with(|mut layer| {
        for name in [
            "link",
            "set-cookie",
            "connection",
            "keep-alive",
            "transfer-encoding",
        ] {
            layer = layer.keep_header(name.parse().unwrap());
        }
        for name in ["te", "trailer", "upgrade", "link"] {
            layer = layer.keep_header(name.parse().unwrap());
        }
        layer
    });
    world.own.answers(move |_| {
        let mut response = Response::builder().status(201);
        for name in never {
            response = response.header(name, "x");
        }
        for value in ["one", "two", "one"] {
            response = response.header(&link, value);
        }
        response = response
            .header("content-type", "text/plain")
            .header("location", "/invoices/1")
            .header("etag", "\"1\"")
            .header("content-language", "en")
            .header("x-other", "x");
        response.body(Pieces::of(&["a", "", "b"])).unwrap()
    });
    let first = world.post().await;
    assert_eq!(first.all("set-cookie"), ["x"]);
    let retry = world.post().await;
    assert!(retry.is_replay());
    assert_eq!((retry.status, retry.body.as_str()), (201, "ab"));
    assert_eq!(retry.all("link"), ["one", "two", "one"]);
    let names = ["content-type", "location", "etag", "content-language"];
    for name in names {
        assert_eq!(retry.all(name), first.all(name), "{name}");
    }
    // Those, the three links, and the mark of a replay.
    assert_eq!(
        retry.headers.len(),
        names.len() + 3 + 1,
        "{:?}",
        retry.headers
    );
}

#[tokio::test]
async fn a_withheld_answer_is_given_once_and_then_only_that_it_was() {
    let world = World::new();
    world.own.answers(|_| {
        let mut response = Response::new(Pieces::of(&["token"]));
        response.extensions_mut().insert(Withhold);
        response
    });
    assert_eq!(world.post().await.body, "token");
    world.clock.advance_millis(1_500);
    for _ in 0..2 {
        let retry = world.post().await;
        retry.refused(409, "idempotency-key-replay-withheld");
        let details = r#""details":{"status":200,"at":"2026-01-01T00:00:00.000Z"}"#;
        assert!(retry.body.contains(details), "{}", retry.body);
        assert!(!retry.body.contains("token\""));
    }
    world
        .send(post("key", "other"))
        .await
        .refused(409, "idempotency-key-body-mismatch");
    assert_eq!(world.own.effects(), 1);
    world.clock.advance_millis(DAY);
    assert_eq!(world.post().await.body, "token");
}

#[tokio::test]
async fn an_answer_over_the_cap_is_given_whole_and_withheld_later() {
    for (answer, is_kept) in [
        (&["12345678"][..], true),
        (&["1234", "5678"], true),
        (&["123456789"], false),
        (&["1234", "56789"], false),
        (&["12345678", "9"], false),
        (&["1", "23456789", "0", "more"], false),
    ] {
        let world = World::with(|layer| layer.max_answer_bytes(8));
        let pieces: Vec<String> = answer.iter().map(|piece| (*piece).to_owned()).collect();
        world.own.answers(move |_| {
            let pieces: Vec<&str> = pieces.iter().map(String::as_str).collect();
            Response::new(Pieces::of(&pieces))
        });
        assert_eq!(world.post().await.body, answer.concat());
        let retry = world.post().await;
        match is_kept {
            true => assert_eq!(retry.body, answer.concat()),
            false => retry.refused(409, "idempotency-key-replay-withheld"),
        }
        assert_eq!(world.own.effects(), 1);
    }
}

#[tokio::test]
async fn an_answer_that_broke_off_is_never_replayed_as_if_whole() {
    let world = World::new();
    world
        .own
        .answers(|_| Response::new(Pieces::of(&["half"]).broken()));
    let first = world.service.clone().oneshot(post("key", "body")).await;
    assert!(first.unwrap().into_body().collect().await.is_err());
    world
        .post()
        .await
        .refused(409, "idempotency-key-replay-withheld");
}

#[tokio::test]
async fn a_body_over_the_cap_is_413_and_nothing_is_done() {
    let world = World::with(|layer| layer.max_body_bytes(4));
    let refused = world.send(post("key", "12345")).await;
    refused.refused(413, "request-too-large");
    assert!(refused.body.contains(r#""maxBytes":4"#));
    assert_eq!(world.own.effects(), 0);
    assert_eq!(world.send(post("key", "1234")).await.status, 200);
}

#[tokio::test]
async fn a_key_needs_its_shape_and_somebody_whose_it_is() {
    let world = World::new();
    let long = "a".repeat(256);
    for key in ["", "a b", &long] {
        world
            .send(post(key, "body"))
            .await
            .refused(400, "bad-input");
    }
    let mut twice = post("key", "body");
    twice
        .headers_mut()
        .append("idempotency-key", "key".parse().unwrap());
    world.send(twice).await.refused(400, "bad-input");
    let mut nobodys = post("key", "body");
    nobodys.extensions_mut().remove::<Principal>();
    let refused = world.send(nobodys).await;
    refused.refused(400, "bad-input");
    assert!(refused.body.contains(r#""field":"Idempotency-Key""#));
    assert!(refused.headers.contains_key("x-request-id"));
    assert_eq!(world.own.effects(), 0);
    assert_eq!(world.send(post(&"a".repeat(255), "body")).await.status, 200);
}

#[tokio::test]
async fn another_caller_method_path_query_or_key_is_another_request() {
    let world = World::new();
    world.post().await;
    let bob = Principal::user("acme".parse().unwrap(), "bob".parse().unwrap());
    let service = Principal::service("acme".parse().unwrap(), "ada".parse().unwrap());
    let elsewhere = Principal::user("other".parse().unwrap(), "ada".parse().unwrap());
    let mut others = Vec::new();
    for who in [bob, service, elsewhere] {
        let mut request = post("key", "body");
        request.extensions_mut().insert(who);
        others.push(request);
    }
    for path in ["/invoices/1", "/invoices?page=1", "/Invoices"] {
        let mut request = post("key", "body");
        *request.uri_mut() = path.parse().unwrap();
        others.push(request);
    }
    let mut put = post("key", "body");
    *put.method_mut() = Method::PUT;
    others.push(put);
    others.push(post("Key", "body"));
    for (n, other) in others.into_iter().enumerate() {
        assert_eq!(world.send(other).await.body, format!("answer {}", n + 2));
    }
}

#[tokio::test]
async fn reads_and_requests_without_a_key_pass_through_as_they_are() {
    let world = World::with(|layer| layer.max_body_bytes(1).max_answer_bytes(1));
    world
        .own
        .answers(|_| Response::new(Pieces::of(&["one", "two"])));
    for n in 1..=3 {
        let mut get = post("key", "long body");
        *get.method_mut() = Method::GET;
        let mut response = world.service.clone().oneshot(get).await.unwrap();
        for piece in ["one", "two"] {
            let frame = response.body_mut().frame().await.unwrap().unwrap();
            assert_eq!(frame.into_data().unwrap(), piece);
        }
        assert_eq!(world.own.effects(), 2 * n - 1);
        // Nobody needs to be known for it.
        let keyless = Request::post("/").body(Full::new(Bytes::from("long body")));
        assert_eq!(world.send(keyless.unwrap()).await.body, "onetwo");
        assert_eq!(world.own.effects(), 2 * n);
    }
}

#[tokio::test]
async fn refusals_and_errors_free_the_key() {
    let world = World::new();
    for status in [400, 404, 409, 500, 503] {
        world.own.answers(move |n| {
            let body = Pieces::of(&[&format!("refused {n}")]);
            Response::builder().status(status).body(body).unwrap()
        });
        for body in ["body", "other"] {
            let refused = world.send(post("key", body)).await;
            assert_eq!(refused.status, status);
            assert!(refused.body.starts_with("refused"));
        }
    }
    let mut failing = post("key", "body");
    failing.headers_mut().insert("fail", "x".parse().unwrap());
    let failed = world.service.clone().oneshot(failing).await;
    assert_eq!(failed.err(), Some("on purpose"));
    assert_eq!(world.own.effects(), 11);
    world.own.answers(|_| Response::new(Pieces::of(&["done"])));
    assert_eq!(world.post().await.body, "done");
    assert!(world.post().await.is_replay());
    assert_eq!(world.own.effects(), 12);
}

#[tokio::test]
async fn a_panic_is_a_server_error_and_frees_the_key() {
    let world = World::new();
    let first = AtomicBool::new(true);
    world.own.answers(move |_| {
        if first.swap(false, Ordering::SeqCst) {
            // Without the hook's message on the test's output.
            resume_unwind(Box::new("on purpose"));
        }
        Response::new(Pieces::of(&["done"]))
    });
    world.post().await.refused(500, "internal-server-error");
    let done = world.send(post("key", "other")).await;
    assert_eq!((done.body.as_str(), done.is_replay()), ("done", false));
    assert!(world.send(post("key", "other")).await.is_replay());
}

#[tokio::test]
async fn a_retry_while_the_first_runs_waits_and_a_hung_up_first_finishes() {
    let world = World::new();
    world.own.gate.forget_permits(Semaphore::MAX_PERMITS);
    {
        let mut first = pin!(world.service.clone().oneshot(post("key", "body")));
        let ready = poll_fn(|cx| Poll::Ready(first.as_mut().poll(cx).is_ready())).await;
        assert!(!ready);
        // Its task takes the key.
        tokio::task::yield_now().await;
        let retry = world.post().await;
        retry.refused(409, "idempotency-key-in-flight");
        assert_eq!(retry.all("retry-after"), ["30"]);
        world
            .send(post("key", "other"))
            .await
            .refused(409, "idempotency-key-body-mismatch");
    }
    // It hung up.
    world.own.gate.add_permits(1);
    let kept = loop {
        tokio::task::yield_now().await;
        let retry = world.post().await;
        if retry.status != 409 {
            break retry;
        }
    };
    assert!(kept.is_replay());
    assert_eq!(kept.body, "answer 1");
    assert_eq!(world.own.effects(), 1);
}

#[tokio::test]
async fn a_bodys_size_is_told_as_before() {
    let world = World::new();
    let response = world.service.clone().oneshot(post("key", "body")).await;
    assert_eq!(response.unwrap().body().size_hint().exact(), Some(8));
    let retry = world.service.clone().oneshot(post("key", "body")).await;
    let retry = retry.unwrap();
    assert_eq!(retry.body().size_hint().exact(), Some(8));
    assert_eq!(Answer::of(retry).await.body, "answer 1");
    assert_eq!(ada().id.as_str(), "ada");
}
