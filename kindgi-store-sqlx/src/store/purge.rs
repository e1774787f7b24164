//! Removing for good what is old.

use std::{collections::BTreeMap, num::NonZeroU16};

use kindgi_core::{
    Timestamp,
    model::{ItemState, Position, QueueItem},
    rules::queue_state::{LiveJudgments, settled},
    store::{PurgePart, PurgePosition, Purged},
};

use super::{
    CHUNK, Steps, Tables,
    codec::{
        self,
        queue::{self, ITEM},
    },
    in_order,
    lifecycle::each_its_row,
    marks,
    queue_counts::Counts,
};
use crate::{
    drivers::Connection,
    error::DbError,
    sql::{Cell, Row, Sql},
};

impl Steps {
    pub(super) async fn purge(
        &self,
        connection: &mut dyn Connection,
        before: Timestamp,
        from: Option<PurgePosition>,
        limit: NonZeroU16,
    ) -> Result<Purged, DbError> {
        self.tell_none_before(connection, before).await?;
        self.forget_ended(connection, limit).await?;
        let from = from.unwrap_or(PurgePosition {
            part: PurgePart::Tellings,
            after: None,
        });
        let part = from.part;
        let rows = old(&self.tables, &self.tenant, before, &from, limit);
        let rows = connection.fetch(&rows).await?.into_iter();
        let rows = rows.map(|row| Old::read(part, row));
        let mut rows = rows.collect::<Result<Vec<_>, _>>()?;
        rows.sort_by(|a, b| (a.at, &a.id).cmp(&(b.at, &b.id)));
        rows.truncate(usize::from(limit.get()));
        let removed = match part {
            PurgePart::Judgments => self.purge_judgments(connection, &rows).await?,
            PurgePart::Tellings => self.purge_tellings(connection, &rows).await?,
            PurgePart::Classes => self.purge_classes(connection, &rows).await?,
        };
        let is_full = rows.len() == usize::from(limit.get());
        let last = rows.into_iter().last().map(Old::position);
        let next = match last.filter(|_| is_full) {
            Some(after) => Some(PurgePosition {
                part,
                after: Some(after),
            }),
            None => PurgePart::ALL
                .into_iter()
                .find(|later| *later > part)
                .map(|part| PurgePosition { part, after: None }),
        };
        Ok(Purged { removed, next })
    }

    /// From now on no run that ended before an instant is told.
    async fn tell_none_before(
        &self,
        connection: &mut dyn Connection,
        before: Timestamp,
    ) -> Result<(), DbError> {
        let table = &self.tables.purges;
        let select = format!("SELECT purged_before FROM {table} WHERE tenant = ?");
        let select = Sql::new(select).bind(&*self.tenant);
        let known = connection.fetch_first(&select).await?;
        let known = known.map(|mut row| row.int()).transpose()?;
        let before = before.as_unix_millis();
        let write = match known {
            None => format!("INSERT INTO {table} (purged_before, tenant) VALUES (?, ?)"),
            Some(known) if known < before => {
                format!("UPDATE {table} SET purged_before = ? WHERE tenant = ?")
            }
            Some(_) => return Ok(()),
        };
        let write = Sql::new(write).bind(before).bind(&*self.tenant);
        connection.execute(&write).await?;
        Ok(())
    }

    async fn purge_judgments(
        &self,
        connection: &mut dyn Connection,
        rows: &[Old],
    ) -> Result<u64, DbError> {
        let ids: Vec<_> = rows.iter().map(|row| Cell::from(&*row.id)).collect();
        self.delete(connection, &self.tables.judgments, "id", &ids)
            .await?;
        // Of each run, whether one of them lived.
        let mut runs = BTreeMap::<&str, bool>::new();
        for (run, is_live) in rows.iter().filter_map(|row| row.judgment.as_ref()) {
            *runs.entry(run).or_default() |= is_live;
        }
        let all: Vec<_> = runs.keys().map(|run| Cell::from(*run)).collect();
        let lived = runs.into_iter().filter(|(_, lived)| *lived);
        let lived: Vec<_> = lived.map(|(run, _)| Cell::from(run)).collect();
        for runs in all.chunks(CHUNK) {
            let copies = self.forgotten(&self.tables.runs, " AND erased = 0", runs);
            let paths = self.forgotten(&self.tables.run_paths, "", runs);
            connection.together(&[copies, paths]).await?;
        }
        for runs in lived.chunks(CHUNK) {
            self.settle_all(connection, runs).await?;
        }
        Ok(rows.len() as u64)
    }

