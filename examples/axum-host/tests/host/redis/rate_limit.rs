//! One rate limit for all hosts together.

use std::{
    sync::{
        Barrier,
        atomic::{AtomicU64, Ordering},
    },
    thread,
    time::Instant,
};

use kindgi_test_servers::{Postgres, Redis};

use crate::nodes::{NODES, start};

const BURST: u64 = 40;
/// How many threads ask each host, and how often each of them does.
const CLIENTS: usize = 4;
const REQUESTS: usize = 25;

#[test]
fn four_hosts_on_postgres_share_the_limit_of_each_caller() {
    let (url, redis) = (Postgres::shared().fresh_database(), Redis::start());
    let variables = [
        ("REDIS_URL", &*redis.url()),
        ("RATE_LIMIT", "1"),
        ("RATE_BURST", &BURST.to_string()),
    ];
    let hosts = start(&url, &variables);
    let (through, refused) = (AtomicU64::new(0), AtomicU64::new(0));
    let barrier = Barrier::new(NODES * CLIENTS);
    let began = Instant::now();
    thread::scope(|scope| {
        for client in 0..NODES * CLIENTS {
            let (host, barrier) = (&hosts[client % NODES], &barrier);
            let (through, refused) = (&through, &refused);
            scope.spawn(move || {
                barrier.wait();
                for _ in 0..REQUESTS {
                    let answer = host.get("/v1/judgments", "test-token");
                    if answer.status == 200 {
                        through.fetch_add(1, Ordering::Relaxed);
                        continue;
                    }
                    let answer = answer.expect_error(429, "rate-limit-exceeded");
                    let wait: u64 = answer.header("retry-after").unwrap().parse().unwrap();
                    assert!((1..=BURST).contains(&wait), "{wait}");
                    refused.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
    });
    // One more than it took seconds, since the server's seconds begin elsewhere.
    let given_back = began.elapsed().as_secs() + 1;
    let (through, refused) = (through.into_inner(), refused.into_inner());
    assert_eq!(through + refused, (NODES * CLIENTS * REQUESTS) as u64);
    assert!(
        (BURST..=BURST + given_back).contains(&through),
        "{through} went through: at once {BURST} may, and {given_back} by and by"
    );

    // Another caller has a limit of their own, at all hosts.
    for host in &hosts {
        host.get("/v1/judgments", "judge-token").expect(200);
    }
}
