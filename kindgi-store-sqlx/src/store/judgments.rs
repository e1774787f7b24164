//! Judgments, and the copies of their runs.

use async_trait::async_trait;
use kindgi_core::{
    model::{
        Judgment, JudgmentId, JudgmentWithCopies, ProjectId, Readable, RunContext, RunCopy,
        TenantId,
    },
    store::{
        Applied, ClassAt, JudgmentFilter, JudgmentRemoved, JudgmentStore, Keyset, NewJudgment,
        Recorded, Slice, StoreResult, Write,
    },
};

use super::{
    SqlxStore, Steps,
    codec::{self, COPY, JUDGMENT, copy_cells, judgment_cells, live_key, parse},
    columns_of, is_readable, marks, newest_first,
    operations::About,
    receipts, slice,
};
use crate::{
    dialect::Dialect,
    drivers::Connection,
    error::DbError,
    sql::{Cell, Row, Sql},
};

/// What operations keep the outcome of recording under.
pub(super) const RECORD: &str = "record";
pub(super) const REMOVE: &str = "remove";

#[async_trait]
impl JudgmentStore for SqlxStore {
    async fn record(
        &self,
        write: Write<'_>,
        new: &NewJudgment,
        copy: Option<&RunCopy>,
        class: Option<ClassAt<'_>>,
    ) -> StoreResult<Applied<Recorded>> {
        let steps = Steps::new(self, write);
        let new = new.clone();
        let copy = copy.cloned();
        let class = class.map(|class| (class.id.as_str().to_owned(), class.revision));
        let recorded = self.write(move |connection| {
            Box::pin(async move { steps.record(connection, new, copy, class).await })
        });
        Ok(recorded.await?)
    }

    async fn remove(
        &self,
        write: Write<'_>,
        id: &JudgmentId,
    ) -> StoreResult<Applied<JudgmentRemoved>> {
        let steps = Steps::new(self, write);
        let id = id.as_str().to_owned();
        let removed = self
            .write(move |connection| Box::pin(async move { steps.remove(connection, &id).await }));
        Ok(removed.await?)
    }

    async fn judgment(
        &self,
        tenant: &TenantId,
        id: &JudgmentId,
    ) -> StoreResult<Option<JudgmentWithCopies>> {
        let sql = format!(
            "SELECT {}, {}, j.item_value FROM {} j JOIN {} r \
             ON r.tenant = j.tenant AND r.run = j.run WHERE j.tenant = ? AND j.id = ?",
            columns_of("j", JUDGMENT),
            columns_of("r", COPY),
            self.tables.judgments,
            self.tables.runs,
        );
        let sql = Sql::new(sql).bind(tenant.as_str()).bind(id.as_str());
        let row = self.database.read(&sql).await?.into_iter().next();
        Ok(row.map(|row| with_copies(tenant, row)).transpose()?)
    }

    async fn judgments(
        &self,
        tenant: &TenantId,
        filter: &JudgmentFilter,
        readable: &Readable,
        keyset: &Keyset,
    ) -> StoreResult<Slice<Judgment>> {
        let (table, dialect) = (&self.tables.judgments, self.database.dialect());
        let sql = list(table, dialect, tenant, filter, readable, keyset);
        let rows = self.database.read(&sql).await?;
        Ok(slice(rows, keyset.limit, |row| {
            codec::judgment(tenant, row)
        })?)
    }
}

