//! Judgments, and the copies of their runs.

use async_trait::async_trait;
use kindgi_core::{
    Timestamp,
    model::{
        Judgment, JudgmentId, JudgmentWithCopies, ProjectId, QueueItem, Readable, RunContext,
        RunCopy, TenantId,
    },
    rules::queue_state::{LiveJudgments, settled},
    store::{
        Applied, ClassAt, JudgmentFilter, JudgmentRemoved, JudgmentStore, Keyset, NewJudgment,
        Recorded, Slice, StoreResult, Write,
    },
};

use super::{
    SqlxStore, Steps, Tables,
    codec::{
        self, COPY, JUDGMENT, copy_cells, judgment_cells, live_key, parse,
        queue::{self, ITEM},
    },
    columns_of, is_readable, marks, newest_first, only,
    operations::{About, KEPT},
    receipts, run_paths, slice,
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
        let recorded = self.write(steps.lock(), move |connection| {
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
        let removed = self.write(steps.lock(), move |connection| {
            Box::pin(async move { steps.remove(connection, &id).await })
        });
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

/// The statement of a list. Every filter has an index of its own that gives the list's order, and one
/// with the project before that, for a list of one project; of several filters the one that leaves the
/// fewest rows, as a rule, is the one whose index is used.
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
        &[of("verdict", f.verdict.map(|verdict| verdict.as_str()))],
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
    if let Some(project) = only(readable) {
        // All of a run is of one project.
        let unindexed = f.run.as_ref().map_or("", |_| unindexed);
        sql = sql.and_is(&format!("{unindexed}project"), Some(project));
    } else {
        // An index of several gives no order.
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

fn with_copies(tenant: &TenantId, mut row: Row) -> Result<JudgmentWithCopies, DbError> {
    let judgment = codec::judgment(tenant, &mut row)?;
    Ok(JudgmentWithCopies {
        run: codec::copy(judgment.run.clone(), &mut row)?,
        item_value: row.opt_text()?.map(codec::json),
        judgment,
    })
}

impl Steps {
    /// One look at all that the record depends on, and then its parts together: a constant number
    /// of statements.
    async fn record(
        &self,
        connection: &mut dyn Connection,
        new: NewJudgment,
        copy: Option<RunCopy>,
        class: Option<(String, u64)>,
    ) -> Result<Applied<Recorded>, DbError> {
        let mut judgment = new.judgment;
        let found = match self.look(connection, &judgment, class).await? {
            Look::Known(Applied::Replayed(mut row)) => {
                let recorded = receipts::recorded(&judgment.tenant, &mut row)?;
                return Ok(Applied::Replayed(recorded));
            }
            Look::Known(_) => return Ok(Applied::OtherBody),
            Look::New(found) => found,
        };
        let mut all = Vec::new();
        let refused = match found.copy {
            CopyOf::Erased => Some(Recorded::RunErased),
            _ if !found.class_is_as_named => Some(Recorded::ClassChanged),
            CopyOf::Kept => None,
            CopyOf::None => match copy {
                None => Some(Recorded::NeedsCopy),
                Some(copy) => {
                    all.push(self.kept_copy(&judgment.project, &copy));
                    let paths = run_paths::rows(&self.tenant, &judgment.project, &copy);
                    all.extend(run_paths::kept(&self.tables.run_paths, paths));
                    None
                }
            },
        };
        if let Some(refused) = refused {
            return Ok(Applied::Done(refused));
        }
        let superseded = found.live;
        if let Some((id, created_at)) = &superseded {
            judgment.created_at = judgment.created_at.max(*created_at);
            let at = judgment.created_at.as_unix_millis();
            let successor = judgment.id.as_str().into();
            // Before the new one, since both have the same live key.
            self.end(connection, id.as_str(), at, successor).await?;
        }
        if let Some(item) = found.item {
            let mut live = self.live_of(connection, judgment.run.as_str()).await?;
            count_in(&mut live, &judgment);
            let next = settled(item.clone(), &live);
            all.extend(self.moved_item(&item, &next));
        }
        let superseded = superseded.map(|(id, _)| id);
        all.push(self.inserted(&judgment, new.item_value.map(|value| value.to_string())));
        let outcome = receipts::recorded_cells(&judgment, superseded.as_ref());
        let about = receipts::of_judgment(&judgment);
        all.extend(self.kept_as(RECORD, &outcome, about));
        connection.together(&all).await?;
        Ok(Applied::Done(Recorded::Ok {
            judgment: Box::new(judgment),
            superseded,
        }))
    }

    /// Looks at what is there: what is kept of the operation, or else the run's copy and item, the
    /// live judgment of the same key, and the class.
    async fn look(
        &self,
        connection: &mut dyn Connection,
        judgment: &Judgment,
        class: Option<(String, u64)>,
    ) -> Result<Look, DbError> {
        let sql = self.at_a_look(judgment, class.as_ref());
        let row = connection.fetch_first(&sql).await?;
        let mut row = row.ok_or_else(|| DbError::corrupt("no row"))?;
        if let Some(known) = self.known_in(&mut row, RECORD)? {
            return Ok(Look::Known(known));
        }
        let copy = match (row.opt_int()?, row.opt_int()?) {
            (None, _) | (Some(0), None) => CopyOf::None,
            (Some(0), Some(_)) => CopyOf::Kept,
            _ => CopyOf::Erased,
        };
        let revision = row.opt_int()?.map(u64::try_from);
        let class_is_as_named = class.is_none_or(|(_, at)| revision == Some(Ok(at)));
        let live = match (row.opt_text()?, row.opt_int()?) {
            (Some(id), Some(created_at)) => Some((parse(id)?, codec::time(created_at)?)),
            _ => None,
        };
        let is_queued = row.opt_int()?.is_some();
        let item = is_queued.then(|| queue::item(&mut row)).transpose()?;
        Ok(Look::New(Box::new(Found {
            copy,
            class_is_as_named,
            live,
            item,
        })))
    }

    /// The statement of [`look`](Self::look), one row always.
    pub(super) fn at_a_look(&self, judgment: &Judgment, class: Option<&(String, u64)>) -> Sql {
        let Tables {
            judgments,
            runs,
            classes,
            queue_items,
            operations,
            ..
        } = &*self.tables;
        let run = judgment.run.as_str();
        let sql = Sql::new(format!(
            "SELECT {}, r.erased, r.captured_at, c.revision, j.id, j.created_at, q.added_at, {} \
             FROM (SELECT 1 AS one) x LEFT JOIN {operations} o ON ",
            columns_of("o", KEPT),
            columns_of("q", ITEM),
        ));
        let sql = self.is_kept(sql);
        let sql = sql.push(&format!(
            " LEFT JOIN {runs} r ON r.tenant = ? AND r.run = ? \
             LEFT JOIN {classes} c ON c.tenant = ? AND c.id = ? \
             LEFT JOIN {judgments} j ON j.live_key = ? \
             LEFT JOIN {queue_items} q ON q.tenant = ? AND q.run = ?"
        ));
        let sql = sql.bind(&*self.tenant).bind(run);
        let class = class.map_or("", |(id, _)| &**id);
        let sql = sql.bind(&*self.tenant).bind(class);
        let sql = sql.bind(live_key(judgment));
        sql.bind(&*self.tenant).bind(run)
    }

    /// The statement that keeps a run's copy.
    fn kept_copy(&self, project: &ProjectId, copy: &RunCopy) -> Sql {
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
        sql.bind_all(cells)
    }

    /// Ends a live judgment.
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

    /// The statement that adds a live judgment.
    fn inserted(&self, judgment: &Judgment, item_value: Option<String>) -> Sql {
        let table = &self.tables.judgments;
        let cells = judgment_cells(judgment);
        let sql = format!(
            "INSERT INTO {table} (tenant, live_key, item_value, {JUDGMENT}) \
             VALUES (?, ?, ?, {})",
            marks(cells.len())
        );
        let sql = Sql::new(sql).bind(&*self.tenant).bind(live_key(judgment));
        sql.bind(item_value).bind_all(cells)
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
        let select = self.live(id);
        let Some(mut row) = connection.fetch_first(&select).await? else {
            return Ok(Applied::Done(JudgmentRemoved::NotLive));
        };
        let at = self.now.as_unix_millis().max(row.int()?);
        let run = row.text()?;
        let is_queued = row.opt_int()?.is_some();
        let item = is_queued.then(|| queue::item(&mut row)).transpose()?;
        self.end(connection, id, at, Cell::Null).await?;
        let mut all = Vec::new();
        if let Some(item) = item {
            let live = self.live_of(connection, &run).await?;
            let next = settled(item.clone(), &live);
            all.extend(self.moved_item(&item, &next));
        }
        all.extend(self.kept_as(REMOVE, &[], About::default()));
        connection.together(&all).await?;
        Ok(Applied::Done(JudgmentRemoved::Ok))
    }

    /// The statement of a live judgment, with its run's item.
    pub(super) fn live(&self, id: &str) -> Sql {
        let Tables {
            judgments,
            queue_items,
            ..
        } = &*self.tables;
        let sql = format!(
            "SELECT j.created_at, j.run, q.added_at, {} FROM {judgments} j \
             LEFT JOIN {queue_items} q ON q.tenant = j.tenant AND q.run = j.run \
             WHERE j.tenant = ? AND j.id = ? AND j.unregistered_at IS NULL",
            columns_of("q", ITEM)
        );
        Sql::new(sql).bind(&*self.tenant).bind(id)
    }
}

/// Counts a judgment in among the others of its run.
fn count_in(live: &mut Vec<LiveJudgments>, judgment: &Judgment) {
    match live.iter_mut().find(|of| of.class == judgment.class) {
        Some(of) => {
            of.judgments += 1;
            of.first_at = of.first_at.min(judgment.created_at);
        }
        None => live.push(LiveJudgments {
            class: judgment.class.clone(),
            judgments: 1,
            first_at: judgment.created_at,
        }),
    }
}

/// What a look finds before a record.
enum Look {
    /// The operation took effect before, with this body or another.
    Known(Applied<Row>),
    New(Box<Found>),
}

struct Found {
    copy: CopyOf,
    class_is_as_named: bool,
    /// The live judgment of the same key, and when it was recorded.
    live: Option<(JudgmentId, Timestamp)>,
    item: Option<QueueItem>,
}

/// What is kept of a run.
enum CopyOf {
    Kept,
    Erased,
    None,
}
