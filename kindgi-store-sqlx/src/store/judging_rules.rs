//! Judging rules and their versions.

use async_trait::async_trait;
use kindgi_core::{
    Timestamp,
    model::{JudgeClass, JudgingRule, PageSize, ProjectId, RuleId, TenantId},
    store::{
        Applied, ClassAt, EnabledRules, JudgingRuleStore, Keyset, ListedRule, RuleAppended,
        RuleStopped, Slice, StoreResult, Write,
    },
};

use super::{
    SqlxStore, Steps, Tables,
    codec::{self, CLASS, RULE, RULE_VERSION, queue::count, rule_cells, rule_version_cells},
    columns_of, limited, marks, oldest_first,
    operations::About,
    receipts, slice,
};
use crate::{
    drivers::Connection,
    error::DbError,
    sql::{Row, Sql},
};

pub(super) const APPEND: &str = "append-rule-version";
pub(super) const STOP: &str = "stop-rule";

#[async_trait]
impl JudgingRuleStore for SqlxStore {
    async fn append_rule_version(
        &self,
        write: Write<'_>,
        next: &JudgingRule,
        class: Option<ClassAt<'_>>,
    ) -> StoreResult<Applied<RuleAppended>> {
        let steps = Steps::new(self, write);
        let next = next.clone();
        let class = class.map(|class| (class.id.as_str().to_owned(), class.revision));
        let appended = self.write(steps.lock(), move |connection| {
            Box::pin(async move { steps.append_rule_version(connection, next, class).await })
        });
        Ok(appended.await?)
    }

    async fn stop_rule(
        &self,
        write: Write<'_>,
        project: &ProjectId,
        id: &RuleId,
    ) -> StoreResult<Applied<RuleStopped>> {
        let steps = Steps::new(self, write);
        let project = project.clone();
        let id = id.clone();
        let stopped = self.write(steps.lock(), move |connection| {
            Box::pin(async move { steps.stop_rule(connection, &project, &id).await })
        });
        Ok(stopped.await?)
    }

    async fn rule(
        &self,
        tenant: &TenantId,
        project: &ProjectId,
        id: &RuleId,
    ) -> StoreResult<Option<JudgingRule>> {
        let sql = latest(&self.tables, tenant, project, id);
        let row = self.database.read(&sql).await?.into_iter().next();
        Ok(row
            .map(|mut row| codec::rule(tenant, &mut row))
            .transpose()?)
    }

    async fn rules(
        &self,
        tenant: &TenantId,
        project: &ProjectId,
        keyset: &Keyset,
    ) -> StoreResult<Slice<ListedRule>> {
        let sql = list(&self.tables, tenant, project, keyset);
        let rows = self.database.read(&sql).await?;
        Ok(slice(rows, keyset.limit, |row| listed(tenant, row))?)
    }

    async fn rule_versions(
        &self,
        tenant: &TenantId,
        project: &ProjectId,
        id: &RuleId,
        before: Option<u32>,
        limit: PageSize,
    ) -> StoreResult<Option<Slice<JudgingRule>>> {
        let sql = versions(&self.tables, tenant, project, id, before, limit);
        let rows = self.database.read(&sql).await?;
        if rows.is_empty() {
            return Ok(None);
        }
        let mut versions = Vec::with_capacity(rows.len());
        for mut row in rows {
            let is_version = row.int()? != 0;
            if is_version {
                versions.push(row);
            }
        }
        let versions = slice(versions, limit, |row| codec::rule(tenant, row))?;
        Ok(Some(versions))
    }

    async fn enabled_rules(
        &self,
        tenant: &TenantId,
        project: &ProjectId,
    ) -> StoreResult<EnabledRules> {
        let sql = enabled(&self.tables, tenant, project);
        let mut found = EnabledRules::default();
        for mut row in self.database.read(&sql).await? {
            found.revision = count(row.int()?)?;
            if row.opt_text()?.is_some() {
                found.rules.push(codec::rule(tenant, &mut row)?);
            }
        }
        found.rules.sort_by(|a, b| a.id.cmp(&b.id));
        Ok(found)
    }

    async fn wanted_classes(
        &self,
        tenant: &TenantId,
        project: &ProjectId,
    ) -> StoreResult<Vec<JudgeClass>> {
        let sql = wanted_classes(&self.tables, tenant, project);
        let rows = self.database.read(&sql).await?.into_iter();
        let classes = rows.map(|mut row| codec::class(tenant, &mut row));
        let mut classes = classes.collect::<Result<Vec<_>, _>>()?;
        classes.sort_by(|a, b| a.id.cmp(&b.id));
        Ok(classes)
    }
}

