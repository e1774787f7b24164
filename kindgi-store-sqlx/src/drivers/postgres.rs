//! PostgreSQL.

use std::{borrow::Cow, str::FromStr, sync::Arc, time::Duration};

use async_trait::async_trait;
use sha2::{Digest, Sha256};
use sqlx::{
    AssertSqlSafe, Column, Connection as _, Decode, Encode, PgConnection, PgPool, Postgres,
    Row as _, Type, TypeInfo, ValueRef,
    encode::IsNull,
    postgres::{
        PgArgumentBuffer, PgArguments, PgConnectOptions, PgPoolOptions, PgRow, PgTypeInfo,
        types::Oid,
    },
};
use tokio::{
    sync::{AcquireError, Semaphore, SemaphorePermit},
    time::timeout,
};

use super::{Alone, Connection, Database};
use crate::{
    builder::Durability,
    dialect::{Dialect, Migration},
    error::{DbError, OpenError},
    lock::{Hold, Lock},
    sql::{Cell, Row, Sql},
    writer::{
        Work,
        lines::{CommitOne, Lines},
    },
};

/// How long a write waits for another node's.
const LOCK_TIMEOUT: Duration = Duration::from_secs(10);
/// How long a read or a write waits for a connection.
const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(10);
const CONNECTIONS: u32 = 10;
/// How often a write is tried that others' transactions stood in the way of.
const TRIES: u32 = 5;

pub(crate) static DIALECT: Dialect = Dialect {
    name: "postgres",
    // Its planner knows how many rows a value has.
    unindexed: "",
    now: Some("CAST(floor(extract(epoch FROM clock_timestamp()) * 1000) AS BIGINT)"),
    has_table: Some(
        "SELECT 1 FROM pg_tables WHERE schemaname = current_schema() AND tablename = ?",
    ),
    migrations: &[
        Migration {
            name: "0001_judgments",
            sql: include_str!("../../migrations/postgres/0001_judgments.sql"),
        },
        Migration {
            name: "0002_judging_rules",
            sql: include_str!("../../migrations/postgres/0002_judging_rules.sql"),
        },
        Migration {
            name: "0003_judging_queue",
            sql: include_str!("../../migrations/postgres/0003_judging_queue.sql"),
        },
        Migration {
            name: "0004_idempotency",
            sql: include_str!("../../migrations/postgres/0004_idempotency.sql"),
        },
        Migration {
            name: "0005_judgments_of_project",
            sql: include_str!("../../migrations/postgres/0005_judgments_of_project.sql"),
        },
        Migration {
            name: "0006_lists",
            sql: include_str!("../../migrations/postgres/0006_lists.sql"),
        },
    ],
};

/// A pool of connections to a PostgreSQL database.
pub(crate) struct PostgresDatabase {
    pool: PgPool,
    lines: Arc<Lines>,
    writer: Arc<Writer>,
}

struct Writer {
    pool: PgPool,
    durability: Durability,
    /// What the names of locks begin with.
    place: String,
    /// Leaves reads some of the pool's connections.
    turns: Semaphore,
    /// Leaves transactions some of the turns: all statements by themselves may be waiting for others'
    /// rows.
    alone: Semaphore,
}

/// Opens a pool on a `postgres:` URL.
pub(crate) async fn connect(url: &str) -> Result<PgPool, OpenError> {
    let options = PgConnectOptions::from_str(url)
        .map_err(|e| OpenError::config(format!("the database's URL can't be used: {e}")))?
        // A plan for any value, made after some uses, may be one for values that many rows have.
        .options([("plan_cache_mode", "force_custom_plan")]);
    // A pool would try for as long as it waits for a connection, and not say why it failed.
    let first = PgConnection::connect_with(&options).await.map_err(error)?;
    first.close().await.map_err(error)?;
    let pool = PgPoolOptions::new()
        .max_connections(CONNECTIONS)
        .acquire_timeout(ACQUIRE_TIMEOUT)
        // A round trip more. What finds its connection gone takes the next one.
        .test_before_acquire(false);
    Ok(pool.connect_lazy_with(options))
}

