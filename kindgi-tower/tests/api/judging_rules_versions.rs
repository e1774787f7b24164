//! A judging rule's versions: every one, newest first, as it was written.

use crate::common::{App, rules};

/// A rule with so many versions, named by their numbers, and its path.
async fn with_versions(app: &App, project: &str, versions: usize) -> String {
    let path = app.rule(project, "1", "").await;
    for version in 2..=versions {
        app.clock.advance_millis(1);
        let change = format!(r#"{{"name":"{version}"}}"#);
        app.patch("admin", &path, &change).await.is(200);
    }
    path
}

#[tokio::test]
async fn every_version_is_there_as_it_was_answered_when_it_was_written() {
    let app = App::new();
    let made = app
        .post("admin", &rules("p1"), r#"{"name":"a","when":{}}"#)
        .await;
    let path = format!("{}/{}", rules("p1"), made.text("/ruleId"));
    let mut bodies = vec![made.body];
    app.user("other", "read:p1 write:p1");
    for (token, change) in [
        ("other", r#"{"sample":0.5,"maxOpen":9}"#),
        ("admin", r#"{"when":{"versions":["live"]}}"#),
        ("other", r#"{"maxOpen":null,"enabled":false}"#),
    ] {
        app.clock.advance_millis(10);
        bodies.insert(0, app.patch(token, &path, change).await.is(200).body);
    }
    let versions = app.get("reader", &format!("{path}/versions")).await.is(200);
    let expected = format!(r#"{{"data":[{}],"hasMore":false}}"#, bodies.join(","));
    assert_eq!(versions.body, expected);
}

#[tokio::test]
async fn versions_are_newest_first_by_number_also_within_a_millisecond() {
    let app = App::new();
    let path = app.rule("p1", "n", "").await;
    for n in 2..=12 {
        let change = format!(r#"{{"name":"{n}"}}"#);
        app.patch("admin", &path, &change).await.is(200);
    }
    let versions = app.get("reader", &format!("{path}/versions")).await;
    let expected: Vec<String> = (1..=12).rev().map(|n| n.to_string()).collect();
    assert_eq!(versions.shown_column("version"), expected);
}

#[tokio::test]
async fn a_walk_has_every_version_once_and_a_cursor_exactly_where_there_is_more() {
    let app = App::new();
    let path = with_versions(&app, "p1", 11).await;
    let expected: Vec<String> = (1..=11).rev().map(|n| n.to_string()).collect();
    for limit in [1, 2, 3, 5, 10, 11, 12] {
        let (mut seen, mut cursor) = (Vec::new(), String::new());
        loop {
            let query = format!("{path}/versions?limit={limit}{cursor}");
            let page = app.get("reader", &query).await.is(200);
            seen.extend(page.shown_column("version"));
            let more = seen.len() < expected.len();
            assert_eq!(page.raw("/nextCursor").is_some(), more);
            assert_eq!(page.shown("/hasMore"), more.to_string());
            if !more {
                break;
            }
            assert_eq!(page.column("name").len(), limit);
            cursor = format!("&cursor={}", page.text("/nextCursor"));
        }
        assert_eq!(seen, expected);
    }
}

#[tokio::test]
async fn a_walk_goes_on_while_versions_are_written_and_the_rule_is_stopped() {
    let app = App::new();
    let path = with_versions(&app, "p1", 4).await;
    let page = app.get("reader", &format!("{path}/versions?limit=2")).await;
    assert_eq!(page.column("name"), ["4", "3"]);
    app.patch("admin", &path, r#"{"name":"5"}"#).await.is(200);
    app.post("admin", &format!("{path}/unregister"), "")
        .await
        .is(200);
    let next = format!("{path}/versions?cursor={}", page.text("/nextCursor"));
    assert_eq!(app.get("reader", &next).await.column("name"), ["2", "1"]);
}

#[tokio::test]
async fn a_page_has_25_versions_unless_told_and_at_most_100() {
    let app = App::new();
    let path = with_versions(&app, "p1", 101).await;
    for (query, rows) in [("", 25), ("?limit=1", 1), ("?limit=100", 100)] {
        let page = app.get("reader", &format!("{path}/versions{query}")).await;
        assert_eq!(page.is(200).column("name").len(), rows);
    }
}

#[tokio::test]
async fn a_cursor_is_for_one_rules_versions_and_one_caller() {
    let app = App::new();
    let path = with_versions(&app, "p1", 3).await;
    let other = with_versions(&app, "p1", 3).await;
    let elsewhere = with_versions(&app, "p2", 3).await;
    let page = app.get("admin", &format!("{path}/versions?limit=1")).await;
    let cursor = page.text("/nextCursor");
    let own = format!("{path}/versions?cursor={cursor}");
    assert_eq!(app.get("admin", &own).await.column("name"), ["2", "1"]);
    for (token, path) in [
        ("admin", format!("{other}/versions")),
        ("admin", format!("{elsewhere}/versions")),
        ("admin", rules("p1")),
        ("reader", format!("{path}/versions")),
    ] {
        let answer = app.get(token, &format!("{path}?cursor={cursor}")).await;
        answer.refused_at("bad-input", "cursor");
    }
    for never in ["0", "none", "1", "%00", &cursor[1..]] {
        let answer = app
            .get("admin", &format!("{path}/versions?cursor={never}"))
            .await;
        answer.refused_at("bad-input", "cursor");
    }
}

#[tokio::test]
async fn an_unknown_rule_is_404_whatever_the_cursor() {
    let app = App::new();
    let path = with_versions(&app, "p1", 2).await;
    let page = app.get("admin", &format!("{path}/versions?limit=1")).await;
    let cursor = page.text("/nextCursor");
    for path in [
        format!("{}/none", rules("p1")),
        path.replace("/p1/", "/p2/"),
    ] {
        for cursor in ["none", "00", cursor.as_str()] {
            let answer = app
                .get("admin", &format!("{path}/versions?cursor={cursor}"))
                .await;
            answer.refused("judging-rule-not-found");
        }
        app.get("admin", &format!("{path}/versions"))
            .await
            .refused("judging-rule-not-found");
    }
    let unknown = format!("{}/x/versions?cursor=none", rules("x"));
    app.get("admin", &unknown)
        .await
        .refused("project-not-found");
}

#[tokio::test]
async fn the_shape_of_a_query_comes_before_the_rule() {
    let app = App::new();
    let known = app.rule("p1", "n", "").await;
    for rule in [known, format!("{}/none", rules("p1"))] {
        for (query, field) in [
            ("limit=0", "limit"),
            ("limit=101", "limit"),
            ("limit=1.5", "limit"),
            ("limit=0&cursor=none", "limit"),
            ("limit=", "limit"),
            ("cursor=", "cursor"),
            ("limit=1&limit=1", "limit"),
            ("inherit=true", "inherit"),
            ("version=1", "version"),
        ] {
            let answer = app.get("admin", &format!("{rule}/versions?{query}")).await;
            answer.refused_at("bad-input", field);
        }
    }
}
