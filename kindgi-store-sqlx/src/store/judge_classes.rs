//! Judge classes.

use async_trait::async_trait;
use kindgi_core::{
    model::{JudgeClass, JudgeClassId, Readable, TenantId},
    store::{
        Applied, ClassCreated, ClassFilter, ClassReplaced, JudgeClassStore, Keyset, Revised, Slice,
        StoreResult, Write,
    },
};

use super::{
    SqlxStore, Steps,
    codec::{self, CLASS, class_cells, live_name},
    is_readable, limited, marks, newest_first, only,
    operations::About,
    slice,
};
use crate::{
    drivers::Connection,
    error::DbError,
    sql::{Row, Sql},
};

pub(super) const CREATE: &str = "create-class";
pub(super) const REPLACE: &str = "replace-class";

#[async_trait]
impl JudgeClassStore for SqlxStore {
    async fn create_class(
        &self,
        write: Write<'_>,
        class: &JudgeClass,
    ) -> StoreResult<Applied<ClassCreated>> {
        let steps = Steps::new(self, write);
        let class = class.clone();
        let created = self.write(steps.lock(), move |connection| {
            Box::pin(async move { steps.create_class(connection, class).await })
        });
        Ok(created.await?)
    }

    async fn replace_class(
        &self,
        write: Write<'_>,
        at: u64,
        next: &JudgeClass,
    ) -> StoreResult<Applied<ClassReplaced>> {
        let steps = Steps::new(self, write);
        let next = next.clone();
        let replaced = self.write(steps.lock(), move |connection| {
            Box::pin(async move { steps.replace_class(connection, at, next).await })
        });
        Ok(replaced.await?)
    }

    async fn class(
        &self,
        tenant: &TenantId,
        id: &JudgeClassId,
    ) -> StoreResult<Option<Revised<JudgeClass>>> {
        let table = &self.tables.classes;
        let sql = format!("SELECT revision, {CLASS} FROM {table} WHERE tenant = ? AND id = ?");
        let sql = Sql::new(sql).bind(tenant.as_str()).bind(id.as_str());
        let row = self.database.read(&sql).await?.into_iter().next();
        Ok(row.map(|row| revised(tenant, row)).transpose()?)
    }

    async fn classes(
        &self,
        tenant: &TenantId,
        filter: &ClassFilter,
        readable: &Readable,
        keyset: &Keyset,
    ) -> StoreResult<Slice<JudgeClass>> {
        if readable.is_empty() {
            return Ok(Slice {
                rows: Vec::new(),
                more: false,
            });
        }
        let sql = list(&self.tables.classes, tenant, filter, readable, keyset);
        let rows = self.database.read(&sql).await?;
        Ok(slice(rows, keyset.limit, |row| codec::class(tenant, row))?)
    }
}

/// The statement of a list, with indexes for all of it, for one scope and for one who may read one
/// project.
pub(super) fn list(
    table: &str,
    tenant: &TenantId,
    filter: &ClassFilter,
    readable: &Readable,
    keyset: &Keyset,
) -> Sql {
    let mut sql = Sql::new(format!(
        "SELECT {CLASS} FROM {table} WHERE tenant = ? AND unregistered_at IS NULL"
    ))
    .bind(tenant.as_str());
    if let (Some(project), None) = (only(readable), &filter.scope) {
        return of_one_project(sql, project, keyset);
    }
    if let Some(readable) = is_readable("project", readable) {
        sql = sql
            .push(" AND (project IS NULL OR ")
            .push(&readable.text)
            .push(")");
        sql = sql.bind_all(readable.args);
    }
    if let Some(scope) = &filter.scope {
        sql = sql.and_is("scope_kind", Some(scope.kind()));
        // As the index has it: an empty text is no id.
        let project = scope.project().map_or("", |project| project.as_str());
        sql = sql.and_is("COALESCE(project, '')", Some(project));
        let agent = scope.agent().map_or("", |agent| agent.as_str());
        sql = sql.and_is("COALESCE(agent, '')", Some(agent));
    }
    newest_first(sql, ("created_at", "id"), keyset)
}

/// The tenant's and one project's, merged of the first of each: no index gives the order of both.
fn of_one_project(all: Sql, project: &str, keyset: &Keyset) -> Sql {
    let columns = ("created_at", "id");
    let [tenants, projects] = ["", project].map(|project| {
        let of = all.clone().and_is("COALESCE(project, '')", Some(project));
        newest_first(of, columns, keyset)
    });
    let both = format!(
        "SELECT {CLASS} FROM (SELECT * FROM ({}) t UNION ALL SELECT * FROM ({}) p) c \
         ORDER BY created_at DESC, id DESC",
        tenants.text, projects.text,
    );
    let both = Sql::new(both).bind_all(tenants.args);
    limited(both.bind_all(projects.args), keyset.limit)
}