/// Where connections create tables by themselves.
pub(crate) async fn current_schema(pool: &PgPool) -> Result<String, OpenError> {
    let mut connection = pool.acquire().await.map_err(error)?;
    let schema = sqlx::query_scalar::<_, Option<String>>("SELECT current_schema()");
    let schema = schema.fetch_one(&mut *connection).await.map_err(error)?;
    // It would be on its way back for a while, and what comes next would open another beside it,
    // which a server may not allow.
    connection.close().await.map_err(error)?;
    schema.ok_or_else(|| {
        OpenError::config("no schema of the connection's search_path is there: name one")
    })
}

impl PostgresDatabase {
    /// Takes a pool over. `place` is where the tables are: what is locked there is locked there
    /// only.
    pub(crate) fn new(pool: PgPool, durability: Durability, place: &str) -> Self {
        let connections = pool.options().get_max_connections();
        let turns = connections.saturating_sub(2).max(1);
        let writer = Arc::new(Writer {
            pool: pool.clone(),
            durability,
            place: place.to_owned(),
            turns: Semaphore::new(turns as usize),
            alone: Semaphore::new((turns as usize / 2).max(1)),
        });
        Self {
            pool,
            lines: Arc::default(),
            writer,
        }
    }
}

#[async_trait]
impl Database for PostgresDatabase {
    fn dialect(&self) -> &'static Dialect {
        &DIALECT
    }

    async fn read(&self, sql: &Sql) -> Result<Vec<Row>, DbError> {
        let mut left = tries(&self.pool);
        loop {
            left -= 1;
            match query(sql).fetch_all(&self.pool).await.map_err(error) {
                Err(DbError::Gone(_)) if left > 0 => {}
                read => return rows(read?),
            }
        }
    }

    fn write(&self, lock: Lock, work: Box<dyn Work>) {
        self.lines.push(lock, work, Arc::clone(&self.writer));
    }

    fn alone(&self) -> Option<Alone> {
        let millis = LOCK_TIMEOUT.as_millis();
        let synchronous = match self.writer.durability {
            Durability::Full => {
                "CASE current_setting('synchronous_commit') WHEN 'off' THEN 'on' \
                 ELSE current_setting('synchronous_commit') END"
            }
            Durability::MayLoseLastWritesOnPowerLoss | Durability::MayCorruptOnPowerLoss => "'off'",
        };
        Some(Alone {
            with: format!(
                "WITH settings AS MATERIALIZED (SELECT set_config('lock_timeout', '{millis}', true), \
                 set_config('synchronous_commit', {synchronous}, true))"
            ),
            from: "settings",
        })
    }

    async fn run_alone(&self, sql: &Sql) -> Result<u64, DbError> {
        let _turns = self.writer.in_time(self.writer.turn_alone()).await?;
        let (mut conflicts, mut gone) = (TRIES, tries(&self.pool));
        loop {
            let done = query(sql).execute(&self.pool).await.map_err(error);
            let left = match done {
                Err(DbError::Conflict(_)) if conflicts > 1 => &mut conflicts,
                Err(DbError::Gone(_)) if gone > 1 => &mut gone,
                done => return Ok(done?.rows_affected()),
            };
            *left -= 1;
        }
    }

    /// What was overwritten is in dead rows until the next vacuum, which is the server's.
    async fn settle(&self) {}

    async fn close(&self) {
        self.pool.close().await;
    }
}

/// How many connections may be tried until one isn't gone: when the server was restarted, all of
/// the pool's are.
fn tries(pool: &PgPool) -> u32 {
    pool.options().get_max_connections().saturating_add(1)
}

#[async_trait]
impl CommitOne for Writer {
    async fn commit(&self, lock: &Lock, mut work: Box<dyn Work>) -> bool {
        let fate = self.transact(lock, &mut *work).await;
        let go_on = !matches!(fate, Err(DbError::Busy(_)));
        work.answer(fate);
        go_on
    }
}

