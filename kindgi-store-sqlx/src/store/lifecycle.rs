//! The end of data, and what is built from it before.

use std::num::NonZeroU16;

use async_trait::async_trait;
use kindgi_core::{
    Timestamp,
    model::{ParticipantId, RunId, TenantId},
    store::{
        JudgedRun, JudgedRunFilter, Keyset, Lifecycle, PurgePosition, Purged, Slice, StoreResult,
        Write,
    },
};

use super::{
    SqlxStore, Steps, Tables,
    codec::{self, JUDGMENT, live_key, queue::ITEM},
    judged_runs, judging_queue, judgments,
};
use crate::{
    drivers::Connection,
    error::DbError,
    sql::{self, Cell, Sql},
};

/// How many statements are sent together at most: a database plans them as one.
const TOGETHER: usize = 100;

#[async_trait]
impl Lifecycle for SqlxStore {
    async fn erase_run(&self, write: Write<'_>, run: &RunId) -> StoreResult<()> {
        let steps = Steps::new(self, write);
        let run = run.as_str().to_owned();
        let erased = self.write(steps.lock(), move |connection| {
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

    async fn erase_participant(
        &self,
        write: Write<'_>,
        participant: &ParticipantId,
        pseudonym: &ParticipantId,
    ) -> StoreResult<u64> {
        let steps = Steps::new(self, write);
        let tenant = write.tenant.clone();
        let (participant, pseudonym) = (participant.clone(), pseudonym.clone());
        let erased = self.write(steps.lock(), move |connection| {
            Box::pin(async move {
                let erasing = (&tenant, &participant, &pseudonym);
                steps.erase_participant(connection, erasing).await
            })
        });
        let changed = erased.await?;
        self.database.settle().await;
        Ok(changed)
    }

    async fn purge(
        &self,
        write: Write<'_>,
        before: Timestamp,
        from: Option<&PurgePosition>,
        limit: NonZeroU16,
    ) -> StoreResult<Purged> {
        let steps = Steps::new(self, write);
        let from = from.cloned();
        let purged = self.write(steps.lock(), move |connection| {
            Box::pin(async move { steps.purge(connection, before, from, limit).await })
        });
        let purged = purged.await?;
        self.database.settle().await;
        Ok(purged)
    }

    async fn judged_runs(
        &self,
        tenant: &TenantId,
        filter: &JudgedRunFilter,
        keyset: &Keyset,
    ) -> StoreResult<Slice<JudgedRun>> {
        let dialect = self.database.dialect();
        let sql = judged_runs::list(&self.tables, dialect, tenant, filter, keyset);
        let rows = self.database.read(&sql).await?;
        Ok(judged_runs::slice(tenant, rows, keyset.limit)?)
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
        let paths = &self.tables.run_paths;
        let delete = format!("DELETE FROM {paths} WHERE tenant = ? AND run = ?");
        let update = format!(
            "UPDATE {judgments} SET reason = NULL, correction = NULL, item_value = NULL \
             WHERE tenant = ? AND run = ?"
        );
        let both = [about(delete), about(update)];
        connection.together(&both).await?;
        let tellings = &self.tables.tellings;
        let update =
            format!("UPDATE {tellings} SET agent_version = NULL WHERE tenant = ? AND run = ?");
        connection.execute(&about(update)).await?;
        self.erase_item(connection, run).await?;
        self.erase_outcomes(connection, run).await
    }

    /// Clears people's words in the kept outcomes about the run.
    async fn erase_outcomes(
        &self,
        connection: &mut dyn Connection,
        run: &str,
    ) -> Result<(), DbError> {
        let table = &self.tables.operations;
        let select = format!("SELECT id, kind, outcome FROM {table} WHERE tenant = ? AND run = ?");
        let select = Sql::new(select).bind(&*self.tenant).bind(run);
        let mut all = Vec::new();
        for mut row in connection.fetch(&select).await? {
            let (id, kind) = (row.text()?, row.text()?);
            let mut outcome = sql::from_json(row.text()?)?;
            match &*kind {
                judgments::RECORD => clear(&mut outcome, JUDGMENT, &["reason", "correction"]),
                judging_queue::DISMISS => clear(&mut outcome, ITEM, &["reason"]),
                _ => continue,
            }
            all.push(self.rewritten(&id, &outcome));
        }
        each_its_row(connection, &all).await
    }

    /// The statement that rewrites a kept outcome.
    fn rewritten(&self, id: &str, outcome: &[Cell]) -> Sql {
        let table = &self.tables.operations;
        let update = format!("UPDATE {table} SET outcome = ? WHERE tenant = ? AND id = ?");
        let update = Sql::new(update).bind(sql::to_json(outcome));
        update.bind(&*self.tenant).bind(id)
    }

    async fn erase_participant(
        &self,
        connection: &mut dyn Connection,
        erasing: Erasing<'_>,
    ) -> Result<u64, DbError> {
        let (_, participant, pseudonym) = erasing;
        let update = erase_dead(&self.tables, &self.tenant, participant, pseudonym);
        let dead = connection.execute(&update).await?;
        let live = self.erase_live(connection, erasing).await?;
        self.erase_in_outcomes(connection, erasing).await?;
        Ok(dead + live)
    }

    /// The same for live judgments, which are known by whom they are of, too.
    async fn erase_live(
        &self,
        connection: &mut dyn Connection,
        (tenant, participant, pseudonym): Erasing<'_>,
    ) -> Result<u64, DbError> {
        let table = &self.tables.judgments;
        let select = live_of(&self.tables, &self.tenant, participant);
        let mut all = Vec::new();
        for mut row in connection.fetch(&select).await? {
            let mut judgment = codec::judgment(tenant, &mut row)?;
            judgment.participant = Some(pseudonym.clone());
            let update = Sql::new(format!(
                "UPDATE {table} SET reason = NULL, correction = NULL, participant = ?, \
                 live_key = ? WHERE tenant = ? AND id = ?"
            ))
            .bind(pseudonym.as_str())
            .bind(live_key(&judgment))
            .bind(&*self.tenant)
            .bind(judgment.id.as_str());
            all.push(update);
        }
        each_its_row(connection, &all).await?;
        Ok(all.len() as u64)
    }

    /// The same in the kept outcomes.
    async fn erase_in_outcomes(
        &self,
        connection: &mut dyn Connection,
        (_, participant, pseudonym): Erasing<'_>,
    ) -> Result<(), DbError> {
        let table = &self.tables.operations;
        let select = outcomes_of(&self.tables, &self.tenant, participant);
        let mut all = Vec::new();
        for mut row in connection.fetch(&select).await? {
            let id = row.text()?;
            let mut outcome = sql::from_json(row.text()?)?;
            clear(&mut outcome, JUDGMENT, &["reason", "correction"]);
            set(
                &mut outcome,
                JUDGMENT,
                "participant",
                pseudonym.as_str().into(),
            );
            all.push(self.rewritten(&id, &outcome));
        }
        each_its_row(connection, &all).await?;
        let update = Sql::new(format!(
            "UPDATE {table} SET participant = ? WHERE tenant = ? AND participant = ?"
        ));
        let update = update.bind(pseudonym.as_str()).bind(&*self.tenant);
        connection
            .execute(&update.bind(participant.as_str()))
            .await?;
        Ok(())
    }
}

/// Runs any number of statements that change a row of their own each.
pub(super) async fn each_its_row(
    connection: &mut dyn Connection,
    all: &[Sql],
) -> Result<(), DbError> {
    for some in all.chunks(TOGETHER) {
        connection.together(some).await?;
    }
    Ok(())
}

/// The tenant, whom to erase, and what to put in their id's place.
type Erasing<'a> = (&'a TenantId, &'a ParticipantId, &'a ParticipantId);

/// The statement that erases a participant in dead judgments.
pub(super) fn erase_dead(
    tables: &Tables,
    tenant: &str,
    participant: &ParticipantId,
    pseudonym: &ParticipantId,
) -> Sql {
    let sql = Sql::new(format!(
        "UPDATE {} SET reason = NULL, correction = NULL, participant = ? \
         WHERE tenant = ? AND participant = ? AND unregistered_at IS NOT NULL",
        tables.judgments
    ));
    let sql = sql.bind(pseudonym.as_str()).bind(tenant);
    sql.bind(participant.as_str())
}

/// The statement of a participant's live judgments.
pub(super) fn live_of(tables: &Tables, tenant: &str, participant: &ParticipantId) -> Sql {
    let sql = Sql::new(format!(
        "SELECT {JUDGMENT} FROM {} \
         WHERE tenant = ? AND participant = ? AND unregistered_at IS NULL",
        tables.judgments
    ));
    sql.bind(tenant).bind(participant.as_str())
}

/// The statement of the kept outcomes that tell of a participant.
pub(super) fn outcomes_of(tables: &Tables, tenant: &str, participant: &ParticipantId) -> Sql {
    let sql = Sql::new(format!(
        "SELECT id, outcome FROM {} WHERE tenant = ? AND participant = ?",
        tables.operations
    ));
    sql.bind(tenant).bind(participant.as_str())
}

/// Clears cells of an outcome that begins with these columns.
fn clear(outcome: &mut [Cell], columns: &str, cleared: &[&str]) {
    for column in cleared {
        set(outcome, columns, column, Cell::Null);
    }
}

fn set(outcome: &mut [Cell], columns: &str, column: &str, value: Cell) {
    let place = columns.split(", ").position(|each| each == column);
    if let Some(cell) = place.and_then(|place| outcome.get_mut(place)) {
        *cell = value;
    }
}
