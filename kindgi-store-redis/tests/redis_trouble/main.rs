//! Redis in trouble: links that are cut, servers that stop, are killed, or refuse. `TROUBLE.md` has
//! the table of it. All names have `redis`, since all need it.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

#[path = "all.rs"]
mod redis;
