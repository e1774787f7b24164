//! Keys on Redis in front of SQLite and of memory.

use kindgi_test_servers::Redis;

use super::keys;
use crate::{
    idempotency::{Write, folder, two_hosts_do_each_write_once},
    process::Host,
};

#[test]
fn two_hosts_on_one_file_do_a_write_that_both_get_at_once_a_single_time() {
    let ((_folder, url), redis) = (folder(), Redis::start());
    let variables = [("DATABASE_URL", &*url), ("REDIS_URL", &*redis.url())];
    let writes = two_hosts_do_each_write_once(&variables);
    assert_eq!(keys(&redis), writes);
}

#[test]
fn an_answer_outlives_the_host_whose_judgments_are_in_memory() {
    let redis = Redis::start();
    let start = || Host::start(&[("REDIS_URL", &redis.url())]);
    let write = Write::judgment("kept", 1);
    let first = {
        let host = start();
        write.send(host.address).unwrap().expect(201)
    };
    assert_eq!(first.header("x-idempotent-replay"), None);
    let (again, other) = (start(), start());
    for host in [&again, &other] {
        let replayed = write.send(host.address).unwrap().expect(201);
        assert_eq!(replayed.header("x-idempotent-replay"), Some("true"));
        assert_eq!(replayed.body, first.body);
        assert_eq!(host.get("/v1/judgments", "test-token").count("/data"), 0);
    }
}
