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
        let kept = self.write(move |connection| {
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
                None => self.keep(connection, kind, &cells, about).await?,
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
        forget(connection, &self.tables, &self.tenant, &ids).await
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
        forget(connection, tables, tenant, ids).await?;
    }
    Ok(forgotten)
}

async fn forget(
    connection: &mut dyn Connection,
    tables: &Tables,
    tenant: &str,
    ids: &[Cell],
) -> Result<(), DbError> {
    for ids in ids.chunks(CHUNK) {
        let delete = Sql::new(format!(
            "DELETE FROM {} WHERE tenant = ? AND id IN ({})",
            tables.operations,
            marks(ids.len())
        ));
        let delete = delete.bind(tenant).bind_all(ids.to_vec());
        connection.execute(&delete).await?;
    }
    Ok(())
}

/// The statement of what is kept of an operation.
fn kept(tables: &Tables, tenant: &str, operation: &Operation, now: Timestamp) -> Sql {
    let sql = Sql::new(format!(
        "SELECT body, kind, outcome FROM {} WHERE tenant = ? AND id = ? AND keep_until > ?",
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
