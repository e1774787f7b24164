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
//! | `postgres` | PostgreSQL; tested with 15 |
//!
//! No feature is on unless asked for. MySQL and MariaDB are still to come. The feature `postgres`
//! brings no TLS: a host that connects by it turns one of sqlx's `tls-…` features on.
//!
//! # What an acknowledged write survives
//!
//! The end of the process and, unless [`Durability`] says otherwise, power loss: an answer comes
//! after the write is on disk. On SQLite, writes that wait for the disk share one flush.
//!
//! # Several processes
//!
//! May share one SQLite file on one machine, and any number of nodes one PostgreSQL database, also
//! while they start.
//!
//! On SQLite a write waits up to 10 s for another process's; then it is refused as busy, with all
//! that stand in line behind it, and nothing of them is written.
//!
//! On PostgreSQL the writes of one tenant are one after another, on all nodes; those of several
//! tenants, and those of idempotency keys, are beside each other. A write first takes the tenant's
//! advisory lock, for which it waits up to 10 s, and then looks. If it meets a deadlock all the same,
//! with a purge of keys or a statement of somebody else's, it is done again, a few times. Writes that
//! wait for another node's hold a connection each, one for each tenant.
//!
//! The first to start with newer code brings the schema up to date; others that start wait for it.
//! Building indexes and filling tables keeps writes waiting meanwhile, some 20 s for each million
//! judgments and step of the schema, and changing a table keeps reads of it waiting, too; those that
//! wait for more than 10 s are busy. On SQLite a process that starts then is refused as busy.
//!
//! Code that is older than the schema doesn't open it. Stop all nodes of older code before: those that
//! are open don't notice, and what they write isn't what newer code expects.
//!
//! # Trouble with the server
//!
//! A connection that was ended is replaced, and what it had begun is done again; nobody is told. If
//! the server is away, reads and writes wait for it, up to 10 s ([`connect`](SqlxStoreBuilder::connect)'s
//! pool; a host's own has its own `acquire_timeout`), and then are busy; when it is back, no restart
//! is needed. Only if a connection breaks while a commit is on its way, nobody knows whether it took
//! effect: that is an error of its own, and a request with an idempotency key may be sent again.
//!
//! PostgreSQL indexes at most some 2,700 bytes a row. Ids of 256 characters of up to two bytes fit in
//! any combination; longer ones may not, and are then refused as too large.
//!
//! # What an erasure leaves
//!
//! Erased content is overwritten in SQLite's file (`secure_delete`), and SQLite's log is begun anew.
//! While another connection reads an older state, the log keeps it until a later checkpoint.
//! PostgreSQL overwrites nothing: erased content is in dead rows until they are vacuumed, and in
//! its log and its archive for as long as these are kept. Copies and backups are the host's to look
//! after.
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
//! all processes on the database. Deadlines are by [its clock](SqlxStoreBuilder::clock).
//!
//! A host calls [`purge`](kindgi_core::idempotency::IdempotencyStore::purge) now and then; it drops
//! ended keys, and ended operations of all tenants.
//!
//! # What an operation costs
//!
//! A look-up, and a page of a list with its total, is one statement. On PostgreSQL a statement is a
//! round trip, and the others have a constant number of them, whatever the data and whoever else
//! writes. Recording a judgment takes six at most, its receipt included: begin and lock; look at all
//! that it depends on; end the judgment that it supersedes; count the run's others, if it is in the
//! queue; write everything; commit. An idempotency key adds one for its claim, one for the engine's
//! look at the receipt, and four to keep the answer; a replay is four in all. Only what erases or
//! purges many rows takes more for more of them.
//!
//! # What a list costs
//!
//! Each filter has an index that gives the list's order, so a page by one filter reads no more
//! rows than it shows. Of several filters one index is used, the others are checked row by row on
//! what it gives. Which one it is:
//!
//! - Of judgments: the first of run, participant, class, agent or flow, verdict; each but the run has
//!   an index with the project as well, for a list of one. A caller who may read several projects
//!   but not all walks what the filter gives, or the tenant's list, past what they may not read.
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
