//! `POST /demo/runs`: strict decoding, verbatim content, runs of the caller's own tenant.

use std::collections::BTreeSet;

use crate::{client::send, process::Host};

#[test]
fn every_fault_is_400_and_names_its_field() {
    let host = Host::start(&[]);
    let long = format!(r#"{{"runId":"{}"}}"#, "é".repeat(257));
    for (body, code, field) in [
        ("", "bad-input", ""),
        ("{", "bad-input", ""),
        ("[]", "bad-input", ""),
        ("null", "bad-input", ""),
        ("\u{feff}{}", "bad-input", ""),
        (r#"{"runId":1}"#, "bad-input", "/runId"),
        (r#"{"runId":null}"#, "bad-input", "/runId"),
        (r#"{"runId":""}"#, "bad-input", "/runId"),
        (r#"{"runId":" \t"}"#, "bad-input", "/runId"),
        (r#"{"runId":"a\u0000"}"#, "bad-input", "/runId"),
        (r#"{"runId":"\ud800"}"#, "bad-input", "/runId"),
        (&long, "bad-input", "/runId"),
        (r#"{"projectId":""}"#, "bad-input", "/projectId"),
        (r#"{"agentId":[]}"#, "bad-input", "/agentId"),
        (r#"{"agentVersion":2}"#, "bad-input", "/agentVersion"),
        (r#"{"flowId":{}}"#, "bad-input", "/flowId"),
        (r#"{"via":"latest"}"#, "bad-input", "/via"),
        (r#"{"dryRun":"true"}"#, "bad-input", "/dryRun"),
        (r#"{"dryRun":null}"#, "bad-input", "/dryRun"),
        (r#"{"replayOf":false}"#, "bad-input", "/replayOf"),
        (r#"{"parentRunId":0}"#, "bad-input", "/parentRunId"),
        (r#"{"segments":{}}"#, "bad-input", "/segments"),
        (r#"{"segments":[1]}"#, "bad-input", "/segments/0"),
        (
            r#"{"segments":[{"key":"K","value":"v"}]}"#,
            "bad-input",
            "/segments/0/key",
        ),
        (
            r#"{"segments":[{"value":"v"}]}"#,
            "bad-input",
            "/segments/0/key",
        ),
        (
            r#"{"segments":[{"key":"k"}]}"#,
            "bad-input",
            "/segments/0/value",
        ),
        (
            r#"{"segments":[{"key":"k","value":"v","a/b":1}]}"#,
            "unknown-field",
            "/segments/0/a~1b",
        ),
        (r#"{"outptu":1}"#, "unknown-field", "/outptu"),
        (r#"{"output":1,"outp\u0075t":2}"#, "bad-input", "/output"),
        (r#"{"runId":1,"x":1,"x":2}"#, "bad-input", "/x"),
        (r#"{"runId":1,"x":1}"#, "unknown-field", "/x"),
    ] {
        let answer = host.post("/demo/runs", "test-token", body);
        let answer = answer.expect_error(400, code);
        assert_eq!(answer.text("/error/details/field"), field, "{body}");
        assert!(
            answer.text("/error/message").contains(field),
            "{}",
            answer.body
        );
    }
}

#[test]
fn what_is_given_is_kept_as_it_is_and_shown_by_the_first_judgment() {
    let host = Host::start(&[]);
    let input = r#"{ "n":1e400,"n":0.10 }"#;
    let deep = format!("{}{}", "[".repeat(5000), "]".repeat(5000));
    let output = format!(r#"{{"esc":"\ud83d","deep":{deep}}}"#);
    let body = format!(
        r#"{{"runId":"a/b %?é","projectId":"p 1","agentId":"x","agentVersion":"9","via":"named",
            "dryRun":false,"replayOf":"run-1","parentRunId":"run-2","input":{input},
            "segments":[{{"key":"company","value":"acme"}}],"output": {output} }}"#
    );
    let made = host.post("/demo/runs", "test-token", &body).expect(201);
    assert_eq!(made.body, r#"{"runId":"a/b %?é","projectId":"p 1"}"#);
    let id = host
        .judge("a/b %?é", "/deep/0", "test-token")
        .expect(201)
        .text("/id");
    let shown = host
        .get(&format!("/v1/judgments/{id}"), "test-token")
        .expect(200);
    assert_eq!(shown.text("/projectId"), "p 1");
    assert_eq!(shown.find("/run/input").as_deref(), Some(input));
    assert_eq!(shown.find("/run/output"), Some(output));
    assert_eq!(
        shown.find("/run/subject").as_deref(),
        Some(r#"{"kind":"agent","id":"x","version":"9"}"#)
    );
    assert_eq!(
        shown.find("/run/segments").as_deref(),
        Some(r#"[{"key":"company","value":"acme"}]"#)
    );
    assert_eq!(shown.text("/run/context/replayOf"), "run-1");
    assert_eq!(shown.count("/run/context/history"), 2);
}

#[test]
fn nothing_has_to_be_given_and_ids_never_repeat() {
    let host = Host::start(&[]);
    let mut ids = BTreeSet::new();
    for _ in 0..50 {
        let made = host.post("/demo/runs", "judge-token", "{}").expect(201);
        let id = made.text("/runId");
        assert!(made.text("/projectId").ends_with("0000a1"));
        host.judge(&id, "/matches/9/summary", "judge-token")
            .expect(201);
        assert!(ids.insert(id));
    }
}

#[test]
fn a_flow_without_an_agent_is_the_flows_run() {
    let host = Host::start(&[]);
    for (given, subject) in [
        (
            r#""flowId":"f""#,
            r#"{"kind":"flow","id":"f","version":"2.0.0"}"#,
        ),
        (
            r#""flowId":"f","agentVersion":"3""#,
            r#"{"kind":"flow","id":"f","version":"3"}"#,
        ),
        (
            r#""flowId":"f","agentId":"a""#,
            r#"{"kind":"agent","id":"a","version":"1.2.0"}"#,
        ),
        (
            r#""agentVersion":"8""#,
            r#"{"kind":"agent","id":"acme.matcher","version":"8"}"#,
        ),
    ] {
        let made = host
            .post("/demo/runs", "test-token", &format!("{{{given}}}"))
            .expect(201);
        let judged = host
            .judge(&made.text("/runId"), "", "test-token")
            .expect(201);
        assert_eq!(judged.find("/subject").as_deref(), Some(subject));
    }
}

#[test]
fn an_id_that_is_taken_is_409_and_changes_nothing() {
    let host = Host::start(&[]);
    let body = r#"{"runId":"run-false-output","output":true}"#;
    let refused = host
        .post("/demo/runs", "test-token", body)
        .expect_error(409, "run-exists");
    assert_eq!(refused.text("/error/details/field"), "/runId");
    let id = host
        .judge("run-false-output", "", "test-token")
        .expect(201)
        .text("/id");
    let shown = host
        .get(&format!("/v1/judgments/{id}"), "test-token")
        .expect(200);
    assert_eq!(shown.find("/run/output").as_deref(), Some("false"));
}

#[test]
fn a_run_belongs_to_the_callers_tenant() {
    let host = Host::start(&[]);
    let body = r#"{"runId":"theirs"}"#;
    let made = host
        .post("/demo/runs", "other-tenant-token", body)
        .expect(201);
    assert!(made.text("/projectId").ends_with("0000b1"));
    host.judge("theirs", "", "test-token")
        .expect_error(404, "run-not-found");
    host.post("/demo/runs/theirs/erase", "test-token", "")
        .expect_error(404, "run-not-found");
    host.judge("theirs", "", "other-tenant-token").expect(201);
    host.post("/demo/runs", "test-token", body).expect(201);
}

#[test]
fn it_takes_the_tokens_that_the_api_takes() {
    let host = Host::start(&[]);
    for target in ["/demo/runs", "/demo/runs/run-1/erase", "/v1/judgments"] {
        for (token, code) in [
            ("expired-token", "auth-expired"),
            ("revoked-token", "auth-revoked"),
            ("no-token", "auth-missing"),
        ] {
            let refused = host.post(target, token, "{}").expect_error(401, code);
            assert_eq!(refused.header("www-authenticate"), Some("Bearer"));
        }
        send(host.address, "POST", target, &[], "{}").expect_error(401, "auth-missing");
    }
    host.judge("run-1", "", "judge-token").expect(201);
}
