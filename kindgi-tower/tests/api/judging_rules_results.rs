//! What came of a rule: counts and shares for each of its versions and each agent version.

use kindgi_core::model::{EndedRun, Subject};

use crate::common::{Answer, App, finished, id, rules};

/// A run of a version of the agent that ends now.
fn of_version(app: &App, run: &str, version: &str) -> EndedRun {
    let mut ended = app.ended(run, "p1");
    ended.subject = Subject::Agent {
        id: id("acme.matcher"),
        version: id(version),
    };
    ended
}

async fn results(app: &App, rule: &str, query: &str) -> Answer {
    let path = format!("{rule}/results{query}");
    app.get("reader", &path).await.is(200)
}

/// A verdict on a run by someone of their own, under a class or none.
async fn verdict(app: &App, who: &str, run: &str, class: &str, verdict: &str) {
    app.user(who, "read:* judge:*");
    let class = match class {
        "" => String::new(),
        class => format!(r#""judgeClassId":"{class}","#),
    };
    let body = format!(r#"{{{class}"runId":"{run}","item":{{"key":"k"}},"verdict":"{verdict}"}}"#);
    app.record(who, &body).await.is(201);
}

#[tokio::test]
async fn a_rule_that_took_nothing_has_no_groups() {
    let app = App::new();
    let rule = app.rule("p1", "n", "").await;
    let name = rule.rsplit('/').next().unwrap();
    let expected = format!(r#"{{"ruleId":"{name}","groups":[]}}"#);
    assert_eq!(results(&app, &rule, "").await.body, expected);
    let since = results(&app, &rule, "?since=2026-01-01T01:00:00.1239%2B01:00").await;
    let expected =
        format!(r#"{{"ruleId":"{name}","since":"2026-01-01T00:00:00.123Z","groups":[]}}"#);
    assert_eq!(since.body, expected);
}

#[tokio::test]
async fn a_group_counts_states_skips_and_judgments_by_class() {
    let app = App::new();
    let mut classes = Vec::new();
    for name in ["one", "two"] {
        classes.push(app.class(r#"{"kind":"tenant"}"#, name, "").await);
    }
    classes.sort();
    let rule = app.rule("p1", "n", r#""maxOpen":5"#).await;
    app.queued("p1", &["open", "judged", "both", "dismissed", "erased"])
        .await;
    app.end(app.ended("skipped", "p1")).await;
    verdict(&app, "a", "judged", "", "yes").await;
    verdict(&app, "a", "both", &classes[0], "no").await;
    verdict(&app, "b", "both", &classes[0], "yes").await;
    verdict(&app, "c", "both", &classes[1], "no").await;
    // Superseded: it counts no more.
    verdict(&app, "d", "both", "", "no").await;
    verdict(&app, "d", "both", "", "yes").await;
    app.moved("admin", "dismissed", "dismiss", "").await.is(200);
    app.erase("erased").await;
    // Not of this rule.
    app.run(finished("other", "p1", "1"));
    verdict(&app, "a", "other", "", "no").await;
    let (one, two) = (&classes[0], &classes[1]);
    // Both classes weigh 2: (2 · 1 + 1 · 2) of (2 · 1 + 2 · 2 + 1 · 2).
    let group = format!(
        r#"{{"ruleVersion":1,"agentVersion":"1.2.0","added":4,"open":1,"judged":2,"dismissed":1,"erased":0,"skippedByCap":1,"judgments":5,"runsWithJudgments":2,"yesShare":0.5,"byClass":[{{"judgeClassId":null,"judgments":2,"yes":2}},{{"judgeClassId":"{one}","judgments":2,"yes":1}},{{"judgeClassId":"{two}","judgments":1,"yes":0}}]}}"#
    );
    // An erased run's agent version is not known any more.
    let erased = r#"{"ruleVersion":1,"agentVersion":null,"added":1,"open":0,"judged":0,"dismissed":0,"erased":1,"skippedByCap":0,"judgments":0,"runsWithJudgments":0,"yesShare":null,"byClass":[]}"#;
    let name = rule.rsplit('/').next().unwrap();
    assert_eq!(
        results(&app, &rule, "").await.body,
        format!(r#"{{"ruleId":"{name}","groups":[{group},{erased}]}}"#)
    );
}

#[tokio::test]
async fn groups_are_newest_rule_version_first_then_by_agent_version_null_last() {
    let app = App::new();
    let rule = app.rule("p1", "n", "").await;
    for version in 1..=3 {
        for (run, agent) in [("b", "1.10"), ("a", "1.2"), ("c", "é")] {
            app.end(of_version(&app, &format!("{run}{version}"), agent))
                .await;
        }
        let flow = Subject::Flow {
            id: id("f"),
            version: id("9"),
        };
        let ended = app.ended("x", "p1").ended_at;
        let run = format!("f{version}");
        app.end(EndedRun::new(id(&run), id("p1"), flow, ended))
            .await;
        let change = format!(r#"{{"name":"{version}"}}"#);
        app.patch("admin", &rule, &change).await.is(200);
    }
    let found = results(&app, &rule, "").await;
    let groups = found.raw("/groups").unwrap().items().unwrap().len();
    let shown: Vec<String> = (0..groups)
        .map(|at| {
            let of = |name: &str| found.shown(&format!("/groups/{at}/{name}"));
            format!(
                "{} {} {}",
                of("ruleVersion"),
                of("agentVersion"),
                of("added")
            )
        })
        .collect();
    let mut expected = Vec::new();
    for version in [3, 2, 1] {
        for agent in ["\"1.10\"", "\"1.2\"", "\"é\"", "null"] {
            expected.push(format!("{version} {agent} 1"));
        }
    }
    assert_eq!(shown, expected);
}

#[tokio::test]
async fn a_share_is_weighted_by_the_classes_weights_of_now_retired_ones_too() {
    let app = App::new();
    let class = app.class(r#"{"kind":"tenant"}"#, "n", "").await;
    let rule = app.rule("p1", "n", "").await;
    app.queued("p1", &["r"]).await;
    verdict(&app, "a", "r", &class, "yes").await;
    verdict(&app, "b", "r", "", "no").await;
    let path = format!("/v1/judge-classes/{class}");
    for (weight, share) in [
        ("2", "0.6666666666666666"),
        ("1", "0.5"),
        ("0", "0"),
        ("3e0", "0.75"),
        // Written so that it reads back as the same double.
        ("0.1", "0.09090909090909091"),
        ("1e-9", "9.99999999e-10"),
        ("1.7976931348623157e308", "1"),
    ] {
        let change = format!(r#"{{"weight":{weight}}}"#);
        app.patch("admin", &path, &change).await.is(200);
        let shown = results(&app, &rule, "").await.shown("/groups/0/yesShare");
        let (is, expected): (f64, f64) = (shown.parse().unwrap(), share.parse().unwrap());
        assert_eq!(is, expected, "{weight}: {shown}");
    }
    app.patch("admin", &path, r#"{"weight":4}"#).await.is(200);
    app.post("admin", &format!("{path}/unregister"), "")
        .await
        .is(200);
    let found = results(&app, &rule, "").await;
    assert_eq!(found.shown("/groups/0/yesShare"), "0.8");
}

#[tokio::test]
async fn a_share_of_no_weight_is_null_and_never_nan() {
    let app = App::new();
    let class = app.class(r#"{"kind":"tenant"}"#, "n", "").await;
    let path = format!("/v1/judge-classes/{class}");
    app.patch("admin", &path, r#"{"weight":0}"#).await.is(200);
    let rule = app.rule("p1", "n", "").await;
    app.queued("p1", &["r"]).await;
    let share = |found: Answer| found.shown("/groups/0/yesShare");
    assert_eq!(share(results(&app, &rule, "").await), "null");
    verdict(&app, "a", "r", &class, "yes").await;
    assert_eq!(share(results(&app, &rule, "").await), "null");
    let found = results(&app, &rule, "").await;
    assert_eq!(found.shown("/groups/0/judgments"), "1");
    verdict(&app, "b", "r", "", "yes").await;
    assert_eq!(share(results(&app, &rule, "").await), "1");
}

#[tokio::test]
async fn since_includes_its_instant_and_is_said_again_in_utc() {
    let app = App::new();
    let rule = app.rule("p1", "n", "").await;
    app.queued("p1", &["early"]).await;
    app.clock.advance_millis(1000);
    app.queued("p1", &["late"]).await;
    for (since, shown, added) in [
        ("2025-12-31T23:59:59Z", "2025-12-31T23:59:59.000Z", "2"),
        ("2026-01-01T00:00:00Z", "2026-01-01T00:00:00.000Z", "2"),
        ("2026-01-01T00:00:00.001Z", "2026-01-01T00:00:00.001Z", "1"),
        ("2025-12-31T22:00:01-02:00", "2026-01-01T00:00:01.000Z", "1"),
        (
            "2026-01-01T00:00:01.001Z",
            "2026-01-01T00:00:01.001Z",
            "nothing",
        ),
    ] {
        let found = results(&app, &rule, &format!("?since={since}")).await;
        assert_eq!(found.text("/since"), shown);
        assert_eq!(found.shown("/groups/0/added"), added, "{since}");
    }
    assert_eq!(results(&app, &rule, "").await.raw("/since"), None);
}

#[tokio::test]
async fn results_add_up_whatever_happened() {
    let app = App::new();
    let rule = app.rule("p1", "n", r#""maxOpen":9,"sample":0.7"#).await;
    let mut queued = 0;
    for n in 0..60 {
        let run = format!("run-{n}");
        let told = app.end(of_version(&app, &run, &(n % 3).to_string())).await;
        if matches!(told, kindgi_core::engine::Told::Queued(_)) {
            queued += 1;
            match n % 5 {
                0 => verdict(&app, "a", &run, "", "yes").await,
                1 => drop(app.moved("admin", &run, "dismiss", "").await.is(200)),
                2 => app.erase(&run).await,
                _ => {}
            }
        }
        if n % 20 == 9 {
            let change = format!(r#"{{"name":"{n}"}}"#);
            app.patch("admin", &rule, &change).await.is(200);
        }
    }
    let found = results(&app, &rule, "").await;
    let groups = found.raw("/groups").unwrap().items().unwrap().len();
    let mut all = [0; 3];
    for at in 0..groups {
        let of = |name: &str| -> u64 {
            let shown = found.shown(&format!("/groups/{at}/{name}"));
            shown.parse().unwrap()
        };
        let states: u64 = ["open", "judged", "dismissed", "erased"]
            .map(of)
            .iter()
            .sum();
        assert_eq!(of("added"), states);
        let by_class = found.raw(&format!("/groups/{at}/byClass")).unwrap();
        let by_class = by_class.items().unwrap().len();
        let counted: u64 = (0..by_class)
            .map(|c| of(&format!("byClass/{c}/judgments")))
            .sum();
        assert_eq!(of("judgments"), counted);
        assert!(of("runsWithJudgments") <= of("judgments"));
        all[0] += of("added");
        all[1] += of("skippedByCap");
        all[2] += of("open");
    }
    assert_eq!(all[0], queued);
    assert!(
        all[1] > 0 && all[0] + all[1] < 60 && all[0] + all[1] > 20,
        "{all:?}"
    );
    let path = format!("{}?limit=0", crate::common::queue("p1"));
    assert_eq!(
        app.get("admin", &path).await.shown("/total"),
        queued.to_string()
    );
    let open = format!("{path}&state=open");
    assert_eq!(
        app.get("admin", &open).await.shown("/total"),
        all[2].to_string()
    );
    assert_eq!(all[2], 9);
}

#[tokio::test]
async fn a_stopped_rule_has_its_results_and_an_unknown_one_none() {
    let app = App::new();
    let rule = app.rule("p1", "n", "").await;
    app.queued("p1", &["r"]).await;
    let before = results(&app, &rule, "").await.body;
    app.post("admin", &format!("{rule}/unregister"), "")
        .await
        .is(200);
    assert_eq!(results(&app, &rule, "").await.body, before);
    for path in [
        format!("{}/none/results", rules("p1")),
        format!("{}/preview/results", rules("p1")),
        format!("{}/results", rule.replace("/p1/", "/p2/")),
    ] {
        let answer = app.get("admin", &path).await;
        answer.refused("judging-rule-not-found");
    }
    let answer = app.get("admin", &format!("{}/x/results", rules("x"))).await;
    answer.refused("project-not-found");
}

#[tokio::test]
async fn the_shape_of_a_query_comes_before_the_rule() {
    let app = App::new();
    let known = app.rule("p1", "n", "").await;
    for rule in [known, format!("{}/none", rules("x"))] {
        for (query, field) in [
            ("since=", "since"),
            ("since=2026-01-01", "since"),
            ("since=2026-01-01T00:00:00", "since"),
            ("since=2026-02-29T00:00:00Z", "since"),
            ("since=2026-01-01T00:00:00+00:00", "since"),
            ("since=%00", "since"),
            ("since=%ff", "since"),
            (
                "since=2026-01-01T00:00:00Z&since=2026-01-01T00:00:00Z",
                "since",
            ),
            ("Since=2026-01-01T00:00:00Z", "Since"),
            ("limit=1", "limit"),
            ("cursor=x", "cursor"),
            ("inherit=true", "inherit"),
        ] {
            let answer = app.get("reader", &format!("{rule}/results?{query}")).await;
            answer.refused_at("bad-input", field);
        }
    }
}
