//! Measures how much memory Redis needs for each kept key, each held key and each caller, on a server
//! of its own: by how much `used_memory` grows for 100 000 of them.
//!
//! ```sh
//! cargo run --release -p kindgi-store-redis --example bytes_per_key
//! ```

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "an example")]

use std::{collections::BTreeMap, num::NonZeroU32, time::Instant};

use futures_util::{StreamExt, stream};
use kindgi_core::{
    idempotency::{About, Claim, HOLD, IdempotencyStore, KEEP, KeptAnswer, Outcome, Token},
    model::Principal,
    rate_limit::RateLimiter,
    store::OperationId,
};
use kindgi_store_redis::{RedisIdempotencyStore, RedisRateLimiter};
use kindgi_test_servers::Redis;
use redis::{AsyncConnectionConfig, Client, aio::MultiplexedConnection};

const COUNT: u64 = 100_000;
const AT_ONCE: usize = 100;

type Store = RedisIdempotencyStore<MultiplexedConnection>;

#[tokio::main]
async fn main() {
    println!("| what | bytes each | a second |\n| --- | --- | --- |");
    measure("caller of the rate limit", COUNT, callers).await;
    measure("held key", COUNT, held).await;
    for (body, things) in [
        (0, 2),
        (300, 2),
        (1_000, 2),
        (1_000, 0),
        (1_000, 5),
        (10_000, 2),
    ] {
        let what = format!("kept key, body of {body} bytes, about {things} things");
        measure(&what, 2 * COUNT, |server| kept(server, body, things)).await;
    }
}

/// Does it on a new server, and tells what it took.
async fn measure<F: Future<Output = ()>>(
    what: &str,
    steps: u64,
    work: impl FnOnce(MultiplexedConnection) -> F,
) {
    let server = Redis::start_with(&[("enable-debug-command", "local")]);
    // Else callers are forgotten before the last one came.
    server.command(&["DEBUG", "SET-ACTIVE-EXPIRE", "0"]);
    let client = Client::open(server.url()).unwrap();
    // A busy machine may keep an answer for long.
    let config = AsyncConnectionConfig::new().set_response_timeout(None);
    let connection = client.get_multiplexed_async_connection_with_config(&config);
    let connection = connection.await.unwrap();
    let before = used(&server);
    let start = Instant::now();
    work(connection).await;
    let each = (used(&server) - before) / COUNT;
    let rate = steps as f64 / start.elapsed().as_secs_f64();
    println!("| {what} | {each} | {rate:.0} |");
}

fn used(server: &Redis) -> u64 {
    let info = server.command(&["INFO", "memory"]);
    let fields: BTreeMap<&str, &str> = info
        .text()
        .unwrap()
        .lines()
        .filter_map(|line| line.trim_end().split_once(':'))
        .collect();
    fields["used_memory"].parse().unwrap()
}

async fn kept(connection: MultiplexedConnection, body: usize, things: u64) {
    let store = RedisIdempotencyStore::new(connection);
    let answer = KeptAnswer {
        status: 201,
        headers: vec![
            ("content-type".to_owned(), "application/json".into()),
            (
                "location".to_owned(),
                "/v1/judgments/0123456789abcdef".into(),
            ),
        ],
        body: vec![b'x'; body].into(),
    };
    let outcome = &Outcome::Answer(answer);
    let store = &store;
    each(|number| async move {
        let (key, token) = claim(store, number).await;
        let about: Vec<About> = (0..things)
            .map(|thing| About::Run(format!("run-{number}-{thing}").parse().unwrap()))
            .collect();
        let kept = store.complete(&key, &token, outcome, &about, KEEP);
        kept.await.unwrap();
    })
    .await;
}

async fn held(connection: MultiplexedConnection) {
    let store = &RedisIdempotencyStore::new(connection);
    each(|number| async move {
        claim(store, number).await;
    })
    .await;
}

async fn claim(store: &Store, number: u64) -> (OperationId, Token) {
    let mut key = [0; 32];
    for (part, of) in key.chunks_mut(16).zip([Token::random(), Token::random()]) {
        part.copy_from_slice(&of.0);
    }
    let (key, token) = (OperationId(key), Token::random());
    let claim = Claim {
        tenant: &format!("tenant-{}", number % 10).parse().unwrap(),
        key: &key,
        body: &[7; 32],
        token: &token,
        // Long enough to be there when all are.
        hold: 10 * HOLD,
    };
    store.begin(claim).await.unwrap();
    (key, token)
}

async fn callers(connection: MultiplexedConnection) {
    let limiter = &RedisRateLimiter::per_second(connection, NonZeroU32::MIN);
    each(|number| async move {
        let who = format!("caller-{number}");
        let who = Principal::user("tenant".parse().unwrap(), who.parse().unwrap());
        limiter.check(&who).await.unwrap();
    })
    .await;
}

async fn each<F: Future<Output = ()>>(work: impl Fn(u64) -> F) {
    let all = stream::iter(0..COUNT).map(work);
    all.buffer_unordered(AT_ONCE).collect::<Vec<()>>().await;
}