fn revised(tenant: &TenantId, mut row: Row) -> Result<Revised<JudgeClass>, DbError> {
    let corrupt = |_| DbError::corrupt("a revision");
    Ok(Revised {
        revision: row.int()?.try_into().map_err(corrupt)?,
        value: codec::class(tenant, &mut row)?,
    })
}

impl Steps {
    async fn create_class(
        &self,
        connection: &mut dyn Connection,
        class: JudgeClass,
    ) -> Result<Applied<ClassCreated>, DbError> {
        match self.known(connection, CREATE).await? {
            Some(Applied::Replayed(mut row)) => {
                let class = codec::class(&class.tenant, &mut row)?;
                return Ok(Applied::Replayed(ClassCreated::Ok(Box::new(class))));
            }
            Some(_) => return Ok(Applied::OtherBody),
            None => {}
        }
        let table = &self.tables.classes;
        let name = live_name(&class);
        let taken = format!("SELECT revision FROM {table} WHERE live_name = ?");
        let taken = Sql::new(taken).bind(&*name);
        if connection.fetch_first(&taken).await?.is_some() {
            return Ok(Applied::Done(ClassCreated::NameTaken));
        }
        let cells = class_cells(&class);
        let insert = format!(
            "INSERT INTO {table} (tenant, revision, live_name, {CLASS}) VALUES (?, 1, ?, {})",
            marks(cells.len())
        );
        let insert = Sql::new(insert).bind(&*self.tenant).bind(name);
        let mut all = vec![insert.bind_all(cells.clone())];
        all.extend(self.kept_as(CREATE, &cells, About::default()));
        connection.together(&all).await?;
        Ok(Applied::Done(ClassCreated::Ok(Box::new(class))))
    }

    async fn replace_class(
        &self,
        connection: &mut dyn Connection,
        at: u64,
        next: JudgeClass,
    ) -> Result<Applied<ClassReplaced>, DbError> {
        match self.known(connection, REPLACE).await? {
            Some(Applied::Replayed(mut row)) => {
                let class = codec::class(&next.tenant, &mut row)?;
                return Ok(Applied::Replayed(ClassReplaced::Ok(Box::new(class))));
            }
            Some(_) => return Ok(Applied::OtherBody),
            None => {}
        }
        let table = &self.tables.classes;
        let select = format!(
            "SELECT revision FROM {table} WHERE tenant = ? AND id = ? AND unregistered_at IS NULL"
        );
        let select = Sql::new(select).bind(&*self.tenant).bind(next.id.as_str());
        let Some(mut row) = connection.fetch_first(&select).await? else {
            return Ok(Applied::Done(ClassReplaced::NotLive));
        };
        if u64::try_from(row.int()?) != Ok(at) {
            return Ok(Applied::Done(ClassReplaced::Stale));
        }
        let cells = class_cells(&next);
        let sets = CLASS.split(", ").map(|column| format!("{column} = ?"));
        let sets = sets.collect::<Vec<_>>().join(", ");
        let update = format!(
            "UPDATE {table} SET revision = revision + 1, live_name = ?, {sets} \
             WHERE tenant = ? AND id = ?"
        );
        let update = Sql::new(update)
            .bind(next.is_live().then(|| live_name(&next)))
            .bind_all(cells.clone())
            .bind(&*self.tenant)
            .bind(next.id.as_str());
        let mut all = vec![update];
        all.extend(self.kept_as(REPLACE, &cells, About::default()));
        connection.together(&all).await?;
        Ok(Applied::Done(ClassReplaced::Ok(Box::new(next))))
    }

    /// Whether a class is at a revision; true where none is named.
    pub(super) async fn class_is_at(
        &self,
        connection: &mut dyn Connection,
        class: Option<(String, u64)>,
    ) -> Result<bool, DbError> {
        let Some((id, revision)) = class else {
            return Ok(true);
        };
        let table = &self.tables.classes;
        let sql = format!("SELECT revision FROM {table} WHERE tenant = ? AND id = ?");
        let sql = Sql::new(sql).bind(&*self.tenant).bind(id);
        match connection.fetch_first(&sql).await? {
            Some(mut row) => Ok(u64::try_from(row.int()?) == Ok(revision)),
            None => Ok(false),
        }
    }
}
