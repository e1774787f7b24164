//! The judging queue.

use std::collections::{BTreeSet, HashMap};

use async_trait::async_trait;
use kindgi_core::{
    Timestamp,
    model::{
        DismissReason, EndedRun, PrincipalRef, ProjectId, QueueItem, RuleId, RunId, TakenBy,
        TenantId,
    },
    rules::queue_state::{dismissed, queued, reopened},
    store::{
        Applied, Candidate, ItemMoved, JudgingQueueStore, Keyset, QueueFilter, QueueSlice,
        RuleResults, StoreResult, Taken, Write,
    },
};

use super::{
    CHUNK, SqlxStore, Steps, Tables,
    codec::queue::{self, ITEM, item_cells},
    marks,
    operations::About,
    queue_list, receipts, results,
};
use crate::{
    drivers::Connection,
    error::DbError,
    sql::{Cell, Sql},
};

/// What operations keep the outcome of dismissing under.
pub(super) const DISMISS: &str = "dismiss";
pub(super) const REOPEN: &str = "reopen";

#[async_trait]
impl JudgingQueueStore for SqlxStore {
    async fn take(
        &self,
        write: Write<'_>,
        run: &EndedRun,
        rules: u64,
        candidates: &[Candidate],
    ) -> StoreResult<Taken> {
        let steps = Steps::new(self, write);
        let (run, candidates) = (run.clone(), candidates.to_vec());
        let taken = self.write(steps.lock(), move |connection| {
            Box::pin(async move { steps.take(connection, &run, rules, candidates).await })
        });
        Ok(taken.await?)
    }

    async fn dismiss(
        &self,
        write: Write<'_>,
        project: &ProjectId,
        run: &RunId,
        by: &PrincipalRef,
        reason: Option<&DismissReason>,
    ) -> StoreResult<Applied<ItemMoved>> {
        let steps = Steps::new(self, write);
        let (project, run) = (project.clone(), run.clone());
        let (by, reason) = (by.clone(), reason.cloned());
        let dismissed = self.write(steps.lock(), move |connection| {
            Box::pin(async move {
                let reason = reason.as_ref();
                steps.dismiss(connection, &project, &run, &by, reason).await
            })
        });
        Ok(dismissed.await?)
    }

    async fn reopen(
        &self,
        write: Write<'_>,
        project: &ProjectId,
        run: &RunId,
        by: &PrincipalRef,
    ) -> StoreResult<Applied<ItemMoved>> {
        let steps = Steps::new(self, write);
        let (project, run, by) = (project.clone(), run.clone(), by.clone());
        let reopened = self.write(steps.lock(), move |connection| {
            Box::pin(async move { steps.reopen(connection, &project, &run, &by).await })
        });
        Ok(reopened.await?)
    }

    async fn queue_item(
        &self,
        tenant: &TenantId,
        project: &ProjectId,
        run: &RunId,
    ) -> StoreResult<Option<QueueItem>> {
        let table = &self.tables.queue_items;
        let sql = format!("SELECT {ITEM} FROM {table} WHERE tenant = ? AND run = ?");
        let sql = Sql::new(sql).bind(tenant.as_str()).bind(run.as_str());
        let row = self.database.read(&sql).await?.into_iter().next();
        let item = row.map(|mut row| queue::item(&mut row)).transpose()?;
        Ok(item.filter(|item| item.project == *project))
    }

    async fn queue(
        &self,
        tenant: &TenantId,
        project: &ProjectId,
        filter: &QueueFilter,
        keyset: Option<&Keyset>,
    ) -> StoreResult<QueueSlice> {
        let list = queue_list::List {
            tables: &self.tables,
            dialect: self.database.dialect(),
            tenant,
            project,
            filter,
        };
        let rows = self.database.read(&list.statement(keyset)).await?;
        Ok(queue_list::slice(rows, keyset)?)
    }

    async fn rule_results(
        &self,
        tenant: &TenantId,
        project: &ProjectId,
        rule: &RuleId,
        since: Option<Timestamp>,
    ) -> StoreResult<Option<RuleResults>> {
        let dialect = self.database.dialect();
        let sql = results::statement(&self.tables, dialect, tenant, project, rule, since);
        let rows = self.database.read(&sql).await?;
        Ok(results::read(rows)?)
    }
}

