//! Keys, answers and callers to try things with.

use std::{sync::Arc, time::Duration};

use kindgi_core::{
    ManualClock,
    idempotency::{About, Begun, Claim, Completed, IdempotencyStore, KeptAnswer, Outcome, Token},
    model::{Principal, TenantId},
    store::{OperationId, StoreResult},
};
use kindgi_store_redis::{Connection, RedisIdempotencyStore};

pub(crate) const LONG: Duration = Duration::from_secs(1000);

pub(crate) fn tenant() -> TenantId {
    "tenant".parse().unwrap()
}

pub(crate) fn key(number: u32) -> OperationId {
    let mut key = [7; 32];
    key[..4].copy_from_slice(&number.to_be_bytes());
    OperationId(key)
}

pub(crate) fn run(name: &str) -> About {
    About::Run(name.parse().unwrap())
}

pub(crate) fn caller(name: &str) -> Principal {
    Principal::user(tenant(), name.parse().unwrap())
}

pub(crate) fn answer() -> KeptAnswer {
    KeptAnswer {
        status: 201,
        headers: vec![("location".to_owned(), "/v1/1".into())],
        body: "{}".into(),
    }
}

/// A store of its own, by a clock that stands.
pub(crate) fn store<C: Connection>(
    connection: C,
    prefix: &str,
) -> (RedisIdempotencyStore<C>, Arc<ManualClock>) {
    let clock = Arc::new(ManualClock::default());
    let store = RedisIdempotencyStore::new(connection).prefix(prefix);
    (store.clock(Arc::clone(&clock)), clock)
}

pub(crate) async fn begin(
    store: &impl IdempotencyStore,
    number: u32,
    by: u8,
    hold: Duration,
) -> StoreResult<Begun> {
    let claim = Claim {
        tenant: &tenant(),
        key: &key(number),
        body: &[1; 32],
        token: &Token([by; 16]),
        hold,
    };
    store.begin(claim).await
}

pub(crate) async fn complete(
    store: &impl IdempotencyStore,
    number: u32,
    by: u8,
    about: &[About],
) -> StoreResult<Completed> {
    let outcome = Outcome::Answer(answer());
    let token = Token([by; 16]);
    store
        .complete(&key(number), &token, &outcome, about, LONG)
        .await
}

pub(crate) async fn release(
    store: &impl IdempotencyStore,
    number: u32,
    by: u8,
) -> StoreResult<bool> {
    store.release(&key(number), &Token([by; 16])).await
}
