//! How a script is run: in one round trip, once more if the link broke.

use std::sync::LazyLock;

use redis::{Cmd, ErrorKind, ServerErrorKind, Value, aio::ConnectionLike};

use crate::error::Trouble;

/// A connection to Redis that can be shared: redis's `ConnectionManager`, `MultiplexedConnection` or
/// `ClusterConnection`, or whatever else is one.
pub trait Connection: ConnectionLike + Clone + Send + Sync + 'static {}

impl<C: ConnectionLike + Clone + Send + Sync + 'static> Connection for C {}

/// A script and what the server knows it by.
pub(crate) struct Script {
    code: &'static str,
    hash: String,
}

pub(crate) type LazyScript = LazyLock<Script>;

impl Script {
    pub(crate) fn new(code: &'static str) -> Self {
        let hash = redis::Script::new(code).get_hash().to_owned();
        Self { code, hash }
    }

    /// Runs it. The keys are all that it touches.
    ///
    /// Where the link broke it is run once more, since it may not have run before. So each script
    /// must know itself when it comes again, or be such that twice is like once. Connections to a
    /// cluster send again by themselves, too.
    pub(crate) async fn run<C: Connection>(
        &self,
        connection: &C,
        keys: &[&str],
        arguments: &[&[u8]],
    ) -> Result<Value, Trouble> {
        let mut connection = connection.clone();
        match self.run_once(&mut connection, keys, arguments).await {
            Err(trouble) if trouble.is_broken_link() => {
                let again = self.run_once(&mut connection, keys, arguments).await;
                again.map_err(Trouble::after_broken_link)
            }
            answer => answer,
        }
    }

    async fn run_once<C: Connection>(
        &self,
        connection: &mut C,
        keys: &[&str],
        arguments: &[&[u8]],
    ) -> Result<Value, Trouble> {
        let known = command("EVALSHA", &self.hash, keys, arguments);
        match known.query_async(connection).await {
            Err(e) if e.kind() == ErrorKind::Server(ServerErrorKind::NoScript) => {
                // The whole of it, which the server keeps for the next.
                let whole = command("EVAL", self.code, keys, arguments);
                Ok(whole.query_async(connection).await?)
            }
            answer => Ok(answer?),
        }
    }
}

fn command(name: &str, script: &str, keys: &[&str], arguments: &[&[u8]]) -> Cmd {
    let mut command = redis::cmd(name);
    command.arg(script).arg(keys.len()).arg(keys);
    for argument in arguments {
        command.arg(*argument);
    }
    command
}