impl Steps {
    async fn take(
        &self,
        connection: &mut dyn Connection,
        run: &EndedRun,
        rules: u64,
        candidates: Vec<Candidate>,
    ) -> Result<Taken, DbError> {
        if let Some(refused) = self.refuses(connection, run, rules).await? {
            return Ok(refused);
        }
        let open = self.open_items(connection, &candidates).await?;
        let has_room = |candidate: &Candidate| {
            let open = open.get(candidate.rule.as_str()).copied();
            candidate
                .max_open
                .is_none_or(|max| open.unwrap_or_default() < i64::from(max.get()))
        };
        let (takers, skippers): (Vec<_>, Vec<_>) = candidates.into_iter().partition(has_room);
        let taken_by = |taker: Candidate| TakenBy {
            rule: taker.rule,
            version: taker.version,
            wants: taker.wants,
        };
        let taken_by: Vec<_> = takers.into_iter().map(taken_by).collect();
        let mut all = self.told(run, &taken_by, &skippers);
        if taken_by.is_empty() {
            connection.together(&all).await?;
            return Ok(Taken::AllSkipped);
        }
        let live = self.live_of(connection, run.id.as_str()).await?;
        let item = queued(run, taken_by, &live, self.now);
        all.extend(self.added_item(&item));
        connection.together(&all).await?;
        Ok(Taken::Queued(Box::new(item)))
    }

    /// Why a run isn't told to any rule.
    async fn refuses(
        &self,
        connection: &mut dyn Connection,
        run: &EndedRun,
        rules: u64,
    ) -> Result<Option<Taken>, DbError> {
        let sql = standing(&self.tables, &self.tenant, run);
        let row = connection.fetch_first(&sql).await?;
        let mut row = row.ok_or_else(|| DbError::corrupt("no row"))?;
        let erased = row.opt_int()?.unwrap_or_default() != 0;
        let known = row.opt_int()?.unwrap_or_default() != 0;
        let purged_before = row.opt_int()?;
        let revision = row.opt_int()?.unwrap_or_default();
        Ok(if erased {
            Some(Taken::RunErased)
        } else if known {
            Some(Taken::Known)
        } else if Some(run.ended_at.as_unix_millis()) < purged_before {
            Some(Taken::BeforePurge)
        } else if u64::try_from(revision) != Ok(rules) {
            Some(Taken::RulesChanged)
        } else {
            None
        })
    }

    /// How many open items those rules have that may have so many only.
    async fn open_items(
        &self,
        connection: &mut dyn Connection,
        candidates: &[Candidate],
    ) -> Result<HashMap<String, i64>, DbError> {
        let capped = candidates.iter().filter(|it| it.max_open.is_some());
        let capped: Vec<_> = capped.map(|it| Cell::from(it.rule.as_str())).collect();
        let mut open = HashMap::new();
        for rules in capped.chunks(CHUNK) {
            let select = Sql::new(format!(
                "SELECT id, open_items FROM {} WHERE tenant = ? AND id IN ({})",
                self.tables.rules,
                marks(rules.len()),
            ));
            let select = select.bind(&*self.tenant).bind_all(rules.to_vec());
            for mut row in connection.fetch(&select).await? {
                open.insert(row.text()?, row.int()?);
            }
        }
        Ok(open)
    }

    /// The statements that keep which rules took a run and which skipped it.
    fn told(&self, run: &EndedRun, taken_by: &[TakenBy], skipped_by: &[Candidate]) -> Vec<Sql> {
        let mut wanted = BTreeSet::new();
        let taken = taken_by.iter().map(|by| {
            let wants = by.wants.as_ref().filter(|class| wanted.insert(*class));
            let wants = wants.map(|class| class.as_str());
            (by.rule.as_str(), by.version, false, wants)
        });
        let skipped = skipped_by
            .iter()
            .map(|by| (by.rule.as_str(), by.version, true, None));
        let told: Vec<_> = taken.chain(skipped).collect();
        let version = run.subject.agent().map(|_| run.subject.version().as_str());
        let inserts = told.chunks(CHUNK).map(|rows| {
            let table = &self.tables.tellings;
            let values = vec!["(?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"; rows.len()].join(", ");
            let mut insert = Sql::new(format!(
                "INSERT INTO {table} (tenant, run, project, told_at, age, agent_version, \
                 rule, version, skipped, wants) VALUES {values}"
            ));
            for (rule, rule_version, skipped, wants) in rows {
                insert = insert
                    .bind(&*self.tenant)
                    .bind(run.id.as_str())
                    .bind(run.project.as_str())
                    .bind(self.now.as_unix_millis())
                    .bind(self.now.max(run.ended_at).as_unix_millis())
                    .bind(version)
                    .bind(*rule)
                    .bind(i64::from(*rule_version))
                    .bind(*skipped)
                    .bind(*wants);
            }
            insert
        });
        inserts.collect()
    }