/// The columns of a rule `r` and its version `v`, in the order of [`rule_cells`].
fn columns() -> String {
    format!(
        "{}, {}",
        columns_of("r", RULE),
        columns_of("v", RULE_VERSION)
    )
}

/// Rules, each with its latest version.
fn with_latest(tables: &Tables) -> String {
    let Tables {
        rules,
        rule_versions,
        ..
    } = tables;
    format!(
        "{rules} r JOIN {rule_versions} v \
         ON v.tenant = r.tenant AND v.rule = r.id AND v.version = r.latest_version"
    )
}

/// The statement of one rule, in its latest version.
pub(super) fn latest(tables: &Tables, tenant: &TenantId, project: &ProjectId, id: &RuleId) -> Sql {
    let sql = format!(
        "SELECT {} FROM {} WHERE r.tenant = ? AND r.id = ? AND r.project = ?",
        columns(),
        with_latest(tables),
    );
    let sql = Sql::new(sql).bind(tenant.as_str());
    sql.bind(id.as_str()).bind(project.as_str())
}

/// The statement of the list of live rules.
pub(super) fn list(
    tables: &Tables,
    tenant: &TenantId,
    project: &ProjectId,
    keyset: &Keyset,
) -> Sql {
    let sql = format!(
        "SELECT {}, r.first_created_at FROM {} \
         WHERE r.tenant = ? AND r.project = ? AND r.unregistered_at IS NULL",
        columns(),
        with_latest(tables),
    );
    let sql = Sql::new(sql).bind(tenant.as_str()).bind(project.as_str());
    oldest_first(sql, ("r.first_created_at", "r.id"), keyset)
}

/// The statement of a project's rules that are enabled, each row with the revision and, if it is
/// one of such a rule, with its id first: a project without any is a row, too.
pub(super) fn enabled(tables: &Tables, tenant: &TenantId, project: &ProjectId) -> Sql {
    let sql = format!(
        "SELECT p.revision, v.rule, {} FROM {} p LEFT JOIN {} r \
         ON r.tenant = p.tenant AND r.project = p.project AND r.unregistered_at IS NULL \
         LEFT JOIN {} v ON v.tenant = r.tenant AND v.rule = r.id AND v.version = r.latest_version \
         AND v.enabled = 1 WHERE p.tenant = ? AND p.project = ?",
        columns(),
        tables.project_rules,
        tables.rules,
        tables.rule_versions,
    );
    Sql::new(sql).bind(tenant.as_str()).bind(project.as_str())
}

/// The statement of the live classes that versions of a project's rules want.
pub(super) fn wanted_classes(tables: &Tables, tenant: &TenantId, project: &ProjectId) -> Sql {
    let sql = format!(
        "SELECT {} FROM {} c WHERE c.tenant = ? AND c.unregistered_at IS NULL \
         AND EXISTS (SELECT 1 FROM {} v \
         WHERE v.tenant = c.tenant AND v.class = c.id AND v.project = ?)",
        columns_of("c", CLASS),
        tables.classes,
        tables.rule_versions,
    );
    Sql::new(sql).bind(tenant.as_str()).bind(project.as_str())
}

fn listed(tenant: &TenantId, row: &mut Row) -> Result<ListedRule, DbError> {
    Ok(ListedRule {
        latest: codec::rule(tenant, row)?,
        first_created_at: codec::time(row.int()?)?,
    })
}

/// The statement of a rule's versions, each row with whether it is one: a rule that has none
/// before the given one is a row, too, and a rule that isn't there is none.
pub(super) fn versions(
    tables: &Tables,
    tenant: &TenantId,
    project: &ProjectId,
    id: &RuleId,
    before: Option<u32>,
    limit: PageSize,
) -> Sql {
    let mut sql = Sql::new(format!(
        "SELECT v.version IS NOT NULL, {} FROM {} r LEFT JOIN {} v \
         ON v.tenant = r.tenant AND v.rule = r.id",
        columns(),
        tables.rules,
        tables.rule_versions,
    ));
    if let Some(before) = before {
        sql = sql.push(" AND v.version < ?").bind(i64::from(before));
    }
    let sql = sql
        .push(" WHERE r.tenant = ? AND r.id = ? AND r.project = ? ORDER BY v.version DESC")
        .bind(tenant.as_str())
        .bind(id.as_str())
        .bind(project.as_str());
    limited(sql, limit)
}

