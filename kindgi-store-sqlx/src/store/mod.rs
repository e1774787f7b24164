//! The transitions, in one body of SQL.

mod archive;
mod clock;
mod codec;
mod idempotency;
mod judge_classes;
mod judged_runs;
mod judging_queue;
mod judging_rules;
mod judgments;
mod lifecycle;
mod operations;
#[cfg(all(test, feature = "sqlite"))]
mod plans;
mod purge;
mod queue_counts;
mod queue_for_me;
mod queue_items;
mod queue_list;
mod receipts;
mod results;
mod run_paths;
#[cfg(all(test, feature = "sqlite", feature = "postgres"))]
mod statements;

use std::{fmt, sync::Arc};

use kindgi_core::{
    Clock, SystemClock, Timestamp,
    model::{PageSize, Position, Readable},
    store::{Keyset, Slice, Write},
};

use self::clock::StoreClock;
use crate::{
    builder::{SqlxStoreBuilder, quoted_place},
    dialect::Dialect,
    drivers::{Connection, Database},
    error::{DbError, OpenError},
    lock::Lock,
    migrate::migrate,
    sql::{Row, Sql},
    writer::{OnConnection, transition},
};

/// How many values of a list stand in one statement at most.
const CHUNK: usize = 500;

/// A store of judgments and of idempotency keys in a SQL database. Clones share it.
///
/// It is a [`Store`](kindgi_core::store::Store) and an
/// [`IdempotencyStore`](kindgi_core::idempotency::IdempotencyStore). The deadlines of keys are by
/// its [clock](SqlxStoreBuilder::clock).
#[derive(Clone)]
pub struct SqlxStore {
    database: Arc<dyn Database>,
    tables: Arc<Tables>,
    clock: StoreClock,
}

impl SqlxStore {
    /// Begins to open a store.
    pub fn builder() -> SqlxStoreBuilder {
        SqlxStoreBuilder::default()
    }

    /// Ends all of the pool's connections, a host's own pool included, once what they do is done;
    /// what comes later fails. SQLite's log is then merged into its file and gone.
    ///
    /// Nothing is lost without it: what was acknowledged is in the log, and read from there.
    pub async fn close(&self) {
        self.database.close().await;
    }

    pub(crate) async fn open(
        database: impl Database,
        prefix: &str,
        schema: Option<&str>,
        clock: Option<Arc<dyn Clock>>,
    ) -> Result<Self, OpenError> {
        migrate(&database, prefix, schema).await?;
        let clock = match (clock, database.dialect().now) {
            (Some(clock), _) => StoreClock::Given(clock),
            (None, Some(expression)) => StoreClock::Database(expression),
            (None, None) => StoreClock::Given(Arc::new(SystemClock)),
        };
        let place = quoted_place(schema, prefix);
        Ok(Self {
            database: Arc::new(database),
            tables: Arc::new(Tables::new(&place)),
            clock,
        })
    }

    /// Does a transition's steps in one transaction that holds the lock.
    async fn write<F, T>(&self, lock: Lock, steps: F) -> Result<T, DbError>
    where
        F: for<'c> FnOnce(&'c mut dyn Connection) -> OnConnection<'c, T> + Clone + Send + 'static,
        T: Send + 'static,
    {
        write(&*self.database, lock, steps).await
    }
}

impl fmt::Debug for SqlxStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let database = self.database.dialect().name;
        f.debug_struct("SqlxStore")
            .field("database", &database)
            .finish_non_exhaustive()
    }
}

/// Does steps in one transaction that holds the lock, on a task that goes on if the caller's future
/// is dropped. They may be done several times, until nothing stands in the way.
pub(crate) async fn write<F, T>(database: &dyn Database, lock: Lock, steps: F) -> Result<T, DbError>
where
    F: for<'c> FnOnce(&'c mut dyn Connection) -> OnConnection<'c, T> + Clone + Send + 'static,
    T: Send + 'static,
{
    let (work, outcome) = transition(steps);
    database.write(lock, work);
    match outcome.await {
        Ok(outcome) => outcome,
        Err(_) => Err(DbError::other("the runtime was shut down during the write")),
    }
}

/// The tables' names.
struct Tables {
    judgments: String,
    runs: String,
    run_paths: String,
    classes: String,
    rules: String,
    rule_versions: String,
    project_rules: String,
    queue_items: String,
    queue_counts: String,
    tellings: String,
    purges: String,
    operations: String,
    idempotency_keys: String,
    idempotency_about: String,
    idempotency_bars: String,
}

