//! The run's copy: what the first judgment ever of a run keeps, and nothing changes.

use kindgi_core::model::Segment;

use crate::common::{App, OUTPUT, Trouble, agent_run, finished, judgment, raw};

#[tokio::test]
async fn the_copy_has_input_output_segments_context_and_when_it_was_taken() {
    let app = App::new();
    app.host
        .context(Some(r#"{"retrieved": [ 1.0 ],"toolEnv":{"t":{"K":"v"}}}"#));
    let segments = vec![
        Segment::new("company", "acme é").unwrap(),
        Segment::new("a", "b").unwrap(),
    ];
    app.run(finished("run", "p1", "{ \"x\" : 1.10 }").with_segments(segments));
    let id = app.judge("judge", "run", "k").await;
    let expected = concat!(
        r#","run":{"runId":"run","subject":{"kind":"agent","id":"acme.matcher","version":"1.2.0"},"#,
        r#""input":{"q": "who?"},"context":{"retrieved":[ 1.0 ],"toolEnv":{"t":{"K":"v"}}},"#,
        r#""output":{ "x" : 1.10 },"segments":[{"key":"company","value":"acme é"},{"key":"a","value":"b"}],"#,
        r#""capturedAt":"2026-01-01T00:00:00.000Z"}}"#
    );
    let kept = app.judgment(&id).await;
    assert!(kept.body.ends_with(expected), "{}", kept.body);
}

#[tokio::test]
async fn a_run_without_segments_and_context_has_no_segments_and_none() {
    let app = App::new();
    let id = app.judge("judge", "run-1", "k").await;
    let kept = app.judgment(&id).await;
    assert_eq!(kept.shown("/run/segments"), "[]");
    assert_eq!(kept.raw("/run/context"), None);
}

#[tokio::test]
async fn a_run_that_was_given_nothing_has_null_for_its_input() {
    let app = App::new();
    app.run(agent_run("run", "p1").completed_with(raw("1")));
    let id = app.judge("judge", "run", "k").await;
    assert_eq!(app.judgment(&id).await.shown("/run/input"), "null");
}

#[tokio::test]
async fn later_judgments_keep_the_first_copy_also_after_all_were_removed() {
    let app = App::new();
    app.host.context(Some(r#"{"retrieved":1}"#));
    app.run(finished("run", "p1", "[1]").with_segments(vec![Segment::new("a", "1").unwrap()]));
    let first = app.judge("judge", "run", "k").await;
    let copy = app.judgment(&first).await.shown("/run");
    assert!(copy.contains("[1]"));

    // The host changes everything about the run.
    app.clock.advance_millis(5);
    app.host.context(Some(r#"{"retrieved":2}"#));
    app.run(
        agent_run("run", "p1")
            .with_input(raw("2"))
            .completed_with(raw("[2]")),
    );
    for token in ["judge", "admin"] {
        let id = app.judge(token, "run", "k").await;
        assert_eq!(app.judgment(&id).await.shown("/run"), copy);
    }
    for id in app.ids("admin", "/v1/judgments?runId=run").await {
        app.post("admin", &format!("/v1/judgments/{id}/unregister"), "")
            .await
            .is(200);
    }
    assert_eq!(app.ids("admin", "/v1/judgments?runId=run").await, [""; 0]);
    let again = app.judge("judge", "run", "k").await;
    assert_eq!(app.judgment(&again).await.shown("/run"), copy);
    assert_eq!(app.judgment(&first).await.shown("/run"), copy);
}

#[tokio::test]
async fn the_context_is_captured_for_the_first_judgment_only() {
    let app = App::new();
    app.host.context(Some(r#"{"retrieved":1}"#));
    app.judge("judge", "run-1", "a").await;
    app.judge("judge", "run-1", "a").await;
    app.judge("admin", "run-1", "b").await;
    assert_eq!(app.host.faults.calls("capture"), 1);
    app.judge("admin", "run-2", "b").await;
    assert_eq!(app.host.faults.calls("capture"), 2);
}

#[tokio::test]
async fn a_capture_that_fails_costs_the_context_and_not_the_judgment() {
    let app = App::new();
    app.host.context(Some(r#"{"retrieved":1}"#));
    for (run, trouble) in [
        ("a", Trouble::Fails),
        ("b", Trouble::Busy),
        ("c", Trouble::Panics),
    ] {
        app.run(finished(run, "p1", OUTPUT));
        app.host.faults.set("capture", trouble);
        let id = app.judge("judge", run, "k").await;
        app.host.faults.clear();
        // Nobody asks again.
        let later = app.judge("judge", run, "l").await;
        for id in [id, later] {
            let kept = app.judgment(&id).await;
            assert_eq!(kept.raw("/run/context"), None);
            assert_eq!(kept.shown("/run/output"), OUTPUT);
        }
    }
    assert_eq!(app.host.faults.calls("capture"), 3);
}

#[tokio::test]
async fn a_replay_says_of_which_run_with_or_without_a_context() {
    let app = App::new();
    let replay = |run: &str| finished(run, "p1", "1").with_replay_of("run-1".parse().unwrap());
    app.run(replay("bare"));
    app.run(replay("failed"));
    app.run(replay("full"));
    let bare = app.judge("judge", "bare", "k").await;
    app.host
        .context(Some(r#"{"replayOf":"a lie","retrieved":1e400}"#));
    app.host.faults.set("capture", Trouble::Fails);
    let failed = app.judge("judge", "failed", "k").await;
    app.host.faults.clear();
    let full = app.judge("judge", "full", "k").await;
    for (id, context) in [
        (bare, r#"{"replayOf":"run-1"}"#),
        (failed, r#"{"replayOf":"run-1"}"#),
        (full, r#"{"retrieved":1e400,"replayOf":"run-1"}"#),
    ] {
        assert_eq!(app.judgment(&id).await.shown("/run/context"), context);
    }
}

#[tokio::test]
async fn the_last_200_messages_of_the_history_are_kept() {
    let app = App::new();
    for (messages, kept, says) in [(200, 0, "nothing"), (201, 1, "true"), (450, 250, "true")] {
        let history: Vec<String> = (0..messages).map(|n| format!(r#"{{"n": {n}}}"#)).collect();
        app.host
            .context(Some(&format!(r#"{{"history":[{}]}}"#, history.join(","))));
        let run = messages.to_string();
        app.run(finished(&run, "p1", "1"));
        let id = app.judge("judge", &run, "k").await;
        let found = app.judgment(&id).await;
        assert_eq!(
            found.shown("/run/context/history"),
            format!("[{}]", history[kept..].join(","))
        );
        assert_eq!(found.shown("/run/context/historyTruncated"), says);
    }
}

#[tokio::test]
async fn the_first_500_calls_of_a_flow_are_kept() {
    let app = App::new();
    for (calls, says) in [(500, "nothing"), (501, "true")] {
        let list: Vec<String> = (0..calls)
            .map(|n| format!(r#"{{"runId":"r","toolId":"t{n}","result":1.0}}"#))
            .collect();
        app.host.context(Some(&format!(
            r#"{{"flow":{{"calls":[{}],"steps":[]}}}}"#,
            list.join(",")
        )));
        let run = calls.to_string();
        app.run(finished(&run, "p1", "1"));
        let id = app.judge("judge", &run, "k").await;
        let found = app.judgment(&id).await;
        assert_eq!(
            found.shown("/run/context/flow/calls"),
            format!("[{}]", list[..500].join(","))
        );
        assert_eq!(found.shown("/run/context/flow/truncated"), says);
    }
}

#[tokio::test]
async fn copies_are_kept_whatever_their_size_and_depth() {
    let app = App::new();
    let deep = format!("{}{}", "[".repeat(200_000), "]".repeat(200_000));
    let large = format!("\"{}\"", "é".repeat(1 << 20));
    for (run, output) in [("deep", deep.as_str()), ("large", large.as_str())] {
        app.run(
            agent_run(run, "p1")
                .with_input(raw(output))
                .completed_with(raw(output)),
        );
        let body = judgment(run, "k", r#""pointer":"""#);
        let id = app.record("judge", &body).await.is(201).text("/id");
        let kept = app.judgment(&id).await;
        assert!(
            kept.body
                .contains(&format!(r#""input":{output},"output":{output},"#))
        );
        assert!(kept.body.ends_with(&format!(r#","itemValue":{output}}}"#)));
    }
}
