//! Erasing a run clears its content everywhere and leaves its verdicts.

use crate::process::Host;

#[test]
fn an_erased_run_shows_no_content_and_takes_no_more_judgments() {
    let host = Host::start(&[]);
    let body = r#"{"runId":"run-3","item":{"key":"k","pointer":"/matches/0"},"verdict":"no","reason":"far off"}"#;
    let id = host
        .post("/v1/judgments", "judge-token", body)
        .expect(201)
        .text("/id");
    let path = format!("/v1/judgments/{id}");
    let before = host.get(&path, "judge-token").expect(200);
    assert_eq!(before.count("/run/output/matches"), 10);
    assert_eq!(before.text("/reason"), "far off");

    let erased = host
        .post("/demo/runs/run-3/erase", "test-token", "")
        .expect(200);
    assert_eq!(erased.body, r#"{"runId":"run-3","erased":true}"#);

    host.judge("run-3", "", "judge-token")
        .expect_error(410, "run-erased");
    let after = host.get(&path, "judge-token").expect(200);
    assert_eq!(after.find("/run/input").as_deref(), Some("null"));
    assert_eq!(after.find("/run/output").as_deref(), Some("null"));
    for gone in ["/run/context", "/run/segments", "/reason"] {
        assert_eq!(after.find(gone), None, "{}", after.body);
    }
    assert!(!after.body.contains("caseId"), "{}", after.body);
    let listed = host
        .get("/v1/judgments?runId=run-3", "judge-token")
        .expect(200);
    assert_eq!(listed.text("/data/0/id"), id);
    assert_eq!(listed.text("/data/0/verdict"), "no");
    host.post("/demo/runs/run-3/erase", "test-token", "")
        .expect(200);
}

#[test]
fn a_run_that_is_not_there_for_the_caller_can_not_be_erased() {
    let host = Host::start(&[]);
    for (run, token) in [
        ("nothing", "test-token"),
        ("run-other-tenant", "test-token"),
        ("run-1", "other-tenant-token"),
        ("run-1", "project-token"),
        ("%20", "test-token"),
        ("%00", "test-token"),
        ("%ff", "test-token"),
    ] {
        let target = format!("/demo/runs/{run}/erase");
        host.post(&target, token, "")
            .expect_error(404, "run-not-found");
    }
    host.judge("run-1", "", "test-token").expect(201);
    host.judge("run-other-tenant", "", "other-tenant-token")
        .expect(201);
}
