//! Retired classes read by id and name old judgments; they never list, nor take anything new.

use crate::common::App;

const TENANT_SCOPE: &str = r#"{"kind":"tenant"}"#;
const CLASSES: &str = "/v1/judge-classes";

#[tokio::test]
async fn it_answers_which_was_unregistered() {
    let app = App::new();
    let id = app.class(TENANT_SCOPE, "n", "").await;
    let answer = app
        .post("admin", &format!("{CLASSES}/{id}/unregister"), "")
        .await
        .is(200);
    assert_eq!(
        answer.body,
        format!(r#"{{"judgeClassId":"{id}","unregistered":true}}"#)
    );
}

#[tokio::test]
async fn a_retired_class_reads_by_id_and_never_lists() {
    let app = App::new();
    let id = app.class(TENANT_SCOPE, "n", r#""description":"d""#).await;
    app.clock.advance_millis(2000);
    app.post("admin", &format!("{CLASSES}/{id}/unregister"), "")
        .await
        .is(200);
    let kept = app.get("reader", &format!("{CLASSES}/{id}")).await.is(200);
    assert_eq!(kept.text("/unregisteredAt"), "2026-01-01T00:00:02.000Z");
    assert_eq!(kept.text("/createdAt"), "2026-01-01T00:00:00.000Z");
    assert_eq!(kept.text("/description"), "d");
    for query in ["", "?scopeKind=tenant"] {
        assert_eq!(
            app.ids("admin", &format!("{CLASSES}{query}")).await,
            [""; 0]
        );
    }
}

#[tokio::test]
async fn a_retired_class_cant_be_changed_nor_retired_again() {
    let app = App::new();
    let id = app.class(TENANT_SCOPE, "n", "").await;
    let path = format!("{CLASSES}/{id}");
    app.post("admin", &format!("{path}/unregister"), "")
        .await
        .is(200);
    app.patch("admin", &path, r#"{"weight":3}"#)
        .await
        .refused("judge-class-not-found");
    app.patch("admin", &path, r#"{"assertableBy":null}"#)
        .await
        .refused("judge-class-not-found");
    app.post("admin", &format!("{path}/unregister"), "")
        .await
        .refused("judge-class-not-found");
    assert_eq!(app.get("reader", &path).await.shown("/weight"), "2");
}

#[tokio::test]
async fn an_unknown_class_is_not_found() {
    let app = App::new();
    app.get("admin", &format!("{CLASSES}/none"))
        .await
        .refused("judge-class-not-found");
    app.patch("admin", &format!("{CLASSES}/none"), r#"{"weight":1}"#)
        .await
        .refused("judge-class-not-found");
    app.post("admin", &format!("{CLASSES}/none/unregister"), "")
        .await
        .refused("judge-class-not-found");
}
