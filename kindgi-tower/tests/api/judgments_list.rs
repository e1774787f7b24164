//! The list of judgments: live ones, newest first, by filters and scopes.

use kindgi_core::model::{Run, Subject};

use crate::common::{App, finished, id, judgment, raw};

const LIST: &str = "/v1/judgments";

fn run_of(run: &str, project: &str, subject: Subject) -> Run {
    Run::new(id(run), id(project), subject).completed_with(raw("1"))
}

#[tokio::test]
async fn only_live_judgments_are_listed_newest_first() {
    let app = App::new();
    let mut ids = Vec::new();
    for key in ["a", "b", "c", "d"] {
        ids.insert(0, app.judge("judge", "run-1", key).await);
        app.clock.advance_millis(1);
    }
    assert_eq!(app.ids("judge", LIST).await, ids);
    // The second newest is superseded, and so are the newest; another is removed.
    let successor = app.judge("judge", "run-1", "c").await;
    app.post("admin", &format!("{LIST}/{}/unregister", ids[3]), "")
        .await
        .is(200);
    let expected = [successor, ids[0].clone(), ids[2].clone()];
    assert_eq!(app.ids("judge", LIST).await, expected);
    let page = app.get("judge", LIST).await;
    for row in 0..3 {
        assert_eq!(page.raw(&format!("/data/{row}/unregisteredAt")), None);
        // Copies are for who fetches one.
        assert_eq!(page.raw(&format!("/data/{row}/run")), None);
        assert_eq!(page.raw(&format!("/data/{row}/itemValue")), None);
    }
}

#[tokio::test]
async fn each_filter_narrows_to_what_it_names() {
    let app = App::new();
    let agent = |agent: &str, version: &str| Subject::Agent {
        id: id(agent),
        version: id(version),
    };
    let flow = |flow: &str, version: &str| Subject::Flow {
        id: id(flow),
        version: id(version),
    };
    app.run(run_of("a1", "p1", agent("a", "1")));
    app.run(run_of("a2", "p1", agent("a", "2")));
    app.run(run_of("b1", "p1", agent("b", "1")));
    app.run(run_of("f1", "p1", flow("a", "1")));
    app.run(run_of("g2", "p1", flow("g", "2")));
    let class = app.class(r#"{"kind":"tenant"}"#, "n", "").await;
    let mut named = Vec::new();
    for (name, run, more) in [
        ("1", "a1", String::new()),
        ("2", "a2", r#","participantId":"ann""#.to_owned()),
        ("3", "b1", r#","participantId":"Ann""#.to_owned()),
        ("4", "f1", format!(r#","judgeClassId":"{class}""#)),
        (
            "5",
            "g2",
            format!(r#","judgeClassId":"{class}","participantId":"ann""#),
        ),
    ] {
        let body = judgment(run, name, "");
        let verdict = if name == "5" { "no" } else { "yes" };
        let body = body.replace("\"yes\"}", &format!("\"{verdict}\"{more}}}"));
        named.push((app.record("judge", &body).await.is(201).text("/id"), name));
    }
    for (query, expected) in [
        ("", "54321"),
        ("?runId=a1", "1"),
        ("?runId=none", ""),
        ("?agentId=a", "21"),
        ("?agentId=a&agentVersion=2", "2"),
        ("?agentId=g", ""),
        ("?flowId=a", "4"),
        ("?flowId=g", "5"),
        ("?flowId=b", ""),
        ("?agentId=a&flowId=a", ""),
        ("?verdict=no", "5"),
        ("?verdict=yes", "4321"),
        (&format!("?judgeClassId={class}"), "54"),
        ("?judgeClassId=none", ""),
        ("?participantId=ann", "52"),
        ("?participantId=Ann", "3"),
        ("?participantId=ann&verdict=yes", "2"),
        (
            &format!("?judgeClassId={class}&verdict=no&flowId=g&runId=g2&participantId=ann"),
            "5",
        ),
        (
            &format!("?judgeClassId={class}&verdict=no&flowId=g&runId=f1"),
            "",
        ),
    ] {
        let found: String = app
            .ids("judge", &format!("{LIST}{query}"))
            .await
            .iter()
            .map(|id| named.iter().find(|(own, _)| own == id).unwrap().1)
            .collect();
        assert_eq!(found, expected, "{query}");
    }
}

#[tokio::test]
async fn a_scope_narrows_to_its_projects_and_never_widens() {
    let app = App::new();
    app.run(finished("run-3", "p3", "1"));
    app.user("ann", "read:p1 read:p2 judge:*");
    let mut ids = Vec::new();
    for run in ["run-1", "run-2", "run-3"] {
        ids.push(app.judge("admin", run, "k").await);
    }
    app.host.org("acme", "both", &["p1", "p2"]);
    app.host.org("acme", "mixed", &["p2", "p3"]);
    app.host.org("acme", "hidden", &["p3"]);
    for (query, admin, ann) in [
        ("", "210", "10"),
        ("?scopeKind=tenant", "210", "10"),
        ("?scopeKind=project&scopeId=p1", "0", "0"),
        ("?scopeKind=project&scopeId=p3", "2", ""),
        ("?scopeKind=project&scopeId=none", "", ""),
        ("?scopeKind=project&scopeId=P1", "", ""),
        ("?scopeKind=org&scopeId=both", "10", "10"),
        ("?scopeKind=org&scopeId=mixed", "21", "1"),
        ("?scopeKind=org&scopeId=hidden", "2", ""),
        ("?scopeKind=org&scopeId=none", "", ""),
        ("?scopeKind=org&scopeId=both&runId=run-2", "1", "1"),
    ] {
        for (token, expected) in [("admin", admin), ("ann", ann)] {
            let found = app.ids(token, &format!("{LIST}{query}")).await;
            let found: String = found
                .iter()
                .map(|id| ids.iter().position(|own| own == id).unwrap().to_string())
                .collect();
            assert_eq!(found, expected, "{token} {query}");
        }
    }
}

#[tokio::test]
async fn without_a_directory_an_org_has_no_projects() {
    let app = App::without_directory();
    app.host.org("acme", "o", &["p1"]);
    app.judge("judge", "run-1", "k").await;
    assert_eq!(
        app.ids("judge", &format!("{LIST}?scopeKind=org&scopeId=o"))
            .await,
        [""; 0]
    );
    assert_eq!(
        app.ids("judge", &format!("{LIST}?scopeKind=project&scopeId=p1"))
            .await
            .len(),
        1
    );
}
