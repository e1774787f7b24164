//! The envelope of errors, and the headers of all answers; `App::send` checks both each time.

use crate::common::App;

#[tokio::test]
async fn an_error_is_one_object_with_code_message_details_and_request_id() {
    let app = App::new();
    let answer = app.get("judge", "/v1/judgments?limit=0").await.is(400);
    let id = answer.header("x-request-id").unwrap();
    let expected = format!(
        r#"{{"error":{{"code":"bad-input","message":"must be a whole number from 1 to 100","details":{{"field":"limit"}},"requestId":"{id}"}}}}"#
    );
    assert_eq!(answer.body, expected);
}

#[tokio::test]
async fn an_error_without_details_leaves_them_out() {
    let app = App::new();
    let answer = app
        .get("judge", "/v1/judgments/none")
        .await
        .refused("judgment-not-found");
    assert_eq!(answer.raw("/error/details"), None);
}

#[tokio::test]
async fn unknown_fields_are_all_named() {
    let app = App::new();
    let body = r#"{"a/b":1,"item":{"nope~":1},"":null}"#;
    let answer = app
        .record("judge", body)
        .await
        .refused_at("unknown-field", "/a~1b");
    assert_eq!(
        answer.shown("/error/details/fields"),
        r#"["/a~1b","/","/item/nope~0"]"#
    );
    for name in ["/a~1b", "/item/nope~0"] {
        assert!(answer.text("/error/message").contains(name));
    }
}

#[tokio::test]
async fn a_server_error_tells_nothing_of_the_trouble() {
    use crate::common::Trouble;
    let app = App::new();
    for (method, trouble) in [
        ("judgments", Trouble::Fails),
        ("judgments", Trouble::Busy),
        ("judgments", Trouble::Panics),
        ("readable_projects", Trouble::Fails),
        ("readable_projects", Trouble::Busy),
    ] {
        app.host.faults.clear();
        app.host.faults.set(method, trouble);
        let answer = app.get("judge", "/v1/judgments").await;
        assert!(answer.status.is_server_error());
        assert!(!answer.body.contains("secret"), "{}", answer.body);
        assert_eq!(answer.raw("/error/details"), None);
    }
}

#[tokio::test]
async fn answers_are_compact_json() {
    let app = App::new();
    let id = app.judge("judge", "run-1", "k").await;
    let page = app.get("judge", "/v1/judgments").await.is(200);
    // The rows are the service's own text throughout.
    assert!(!page.body.contains([' ', '\n']), "{}", page.body);
    assert!(page.body.ends_with(r#"],"hasMore":false}"#));
    assert!(
        page.body
            .starts_with(&format!(r#"{{"data":[{{"id":"{id}","#))
    );
}
