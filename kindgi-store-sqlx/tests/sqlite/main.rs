//! What SQLite adds to the laws: files, processes, schemas and pools.

#![cfg(feature = "sqlite")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod cancelling;
mod contention;
mod durability;
mod erasing;
mod host_pool;
mod migrating;
mod processes;
mod requests;
mod schema;
mod support;
