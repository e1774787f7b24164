//! Requests whose clients hang up, through the whole service.

use async_trait::async_trait;
use http::Request;
use http_body_util::Full;
use kindgi_core::{
    HostError,
    engine::Engine,
    host::{Permission, Permissions, Runs},
    json::RawJson,
    model::{Principal, Readable, Run, RunId, Subject, TenantId},
};
use kindgi_tower::KindgiService;
use tower_service::Service;

use crate::{
    cancelling::{assert_no_transaction_is_open, poll_then_drop},
    support::{Folder, assert_unbroken_chains, live, number, tenant},
};

struct Host;

#[async_trait]
impl Runs for Host {
    async fn run(&self, _: &TenantId, id: &RunId) -> Result<Option<Run>, HostError> {
        let subject = Subject::Agent {
            id: "agent".parse().map_err(HostError::new)?,
            version: "1".parse().map_err(HostError::new)?,
        };
        let project = "project".parse().map_err(HostError::new)?;
        let run = Run::new(id.clone(), project, subject);
        Ok(Some(run.completed_with(RawJson::from_bool(true))))
    }
}

#[async_trait]
impl Permissions for Host {
    async fn allows(&self, _: &Principal, _: Permission<'_>) -> Result<bool, HostError> {
        Ok(true)
    }

    async fn readable_projects(&self, _: &Principal) -> Result<Readable, HostError> {
        Ok(Readable::All)
    }
}

fn request(method: &str, path: &str, body: String) -> Request<Full<bytes::Bytes>> {
    let request = Request::builder().method(method).uri(path);
    let request = request.extension(Principal::user(tenant(), "ada".parse().unwrap()));
    request.body(Full::from(body)).unwrap()
}

#[tokio::test]
async fn a_request_that_is_dropped_at_any_await_leaves_whole_judgments_and_a_usable_pool() {
    let folder = Folder::new();
    let engine = Engine::builder(folder.store().await, Host, Host).build();
    let mut service = KindgiService::builder(engine).build();
    let mut dropped = 0;
    for times in 0..200 {
        let body = format!(
            r#"{{"runId":"run","item":{{"key":"{}"}},"verdict":"yes"}}"#,
            times % 3
        );
        let write = service.call(request("POST", "/v1/judgments", body));
        dropped += usize::from(!poll_then_drop(write, times).await);
        let read = service.call(request("GET", "/v1/judgments?limit=1", String::new()));
        dropped += usize::from(!poll_then_drop(read, times % 20).await);
    }
    assert!(dropped > 100, "only {dropped} of 400 were dropped");
    // Each write that had begun goes on to its end; then the file is free.
    service.drained().await;
    let pool = folder.pool().await;
    assert_no_transaction_is_open(&pool).await;
    assert_unbroken_chains(&pool).await;
    // A request that was polled once had its body, and so has its judgment.
    let rows = number(&pool, "SELECT COUNT(*) FROM kindgi_judgments").await;
    assert_eq!(rows, 199, "all but the one that was never polled");
    assert_eq!(live(&folder.store().await).await.len(), 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_crowd_that_changes_a_class_and_judges_under_it_gets_through() {
    let folder = Folder::new();
    let engine = Engine::builder(folder.store().await, Host, Host).build();
    let service = KindgiService::builder(engine).build();
    let send = |method: &'static str, path: String, body: String| {
        let mut service = service.clone();
        async move {
            let response = service.call(request(method, &path, body)).await.unwrap();
            let status = response.status().as_u16();
            let body = http_body_util::BodyExt::collect(response.into_body())
                .await
                .unwrap();
            (status, String::from_utf8(body.to_bytes().to_vec()).unwrap())
        }
    };
    let class = r#"{"scope":{"kind":"tenant"},"name":"expert","weight":1}"#.to_owned();
    let (status, class) = send("POST", "/v1/judge-classes".to_owned(), class).await;
    assert_eq!(status, 201, "{class}");
    let class = class.split('"').nth(3).unwrap().to_owned();
    let mut crowd = Vec::new();
    for n in 0..100 {
        let path = format!("/v1/judge-classes/{class}");
        crowd.push(tokio::spawn(send(
            "PATCH",
            path,
            format!(r#"{{"weight":{n}}}"#),
        )));
        let item = format!(r#""item":{{"key":"{n}"}},"judgeClassId":"{class}""#);
        let body = format!(r#"{{"runId":"run",{item},"verdict":"yes"}}"#);
        crowd.push(tokio::spawn(send("POST", "/v1/judgments".to_owned(), body)));
    }
    for one in crowd {
        let (status, body) = one.await.unwrap();
        assert!(matches!(status, 200 | 201), "{status}: {body}");
    }
    let pool = folder.pool().await;
    let revision = number(&pool, "SELECT revision FROM kindgi_classes").await;
    assert_eq!(revision, 101);
    assert_eq!(live(&folder.store().await).await.len(), 100);
}
