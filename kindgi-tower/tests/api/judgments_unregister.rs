//! Removing a judgment: it reads on by its id, and nothing revives.

use crate::common::App;

async fn remove(app: &App, id: &str) -> crate::common::Answer {
    app.post("admin", &format!("/v1/judgments/{id}/unregister"), "")
        .await
}

#[tokio::test]
async fn it_answers_which_was_unregistered() {
    let app = App::new();
    let id = app.judge("judge", "run-1", "k").await;
    let answer = remove(&app, &id).await.is(200);
    assert_eq!(
        answer.body,
        format!(r#"{{"judgmentId":"{id}","unregistered":true}}"#)
    );
}

#[tokio::test]
async fn a_removed_judgment_reads_by_its_id_and_is_never_listed() {
    let app = App::new();
    let id = app.judge("judge", "run-1", "k").await;
    app.clock.advance_millis(1500);
    remove(&app, &id).await.is(200);
    let kept = app.judgment(&id).await;
    assert_eq!(kept.text("/unregisteredAt"), "2026-01-01T00:00:01.500Z");
    assert_eq!(kept.raw("/supersededBy"), None);
    assert_eq!(kept.text("/verdict"), "yes");
    assert_eq!(app.ids("admin", "/v1/judgments").await, [""; 0]);
}

#[tokio::test]
async fn what_doesnt_live_cant_be_removed() {
    let app = App::new();
    let removed = app.judge("judge", "run-1", "a").await;
    let superseded = app.judge("judge", "run-1", "b").await;
    let live = app.judge("judge", "run-1", "b").await;
    remove(&app, &removed).await.is(200);
    for id in [&removed, &superseded, "none"] {
        remove(&app, id).await.refused("judgment-not-found");
    }
    let kept = app.judgment(&superseded).await;
    assert_eq!(kept.text("/supersededBy"), live);
    assert_eq!(app.ids("admin", "/v1/judgments").await, [live]);
}

#[tokio::test]
async fn nothing_revives_and_judging_again_starts_anew() {
    let app = App::new();
    let first = app.judge("judge", "run-1", "k").await;
    let second = app.judge("judge", "run-1", "k").await;
    remove(&app, &second).await.is(200);
    assert_eq!(app.ids("admin", "/v1/judgments").await, [""; 0]);
    app.clock.advance_millis(10);
    let third = app.judge("judge", "run-1", "k").await;
    assert_eq!(app.ids("admin", "/v1/judgments").await, [third]);
    assert_eq!(app.judgment(&first).await.text("/supersededBy"), second);
    let removed = app.judgment(&second).await;
    assert_eq!(removed.raw("/supersededBy"), None);
    assert_eq!(removed.text("/unregisteredAt"), "2026-01-01T00:00:00.000Z");
}

#[tokio::test]
async fn a_removal_is_never_before_what_it_removes() {
    let app = App::new();
    let id = app.judge("judge", "run-1", "k").await;
    app.clock.advance_millis(-5000);
    remove(&app, &id).await.is(200);
    let kept = app.judgment(&id).await;
    assert_eq!(kept.text("/unregisteredAt"), kept.text("/createdAt"));
}