impl Tables {
    fn new(prefix: &str) -> Self {
        let name = |table| format!("{prefix}{table}");
        Self {
            judgments: name("judgments"),
            runs: name("runs"),
            run_paths: name("run_paths"),
            classes: name("classes"),
            rules: name("rules"),
            rule_versions: name("rule_versions"),
            project_rules: name("project_rules"),
            queue_items: name("queue_items"),
            queue_counts: name("queue_counts"),
            tellings: name("tellings"),
            purges: name("purges"),
            operations: name("operations"),
            idempotency_keys: name("idempotency_keys"),
            idempotency_about: name("idempotency_about"),
            idempotency_bars: name("idempotency_bars"),
        }
    }
}

/// A write, owned, with the tables it goes to: what a transition's steps need to know.
#[derive(Clone)]
struct Steps {
    tables: Arc<Tables>,
    tenant: String,
    now: Timestamp,
    operation: Option<operations::Operation>,
}

impl Steps {
    fn new(store: &SqlxStore, write: Write<'_>) -> Self {
        Self {
            tables: Arc::clone(&store.tables),
            tenant: write.tenant.as_str().to_owned(),
            now: write.now,
            operation: write.operation.map(operations::Operation::new),
        }
    }

    /// What the write must be alone with.
    fn lock(&self) -> Lock {
        Lock::Tenant(self.tenant.clone())
    }
}

/// The end of a list's statement: the rows after a position, newest first, by the columns of a
/// time and an id.
fn newest_first(sql: Sql, columns: (&str, &str), keyset: &Keyset) -> Sql {
    let sql = in_order(sql, columns, ("<", "DESC"), keyset.after.as_ref());
    limited(sql, keyset.limit)
}

/// The same, oldest first.
fn oldest_first(sql: Sql, columns: (&str, &str), keyset: &Keyset) -> Sql {
    let sql = in_order(sql, columns, (">", "ASC"), keyset.after.as_ref());
    limited(sql, keyset.limit)
}

/// The rows after a position, in order.
fn in_order(
    sql: Sql,
    (at_column, id_column): (&str, &str),
    (follows, way): (&str, &str),
    after: Option<&Position>,
) -> Sql {
    let sql = match after {
        None => sql,
        // Spelled so that every database sees a range of its index.
        Some(Position { at, id }) => sql
            .push(&format!(
                " AND {at_column} {follows}= ? \
                 AND ({at_column} {follows} ? OR {id_column} {follows} ?)"
            ))
            .bind(at.as_unix_millis())
            .bind(at.as_unix_millis())
            .bind(&**id),
    };
    sql.push(&format!(" ORDER BY {at_column} {way}, {id_column} {way}"))
}

/// One row more than the page takes, so that it shows whether more follow.
fn limited(sql: Sql, limit: PageSize) -> Sql {
    sql.push(" LIMIT ?").bind(i64::from(limit.get()) + 1)
}

/// So many `?`.
fn marks(count: usize) -> String {
    vec!["?"; count].join(", ")
}

/// Columns of one of the tables of a join.
fn columns_of(table: &str, columns: &str) -> String {
    let columns = columns
        .split(", ")
        .map(|column| format!("{table}.{column}"));
    columns.collect::<Vec<_>>().join(", ")
}

/// That a row of one table is of the same run as one of another, which is looked at first.
fn of_run(dialect: &Dialect, table: &str, first: &str) -> String {
    let unindexed = dialect.unindexed;
    format!("{table}.tenant = {unindexed}{first}.tenant AND {table}.run = {unindexed}{first}.run")
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

/// `column IN (…)` for the projects that are readable; `None` for all.
fn is_readable(column: &str, readable: &Readable) -> Option<Sql> {
    let Readable::Only(projects) = readable else {
        return None;
    };
    if projects.is_empty() {
        return Some(Sql::new("1 = 0"));
    }
    let sql = Sql::new(format!("{column} IN ({})", marks(projects.len())));
    Some(sql.bind_all(projects.iter().map(|project| project.as_str().into())))
}

/// A page's rows, and whether more follow.
fn slice<T>(
    rows: Vec<Row>,
    limit: PageSize,
    decode: impl Fn(&mut Row) -> Result<T, DbError>,
) -> Result<Slice<T>, DbError> {
    let limit = usize::from(limit.get());
    let more = rows.len() > limit;
    let rows = rows.into_iter().take(limit).map(|mut row| decode(&mut row));
    Ok(Slice {
        rows: rows.collect::<Result<_, _>>()?,
        more,
    })
}
