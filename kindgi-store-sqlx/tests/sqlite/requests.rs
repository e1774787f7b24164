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
