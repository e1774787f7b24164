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
//! another process's; then it is refused as busy, with all that stand in line behind it, and
//! nothing of them is written.
//!
//! # What an erasure leaves
//!
//! Erased content is overwritten in the file (`secure_delete`), and SQLite's log is begun anew.
//! While another connection reads an older state, the log keeps it until a later checkpoint.
//! Copies of the file and of its log are the host's to look after.
//!
//! So are an erased participant's words, what was purged, and the kept answers to requests that were
//! forgotten. The outcomes of operations tell of
//! purged judgments and items as long as they are kept; each step of a purge also drops some that
//! have ended, as many as it looks at rows.
//!
//! # Idempotency keys
//!
//! The store keeps them, too: it is an
//! [`IdempotencyStore`](kindgi_core::idempotency::IdempotencyStore), whose claims are exact among
//! all processes on the file. Deadlines are by [its clock](SqlxStoreBuilder::clock). A key's first
//! request costs two transactions of two statements each, one more for what the answer is about;
//! a replay one of one statement, which writes nothing.
//!
//! A host calls [`purge`](kindgi_core::idempotency::IdempotencyStore::purge) now and then; it drops
//! ended keys, and ended operations of all tenants.
//!
//! # What a list costs
//!
//! Each filter has an index that gives the list's order, so a page by one filter reads no more
//! rows than it shows. Of several filters one index is used, the others are checked row by row on
//! what it gives. Which one it is:
//!
//! - Of judgments: the first of run, participant, class, agent or flow, project, verdict. A caller
//!   who may read several projects but not all walks the tenant's list, past what they may not
//!   read.
//! - Of a queue: that of the open items, if they are asked for; else the first of rule, wanted
//!   class, agent, `closed_after`, state. What is for one caller (`wants_any_or`) is checked on
//!   what the others give. `closed_after` is the one whose rows are sorted: all that have closed
//!   since.
//! - Of judged runs: agent or flow, else project. The segment path, the agent's version and
//!   whether a judgment still lives are checked row by row.
//!
//! How many items a queue has comes with each page, in the same snapshot: from numbers that are
//! kept under a state alone or without a filter; else by counting the index's rows, with the
//! checks as above.
//!
//! A rule's results read that rule's tellings and the live judgments of the runs that it took.

#![cfg_attr(
    not(any(feature = "sqlite", feature = "postgres")),
    allow(dead_code, reason = "no database to use it")
)]

mod builder;
mod dialect;
mod drivers;
mod error;
mod lock;
mod migrate;
mod sql;
mod store;
mod writer;

pub use builder::{Durability, SqlxStoreBuilder};
pub use error::{OpenError, OpenErrorKind};
pub use store::SqlxStore;

/// The sqlx that the pools of this crate's interface are from.
pub use sqlx;
