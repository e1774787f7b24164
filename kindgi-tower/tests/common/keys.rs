//! Idempotency keys in memory, with trouble.

use std::{num::NonZeroU16, time::Duration};

use async_trait::async_trait;
use kindgi_core::{
    idempotency::{
        About, Begun, Claim, Completed, IdempotencyStore, MemoryIdempotency, Outcome, Token,
    },
    model::TenantId,
    store::{OperationId, StoreResult},
};

use super::faults::Faults;

/// Keys whose methods have trouble before they take effect (`begin`), or after (`begun`).
pub(crate) struct FaultyKeys {
    inner: MemoryIdempotency,
    faults: Faults,
}

impl FaultyKeys {
    pub(crate) fn new(inner: MemoryIdempotency, faults: Faults) -> Self {
        Self { inner, faults }
    }
}

#[async_trait]
impl IdempotencyStore for FaultyKeys {
    async fn begin(&self, claim: Claim<'_>) -> StoreResult<Begun> {
        self.faults.store("begin").await?;
        let begun = self.inner.begin(claim).await?;
        self.faults.store("begun").await?;
        Ok(begun)
    }

    async fn renew(&self, key: &OperationId, token: &Token, hold: Duration) -> StoreResult<bool> {
        self.faults.store("renew").await?;
        let renewed = self.inner.renew(key, token, hold).await?;
        self.faults.store("renewed").await?;
        Ok(renewed)
    }

    async fn complete(
        &self,
        key: &OperationId,
        token: &Token,
        outcome: &Outcome,
        about: &[About],
        keep: Duration,
    ) -> StoreResult<Completed> {
        self.faults.store("complete").await?;
        let inner = &self.inner;
        let completed = inner.complete(key, token, outcome, about, keep).await?;
        self.faults.store("completed").await?;
        Ok(completed)
    }

    async fn release(&self, key: &OperationId, token: &Token) -> StoreResult<bool> {
        self.faults.store("release").await?;
        let released = self.inner.release(key, token).await?;
        self.faults.store("released").await?;
        Ok(released)
    }

    async fn forget(&self, tenant: &TenantId, about: &About) -> StoreResult<()> {
        self.faults.store("forget").await?;
        self.inner.forget(tenant, about).await
    }

    async fn purge(&self, limit: NonZeroU16) -> StoreResult<u64> {
        self.inner.purge(limit).await
    }
}
