//! What holds on PostgreSQL beyond the laws. All names have `postgres`, since all need it.

#![cfg(feature = "postgres")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

#[path = "all.rs"]
mod postgres;