impl Writer {
    /// Waits for turns to write, as long as for a connection.
    async fn in_time<T>(
        &self,
        turn: impl Future<Output = Result<T, AcquireError>>,
    ) -> Result<T, DbError> {
        let patience = self.pool.options().get_acquire_timeout();
        let turn = timeout(patience, turn).await;
        let turn = turn.map_err(|_| DbError::Busy("no connection is free to write".into()))?;
        turn.map_err(DbError::other)
    }

    /// A turn for a statement by itself.
    async fn turn_alone(&self) -> Result<[SemaphorePermit<'_>; 2], AcquireError> {
        let alone = self.alone.acquire().await?;
        Ok([alone, self.turns.acquire().await?])
    }

    /// Does the work in one transaction; again, where that can help.
    async fn transact(&self, lock: &Lock, work: &mut dyn Work) -> Result<(), DbError> {
        let _turn = self.in_time(self.turns.acquire()).await?;
        let (mut conflicts, mut gone) = (TRIES, tries(&self.pool));
        loop {
            let left = match self.attempt(lock, work).await {
                Err(DbError::Conflict(_)) if conflicts > 1 => &mut conflicts,
                Err(DbError::Gone(_)) if gone > 1 => &mut gone,
                fate => return fate,
            };
            *left -= 1;
        }
    }

    async fn attempt(&self, lock: &Lock, work: &mut dyn Work) -> Result<(), DbError> {
        let mut connection = self.pool.acquire().await.map_err(error)?;
        let begin = AssertSqlSafe(self.begin(lock));
        let e = match connection.begin_with(begin).await {
            Ok(transaction) => return finish(transaction, work).await,
            Err(e) => e,
        };
        // It may have begun all the same.
        connection.close_on_drop();
        Err(error(e))
    }

    /// What a transaction begins with, in one round trip: each statement after the locks sees what
    /// those who held them before have committed.
    fn begin(&self, lock: &Lock) -> String {
        let mut sql = "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE; ".to_owned();
        if *lock == Lock::Schema {
            // Another node may be building an index for minutes.
            sql.push_str("SET LOCAL lock_timeout = 0; SET LOCAL statement_timeout = 0; ");
        } else {
            let millis = LOCK_TIMEOUT.as_millis();
            sql.push_str(&format!("SET LOCAL lock_timeout = {millis}; "));
        }
        sql.push_str(match self.durability {
            Durability::Full => {
                "SELECT set_config('synchronous_commit', 'on', true) \
                 WHERE current_setting('synchronous_commit') = 'off'"
            }
            Durability::MayLoseLastWritesOnPowerLoss | Durability::MayCorruptOnPowerLoss => {
                "SET LOCAL synchronous_commit = off"
            }
        });
        for (name, hold) in lock.names() {
            let lock = match hold {
                Hold::Shared => "pg_advisory_xact_lock_shared",
                Hold::Alone => "pg_advisory_xact_lock",
            };
            let key = advisory_key(&self.place, &name);
            sql.push_str(&format!("; SELECT {lock}({key})"));
        }
        sql
    }
}

/// The number that stands for a name. Two names of one number would wait for each other, no more.
fn advisory_key(place: &str, name: &str) -> i64 {
    let hash = Sha256::digest(format!("kindgi {place} {name}"));
    let first = hash.first_chunk().copied().unwrap_or_default();
    i64::from_be_bytes(first)
}

/// Does the work, and commits or undoes it.
async fn finish(
    mut transaction: sqlx::Transaction<'_, Postgres>,
    work: &mut dyn Work,
) -> Result<(), DbError> {
    match work.run(&mut Transaction(&mut transaction)).await {
        Ok(()) => transaction.commit().await.map_err(|e| match error(e) {
            DbError::Gone(e) => DbError::other(format!(
                "the connection broke at the commit, so it isn't known whether it took effect: {e}"
            )),
            e => e,
        }),
        Err(e) => {
            // A connection that can't is gone, and so is its transaction.
            let _ = transaction.rollback().await;
            Err(e)
        }
    }
}

struct Transaction<'c>(&'c mut PgConnection);

