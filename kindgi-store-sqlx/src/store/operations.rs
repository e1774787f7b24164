//! Operations that took effect, with their outcomes.

use std::{collections::BTreeMap, num::NonZeroU16};

use async_trait::async_trait;
use kindgi_core::{
    StoreError, Timestamp,
    model::TenantId,
    store::{self, Applied, KnownOperation, OperationStore, Receipt, StoreResult, Write},
};

use super::{CHUNK, SqlxStore, Steps, Tables, codec::hex, marks, receipts};
use crate::{
    drivers::Connection,
    error::DbError,
    sql::{self, Cell, Row, Sql},
};

/// An operation, owned.
#[derive(Clone)]
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

#[async_trait]
impl OperationStore for SqlxStore {
    async fn receipt(
        &self,
        tenant: &TenantId,
        now: Timestamp,
        operation: store::Operation<'_>,
    ) -> StoreResult<Option<KnownOperation>> {
        let operation = Operation::new(operation);
        let select = kept(&self.tables, tenant.as_str(), &operation, now);
        let row = self.database.read(&select).await?.into_iter().next();
        Ok(row
            .map(|row| known_operation(tenant, &operation, row))
            .transpose()?)
    }

    async fn keep(&self, write: Write<'_>, receipt: &Receipt) -> StoreResult<Applied<Receipt>> {
        let steps = Steps::new(self, write);
        let (tenant, receipt) = (write.tenant.clone(), receipt.clone());
        if receipts::encode(&receipt).is_none() {
            return Err(StoreError::other("what was refused leaves no receipt"));
        }
        let kept = self.write(steps.lock(), move |connection| {
            Box::pin(async move { steps.keep_receipt(connection, &tenant, receipt).await })
        });
        Ok(kept.await?)
    }
}

fn known_operation(
    tenant: &TenantId,
    operation: &Operation,
    mut row: Row,
) -> Result<KnownOperation, DbError> {
    if row.text()? != operation.body {
        return Ok(KnownOperation::OtherBody);
    }
    let kind = row.text()?;
    let mut outcome = Row::new(sql::from_json(row.text()?)?);
    let receipt = receipts::decode(tenant, &kind, &mut outcome)?;
    Ok(KnownOperation::Done(receipt))
}

impl Steps {
    /// Keeps the receipt of an operation that changed nothing, unless it is known.
    async fn keep_receipt(
        &self,
        connection: &mut dyn Connection,
        tenant: &TenantId,
        receipt: Receipt,
    ) -> Result<Applied<Receipt>, DbError> {
        if let Some(receipts::Kept { kind, cells, about }) = receipts::encode(&receipt) {
            match self.known(connection, kind).await? {
                None => {
                    let kept = self.kept_as(kind, &cells, about);
                    connection.together(kept.as_slice()).await?;
                }
                Some(Applied::Replayed(mut row)) => {
                    let kept = receipts::decode(tenant, kind, &mut row)?;
                    return Ok(Applied::Replayed(kept));
                }
                Some(_) => return Ok(Applied::OtherBody),
            }
        }
        Ok(Applied::Done(receipt))
    }

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
        let select = kept(&self.tables, &self.tenant, operation, self.now);
        match connection.fetch_first(&select).await? {
            Some(mut row) => known_as(kind, operation, &mut row),
            None => Ok(None),
        }
    }

    /// The same from the columns [`KEPT`] of a join that has them NULL where nothing is kept.
    pub(super) fn known_in(
        &self,
        row: &mut Row,
        kind: &'static str,
    ) -> Result<Option<Applied<Row>>, DbError> {
        match &self.operation {
            Some(operation) => known_as(kind, operation, row),
            None => {
                row.skip(KEPT.split(", ").count());
                Ok(None)
            }
        }
    }

    /// That the row `o` of a join is what is kept of the write's operation; no row is, if it has
    /// none.
    pub(super) fn is_kept(&self, sql: Sql) -> Sql {
        let sql = sql.push("o.tenant = ? AND o.id = ? AND o.keep_until > ?");
        let id = self
            .operation
            .as_ref()
            .map_or("", |operation| &*operation.id);
        let sql = sql.bind(&*self.tenant).bind(id);
        sql.bind(self.now.as_unix_millis())
    }

    /// The statement that keeps the write's operation, if it has one, with its outcome.
    pub(super) fn kept_as(
        &self,
        kind: &'static str,
        outcome: &[Cell],
        about: About<'_>,
    ) -> Option<Sql> {
        let operation = self.operation.as_ref()?;
        let table = &self.tables.operations;
        let columns = "body, kind, outcome, run, participant, keep_until";
        let sets = columns.split(", ");
        let sets = sets.map(|column| format!("{column} = excluded.{column}"));
        // What is there is over, or it would have been known.
        let upsert = Sql::new(format!(
            "INSERT INTO {table} (tenant, id, {columns}) VALUES (?, ?, ?, ?, ?, ?, ?, ?) \
             ON CONFLICT (tenant, id) DO UPDATE SET {}",
            sets.collect::<Vec<_>>().join(", ")
        ));
        let upsert = upsert
            .bind(&*self.tenant)
            .bind(&*operation.id)
            .bind(&*operation.body)
            .bind(kind)
            .bind(sql::to_json(outcome))
            .bind(about.run)
            .bind(about.participant)
            .bind(operation.keep_until);
        Some(upsert)
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
        forget(connection, &self.tables, &self.tenant, self.now, &ids).await
    }
}

