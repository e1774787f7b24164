//! The end of data.

use async_trait::async_trait;
use kindgi_core::{
    model::{RunId, TenantId},
    store::{Lifecycle, StoreResult, Write},
};

use super::{SqlxStore, Steps, codec::JUDGMENT};
use crate::{
    drivers::Connection,
    error::DbError,
    sql::{self, Cell, Sql},
};

#[async_trait]
impl Lifecycle for SqlxStore {
    async fn erase_run(&self, write: Write<'_>, run: &RunId) -> StoreResult<()> {
        let steps = Steps::new(self, write);
        let run = run.as_str().to_owned();
        let erased = self.write(move |connection| {
            Box::pin(async move { steps.erase_run(connection, &run).await })
        });
        erased.await?;
        self.database.settle().await;
        Ok(())
    }

    async fn is_erased(&self, tenant: &TenantId, run: &RunId) -> StoreResult<bool> {
        let table = &self.tables.runs;
        let sql = format!("SELECT erased FROM {table} WHERE tenant = ? AND run = ?");
        let sql = Sql::new(sql).bind(tenant.as_str()).bind(run.as_str());
        match self.database.read(&sql).await?.into_iter().next() {
            Some(mut row) => Ok(row.int()? != 0),
            None => Ok(false),
        }
    }
}

impl Steps {
    async fn erase_run(&self, connection: &mut dyn Connection, run: &str) -> Result<(), DbError> {
        let about = |sql: String| Sql::new(sql).bind(&*self.tenant).bind(run);
        let (runs, judgments) = (&self.tables.runs, &self.tables.judgments);
        let update = about(format!(
            "UPDATE {runs} SET erased = 1, context = NULL, segments = NULL, \
             input = CASE WHEN captured_at IS NULL THEN NULL ELSE 'null' END, \
             output = CASE WHEN captured_at IS NULL THEN NULL ELSE 'null' END \
             WHERE tenant = ? AND run = ?"
        ));
        if connection.execute(&update).await? == 0 {
            let insert = format!("INSERT INTO {runs} (tenant, run, erased) VALUES (?, ?, 1)");
            connection.execute(&about(insert)).await?;
        }
        let update = format!(
            "UPDATE {judgments} SET reason = NULL, correction = NULL, item_value = NULL \
             WHERE tenant = ? AND run = ?"
        );
        connection.execute(&about(update)).await?;
        self.erase_outcomes(connection, run).await
    }

    /// Clears the reasons and corrections in the kept outcomes about the run.
    async fn erase_outcomes(
        &self,
        connection: &mut dyn Connection,
        run: &str,
    ) -> Result<(), DbError> {
        let table = &self.tables.operations;
        let select = format!("SELECT id, outcome FROM {table} WHERE tenant = ? AND run = ?");
        let select = Sql::new(select).bind(&*self.tenant).bind(run);
        for mut row in connection.fetch(&select).await? {
            let id = row.text()?;
            let mut outcome = sql::from_json(row.text()?)?;
            for (cell, column) in outcome.iter_mut().zip(JUDGMENT.split(", ")) {
                if matches!(column, "reason" | "correction") {
                    *cell = Cell::Null;
                }
            }
            let update = format!("UPDATE {table} SET outcome = ? WHERE tenant = ? AND id = ?");
            let update = Sql::new(update).bind(sql::to_json(&outcome));
            connection
                .execute(&update.bind(&*self.tenant).bind(id))
                .await?;
        }
        Ok(())
    }
}
