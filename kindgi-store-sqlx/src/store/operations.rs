//! Operations that took effect, with their outcomes.

use std::num::NonZeroU16;

use kindgi_core::{
    Timestamp,
    store::{self, Applied},
};

use super::{CHUNK, Steps, Tables, codec::hex, marks};
use crate::{
    drivers::Connection,
    error::DbError,
    sql::{self, Cell, Row, Sql},
};

/// An operation, owned.
pub(super) struct Operation {
    id: String,
    body: String,
    keep_until: i64,
}

impl Operation {
    pub(super) fn new(operation: store::Operation<'_>) -> Self {
        Self {
            id: hex(&operation.id.0),
            body: hex(operation.body),
            keep_until: operation.keep_until.as_unix_millis(),
        }
    }
}

/// Whom an outcome tells of, for when they are erased.
#[derive(Clone, Copy, Default)]
pub(super) struct About<'a> {
    pub(super) run: Option<&'a str>,
    pub(super) participant: Option<&'a str>,
}

impl Steps {
    /// The outcome's cells, if the write's operation took effect before, as this kind of
    /// transition and with this body.
    pub(super) async fn known(
        &self,
        connection: &mut dyn Connection,
        kind: &'static str,
    ) -> Result<Option<Applied<Row>>, DbError> {
        let Some(operation) = &self.operation else {
            return Ok(None);
        };
        let table = &self.tables.operations;
        let select = format!(
            "SELECT body, kind, outcome FROM {table} WHERE tenant = ? AND id = ? AND keep_until > ?"
        );
        let select = Sql::new(select)
            .bind(&*self.tenant)
            .bind(&*operation.id)
            .bind(self.now.as_unix_millis());
        let Some(mut row) = connection.fetch_first(&select).await? else {
            return Ok(None);
        };
        let same = row.text()? == operation.body && row.text()? == kind;
        if !same {
            return Ok(Some(Applied::OtherBody));
        }
        Ok(Some(Applied::Replayed(Row::new(sql::from_json(
            row.text()?,
        )?))))
    }

    /// Keeps the write's operation with its outcome.
    pub(super) async fn keep(
        &self,
        connection: &mut dyn Connection,
        kind: &'static str,
        outcome: &[Cell],
        about: About<'_>,
    ) -> Result<(), DbError> {
        let Some(operation) = &self.operation else {
            return Ok(());
        };
        let table = &self.tables.operations;
        // What is there is over, or it would have been known.
        let delete = Sql::new(format!("DELETE FROM {table} WHERE tenant = ? AND id = ?"));
        let delete = delete.bind(&*self.tenant).bind(&*operation.id);
        connection.execute(&delete).await?;
        let insert = format!(
            "INSERT INTO {table} (tenant, id, body, kind, outcome, run, participant, keep_until) \
             VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
        );
        let insert = Sql::new(insert)
            .bind(&*self.tenant)
            .bind(&*operation.id)
            .bind(&*operation.body)
            .bind(kind)
            .bind(sql::to_json(outcome))
            .bind(about.run)
            .bind(about.participant)
            .bind(operation.keep_until);
        connection.execute(&insert).await?;
        Ok(())
    }

    /// Forgets operations that have ended, so many at most: what they keep the words of may be
    /// gone everywhere else.
    pub(super) async fn forget_ended(
        &self,
        connection: &mut dyn Connection,
        limit: NonZeroU16,
    ) -> Result<(), DbError> {
        let ended = ended(&self.tables, &self.tenant, self.now, limit);
        let rows = connection.fetch(&ended).await?.into_iter();
        let ids = rows.map(|mut row| row.text().map(Cell::from));
        let ids = ids.collect::<Result<Vec<_>, _>>()?;
        for ids in ids.chunks(CHUNK) {
            let delete = Sql::new(format!(
                "DELETE FROM {} WHERE tenant = ? AND id IN ({})",
                self.tables.operations,
                marks(ids.len())
            ));
            let delete = delete.bind(&*self.tenant).bind_all(ids.to_vec());
            connection.execute(&delete).await?;
        }
        Ok(())
    }
}

/// The statement of operations that have ended.
pub(super) fn ended(tables: &Tables, tenant: &str, now: Timestamp, limit: NonZeroU16) -> Sql {
    let sql = Sql::new(format!(
        "SELECT id FROM {} WHERE tenant = ? AND keep_until <= ? ORDER BY keep_until LIMIT ?",
        tables.operations
    ));
    let sql = sql.bind(tenant).bind(now.as_unix_millis());
    sql.bind(i64::from(limit.get()))
}
