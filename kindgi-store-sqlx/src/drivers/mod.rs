//! The drivers: the only files that name a database of sqlx's. All else speaks through
//! [`Database`] and [`Connection`].

#[cfg(feature = "postgres")]
pub(crate) mod postgres;
#[cfg(feature = "sqlite")]
pub(crate) mod sqlite;

use async_trait::async_trait;

use crate::{
    dialect::Dialect,
    error::DbError,
    lock::Lock,
    sql::{Row, Sql},
    writer::Work,
};

/// A database that reads and writes.
#[async_trait]
pub(crate) trait Database: Send + Sync + 'static {
    fn dialect(&self) -> &'static Dialect;

    /// One statement that reads, outside any transaction.
    async fn read(&self, sql: &Sql) -> Result<Vec<Row>, DbError>;

    /// Does the work in one transaction that holds the lock, on a task of its own, so that dropping
    /// the caller's future can't leave a transaction open. When it is done, it is committed or
    /// undone.
    fn write(&self, lock: Lock, work: Box<dyn Work>);

    /// What a statement is to be made of that writes by itself, outside of any transaction of ours;
    /// `None` if none may, since writes stand in line.
    fn alone(&self) -> Option<Alone> {
        None
    }

    /// Runs such a statement, which may be run twice; gives how many rows it touched.
    async fn run_alone(&self, sql: &Sql) -> Result<u64, DbError> {
        let _ = sql;
        Err(DbError::other("no statement writes by itself here"))
    }

    /// Does what it can that nothing of what was overwritten stays on disk.
    async fn settle(&self);

    /// Ends all connections, once what they do is done.
    async fn close(&self);
}

/// What a statement that writes by itself is made of: `WITH … INSERT … SELECT … FROM …`.
pub(crate) struct Alone {
    /// Its beginning, which makes the settings that a transaction of ours would.
    pub(crate) with: String,
    /// What it selects from, one row.
    pub(crate) from: &'static str,
}

/// A connection inside a transaction.
#[async_trait]
pub(crate) trait Connection: Send {
    /// Runs a statement; gives how many rows it touched.
    async fn execute(&mut self, sql: &Sql) -> Result<u64, DbError>;

    /// Runs a statement; gives its rows.
    async fn fetch(&mut self, sql: &Sql) -> Result<Vec<Row>, DbError>;

    /// Runs statements of which none sees what another does, and no two change the same row: in one
    /// round trip where the database can.
    async fn together(&mut self, all: &[Sql]) -> Result<(), DbError> {
        for sql in all {
            self.execute(sql).await?;
        }
        Ok(())
    }
}

impl dyn Connection + '_ {
    /// The first row, if there is one.
    pub(crate) async fn fetch_first(&mut self, sql: &Sql) -> Result<Option<Row>, DbError> {
        Ok(self.fetch(sql).await?.into_iter().next())
    }
}
