//! The list of the queue.
//!
//! Of the filters one has its index, which also gives the order; the others are checked row by row
//! on what it gives. What suits one who may judge some classes is merged of an index's range for
//! each class. Only under `closed_after` the rows are sorted: those that it leaves are few, as a
//! rule, beside all that a list in order would be walked through for them.

use kindgi_core::{
    Timestamp,
    model::{ItemState, JudgeClassId, ProjectId, TenantId},
    store::{Keyset, QueueFilter, QueueSlice, Slice},
};

use super::{
    Tables,
    codec::queue::{self, ITEM},
    columns_of, marks, of_run, oldest_first,
    queue_counts::{self, Of},
};
use crate::{
    dialect::Dialect,
    error::DbError,
    sql::{Cell, Row, Sql},
};

/// A list of a project's items.
pub(super) struct List<'a> {
    pub(super) tables: &'a Tables,
    pub(super) dialect: &'a Dialect,
    pub(super) tenant: &'a TenantId,
    pub(super) project: &'a ProjectId,
    pub(super) filter: &'a QueueFilter,
}

/// What the index that is used is of.
#[derive(Clone, Copy, PartialEq, Eq)]
enum By {
    Rule,
    Wants,
    Agent,
    Closed,
    State,
    /// What wants any judgment, and what wants one of each class.
    ForMe,
    All,
}

impl By {
    /// Which it is, of several: open items are few in the end, whoever took them.
    fn of(filter: &QueueFilter) -> Self {
        // No open item has closed.
        if filter.state == Some(ItemState::Open) && filter.closed_after.is_none() {
            Self::State
        } else if filter.rule.is_some() {
            Self::Rule
        } else if filter.wants.is_some() {
            Self::Wants
        } else if filter.agent.is_some() {
            Self::Agent
        } else if filter.closed_after.is_some() {
            Self::Closed
        } else if filter.state.is_some() {
            Self::State
        } else if filter.wants_any_or.is_some() {
            Self::ForMe
        } else {
            Self::All
        }
    }

    /// Whether it is one of tellings, `t`; else it is one of items, `q`.
    fn is_of_tellings(self) -> bool {
        matches!(self, Self::Rule | Self::Wants)
    }
}