/// The statement of a list. Every filter has an index of its own that gives the list's order; of
/// several filters the one that leaves the fewest rows, as a rule, is the one whose index is used.
pub(super) fn list(
    table: &str,
    dialect: &Dialect,
    tenant: &TenantId,
    filter: &JudgmentFilter,
    readable: &Readable,
    keyset: &Keyset,
) -> Sql {
    let f = filter;
    let kind = match (
        f.agent.is_some() || f.agent_version.is_some(),
        f.flow.is_some(),
    ) {
        (false, false) => None,
        (true, false) => Some("agent"),
        (false, true) => Some("flow"),
        // Nothing is both.
        (true, true) => Some("neither"),
    };
    let subject = f
        .agent
        .as_ref()
        .map(|a| a.as_str())
        .or(f.flow.as_ref().map(|f| f.as_str()));
    let of = |column, value| -> (&str, Option<&str>) { (column, value) };
    // What leaves fewest rows first. Columns of one group are one index's.
    let groups: [&[_]; 5] = [
        &[of("run", f.run.as_ref().map(|run| run.as_str()))],
        &[of(
            "participant",
            f.participant.as_ref().map(|p| p.as_str()),
        )],
        &[of("class", f.class.as_ref().map(|class| class.as_str()))],
        &[
            of("subject_id", subject),
            of("subject_kind", kind),
            of(
                "version",
                f.agent_version.as_ref().map(|version| version.as_str()),
            ),
        ],
        // Of one project; an index of several gives no order.
        &[of("project", only(readable))],
    ];
    let mut sql = Sql::new(format!(
        "SELECT {JUDGMENT} FROM {table} WHERE tenant = ? AND unregistered_at IS NULL"
    ))
    .bind(tenant.as_str());
    let mut unindexed = "";
    for group in groups {
        for (column, value) in group {
            sql = sql.and_is(&format!("{unindexed}{column}"), *value);
        }
        if group.iter().any(|(_, value)| value.is_some()) {
            unindexed = dialect.unindexed;
        }
    }
    let verdict = f.verdict.map(|verdict| verdict.as_str());
    sql = sql.and_is(&format!("{unindexed}verdict"), verdict);
    if only(readable).is_none() {
        let project = format!("{}project", dialect.unindexed);
        if let Some(readable) = is_readable(&project, readable) {
            sql = sql
                .push(" AND ")
                .push(&readable.text)
                .bind_all(readable.args);
        }
    }
    newest_first(sql, ("created_at", "id"), keyset)
}

/// The one project that is readable, if it is only one.
fn only(readable: &Readable) -> Option<&str> {
    match readable {
        Readable::Only(projects) if projects.len() == 1 => {
            projects.first().map(|project| project.as_str())
        }
        _ => None,
    }
}

fn with_copies(tenant: &TenantId, mut row: Row) -> Result<JudgmentWithCopies, DbError> {
    let judgment = codec::judgment(tenant, &mut row)?;
    Ok(JudgmentWithCopies {
        run: codec::copy(judgment.run.clone(), &mut row)?,
        item_value: row.opt_text()?.map(codec::json),
        judgment,
    })
}

impl Steps {
    async fn record(
        &self,
        connection: &mut dyn Connection,
        new: NewJudgment,
        copy: Option<RunCopy>,
        class: Option<(String, u64)>,
    ) -> Result<Applied<Recorded>, DbError> {
        let mut judgment = new.judgment;
        match self.known(connection, RECORD).await? {
            Some(Applied::Replayed(mut row)) => {
                let recorded = receipts::recorded(&judgment.tenant, &mut row)?;
                return Ok(Applied::Replayed(recorded));
            }
            Some(_) => return Ok(Applied::OtherBody),
            None => {}
        }
        let refused = match self.copy_of(connection, judgment.run.as_str()).await? {
            CopyOf::Erased => Some(Recorded::RunErased),
            _ if !self.class_is_at(connection, class).await? => Some(Recorded::ClassChanged),
            CopyOf::Kept => None,
            CopyOf::None => match copy {
                None => Some(Recorded::NeedsCopy),
                Some(copy) => {
                    self.keep_copy(connection, &judgment.project, &copy).await?;
                    None
                }
            },
        };
        if let Some(refused) = refused {
            return Ok(Applied::Done(refused));
        }
        let superseded = self.supersede(connection, &mut judgment).await?;
        self.insert(
            connection,
            &judgment,
            new.item_value.map(|value| value.to_string()),
        )
        .await?;
        self.settle(connection, judgment.run.as_str()).await?;
        let outcome = receipts::recorded_cells(&judgment, superseded.as_ref());
        let about = receipts::of_judgment(&judgment);
        self.keep(connection, RECORD, &outcome, about).await?;
        Ok(Applied::Done(Recorded::Ok {
            judgment: Box::new(judgment),
            superseded,
        }))
    }

    async fn copy_of(&self, connection: &mut dyn Connection, run: &str) -> Result<CopyOf, DbError> {
        let table = &self.tables.runs;
        let sql = format!("SELECT erased, captured_at FROM {table} WHERE tenant = ? AND run = ?");
        let sql = Sql::new(sql).bind(&*self.tenant).bind(run);
        let Some(mut row) = connection.fetch_first(&sql).await? else {
            return Ok(CopyOf::None);
        };
        Ok(match (row.int()?, row.opt_int()?) {
            (0, Some(_)) => CopyOf::Kept,
            (0, None) => CopyOf::None,
            _ => CopyOf::Erased,
        })
    }

