//! What is on Redis where `REDIS_URL` says so, for all hosts on the same server together:
//! idempotency keys and the rate limit.
//!
//! A cluster takes another connection; all else is the same. `kindgi-store-redis` has the feature
//! `cluster-async` for it, and in `connect` it says
//!
//! ```text
//! let client = redis::cluster::ClusterClient::builder(urls_of_some_nodes)
//!     .response_timeout(ANSWERS_WITHIN)
//!     .build()?;
//! let connection = client.get_async_connection().await?;
//! ```
//!
//! which connects at once: such a host waits with its start until the cluster is there.

use std::{
    error::Error as _,
    fmt,
    io::{self, Write as _},
    time::Duration,
};

use kindgi_core::BoxError;
use kindgi_store_redis::{
    eviction,
    redis::{
        Client, ConnectionInfo, IntoConnectionInfo as _,
        aio::{ConnectionManager, ConnectionManagerConfig},
    },
};

/// How long a request waits for Redis's answer.
const ANSWERS_WITHIN: Duration = Duration::from_secs(2);
/// How often it is tried to connect again before a request is refused: for less than a second.
const RETRIES: usize = 2;

/// The connection that all requests share. It connects when it is first used, and again when it
/// broke, so the host starts without its Redis, too; it looks once, and says what is wrong.
pub(crate) async fn connect(url: &str) -> Result<ConnectionManager, BoxError> {
    let config = ConnectionManagerConfig::new()
        .set_response_timeout(Some(ANSWERS_WITHIN))
        .set_number_of_retries(RETRIES);
    let client = Client::open(noticing_the_gone(url.into_connection_info()?))?;
    let connection = ConnectionManager::new_lazy_with_config(client, config)?;
    match eviction(&connection).await {
        Ok(eviction) if eviction.is_worrying() => warn(format_args!("{eviction}")),
        Ok(_) => {}
        Err(error) => {
            // The error itself says only whether it may pass.
            let why = error
                .source()
                .map_or(error.to_string(), |why| why.to_string());
            warn(format_args!(
                "Redis doesn't answer yet ({why}); until it does, writes with a key fail, and all \
                 requests under a rate limit"
            ));
        }
    }
    Ok(connection)
}

/// A server that goes without a word, as its machine does, would be waited for until TCP gives up,
/// which takes a quarter of an hour by default.
#[cfg(target_os = "linux")]
fn noticing_the_gone(server: ConnectionInfo) -> ConnectionInfo {
    let tcp = server.tcp_settings().clone();
    server.set_tcp_settings(tcp.set_user_timeout(2 * ANSWERS_WITHIN))
}

/// Elsewhere it is for the system to set.
#[cfg(not(target_os = "linux"))]
fn noticing_the_gone(server: ConnectionInfo) -> ConnectionInfo {
    server
}

/// Tells whoever runs the host. A real host has a log for that.
fn warn(what: fmt::Arguments<'_>) {
    let _ = writeln!(io::stderr(), "axum-host: REDIS_URL: {what}");
}