impl List<'_> {
    /// A page with how many there are on all pages, or only that, in one statement.
    pub(super) fn statement(&self, keyset: Option<&Keyset>) -> Sql {
        let total = self.total();
        let Some(keyset) = keyset else {
            return Sql::new(format!("SELECT ({})", total.text)).bind_all(total.args);
        };
        let page = self.page(keyset);
        let nulls = vec!["NULL"; ITEM.split(", ").count()].join(", ");
        let sql = format!(
            "SELECT ({}), {nulls} UNION ALL SELECT NULL, {} FROM ({}) p",
            total.text,
            columns_of("p", ITEM),
            page.text,
        );
        Sql::new(sql).bind_all(total.args).bind_all(page.args)
    }

    /// How many there are on all pages.
    pub(super) fn total(&self) -> Sql {
        if let Some(of) = self.kept() {
            let table = &self.tables.queue_counts;
            let place = (self.tenant.as_str(), self.project.as_str());
            let states = match &self.filter.state {
                Some(state) => std::slice::from_ref(state),
                None => &ItemState::ALL[..],
            };
            return queue_counts::number(table, place, &of, states);
        }
        let f = self.filter;
        let by = By::of(f);
        if by == By::ForMe {
            return self.suiting_in_all();
        }
        // Whoever took a run is said without its item.
        let of_item = f.state.is_some()
            || f.agent.is_some()
            || f.closed_after.is_some()
            || f.wants_any_or.is_some();
        self.matching("COUNT(*)", by, of_item, true)
    }

    /// What the numbers that are kept are added up of, in a state or in any, if they are of the
    /// filter.
    fn kept(&self) -> Option<Vec<Of<'_>>> {
        let f = self.filter;
        if f.added_after.is_some() || f.closed_after.is_some() {
            return None;
        }
        let mut all = Vec::new();
        all.extend(f.rule.iter().map(|rule| vec![Of::Rule(rule.as_str())]));
        all.extend(f.wants.iter().map(|class| vec![Of::Wants(class.as_str())]));
        all.extend(f.agent.iter().map(|agent| vec![Of::Agent(agent.as_str())]));
        if f.wants_any_or.is_some() {
            let classes = self.classes();
            // Of several, one item may want two.
            if classes.len() > 1 {
                return None;
            }
            let only = classes.into_iter().map(Of::Only);
            all.push([Of::Any].into_iter().chain(only).collect());
        }
        match all.len() {
            0 => Some(vec![Of::All]),
            1 => all.pop(),
            _ => None,
        }
    }

    /// A page's items.
    pub(super) fn page(&self, keyset: &Keyset) -> Sql {
        let by = match By::of(self.filter) {
            By::ForMe => match self.merged(keyset) {
                Some(merged) => return merged,
                None => By::All,
            },
            by => by,
        };
        let sql = self.matching(&columns_of("q", ITEM), by, true, false);
        let at = Self::added_at(by);
        let run = match by.is_of_tellings() {
            true => "t.run".to_owned(),
            false => format!("{}q.run", self.unindexed(by == By::Closed)),
        };
        oldest_first(sql, (at, &run), keyset)
    }

    /// When an item was added, as what is looked at says it.
    fn added_at(by: By) -> &'static str {
        match by {
            By::Rule | By::Wants => "t.told_at",
            // A plus hides a number from PostgreSQL's indexes, too: it would walk through the list
            // for the few that closed since.
            By::Closed => "+q.added_at",
            By::Agent | By::State | By::ForMe | By::All => "q.added_at",
        }
    }

    /// What stands before a column, if it isn't to choose the index.
    fn unindexed(&self, is: bool) -> &'static str {
        match is {
            true => self.dialect.unindexed,
            false => "",
        }
    }

    /// What matches; with the items `q`, if they are asked for; all of it, if it is counted.
    fn matching(&self, columns: &str, by: By, with_items: bool, counted: bool) -> Sql {
        let f = self.filter;
        let Tables {
            queue_items: items,
            tellings,
            ..
        } = self.tables;
        let main = if by.is_of_tellings() { "t" } else { "q" };
        let from = match (by.is_of_tellings(), with_items) {
            (false, _) => format!("{items} q"),
            (true, false) => format!("{tellings} t"),
            (true, true) => {
                let of_t = of_run(self.dialect, "q", "t");
                format!("{tellings} t JOIN {items} q ON {of_t}")
            }
        };
        let sql = format!("SELECT {columns} FROM {from} WHERE {main}.tenant = ?");
        let mut sql = Sql::new(sql).bind(self.tenant.as_str());
        sql = sql.and_is(&format!("{main}.project"), Some(self.project.as_str()));
        sql = match by {
            By::Rule => {
                let rule = f.rule.as_ref().map(|rule| rule.as_str());
                sql.and_is("t.rule", rule).push(" AND t.skipped = 0")
            }
            By::Wants => sql.and_is("t.wants", f.wants.as_ref().map(|class| class.as_str())),
            _ => sql,
        };
        let column = |name: &str, of: By| format!("{}q.{name}", self.unindexed(by != of));
        let state = f.state.map(|state| state.as_str());
        sql = sql.and_is(&column("state", By::State), state);
        let agent = f.agent.as_ref().map(|agent| agent.as_str());
        sql = sql.and_is(&column("agent", By::Agent), agent);
        sql = since(sql, &column("closed_at", By::Closed), f.closed_after);
        sql = since(sql, Self::added_at(by), f.added_after);
        self.of_tellings(sql, by, main, counted)
    }

    /// What other rows of the run's tellings must say.
    fn of_tellings(&self, mut sql: Sql, by: By, main: &str, counted: bool) -> Sql {
        let f = self.filter;
        let tellings = &self.tables.tellings;
        let of_run = of_run(self.dialect, "o", main);
        let unindexed = self.dialect.unindexed;
        let told = |what: &str| match counted {
            // All that say so may be found at once: the project leads to their index.
            true => format!(
                "EXISTS (SELECT 1 FROM {tellings} o WHERE {of_run} \
                 AND {unindexed}o.project = {main}.project AND {what})"
            ),
            // Of few runs, so run by run: PostgreSQL would read the whole table for it beforehand,
            // but not with an offset.
            false => format!(
                "EXISTS (SELECT 1 FROM {tellings} o WHERE {of_run} AND {what} LIMIT 1 OFFSET 0)"
            ),
        };
        // For the run's own rows there is a better index than that of what is wanted, which a plus
        // doesn't hide: a NULL is told from it.
        let wants = match counted && unindexed.is_empty() {
            true => "o.wants",
            false => "COALESCE(o.wants, '')",
        };
        if let Some(rule) = f.rule.as_ref().filter(|_| by != By::Rule) {
            let told = told("o.rule = ? AND o.skipped = 0");
            sql = sql.push(&format!(" AND {told}")).bind(rule.as_str());
        }
        if let Some(class) = f.wants.as_ref().filter(|_| by != By::Wants) {
            let told = told(&format!("{wants} = ?"));
            sql = sql.push(&format!(" AND {told}")).bind(class.as_str());
        }
        if let Some(classes) = &f.wants_any_or {
            sql = sql.push(" AND (q.wants_any = 1");
            if !classes.is_empty() {
                let which = marks(classes.len());
                if counted {
                    // All that want one of them are found at once, not item by item.
                    let any = format!(
                        " OR q.run IN (SELECT o.run FROM {tellings} o \
                         WHERE o.tenant = ? AND o.project = ? AND o.wants IN ({which}))"
                    );
                    sql = sql.push(&any).bind(self.tenant.as_str());
                    sql = sql.bind(self.project.as_str());
                } else {
                    let told = told(&format!("{wants} IN ({which})"));
                    sql = sql.push(&format!(" OR {told}"));
                }
                let classes = classes.iter().map(JudgeClassId::as_str);
                sql = sql.bind_all(classes.map(Cell::from));
            }
            sql = sql.push(")");
        }
        sql
    }
}

/// Adds ` AND column >= ?` if there is an instant.
pub(super) fn since(sql: Sql, column: &str, since: Option<Timestamp>) -> Sql {
    match since {
        Some(at) => sql
            .push(&format!(" AND {column} >= ?"))
            .bind(at.as_unix_millis()),
        None => sql,
    }
}

/// From the rows of [`List::statement`].
pub(super) fn slice(rows: Vec<Row>, keyset: Option<&Keyset>) -> Result<QueueSlice, DbError> {
    let (mut total, mut items) = (0, Vec::new());
    for mut row in rows {
        match row.opt_int()? {
            Some(counted) => total = queue::count(counted)?,
            None => items.push(queue::item(&mut row)?),
        }
    }
    // The parts of a statement come in any order.
    items.sort_by(|a, b| (a.added_at, &a.run).cmp(&(b.added_at, &b.run)));
    let limit = keyset.map_or(0, |keyset| usize::from(keyset.limit.get()));
    let more = items.len() > limit;
    items.truncate(limit);
    let slice = Slice { rows: items, more };
    Ok(QueueSlice { slice, total })
}
