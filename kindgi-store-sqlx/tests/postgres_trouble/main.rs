//! PostgreSQL in trouble: clients that hang up, connections that break, locks that others hold,
//! many nodes at once. All names have `postgres`, since all need it.

#![cfg(feature = "postgres")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

#[path = "all.rs"]
mod postgres;
