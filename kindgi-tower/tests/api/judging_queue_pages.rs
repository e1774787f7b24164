//! Walking the queue: every item once, in order, while others come and move.

use crate::common::{App, queue};

async fn page(app: &App, query: &str) -> crate::common::Answer {
    app.get("reader", &format!("{}?{query}", queue("p1")))
        .await
        .is(200)
}

/// Runs queued at a few instants, in the order of the list.
async fn filled(items: usize) -> (App, Vec<String>) {
    let app = App::new();
    app.rule("p1", "n", "").await;
    let runs: Vec<String> = (0..items).map(|n| format!("run-{n:03}")).collect();
    for (n, run) in runs.iter().enumerate() {
        app.queued("p1", &[run]).await;
        app.clock.advance_millis(i64::from(n % 3 == 0));
    }
    (app, runs)
}

#[tokio::test]
async fn a_walk_has_every_item_once_and_a_cursor_exactly_where_there_is_more() {
    let (app, runs) = filled(11).await;
    for limit in [1, 2, 3, 5, 10, 11, 12, 100] {
        let (mut seen, mut cursor) = (Vec::new(), String::new());
        loop {
            let page = page(&app, &format!("limit={limit}{cursor}")).await;
            seen.extend(page.column("runId"));
            let more = seen.len() < runs.len();
            assert_eq!(page.shown("/hasMore"), more.to_string());
            assert_eq!(page.raw("/nextCursor").is_some(), more);
            assert_eq!(page.shown("/total"), "11");
            if !more {
                break;
            }
            assert_eq!(page.column("runId").len(), limit, "pages are full");
            cursor = format!("&cursor={}", page.text("/nextCursor"));
        }
        assert_eq!(seen, runs);
    }
}

#[tokio::test]
async fn a_walk_to_the_end_meets_the_items_that_came_meanwhile() {
    let (app, mut runs) = filled(5).await;
    let (mut seen, mut cursor) = (Vec::new(), String::new());
    for n in 5.. {
        let page = page(&app, &format!("limit=1{cursor}")).await;
        assert_eq!(page.shown("/total"), runs.len().to_string());
        seen.extend(page.column("runId"));
        if page.shown("/hasMore") == "false" {
            break;
        }
        cursor = format!("&cursor={}", page.text("/nextCursor"));
        if n < 12 {
            runs.push(format!("run-{n:03}"));
            app.queued("p1", &[&runs[n]]).await;
            app.clock.advance_millis(1);
        }
    }
    assert_eq!(runs.len(), 12);
    assert_eq!(seen, runs);
}

#[tokio::test]
async fn a_walk_through_a_state_goes_on_while_its_items_leave_it() {
    let (app, runs) = filled(6).await;
    let first = page(&app, "state=open&limit=2").await;
    assert_eq!(first.column("runId"), runs[..2]);
    // One seen, the last one seen, and one ahead.
    app.moved("admin", &runs[0], "dismiss", "").await.is(200);
    app.judge("judge", &runs[1], "k").await;
    app.erase(&runs[3]).await;
    let cursor = first.text("/nextCursor");
    let rest = page(&app, &format!("state=open&limit=100&cursor={cursor}")).await;
    assert_eq!(rest.column("runId"), [&*runs[2], &*runs[4], &*runs[5]]);
    assert_eq!(rest.shown("/total"), "3");
    // One that comes back is where it was.
    app.moved("admin", &runs[0], "reopen", "").await.is(200);
    assert_eq!(page(&app, "state=open").await.column("runId")[0], runs[0]);
}

#[tokio::test]
async fn an_item_doesnt_move_in_the_list_when_its_state_does() {
    let (app, runs) = filled(4).await;
    app.clock.advance_millis(1000);
    app.moved("admin", &runs[1], "dismiss", "").await.is(200);
    app.judge("judge", &runs[2], "k").await;
    app.erase(&runs[0]).await;
    assert_eq!(page(&app, "limit=100").await.column("runId"), runs);
}

#[tokio::test]
async fn a_limit_of_0_takes_a_cursor_and_counts_all_of_it() {
    let (app, _) = filled(4).await;
    let cursor = page(&app, "limit=3").await.text("/nextCursor");
    let none = page(&app, &format!("limit=0&cursor={cursor}")).await;
    assert_eq!(none.body, r#"{"data":[],"hasMore":false,"total":4}"#);
    let path = format!("{}?limit=0&cursor=none", queue("p1"));
    let answer = app.get("reader", &path).await;
    answer.refused_at("bad-input", "cursor");
}

#[tokio::test]
async fn a_cursor_is_for_one_list_its_filters_and_its_caller() {
    let (app, _) = filled(4).await;
    let path = queue("p1");
    let filters = [
        "",
        "state=open&",
        "state=judged&",
        "agentId=acme.matcher&",
        "ruleId=x&",
        "judgeClassId=x&",
        "forMe=true&",
        "forMe=false&",
        "addedAfter=2026-01-01T00:00:00Z&",
        "addedAfter=2026-01-01T00:00:00.0Z&",
        "closedAfter=2026-01-01T00:00:00Z&",
        "state=open&forMe=true&",
    ];
    for of in filters {
        let first = page(&app, &format!("{of}limit=1")).await;
        let Some(_) = first.raw("/nextCursor") else {
            assert_eq!(first.shown("/total"), "0", "{of}");
            continue;
        };
        let cursor = first.text("/nextCursor");
        for other in filters {
            let answer = app
                .get("reader", &format!("{path}?{other}limit=2&cursor={cursor}"))
                .await;
            match other == of {
                true => drop(answer.is(200)),
                false => drop(answer.refused_at("bad-input", "cursor")),
            }
        }
    }
    let cursor = page(&app, "limit=1").await.text("/nextCursor");
    for (token, path) in [
        ("admin", queue("p1")),
        ("admin", queue("p2")),
        ("reader", crate::common::rules("p1")),
        ("reader", "/v1/judgments".to_owned()),
        ("reader", "/v1/judge-classes".to_owned()),
    ] {
        let answer = app.get(token, &format!("{path}?cursor={cursor}")).await;
        answer.refused_at("bad-input", "cursor");
    }
    // The same project, spelled otherwise.
    let same = format!("{}?cursor={cursor}", queue("%701"));
    app.get("reader", &same).await.is(200);
    app.rule("p1", "m", "").await;
    let rules = format!("{}?limit=1", crate::common::rules("p1"));
    let of_rules = app.get("reader", &rules).await.text("/nextCursor");
    let answer = app
        .get("reader", &format!("{path}?cursor={of_rules}"))
        .await;
    answer.refused_at("bad-input", "cursor");
}
