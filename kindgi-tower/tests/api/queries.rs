//! Queries: every parameter known, once, and with a value.

use crate::common::{Answer, App, finished, judgment};

async fn list(app: &App, query: &str) -> Answer {
    app.get("judge", &format!("/v1/judgments?{query}")).await
}

#[tokio::test]
async fn a_query_without_parameters_is_none() {
    let app = App::new();
    for query in ["", "&", "&&"] {
        list(&app, query).await.is(200);
    }
}

#[tokio::test]
async fn an_unknown_parameter_is_refused_also_inherit() {
    let app = App::new();
    for query in [
        "inherit=true",
        "runid=x",
        "RunId=x",
        "run_id=x",
        "runId[]=x",
        "x",
        "=x",
        "=",
        "projectId=p1",
    ] {
        list(&app, query).await.refused("bad-input");
    }
    list(&app, "limit=1&inherit=true")
        .await
        .refused_at("bad-input", "inherit");
    let classes = app.get("judge", "/v1/judge-classes?runId=x").await;
    classes.refused_at("bad-input", "runId");
}

#[tokio::test]
async fn a_repeated_parameter_is_refused_however_it_is_spelled() {
    let app = App::new();
    for query in [
        "runId=a&runId=a",
        "runId=a&runId=b",
        "runId=a&run%49d=b",
        "limit=1&limit=1",
        "cursor=a&cursor=a",
    ] {
        let name = query.split('=').next().unwrap();
        list(&app, query).await.refused_at("bad-input", name);
    }
}

#[tokio::test]
async fn an_empty_value_is_refused() {
    let app = App::new();
    for name in [
        "limit",
        "cursor",
        "runId",
        "agentId",
        "agentVersion",
        "flowId",
        "verdict",
        "judgeClassId",
        "participantId",
        "scopeKind",
        "scopeId",
    ] {
        list(&app, &format!("{name}="))
            .await
            .refused_at("bad-input", name);
        list(&app, name).await.refused_at("bad-input", name);
    }
    for name in ["limit", "cursor", "scopeKind", "projectId", "agentId"] {
        let answer = app
            .get("judge", &format!("/v1/judge-classes?{name}="))
            .await;
        answer.refused_at("bad-input", name);
    }
}

#[tokio::test]
async fn a_value_that_can_be_no_id_is_refused() {
    let app = App::new();
    for name in [
        "runId",
        "agentId",
        "flowId",
        "judgeClassId",
        "participantId",
    ] {
        for value in ["%00", "%ff", "%20", "+", &"a".repeat(257)] {
            list(&app, &format!("{name}={value}"))
                .await
                .refused_at("bad-input", name);
        }
        list(&app, &format!("{name}={}", "a".repeat(256)))
            .await
            .is(200);
    }
    list(&app, "agentId=a&agentVersion=%00")
        .await
        .refused_at("bad-input", "agentVersion");
    list(&app, "scopeKind=project&scopeId=%00")
        .await
        .refused_at("bad-input", "scopeId");
    list(&app, "%ff=1").await.refused("bad-input");
}

#[tokio::test]
async fn a_plus_is_a_blank_and_a_percent_sign_without_two_digits_is_itself() {
    let app = App::new();
    for run in ["a b", "a+b", "100%", "%zz", "a&b=c", "é/#?"] {
        app.run(finished(run, "p1", "1"));
        app.judge("judge", run, "k").await;
    }
    for (query, run) in [
        ("runId=a+b", "a b"),
        ("runId=a%20b", "a b"),
        ("runId=a%2Bb", "a+b"),
        ("runId=a%2bb", "a+b"),
        ("runId=100%", "100%"),
        ("runId=100%25", "100%"),
        ("runId=%zz", "%zz"),
        ("runId=a%26b=c", "a&b=c"),
        ("runId=a%26b%3Dc", "a&b=c"),
        ("runId=%C3%A9/%23?", "é/#?"),
        ("%72unId=a+b", "a b"),
    ] {
        let page = list(&app, query).await.is(200);
        assert_eq!(page.ids().len(), 1, "{query}");
        assert_eq!(page.text("/data/0/runId"), run, "{query}");
    }
}

