//! Creating judge classes: their fields, and what is answered.

use crate::common::{App, agent_scope, class, project_scope, quoted};

const TENANT_SCOPE: &str = r#"{"kind":"tenant"}"#;
const CLASSES: &str = "/v1/judge-classes";

#[tokio::test]
async fn a_class_is_answered_with_all_its_fields_and_nothing_else() {
    let app = App::new();
    app.clock.advance_millis(1);
    let answer = app
        .post("admin", CLASSES, &class(TENANT_SCOPE, "Expert", ""))
        .await
        .is(201);
    let id = answer.text("/id");
    let times = r#""createdAt":"2026-01-01T00:00:00.001Z","updatedAt":"2026-01-01T00:00:00.001Z""#;
    let least = format!(
        r#"{{"id":"{id}","tenantId":"acme","scope":{TENANT_SCOPE},"name":"Expert","weight":2,{times}}}"#
    );
    assert_eq!(answer.body, least);
    assert_eq!(
        app.get("reader", &format!("{CLASSES}/{id}"))
            .await
            .is(200)
            .body,
        least
    );

    let scope = agent_scope("p1", "acme.matcher");
    let by = r#""assertableBy":{"principalIds":["b","a"],"principalKinds":["service","user"],"minReviewerRole":"senior"}"#;
    let body = class(&scope, "Expert", &format!(r#""description":"Knows.",{by}"#));
    let answer = app.post("admin", CLASSES, &body).await.is(201);
    let id = answer.text("/id");
    let by = r#""assertableBy":{"minReviewerRole":"senior","principalKinds":["service","user"],"principalIds":["b","a"],"principalCount":2}"#;
    let most = format!(
        r#"{{"id":"{id}","tenantId":"acme","scope":{scope},"name":"Expert","weight":2,"description":"Knows.",{by},{times}}}"#
    );
    assert_eq!(answer.body, most);
    assert_eq!(
        app.get("admin", &format!("{CLASSES}/{id}"))
            .await
            .is(200)
            .body,
        most
    );
}

#[tokio::test]
async fn a_name_has_1_to_100_code_points_and_is_never_blank() {
    let app = App::new();
    for letter in ["a", "🔥"] {
        let longest = letter.repeat(100);
        let answer = app
            .post("admin", CLASSES, &class(TENANT_SCOPE, &longest, ""))
            .await
            .is(201);
        assert_eq!(answer.text("/name"), longest);
        let body = class(TENANT_SCOPE, &letter.repeat(101), "");
        app.post("admin", CLASSES, &body)
            .await
            .refused_at("bad-input", "/name");
    }
    for wrong in ["", " ", "\t\n", "\u{3000}", "a\0"] {
        let body = class(TENANT_SCOPE, wrong, "");
        app.post("admin", CLASSES, &body)
            .await
            .refused_at("bad-input", "/name");
    }
    for wrong in ["null", "1", "[]"] {
        let body = class(TENANT_SCOPE, "n", "").replace("\"n\"", wrong);
        app.post("admin", CLASSES, &body)
            .await
            .refused_at("bad-input", "/name");
    }
}

#[tokio::test]
async fn a_description_is_any_text_without_u_0000() {
    let app = App::new();
    let long = "é".repeat(20_000);
    for (at, text) in ["", " ", "two\nlines", long.as_str()]
        .into_iter()
        .enumerate()
    {
        let body = class(
            TENANT_SCOPE,
            &at.to_string(),
            &format!("\"description\":{}", quoted(text)),
        );
        let answer = app.post("admin", CLASSES, &body).await.is(201);
        assert_eq!(answer.text("/description"), text);
    }
    for wrong in [r#""a\u0000""#, "1", "null"] {
        let body = class(TENANT_SCOPE, "n", &format!("\"description\":{wrong}"));
        app.post("admin", CLASSES, &body)
            .await
            .refused_at("bad-input", "/description");
    }
}

#[tokio::test]
async fn a_scope_has_exactly_the_ids_of_its_kind() {
    let app = App::new();
    for (scope, code, field) in [
        (
            r#"{"kind":"tenant","projectId":"p1"}"#,
            "unknown-field",
            "/scope/projectId",
        ),
        (
            r#"{"kind":"tenant","agentId":"a"}"#,
            "unknown-field",
            "/scope/agentId",
        ),
        (
            r#"{"projectId":"p1","agentId":"a","kind":"project"}"#,
            "unknown-field",
            "/scope/agentId",
        ),
        (r#"{"kind":"project","x":1}"#, "unknown-field", "/scope/x"),
        (r#"{"kind":"project"}"#, "bad-input", "/scope/projectId"),
        (
            r#"{"kind":"project","projectId":""}"#,
            "bad-input",
            "/scope/projectId",
        ),
        (
            r#"{"kind":"project","projectId":null}"#,
            "bad-input",
            "/scope/projectId",
        ),
        (
            r#"{"kind":"agent","agentId":"a"}"#,
            "bad-input",
            "/scope/projectId",
        ),
        (
            r#"{"kind":"agent","projectId":"p1"}"#,
            "bad-input",
            "/scope/agentId",
        ),
        (
            r#"{"kind":"agent","projectId":"p1","agentId":" "}"#,
            "bad-input",
            "/scope/agentId",
        ),
        (
            r#"{"kind":"org","projectId":"p1"}"#,
            "bad-input",
            "/scope/kind",
        ),
        (r#"{"kind":"Tenant"}"#, "bad-input", "/scope/kind"),
        (r#"{"kind":1}"#, "bad-input", "/scope/kind"),
        (r#"{"kind":["tenant"]}"#, "bad-input", "/scope/kind"),
        ("{}", "bad-input", "/scope/kind"),
        ("null", "bad-input", "/scope"),
        ("\"tenant\"", "bad-input", "/scope"),
    ] {
        let answer = app.post("admin", CLASSES, &class(scope, "n", "")).await;
        answer.refused_at(code, field);
    }
}

#[tokio::test]
async fn a_project_that_the_directory_doesnt_know_is_project_not_found() {
    let app = App::new();
    for scope in [project_scope("unknown"), agent_scope("unknown", "a")] {
        let body = class(&scope, "n", "");
        app.post("admin", CLASSES, &body)
            .await
            .refused("project-not-found");
    }
    // Without a directory every id is a project's.
    let app = App::without_directory();
    app.post("admin", CLASSES, &class(&project_scope("unknown"), "n", ""))
        .await
        .is(201);
}

#[tokio::test]
async fn an_unknown_field_is_refused() {
    let app = App::new();
    for field in [
        "id",
        "tenantId",
        "createdAt",
        "unregisteredAt",
        "Name",
        "principalIds",
    ] {
        let body = class(TENANT_SCOPE, "n", &format!("\"{field}\":1"));
        app.post("admin", CLASSES, &body)
            .await
            .refused_at("unknown-field", &format!("/{field}"));
    }
}
