//! What a rule would have taken of the project's last runs.

use kindgi_core::{
    engine::Told,
    model::{EndedRun, RunStatus, Subject, Via},
};

use crate::common::{App, id, rules};

async fn preview(app: &App, query: &str) -> (u64, u64) {
    let path = format!("{}/preview{query}", rules("p1"));
    let found = app.get("reader", &path).await.is(200);
    let number = |name: &str| found.shown(name).parse().unwrap();
    let (considered, matched) = (number("/considered"), number("/matched"));
    let expected = format!(r#"{{"considered":{considered},"matched":{matched}}}"#);
    assert_eq!(found.body, expected);
    (considered, matched)
}

/// A run that the host knows of; no rule is told.
fn add(app: &App, run: &str, change: impl FnOnce(&mut EndedRun)) {
    let mut ended = app.ended(run, "p1");
    change(&mut ended);
    app.host.ended(crate::common::TENANT, ended);
}

fn agent(name: &str, version: &str) -> Subject {
    Subject::Agent {
        id: id(name),
        version: id(version),
    }
}

/// Runs of two agents and a flow, with a dry run, a failed one and those that never count.
fn varied() -> App {
    let app = App::new();
    add(&app, "a1", |run| run.subject = agent("a", "1"));
    add(&app, "a2", |run| {
        run.subject = agent("a", "2");
        run.via = Some(Via::Live);
    });
    add(&app, "b1", |run| {
        run.subject = agent("b", "1");
        run.via = Some(Via::Named);
        run.flow = Some(id("chat"));
    });
    add(&app, "f2", |run| {
        run.subject = Subject::Flow {
            id: id("intake"),
            version: id("2"),
        };
        run.via = Some(Via::Live);
    });
    add(&app, "dry", |run| {
        run.subject = agent("a", "1");
        run.dry_run = true;
    });
    add(&app, "failed", |run| run.status = RunStatus::Failed);
    add(&app, "cancelled", |run| run.status = RunStatus::Cancelled);
    add(&app, "replay", |run| run.replay = true);
    add(&app, "step", |run| run.top_level = false);
    add(&app, "elsewhere", |run| run.project = id("p2"));
    app.host.ended("other", app.ended("theirs", "p1"));
    app
}

#[tokio::test]
async fn every_part_of_what_a_rule_matches_narrows() {
    let app = varied();
    for (query, matched) in [
        ("", 4),
        ("?status=completed", 4),
        ("?status=completed,completed", 4),
        ("?includeDryRuns=true", 5),
        ("?includeDryRuns=false", 4),
        ("?agentIds=a", 2),
        ("?agentIds=a&includeDryRuns=true", 3),
        ("?agentIds=a,b", 3),
        ("?agentIds=b%2Ca%2Cb", 3),
        ("?agentIds=intake", 0),
        ("?flowIds=intake", 1),
        ("?flowIds=agent.turn", 2),
        ("?flowIds=chat,intake", 2),
        ("?versions=1", 2),
        ("?versions=live", 2),
        ("?versions=1,live", 4),
        ("?versions=Live", 0),
        ("?agentIds=a&versions=live", 1),
        (
            "?flowIds=intake&versions=2&status=completed&includeDryRuns=true",
            1,
        ),
        ("?agentIds=a%20b,+a", 0),
    ] {
        assert_eq!(preview(&app, query).await, (7, matched), "{query}");
    }
}

#[tokio::test]
async fn it_looks_at_the_last_100_unless_told_and_at_most_500() {
    let app = App::new();
    for n in 0..600 {
        add(&app, &n.to_string(), |run| {
            run.subject = agent(if n < 595 { "old" } else { "new" }, "1");
        });
    }
    for (query, found) in [
        ("", (100, 100)),
        ("?last=1", (1, 1)),
        ("?last=5.0&agentIds=new", (5, 5)),
        ("?last=6&agentIds=new", (6, 5)),
        ("?last=5&agentIds=old", (5, 0)),
        ("?last=5e2", (500, 500)),
        ("?last=500&agentIds=old", (500, 495)),
    ] {
        assert_eq!(preview(&app, query).await, found, "{query}");
    }
    for last in [
        "0", "501", "-1", "1.5", "x", "", "1e3", "01", "65537", "65636", "NaN", "%00",
    ] {
        let path = format!("{}/preview?last={last}", rules("p1"));
        let answer = app.get("reader", &path).await;
        answer.refused_at("bad-input", "last");
    }
}

#[tokio::test]
async fn without_a_rule_a_sample_is_an_estimate() {
    let app = App::new();
    for n in 0..100 {
        add(&app, &n.to_string(), |_| {});
    }
    for (sample, matched) in [
        ("1", 100),
        ("1.0", 100),
        ("1e0", 100),
        ("0.5", 50),
        ("0.25", 25),
        ("5e-1", 50),
        ("0.994", 99),
        ("1e-05", 0),
        ("4.9e-324", 0),
    ] {
        let query = format!("?sample={sample}");
        assert_eq!(preview(&app, &query).await, (100, matched), "{sample}");
    }
}

#[tokio::test]
async fn with_a_rule_the_runs_are_exactly_those_that_it_takes() {
    let app = App::new();
    let sample = r#""sample":0.3,"maxOpen":1"#;
    let path = app.rule("p1", "n", sample).await;
    let rule = path.rsplit('/').next().unwrap();
    let (mut taken, mut first) = (0, 0);
    for n in 0..200 {
        let told = app.end(app.ended(&format!("run-{n}"), "p1")).await;
        taken += u64::from(told != Told::NotWanted);
        if n == 99 {
            first = taken;
        }
    }
    assert!((20..=100).contains(&taken));
    let query = format!("?ruleId={rule}&sample=0.3&last=200");
    assert_eq!(preview(&app, &query).await, (200, taken));
    let query = format!("?ruleId={rule}&sample=0.3");
    assert_eq!(preview(&app, &query).await, (100, taken - first));
    // What the rule says is not asked, only how it samples; and a larger share keeps what a
    // smaller one takes.
    assert_eq!(preview(&app, &format!("?ruleId={rule}")).await, (100, 100));
    let mut before = 0;
    for sample in ["1e-05", "0.1", "0.2", "0.30000000000000004", "0.9", "1"] {
        let query = format!("?ruleId={rule}&sample={sample}&last=200");
        let (considered, matched) = preview(&app, &query).await;
        assert!(matched >= before && matched <= considered, "{sample}");
        before = matched;
    }
    assert_eq!(before, 200);
    // A stopped rule samples as before.
    app.post("admin", &format!("{path}/unregister"), "")
        .await
        .is(200);
    let query = format!("?ruleId={rule}&sample=0.3&last=200");
    assert_eq!(preview(&app, &query).await, (200, taken));
}

#[tokio::test]
async fn an_unknown_rule_or_one_of_another_project_is_404_and_the_project_comes_first() {
    let app = varied();
    let elsewhere = app.rule("p2", "n", "").await;
    let elsewhere = elsewhere.rsplit('/').next().unwrap();
    for rule in ["none", elsewhere, "preview"] {
        let path = format!("{}/preview?ruleId={rule}", rules("p1"));
        let answer = app.get("admin", &path).await;
        answer.refused("judging-rule-not-found");
        let path = format!("{}/preview?ruleId={rule}", rules("x"));
        let answer = app.get("admin", &path).await;
        answer.refused("project-not-found");
    }
    let path = format!("{}/preview", rules("p2"));
    app.get("reader", &path).await.refused("project-not-found");
}

#[tokio::test]
async fn lists_have_1_to_50_items_of_1_to_256_characters() {
    let app = varied();
    let items = |count: usize| {
        let items: Vec<String> = (0..count).map(|n| n.to_string()).collect();
        items.join(",")
    };
    let long = |chars: usize| "é".repeat(chars);
    let encode = |text: &str| -> String {
        let byte = |b: u8| match b {
            0..=127 => char::from(b).to_string(),
            _ => format!("%{b:02x}"),
        };
        text.bytes().map(byte).collect()
    };
    for name in ["agentIds", "flowIds", "versions"] {
        for fine in [items(50), long(256), format!("{},{}", long(256), long(1))] {
            let query = format!("?{name}={}", encode(&fine));
            assert_eq!(preview(&app, &query).await.0, 7);
        }
        for wrong in [
            String::new(),
            items(51),
            vec!["a"; 51].join(","),
            long(257),
            format!("a,{}", long(257)),
            ",".to_owned(),
            "a,".to_owned(),
            ",a".to_owned(),
            "a,,b".to_owned(),
            "a,%20".to_owned(),
            "a, ,b".replace(' ', "+"),
            "a%00".to_owned(),
            "a,%ff".to_owned(),
        ] {
            let path = format!("{}/preview?{name}={}", rules("p1"), encode(&wrong));
            let answer = app.get("reader", &path).await;
            answer.refused_at("bad-input", name);
        }
    }
}

#[tokio::test]
async fn a_value_that_a_parameter_cant_have_is_refused() {
    let app = varied();
    for (name, values) in [
        (
            "status",
            &[
                "failed",
                "Completed",
                "completed,failed",
                "completed,",
                ",",
                "",
                "%00",
            ][..],
        ),
        (
            "includeDryRuns",
            &["1", "True", "yes", "", "null", "true,true"],
        ),
        (
            "sample",
            &[
                "0",
                "-0",
                "0.0",
                "1.5",
                "-1",
                "1.0000000000000002",
                "NaN",
                "nan",
                "Infinity",
                "abc",
                "",
                ".5",
                "1.",
                "+1",
                "%2B1",
                "01",
                "0x1",
                "1e400",
                "1e-400",
                "0,5",
                "%22 1%22",
                "true",
                "%00",
            ],
        ),
        ("ruleId", &["", "%00", "%ff", "%20", &"a".repeat(257)]),
    ] {
        for value in values {
            let path = format!("{}/preview?{name}={}", rules("p1"), value.replace(' ', ""));
            let answer = app.get("reader", &path).await;
            answer.refused_at("bad-input", name);
        }
    }
    for (query, field) in [
        ("agentIds=a&flowIds=f", "flowIds"),
        ("flowIds=f&agentIds=a", "flowIds"),
        ("agentIds=a&agentIds=b", "agentIds"),
        ("sample=1&sample=1", "sample"),
        ("limit=1", "limit"),
        ("cursor=x", "cursor"),
        ("maxOpen=1", "maxOpen"),
        ("agentId=a", "agentId"),
        ("inherit=true", "inherit"),
    ] {
        for project in ["p1", "x"] {
            let path = format!("{}/preview?{query}", rules(project));
            let answer = app.get("reader", &path).await;
            answer.refused_at("bad-input", field);
        }
    }
}

#[tokio::test]
async fn the_preview_is_no_rule() {
    let app = varied();
    let path = format!("{}/preview", rules("p1"));
    for (method, body) in [("POST", "{}"), ("PATCH", r#"{"name":"m"}"#), ("DELETE", "")] {
        let method = http::Method::from_bytes(method.as_bytes()).unwrap();
        let answer = app.call(method, "admin", &path, body).await;
        let answer = answer.refused("method-not-allowed");
        assert_eq!(answer.header("allow"), Some("GET, HEAD"));
    }
    app.head("reader", &path).await.is(200);
    // Below it there are only rules, and none has this name.
    let answer = app.get("reader", &format!("{path}/versions")).await;
    answer.refused("judging-rule-not-found");
    let answer = app.post("admin", &format!("{path}/unregister"), "").await;
    answer.refused("judging-rule-not-found");
}

#[tokio::test]
async fn a_preview_takes_nothing_and_counts_nothing() {
    let app = varied();
    let path = app.rule("p1", "n", "").await;
    let rule = path.rsplit('/').next().unwrap();
    assert_eq!(preview(&app, &format!("?ruleId={rule}")).await, (7, 4));
    let found = app.get("reader", &format!("{path}/results")).await;
    assert_eq!(found.is(200).shown("/groups"), "[]");
    let path = crate::common::queue("p1");
    assert_eq!(app.get("reader", &path).await.shown("/total"), "0");
}
