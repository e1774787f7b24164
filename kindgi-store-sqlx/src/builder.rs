//! Opening a store.

use std::{fmt, sync::Arc};

use kindgi_core::Clock;

use crate::{SqlxStore, error::OpenError};

/// What an acknowledged write survives.
///
/// Whatever is chosen, an acknowledged write survives the end of the process, `kill -9` included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Durability {
    /// Power loss, too: a write is acknowledged after it is on disk. Where several writes wait,
    /// they share one flush. On PostgreSQL, `synchronous_commit` is left as the server has it, but
    /// never `off`; whether the disk may be trusted (`fsync`) is the server's.
    #[default]
    Full,
    /// Not power loss: the last writes before it may be gone, though what is left is whole
    /// (`synchronous = NORMAL` under SQLite's write-ahead log, `synchronous_commit = off` on
    /// PostgreSQL).
    MayLoseLastWritesOnPowerLoss,
    /// Not power loss, after which SQLite's file may be unreadable (`synchronous = OFF`); on
    /// PostgreSQL, what is written stays readable, and this is as the one before. For tests.
    MayCorruptOnPowerLoss,
}

/// Opens a [`SqlxStore`]: see [`SqlxStore::builder`].
#[derive(Clone)]
#[must_use]
pub struct SqlxStoreBuilder {
    prefix: String,
    schema: Option<String>,
    durability: Durability,
    clock: Option<Arc<dyn Clock>>,
}

impl Default for SqlxStoreBuilder {
    fn default() -> Self {
        Self {
            prefix: "kindgi_".to_owned(),
            schema: None,
            durability: Durability::Full,
            clock: None,
        }
    }
}

impl SqlxStoreBuilder {
    /// What the names of the store's tables and indexes begin with: `kindgi_`, unless said. 1 to
    /// 32 of `a-z`, `0-9` and `_`, the first not a digit.
    pub fn table_prefix(mut self, prefix: impl Into<String>) -> Self {
        self.prefix = prefix.into();
        self
    }

    /// The schema that the store's tables are in, which is created where it isn't there. Unless
    /// said, they are where the connection creates tables by itself: the first schema of its
    /// `search_path`, as it is when the store is opened. 1 to 32 of `a-z`, `0-9` and
    /// `_`, the first not a digit. PostgreSQL only: SQLite has no schemas, and refuses one.
    #[cfg(feature = "postgres")]
    pub fn schema(mut self, schema: impl Into<String>) -> Self {
        self.schema = Some(schema.into());
        self
    }

    /// What an acknowledged write survives: power loss, unless said.
    pub fn durability(mut self, durability: Durability) -> Self {
        self.durability = durability;
        self
    }

    /// The clock that judges the deadlines of idempotency keys. Unless said: on SQLite the machine's
    /// ([`SystemClock`](kindgi_core::SystemClock)), which all processes on a file share; on
    /// PostgreSQL the server's. It is looked at within the transaction; but a given one, for a claim
    /// on PostgreSQL, before there is a connection.
    ///
    /// A clock of another kind must be the same for all that share the database. Whatever the clock,
    /// keep it together with those of the engines that write to this store: what has ended by it may
    /// be purged, operations included, so that where it is ahead, receipts end that much earlier.
    ///
    /// Judgments and their operations take their instants from the caller, not from this clock.
    pub fn clock(mut self, clock: impl Clock) -> Self {
        self.clock = Some(Arc::new(clock));
        self
    }

    /// Opens the database at a URL and brings its schema up to date.
    ///
    /// - `sqlite:PATH` (feature `sqlite`) opens a file, which is created where it isn't there. It
    ///   is switched to write-ahead logging: beside it `PATH-wal` and `PATH-shm` appear, and it must
    ///   be on a local disk.
    /// - `postgres://USER:PASSWORD@HOST/DATABASE` or `postgresql:…` (feature `postgres`) opens a
    ///   pool of at most 10 connections to a database that is there. What else such a URL may say
    ///   is sqlx's ([`PgConnectOptions`](https://docs.rs/sqlx/0.9/sqlx/postgres/struct.PgConnectOptions.html)).
    pub async fn connect(self, url: &str) -> Result<SqlxStore, OpenError> {
        #[cfg(feature = "sqlite")]
        if url.starts_with("sqlite:") {
            let pool = crate::drivers::sqlite::connect(url).await?;
            return self.sqlite(pool).await;
        }
        #[cfg(feature = "postgres")]
        if url.starts_with("postgres:") || url.starts_with("postgresql:") {
            let pool = crate::drivers::postgres::connect(url).await?;
            return self.postgres(pool).await;
        }
        let scheme = url.split(':').next().unwrap_or_default();
        Err(OpenError::config(format!(
            "no driver for URLs that begin with `{scheme}:`; is the feature on?"
        )))
    }

