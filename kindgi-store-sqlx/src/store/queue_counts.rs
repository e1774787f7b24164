//! How many items of a project are in each state: of all, and of those that one filter asks for. A
//! page of the queue says how many there are on all pages, which must not be counted anew.

use std::collections::{BTreeMap, BTreeSet};

use kindgi_core::model::{ItemState, QueueItem};

use super::CHUNK;
use crate::sql::{Cell, Sql};

/// The columns of what is counted.
pub(super) const COUNT: &str = "tenant, project, kind, of_id, state, items";

/// Which of a project's items are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Of<'a> {
    All,
    Agent(&'a str),
    /// Those that this rule took.
    Rule(&'a str),
    /// Those that want a judgment of this class.
    Wants(&'a str),
    /// Those that want any judgment.
    Any,
    /// Those that want one of this class, and none of any.
    Only(&'a str),
}

impl<'a> Of<'a> {
    /// What an item counts for, each once.
    pub(super) fn item(item: &'a QueueItem) -> BTreeSet<Self> {
        let mut of = BTreeSet::from([Self::All]);
        of.extend(item.agent.as_ref().map(|(id, _)| Self::Agent(id.as_str())));
        let is_any = item.wants_any();
        of.extend(is_any.then_some(Self::Any));
        for by in &item.taken_by {
            of.insert(Self::Rule(by.rule.as_str()));
            if let Some(class) = &by.wants {
                of.insert(Self::Wants(class.as_str()));
                of.extend((!is_any).then_some(Self::Only(class.as_str())));
            }
        }
        of
    }

    /// The kind and the key of its rows.
    pub(super) fn columns(self) -> [&'a str; 2] {
        match self {
            Self::All => ["", ""],
            Self::Agent(id) => ["agent", id],
            Self::Rule(id) => ["rule", id],
            Self::Wants(id) => ["wants", id],
            Self::Any => ["any", ""],
            Self::Only(id) => ["only", id],
        }
    }
}

/// The statement of a number; none is 0.
pub(super) fn number(
    table: &str,
    (tenant, project): (&str, &str),
    of: &[Of<'_>],
    states: &[ItemState],
) -> Sql {
    let one = format!(
        "COALESCE((SELECT items FROM {table} \
         WHERE tenant = ? AND project = ? AND kind = ? AND of_id = ? AND state = ?), 0)"
    );
    let each = of
        .iter()
        .flat_map(|of| states.iter().map(|state| (*of, *state)));
    let args: Vec<_> = each
        .map(|(of, state)| {
            let [kind, of_id] = of.columns();
            [tenant, project, kind, of_id, state.as_str()].map(Cell::from)
        })
        .collect();
    let sum = vec![&*one; args.len()].join(" + ");
    Sql::new(format!("SELECT {sum}")).bind_all(args.into_iter().flatten())
}

/// How many items come, by what is counted.
#[derive(Default)]
pub(super) struct Counts<'a>(BTreeMap<(&'a str, &'a str, Of<'a>, ItemState), i64>);

impl<'a> Counts<'a> {
    pub(super) fn of(tenant: &'a str, item: &'a QueueItem) -> Self {
        let mut counts = Self::default();
        counts.add(tenant, item);
        counts
    }

    pub(super) fn add(&mut self, tenant: &'a str, item: &'a QueueItem) {
        for of in Of::item(item) {
            let count = (tenant, item.project.as_str(), of, item.state);
            *self.0.entry(count).or_default() += 1;
        }
    }

    /// The statements that count them in, each row in one of them.
    pub(super) fn into_table(self, table: &str) -> Vec<Sql> {
        let rows: Vec<_> = self.0.into_iter().collect();
        let chunks = rows.chunks(CHUNK).map(|rows| {
            let values = vec!["(?, ?, ?, ?, ?, ?)"; rows.len()].join(", ");
            let upsert = Sql::new(format!(
                "INSERT INTO {table} ({COUNT}) VALUES {values} \
                 ON CONFLICT (tenant, project, kind, of_id, state) \
                 DO UPDATE SET items = {table}.items + excluded.items"
            ));
            let cells = rows
                .iter()
                .flat_map(|((tenant, project, of, state), items)| {
                    let [kind, of_id] = of.columns();
                    let texts = [*tenant, *project, kind, of_id, state.as_str()];
                    texts.map(Cell::from).into_iter().chain([(*items).into()])
                });
            upsert.bind_all(cells)
        });
        chunks.collect()
    }

    /// The statements that count them out, each row in one of them.
    pub(super) fn out_of_table(self, table: &str) -> Vec<Sql> {
        let mut alike = BTreeMap::<_, Vec<Of<'_>>>::new();
        for ((tenant, project, of, state), items) in self.0 {
            let rows = alike.entry((tenant, project, state, items));
            rows.or_default().push(of);
        }
        let mut all = Vec::new();
        for ((tenant, project, state, items), of) in alike {
            for of in of.chunks(CHUNK) {
                let rows = vec!["(?, ?)"; of.len()].join(", ");
                let update = Sql::new(format!(
                    "UPDATE {table} SET items = items - ? WHERE tenant = ? AND project = ? \
                     AND state = ? AND (kind, of_id) IN (VALUES {rows})"
                ));
                let update = update.bind(items).bind(tenant).bind(project);
                let rows = of.iter().flat_map(|of| of.columns());
                all.push(update.bind(state.as_str()).bind_all(rows.map(Cell::from)));
            }
        }
        all
    }
}
