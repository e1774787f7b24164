//! Kindgi's storage promise kept on a SQL database.
//!
//! ```no_run
//! use kindgi_store_sqlx::SqlxStore;
//!
//! # async fn open() -> Result<(), kindgi_store_sqlx::OpenError> {
//! let store = SqlxStore::builder().connect("sqlite:judgments.db").await?;
//! # Ok(())
//! # }
//! ```
//!
//! | feature | database |
//! | --- | --- |
//! | `sqlite` | SQLite, built from its bundled source; nothing to install |
//!
//! No feature is on unless asked for. PostgreSQL and MySQL or MariaDB are still to come.
//!
//! # What an acknowledged write survives
//!
//! The end of the process and, unless [`Durability`] says otherwise, power loss: an answer comes
//! after the write is on disk. Writes that wait for the disk share one flush.
//!
//! # Several processes
//!
//! May share one SQLite file on one machine, also while they start. A write waits up to 10 s for
//! another process's; then it is refused as busy, and nothing of it is written.

#![cfg_attr(
    not(feature = "sqlite"),
    allow(dead_code, reason = "no database to use it")
)]

mod builder;
mod dialect;
mod drivers;
mod error;
mod migrate;
mod sql;
mod store;
mod writer;

pub use builder::{Durability, SqlxStoreBuilder};
pub use error::{OpenError, OpenErrorKind};
pub use store::SqlxStore;

/// The sqlx that the pools of this crate's interface are from.
pub use sqlx;
