//! Requests whose clients hang up, through the whole service.

use std::sync::Arc;

use async_trait::async_trait;
use http::Request;
use http_body_util::{BodyExt as _, Full};
use kindgi_core::{
    HostError,
    engine::Engine,
    host::{Permission, Permissions, Runs},
    json::RawJson,
    model::{EndedRun, Principal, Readable, Run, RunId, Subject, TenantId},
};
use kindgi_tower::KindgiService;
use tower_service::Service;

use super::{
    invariants::assert_whole,
    support::{
        PATIENCE, Random, assert_pool_is_whole, at, builder, cell, open, poll_then_drop, pool,
        project, tenant, until_idle, url,
    },
};

struct Host;

#[async_trait]
impl Runs for Host {
    async fn run(&self, _: &TenantId, id: &RunId) -> Result<Option<Run>, HostError> {
        Ok(Some(run(id)?.completed_with(RawJson::from_bool(true))))
    }
}

fn run(id: &RunId) -> Result<Run, HostError> {
    let subject = Subject::Agent {
        id: "agent".parse().map_err(HostError::new)?,
        version: "1".parse().map_err(HostError::new)?,
    };
    Ok(Run::new(id.clone(), project(), subject))
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

/// A request; with a key, it may be made again.
#[derive(Clone)]
struct Ask {
    method: &'static str,
    path: String,
    body: String,
    key: Option<String>,
}

impl Ask {
    /// One of those that clients make, the nth.
    fn any(random: &mut Random, n: usize) -> Self {
        let (method, path, body) = match random.below(6) {
            0..3 => {
                let (run, key) = (random.below(8), random.below(3));
                let body = format!(
                    r#"{{"runId":"run-{run}","item":{{"key":"{key}"}},"verdict":"yes","reason":"{n}"}}"#
                );
                ("POST", "/v1/judgments".to_owned(), body)
            }
            3 => ("GET", "/v1/judgments?limit=5".to_owned(), String::new()),
            4 => {
                let body = format!(r#"{{"name":"{n}","when":{{"agentIds":["none"]}}}}"#);
                (
                    "POST",
                    "/v1/projects/project/judging-rules".to_owned(),
                    body,
                )
            }
            _ => {
                let what = ["dismiss", "reopen"][random.below(2)];
                let run = random.below(8);
                let path = format!("/v1/projects/project/judging-queue/run-{run}/{what}");
                ("POST", path, String::new())
            }
        };
        let keyed = method == "POST" && n.is_multiple_of(2);
        Self {
            method,
            path,
            body,
            key: keyed.then(|| format!("key-{n}")),
        }
    }

    async fn send(self, mut service: KindgiService) -> (u16, String) {
        let mut request = Request::builder().method(self.method).uri(&self.path);
        if let Some(key) = &self.key {
            request = request.header("Idempotency-Key", key);
        }
        let who = Principal::user(tenant(), "ada".parse().unwrap());
        let body = Full::<bytes::Bytes>::from(self.body);
        let request = request.extension(who).body(body).unwrap();
        let response = service.call(request).await.unwrap();
        let status = response.status().as_u16();
        let body = response.into_body().collect().await.unwrap().to_bytes();
        (status, String::from_utf8(body.to_vec()).unwrap())
    }
}

/// What a whole request may be answered with.
fn assert_expected(ask: &Ask, (status, body): &(u16, String)) {
    let refused = ask.path.contains("judging-queue") && matches!(status, 404 | 409);
    let held = ask.key.is_some() && *status == 409;
    assert!(
        matches!(status, 200 | 201) || refused || held,
        "{} {}: {status} {body}",
        ask.method,
        ask.path
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_requests_that_are_dropped_leave_whole_writes_and_a_usable_pool() {
    let url = url();
    let own = pool(&url, 8).await;
    let store = builder().postgres(own.clone()).await.unwrap();
    let engine = Engine::builder(store.clone(), Host, Host)
        .idempotency(Arc::new(store.clone()))
        .build();
    let service = KindgiService::builder(engine.clone()).build();
    let rule = r#"{"name":"every run","when":{}}"#.to_owned();
    let made = Ask {
        method: "POST",
        path: "/v1/projects/project/judging-rules".to_owned(),
        body: rule,
        key: None,
    };
    assert_eq!(made.send(service.clone()).await.0, 201);
    for n in 0..8 {
        let id: RunId = format!("run-{n}").parse().unwrap();
        let run = run(&id).unwrap();
        let ended = EndedRun::new(id, run.project, run.subject, at(1_000_000_000_000));
        engine.run_ended(&tenant(), &ended).await.unwrap();
    }
    let clients: Vec<_> = (0..10)
        .map(|client| {
            let service = service.clone();
            tokio::spawn(async move {
                let mut random = Random::new(client as u64 + 1);
                let (mut asked, mut dropped) = (Vec::new(), 0);
                for n in 0..100 {
                    let ask = Ask::any(&mut random, client * 100 + n);
                    let times = 1 << random.below(13);
                    let answer = match random.below(2) {
                        0 => poll_then_drop(ask.clone().send(service.clone()), times).await,
                        _ => {
                            let task = tokio::spawn(ask.clone().send(service.clone()));
                            for _ in 0..times {
                                tokio::task::yield_now().await;
                            }
                            task.abort();
                            task.await.ok()
                        }
                    };
                    if let Some(answer) = &answer {
                        assert_expected(&ask, answer);
                    }
                    dropped += usize::from(answer.is_none());
                    asked.push((ask, answer));
                }
                (asked, dropped)
            })
        })
        .collect();
    let (mut asked, mut dropped) = (Vec::new(), 0);
    for client in clients {
        let (of_client, of_client_dropped) = client.await.unwrap();
        asked.extend(of_client);
        dropped += of_client_dropped;
    }
    assert!(
        (200..1000).contains(&dropped),
        "{dropped} of 1000 were dropped"
    );
    // Each write that had begun goes on to its end.
    service.drained().await;
    until_idle(&url).await;
    assert_whole(&url);
    assert_pool_is_whole(&url, &own).await;
    each_is_there_once(&url, &asked).await;
}

/// What was answered is there for another store, and what is repeated under its key took effect
/// once.
async fn each_is_there_once(url: &str, asked: &[(Ask, Option<(u16, String)>)]) {
    let store = open(url).await;
    let engine = Engine::builder(store.clone(), Host, Host)
        .idempotency(Arc::new(store))
        .build();
    let service = KindgiService::builder(engine).build();
    for (ask, answer) in asked {
        let mut last = answer.clone();
        if ask.key.is_some() {
            let began = std::time::Instant::now();
            let again = loop {
                let again = ask.clone().send(service.clone()).await;
                if !again.1.contains("idempotency-key-in-flight") {
                    break again;
                }
                // Who hung up before the answer may have left the key held, until its lease ends.
                assert!(began.elapsed() < PATIENCE, "a key is held for ever");
                tokio::time::sleep(std::time::Duration::from_millis(50)).await;
            };
            assert_expected(ask, &again);
            if let Some(answer) = answer
                && answer.0 < 300
            {
                assert_eq!(again, *answer, "{}", ask.path);
            }
            last = Some(again);
        }
        let Some((201, _)) = last else { continue };
        // Each has a word of its own.
        let (table, column, word) = match ask.path.as_str() {
            "/v1/judgments" => ("judgments", "reason", between(&ask.body, r#""reason":""#)),
            _ => ("rule_versions", "name", between(&ask.body, r#""name":""#)),
        };
        let count = format!("SELECT COUNT(*) FROM kindgi_{table} WHERE {column} = '{word}'");
        assert_eq!(cell(url, &count), "1", "{} {}", ask.path, ask.body);
    }
}

/// What stands between this and the next quotation mark.
fn between<'t>(text: &'t str, before: &str) -> &'t str {
    let (_, rest) = text.split_once(before).unwrap();
    rest.split_once('"').unwrap().0
}