/// Forgets operations of all tenants that have ended, so many at most; gives how many.
pub(super) async fn forget_all_ended(
    connection: &mut dyn Connection,
    tables: &Tables,
    now: Timestamp,
    limit: NonZeroU16,
) -> Result<u64, DbError> {
    let mut by_tenant = BTreeMap::<String, Vec<Cell>>::new();
    let mut forgotten = 0;
    for mut row in connection.fetch(&all_ended(tables, now, limit)).await? {
        let ids = by_tenant.entry(row.text()?).or_default();
        ids.push(row.text()?.into());
        forgotten += 1;
    }
    for (tenant, ids) in &by_tenant {
        forget(connection, tables, tenant, now, ids).await?;
    }
    Ok(forgotten)
}

/// Forgets those of the operations that have ended: one may have been kept anew since it was found.
async fn forget(
    connection: &mut dyn Connection,
    tables: &Tables,
    tenant: &str,
    now: Timestamp,
    ids: &[Cell],
) -> Result<(), DbError> {
    for ids in ids.chunks(CHUNK) {
        let delete = Sql::new(format!(
            "DELETE FROM {} WHERE tenant = ? AND keep_until <= ? AND id IN ({})",
            tables.operations,
            marks(ids.len())
        ));
        let delete = delete.bind(tenant).bind(now.as_unix_millis());
        let delete = delete.bind_all(ids.to_vec());
        connection.execute(&delete).await?;
    }
    Ok(())
}

/// What is kept of an operation, as this kind of transition.
fn known_as(
    kind: &'static str,
    operation: &Operation,
    row: &mut Row,
) -> Result<Option<Applied<Row>>, DbError> {
    let (body, as_kind, outcome) = (row.opt_text()?, row.opt_text()?, row.opt_text()?);
    let (Some(body), Some(as_kind), Some(outcome)) = (body, as_kind, outcome) else {
        return Ok(None);
    };
    if body != operation.body || as_kind != kind {
        return Ok(Some(Applied::OtherBody));
    }
    let outcome = Row::new(sql::from_json(outcome)?);
    Ok(Some(Applied::Replayed(outcome)))
}

/// The columns of what is kept of an operation.
pub(super) const KEPT: &str = "body, kind, outcome";

/// The statement of what is kept of an operation.
fn kept(tables: &Tables, tenant: &str, operation: &Operation, now: Timestamp) -> Sql {
    let sql = Sql::new(format!(
        "SELECT {KEPT} FROM {} WHERE tenant = ? AND id = ? AND keep_until > ?",
        tables.operations
    ));
    let sql = sql.bind(tenant).bind(&*operation.id);
    sql.bind(now.as_unix_millis())
}

/// The statement of operations of all tenants that have ended.
pub(super) fn all_ended(tables: &Tables, now: Timestamp, limit: NonZeroU16) -> Sql {
    let sql = Sql::new(format!(
        "SELECT tenant, id FROM {} WHERE keep_until <= ? ORDER BY keep_until LIMIT ?",
        tables.operations
    ));
    sql.bind(now.as_unix_millis()).bind(i64::from(limit.get()))
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
