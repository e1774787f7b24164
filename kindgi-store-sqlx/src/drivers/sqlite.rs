//! SQLite.

use std::{str::FromStr, sync::Arc, time::Duration};

use async_trait::async_trait;
use sqlx::{
    AssertSqlSafe, Column, Connection as _, Decode, Row as _, Sqlite, SqliteConnection, SqlitePool,
    TypeInfo, ValueRef,
    sqlite::{
        SqliteArguments, SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteRow,
    },
};

use super::{Connection, Database};
use crate::{
    builder::Durability,
    dialect::{Dialect, Migration},
    error::{DbError, OpenError},
    lock::Lock,
    sql::{Cell, Row, Sql},
    writer::{
        Work,
        group::{Commit, Queue},
    },
};

/// How long a statement waits for another process's lock.
const BUSY_TIMEOUT: Duration = Duration::from_secs(10);
/// How long a read or a write waits for a connection.
const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(10);
/// One writes, the others read.
const CONNECTIONS: u32 = 8;

/// A transaction that begins to read and then writes can't wait for its turn.
const BEGIN: &str = "BEGIN IMMEDIATE";

pub(crate) static DIALECT: Dialect = Dialect {
    name: "sqlite",
    // Its planner knows nothing of how many rows a value has, and so would choose at random.
    unindexed: "+",
    // All processes on a file share a machine.
    now: None,
    has_table: None,
    migrations: &[
        Migration {
            name: "0001_judgments",
            sql: include_str!("../../migrations/sqlite/0001_judgments.sql"),
        },
        Migration {
            name: "0002_judging_rules",
            sql: include_str!("../../migrations/sqlite/0002_judging_rules.sql"),
        },
        Migration {
            name: "0003_judging_queue",
            sql: include_str!("../../migrations/sqlite/0003_judging_queue.sql"),
        },
        Migration {
            name: "0004_idempotency",
            sql: include_str!("../../migrations/sqlite/0004_idempotency.sql"),
        },
        Migration {
            name: "0005_judgments_of_project",
            sql: include_str!("../../migrations/sqlite/0005_judgments_of_project.sql"),
        },
        Migration {
            name: "0006_lists",
            sql: include_str!("../../migrations/sqlite/0006_lists.sql"),
        },
    ],
};

/// A pool of connections to a SQLite file, of which one at a time writes.
pub(crate) struct SqliteDatabase {
    pool: SqlitePool,
    queue: Arc<Queue>,
    writer: Arc<Writer>,
}

struct Writer {
    pool: SqlitePool,
    durability: Durability,
}

/// Opens, and creates where it isn't there, the file of a `sqlite:` URL.
pub(crate) async fn connect(url: &str) -> Result<SqlitePool, OpenError> {
    if url.contains(":memory:") || url.contains("mode=memory") {
        return Err(OpenError::config(
            "a SQLite database in memory is not supported: use kindgi_core::MemoryStore",
        ));
    }
    let options = SqliteConnectOptions::from_str(url)
        .map_err(|e| OpenError::config(format!("the database's URL can't be used: {e}")))?
        .create_if_missing(true)
        .journal_mode(SqliteJournalMode::Wal)
        .busy_timeout(BUSY_TIMEOUT);
    let pool = SqlitePoolOptions::new()
        .max_connections(CONNECTIONS)
        .acquire_timeout(ACQUIRE_TIMEOUT);
    Ok(pool.connect_with(options).await.map_err(error)?)
}

impl SqliteDatabase {
    /// Takes a pool over, its file switched to write-ahead logging where that is possible.
    pub(crate) async fn open(pool: SqlitePool, durability: Durability) -> Result<Self, OpenError> {
        // Refused for a database in memory, on some file systems, and inside others' locks. All
        // holds without it; readers and the writer then wait for each other.
        let wal = sqlx::query("PRAGMA journal_mode = WAL");
        let _ = wal
            .fetch_all(&pool)
            .await
            .map_err(error)
            .map_err(OpenError::from);
        let writer = Arc::new(Writer {
            pool: pool.clone(),
            durability,
        });
        Ok(Self {
            pool,
            queue: Arc::default(),
            writer,
        })
    }
}

#[async_trait]
impl Database for SqliteDatabase {
    fn dialect(&self) -> &'static Dialect {
        &DIALECT
    }

    async fn read(&self, sql: &Sql) -> Result<Vec<Row>, DbError> {
        rows(query(sql).fetch_all(&self.pool).await.map_err(error)?)
    }

    // All writes are one after another, whatever they lock.
    fn write(&self, _: Lock, work: Box<dyn Work>) {
        self.queue.push(work, Arc::clone(&self.writer));
    }

    async fn settle(&self) {
        // The log holds what was there before until it is begun anew. Readers of an older state
        // may keep it from that; then a later checkpoint does it.
        let checkpoint = sqlx::query("PRAGMA wal_checkpoint(TRUNCATE)");
        let _ = checkpoint.fetch_all(&self.pool).await;
    }

    async fn close(&self) {
        self.pool.close().await;
    }
}

