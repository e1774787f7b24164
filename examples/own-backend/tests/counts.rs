//! What the wrapper adds: it counts calls, and the store's failures.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::num::NonZeroU16;

use async_trait::async_trait;
use kindgi_core::{
    MemoryStore, StoreError, Timestamp,
    model::{ParticipantId, RunId, TenantId},
    store::{
        JudgedRun, JudgedRunFilter, Keyset, Lifecycle, PurgePosition, Purged, Slice, StoreResult,
        Write,
    },
};
use own_backend::{Call, Count, Counted};

fn acme() -> TenantId {
    "acme".parse().unwrap()
}

fn run() -> RunId {
    "run-1".parse().unwrap()
}

#[tokio::test]
async fn calls_are_counted_by_method() {
    let store = Counted::new(MemoryStore::new());
    let calls = store.calls();
    let tenant = acme();
    let write = Write {
        tenant: &tenant,
        now: Timestamp::UNIX_EPOCH,
        operation: None,
    };
    store.erase_run(write, &run()).await.unwrap();
    assert!(store.is_erased(&acme(), &run()).await.unwrap());
    assert!(
        !store
            .is_erased(&"other".parse().unwrap(), &run())
            .await
            .unwrap()
    );
    assert_eq!(calls.of(Call::EraseRun), count(1, 0));
    assert_eq!(calls.of(Call::IsErased), count(2, 0));
    assert_eq!(calls.of(Call::Record), count(0, 0));
}

#[tokio::test]
async fn a_failure_is_counted_and_handed_on() {
    let store = Counted::new(Broken);
    assert!(
        store
            .is_erased(&acme(), &run())
            .await
            .unwrap_err()
            .is_busy()
    );
    assert_eq!(store.calls().of(Call::IsErased), count(1, 1));
}

fn count(started: u64, failed: u64) -> Count {
    Count { started, failed }
}

struct Broken;

#[async_trait]
impl Lifecycle for Broken {
    async fn erase_run(&self, _: Write<'_>, _: &RunId) -> StoreResult<()> {
        Err(StoreError::busy("no connection"))
    }

    async fn is_erased(&self, _: &TenantId, _: &RunId) -> StoreResult<bool> {
        Err(StoreError::busy("no connection"))
    }

    async fn erase_participant(
        &self,
        _: Write<'_>,
        _: &ParticipantId,
        _: &ParticipantId,
    ) -> StoreResult<u64> {
        Err(StoreError::busy("no connection"))
    }

    async fn purge(
        &self,
        _: Write<'_>,
        _: Timestamp,
        _: Option<&PurgePosition>,
        _: NonZeroU16,
    ) -> StoreResult<Purged> {
        Err(StoreError::busy("no connection"))
    }

    async fn judged_runs(
        &self,
        _: &TenantId,
        _: &JudgedRunFilter,
        _: &Keyset,
    ) -> StoreResult<Slice<JudgedRun>> {
        Err(StoreError::busy("no connection"))
    }
}
