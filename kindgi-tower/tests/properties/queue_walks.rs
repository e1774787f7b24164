//! Walking a queue: every item that was there throughout exactly once, in order, in full pages,
//! while runs come and items move.

use proptest::{collection::vec, prelude::*, sample::select};

use crate::{
    block_on,
    common::{Answer, App, queue},
};

/// What happens to a queue.
#[derive(Clone, Debug)]
enum Event {
    /// A run ends, in one of two projects; most are taken.
    End { here: bool },
    /// What someone does to one of the runs so far, whether or not it can be done.
    Do(&'static str, prop::sample::Index),
    /// Time passes, or is set back.
    Wait(i64),
}

fn event() -> impl Strategy<Value = Event> {
    let deeds = &["dismiss", "reopen", "judge", "erase"][..];
    prop_oneof![
        6 => prop::bool::weighted(0.8).prop_map(|here| Event::End { here }),
        4 => (select(deeds), any::<prop::sample::Index>()).prop_map(|(deed, at)| Event::Do(deed, at)),
        2 => (-1_i64..3).prop_map(Event::Wait),
    ]
}

/// A queue, and how many runs ended.
struct Model {
    app: App,
    runs: Vec<String>,
}

impl Model {
    async fn new() -> Self {
        let app = App::new();
        app.rule("p1", "n", r#""sample":0.9"#).await;
        app.rule("p2", "n", "").await;
        let runs = Vec::new();
        Self { app, runs }
    }

    async fn happen(&mut self, event: &Event) {
        match event {
            Event::Wait(millis) => self.app.clock.advance_millis(*millis),
            Event::End { here } => {
                let run = format!("r{}", self.runs.len());
                let project = if *here { "p1" } else { "p2" };
                self.app.end(self.app.ended(&run, project)).await;
                self.runs.push(run);
            }
            Event::Do(_, _) if self.runs.is_empty() => {}
            Event::Do(deed, at) => {
                let run = &self.runs[at.index(self.runs.len())];
                match *deed {
                    "judge" => {
                        let body = crate::common::judgment(run, "k", "");
                        let answer = self.app.record("admin", &body).await;
                        assert!([201, 410].contains(&answer.status.as_u16()));
                    }
                    "erase" => self.app.erase(run).await,
                    _ => {
                        let answer = self.app.moved("admin", run, deed, "").await;
                        assert!([200, 404, 409].contains(&answer.status.as_u16()));
                    }
                }
            }
        }
    }

    async fn page(&self, filter: &str, limit: usize, cursor: Option<&str>) -> Answer {
        let cursor = cursor.map(|cursor| format!("&cursor={cursor}"));
        let cursor = cursor.unwrap_or_default();
        let path = format!("{}?limit={limit}{filter}{cursor}", queue("p1"));
        self.app.get("reader", &path).await.is(200)
    }

    /// The runs that match, in the list's order, from the pages of another limit.
    async fn all(&self, filter: &str) -> Vec<String> {
        let page = self.page(filter, 100, None).await;
        assert_eq!(page.shown("/hasMore"), "false");
        let runs = page.column("runId");
        assert_eq!(page.shown("/total"), runs.len().to_string());
        let order = page.column("addedAt").into_iter().zip(&runs);
        assert!(order.is_sorted(), "oldest first, then by id");
        runs
    }
}

/// The next page's cursor, which is there exactly when there is more.
fn next(page: &Answer) -> Option<String> {
    let next = page.raw("/nextCursor").map(|_| page.text("/nextCursor"));
    assert_eq!(page.shown("/hasMore"), next.is_some().to_string());
    next
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn the_states_totals_add_up_and_a_walk_has_every_item_once(
        events in vec(event(), 0..60),
        limits in vec(1_usize..9, 1..4),
    ) {
        block_on(async {
            let mut model = Model::new().await;
            for event in &events {
                model.happen(event).await;
            }
            let whole = model.all("").await;
            let mut of_states = Vec::new();
            for state in ["", "&state=open", "&state=judged", "&state=dismissed", "&state=erased"] {
                let expected = model.all(state).await;
                let (mut seen, mut cursor) = (Vec::new(), None);
                let mut limits = limits.iter().cycle();
                loop {
                    let limit = *limits.next().unwrap();
                    let page = model.page(state, limit, cursor.as_deref()).await;
                    let rows = page.column("runId");
                    assert_eq!(page.shown("/total"), expected.len().to_string());
                    assert_eq!(rows.len(), limit.min(expected.len() - seen.len()), "pages are full");
                    seen.extend(rows);
                    cursor = next(&page);
                    if cursor.is_none() {
                        break;
                    }
                }
                assert_eq!(seen, expected);
                if !state.is_empty() {
                    of_states.extend(seen);
                }
            }
            of_states.sort();
            let mut whole = whole;
            whole.sort();
            assert_eq!(of_states, whole, "every item is in one state");
        });
    }

    #[test]
    fn items_that_matched_throughout_come_once_in_order_while_others_come_and_move(
        filter in select(&["", "&state=open", "&forMe=true", "&agentId=acme.matcher"][..]),
        before in vec(event(), 0..50),
        between in vec(vec(event(), 0..6), 1..40),
        limit in 1_usize..4,
    ) {
        block_on(async {
            let mut model = Model::new().await;
            for event in &before {
                model.happen(event).await;
            }
            let mut throughout = model.all(filter).await;
            let (mut seen, mut cursor) = (Vec::<String>::new(), None);
            let mut writes = between.iter();
            loop {
                let page = model.page(filter, limit, cursor.as_deref()).await;
                assert!(page.column("runId").len() == limit || next(&page).is_none(), "pages are full");
                for run in page.column("runId") {
                    assert!(!seen.contains(&run), "no item is repeated");
                    seen.push(run);
                }
                cursor = next(&page);
                if cursor.is_none() {
                    break;
                }
                for event in writes.next().into_iter().flatten() {
                    model.happen(event).await;
                }
                let now = model.all(filter).await;
                throughout.retain(|run| now.contains(run));
            }
            let of_them: Vec<&String> = seen.iter().filter(|run| throughout.contains(run)).collect();
            assert_eq!(of_them, throughout.iter().collect::<Vec<_>>());
        });
    }
}
