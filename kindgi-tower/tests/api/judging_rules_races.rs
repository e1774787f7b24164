//! Changes of one rule at once: versions are consecutive, and none that was answered is lost.

use std::{
    collections::{BTreeMap, BTreeSet},
    future::{Future, poll_fn},
    pin::{Pin, pin},
    sync::{Arc, Barrier},
    task::Poll,
    thread,
};

use crate::common::{Answer, App, Gate, Trouble, project_scope, rules};

const WRITERS: usize = 50;

fn block_on<F: Future>(future: F) -> F::Output {
    tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .unwrap()
        .block_on(future)
}

/// The answers of requests that all begin at once, each on a thread of its own.
fn at_once<F>(app: &Arc<App>, writers: usize, request: F) -> Vec<Answer>
where
    F: AsyncFn(&App, usize) -> Answer + Clone + Send + 'static,
{
    let barrier = Arc::new(Barrier::new(writers));
    let threads: Vec<_> = (0..writers)
        .map(|n| {
            let (app, barrier, request) = (Arc::clone(app), Arc::clone(&barrier), request.clone());
            thread::spawn(move || {
                barrier.wait();
                block_on(request(&app, n))
            })
        })
        .collect();
    threads
        .into_iter()
        .map(|thread| thread.join().unwrap())
        .collect()
}

fn versions(app: &App, path: &str) -> Answer {
    block_on(app.get("admin", &format!("{path}/versions?limit=100"))).is(200)
}

