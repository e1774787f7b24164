//! Four hosts on one PostgreSQL and one Redis.

use kindgi_test_servers::{Postgres, Redis};

use super::keys;
use crate::nodes::{do_everything_at_once, keyed, number, start};

#[test]
fn four_hosts_on_postgres_that_do_everything_at_once_keep_every_invariant() {
    let (url, redis) = (Postgres::shared().fresh_database(), Redis::start());
    let hosts = start(&url, &[("RUNS", "10"), ("REDIS_URL", &redis.url())]);
    let answers = do_everything_at_once(&url, &hosts);

    // On Redis, and nowhere else; and whoever is asked again knows the same bytes.
    assert_eq!(keys(&redis), answers.len());
    let beside = "SELECT COUNT(*) FROM kindgi_idempotency_keys";
    assert_eq!(number(&url, beside), 0);
    let rows = "SELECT (SELECT COUNT(*) FROM kindgi_judgments) + (SELECT COUNT(*) FROM \
                kindgi_rule_versions) + (SELECT COUNT(*) FROM kindgi_operations)";
    let before = number(&url, rows);
    for n in 0..answers.len() {
        for host in &hosts {
            let (key, again) = keyed(host.address, n);
            let again = again.expect(201);
            assert_eq!(again.header("x-idempotent-replay"), Some("true"), "{key}");
            assert_eq!(again.body, answers[&key], "{key}");
        }
    }
    assert_eq!(number(&url, rows), before);
}
