//! A demo host: an axum app of its own, into which the judgments API is mounted.
//!
//! It is meant to be read and copied. What is the demo's and what a real host would put in its
//! place:
//!
//! | file | here | a real host |
//! | --- | --- | --- |
//! | `config.rs` | a few environment variables | its own configuration |
//! | `redis.rs` | a connection to Redis, if there is to be one | the same, or none |
//! | `archive.rs` | commands that move judgments from one database into another | the same, or none |
//! | `demo/people.rs` | fixed tokens and what they allow | its sign-in and its permissions |
//! | `demo/directory.rs` | two projects and an organisation | its projects |
//! | `demo/runs.rs`, `demo/seed.rs` | runs made up at the start, in memory | the runs it has |
//! | `demo/context.rs` | a made-up conversation | what its runs really saw |
//! | `demo/queue.rs` | a rule and a queue made up at the start | rules that its people make |
//! | `routes.rs`, `new_run.rs` | routes to finish and to erase a run | what its app does anyway |
//!
//! [`app`] is the part to copy: it puts the host's answers, the store and the service together,
//! and mounts the service.

pub mod archive;
mod config;
pub mod demo;
mod new_run;
mod redis;
mod routes;

use std::sync::Arc;

use axum::Router;
use kindgi_core::{
    MemoryStore,
    engine::Engine,
    idempotency::{IdempotencyStore, MemoryIdempotency},
    rate_limit::{LocalRateLimiter, RateLimiter},
    store::Store,
};
use kindgi_store_redis::{RedisIdempotencyStore, RedisRateLimiter, redis::aio::ConnectionManager};
use kindgi_store_sqlx::SqlxStore;
use kindgi_tower::KindgiService;

pub use config::{Config, Database, InvalidConfig, RateLimit};
pub use kindgi_core::BoxError;

use crate::{
    demo::{Context, Demo, fill_queue},
    routes::Host,
};

/// The demo host, ready to serve.
#[derive(Clone, Debug)]
pub struct App {
    /// The host's own routes with the API mounted beside them.
    pub router: Router,
    /// The API's service, to wait for its last writes at shutdown.
    pub service: KindgiService,
}

/// Puts the demo host together.
///
/// # Errors
///
/// When the database can't be opened, or takes no judging queue at the start.
pub async fn app(config: &Config) -> Result<App, BoxError> {
    let demo = Demo::new(config.runs)?;

    // Idempotency keys are kept beside the judgments, so that several hosts on one database share
    // both, or on Redis.
    let (store, keys): (Arc<dyn Store>, Arc<dyn IdempotencyStore>) = match &config.database {
        Database::Memory => (
            Arc::new(MemoryStore::new()),
            Arc::new(MemoryIdempotency::new()),
        ),
        Database::Sql(url) => {
            let store = SqlxStore::builder().connect(url).await?;
            (Arc::new(store.clone()), Arc::new(store))
        }
    };
    let redis = match &config.redis {
        Some(url) => Some(redis::connect(url).await?),
        None => None,
    };
    let keys = match &redis {
        Some(redis) => Arc::new(RedisIdempotencyStore::new(redis.clone())),
        None => keys,
    };
    let engine = Engine::builder(store, demo.runs.clone(), demo.people.clone())
        .idempotency(keys)
        .directory(demo.directory.clone())
        .context_capture(Context)
        .recent_runs(demo.runs.clone())
        .build();
    if config.seed_queue > 0 {
        fill_queue(&demo, &engine, config.seed_queue).await?;
    }
    let mut service = KindgiService::builder(engine.clone())
        .authenticator(demo.people.clone())
        .base_path(config.mount.as_deref().unwrap_or_default());
    if let Some(limit) = config.rate_limit {
        service = service.rate_limiter(limiter(limit, redis));
    }
    let service = service.build();

    let own = routes::router(Host { demo, engine });
    let router = match &config.mount {
        Some(path) => own.nest_service(path, service.clone()),
        None => own.fallback_service(service.clone()),
    };
    Ok(App { router, service })
}

/// A limit for all hosts on one Redis together, or for this host alone.
fn limiter(limit: RateLimit, redis: Option<ConnectionManager>) -> Arc<dyn RateLimiter> {
    let RateLimit { per_second, burst } = limit;
    match redis {
        Some(redis) => Arc::new(RedisRateLimiter::per_second(redis, per_second).burst(burst)),
        None => Arc::new(LocalRateLimiter::per_second(per_second).burst(burst)),
    }
}
