//! Idempotency keys and the rate limit on Redis, in front of each store.

mod lost;
mod nodes;
mod rate_limit;
mod start;
mod stores;

use kindgi_test_servers::Redis;

/// How many idempotency keys a server has.
fn keys(redis: &Redis) -> usize {
    let records = redis.command(&["HLEN", "{kindgi:keys}:records"]);
    records.int().unwrap().try_into().unwrap()
}