#[async_trait]
impl Connection for Transaction<'_> {
    async fn execute(&mut self, sql: &Sql) -> Result<u64, DbError> {
        let done = query(sql).execute(&mut *self.0).await.map_err(error)?;
        Ok(done.rows_affected())
    }

    async fn fetch(&mut self, sql: &Sql) -> Result<Vec<Row>, DbError> {
        rows(query(sql).fetch_all(&mut *self.0).await.map_err(error)?)
    }

    async fn together(&mut self, all: &[Sql]) -> Result<(), DbError> {
        let mut rest = all;
        while !rest.is_empty() {
            let (some, others) = rest.split_at(first_together(rest));
            self.execute(&fused(some)).await?;
            rest = others;
        }
        Ok(())
    }
}

/// How many statements are made one at most: the database's work on such a one grows faster than
/// with their number.
const TOGETHER: usize = 100;
/// How many arguments a statement takes at most.
const MAX_ARGUMENTS: usize = 65_535;

/// How many of the first of some statements are made one.
fn first_together(all: &[Sql]) -> usize {
    let mut arguments = 0;
    let fits = all.iter().take(TOGETHER).take_while(|sql| {
        arguments += sql.args.len();
        arguments <= MAX_ARGUMENTS
    });
    fits.count().max(1)
}

/// One statement that does what all do, none seeing another's effect.
fn fused(all: &[Sql]) -> Sql {
    let Some((last, others)) = all.split_last() else {
        return Sql::default();
    };
    let mut sql = Sql::default();
    for (number, one) in others.iter().enumerate() {
        let before = if number == 0 { "WITH" } else { "," };
        sql = sql
            .push(&format!("{before} s{number} AS ({}) ", one.text))
            .bind_all(one.args.iter().cloned());
    }
    sql.push(&last.text).bind_all(last.args.iter().cloned())
}

/// The statement with its arguments numbered: `$1` for the first `?`, and so on.
fn numbered(text: &str) -> String {
    let mut parts = text.split('?');
    let mut numbered = parts.next().unwrap_or_default().to_owned();
    for (number, part) in (1..).zip(parts) {
        numbered.push_str(&format!("${number}{part}"));
    }
    numbered
}

/// A NULL of the type that the statement takes there.
struct Null;

impl Type<Postgres> for Null {
    fn type_info() -> PgTypeInfo {
        // `unknown` (pg_type.dat): what the statement says is then inferred.
        PgTypeInfo::with_oid(Oid(705))
    }
}

impl Encode<'_, Postgres> for Null {
    fn encode_by_ref(
        &self,
        _: &mut PgArgumentBuffer,
    ) -> Result<IsNull, Box<dyn std::error::Error + Send + Sync>> {
        Ok(IsNull::Yes)
    }
}

fn query(sql: &Sql) -> sqlx::query::Query<'_, Postgres, PgArguments> {
    // Built from the literals of this crate, the table prefix and the schema's name, which are
    // checked; what callers say is in the arguments.
    let query = sqlx::query(AssertSqlSafe(numbered(&sql.text)));
    sql.args.iter().fold(query, |query, arg| match arg {
        Cell::Null => query.bind(Null),
        Cell::Int(value) => query.bind(*value),
        Cell::Text(value) => query.bind(&**value),
    })
}

fn rows(rows: Vec<PgRow>) -> Result<Vec<Row>, DbError> {
    let cell = |row: &PgRow, index: usize| {
        let raw = row.try_get_raw(index).map_err(error)?;
        if raw.is_null() {
            return Ok(Cell::Null);
        }
        let info = raw.type_info().into_owned();
        let decoded = match info.name() {
            "INT8" => <i64 as Decode<Postgres>>::decode(raw).map(Cell::Int),
            "INT4" => <i32 as Decode<Postgres>>::decode(raw).map(|int| Cell::Int(int.into())),
            "BOOL" => <bool as Decode<Postgres>>::decode(raw).map(Cell::from),
            _ => <String as Decode<Postgres>>::decode(raw).map(Cell::Text),
        };
        decoded.map_err(DbError::Other)
    };
    let cells = |row: &PgRow| {
        let indices = row.columns().iter().map(|column| column.ordinal());
        indices
            .map(|index| cell(row, index))
            .collect::<Result<Vec<_>, _>>()
    };
    rows.iter().map(|row| cells(row).map(Row::new)).collect()
}