    async fn keep_copy(
        &self,
        connection: &mut dyn Connection,
        project: &ProjectId,
        copy: &RunCopy,
    ) -> Result<(), DbError> {
        let table = &self.tables.runs;
        let cells = copy_cells(copy);
        let sql = format!(
            "INSERT INTO {table} (tenant, run, erased, project, replay, {COPY}) \
             VALUES (?, ?, 0, ?, ?, {})",
            marks(cells.len())
        );
        let replays = copy.context.as_ref().is_some_and(RunContext::is_of_replay);
        let sql = Sql::new(sql).bind(&*self.tenant).bind(copy.run.as_str());
        let sql = sql.bind(project.as_str()).bind(replays);
        connection.execute(&sql.bind_all(cells)).await?;
        Ok(())
    }

    /// Ends the live judgment of the same key, and moves the new one's beginning up to its.
    async fn supersede(
        &self,
        connection: &mut dyn Connection,
        judgment: &mut Judgment,
    ) -> Result<Option<JudgmentId>, DbError> {
        let table = &self.tables.judgments;
        let sql = format!("SELECT id, created_at FROM {table} WHERE live_key = ?");
        let sql = Sql::new(sql).bind(live_key(judgment));
        let Some(mut row) = connection.fetch_first(&sql).await? else {
            return Ok(None);
        };
        let id = row.text()?;
        let created_at = judgment.created_at.as_unix_millis().max(row.int()?);
        judgment.created_at = codec::time(created_at)?;
        let successor = judgment.id.as_str().into();
        self.end(connection, &id, created_at, successor).await?;
        Ok(Some(parse(id)?))
    }

    async fn end(
        &self,
        connection: &mut dyn Connection,
        id: &str,
        at: i64,
        successor: Cell,
    ) -> Result<(), DbError> {
        let table = &self.tables.judgments;
        let sql = format!(
            "UPDATE {table} SET unregistered_at = ?, superseded_by = ?, live_key = NULL \
             WHERE tenant = ? AND id = ?"
        );
        let sql = Sql::new(sql)
            .bind(at)
            .bind(successor)
            .bind(&*self.tenant)
            .bind(id);
        connection.execute(&sql).await?;
        Ok(())
    }

    async fn insert(
        &self,
        connection: &mut dyn Connection,
        judgment: &Judgment,
        item_value: Option<String>,
    ) -> Result<(), DbError> {
        let table = &self.tables.judgments;
        let cells = judgment_cells(judgment);
        let sql = format!(
            "INSERT INTO {table} (tenant, live_key, item_value, {JUDGMENT}) \
             VALUES (?, ?, ?, {})",
            marks(cells.len())
        );
        let sql = Sql::new(sql)
            .bind(&*self.tenant)
            .bind(live_key(judgment))
            .bind(item_value)
            .bind_all(cells);
        connection.execute(&sql).await?;
        Ok(())
    }

    async fn remove(
        &self,
        connection: &mut dyn Connection,
        id: &str,
    ) -> Result<Applied<JudgmentRemoved>, DbError> {
        match self.known(connection, REMOVE).await? {
            Some(Applied::Replayed(mut row)) => {
                return Ok(Applied::Replayed(receipts::removed(&mut row)?));
            }
            Some(_) => return Ok(Applied::OtherBody),
            None => {}
        }
        let table = &self.tables.judgments;
        let sql = format!(
            "SELECT created_at, run FROM {table} \
             WHERE tenant = ? AND id = ? AND unregistered_at IS NULL"
        );
        let sql = Sql::new(sql).bind(&*self.tenant).bind(id);
        let Some(mut row) = connection.fetch_first(&sql).await? else {
            return Ok(Applied::Done(JudgmentRemoved::NotLive));
        };
        let at = self.now.as_unix_millis().max(row.int()?);
        self.end(connection, id, at, Cell::Null).await?;
        self.settle(connection, &row.text()?).await?;
        self.keep(connection, REMOVE, &[], About::default()).await?;
        Ok(Applied::Done(JudgmentRemoved::Ok))
    }
}

/// What is kept of a run.
enum CopyOf {
    Kept,
    Erased,
    None,
}
