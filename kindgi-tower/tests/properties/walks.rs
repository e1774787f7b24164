//! Walking a list: every row exactly once, in order, in full pages, also while others write.

use proptest::{collection::vec, prelude::*, sample::select};

use crate::{
    block_on,
    common::{Answer, App, project_scope},
};

/// What happens to a list.
#[derive(Clone, Debug)]
enum Event {
    /// A row of a project: what it is called decides what it supersedes.
    Add { project: usize, name: u8 },
    /// One of the rows so far goes.
    Remove(prop::sample::Index),
    /// Time passes, or is set back.
    Wait(i64),
}

fn event() -> impl Strategy<Value = Event> {
    prop_oneof![
        6 => (0_usize..4, any::<u8>()).prop_map(|(project, name)| Event::Add { project, name }),
        1 => any::<prop::sample::Index>().prop_map(Event::Remove),
        2 => (-1_i64..3).prop_map(Event::Wait),
    ]
}

/// A live row.
#[derive(Clone, Debug)]
struct Row {
    id: String,
    created_at: String,
    project: usize,
    name: u8,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum List {
    Judgments,
    Classes,
}

/// A list and what should be on it.
struct Model {
    app: App,
    list: List,
    live: Vec<Row>,
}

impl Model {
    fn new(list: List) -> Self {
        let app = App::new();
        // Most of the projects are none of the reader's.
        for project in 0..4 {
            app.run(crate::common::finished(
                &format!("r{project}"),
                &format!("p{project}"),
                "1",
            ));
        }
        Self {
            app,
            list,
            live: Vec::new(),
        }
    }

    fn path(&self) -> &'static str {
        match self.list {
            List::Judgments => "/v1/judgments",
            List::Classes => "/v1/judge-classes",
        }
    }

    async fn happen(&mut self, event: &Event) {
        match event {
            Event::Wait(millis) => self.app.clock.advance_millis(*millis),
            Event::Add { project, name } => self.add(*project, *name).await,
            Event::Remove(at) if !self.live.is_empty() => {
                let row = self.live.remove(at.index(self.live.len()));
                let path = format!("{}/{}/unregister", self.path(), row.id);
                self.app.post("admin", &path, "").await.is(200);
            }
            Event::Remove(_) => {}
        }
    }

    async fn add(&mut self, project: usize, name: u8) {
        let answer: Answer = match self.list {
            List::Judgments => {
                let body = crate::common::judgment(&format!("r{project}"), &name.to_string(), "");
                let answer = self.app.record("admin", &body).await.is(201);
                self.live
                    .retain(|row| (row.project, row.name) != (project, name));
                answer
            }
            List::Classes => {
                let scope = project_scope(&format!("p{project}"));
                let body = crate::common::class(&scope, &name.to_string(), "");
                let answer = self.app.post("admin", self.path(), &body).await;
                if answer.status == 409 {
                    return;
                }
                answer.is(201)
            }
        };
        let (id, created_at) = (answer.text("/id"), answer.text("/createdAt"));
        self.live.push(Row {
            id,
            created_at,
            project,
            name,
        });
    }

    /// What the reader of p1 should see, newest first.
    fn expected(&self) -> Vec<Row> {
        let mut rows: Vec<Row> = self
            .live
            .iter()
            .filter(|row| row.project == 1)
            .cloned()
            .collect();
        rows.sort_by(|a, b| (&b.created_at, &b.id).cmp(&(&a.created_at, &a.id)));
        rows
    }

    async fn page(&self, limit: usize, cursor: Option<&str>) -> Answer {
        let cursor = cursor
            .map(|cursor| format!("&cursor={cursor}"))
            .unwrap_or_default();
        let path = format!("{}?limit={limit}{cursor}", self.path());
        self.app.get("reader", &path).await.is(200)
    }
}

/// The next page's cursor, which is there exactly when there is more.
fn next(page: &Answer) -> Option<String> {
    let next = page.raw("/nextCursor").map(|_| page.text("/nextCursor"));
    assert_eq!(page.shown("/hasMore"), next.is_some().to_string());
    next
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(192))]

    #[test]
    fn every_row_comes_once_in_order_and_pages_are_full(
        list in select(&[List::Judgments, List::Classes][..]),
        events in vec(event(), 0..80),
        limits in vec(1_usize..12, 1..4),
    ) {
        block_on(async {
            let mut model = Model::new(list);
            for event in &events {
                model.happen(event).await;
            }
            let expected: Vec<String> = model.expected().into_iter().map(|row| row.id).collect();
            let mut seen = Vec::new();
            let mut cursor = None;
            let mut limits = limits.iter().cycle();
            loop {
                let limit = *limits.next().unwrap();
                let page = model.page(limit, cursor.as_deref()).await;
                let rows = page.ids();
                assert_eq!(rows.len(), limit.min(expected.len() - seen.len()), "pages are full");
                seen.extend(rows);
                cursor = next(&page);
                if cursor.is_none() {
                    break;
                }
            }
            assert_eq!(seen, expected);
        });
    }

    #[test]
    fn rows_that_were_there_throughout_come_once_in_order_while_others_write(
        list in select(&[List::Judgments, List::Classes][..]),
        before in vec(event(), 0..50),
        between in vec(vec(event(), 0..6), 1..40),
        limit in 1_usize..4,
    ) {
        block_on(async {
            let mut model = Model::new(list);
            for event in &before {
                model.happen(event).await;
            }
            let start = model.expected();
            let mut seen: Vec<String> = Vec::new();
            let mut cursor = None;
            let mut writes = between.iter();
            loop {
                let page = model.page(limit, cursor.as_deref()).await;
                assert!(page.ids().len() == limit || next(&page).is_none(), "pages are full");
                for id in page.ids() {
                    assert!(!seen.contains(&id), "no row is repeated");
                    seen.push(id);
                }
                cursor = next(&page);
                if cursor.is_none() {
                    break;
                }
                for event in writes.next().into_iter().flatten() {
                    model.happen(event).await;
                }
            }
            let end = model.expected();
            let throughout: Vec<&String> =
                start.iter().map(|row| &row.id).filter(|id| end.iter().any(|row| row.id == **id)).collect();
            let of_them: Vec<&String> = seen.iter().filter(|id| throughout.contains(id)).collect();
            assert_eq!(of_them, throughout);
        });
    }
}