#[test]
fn fifty_changes_at_once_are_fifty_consecutive_versions() {
    for _ in 0..4 {
        let app = Arc::new(App::new());
        let path = block_on(app.rule("p1", "n", ""));
        let own = path.clone();
        let answers = at_once(&app, WRITERS, async move |app, n| {
            let change = format!(r#"{{"name":"{n}"}}"#);
            app.patch("admin", &own, &change).await
        });
        let answered: BTreeMap<String, String> = answers
            .into_iter()
            .map(|answer| answer.is(200))
            .map(|answer| (answer.shown("/version"), answer.body))
            .collect();
        assert_eq!(answered.len(), WRITERS, "no version was given twice");
        let kept = versions(&app, &path);
        let numbers: Vec<String> = (1..=WRITERS + 1).rev().map(|n| n.to_string()).collect();
        assert_eq!(kept.shown_column("version"), numbers);
        for (row, number) in numbers.iter().enumerate().take(WRITERS) {
            assert_eq!(kept.shown(&format!("/data/{row}")), answered[number]);
        }
    }
}

#[test]
fn changes_of_different_fields_at_once_are_all_in_the_latest_version() {
    let app = Arc::new(App::new());
    let class = block_on(app.class(&project_scope("p1"), "c", ""));
    let path = block_on(app.rule("p1", "n", r#""maxOpen":7"#));
    let own = path.clone();
    at_once(&app, 6, async move |app, n| {
        let change = match n {
            0 => r#"{"name":"m"}"#.to_owned(),
            1 => r#"{"when":{"agentIds":["a"]}}"#.to_owned(),
            2 => r#"{"sample":0.5}"#.to_owned(),
            3 => r#"{"maxOpen":null}"#.to_owned(),
            4 => format!(r#"{{"judgeClassId":"{class}"}}"#),
            _ => r#"{"enabled":false}"#.to_owned(),
        };
        app.patch("admin", &own, &change).await.is(200)
    });
    let latest = block_on(app.get("admin", &path)).is(200);
    assert_eq!(latest.shown("/version"), "7");
    assert_eq!(latest.text("/name"), "m");
    assert_eq!(latest.shown("/when"), r#"{"agentIds":["a"]}"#);
    assert_eq!(latest.shown("/sample"), "0.5");
    assert_eq!(latest.raw("/maxOpen"), None);
    assert!(latest.raw("/judgeClassId").is_some());
    assert_eq!(latest.shown("/enabled"), "false");
}

#[test]
fn the_same_change_at_once_is_one_version() {
    let app = Arc::new(App::new());
    let path = block_on(app.rule("p1", "n", ""));
    let own = path.clone();
    let answers = at_once(&app, WRITERS, async move |app, _| {
        app.patch("admin", &own, r#"{"name":"m"}"#).await
    });
    let bodies: BTreeSet<String> = answers.into_iter().map(|a| a.is(200).body).collect();
    assert_eq!(bodies.len(), 1);
    assert_eq!(versions(&app, &path).shown_column("version"), ["2", "1"]);
}

#[test]
fn of_many_that_stop_a_rule_at_once_one_did() {
    let app = Arc::new(App::new());
    let path = block_on(app.rule("p1", "n", ""));
    let own = path.clone();
    let answers = at_once(&app, WRITERS, async move |app, n| {
        if n % 2 == 0 {
            app.post("admin", &format!("{own}/unregister"), "").await
        } else {
            let change = format!(r#"{{"name":"{n}"}}"#);
            app.patch("admin", &own, &change).await
        }
    });
    let mut stopped = 0;
    let mut changed = BTreeSet::from(["1".to_owned()]);
    for (n, answer) in answers.into_iter().enumerate() {
        if n % 2 == 0 {
            stopped += usize::from(answer.is(200).shown("/unregistered") == "true");
        } else if answer.status == 200 {
            assert!(changed.insert(answer.shown("/version")));
        } else {
            answer.refused("judging-rule-not-found");
        }
    }
    assert_eq!(stopped, 1);
    let kept = versions(&app, &path);
    assert_eq!(kept.shown_column("version").len(), changed.len());
    assert_eq!(
        kept.column("unregisteredAt").len(),
        changed.len(),
        "every version is of a stopped rule"
    );
    let list = block_on(app.get("admin", &rules("p1")));
    assert_eq!(list.column("ruleId"), [""; 0]);
}

#[test]
fn rules_created_at_once_are_all_there_oldest_first() {
    let app = Arc::new(App::new());
    let answers = at_once(&app, WRITERS, async |app, n| {
        let body = crate::common::rule(&n.to_string(), "");
        app.post("admin", &rules("p1"), &body).await
    });
    let mut ids: Vec<String> = answers
        .into_iter()
        .map(|answer| answer.is(201).text("/ruleId"))
        .collect();
    ids.sort();
    let list = block_on(app.get("admin", &format!("{}?limit=100", rules("p1"))));
    assert_eq!(list.column("ruleId"), ids);
}

async fn is_pending<F: Future>(mut future: Pin<&mut F>) -> bool {
    poll_fn(|cx| Poll::Ready(future.as_mut().poll(cx).is_pending())).await
}

/// Whoever is overtaken sees another's version there: it goes on, as no more can overtake it than
/// there are.
#[tokio::test]
async fn a_change_that_others_keep_overtaking_is_made_in_the_end() {
    let app = App::new();
    let path = app.rule("p1", "n", "").await;
    let gate = Gate::closed();
    let at = "append_rule_version";
    app.host.faults.set(at, Trouble::Waits(gate.clone()));
    let mut slow = pin!(app.patch("admin", &path, r#"{"name":"slow"}"#));
    for n in 0..100 {
        tokio::select! {
            answer = slow.as_mut() => panic!("given up after {n}: {}", answer.body),
            () = gate.arrival() => {}
        }
        app.host.faults.clear();
        let change = format!(r#"{{"sample":0.{}}}"#, n + 101);
        app.patch("admin", &path, &change).await.is(200);
        app.host.faults.set(at, Trouble::Waits(gate.clone()));
        gate.let_through();
    }
    gate.let_through();
    let answer = slow.await.is(200);
    assert_eq!(answer.shown("/version"), "102");
    assert_eq!(answer.text("/name"), "slow");
    assert_eq!(answer.shown("/sample"), "0.2");
}

#[tokio::test]
async fn a_class_retired_in_between_is_not_found_and_no_version_is_made() {
    let app = App::new();
    let class = app.class(&project_scope("p1"), "c", "").await;
    let path = app.rule("p1", "n", "").await;
    let list = rules("p1");
    let wants = format!(r#""judgeClassId":"{class}""#);
    let (change, body) = (format!("{{{wants}}}"), crate::common::rule("m", &wants));
    let gate = Gate::closed();
    let at = "append_rule_version";
    app.host.faults.set(at, Trouble::Waits(gate.clone()));
    let mut changing = pin!(app.patch("admin", &path, &change));
    let mut creating = pin!(app.post("admin", &list, &body));
    assert!(is_pending(changing.as_mut()).await);
    assert!(is_pending(creating.as_mut()).await);
    gate.arrival().await;
    gate.arrival().await;
    app.host.faults.clear();
    let retire = format!("/v1/judge-classes/{class}/unregister");
    app.post("admin", &retire, "").await.is(200);
    gate.let_through();
    gate.let_through();
    changing.await.refused("judge-class-not-found");
    creating.await.refused("judge-class-not-found");
    let listed = app.get("admin", &list).await;
    assert_eq!(listed.column("name"), ["n"]);
    assert_eq!(listed.shown_column("version"), ["1"]);
}
