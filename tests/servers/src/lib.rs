//! Private database servers for tests: each has a folder and a port of its own, and ends with the
//! process that started it, however that ends. No other server is touched. Unix only.
//!
//! ```no_run
//! let url = kindgi_test_servers::Postgres::shared().fresh_database();
//! ```
//!
//! A test that needs PostgreSQL has `postgres` in its full path, module or function, one that needs
//! Redis has `redis`, so that `scripts/test` can leave it out, and say so, where that isn't
//! installed.

mod child;
mod find;
pub mod postgres;
pub mod redis;
mod serve;

use std::fmt;

pub use postgres::Postgres;
pub use redis::{Redis, RedisCluster};
pub use serve::{Running, serve};

/// Why there is no server.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// Its programs aren't installed; the text says what to install.
    Missing(String),
    /// Anything else. The text has the server's log where there is one.
    Failed(String),
}

impl Error {
    /// For `map_err`: the error with what was tried before it.
    fn on<E: fmt::Display>(what: impl fmt::Display) -> impl FnOnce(E) -> Self {
        move |error| Self::Failed(format!("{what}: {error}"))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing(text) | Self::Failed(text) => f.write_str(text),
        }
    }
}

impl std::error::Error for Error {}
