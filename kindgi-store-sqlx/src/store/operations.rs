//! Operations that took effect, with their outcomes.

use kindgi_core::store::{self, Applied};

use super::{Steps, codec::hex};
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
        run: Option<&str>,
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
            "INSERT INTO {table} (tenant, id, body, kind, outcome, run, keep_until) \
             VALUES (?, ?, ?, ?, ?, ?, ?)"
        );
        let insert = Sql::new(insert)
            .bind(&*self.tenant)
            .bind(&*operation.id)
            .bind(&*operation.body)
            .bind(kind)
            .bind(sql::to_json(outcome))
            .bind(run)
            .bind(operation.keep_until);
        connection.execute(&insert).await?;
        Ok(())
    }
}
