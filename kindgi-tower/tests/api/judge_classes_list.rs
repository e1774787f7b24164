//! The list of judge classes: live ones, newest first, perhaps of exactly one scope.

use crate::common::{App, agent_scope, project_scope};

const TENANT_SCOPE: &str = r#"{"kind":"tenant"}"#;
const CLASSES: &str = "/v1/judge-classes";

#[tokio::test]
async fn classes_are_listed_newest_first() {
    let app = App::new();
    let mut ids = Vec::new();
    for name in ["c", "a", "b"] {
        ids.insert(0, app.class(TENANT_SCOPE, name, "").await);
        app.clock.advance_millis(1);
    }
    assert_eq!(app.ids("reader", CLASSES).await, ids);
    // By when they were created, not when they changed.
    app.patch("admin", &format!("{CLASSES}/{}", ids[2]), r#"{"weight":9}"#)
        .await
        .is(200);
    assert_eq!(app.ids("reader", CLASSES).await, ids);
}

#[tokio::test]
async fn a_scope_kind_narrows_to_exactly_that_scope() {
    let app = App::new();
    let mut ids = Vec::new();
    for scope in [
        TENANT_SCOPE,
        &project_scope("p1"),
        &project_scope("p2"),
        &agent_scope("p1", "a"),
        &agent_scope("p1", "b"),
        &agent_scope("p2", "a"),
    ] {
        ids.push(app.class(scope, "n", "").await);
    }
    for (query, admin, reader) in [
        ("", "543210", "4310"),
        ("?scopeKind=tenant", "0", "0"),
        ("?scopeKind=project&projectId=p1", "1", "1"),
        ("?scopeKind=project&projectId=p2", "2", ""),
        ("?scopeKind=project&projectId=none", "", ""),
        ("?scopeKind=agent&projectId=p1&agentId=a", "3", "3"),
        ("?agentId=b&projectId=p1&scopeKind=agent", "4", "4"),
        ("?scopeKind=agent&projectId=p2&agentId=a", "5", ""),
        ("?scopeKind=agent&projectId=p1&agentId=A", "", ""),
    ] {
        for (token, expected) in [("admin", admin), ("reader", reader)] {
            let found = app.ids(token, &format!("{CLASSES}{query}")).await;
            let found: String = found
                .iter()
                .map(|id| ids.iter().position(|own| own == id).unwrap().to_string())
                .collect();
            assert_eq!(found, expected, "{token} {query}");
        }
    }
}

#[tokio::test]
async fn ids_without_their_scope_kind_or_missing_with_it_are_bad_input() {
    let app = App::new();
    for (query, field) in [
        ("projectId=p1", "projectId"),
        ("agentId=a", "agentId"),
        ("scopeKind=tenant&projectId=p1", "projectId"),
        ("scopeKind=tenant&agentId=a", "agentId"),
        ("scopeKind=project", "projectId"),
        ("scopeKind=project&projectId=p1&agentId=a", "agentId"),
        ("scopeKind=agent", "projectId"),
        ("scopeKind=agent&projectId=p1", "agentId"),
        ("scopeKind=agent&agentId=a", "projectId"),
    ] {
        app.get("admin", &format!("{CLASSES}?{query}"))
            .await
            .refused_at("bad-input", field);
    }
    for unknown in ["org", "Tenant", "tenant%20"] {
        let answer = app
            .get("admin", &format!("{CLASSES}?scopeKind={unknown}"))
            .await;
        answer.refused_at("scope-invalid", "scopeKind");
    }
}

#[tokio::test]
async fn tenant_wide_classes_are_for_who_may_read_any_project() {
    let app = App::new();
    app.user("other", "read:p9");
    app.user("blind", "admin");
    let id = app.class(TENANT_SCOPE, "n", "").await;
    assert_eq!(app.ids("other", CLASSES).await, std::slice::from_ref(&id));
    app.get("other", &format!("{CLASSES}/{id}")).await.is(200);
    assert_eq!(app.ids("blind", CLASSES).await, [""; 0]);
    app.get("blind", &format!("{CLASSES}/{id}"))
        .await
        .refused("judge-class-not-found");
}