impl Steps {
    async fn append_rule_version(
        &self,
        connection: &mut dyn Connection,
        mut next: JudgingRule,
        class: Option<(String, u64)>,
    ) -> Result<Applied<RuleAppended>, DbError> {
        match self.known(connection, APPEND).await? {
            Some(Applied::Replayed(mut row)) => {
                let rule = codec::rule(&next.tenant, &mut row)?;
                return Ok(Applied::Replayed(RuleAppended::Ok(Box::new(rule))));
            }
            Some(_) => return Ok(Applied::OtherBody),
            None => {}
        }
        if next.version != 1 {
            let latest = self.live_rule(connection, &next.project, &next.id).await?;
            let Some((version, created_at)) = latest else {
                return Ok(Applied::Done(RuleAppended::NotLive));
            };
            if version.checked_add(1) != Some(next.version.into()) {
                return Ok(Applied::Done(RuleAppended::Stale));
            }
            next.created_at = next.created_at.max(created_at);
        }
        if !self.class_is_at(connection, class).await? {
            return Ok(Applied::Done(RuleAppended::ClassChanged));
        }
        let table = &self.tables.rule_versions;
        let cells = rule_version_cells(&next);
        let insert = Sql::new(format!(
            "INSERT INTO {table} (tenant, rule, project, {RULE_VERSION}) VALUES (?, ?, ?, {})",
            marks(cells.len())
        ));
        let insert = insert.bind(&*self.tenant).bind(next.id.as_str());
        let insert = insert.bind(next.project.as_str()).bind_all(cells);
        let mut all = vec![
            self.latest_is(&next),
            insert,
            self.revision_moves(&next.project),
        ];
        all.extend(self.kept_as(APPEND, &rule_cells(&next), About::default()));
        connection.together(&all).await?;
        Ok(Applied::Done(RuleAppended::Ok(Box::new(next))))
    }

    /// A live rule's latest version, and when it was written.
    async fn live_rule(
        &self,
        connection: &mut dyn Connection,
        project: &ProjectId,
        id: &RuleId,
    ) -> Result<Option<(i64, Timestamp)>, DbError> {
        let sql = format!(
            "SELECT v.version, v.created_at FROM {} \
             WHERE r.tenant = ? AND r.id = ? AND r.project = ? AND r.unregistered_at IS NULL",
            with_latest(&self.tables),
        );
        let sql = Sql::new(sql)
            .bind(&*self.tenant)
            .bind(id.as_str())
            .bind(project.as_str());
        match connection.fetch_first(&sql).await? {
            Some(mut row) => Ok(Some((row.int()?, codec::time(row.int()?)?))),
            None => Ok(None),
        }
    }

    /// The statement that creates the rule with its first version, or moves it to a later one.
    fn latest_is(&self, next: &JudgingRule) -> Sql {
        let table = &self.tables.rules;
        match next.version {
            1 => Sql::new(format!(
                "INSERT INTO {table} (tenant, id, project, latest_version, first_created_at) \
                 VALUES (?, ?, ?, 1, ?)"
            ))
            .bind(&*self.tenant)
            .bind(next.id.as_str())
            .bind(next.project.as_str())
            .bind(next.created_at.as_unix_millis()),
            version => Sql::new(format!(
                "UPDATE {table} SET latest_version = ? WHERE tenant = ? AND id = ?"
            ))
            .bind(i64::from(version))
            .bind(&*self.tenant)
            .bind(next.id.as_str()),
        }
    }

    /// The statement that moves the revision of a project's rules.
    fn revision_moves(&self, project: &ProjectId) -> Sql {
        let table = &self.tables.project_rules;
        let upsert = Sql::new(format!(
            "INSERT INTO {table} (tenant, project, revision) VALUES (?, ?, 1) \
             ON CONFLICT (tenant, project) DO UPDATE SET revision = {table}.revision + 1"
        ));
        upsert.bind(&*self.tenant).bind(project.as_str())
    }

    async fn stop_rule(
        &self,
        connection: &mut dyn Connection,
        project: &ProjectId,
        id: &RuleId,
    ) -> Result<Applied<RuleStopped>, DbError> {
        match self.known(connection, STOP).await? {
            Some(Applied::Replayed(mut row)) => {
                return Ok(Applied::Replayed(receipts::stopped(&mut row)?));
            }
            Some(_) => return Ok(Applied::OtherBody),
            None => {}
        }
        let Some((_, created_at)) = self.live_rule(connection, project, id).await? else {
            return Ok(Applied::Done(RuleStopped::NotLive));
        };
        let table = &self.tables.rules;
        let sql = format!("UPDATE {table} SET unregistered_at = ? WHERE tenant = ? AND id = ?");
        let sql = Sql::new(sql)
            .bind(self.now.max(created_at).as_unix_millis())
            .bind(&*self.tenant)
            .bind(id.as_str());
        let mut all = vec![sql, self.revision_moves(project)];
        all.extend(self.kept_as(STOP, &[], About::default()));
        connection.together(&all).await?;
        Ok(Applied::Done(RuleStopped::Ok))
    }
}