/// Sorts out what an error means
/// (<https://www.postgresql.org/docs/current/errcodes-appendix.html>).
fn error(e: sqlx::Error) -> DbError {
    let code = e.as_database_error().and_then(|e| e.code());
    let code = code.map(Cow::into_owned);
    match code.as_deref() {
        // serialization_failure, deadlock_detected
        Some("40001" | "40P01") => DbError::Conflict(Box::new(e)),
        // lock_not_available, query_canceled, too_many_connections, and the settings that limit
        // how long a transaction may take
        Some("55P03" | "57014" | "53300" | "25P03" | "25P04") => DbError::Busy(Box::new(e)),
        // program_limit_exceeded
        Some(code) if code.starts_with("54") => DbError::TooLarge(Box::new(e)),
        // admin_shutdown, crash_shutdown, cannot_connect_now, idle_session_timeout, and all that
        // is about the connection
        Some("57P01" | "57P02" | "57P03" | "57P05") => DbError::Gone(Box::new(e)),
        Some(code) if code.starts_with("08") => DbError::Gone(Box::new(e)),
        Some(_) => DbError::other(e),
        None => match e {
            sqlx::Error::PoolTimedOut => DbError::Busy(Box::new(e)),
            sqlx::Error::Io(_) | sqlx::Error::BeginFailed => DbError::Gone(Box::new(e)),
            _ => DbError::other(e),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_numbered_in_their_order() {
        assert_eq!(numbered("SELECT 1"), "SELECT 1");
        assert_eq!(
            numbered("a = ? AND b IN (?, ?)"),
            "a = $1 AND b IN ($2, $3)"
        );
    }

    /// A statement of so many arguments.
    fn of(arguments: usize) -> Sql {
        Sql::new("x").bind_all(vec![Cell::Null; arguments])
    }

    #[test]
    fn statements_are_made_one_up_to_a_hundred() {
        assert_eq!(first_together(&vec![of(1); 99]), 99);
        assert_eq!(first_together(&vec![of(1); 100]), 100);
        assert_eq!(first_together(&vec![of(1); 101]), 100);
    }

    #[test]
    fn statements_are_made_one_up_to_as_many_arguments_as_one_takes() {
        assert_eq!(first_together(&[of(65_534), of(1), of(0)]), 3);
        assert_eq!(first_together(&[of(65_534), of(1), of(1)]), 2);
        assert_eq!(first_together(&[of(1), of(65_535), of(1)]), 1);
    }

    #[test]
    fn a_statement_that_is_too_large_by_itself_is_alone() {
        assert_eq!(first_together(&[of(65_536), of(0)]), 1);
        assert_eq!(first_together(&[of(0), of(65_536)]), 1);
    }

    #[test]
    fn a_statement_of_many_does_all_with_their_arguments_in_order() {
        let one = Sql::new("INSERT a ?").bind(1);
        let two = Sql::new("DELETE b ?, ?").bind("x").bind(2);
        let three = Sql::new("UPDATE c ?").bind(3);
        let alone = fused(std::slice::from_ref(&one));
        assert_eq!(alone.text, "INSERT a ?");
        assert_eq!(alone.args, [Cell::from(1)]);
        let all = fused(&[one, two, three]);
        let text = "WITH s0 AS (INSERT a ?) , s1 AS (DELETE b ?, ?) UPDATE c ?";
        assert_eq!(all.text, text);
        let args = [1.into(), "x".into(), 2.into(), 3.into()];
        assert_eq!(all.args, args);
    }

    #[test]
    fn names_of_other_places_are_other_locks() {
        let names = ["keys", "tenant a", "tenant b", "key a"];
        let places = ["kindgi_", "\"one\".kindgi_"];
        let mut keys: Vec<_> = places
            .iter()
            .flat_map(|place| names.map(|name| advisory_key(place, name)))
            .collect();
        keys.sort_unstable();
        keys.dedup();
        assert_eq!(keys.len(), names.len() * places.len());
    }
}
