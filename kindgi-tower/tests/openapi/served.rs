//! The document over HTTP: public, cacheable, with the mount in it.

use bytes::Bytes;
use http::{Method, Request, Response, StatusCode};
use http_body_util::{BodyExt, Empty};
use serde_json::{Value, json};
use tower::ServiceExt;

use crate::common::App;

const PATH: &str = "/v1/openapi.json";

async fn send(app: &App, method: Method, path: &str, headers: &[(&str, &str)]) -> Response<Bytes> {
    let mut request = Request::builder().method(method).uri(path);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let request = request.body(Empty::<Bytes>::new()).unwrap();
    let Ok(response) = app.service.clone().oneshot(request).await;
    let (parts, body) = response.into_parts();
    let Ok(body) = body.collect().await;
    Response::from_parts(parts, body.to_bytes())
}

async fn get(app: &App, headers: &[(&str, &str)]) -> Response<Bytes> {
    send(app, Method::GET, PATH, headers).await
}

fn header<'r>(response: &'r Response<Bytes>, name: &str) -> Option<&'r str> {
    response
        .headers()
        .get(name)
        .map(|value| value.to_str().unwrap())
}

#[tokio::test]
async fn it_is_for_everyone_and_may_be_cached() {
    let app = App::new();
    for token in [None, Some("Bearer nobody's"), Some("Bearer judge")] {
        let headers: Vec<_> = token
            .map(|token| ("authorization", token))
            .into_iter()
            .collect();
        let answer = get(&app, &headers).await;
        assert_eq!(answer.status(), 200);
        assert_eq!(header(&answer, "content-type"), Some("application/json"));
        assert_eq!(
            header(&answer, "cache-control"),
            Some("public, max-age=300")
        );
        assert!(header(&answer, "x-request-id").is_some());
        assert_eq!(answer.body(), kindgi_tower::openapi().as_bytes());
    }
}

#[tokio::test]
async fn a_client_that_has_it_is_told_so_without_a_body() {
    let app = App::new();
    let first = get(&app, &[]).await;
    let etag = header(&first, "etag").unwrap().to_owned();
    assert!(
        etag.starts_with('"') && etag.ends_with('"') && etag.len() > 2,
        "{etag}"
    );
    let several = format!("\"other\", W/{etag}");
    for (tags, status) in [
        (etag.as_str(), 304),
        (several.as_str(), 304),
        ("*", 304),
        ("\"other\"", 200),
        (etag.trim_matches('"'), 200),
    ] {
        for method in [Method::GET, Method::HEAD] {
            let answer = send(&app, method.clone(), PATH, &[("if-none-match", tags)]).await;
            assert_eq!(answer.status(), status, "{tags}");
            assert_eq!(header(&answer, "etag"), Some(&*etag));
            assert_eq!(
                header(&answer, "cache-control"),
                Some("public, max-age=300")
            );
            let has_body = status == 200 && method == Method::GET;
            assert_eq!(answer.body().is_empty(), !has_body);
            assert_eq!(header(&answer, "content-type").is_none(), status == 304);
        }
    }
}

#[tokio::test]
async fn head_says_how_long_it_is() {
    let app = App::new();
    let answer = send(&app, Method::HEAD, PATH, &[]).await;
    assert!(answer.body().is_empty());
    let length = kindgi_tower::openapi().len().to_string();
    assert_eq!(header(&answer, "content-length"), Some(&*length));
}

#[tokio::test]
async fn another_method_path_or_parameter_is_refused() {
    let app = App::new();
    let post = send(&app, Method::POST, PATH, &[]).await;
    assert_eq!(post.status(), StatusCode::METHOD_NOT_ALLOWED);
    assert_eq!(header(&post, "allow"), Some("GET, HEAD"));
    let slash = send(&app, Method::GET, "/v1/openapi.json/", &[]).await;
    assert_eq!(slash.status(), StatusCode::NOT_FOUND);
    let query = send(&app, Method::GET, "/v1/openapi.json?format=yaml", &[]).await;
    assert_eq!(query.status(), StatusCode::BAD_REQUEST);
    for refused in [post, slash, query] {
        assert_eq!(header(&refused, "cache-control"), Some("no-store"));
        assert_eq!(header(&refused, "etag"), None);
    }
}

#[tokio::test]
async fn the_server_is_where_the_service_is_mounted() {
    for (base_path, url) in [("", "/"), ("/kindgi", "/kindgi"), ("a/b/", "/a/b")] {
        let app = App::with(|builder| builder.base_path(base_path));
        // With the prefix taken off by the host's router, and with it still there.
        let mounted = format!("{}{PATH}", if url == "/" { "" } else { url });
        for path in [PATH, &mounted] {
            let answer = send(&app, Method::GET, path, &[]).await;
            let document: Value = serde_json::from_slice(answer.body()).unwrap();
            assert_eq!(document["servers"], json!([{ "url": url }]));
        }
    }
}

#[tokio::test]
async fn another_mount_is_another_version() {
    let root = get(&App::new(), &[]).await;
    let again = get(&App::new(), &[]).await;
    let mounted = get(&App::with(|builder| builder.base_path("/kindgi")), &[]).await;
    assert_eq!(header(&root, "etag"), header(&again, "etag"));
    assert_ne!(header(&root, "etag"), header(&mounted, "etag"));
}
