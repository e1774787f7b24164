//! Removing for good what is old.

use std::{collections::BTreeMap, num::NonZeroU16};

use kindgi_core::{
    Timestamp,
    model::Position,
    store::{PurgePart, PurgePosition, Purged},
};

use super::{Steps, Tables, codec, in_order};
use crate::{
    drivers::Connection,
    error::DbError,
    sql::{Row, Sql},
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
        let table = &self.tables.judgments;
        // Of each run, whether one of them lived.
        let mut runs = BTreeMap::<&str, bool>::new();
        for row in rows {
            let delete = format!("DELETE FROM {table} WHERE tenant = ? AND id = ?");
            let delete = Sql::new(delete).bind(&*self.tenant).bind(&*row.id);
            connection.execute(&delete).await?;
            if let Some((run, is_live)) = &row.judgment {
                *runs.entry(run).or_default() |= is_live;
            }
        }
        for (run, lived) in runs {
            self.forget_copy(connection, run).await?;
            if lived {
                self.settle(connection, run).await?;
            }
        }
        Ok(rows.len() as u64)
    }

    /// Removes the copy of a run that has no judgment left and isn't erased.
    async fn forget_copy(&self, connection: &mut dyn Connection, run: &str) -> Result<(), DbError> {
        let Tables {
            runs, judgments, ..
        } = &*self.tables;
        let delete = Sql::new(format!(
            "DELETE FROM {runs} WHERE tenant = ? AND run = ? AND erased = 0 \
             AND NOT EXISTS (SELECT 1 FROM {judgments} j WHERE j.tenant = ? AND j.run = ?)"
        ));
        let delete = delete.bind(&*self.tenant).bind(run);
        let delete = delete.bind(&*self.tenant).bind(run);
        connection.execute(&delete).await?;
        Ok(())
    }

    async fn purge_tellings(
        &self,
        connection: &mut dyn Connection,
        rows: &[Old],
    ) -> Result<u64, DbError> {
        let table = &self.tables.tellings;
        for row in rows {
            self.remove_item(connection, &row.id).await?;
            let delete = format!("DELETE FROM {table} WHERE tenant = ? AND run = ?");
            let delete = Sql::new(delete).bind(&*self.tenant).bind(&*row.id);
            connection.execute(&delete).await?;
        }
        Ok(rows.len() as u64)
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
