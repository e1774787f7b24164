//! `forMe`: what any judgment closes, and what wants a live class that the caller may assert.

use kindgi_core::model::{Principal, ReviewerRole};

use crate::common::{App, TENANT, id, queue};

async fn runs_for(app: &App, token: &str) -> Vec<String> {
    let path = format!("{}?forMe=true", queue("p1"));
    let list = app.get(token, &path).await.is(200);
    let runs = list.column("runId");
    assert_eq!(list.shown("/total"), runs.len().to_string());
    runs
}

/// A run for each class, called as the class, and one that any judgment closes.
async fn one_for_each(app: &App, classes: &[(&str, &str)]) {
    for (name, restriction) in classes {
        let more = match *restriction {
            "" => String::new(),
            by => format!(r#""assertableBy":{by}"#),
        };
        let class = app.class(r#"{"kind":"tenant"}"#, name, &more).await;
        taken_by_a_rule_for(app, name, &class).await;
    }
    let made = app.rule("p1", "any", "").await;
    app.queued("p1", &["any"]).await;
    app.post("admin", &format!("{made}/unregister"), "")
        .await
        .is(200);
}

/// The rule takes this run and no other.
async fn taken_by_a_rule_for(app: &App, run: &str, class: &str) {
    let wants = format!(r#""judgeClassId":"{class}""#);
    let made = app.rule("p1", run, &wants).await;
    app.queued("p1", &[run]).await;
    app.post("admin", &format!("{made}/unregister"), "")
        .await
        .is(200);
}

#[tokio::test]
async fn a_restricted_class_is_for_those_who_meet_every_part_of_it() {
    let app = App::new();
    let user = |name: &str| Principal::user(id(TENANT), id(name));
    let service = |name: &str| Principal::service(id(TENANT), id(name));
    let role = Principal::with_reviewer_role;
    for (token, who) in [
        ("ann", user("ann")),
        ("std", role(user("std"), ReviewerRole::Standard)),
        ("snr", role(user("snr"), ReviewerRole::Senior)),
        ("adm", role(user("adm"), ReviewerRole::Admin)),
        ("bot", service("ann")),
        ("snr-bot", role(service("s"), ReviewerRole::Senior)),
    ] {
        app.person(token, who, "read:p1");
    }
    one_for_each(
        &app,
        &[
            ("open", ""),
            ("senior", r#"{"minReviewerRole":"senior"}"#),
            ("services", r#"{"principalKinds":["service"]}"#),
            ("ann", r#"{"principalIds":["ann"]}"#),
            (
                "users-ann",
                r#"{"principalKinds":["user"],"principalIds":["ann","std"]}"#,
            ),
            (
                "all",
                r#"{"minReviewerRole":"standard","principalKinds":["user"],"principalIds":["std","ann"]}"#,
            ),
        ],
    )
    .await;
    for (token, runs) in [
        ("ann", "ann any open users-ann"),
        ("std", "all any open users-ann"),
        ("snr", "any open senior"),
        ("adm", "any open senior"),
        ("bot", "ann any open services"),
        ("snr-bot", "any open senior services"),
        ("admin", "any open"),
        ("reader", "any open"),
    ] {
        let expected: Vec<&str> = runs.split(' ').collect();
        assert_eq!(runs_for(&app, token).await, expected, "{token}");
        // Whoever may read the project sees the rest without the filter.
        let all = app.get(token, &queue("p1")).await.is(200);
        assert_eq!(all.shown("/total"), "7");
    }
}

#[tokio::test]
async fn it_says_what_wants_the_caller_not_what_is_open() {
    let app = App::new();
    one_for_each(
        &app,
        &[("open", ""), ("mine", r#"{"principalIds":["reader"]}"#)],
    )
    .await;
    app.moved("admin", "mine", "dismiss", "").await.is(200);
    app.judge("admin", "any", "k").await;
    assert_eq!(runs_for(&app, "reader").await, ["any", "mine", "open"]);
    let path = format!("{}?forMe=true&state=open", queue("p1"));
    let open = app.get("reader", &path).await.is(200);
    assert_eq!(open.column("runId"), ["open"]);
}

#[tokio::test]
async fn a_retired_class_is_nobodys_and_a_changed_restriction_counts_at_once() {
    let app = App::new();
    let class = app
        .class(
            r#"{"kind":"tenant"}"#,
            "n",
            r#""assertableBy":{"principalIds":["reader"]}"#,
        )
        .await;
    taken_by_a_rule_for(&app, "r", &class).await;
    let path = format!("/v1/judge-classes/{class}");
    assert_eq!(runs_for(&app, "reader").await, ["r"]);
    assert_eq!(runs_for(&app, "judge").await, [""; 0]);
    let restriction = r#"{"assertableBy":{"principalIds":["judge"]}}"#;
    app.patch("admin", &path, restriction).await.is(200);
    assert_eq!(runs_for(&app, "reader").await, [""; 0]);
    assert_eq!(runs_for(&app, "judge").await, ["r"]);
    app.patch("admin", &path, r#"{"assertableBy":null}"#)
        .await
        .is(200);
    assert_eq!(runs_for(&app, "reader").await, ["r"]);
    app.post("admin", &format!("{path}/unregister"), "")
        .await
        .is(200);
    assert_eq!(runs_for(&app, "reader").await, [""; 0]);
    // It is in the queue all the same.
    assert_eq!(app.state("p1", "r").await, "open");
}

#[tokio::test]
async fn a_run_with_several_wants_is_for_whoever_can_give_one() {
    let app = App::new();
    let only = |who: &str| format!(r#""assertableBy":{{"principalIds":["{who}"]}}"#);
    for who in ["reader", "judge"] {
        let class = app.class(r#"{"kind":"tenant"}"#, who, &only(who)).await;
        let wants = format!(r#""judgeClassId":"{class}""#);
        app.rule("p1", "n", &wants).await;
    }
    app.queued("p1", &["r"]).await;
    for (token, runs) in [("reader", &["r"][..]), ("judge", &["r"]), ("admin", &[])] {
        assert_eq!(runs_for(&app, token).await, runs, "{token}");
    }
}

#[tokio::test]
async fn a_cursor_with_it_goes_on_with_it_alone() {
    let app = App::new();
    app.rule("p1", "n", "").await;
    app.queued("p1", &["a", "b", "c"]).await;
    let with = |more: &str| format!("{}?{more}", queue("p1"));
    let page = app.get("reader", &with("forMe=true&limit=1")).await;
    let cursor = page.text("/nextCursor");
    let next = app
        .get("reader", &with(&format!("forMe=true&cursor={cursor}")))
        .await
        .is(200);
    assert_eq!(next.column("runId"), ["b", "c"]);
    for other in ["forMe=false&", ""] {
        let path = with(&format!("{other}cursor={cursor}"));
        let answer = app.get("reader", &path).await;
        answer.refused_at("bad-input", "cursor");
    }
}
