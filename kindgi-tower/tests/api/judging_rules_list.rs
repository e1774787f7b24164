//! Listing a project's judging rules: the live ones' latest versions, oldest first.

use crate::common::{Answer, App, rules};

async fn is_refused(answer: Answer) {
    answer.refused_at("bad-input", "cursor");
}

fn id_of(path: &str) -> String {
    path.rsplit('/').next().unwrap().to_owned()
}

#[tokio::test]
async fn rules_are_listed_oldest_first_with_their_latest_versions() {
    let app = App::new();
    let mut paths = Vec::new();
    for name in ["c", "a", "b"] {
        paths.push(app.rule("p1", name, "").await);
        app.clock.advance_millis(1);
    }
    // By when they were created, not when they changed.
    app.patch("admin", &paths[0], r#"{"name":"z"}"#)
        .await
        .is(200);
    let list = app.get("reader", &rules("p1")).await.is(200);
    assert_eq!(list.column("name"), ["z", "a", "b"]);
    assert_eq!(list.shown_column("version"), ["2", "1", "1"]);
    for (row, path) in paths.iter().enumerate() {
        let rule = app.get("reader", path).await.is(200);
        assert_eq!(list.shown(&format!("/data/{row}")), rule.body);
    }
    assert_eq!(list.shown("/hasMore"), "false");
    assert_eq!(list.raw("/nextCursor"), None);
}

#[tokio::test]
async fn rules_of_one_millisecond_are_ordered_by_id() {
    let app = App::new();
    let mut ids = Vec::new();
    for n in 0..20 {
        if n == 10 {
            app.clock.advance_millis(-5);
        }
        ids.push(id_of(&app.rule("p1", "n", "").await));
    }
    // The later ten were created at the earlier instant.
    ids.rotate_left(10);
    ids[..10].sort();
    ids[10..].sort();
    let list = app.get("admin", &rules("p1")).await.is(200);
    assert_eq!(list.column("ruleId"), ids);
}

#[tokio::test]
async fn a_list_has_its_projects_rules_only() {
    let app = App::new();
    app.rule("p1", "one", "").await;
    app.rule("p2", "two", "").await;
    for (project, names) in [("p1", vec!["one"]), ("p2", vec!["two"]), ("p3", vec![])] {
        let list = app.get("admin", &rules(project)).await.is(200);
        assert_eq!(list.column("name"), names);
    }
    let answer = app.get("admin", &rules("x")).await;
    answer.refused("project-not-found");
}

#[tokio::test]
async fn a_walk_has_every_rule_once_and_a_cursor_exactly_where_there_is_more() {
    let app = App::new();
    let mut ids = Vec::new();
    for n in 0..7 {
        ids.push(id_of(&app.rule("p1", &n.to_string(), "").await));
        app.clock.advance_millis(n % 2);
    }
    for limit in 1..9 {
        let (mut seen, mut cursor) = (Vec::new(), String::new());
        loop {
            let path = format!("{}?limit={limit}{cursor}", rules("p1"));
            let page = app.get("reader", &path).await.is(200);
            seen.extend(page.column("ruleId"));
            assert_eq!(seen.len() < ids.len(), page.raw("/nextCursor").is_some());
            assert_eq!(page.shown("/hasMore"), (seen.len() < ids.len()).to_string());
            if seen.len() >= ids.len() {
                break;
            }
            assert_eq!(page.column("ruleId").len(), limit);
            cursor = format!("&cursor={}", page.text("/nextCursor"));
        }
        assert_eq!(seen, ids);
    }
}

#[tokio::test]
async fn a_page_has_25_rules_unless_told_and_at_most_100() {
    let app = App::new();
    for n in 0..101 {
        app.rule("p1", &n.to_string(), "").await;
    }
    for (query, rows) in [("", 25), ("?limit=1", 1), ("?limit=1e2", 100)] {
        let path = format!("{}{query}", rules("p1"));
        assert_eq!(app.get("reader", &path).await.column("ruleId").len(), rows);
    }
    for limit in ["0", "101", "1.5", "-1", "x", ""] {
        let path = format!("{}?limit={limit}", rules("p1"));
        app.get("reader", &path)
            .await
            .refused_at("bad-input", "limit");
    }
    for name in ["inherit", "enabled", "projectId"] {
        let path = format!("{}?{name}=true", rules("p1"));
        app.get("reader", &path).await.refused_at("bad-input", name);
    }
}

#[tokio::test]
async fn a_walk_goes_on_while_rules_change_stop_and_come() {
    let app = App::new();
    let mut paths = Vec::new();
    for n in 0..6 {
        paths.push(app.rule("p1", &n.to_string(), "").await);
        app.clock.advance_millis(1);
    }
    let path = format!("{}?limit=2", rules("p1"));
    let page = app.get("reader", &path).await.is(200);
    assert_eq!(page.column("name"), ["0", "1"]);
    // A rule seen, the last one seen, and one ahead stop; another ahead changes; one more comes.
    for at in [0, 1, 3] {
        let unregister = format!("{}/unregister", paths[at]);
        app.post("admin", &unregister, "").await.is(200);
    }
    app.patch("admin", &paths[2], r#"{"name":"2nd"}"#)
        .await
        .is(200);
    app.rule("p1", "new", "").await;
    let path = format!(
        "{}?limit=100&cursor={}",
        rules("p1"),
        page.text("/nextCursor")
    );
    let page = app.get("reader", &path).await.is(200);
    assert_eq!(page.column("name"), ["2nd", "4", "5", "new"]);
}

#[tokio::test]
async fn a_cursor_is_for_one_projects_list_and_one_caller() {
    let app = App::new();
    for project in ["p1", "p2"] {
        for n in 0..3 {
            app.rule(project, &n.to_string(), "").await;
        }
    }
    app.class(r#"{"kind":"tenant"}"#, "a", "").await;
    app.class(r#"{"kind":"tenant"}"#, "b", "").await;
    let first = app.get("admin", &format!("{}?limit=1", rules("p1"))).await;
    let cursor = first.text("/nextCursor");
    let rule = format!("{}/{}", rules("p1"), first.text("/data/0/ruleId"));
    app.patch("admin", &rule, r#"{"name":"x"}"#).await.is(200);
    let at = |path: &str| format!("{path}?cursor={cursor}");
    app.get("admin", &at(&rules("p1"))).await.is(200);
    // The same project, spelled otherwise.
    app.get("admin", &at(&rules("%701"))).await.is(200);
    is_refused(app.get("admin", &at(&rules("p2"))).await).await;
    is_refused(app.get("admin", &at(&rules("p3"))).await).await;
    is_refused(app.get("reader", &at(&rules("p1"))).await).await;
    is_refused(app.get("admin", &at("/v1/judge-classes")).await).await;
    is_refused(app.get("admin", &at(&format!("{rule}/versions"))).await).await;
    let classes = app.get("admin", "/v1/judge-classes?limit=1").await;
    let cursor = classes.text("/nextCursor");
    is_refused(
        app.get("admin", &format!("{}?cursor={cursor}", rules("p1")))
            .await,
    )
    .await;
}
