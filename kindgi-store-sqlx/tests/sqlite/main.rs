//! What SQLite adds to the laws: files, processes, schemas and pools.

#![cfg(feature = "sqlite")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod against_memory;
mod cancelling;
mod contention;
mod durability;
mod erasing;
mod host_pool;
mod keys;
mod migrating;
mod operations;
mod processes;
mod purging;
mod queue_calls;
mod requests;
mod schema;
mod second_version;
mod support;
