//! Erased runs: 410 for new judgments; the old ones read on, without the content.

use crate::common::{App, finished, judgment};

/// A run with two live judgments and all there is to erase.
async fn judged() -> (App, String, String) {
    let app = App::new();
    app.host.context(Some(r#"{"retrieved":"secret"}"#));
    let segments = vec![kindgi_core::model::Segment::new("who", "secret").unwrap()];
    app.run(finished("run", "p1", "[\"secret\"]").with_segments(segments));
    let body = r#"{"runId":"run","item":{"key":"k","pointer":""},"verdict":"no","reason":"secret","participantId":"p","correction":{"calls":[{"tool":"secret","args":{"secret":1}}],"notCalled":["secret"]}}"#;
    let full = app.record("judge", body).await.is(201).text("/id");
    let bare = app.judge("admin", "run", "k").await;
    (app, full, bare)
}

#[tokio::test]
async fn judging_an_erased_run_is_410_whoever_knows_of_the_erasure() {
    let app = App::new();
    app.run(finished("by-the-host", "p1", "1").erased());
    app.run(finished("in-the-store", "p1", "1"));
    app.erase("in-the-store").await;
    for run in ["by-the-host", "in-the-store"] {
        app.record("judge", &judgment(run, "k", ""))
            .await
            .refused("run-erased");
        // Only to who may judge it.
        app.record("reader", &judgment(run, "k", ""))
            .await
            .refused("permission-denied");
    }
}

#[tokio::test]
async fn judgments_of_an_erased_run_read_on_with_null_for_input_and_output() {
    let (app, full, bare) = judged().await;
    app.erase("run").await;
    for id in [&full, &bare] {
        let kept = app.judgment(id).await;
        assert!(!kept.body.contains("secret"), "{}", kept.body);
        assert_eq!(kept.shown("/run/input"), "null");
        assert_eq!(kept.shown("/run/output"), "null");
        for gone in [
            "/run/context",
            "/run/segments",
            "/itemValue",
            "/reason",
            "/correction",
        ] {
            assert_eq!(kept.raw(gone), None, "{gone}");
        }
        assert_eq!(kept.text("/run/runId"), "run");
        assert_eq!(kept.text("/run/capturedAt"), "2026-01-01T00:00:00.000Z");
    }
    let kept = app.judgment(&full).await;
    assert_eq!(kept.text("/verdict"), "no");
    assert_eq!(kept.text("/participantId"), "p");
    assert_eq!(kept.text("/item/key"), "k");
}

#[tokio::test]
async fn verdicts_of_an_erased_run_stay_live_and_listed() {
    let (app, full, bare) = judged().await;
    app.erase("run").await;
    assert_eq!(
        app.ids("judge", "/v1/judgments?runId=run").await,
        [bare.clone(), full]
    );
    let page = app.get("judge", "/v1/judgments").await;
    assert!(!page.body.contains("secret"), "{}", page.body);
    // They can still be removed.
    app.post("admin", &format!("/v1/judgments/{bare}/unregister"), "")
        .await
        .is(200);
}

#[tokio::test]
async fn erasing_twice_changes_nothing_and_other_runs_stay() {
    let (app, full, _) = judged().await;
    let other = app.judge("judge", "run-1", "k").await;
    app.erase("run").await;
    let once = app.judgment(&full).await.body;
    app.erase("run").await;
    assert_eq!(app.judgment(&full).await.body, once);
    assert_ne!(app.judgment(&other).await.shown("/run/output"), "null");
    app.judge("judge", "run-1", "k").await;
}