#[tokio::test]
async fn a_limit_is_a_whole_number_from_1_to_100_in_json_syntax() {
    let app = App::new();
    for limit in [
        "1", "100", "1.0", "1e2", "1E2", "1e%2B2", "10e-1", "1.00e2", "0.1e1", "1000e-01",
    ] {
        list(&app, &format!("limit={limit}")).await.is(200);
    }
    for limit in [
        "0",
        "101",
        "-1",
        "-0",
        "1.5",
        "1e-5",
        "1e400",
        "1e3",
        "01",
        "+1",
        "%201",
        "1%20",
        "1,0",
        "0x10",
        "ten",
        "NaN",
        "null",
        "true",
        "1_0",
        "9007199254740993",
        "18446744073709551617",
        "%D9%A1",
        "1e",
        "65537",
        "65636",
        ".5e1",
        "1.",
    ] {
        list(&app, &format!("limit={limit}"))
            .await
            .refused_at("bad-input", "limit");
        let classes = app
            .get("judge", &format!("/v1/judge-classes?limit={limit}"))
            .await;
        classes.refused_at("bad-input", "limit");
    }
}

#[tokio::test]
async fn a_verdict_is_yes_or_no() {
    let app = App::new();
    for verdict in ["Yes", "YES", "true", "maybe", "yes,no", "%22yes%22"] {
        list(&app, &format!("verdict={verdict}"))
            .await
            .refused_at("bad-input", "verdict");
    }
}

#[tokio::test]
async fn agent_version_needs_agent_id() {
    let app = App::new();
    list(&app, "agentVersion=1.2.0")
        .await
        .refused_at("bad-input", "agentVersion");
    list(&app, "agentVersion=1.2.0&flowId=f")
        .await
        .refused_at("bad-input", "agentVersion");
    list(&app, "agentVersion=1.2.0&agentId=a").await.is(200);
}

#[tokio::test]
async fn broken_scope_combinations_are_scope_invalid() {
    let app = App::new();
    for (query, field) in [
        ("scopeKind=agent", "scopeKind"),
        ("scopeKind=Tenant", "scopeKind"),
        ("scopeKind=agent&scopeId=p1", "scopeKind"),
        ("scopeId=p1", "scopeKind"),
        ("scopeKind=tenant&scopeId=acme", "scopeId"),
        ("scopeKind=project", "scopeId"),
        ("scopeKind=org", "scopeId"),
    ] {
        list(&app, query).await.refused_at("scope-invalid", field);
    }
    for query in [
        "scopeKind=tenant",
        "scopeKind=project&scopeId=p1",
        "scopeId=o1&scopeKind=org",
    ] {
        list(&app, query).await.is(200);
    }
}

#[tokio::test]
async fn operations_without_parameters_take_none() {
    let app = App::new();
    let id = app.judge("judge", "run-1", "k").await;
    let class = app.class(r#"{"kind":"tenant"}"#, "n", "").await;
    let get = app
        .get("admin", &format!("/v1/judgments/{id}?limit=1"))
        .await;
    get.refused_at("bad-input", "limit");
    for path in [
        format!("/v1/judgments/{id}/unregister?x=1"),
        format!("/v1/judge-classes/{class}/unregister?x=1"),
    ] {
        app.post("admin", &path, "")
            .await
            .refused_at("bad-input", "x");
    }
    for path in [format!("/v1/judge-classes/{class}?x=1")] {
        app.get("admin", &path).await.refused_at("bad-input", "x");
        app.patch("admin", &path, r#"{"weight":1}"#)
            .await
            .refused_at("bad-input", "x");
    }
    let body = judgment("run-1", "k", "");
    app.post("admin", "/v1/judgments?runId=run-1", &body)
        .await
        .refused_at("bad-input", "runId");
    let body = crate::common::class(r#"{"kind":"tenant"}"#, "m", "");
    app.post("admin", "/v1/judge-classes?x=1", &body)
        .await
        .refused_at("bad-input", "x");
    assert_eq!(app.ids("admin", "/v1/judge-classes").await, [class]);
    assert_eq!(app.ids("admin", "/v1/judgments").await, [id]);
}