    /// Takes over a pool of the host's, and brings the schema up to date. The host goes on to use
    /// its pool as it likes; what the store's tables hold is the store's.
    ///
    /// The file is switched to write-ahead logging. Where it can't be (a database in memory, some
    /// network file systems), all promises hold, but readers and the writer wait for each other.
    /// The connection that writes is set to the store's [`Durability`], and stays so.
    ///
    /// The store takes a connection for each read, and one for a group of writes. A host that
    /// holds all of its pool's connections while it waits for the store waits until the pool's
    /// `acquire_timeout`, and then gets a busy error.
    #[cfg(feature = "sqlite")]
    pub async fn sqlite(self, pool: sqlx::SqlitePool) -> Result<SqlxStore, OpenError> {
        let prefix = name("table prefix", &self.prefix)?;
        if self.schema.is_some() {
            return Err(OpenError::config("SQLite has no schemas"));
        }
        let database = crate::drivers::sqlite::SqliteDatabase::open(pool, self.durability).await?;
        SqlxStore::open(database, prefix, None, self.clock).await
    }

    /// Takes over a pool of the host's, and brings the schema up to date. The host goes on to use
    /// its pool as it likes; what the store's tables hold is the store's.
    ///
    /// The store takes a connection for each read, and one for each write, of which it leaves two
    /// of the pool's to reads. Writes that lock the same stand in line before they take one. A host
    /// that holds all of its pool's connections while it waits for the store waits until the pool's
    /// `acquire_timeout`, and then gets a busy error. The pool must not go through a proxy that
    /// gives a transaction's statements to different connections; one that gives whole
    /// transactions is fine if it knows prepared statements.
    ///
    /// Lists are fastest under `plan_cache_mode = force_custom_plan`, which [`connect`](Self::connect)
    /// sets: the plan that PostgreSQL else makes after some uses for any values may be a bad one for
    /// a value that few rows have.
    #[cfg(feature = "postgres")]
    pub async fn postgres(self, pool: sqlx::PgPool) -> Result<SqlxStore, OpenError> {
        let prefix = name("table prefix", &self.prefix)?;
        let schema = match self.schema.as_deref() {
            Some(schema) => name("schema", schema)?.to_owned(),
            None => crate::drivers::postgres::current_schema(&pool).await?,
        };
        let place = quoted_place(Some(&schema), prefix);
        let durability = self.durability;
        let database = crate::drivers::postgres::PostgresDatabase::new(pool, durability, &place);
        SqlxStore::open(database, prefix, Some(&schema), self.clock).await
    }
}

/// What the names of tables begin with in statements.
pub(crate) fn quoted_place(schema: Option<&str>, prefix: &str) -> String {
    match schema {
        Some(schema) => format!("\"{}\".{prefix}", schema.replace('"', "\"\"")),
        None => prefix.to_owned(),
    }
}

/// A name that needs no more care in any statement.
#[cfg(any(feature = "sqlite", feature = "postgres"))]
fn name<'n>(what: &str, name: &'n str) -> Result<&'n str, OpenError> {
    let fits = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    let starts = !name.starts_with(|c: char| c.is_ascii_digit());
    if (1..=32).contains(&name.len()) && name.bytes().all(fits) && starts {
        return Ok(name);
    }
    Err(OpenError::config(format!(
        "the {what} must be 1 to 32 of a-z, 0-9 and _, and not begin with a digit"
    )))
}

impl fmt::Debug for SqlxStoreBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SqlxStoreBuilder")
            .field("table_prefix", &self.prefix)
            .field("schema", &self.schema)
            .field("durability", &self.durability)
            .finish_non_exhaustive()
    }
}
