//! The queue's filters: each alone, and every two together.

use crate::common::{App, queue};

/// An item as the filters see it.
struct Row {
    run: String,
    state: &'static str,
    agent: &'static str,
    rules: Vec<String>,
    classes: Vec<String>,
    wants_any: bool,
    added_at: String,
    closed_at: Option<String>,
}

/// A filter, and which items it takes.
type Filter = (String, Box<dyn Fn(&Row) -> bool>);

struct World {
    app: App,
    /// Oldest first.
    rows: Vec<Row>,
    filters: Vec<Filter>,
}

/// Items in every state, of two agents, at several times: those of `a` are taken by a rule that
/// wants a class of its own and by one that wants any judgment, those of `b` by one that wants a
/// class which is the admin's alone.
async fn world() -> World {
    let app = App::new();
    let (mut classes, mut taking) = (Vec::new(), Vec::new());
    for (name, more) in [
        ("one", ""),
        ("two", r#""assertableBy":{"principalIds":["admin"]}"#),
    ] {
        classes.push(app.class(r#"{"kind":"tenant"}"#, name, more).await);
    }
    for (agent, class) in [
        ("a", Some(&classes[0])),
        ("b", Some(&classes[1])),
        ("a", None),
    ] {
        let when = format!(r#"{{"agentIds":["{agent}"]}}"#);
        let wants = class.map_or(String::new(), |class| {
            format!(r#","judgeClassId":"{class}""#)
        });
        let body = format!(r#"{{"name":"n","when":{when}{wants}}}"#);
        let made = app.post("admin", &crate::common::rules("p1"), &body).await;
        taking.push(made.is(201).text("/ruleId"));
    }
    let mut rows = Vec::new();
    for (n, state) in ["open", "judged", "dismissed", "erased"]
        .repeat(4)
        .into_iter()
        .enumerate()
    {
        let (agent, at) = if n / 4 % 2 == 0 { ("a", 0) } else { ("b", 1) };
        let run = format!("run-{n:02}");
        let mut ended = app.ended(&run, "p1");
        ended.subject = kindgi_core::model::Subject::Agent {
            id: crate::common::id(agent),
            version: crate::common::id("1"),
        };
        app.end(ended).await;
        app.clock.advance_millis(1);
        match state {
            "judged" => drop(app.judge_under("admin", &run, &classes[at]).await),
            "dismissed" => drop(app.moved("admin", &run, "dismiss", "").await.is(200)),
            "erased" => app.erase(&run).await,
            _ => {}
        }
        let text = |shown: String| (shown != "nothing").then(|| shown.trim_matches('"').to_owned());
        let mut rules = vec![taking[at].clone()];
        rules.extend((at == 0).then(|| taking[2].clone()));
        rows.push(Row {
            state,
            wants_any: at == 0,
            agent: if state == "erased" { "" } else { agent },
            rules,
            classes: vec![classes[at].clone()],
            added_at: text(app.item("p1", &run, "/addedAt").await).unwrap(),
            closed_at: text(app.item("p1", &run, "/closedAt").await),
            run,
        });
        app.clock.advance_millis(1);
    }
    let filters = filters(&taking, &classes, &rows[6].added_at);
    World { app, rows, filters }
}

fn filters(taking: &[String], classes: &[String], at: &str) -> Vec<Filter> {
    let mut filters: Vec<Filter> = Vec::new();
    for state in ["open", "judged", "dismissed", "erased"] {
        filters.push((
            format!("state={state}"),
            Box::new(move |row| row.state == state),
        ));
    }
    for agent in ["a", "b", "c"] {
        filters.push((
            format!("agentId={agent}"),
            Box::new(move |row| row.agent == agent),
        ));
    }
    for rule in taking.iter().cloned().chain(["none".to_owned()]) {
        let query = format!("ruleId={rule}");
        filters.push((query, Box::new(move |row| row.rules.contains(&rule))));
    }
    for class in classes.iter().cloned().chain(["none".to_owned()]) {
        let query = format!("judgeClassId={class}");
        filters.push((query, Box::new(move |row| row.classes.contains(&class))));
    }
    // A millisecond of an item's own, and what is shown of times compares as they do.
    let (added, closed) = (at.to_owned(), at.to_owned());
    filters.push((
        format!("addedAfter={at}"),
        Box::new(move |row| row.added_at >= added),
    ));
    filters.push((
        format!("closedAfter={at}"),
        Box::new(move |row| row.closed_at.as_ref().is_some_and(|at| *at >= closed)),
    ));
    filters.push(("forMe=true".to_owned(), Box::new(|row| row.wants_any)));
    filters.push(("forMe=false".to_owned(), Box::new(|_| true)));
    filters
}

impl World {
    /// Asks with a query, in pages of three, and for the total alone.
    async fn check(&self, query: &str, takes: impl Fn(&Row) -> bool) {
        let expected: Vec<&String> = self
            .rows
            .iter()
            .filter(|row| takes(row))
            .map(|row| &row.run)
            .collect();
        let total = expected.len().to_string();
        let (mut seen, mut cursor) = (Vec::new(), String::new());
        loop {
            let path = format!("{}?{query}&limit=3{cursor}", queue("p1"));
            let page = self.app.get("reader", &path).await.is(200);
            assert_eq!(page.shown("/total"), total, "{query}");
            seen.extend(page.column("runId"));
            if page.shown("/hasMore") == "false" {
                break;
            }
            cursor = format!("&cursor={}", page.text("/nextCursor"));
        }
        assert_eq!(seen.iter().collect::<Vec<_>>(), expected, "{query}");
        let path = format!("{}?{query}&limit=0", queue("p1"));
        let alone = format!(r#"{{"data":[],"hasMore":false,"total":{total}}}"#);
        assert_eq!(self.app.get("reader", &path).await.body, alone, "{query}");
    }
}

#[tokio::test]
async fn each_filter_narrows_to_what_it_names_alone_and_with_any_other() {
    let world = world().await;
    for (query, takes) in &world.filters {
        world.check(query, takes).await;
        for (other, also) in &world.filters {
            if query.split('=').next() != other.split('=').next() {
                let both = format!("{query}&{other}");
                world.check(&both, |row| takes(row) && also(row)).await;
            }
        }
    }
}

#[tokio::test]
async fn all_filters_together_narrow_to_one_item() {
    let world = world().await;
    let row = &world.rows[2];
    let all = format!(
        "state=dismissed&agentId=a&ruleId={}&judgeClassId={}&forMe=true&addedAfter={}&closedAfter={}",
        row.rules[0],
        row.classes[0],
        row.added_at,
        row.closed_at.as_ref().unwrap(),
    );
    let later = |other: &Row| other.agent == "a" && other.state == "dismissed";
    world
        .check(&all, |other| later(other) && other.added_at >= row.added_at)
        .await;
    let next = all.replace("state=dismissed", "state=open");
    world.check(&next, |_| false).await;
}

#[tokio::test]
async fn a_time_may_have_any_offset_and_fraction_and_includes_its_instant() {
    let app = App::new();
    app.rule("p1", "n", "").await;
    app.clock.advance_millis(500);
    app.queued("p1", &["r"]).await;
    app.moved("admin", "r", "dismiss", "").await.is(200);
    for name in ["addedAfter", "closedAfter"] {
        for (at, total) in [
            ("2026-01-01T00:00:00.5Z", "1"),
            ("2026-01-01T00:00:00.500000Z", "1"),
            ("2026-01-01T00:00:00.501Z", "0"),
            ("2026-01-01T00:00:01Z", "0"),
            ("2026-01-01T00:00:00z", "1"),
            ("2026-01-01T01:30:00.500%2B01:30", "1"),
            ("2026-01-01T01:30:00.501%2B01:30", "0"),
            ("2025-12-31T16:00:00.500-08:00", "1"),
            ("0000-01-01T00:00:00Z", "1"),
            ("9999-12-31T23:59:59.999Z", "0"),
        ] {
            let path = format!("{}?{name}={at}", queue("p1"));
            let list = app.get("reader", &path).await.is(200);
            assert_eq!(list.shown("/total"), total, "{path}");
        }
    }
}

#[tokio::test]
async fn an_item_that_was_never_closed_is_closed_after_nothing() {
    let app = App::new();
    app.rule("p1", "n", "").await;
    app.queued("p1", &["r"]).await;
    let path = format!("{}?closedAfter=0000-01-01T00:00:00Z", queue("p1"));
    assert_eq!(app.get("reader", &path).await.shown("/total"), "0");
}

#[tokio::test]
async fn a_value_that_a_filter_cant_have_is_refused() {
    let app = App::new();
    let times = [
        "2026-01-01T00:00:00",
        "2026-01-01",
        "2026-02-30T00:00:00Z",
        "2026-01-01T24:00:00Z",
        "2026-01-01T00:00:00+01:00",
        "2026-01-01 00:00:00Z",
        "1767225600",
        "now",
        "",
        "%00",
        "%ff",
    ];
    let states = ["Open", "closed", "open,judged", "null", "", "%00", "%ff"];
    let truths = [
        "1", "0", "True", "FALSE", "yes", "null", "", "%00", "true%20",
    ];
    let ids = ["", "%00", "a%00", "%ff", "%20", "+", &"a".repeat(257)];
    for (name, values) in [
        ("addedAfter", &times[..]),
        ("closedAfter", &times),
        ("state", &states),
        ("forMe", &truths),
        ("agentId", &ids),
        ("ruleId", &ids),
        ("judgeClassId", &ids),
        ("cursor", &["", "%00", "none", "00"]),
    ] {
        for value in values {
            let path = format!("{}?{name}={}", queue("p1"), value.replace(' ', "%20"));
            app.get("reader", &path).await.refused_at("bad-input", name);
        }
    }
}
