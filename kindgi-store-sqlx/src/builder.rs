//! Opening a store.

use std::{fmt, sync::Arc};

use kindgi_core::{Clock, SystemClock};

use crate::{SqlxStore, error::OpenError};

/// What an acknowledged write survives.
///
/// Whatever is chosen, an acknowledged write survives the end of the process, `kill -9` included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Durability {
    /// Power loss, too: a write is acknowledged after it is on disk. Where several writes wait,
    /// they share one flush.
    #[default]
    Full,
    /// Not power loss: the last writes before it may be gone, though what is left is whole
    /// (`synchronous = NORMAL` under SQLite's write-ahead log).
    MayLoseLastWritesOnPowerLoss,
    /// Not power loss, after which the file may be unreadable (`synchronous = OFF`). For tests.
    MayCorruptOnPowerLoss,
}

/// Opens a [`SqlxStore`]: see [`SqlxStore::builder`].
#[derive(Clone)]
#[must_use]
pub struct SqlxStoreBuilder {
    prefix: String,
    durability: Durability,
    clock: Arc<dyn Clock>,
}

impl Default for SqlxStoreBuilder {
    fn default() -> Self {
        Self {
            prefix: "kindgi_".to_owned(),
            durability: Durability::Full,
            clock: Arc::new(SystemClock),
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

    /// What an acknowledged write survives: power loss, unless said.
    pub fn durability(mut self, durability: Durability) -> Self {
        self.durability = durability;
        self
    }

    /// The clock that judges the deadlines of idempotency keys: the machine's
    /// ([`SystemClock`]), unless said. It is looked at within the transaction.
    ///
    /// All processes on one SQLite file share one machine, and so its clock. A clock of another
    /// kind must be the same for all of them, and no later than that of the engines that write to
    /// this store: what has ended by it may be purged, operations included.
    ///
    /// Judgments and their operations take their instants from the caller, not from this clock.
    pub fn clock(mut self, clock: impl Clock) -> Self {
        self.clock = Arc::new(clock);
        self
    }

    /// Opens the database at a URL, which is created where it isn't there, and brings its schema
    /// up to date. `sqlite:PATH` opens a file (feature `sqlite`).
    ///
    /// The file is switched to write-ahead logging: beside it `PATH-wal` and `PATH-shm` appear,
    /// and it must be on a local disk.
    pub async fn connect(self, url: &str) -> Result<SqlxStore, OpenError> {
        #[cfg(feature = "sqlite")]
        if url.starts_with("sqlite:") {
            let pool = crate::drivers::sqlite::connect(url).await?;
            return self.sqlite(pool).await;
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
        let prefix = self.checked_prefix()?;
        let database = crate::drivers::sqlite::SqliteDatabase::open(pool, self.durability).await?;
        SqlxStore::open(database, &prefix, self.clock).await
    }

    #[cfg(feature = "sqlite")]
    fn checked_prefix(&self) -> Result<String, OpenError> {
        let fits = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
        let prefix = &self.prefix;
        let starts = !prefix.starts_with(|c: char| c.is_ascii_digit());
        if (1..=32).contains(&prefix.len()) && prefix.bytes().all(fits) && starts {
            return Ok(prefix.clone());
        }
        Err(OpenError::config(
            "the table prefix must be 1 to 32 of a-z, 0-9 and _, and not begin with a digit",
        ))
    }
}

impl fmt::Debug for SqlxStoreBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SqlxStoreBuilder")
            .field("table_prefix", &self.prefix)
            .field("durability", &self.durability)
            .finish_non_exhaustive()
    }
}
