//! The demo host as a process: started, called over real sockets and stopped. One file for each
//! behaviour.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod archive;
mod client;
mod durable;
mod environment;
mod erase;
mod finish_run;
mod greeting;
#[cfg(unix)]
mod idempotency;
mod mount;
mod nodes;
mod people;
mod process;
#[cfg(unix)]
mod redis;
mod seed;
mod seed_queue;
mod stop;
mod story;
mod supersede;
mod verbatim;