#[async_trait]
impl Commit for Writer {
    async fn commit(&self, mut group: Vec<Box<dyn Work>>) -> bool {
        let fates = self.transact(&mut group).await;
        match fates {
            Ok(fates) => {
                let works = group.into_iter().zip(fates);
                works.for_each(|(work, fate)| work.answer(fate));
                true
            }
            Err(e) => {
                let works = group.into_iter();
                works.for_each(|work| work.answer(Err(e.again())));
                !matches!(e, DbError::Busy(_))
            }
        }
    }
}

impl Writer {
    /// What befell each of the works, once it is committed; or why none of them is.
    async fn transact(
        &self,
        group: &mut [Box<dyn Work>],
    ) -> Result<Vec<Result<(), DbError>>, DbError> {
        let mut connection = self.pool.acquire().await.map_err(error)?;
        // Settings of the connection, which may be the host's. Erased content must not stay in the
        // file's free pages.
        let secure = sqlx::query("PRAGMA secure_delete = ON");
        secure.fetch_all(&mut *connection).await.map_err(error)?;
        let synchronous = sqlx::query(match self.durability {
            Durability::Full => "PRAGMA synchronous = FULL",
            Durability::MayLoseLastWritesOnPowerLoss => "PRAGMA synchronous = NORMAL",
            Durability::MayCorruptOnPowerLoss => "PRAGMA synchronous = OFF",
        });
        synchronous.execute(&mut *connection).await.map_err(error)?;
        let mut transaction = connection.begin_with(BEGIN).await.map_err(error)?;
        let mut fates = Vec::with_capacity(group.len());
        for work in group {
            // A savepoint each, so that one's failure undoes nothing of the others.
            let mut savepoint = transaction.begin().await.map_err(error)?;
            let fate = work.run(&mut Transaction(&mut savepoint)).await;
            match fate {
                Ok(()) => savepoint.commit().await.map_err(error)?,
                Err(_) => savepoint.rollback().await.map_err(error)?,
            }
            fates.push(fate);
        }
        transaction.commit().await.map_err(error)?;
        Ok(fates)
    }
}

struct Transaction<'c>(&'c mut SqliteConnection);

#[async_trait]
impl Connection for Transaction<'_> {
    async fn execute(&mut self, sql: &Sql) -> Result<u64, DbError> {
        let done = query(sql).execute(&mut *self.0).await.map_err(error)?;
        Ok(done.rows_affected())
    }

    async fn fetch(&mut self, sql: &Sql) -> Result<Vec<Row>, DbError> {
        rows(query(sql).fetch_all(&mut *self.0).await.map_err(error)?)
    }
}

fn query(sql: &Sql) -> sqlx::query::Query<'_, Sqlite, SqliteArguments> {
    // Built from the literals of this crate and the table prefix, which is checked; what callers
    // say is in the arguments.
    let query = sqlx::query(AssertSqlSafe(sql.text.clone()));
    sql.args.iter().fold(query, |query, arg| match arg {
        Cell::Null => query.bind(None::<String>),
        Cell::Int(value) => query.bind(*value),
        Cell::Text(value) => query.bind(value.clone()),
    })
}

fn rows(rows: Vec<SqliteRow>) -> Result<Vec<Row>, DbError> {
    let cell = |row: &SqliteRow, index: usize| {
        let raw = row.try_get_raw(index).map_err(error)?;
        if raw.is_null() {
            return Ok(Cell::Null);
        }
        let is_int = raw.type_info().name() == "INTEGER";
        let decoded = match is_int {
            true => <i64 as Decode<Sqlite>>::decode(raw).map(Cell::Int),
            false => <String as Decode<Sqlite>>::decode(raw).map(Cell::Text),
        };
        decoded.map_err(DbError::Other)
    };
    let cells = |row: &SqliteRow| {
        let indices = row.columns().iter().map(|column| column.ordinal());
        indices
            .map(|index| cell(row, index))
            .collect::<Result<Vec<_>, _>>()
    };
    rows.iter().map(|row| cells(row).map(Row::new)).collect()
}

/// Sorts out what an error means (<https://www.sqlite.org/rescode.html>).
fn error(e: sqlx::Error) -> DbError {
    const BUSY: i64 = 5;
    const LOCKED: i64 = 6;
    const TOO_BIG: i64 = 18;
    let code = e
        .as_database_error()
        .and_then(|e| e.code()?.parse::<i64>().ok());
    // The lower byte of an extended code is the primary one.
    match code.map(|code| code & 0xff) {
        Some(BUSY | LOCKED) => DbError::Busy(Box::new(e)),
        Some(TOO_BIG) => DbError::TooLarge(Box::new(e)),
        _ if matches!(e, sqlx::Error::PoolTimedOut) => DbError::Busy(Box::new(e)),
        _ => DbError::other(e),
    }
}
