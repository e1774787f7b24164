//! The judging queue as it is listed: each run once, oldest first, and how many match.

use kindgi_core::model::{EndedRun, Subject};

use crate::common::{App, id, queue, rule, rules};

#[tokio::test]
async fn an_item_is_shown_whole_and_compact() {
    let app = App::new();
    let class = app.class(r#"{"kind":"tenant"}"#, "n", "").await;
    let wants = format!(r#""judgeClassId":"{class}""#);
    let path = app.rule("p1", "n", &wants).await;
    app.patch("admin", &path, r#"{"sample":0.9999999999999999}"#)
        .await
        .is(200);
    let run = app.ended("r 1/é", "p1");
    app.clock.advance_millis(7);
    app.end(run).await;
    let rule = path.rsplit('/').next().unwrap();
    let expected = format!(
        r#"{{"runId":"r 1/é","projectId":"p1","agentId":"acme.matcher","agentVersion":"1.2.0","flowId":"agent.turn","runStatus":"completed","completedAt":"2026-01-01T00:00:00.000Z","rules":[{{"ruleId":"{rule}","version":2}}],"wantedClassIds":["{class}"],"anyJudgment":false,"progress":{{"total":0,"byClass":[]}},"addedAt":"2026-01-01T00:00:00.007Z","state":"open","can":{{"dismiss":false,"reopen":false}}}}"#
    );
    let list = app.get("reader", &queue("p1")).await.is(200);
    assert_eq!(
        list.body,
        format!(r#"{{"data":[{expected}],"hasMore":false,"total":1}}"#)
    );
}

#[tokio::test]
async fn an_empty_queue_has_a_total_too() {
    let app = App::new();
    app.rule("p1", "n", "").await;
    for query in ["", "?limit=0", "?limit=1", "?state=open&forMe=true"] {
        let list = app.get("reader", &format!("{}{query}", queue("p1"))).await;
        assert_eq!(
            list.is(200).body,
            r#"{"data":[],"hasMore":false,"total":0}"#
        );
    }
}

#[tokio::test]
async fn a_run_is_queued_once_with_every_rule_that_took_it() {
    let app = App::new();
    let class = app.class(r#"{"kind":"tenant"}"#, "n", "").await;
    let wants = format!(r#""judgeClassId":"{class}""#);
    let mut taking = Vec::new();
    for more in [wants.as_str(), "", wants.as_str()] {
        let path = app.rule("p1", "n", more).await;
        taking.push(path.rsplit('/').next().unwrap().to_owned());
    }
    for (more, project) in [(r#""enabled":false"#, "p1"), ("", "p2")] {
        app.rule(project, "other", more).await;
    }
    let elsewhere = r#"{"name":"n","when":{"agentIds":["another"]}}"#;
    app.post("admin", &rules("p1"), elsewhere).await.is(201);
    app.queued("p1", &["r"]).await;
    let list = app.get("reader", &queue("p1")).await.is(200);
    assert_eq!(list.column("runId"), ["r"]);
    taking.sort();
    let shown: Vec<String> = (0..3)
        .map(|at| list.text(&format!("/data/0/rules/{at}/ruleId")))
        .collect();
    assert_eq!(shown, taking);
    assert_eq!(list.raw("/data/0/rules/3"), None);
    assert_eq!(
        list.shown("/data/0/wantedClassIds"),
        format!(r#"["{class}"]"#)
    );
    assert_eq!(list.shown("/data/0/anyJudgment"), "true");
}

#[tokio::test]
async fn a_flows_run_has_its_flow_and_no_agent_and_an_agents_run_its_hosts_flow() {
    let app = App::new();
    app.rule("p1", "n", "").await;
    let flow = Subject::Flow {
        id: id("intake"),
        version: id("3"),
    };
    app.end(EndedRun::new(
        id("of-flow"),
        id("p1"),
        flow,
        app.ended("x", "p1").ended_at,
    ))
    .await;
    let mut of_agent = app.ended("of-agent", "p1");
    of_agent.flow = Some(id("chat"));
    app.end(of_agent).await;
    for (run, field, shown) in [
        ("of-flow", "flowId", r#""intake""#),
        ("of-flow", "agentId", "nothing"),
        ("of-flow", "agentVersion", "nothing"),
        ("of-agent", "flowId", r#""chat""#),
        ("of-agent", "agentId", r#""acme.matcher""#),
        ("of-agent", "agentVersion", r#""1.2.0""#),
    ] {
        let is = app.item("p1", run, &format!("/{field}")).await;
        assert_eq!(is, shown, "{run} {field}");
    }
}

#[tokio::test]
async fn the_oldest_comes_first_then_the_runs_id_bytewise() {
    let app = App::new();
    app.rule("p1", "n", "").await;
    app.queued("p1", &["é", "a", "B", "b", "a b"]).await;
    app.clock.advance_millis(-1);
    app.queued("p1", &["z"]).await;
    app.clock.advance_millis(2);
    // By when it was queued, not by when the run ended.
    let mut early = app.ended("A", "p1");
    early.ended_at = early.ended_at.saturating_add_millis(-1000);
    app.end(early).await;
    let list = app.get("reader", &queue("p1")).await.is(200);
    assert_eq!(list.column("runId"), ["z", "B", "a", "a b", "b", "é", "A"]);
}

#[tokio::test]
async fn a_project_shows_its_own_queue_only() {
    let app = App::new();
    app.rule("p1", "n", "").await;
    app.rule("p2", "n", "").await;
    app.queued("p1", &["one"]).await;
    app.queued("p2", &["two", "three"]).await;
    for (project, runs) in [("p1", &["one"][..]), ("p2", &["three", "two"]), ("p3", &[])] {
        let list = app.get("admin", &queue(project)).await.is(200);
        assert_eq!(list.column("runId"), runs);
        assert_eq!(list.shown("/total"), runs.len().to_string());
    }
    app.get("admin", &queue("x"))
        .await
        .refused("project-not-found");
}

#[tokio::test]
async fn a_limit_is_0_to_100_and_0_gives_the_total_alone() {
    let app = App::new();
    app.rule("p1", "n", "").await;
    for n in 0..101 {
        app.queued("p1", &[&n.to_string()]).await;
    }
    for (query, rows) in [
        ("", 25),
        ("?limit=1", 1),
        ("?limit=100", 100),
        ("?limit=1e2", 100),
        ("?limit=0", 0),
        ("?limit=0.0", 0),
        ("?limit=0e5", 0),
    ] {
        let list = app.get("reader", &format!("{}{query}", queue("p1"))).await;
        let list = list.is(200);
        assert_eq!(list.column("runId").len(), rows, "{query}");
        assert_eq!(list.shown("/total"), "101", "{query}");
        let more = rows > 0;
        assert_eq!(list.shown("/hasMore"), more.to_string(), "{query}");
        assert_eq!(list.raw("/nextCursor").is_some(), more, "{query}");
    }
    for limit in ["101", "-1", "0.5", "1.5", "x", "", "%00", "00", "NaN"] {
        let path = format!("{}?limit={limit}", queue("p1"));
        let answer = app.get("reader", &path).await;
        answer.refused_at("bad-input", "limit");
    }
}

#[tokio::test]
async fn what_can_be_done_is_what_the_caller_may_write() {
    let app = App::new();
    app.user("wendy", "read:p1 write:p1");
    app.user("elsewhere", "read:p1 write:p2 admin:p1 judge:p1");
    app.rule("p1", "n", "").await;
    app.queued("p1", &["a", "b"]).await;
    app.moved("admin", "b", "dismiss", "").await.is(200);
    for (token, can) in [
        ("admin", "true"),
        ("wendy", "true"),
        ("judge", "false"),
        ("reader", "false"),
        ("elsewhere", "false"),
    ] {
        let list = app.get(token, &queue("p1")).await.is(200);
        let expected = format!(r#"{{"dismiss":{can},"reopen":{can}}}"#);
        assert_eq!(list.shown_column("can"), [expected.clone(), expected]);
    }
}

#[tokio::test]
async fn a_parameter_that_the_queue_doesnt_have_is_refused() {
    let app = App::new();
    for name in [
        "inherit",
        "projectId",
        "runId",
        "flowId",
        "for_me",
        "forme",
        "total",
        "since",
        "sample",
        "State",
    ] {
        let path = format!("{}?{name}=true", queue("p1"));
        app.get("reader", &path).await.refused_at("bad-input", name);
    }
    for name in ["state", "forMe", "addedAfter", "limit", "cursor", "agentId"] {
        for query in [format!("{name}=a&{name}=a"), format!("{name}=a&{name}=b")] {
            let answer = app.get("reader", &format!("{}?{query}", queue("p1"))).await;
            answer.refused_at("bad-input", name);
        }
    }
    // The query's shape comes before the project.
    let path = format!("{}?state=none", queue("x"));
    app.get("reader", &path)
        .await
        .refused_at("bad-input", "state");
    app.get("reader", &format!("{}?state=open", queue("x")))
        .await
        .refused("project-not-found");
}

#[tokio::test]
async fn a_rule_changed_or_stopped_later_leaves_its_items_as_they_are() {
    let app = App::new();
    let class = app.class(r#"{"kind":"tenant"}"#, "n", "").await;
    let wants = format!(r#""judgeClassId":"{class}""#);
    let path = app.rule("p1", "n", &wants).await;
    app.queued("p1", &["r"]).await;
    let before = app.get("reader", &queue("p1")).await.is(200).body;
    app.patch("admin", &path, r#"{"judgeClassId":null,"enabled":false}"#)
        .await
        .is(200);
    assert_eq!(app.get("reader", &queue("p1")).await.body, before);
    let retire = format!("/v1/judge-classes/{class}/unregister");
    app.post("admin", &retire, "").await.is(200);
    assert_eq!(app.get("reader", &queue("p1")).await.body, before);
    app.post("admin", &format!("{path}/unregister"), "")
        .await
        .is(200);
    assert_eq!(app.get("reader", &queue("p1")).await.body, before);
}

#[tokio::test]
async fn a_project_is_found_however_its_id_is_encoded() {
    let app = App::new();
    let made = app
        .post("admin", &rules("p%2F%C3%A9"), &rule("n", ""))
        .await;
    assert_eq!(made.is(201).text("/projectId"), "p/é");
    app.queued("p/é", &["r/1%"]).await;
    for project in ["p%2f%c3%a9", "%70%2F%C3%A9", "p%2Fé"] {
        let list = app.get("admin", &queue(project)).await.is(200);
        assert_eq!(list.column("runId"), ["r/1%"]);
    }
    for (run, how) in [("r%2F1%25", "dismiss"), ("%72%2f1%", "reopen")] {
        let path = format!("{}/{run}/{how}", queue("p%2F%C3%A9"));
        let item = app.post("admin", &path, "").await.is(200);
        assert_eq!(item.text("/runId"), "r/1%");
    }
}
