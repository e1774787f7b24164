//! Kindgi's idempotency keys and a rate limit that all nodes share, kept on Redis, in front of any
//! store.
//!
//! ```no_run
//! use std::{num::NonZeroU32, time::Duration};
//!
//! use kindgi_core::{engine::EngineBuilder, host::{Permissions, Runs}};
//! use kindgi_store_redis::{RedisIdempotencyStore, RedisRateLimiter, eviction, redis};
//! use kindgi_tower::{KindgiService, KindgiServiceBuilder};
//! use redis::aio::{ConnectionManager, ConnectionManagerConfig};
//!
//! # async fn example(engine: EngineBuilder) -> Result<KindgiServiceBuilder, kindgi_core::BoxError> {
//! let config = ConnectionManagerConfig::new()
//!     .set_response_timeout(Some(Duration::from_secs(2)))
//!     .set_number_of_retries(2);
//! let client = redis::Client::open("redis://127.0.0.1/")?;
//! let connection = ConnectionManager::new_lazy_with_config(client, config)?;
//!
//! match eviction(&connection).await {
//!     Ok(evicts) if evicts.is_worrying() => eprintln!("{evicts}"),
//!     Ok(_) => {}
//!     Err(e) => eprintln!("Redis doesn't answer yet: {e}"),
//! }
//!
//! let a_hundred = NonZeroU32::new(100).unwrap();
//! let limiter = RedisRateLimiter::per_second(connection.clone(), a_hundred);
//! let engine = engine.idempotency(RedisIdempotencyStore::new(connection)).build();
//! let service = KindgiService::builder(engine).rate_limiter(limiter);
//! # Ok(service)
//! # }
//! ```
//!
//! | feature | |
//! | --- | --- |
//! | `connection-manager` | redis's `ConnectionManager`, which connects again by itself |
//! | `cluster-async` | redis's connection to a cluster |
//! | `tracing` | what [`eviction`] finds is also told as a warning |
//!
//! No feature is on unless asked for. TLS is the host's to choose: it turns one of redis's own
//! features on. Tested with Redis 7.0.
//!
//! # Connections
//!
//! One connection carries all requests of a node at once; there is no pool. It may be a
//! `ConnectionManager`, a connection to a cluster, or a `MultiplexedConnection`, which doesn't
//! connect again once it broke. All are cheap to clone.
//!
//! How long a call waits is up to the connection:
//!
//! - `ConnectionManager` and `MultiplexedConnection`: 500 ms for an answer and 1 s to connect, unless
//!   said. A manager whose server is away tries to connect seven times, unless said, and lets calls
//!   wait for it meanwhile, for some 10 s; with `set_number_of_retries(2)` for less than 1 s. It
//!   connects when it is first used, or used again, so a host may start before its server does.
//!   Those times are of a port that refuses; where nothing answers at all, each try takes the whole
//!   second. A server that goes without a word is noticed when TCP gives up, after many minutes:
//!   set a `user_timeout` in the connection's `TcpSettings`. A server that was made a replica ends no
//!   connection by itself: whoever does that ends them (`CLIENT KILL TYPE normal`), as Sentinel does.
//! - A connection to a cluster waits for an answer without end, unless it is told a
//!   `response_timeout`, which then is for all it tries.
//!
//! # What a step costs
//!
//! One round trip, for one script; [`purge`](RedisIdempotencyStore) one for each 200 records. A
//! script that the server doesn't know, as after its restart, is sent once more, in whole.
//!
//! # What is stored
//!
//! Names begin with `kindgi`, or what a host says in its place. All that is stored is small but for
//! the answers.
//!
//! - `{kindgi:keys}:records`, `:ends` and `:index` are all idempotency keys. What is in braces is a
//!   hash tag: on a cluster they are on one node, with all tenants, since a step on a key is not told
//!   whose it is, and forgetting is one step for a whole tenant. They don't expire by themselves;
//!   a claim drops up to eight records that have ended, so they don't grow for want of a
//!   [purge](kindgi_core::idempotency::IdempotencyStore::purge), and a purge in the end leaves
//!   nothing. If one of the three is lost alone, as by an eviction, delete the others, too.
//! - `kindgi:rate:100:…` is a caller under a limit of 100 a second, and expires when the caller has
//!   the whole burst again. On a cluster they are on all nodes.
//!
//! All deadlines are judged by the server's clock, within the script. After a failover to a server
//! whose clock is behind or ahead, holds and answers end so much later or sooner.
//!
//! Memory for each, by what `used_memory` grew for 100 000 of them on Redis 7.0 (jemalloc), with two
//! headers (`cargo run --release -p kindgi-store-redis --example bytes_per_key`):
//!
//! | what | bytes each |
//! | --- | --- |
//! | kept key, about two things, with a body of 0 bytes | 844 |
//! | the same with 300 | 1228 |
//! | the same with 1000 | 1868 |
//! | the same with 10 000 | 10 828 |
//! | kept key, about nothing, with a body of 1000 bytes | 1517 |
//! | kept key, about five things, with a body of 1000 bytes | 2641 |
//! | held key | 491 |
//! | caller of the rate limit | 198 |
//!
//! # What is forgotten
//!
//! Answers about what is erased are removed in the step that forgets them. What else Redis has of
//! them is the host's to look after: its append-only file, its snapshots, its replicas and what it
//! still has to tell them, and a slow log, which may have the beginning of an answer.
//!
//! The step looks at the answers about the thing, and at all that is held for the tenant then. Who
//! holds a key while more than 256 things are forgotten can't keep an answer about anything any more:
//! it is `Forgotten`, whatever it is about.
//!
//! # What an answered step survives
//!
//! As much as the server keeps: by default a snapshot now and then, with `appendonly yes` all but the
//! last second, with `appendfsync always` all. Replicas are told after the answer, so that a failover
//! may lose the last steps. A server that doesn't know that another took its place goes on alone, and
//! what it tells is forgotten with it, unless `min-replicas-to-write` keeps it from writing: no key is
//! claimed, nor an answer given again, where nothing may be written. If keys are lost, requests that were answered may run again: the receipts
//! in the store of judgments keep effects of Kindgi's own operations at most once all the same. A
//! host's own routes behind an `IdempotencyLayer` have no receipts.
//!
//! A server that is short of memory must not evict keys: see [`eviction`].
//!
//! # Trouble with the server
//!
//! A step whose connection broke is sent once more, since it may or may not have been taken. It knows
//! itself then: a claim by its token, an answer that is kept, a release and a request that is
//! counted by a mark of the call. So it is taken once, and answered as it was the first time, up to
//! a minute later, also beneath another's claim. Only a request that is counted may count twice, if
//! another of the same caller came between; never does one too many go through on one server. One
//! that takes another's place may give callers a burst anew.
//!
//! | what happened | error |
//! | --- | --- |
//! | nobody answers on the port; `-LOADING`, `-BUSY`, `-READONLY`, `-MASTERDOWN`, `-NOREPLICAS`, `-CLUSTERDOWN`, `-TRYAGAIN` | busy: nothing was written |
//! | `-OOM`, `-MISCONF`, `-NOAUTH`, `-WRONGPASS`, `-NOPERM`; `-MOVED`, `-ASK` or `-CROSSSLOT` from a node of a cluster | other: nothing was written, and won't be until somebody does something; the message says what |
//! | the connection broke twice; no answer in time | other: it isn't known whether the step was taken. A hold lapses by itself, 30 s later at most |
//! | what is stored can't be read; the server lets scripts run, but refuses a command within them | other |
//!
//! Without memory (`-OOM`) only claims and requests that are counted are refused. Whoever holds a key
//! can renew it, answer it and release it, and what is to be forgotten is forgotten.
//!
//! Who was cut off holds a key until the hold ends by the server's clock, and not longer. A claim may
//! reach the server when its caller has released it already, by a second connection; it is a hold of
//! nobody's then, until it ends. A purge that is sent again doesn't count what the first dropped, and
//! may drop as much again.
//!
//! A `ConnectionManager` whose server is there again may tell one more call that it isn't.
//!
//! A connection to a cluster sends again by itself, more often. If it can reach no node in the end, it
//! isn't known, either; and what such a connection tells as busy may have been taken by a node that
//! was gone before it could answer.
//!
//! `TROUBLE.md`, beside the crate's manifest, has a row for each fault that is tested: what the caller
//! sees, and what is in Redis afterwards.

mod clock;
mod codec;
mod error;
mod idempotency;
mod keys;
mod rate_limit;
mod script;
mod server;

pub use idempotency::RedisIdempotencyStore;
pub use rate_limit::RedisRateLimiter;
pub use script::Connection;
pub use server::{Eviction, eviction};

/// The redis that the connections of this crate's interface are from.
pub use redis;
