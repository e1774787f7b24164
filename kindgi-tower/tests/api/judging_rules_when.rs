//! Which runs a rule matches, as it is said when creating and when changing one.

use crate::common::{Answer, App, quoted, rules};

/// The answers to a `when` of a new rule and of a change of one.
async fn said(app: &App, when: &str) -> [Answer; 2] {
    let path = app.rule("p1", "n", "").await;
    let created = format!(r#"{{"name":"n","when":{when}}}"#);
    let changed = format!(r#"{{"when":{when}}}"#);
    [
        app.post("admin", &rules("p1"), &created).await,
        app.patch("admin", &path, &changed).await,
    ]
}

async fn taken(app: &App, when: &str, shown: &str) {
    let [created, changed] = said(app, when).await;
    assert_eq!(created.is(201).shown("/when"), shown);
    assert_eq!(changed.is(200).shown("/when"), shown);
}

async fn refused(app: &App, when: &str, field: &str) {
    for answer in said(app, when).await {
        answer.refused_at("bad-input", field);
    }
}

fn list(items: impl IntoIterator<Item = String>) -> String {
    let items: Vec<String> = items.into_iter().map(|item| quoted(&item)).collect();
    format!("[{}]", items.join(","))
}

#[tokio::test]
async fn what_is_said_comes_back_and_nothing_else() {
    let app = App::new();
    for when in [
        "{}",
        r#"{"agentIds":["a","b"]}"#,
        r#"{"flowIds":["agent.turn"]}"#,
        r#"{"versions":["live","1.2.0"]}"#,
        r#"{"status":["completed"]}"#,
        r#"{"includeDryRuns":true}"#,
        r#"{"includeDryRuns":false}"#,
        r#"{"flowIds":["f"],"versions":["2"],"status":["completed"],"includeDryRuns":true}"#,
    ] {
        taken(&app, when, when).await;
    }
}

#[tokio::test]
async fn agents_and_flows_dont_go_together() {
    let app = App::new();
    refused(
        &app,
        r#"{"agentIds":["a"],"flowIds":["f"]}"#,
        "/when/flowIds",
    )
    .await;
    refused(
        &app,
        r#"{"flowIds":["a"],"agentIds":["a"]}"#,
        "/when/flowIds",
    )
    .await;
}

#[tokio::test]
async fn lists_have_1_to_50_texts() {
    let app = App::new();
    for name in ["agentIds", "flowIds", "versions"] {
        let field = format!("/when/{name}");
        for (items, fits) in [(0, false), (1, true), (50, true), (51, false)] {
            let items = list((0..items).map(|n| n.to_string()));
            let when = format!(r#"{{"{name}":{items}}}"#);
            match fits {
                true => taken(&app, &when, &when).await,
                false => refused(&app, &when, &field).await,
            }
        }
        // They are counted as they were sent.
        let same = list((0..51).map(|_| "a".to_owned()));
        refused(&app, &format!(r#"{{"{name}":{same}}}"#), &field).await;
        for other in ["null", "\"a\"", "{}", "1"] {
            refused(&app, &format!(r#"{{"{name}":{other}}}"#), &field).await;
        }
    }
}

#[tokio::test]
async fn items_are_texts_of_1_to_256_characters() {
    let app = App::new();
    for name in ["agentIds", "flowIds", "versions"] {
        let longest = format!(r#"{{"{name}":[{}]}}"#, quoted(&"é".repeat(256)));
        taken(&app, &longest, &longest).await;
        let field = format!("/when/{name}/1");
        for item in [
            "\"\"".to_owned(),
            "\" \\t\"".to_owned(),
            "\"a\\u0000\"".to_owned(),
            quoted(&"é".repeat(257)),
            "null".to_owned(),
            "1".to_owned(),
            "[]".to_owned(),
        ] {
            refused(&app, &format!(r#"{{"{name}":["a",{item}]}}"#), &field).await;
        }
    }
}

#[tokio::test]
async fn repeats_are_dropped_and_the_order_kept() {
    let app = App::new();
    for name in ["agentIds", "flowIds", "versions"] {
        let when = format!(r#"{{"{name}":["b","a","b","live","a","B","a ","live"]}}"#);
        let kept = format!(r#"{{"{name}":["b","a","live","B","a "]}}"#);
        taken(&app, &when, &kept).await;
    }
}

#[tokio::test]
async fn completed_is_the_only_status() {
    let app = App::new();
    for status in [
        r#"["failed"]"#,
        r#"["cancelled"]"#,
        r#"["running"]"#,
        r#"["Completed"]"#,
        r#"[null]"#,
        r#"[""]"#,
    ] {
        refused(&app, &format!(r#"{{"status":{status}}}"#), "/when/status/0").await;
    }
    let second = r#"{"status":["completed","failed"]}"#;
    refused(&app, second, "/when/status/1").await;
    for status in ["[]", "null", "\"completed\"", "{}"] {
        refused(&app, &format!(r#"{{"status":{status}}}"#), "/when/status").await;
    }
    let twice = r#"{"status":["completed","completed"]}"#;
    taken(&app, twice, r#"{"status":["completed"]}"#).await;
}

#[tokio::test]
async fn include_dry_runs_is_true_or_false() {
    let app = App::new();
    for include in ["null", "0", "\"true\"", "[]"] {
        let when = format!(r#"{{"includeDryRuns":{include}}}"#);
        refused(&app, &when, "/when/includeDryRuns").await;
    }
}

#[tokio::test]
async fn it_is_an_object_and_null_is_never_every_run() {
    let app = App::new();
    for when in ["null", "[]", "\"\"", "true", "0"] {
        refused(&app, when, "/when").await;
    }
}
