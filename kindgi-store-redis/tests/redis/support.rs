//! Connections to servers that the tests start, and names that nobody else uses.

use std::{
    sync::atomic::{AtomicU32, Ordering},
    time::Duration,
};

use kindgi_test_servers::{Redis, RedisCluster};
use redis::{
    Client, RedisResult,
    aio::{ConnectionManager, ConnectionManagerConfig},
    cluster::ClusterClientBuilder,
    cluster_async::ClusterConnection,
};

/// For how long a busy machine may keep an answer.
const PATIENCE: Duration = Duration::from_mins(1);

/// A prefix that no other test has.
pub(crate) fn prefix() -> String {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    format!("test-{}", COUNT.fetch_add(1, Ordering::Relaxed))
}

/// A connection to the server of this process.
pub(crate) async fn alone() -> RedisResult<ConnectionManager> {
    manager(Redis::shared()).await
}

/// A connection to a server.
pub(crate) async fn manager(server: &Redis) -> RedisResult<ConnectionManager> {
    let config = ConnectionManagerConfig::new().set_response_timeout(Some(PATIENCE));
    let config = config.set_connection_timeout(Some(PATIENCE));
    ConnectionManager::new_with_config(Client::open(server.url())?, config).await
}

/// A connection to the cluster of this process.
pub(crate) async fn cluster() -> RedisResult<ClusterConnection> {
    let builder = ClusterClientBuilder::new(RedisCluster::shared().urls());
    let builder = builder.response_timeout(PATIENCE);
    let client = builder.connection_timeout(PATIENCE).build()?;
    client.get_async_connection().await
}
