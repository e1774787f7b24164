//! What lies behind a 500 or 503 is told to the host, and to nobody else.

use http::Method;
use kindgi_tower::Cause;
use tower::ServiceExt;

use crate::common::{App, Trouble};

#[tokio::test]
async fn the_cause_is_in_the_responses_extensions_and_not_in_its_body() {
    let app = App::new();
    for (trouble, status) in [(Trouble::Fails, 500), (Trouble::Busy, 503)] {
        app.host.faults.set("judgments", trouble);
        let request = app.request(Method::GET, "judge", "/v1/judgments", "");
        let response = app.service.clone().oneshot(request).await.unwrap();
        assert_eq!(response.status(), status);
        let cause = response
            .extensions()
            .get::<Cause>()
            .expect("a cause")
            .to_string();
        let source = std::error::Error::source(response.extensions().get::<Cause>().unwrap());
        let source = source.expect("the store's own error").to_string();
        assert!(cause.contains(&source), "{cause}");
        let body = http_body_util::BodyExt::collect(response.into_body())
            .await
            .unwrap();
        let body = String::from_utf8(body.to_bytes().to_vec()).unwrap();
        assert!(!body.contains(&source), "{body}");
        app.host.faults.clear();
    }
}

#[tokio::test]
async fn what_the_caller_did_wrong_has_no_cause() {
    let app = App::new();
    let request = app.request(Method::GET, "judge", "/v1/judgments/none", "");
    let response = app.service.clone().oneshot(request).await.unwrap();
    assert_eq!(response.status(), 404);
    assert!(response.extensions().get::<Cause>().is_none());
}
