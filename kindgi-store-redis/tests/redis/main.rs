//! What holds on Redis: the laws, on one server and on a cluster, and what is beyond them. All names
//! have `redis`, since all need it.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

#[path = "all.rs"]
mod redis;
