//! Judging under a class: where it applies, and who may assert it.

use kindgi_core::model::{Principal, ReviewerRole, Run, Subject};

use crate::common::{Answer, App, TENANT, agent_scope, id, judgment, project_scope, raw};

const TENANT_SCOPE: &str = r#"{"kind":"tenant"}"#;

async fn under(app: &App, token: &str, run: &str, class: &str) -> Answer {
    let body = judgment(run, "k", "");
    let body = body.replacen('{', &format!(r#"{{"judgeClassId":"{class}","#), 1);
    app.record(token, &body).await
}

#[tokio::test]
async fn a_class_applies_to_the_runs_of_its_scope() {
    let app = App::new();
    app.user("ann", "read:* judge:*");
    let subject = Subject::Flow {
        id: id("acme.matcher"),
        version: id("1"),
    };
    app.run(Run::new(id("flow"), id("p1"), subject).completed_with(raw("1")));
    for (scope, applies) in [
        (TENANT_SCOPE.to_owned(), "run-1 run-2 flow"),
        (project_scope("p1"), "run-1 flow"),
        (project_scope("p2"), "run-2"),
        (agent_scope("p1", "acme.matcher"), "run-1"),
        (agent_scope("p2", "acme.matcher"), "run-2"),
        (agent_scope("p1", "Acme.matcher"), ""),
    ] {
        let class = app.class(&scope, "n", "").await;
        for run in ["run-1", "run-2", "flow"] {
            let answer = under(&app, "ann", run, &class).await;
            if applies.split(' ').any(|applies| applies == run) {
                let answer = answer.is(201);
                assert_eq!(answer.text("/judgeClassId"), class);
                assert_eq!(answer.raw("/restricted"), None);
            } else {
                answer.refused_at("judge-class-not-applicable", "/judgeClassId");
            }
        }
    }
}

#[tokio::test]
async fn an_unknown_and_a_retired_class_apply_to_nothing() {
    let app = App::new();
    under(&app, "judge", "run-1", "none")
        .await
        .refused("judge-class-not-applicable");
    let class = app.class(TENANT_SCOPE, "n", "").await;
    let old = under(&app, "judge", "run-1", &class)
        .await
        .is(201)
        .text("/id");
    app.post(
        "admin",
        &format!("/v1/judge-classes/{class}/unregister"),
        "",
    )
    .await
    .is(200);
    under(&app, "judge", "run-1", &class)
        .await
        .refused("judge-class-not-applicable");
    // It still names what was judged under it.
    assert_eq!(app.judgment(&old).await.text("/judgeClassId"), class);
    assert_eq!(
        app.ids("judge", &format!("/v1/judgments?judgeClassId={class}"))
            .await,
        [old]
    );
}

#[tokio::test]
async fn every_part_that_is_set_must_hold_and_roles_rank() {
    let app = App::new();
    let rights = "read:p1 judge:p1";
    let role = |name, role| Principal::user(id(TENANT), id(name)).with_reviewer_role(role);
    app.person("none", Principal::user(id(TENANT), id("none")), rights);
    app.person("standard", role("standard", ReviewerRole::Standard), rights);
    app.person("senior", role("senior", ReviewerRole::Senior), rights);
    app.person("top", role("top", ReviewerRole::Admin), rights);
    let service = Principal::service(id(TENANT), id("senior"));
    app.person(
        "bot",
        service.clone().with_reviewer_role(ReviewerRole::Senior),
        rights,
    );
    let all = ["none", "standard", "senior", "top", "bot"];
    for (at, (by, may)) in [
        (r#"{"minReviewerRole":"standard"}"#, "standard senior top bot"),
        (r#"{"minReviewerRole":"senior"}"#, "senior top bot"),
        (r#"{"minReviewerRole":"admin"}"#, "top"),
        (r#"{"principalKinds":["user"]}"#, "none standard senior top"),
        (r#"{"principalKinds":["service"]}"#, "bot"),
        (r#"{"principalKinds":["service","user"]}"#, "none standard senior top bot"),
        // Ids are compared exactly, whatever the kind.
        (r#"{"principalIds":["senior","TOP"]}"#, "senior bot"),
        (r#"{"principalIds":["senior","top"],"principalKinds":["user"]}"#, "senior top"),
        (r#"{"principalIds":["none","top"],"minReviewerRole":"standard"}"#, "top"),
        (r#"{"principalIds":["senior","top"],"principalKinds":["service"],"minReviewerRole":"admin"}"#, ""),
    ]
    .into_iter()
    .enumerate()
    {
        let class = app.class(TENANT_SCOPE, &at.to_string(), &format!("\"assertableBy\":{by}")).await;
        for token in all {
            let answer = under(&app, token, "run-1", &class).await;
            if may.split(' ').any(|may| may == token) {
                assert_eq!(answer.is(201).shown("/restricted"), "true", "{token} {by}");
            } else {
                answer.refused_at("judge-class-not-allowed", "/judgeClassId");
            }
        }
    }
}

#[tokio::test]
async fn restricted_says_what_was_so_at_that_moment() {
    let app = App::new();
    let class = app.class(TENANT_SCOPE, "n", "").await;
    let path = format!("/v1/judge-classes/{class}");
    let before = under(&app, "judge", "run-1", &class)
        .await
        .is(201)
        .text("/id");
    app.patch(
        "admin",
        &path,
        r#"{"assertableBy":{"principalIds":["judge"]}}"#,
    )
    .await
    .is(200);
    let during = under(&app, "judge", "run-1", &class)
        .await
        .is(201)
        .text("/id");
    app.patch("admin", &path, r#"{"assertableBy":null}"#)
        .await
        .is(200);
    let after = under(&app, "judge", "run-1", &class)
        .await
        .is(201)
        .text("/id");
    for (id, restricted) in [(before, "nothing"), (during, "true"), (after, "nothing")] {
        assert_eq!(app.judgment(&id).await.shown("/restricted"), restricted);
    }
}
