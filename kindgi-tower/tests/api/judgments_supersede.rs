//! One live judgment per run, item key, caller and participant; recording another supersedes it.

use std::{
    collections::HashMap,
    sync::{Arc, Barrier},
};

use kindgi_core::model::Principal;

use crate::common::{App, TENANT, finished, id, judgment};

fn of(run: &str, key: &str, item: &str, more: &str) -> String {
    judgment(run, key, item).replace("\"yes\"}", &format!("\"yes\"{more}}}"))
}

#[tokio::test]
async fn the_old_one_ends_when_the_new_one_begins_and_names_it() {
    let app = App::new();
    let old = app.judge("judge", "run-1", "k").await;
    app.clock.advance_millis(2500);
    let new = app
        .record("judge", &judgment("run-1", "k", ""))
        .await
        .is(201);
    assert_eq!(new.raw("/unregisteredAt"), None);
    let kept = app.judgment(&old).await;
    assert_eq!(kept.text("/supersededBy"), new.text("/id"));
    assert_eq!(kept.text("/unregisteredAt"), new.text("/createdAt"));
    assert_eq!(kept.text("/unregisteredAt"), "2026-01-01T00:00:02.500Z");
    assert_eq!(app.ids("judge", "/v1/judgments").await, [new.text("/id")]);
}

#[tokio::test]
async fn pointer_rank_class_verdict_and_reason_are_no_part_of_it() {
    let app = App::new();
    let class = app.class(r#"{"kind":"tenant"}"#, "n", "").await;
    let mut last = app.judge("judge", "run-1", "k").await;
    for (item, more) in [
        (r#""pointer":"/matches/0""#, String::new()),
        (r#""pointer":"/matches/1""#, String::new()),
        (r#""rank":5"#, String::new()),
        ("", format!(r#","judgeClassId":"{class}""#)),
        ("", r#","reason":"so""#.to_owned()),
    ] {
        let body = of("run-1", "k", item, &more);
        let new = app.record("judge", &body).await.is(201).text("/id");
        assert_eq!(app.judgment(&last).await.text("/supersededBy"), new);
        assert_eq!(
            app.ids("judge", "/v1/judgments").await,
            std::slice::from_ref(&new)
        );
        last = new;
    }
}

#[tokio::test]
async fn run_key_caller_and_participant_are_each_a_part_of_it() {
    let app = App::new();
    app.run(finished("run-3", "p1", "1"));
    app.person(
        "service",
        Principal::service(id(TENANT), id("judge")),
        "read:p1 judge:p1",
    );
    let mut ids = Vec::new();
    for (token, run, key, more) in [
        ("judge", "run-1", "k", ""),
        ("judge", "run-3", "k", ""),
        ("judge", "run-1", "K", ""),
        ("judge", "run-1", "k ", ""),
        ("admin", "run-1", "k", ""),
        // The same id, but a service.
        ("service", "run-1", "k", ""),
        ("judge", "run-1", "k", r#","participantId":"p""#),
        ("judge", "run-1", "k", r#","participantId":"P""#),
        ("judge", "run-1", "k", r#","participantId":"none""#),
        ("judge", "run-1", "k", r#","participantId":"null""#),
    ] {
        let answer = app.record(token, &of(run, key, "", more)).await.is(201);
        ids.insert(0, answer.text("/id"));
    }
    assert_eq!(app.ids("admin", "/v1/judgments").await, ids);
    // Each is superseded by its like alone.
    let body = of("run-1", "k", "", r#","participantId":"p""#);
    let new = app.record("judge", &body).await.is(201).text("/id");
    let live = app.ids("admin", "/v1/judgments").await;
    assert_eq!(live.len(), ids.len());
    assert!(live.contains(&new) && !live.contains(&ids[3]));
}

#[tokio::test]
async fn a_successor_is_never_before_its_predecessor() {
    let app = App::new();
    let old = app.judge("judge", "run-1", "k").await;
    app.clock.advance_millis(-60_000);
    let new = app
        .record("judge", &judgment("run-1", "k", ""))
        .await
        .is(201);
    let kept = app.judgment(&old).await;
    assert_eq!(new.text("/createdAt"), kept.text("/createdAt"));
    assert_eq!(kept.text("/unregisteredAt"), kept.text("/createdAt"));
    assert_eq!(app.ids("judge", "/v1/judgments").await, [new.text("/id")]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_hundred_at_once_leave_one_live_and_an_unbroken_chain() {
    const WRITERS: usize = 200;
    let app = Arc::new(App::new());
    let barrier = Arc::new(Barrier::new(WRITERS));
    let runtime = tokio::runtime::Handle::current();
    let writers: Vec<_> = (0..WRITERS)
        .map(|_| {
            let (app, barrier, runtime) = (Arc::clone(&app), Arc::clone(&barrier), runtime.clone());
            std::thread::spawn(move || {
                barrier.wait();
                runtime.block_on(app.judge("judge", "run-1", "k"))
            })
        })
        .collect();
    let ids: Vec<String> = tokio::task::spawn_blocking(move || {
        writers
            .into_iter()
            .map(|writer| writer.join().unwrap())
            .collect()
    })
    .await
    .unwrap();

    let live = app
        .ids("judge", "/v1/judgments?runId=run-1&limit=100")
        .await;
    assert_eq!(live.len(), 1);
    let mut successors = HashMap::new();
    for id in &ids {
        let kept = app.judgment(id).await;
        let is_live = *id == live[0];
        assert_eq!(kept.raw("/unregisteredAt").is_none(), is_live);
        if !is_live {
            successors.insert(kept.text("/supersededBy"), id.clone());
        }
    }
    // Each is superseded by another one, so from the live one the chain goes back through all.
    assert_eq!(successors.len(), WRITERS - 1);
    let mut chain = 1;
    let mut at = live[0].clone();
    while let Some(predecessor) = successors.remove(&at) {
        chain += 1;
        at = predecessor;
    }
    assert_eq!(chain, WRITERS);
}