    /// Removes the rows of some ids.
    async fn delete(
        &self,
        connection: &mut dyn Connection,
        table: &str,
        column: &str,
        ids: &[Cell],
    ) -> Result<(), DbError> {
        for ids in ids.chunks(CHUNK) {
            let which = marks(ids.len());
            let delete = format!("DELETE FROM {table} WHERE tenant = ? AND {column} IN ({which})");
            let delete = Sql::new(delete).bind(&*self.tenant);
            connection.execute(&delete.bind_all(ids.to_vec())).await?;
        }
        Ok(())
    }

    /// The statement that removes a table's rows of those runs that have no judgment left.
    fn forgotten(&self, table: &str, and: &str, runs: &[Cell]) -> Sql {
        let judgments = &self.tables.judgments;
        let which = marks(runs.len());
        let delete = Sql::new(format!(
            "DELETE FROM {table} WHERE tenant = ? AND run IN ({which}){and} \
             AND NOT EXISTS (SELECT 1 FROM {judgments} j \
             WHERE j.tenant = ? AND j.run = {table}.run)"
        ));
        let delete = delete.bind(&*self.tenant).bind_all(runs.to_vec());
        delete.bind(&*self.tenant)
    }

    /// The items of those runs that have one.
    async fn items_of(
        &self,
        connection: &mut dyn Connection,
        runs: &[Cell],
    ) -> Result<Vec<QueueItem>, DbError> {
        let table = &self.tables.queue_items;
        let which = marks(runs.len());
        let select = format!("SELECT {ITEM} FROM {table} WHERE tenant = ? AND run IN ({which})");
        let select = Sql::new(select).bind(&*self.tenant);
        let select = select.bind_all(runs.to_vec());
        let rows = connection.fetch(&select).await?.into_iter();
        rows.map(|mut row| queue::item(&mut row)).collect()
    }

    /// Moves the items of runs after the runs' judgments changed.
    async fn settle_all(
        &self,
        connection: &mut dyn Connection,
        runs: &[Cell],
    ) -> Result<(), DbError> {
        let items = self.items_of(connection, runs).await?;
        if items.is_empty() {
            return Ok(());
        }
        let mut live = self.live_by_run(connection, &items).await?;
        let mut all = Vec::new();
        for item in items {
            let live = live.remove(item.run.as_str()).unwrap_or_default();
            let next = settled(item.clone(), &live);
            let moved = self.moved_item(&item, &next);
            if item.state == next.state {
                all.extend(moved);
            } else {
                // Items of one project are counted in the same rows.
                connection.together(&moved).await?;
            }
        }
        each_its_row(connection, &all).await
    }

    /// The live judgments of items' runs by class.
    async fn live_by_run(
        &self,
        connection: &mut dyn Connection,
        items: &[QueueItem],
    ) -> Result<BTreeMap<String, Vec<LiveJudgments>>, DbError> {
        let (table, which) = (&self.tables.judgments, marks(items.len()));
        let select = Sql::new(format!(
            "SELECT run, class, COUNT(*), MIN(created_at) FROM {table} \
             WHERE tenant = ? AND run IN ({which}) AND unregistered_at IS NULL GROUP BY run, class"
        ));
        let runs = items.iter().map(|item| Cell::from(item.run.as_str()));
        let select = select.bind(&*self.tenant).bind_all(runs);
        let mut live = BTreeMap::<_, Vec<_>>::new();
        for mut row in connection.fetch(&select).await? {
            live.entry(row.text()?).or_default().push(LiveJudgments {
                class: row.opt_text()?.map(codec::parse).transpose()?,
                judgments: queue::count(row.int()?)?,
                first_at: codec::time(row.int()?)?,
            });
        }
        Ok(live)
    }

    async fn purge_tellings(
        &self,
        connection: &mut dyn Connection,
        rows: &[Old],
    ) -> Result<u64, DbError> {
        let runs: Vec<_> = rows.iter().map(|row| Cell::from(&*row.id)).collect();
        for runs in runs.chunks(CHUNK) {
            let items = self.items_of(connection, runs).await?;
            each_its_row(connection, &self.counted_out(&items)).await?;
        }
        for table in [&self.tables.queue_items, &self.tables.tellings] {
            self.delete(connection, table, "run", &runs).await?;
        }
        Ok(rows.len() as u64)
    }

