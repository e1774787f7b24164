//! The runs that are there at the start.

use crate::process::Host;

#[test]
fn a_run_is_judged_or_refused_for_what_is_special_about_it() {
    let host = Host::start(&[]);
    for run in [
        "run-0",
        "run-19",
        "run-flow",
        "run-replay",
        "run-dry",
        "run-other-project",
    ] {
        let judged = host
            .judge(run, "/matches/9/summary", "test-token")
            .expect(201);
        let id = judged.text("/id");
        let shown = host
            .get(&format!("/v1/judgments/{id}"), "test-token")
            .expect(200);
        assert_eq!(shown.count("/run/output/matches"), 10);
        for field in ["caseId", "title", "score", "court", "summary"] {
            let at = format!("/run/output/matches/0/{field}");
            assert!(shown.find(&at).is_some(), "{run}{at}");
        }
        assert!(shown.find("/run/input").unwrap().starts_with('{'));
        assert_eq!(shown.find("/run/segments").as_deref(), Some("[]"));
        let project = if run == "run-other-project" {
            "0000a2"
        } else {
            "0000a1"
        };
        assert!(shown.text("/projectId").ends_with(project), "{run}");
        let subject = match run {
            "run-flow" => r#"{"kind":"flow","id":"acme.flow","version":"2.0.0"}"#,
            _ => r#"{"kind":"agent","id":"acme.matcher","version":"1.2.0"}"#,
        };
        assert_eq!(shown.find("/subject").as_deref(), Some(subject), "{run}");
        match run {
            "run-flow" => assert_eq!(shown.count("/run/context/flow/calls"), 1),
            _ => assert_eq!(shown.count("/run/context/history"), 2),
        }
        let replayed = shown.find("/run/context/replayOf");
        assert_eq!(replayed.is_some(), run == "run-replay", "{run}");
    }
    host.judge("run-false-output", "", "test-token").expect(201);
    for (run, status, code) in [
        ("run-20", 404, "run-not-found"),
        ("run-other-tenant", 404, "run-not-found"),
        ("run-erased", 410, "run-erased"),
        ("run-running", 409, "run-not-finished"),
        ("run-failed", 409, "run-not-finished"),
        ("run-null-output", 409, "run-not-finished"),
    ] {
        host.judge(run, "", "test-token").expect_error(status, code);
    }
}

#[test]
fn an_organisation_has_the_tenants_projects() {
    let host = Host::start(&[]);
    host.judge("run-1", "", "test-token").expect(201);
    host.judge("run-other-project", "", "test-token")
        .expect(201);
    for (org, token, found) in [
        ("00000000-0000-4000-8000-0000000000e1", "test-token", 2),
        ("00000000-0000-4000-8000-0000000000e1", "project-token", 1),
        (
            "00000000-0000-4000-8000-0000000000e1",
            "other-tenant-token",
            0,
        ),
        ("00000000-0000-4000-8000-0000000000e2", "test-token", 0),
    ] {
        let target = format!("/v1/judgments?scopeKind=org&scopeId={org}");
        assert_eq!(
            host.get(&target, token).expect(200).count("/data"),
            found,
            "{token}"
        );
    }
}

#[test]
fn a_class_needs_a_project_that_is_there() {
    let host = Host::start(&[]);
    let class = |project: &str| {
        format!(r#"{{"scope":{{"kind":"project","projectId":"{project}"}},"name":"n","weight":1}}"#)
    };
    let create = |body: &str| host.post("/v1/judge-classes", "test-token", body);
    create(&class("00000000-0000-4000-8000-0000000000a2")).expect(201);
    create(&class("mine")).expect_error(404, "project-not-found");
    create(&class("00000000-0000-4000-8000-0000000000b1")).expect_error(404, "project-not-found");
    host.post("/demo/runs", "test-token", r#"{"projectId":"mine"}"#)
        .expect(201);
    create(&class("mine")).expect(201);
}
