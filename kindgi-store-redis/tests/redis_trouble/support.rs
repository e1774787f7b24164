//! Connections, and what is said of errors.

use std::{
    sync::atomic::{AtomicU32, Ordering},
    thread,
    time::{Duration, Instant},
};

use kindgi_core::{StoreError, StoreErrorKind};
use kindgi_test_servers::Redis;
use redis::{
    AsyncConnectionConfig, Client,
    aio::{ConnectionManager, ConnectionManagerConfig, MultiplexedConnection},
};

/// How long anything may take before it counts as failed.
pub(crate) const PATIENCE: Duration = Duration::from_mins(1);

/// A prefix that no other test has; all have the same length.
pub(crate) fn prefix() -> String {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    format!("test-{:06}", COUNT.fetch_add(1, Ordering::Relaxed))
}

/// Waits until something is so.
#[track_caller]
pub(crate) fn until(what: &str, mut is: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is() {
        assert!(
            begun.elapsed() < PATIENCE,
            "waited for too long until {what}"
        );
        thread::sleep(Duration::from_millis(1));
    }
}

/// Waits until the server answers anything with this error.
#[track_caller]
pub(crate) fn until_it_tells(server: &Redis, code: &str) {
    until(code, || {
        let told = server.try_command(&["PING"]);
        told.is_err_and(|error| error.to_string().contains(code))
    });
}

fn client(port: u16) -> Client {
    Client::open(format!("redis://127.0.0.1:{port}/")).unwrap()
}

/// A connection that connects again by itself.
pub(crate) async fn manager(port: u16) -> ConnectionManager {
    let config = ConnectionManagerConfig::new().set_response_timeout(Some(PATIENCE));
    let config = config.set_connection_timeout(Some(PATIENCE));
    let manager = ConnectionManager::new_with_config(client(port), config);
    manager.await.unwrap()
}

/// The same, which waits for no server that is gone.
pub(crate) async fn hasty_manager(port: u16) -> ConnectionManager {
    let config = ConnectionManagerConfig::new().set_response_timeout(Some(PATIENCE));
    let config = config.set_connection_timeout(Some(PATIENCE));
    let config = config.set_number_of_retries(0);
    let manager = ConnectionManager::new_with_config(client(port), config);
    manager.await.unwrap()
}

/// A connection that never connects again.
pub(crate) async fn multiplexed(port: u16) -> MultiplexedConnection {
    let config = AsyncConnectionConfig::new().set_response_timeout(Some(PATIENCE));
    let config = config.set_connection_timeout(Some(PATIENCE));
    let client = client(port);
    let connection = client.get_multiplexed_async_connection_with_config(&config);
    connection.await.unwrap()
}

/// A connection of the test's own, to look at the server.
pub(crate) fn direct(port: u16) -> redis::Connection {
    client(port).get_connection().unwrap()
}

pub(crate) fn text(error: &StoreError) -> String {
    let source = std::error::Error::source(error).unwrap();
    format!("{error}: {source}")
}

/// An error that doesn't say whether the step was taken, and says that, and why.
#[track_caller]
fn assert_unsure(error: &StoreError, why: &str) {
    let said = text(error);
    assert_eq!(error.kind(), StoreErrorKind::Other, "{said}");
    let unsure = format!("{why}; it isn't known whether it took effect");
    assert!(
        said.contains(&unsure) && !said.contains("nothing was"),
        "{said}"
    );
}

/// The link broke, maybe after the server had it.
#[track_caller]
pub(crate) fn assert_unknown(error: &StoreError) {
    assert_unsure(error, "the connection broke");
}

/// No answer came in time.
#[track_caller]
pub(crate) fn assert_too_late(error: &StoreError) {
    assert_unsure(error, "no answer in time");
}

/// An error that says why nothing was written.
#[track_caller]
pub(crate) fn assert_refused(error: &StoreError, kind: StoreErrorKind, why: &str) {
    let said = text(error);
    assert_eq!(error.kind(), kind, "{said}");
    assert!(
        said.contains(why) && said.contains("nothing was written"),
        "{said}"
    );
}
