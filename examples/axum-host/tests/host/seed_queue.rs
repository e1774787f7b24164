//! The judging queue that is there at the start.

use crate::process::Host;

const PROJECT: &str = "/v1/projects/00000000-0000-4000-8000-0000000000a1";

#[test]
fn the_first_runs_wait_for_a_class_of_its_own() {
    let host = Host::start(&[("SEED_QUEUE", "7")]);
    let target = format!("{PROJECT}/judging-queue");
    let page = host.get(&target, "reader-token").expect(200);
    assert_eq!(page.find("/total").as_deref(), Some("7"));
    let mut runs: Vec<String> = (0..7)
        .map(|n| page.text(&format!("/data/{n}/runId")))
        .collect();
    runs.sort();
    assert_eq!(runs, [0, 1, 2, 3, 4, 5, 6].map(|n| format!("run-{n}")));

    let wanted = page.text("/data/0/wantedClassIds/0");
    let classes = host.get("/v1/judge-classes", "reader-token").expect(200);
    assert_eq!(classes.count("/data"), 1);
    assert_eq!(classes.text("/data/0/id"), wanted);
    let rules = host
        .get(&format!("{PROJECT}/judging-rules"), "reader-token")
        .expect(200);
    assert_eq!(rules.count("/data"), 1);
}

#[test]
fn there_is_no_queue_unless_one_is_asked_for() {
    let host = Host::start(&[]);
    for list in ["judging-queue", "judging-rules"] {
        let target = format!("{PROJECT}/{list}");
        let page = host.get(&target, "reader-token").expect(200);
        assert_eq!(page.count("/data"), 0, "{list}");
    }
}

#[test]
fn no_more_runs_wait_than_there_are() {
    let host = Host::start(&[("RUNS", "3"), ("SEED_QUEUE", "500")]);
    let target = format!("{PROJECT}/judging-queue?limit=0");
    let page = host.get(&target, "reader-token").expect(200);
    assert_eq!(page.find("/total").as_deref(), Some("3"));
}

#[test]
fn a_database_that_has_the_queue_keeps_it() {
    let folder = tempfile::tempdir().unwrap();
    let database = format!("sqlite:{}/queue.db", folder.path().display());
    for queued in ["2", "5"] {
        let host = Host::start(&[("DATABASE_URL", &database), ("SEED_QUEUE", queued)]);
        let target = format!("{PROJECT}/judging-queue?limit=0");
        let page = host.get(&target, "reader-token").expect(200);
        assert_eq!(page.find("/total").as_deref(), Some(queued));
        let rules = host
            .get(&format!("{PROJECT}/judging-rules"), "reader-token")
            .expect(200);
        assert_eq!(rules.count("/data"), 1);
        let dismiss = format!("{PROJECT}/judging-queue/run-1/dismiss");
        let refused = host.post(&dismiss, "judge-token", "");
        refused.expect_error(403, "permission-denied");
    }
}

#[test]
fn a_class_of_that_name_elsewhere_is_another() {
    let folder = tempfile::tempdir().unwrap();
    let database = format!("sqlite:{}/queue.db", folder.path().display());
    let before = Host::start(&[("DATABASE_URL", &database)]);
    let body = r#"{"name":"demo-expert","weight":1,"scope":{"kind":"project","projectId":"00000000-0000-4000-8000-0000000000a2"}}"#;
    before
        .post("/v1/judge-classes", "test-token", body)
        .expect(201);
    drop(before);
    let host = Host::start(&[("DATABASE_URL", &database), ("SEED_QUEUE", "2")]);
    let target = format!("{PROJECT}/judging-queue?limit=0");
    let page = host.get(&target, "reader-token").expect(200);
    assert_eq!(page.find("/total").as_deref(), Some("2"));
}
