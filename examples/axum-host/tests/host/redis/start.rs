//! The host starts whatever its Redis does, and says what is wrong with it.

use std::{
    net::TcpListener,
    thread,
    time::{Duration, Instant},
};

use kindgi_test_servers::Redis;

use crate::{
    client::PATIENCE,
    idempotency::Write,
    process::{Host, refused},
};

/// What a host says of a Redis as it starts: with a port that is taken it ends after that.
fn said_of(url: &str) -> String {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let (status, said) = refused(&[("PORT", &port), ("REDIS_URL", url)]);
    assert_eq!(status, Some(1), "{said}");
    let lines: Vec<&str> = said.lines().filter(|line| !line.contains("PORT")).collect();
    lines.join("\n")
}

#[test]
fn a_server_that_evicts_is_named_and_one_that_does_not_is_not() {
    let evicting = Redis::start_with(&[("maxmemory-policy", "allkeys-lru")]);
    let said = said_of(&evicting.url());
    assert!(
        said.contains("REDIS_URL") && said.contains("allkeys-lru"),
        "{said}"
    );
    assert_eq!(said_of(&Redis::start().url()), "");
}

#[test]
fn a_host_starts_before_its_server_and_uses_it_once_it_is_there() {
    let mut redis = Redis::start();
    redis.kill();
    let said = said_of(&redis.url());
    assert!(
        said.contains("REDIS_URL") && said.contains("no server answers"),
        "{said}"
    );

    let url = redis.url();
    let host = Host::start(&[("REDIS_URL", &url)]);
    let limited = Host::start(&[("REDIS_URL", &url), ("RATE_LIMIT", "1000")]);
    let write = Write::judgment("early", 1);
    let error = write.send(host.address).unwrap();
    error.expect_error(500, "internal-server-error");
    host.judge("run-1", "/matches/0", "test-token").expect(201);
    // Nothing is let through that can't be counted.
    let read = || limited.get("/v1/judgments", "test-token");
    read().expect_error(503, "database-busy");
    let judged = limited.judge("run-1", "/matches/0", "test-token");
    judged.expect_error(500, "internal-server-error");

    redis.start_again();
    let began = Instant::now();
    let until_201 = || {
        loop {
            let answer = write.send(host.address).unwrap();
            if answer.status == 201 {
                return answer;
            }
            answer.expect_error(500, "internal-server-error");
            assert!(began.elapsed() < PATIENCE, "it doesn't connect");
            thread::sleep(Duration::from_millis(50));
        }
    };
    assert_eq!(until_201().header("x-idempotent-replay"), None);
    assert_eq!(super::keys(&redis), 1);
    while read().status != 200 {
        assert!(began.elapsed() < PATIENCE, "it doesn't connect");
        thread::sleep(Duration::from_millis(50));
    }
    // What failed took no effect, and what was judged meanwhile did.
    assert_eq!(host.get("/v1/judgments", "test-token").count("/data"), 2);
    assert_eq!(read().count("/data"), 0);
}
