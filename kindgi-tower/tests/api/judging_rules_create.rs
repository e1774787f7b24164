//! Creating judging rules: what is sent comes back, and what is wrong is refused where it is.

use kindgi_core::model::Principal;

use crate::common::{App, TENANT, agent_scope, id, project_scope, quoted, rule, rules};

async fn create(app: &App, body: &str) -> crate::common::Answer {
    app.post("admin", &rules("p1"), body).await
}

#[tokio::test]
async fn a_rule_is_its_version_1_with_the_defaults() {
    let app = App::new();
    let made = create(&app, r#"{"name":"n","when":{}}"#).await.is(201);
    let id = made.text("/ruleId");
    assert_eq!(
        made.body,
        format!(
            r#"{{"ruleId":"{id}","projectId":"p1","version":1,"name":"n","when":{{}},"sample":1,"enabled":true,"createdBy":"user:admin","createdAt":"2026-01-01T00:00:00.000Z"}}"#
        )
    );
    let path = format!("{}/{id}", rules("p1"));
    assert_eq!(app.get("reader", &path).await.is(200).body, made.body);
}

#[tokio::test]
async fn a_rule_with_everything_comes_back_as_it_was_sent() {
    let app = App::new();
    let class = app.class(&project_scope("p1"), "c", "").await;
    let said = format!(
        r#""name":"10 % of live","when":{{"agentIds":["a"],"versions":["live"],"status":["completed"],"includeDryRuns":false}},"sample":0.1,"maxOpen":50,"judgeClassId":"{class}","enabled":false,"#
    );
    let body = format!("{{{}}}", said.trim_end_matches(','));
    let made = create(&app, &body).await.is(201);
    assert!(made.body.contains(&said), "{}", made.body);
    let path = format!("{}/{}", rules("p1"), made.text("/ruleId"));
    assert_eq!(app.get("reader", &path).await.is(200).body, made.body);
}

#[tokio::test]
async fn the_same_body_twice_makes_two_rules() {
    let app = App::new();
    let one = app.rule("p1", "n", "").await;
    assert_ne!(app.rule("p1", "n", "").await, one);
    assert_eq!(
        app.get("admin", &rules("p1")).await.column("name"),
        ["n", "n"]
    );
}

#[tokio::test]
async fn created_by_names_a_user_or_a_service_account() {
    let app = App::new();
    let service = Principal::service(id(TENANT), id("svc"));
    app.person("token-of-svc", service, "read:p1 write:p1");
    for (token, by) in [
        ("admin", "user:admin"),
        ("token-of-svc", "service_account:svc"),
    ] {
        let made = app.post(token, &rules("p1"), &rule("n", "")).await.is(201);
        assert_eq!(made.text("/createdBy"), by);
    }
}

#[tokio::test]
async fn a_project_that_the_directory_doesnt_know_is_404() {
    let app = App::new();
    let answer = app.post("admin", &rules("x"), &rule("n", "")).await;
    answer.refused("project-not-found");
    // A host without a directory has the projects that the caller may read.
    let app = App::without_directory();
    app.post("admin", &rules("x"), &rule("n", "")).await.is(201);
}

#[tokio::test]
async fn a_missing_field_is_refused() {
    let app = App::new();
    for (body, field) in [
        ("{}", "/name"),
        (r#"{"name":"n"}"#, "/when"),
        (r#"{"when":{}}"#, "/name"),
    ] {
        create(&app, body).await.refused_at("bad-input", field);
    }
    create(&app, "").await.refused_at("bad-input", "");
    create(&app, "[]").await.refused_at("bad-input", "");
}

#[tokio::test]
async fn an_unknown_field_is_refused_and_named() {
    let app = App::new();
    for (body, field) in [
        (rule("n", r#""version":1"#), "/version"),
        (rule("n", r#""ruleId":"x""#), "/ruleId"),
        (rule("n", r#""projectId":"p1""#), "/projectId"),
        (rule("n", r#""tenantId":"acme""#), "/tenantId"),
        (rule("n", r#""max_open":1"#), "/max_open"),
        (
            r#"{"name":"n","when":{"agentId":"a"}}"#.to_owned(),
            "/when/agentId",
        ),
        (
            r#"{"name":"n","when":{"sample":1}}"#.to_owned(),
            "/when/sample",
        ),
    ] {
        create(&app, &body).await.refused_at("unknown-field", field);
    }
}

#[tokio::test]
async fn null_is_not_absent() {
    let app = App::new();
    for field in ["sample", "maxOpen", "judgeClassId", "enabled"] {
        let body = rule("n", &format!(r#""{field}":null"#));
        let answer = create(&app, &body).await;
        answer.refused_at("bad-input", &format!("/{field}"));
    }
    for (body, field) in [
        (r#"{"name":null,"when":{}}"#, "/name"),
        (r#"{"name":"n","when":null}"#, "/when"),
    ] {
        create(&app, body).await.refused_at("bad-input", field);
    }
    assert_eq!(app.get("admin", &rules("p1")).await.column("name"), [""; 0]);
}

#[tokio::test]
async fn a_name_has_1_to_200_code_points_and_isnt_blank() {
    let app = App::new();
    for name in ["n", " n ", &"🔥".repeat(200), "é\u{301}"] {
        let made = create(&app, &rule(name, "")).await.is(201);
        assert_eq!(made.text("/name"), name);
    }
    for name in ["", " ", "\t\n", "\u{2003}", "a\0", &"é".repeat(201)] {
        create(&app, &rule(name, ""))
            .await
            .refused_at("bad-input", "/name");
    }
    for name in ["1", "[\"n\"]", "{}", "true"] {
        let body = format!(r#"{{"name":{name},"when":{{}}}}"#);
        create(&app, &body).await.refused_at("bad-input", "/name");
    }
}

#[tokio::test]
async fn a_sample_is_above_0_and_at_most_1() {
    let app = App::new();
    for (sample, shown) in [
        ("1", "1"),
        ("1.0", "1"),
        ("1e0", "1"),
        ("10e-1", "1"),
        ("0.5", "0.5"),
        ("5e-1", "0.5"),
        ("1e-05", "0.00001"),
        ("0.30000000000000004", "0.30000000000000004"),
    ] {
        let made = create(&app, &rule("n", &format!(r#""sample":{sample}"#)))
            .await
            .is(201);
        let kept = made.shown("/sample").parse::<f64>().unwrap();
        assert_eq!(kept, shown.parse::<f64>().unwrap(), "{sample}");
        if shown == "1" {
            assert_eq!(made.shown("/sample"), "1", "{sample}");
        }
    }
    for sample in [
        "0",
        "0.0",
        "-0",
        "-0.5",
        "1.5",
        "1.0000001",
        "2",
        "1e400",
        "-1e400",
        "\"NaN\"",
        "\"0.5\"",
        "\"\"",
        "true",
        "[0.5]",
        "{}",
    ] {
        let answer = create(&app, &rule("n", &format!(r#""sample":{sample}"#))).await;
        answer.refused_at("bad-input", "/sample");
    }
    // These are no JSON at all.
    for sample in [
        "NaN",
        "Infinity",
        "-Infinity",
        ".5",
        "5.",
        "+1",
        "01",
        "0x1",
        "1e",
    ] {
        let answer = create(&app, &rule("n", &format!(r#""sample":{sample}"#))).await;
        answer.refused_at("bad-input", "");
    }
}

#[tokio::test]
async fn max_open_is_a_whole_number_from_1_to_10000() {
    let app = App::new();
    for (max, shown) in [
        ("1", "1"),
        ("1.0", "1"),
        ("5e1", "50"),
        ("10000", "10000"),
        ("1e4", "10000"),
    ] {
        let made = create(&app, &rule("n", &format!(r#""maxOpen":{max}"#))).await;
        assert_eq!(made.is(201).shown("/maxOpen"), shown);
    }
    for max in [
        "0",
        "-1",
        "10001",
        "0.5",
        "1.5",
        "1e5",
        "1e400",
        "4294967297",
        "18446744073709551617",
        "\"5\"",
        "true",
        "[]",
    ] {
        let answer = create(&app, &rule("n", &format!(r#""maxOpen":{max}"#))).await;
        answer.refused_at("bad-input", "/maxOpen");
    }
}

#[tokio::test]
async fn enabled_is_true_or_false() {
    let app = App::new();
    for enabled in ["true", "false"] {
        let made = create(&app, &rule("n", &format!(r#""enabled":{enabled}"#))).await;
        assert_eq!(made.is(201).shown("/enabled"), enabled);
    }
    for enabled in ["0", "1", "\"true\"", "[]"] {
        let answer = create(&app, &rule("n", &format!(r#""enabled":{enabled}"#))).await;
        answer.refused_at("bad-input", "/enabled");
    }
}

#[tokio::test]
async fn a_class_of_the_tenant_the_project_or_an_agent_in_it_can_apply() {
    let app = App::new();
    for scope in [
        r#"{"kind":"tenant"}"#.to_owned(),
        project_scope("p1"),
        agent_scope("p1", "a"),
    ] {
        let class = app.class(&scope, "n", "").await;
        let body = rule("n", &format!(r#""judgeClassId":"{class}""#));
        let made = create(&app, &body).await.is(201);
        assert_eq!(made.text("/judgeClassId"), class);
    }
}

#[tokio::test]
async fn a_class_that_is_unknown_retired_or_another_projects_is_404() {
    let app = App::new();
    let retired = app.class(r#"{"kind":"tenant"}"#, "n", "").await;
    let unregister = format!("/v1/judge-classes/{retired}/unregister");
    app.post("admin", &unregister, "").await.is(200);
    let elsewhere = app.class(&project_scope("p2"), "n", "").await;
    let of_agent_elsewhere = app.class(&agent_scope("p2", "a"), "n", "").await;
    for class in [
        "none",
        "a/b",
        retired.as_str(),
        &elsewhere,
        &of_agent_elsewhere,
        &elsewhere.to_uppercase(),
    ] {
        let body = rule("n", &format!(r#""judgeClassId":{}"#, quoted(class)));
        create(&app, &body).await.refused("judge-class-not-found");
    }
    assert_eq!(app.get("admin", &rules("p1")).await.column("name"), [""; 0]);
}

#[tokio::test]
async fn a_class_id_is_a_text_of_1_to_256_characters() {
    let app = App::new();
    for class in [
        "\"\"".to_owned(),
        "\" \"".to_owned(),
        "\"\\u0000\"".to_owned(),
        quoted(&"a".repeat(257)),
        "1".to_owned(),
    ] {
        let answer = create(&app, &rule("n", &format!(r#""judgeClassId":{class}"#))).await;
        answer.refused_at("bad-input", "/judgeClassId");
    }
}

#[tokio::test]
async fn there_are_no_parameters() {
    let app = App::new();
    let answer = app
        .post("admin", &format!("{}?limit=1", rules("p1")), &rule("n", ""))
        .await;
    answer.refused_at("bad-input", "limit");
    let path = app.rule("p1", "n", "").await;
    let answer = app.get("admin", &format!("{path}?version=1")).await;
    answer.refused_at("bad-input", "version");
}