    /// The statements that count items out that are to be removed.
    fn counted_out(&self, items: &[QueueItem]) -> Vec<Sql> {
        let (mut counts, mut rules) = (Counts::default(), BTreeMap::new());
        for item in items {
            counts.add(&self.tenant, item);
            if item.state == ItemState::Open {
                for by in &item.taken_by {
                    *rules.entry(by.rule.as_str()).or_insert(0_i64) += 1;
                }
            }
        }
        let rules = rules.into_iter().map(|(rule, items)| {
            let update = Sql::new(format!(
                "UPDATE {} SET open_items = open_items - ? WHERE tenant = ? AND id = ?",
                self.tables.rules
            ));
            update.bind(items).bind(&*self.tenant).bind(rule)
        });
        let mut all = counts.out_of_table(&self.tables.queue_counts);
        all.extend(rules);
        all
    }

    async fn purge_classes(
        &self,
        connection: &mut dyn Connection,
        rows: &[Old],
    ) -> Result<u64, DbError> {
        let mut removed = 0;
        for row in rows {
            let delete = unnamed(&self.tables, &self.tenant, &row.id);
            removed += connection.execute(&delete).await?;
        }
        Ok(removed)
    }
}

/// A row that is old.
struct Old {
    at: Timestamp,
    id: String,
    /// A judgment's run, and whether it lives.
    judgment: Option<(String, bool)>,
}

impl Old {
    fn read(part: PurgePart, mut row: Row) -> Result<Self, DbError> {
        let (at, id) = (codec::time(row.int()?)?, row.text()?);
        let judgment = match part {
            PurgePart::Judgments => Some((row.text()?, row.opt_int()?.is_none())),
            PurgePart::Tellings | PurgePart::Classes => None,
        };
        Ok(Self { at, id, judgment })
    }

    fn position(self) -> Position {
        let id = self.id.into();
        Position { at: self.at, id }
    }
}

/// The statement of what a step looks at: the oldest rows, in any order, and perhaps more.
pub(super) fn old(
    tables: &Tables,
    tenant: &str,
    before: Timestamp,
    from: &PurgePosition,
    limit: NonZeroU16,
) -> Sql {
    let oldest = |columns: &str, table: &str, (at, id): (&str, &str), which: &str| {
        let sql = format!("SELECT {columns} FROM {table} WHERE tenant = ?{which} AND {at} < ?");
        let sql = Sql::new(sql).bind(tenant).bind(before.as_unix_millis());
        let sql = in_order(sql, (at, id), (">", "ASC"), from.after.as_ref());
        sql.push(" LIMIT ?").bind(i64::from(limit.get()))
    };
    match from.part {
        PurgePart::Judgments => {
            // Live and dead ones have an index each.
            let judgments = |which| {
                let columns = "created_at, id, run, unregistered_at";
                oldest(columns, &tables.judgments, ("created_at", "id"), which)
            };
            let live = judgments(" AND unregistered_at IS NULL");
            let dead = judgments(" AND unregistered_at IS NOT NULL");
            Sql::new(format!(
                "SELECT * FROM ({}) l UNION ALL SELECT * FROM ({}) d",
                live.text, dead.text
            ))
            .bind_all(live.args)
            .bind_all(dead.args)
        }
        PurgePart::Tellings => {
            // A row for each rule that took or skipped it.
            let columns = "DISTINCT age, run";
            oldest(columns, &tables.tellings, ("age", "run"), "")
        }
        PurgePart::Classes => {
            let columns = "unregistered_at, id";
            oldest(columns, &tables.classes, ("unregistered_at", "id"), "")
        }
    }
}

/// The statement that removes a class unless a judgment, live or dead, or a version of a rule
/// names it.
pub(super) fn unnamed(tables: &Tables, tenant: &str, id: &str) -> Sql {
    let Tables {
        classes,
        judgments,
        rule_versions,
        ..
    } = tables;
    let mut sql = Sql::new(format!("DELETE FROM {classes} WHERE tenant = ? AND id = ?"));
    sql = sql.bind(tenant).bind(id);
    for (column, naming, which) in [
        ("id", judgments, " AND n.unregistered_at IS NULL"),
        ("id", judgments, " AND n.unregistered_at IS NOT NULL"),
        ("rule", rule_versions, ""),
    ] {
        sql = sql
            .push(&format!(
                " AND NOT EXISTS (SELECT n.{column} FROM {naming} n \
                 WHERE n.tenant = ? AND n.class = ?{which})"
            ))
            .bind(tenant)
            .bind(id);
    }
    sql
}