    async fn dismiss(
        &self,
        connection: &mut dyn Connection,
        project: &ProjectId,
        run: &RunId,
        by: &PrincipalRef,
        reason: Option<&DismissReason>,
    ) -> Result<Applied<ItemMoved>, DbError> {
        if let Some(known) = self.known_move(connection, DISMISS).await? {
            return Ok(known);
        }
        let found = self.item_in(connection, project, run).await?;
        let Some(item) = found else {
            return Ok(Applied::Done(ItemMoved::Missing));
        };
        let next = dismissed(item.clone(), by, reason, self.now);
        self.moved(connection, DISMISS, item, next).await
    }

    async fn reopen(
        &self,
        connection: &mut dyn Connection,
        project: &ProjectId,
        run: &RunId,
        by: &PrincipalRef,
    ) -> Result<Applied<ItemMoved>, DbError> {
        if let Some(known) = self.known_move(connection, REOPEN).await? {
            return Ok(known);
        }
        let found = self.item_in(connection, project, run).await?;
        let Some(item) = found else {
            return Ok(Applied::Done(ItemMoved::Missing));
        };
        let live = self.live_of(connection, run.as_str()).await?;
        let next = reopened(item.clone(), by, &live);
        self.moved(connection, REOPEN, item, next).await
    }

    /// What to answer if the operation took effect before.
    async fn known_move(
        &self,
        connection: &mut dyn Connection,
        kind: &'static str,
    ) -> Result<Option<Applied<ItemMoved>>, DbError> {
        Ok(match self.known(connection, kind).await? {
            None => None,
            Some(Applied::Replayed(mut row)) => Some(Applied::Replayed(receipts::moved(&mut row)?)),
            Some(_) => Some(Applied::OtherBody),
        })
    }

    async fn item_in(
        &self,
        connection: &mut dyn Connection,
        project: &ProjectId,
        run: &RunId,
    ) -> Result<Option<QueueItem>, DbError> {
        let item = self.item_of(connection, run.as_str()).await?;
        Ok(item.filter(|item| item.project == *project))
    }

    /// Moves an item, unless it can't, and keeps the operation.
    async fn moved(
        &self,
        connection: &mut dyn Connection,
        kind: &'static str,
        item: QueueItem,
        next: Option<QueueItem>,
    ) -> Result<Applied<ItemMoved>, DbError> {
        let Some(next) = next else {
            return Ok(Applied::Done(ItemMoved::Not(item.state)));
        };
        let about = About {
            run: Some(next.run.as_str()),
            participant: None,
        };
        let mut all = self.moved_item(&item, &next);
        all.extend(self.kept_as(kind, &item_cells(&next), about));
        connection.together(&all).await?;
        Ok(Applied::Done(ItemMoved::Ok(Box::new(next))))
    }
}

/// The statement of what may stand against telling a run: whether it is erased, how many rules
/// were told of it, what was purged, and the revision of the project's rules.
pub(super) fn standing(tables: &Tables, tenant: &str, run: &EndedRun) -> Sql {
    let sql = format!(
        "SELECT (SELECT erased FROM {} WHERE tenant = ? AND run = ?), \
         (SELECT COUNT(*) FROM {} WHERE tenant = ? AND run = ?), \
         (SELECT purged_before FROM {} WHERE tenant = ?), \
         (SELECT revision FROM {} WHERE tenant = ? AND project = ?)",
        tables.runs, tables.tellings, tables.purges, tables.project_rules,
    );
    let id = run.id.as_str();
    let sql = Sql::new(sql).bind(tenant).bind(id).bind(tenant).bind(id);
    let sql = sql.bind(tenant);
    sql.bind(tenant).bind(run.project.as_str())
}
