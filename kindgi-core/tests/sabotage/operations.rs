//! Receipts of operations with one fault.

use async_trait::async_trait;
use kindgi_core::{
    Timestamp,
    model::TenantId,
    store::{Applied, KnownOperation, Operation, OperationStore, Receipt, StoreResult, Write},
};

use super::Faulty;

#[async_trait]
impl OperationStore for Faulty {
    async fn receipt(
        &self,
        tenant: &TenantId,
        now: Timestamp,
        operation: Operation<'_>,
    ) -> StoreResult<Option<KnownOperation>> {
        self.store.receipt(tenant, now, operation).await
    }

    async fn keep(&self, write: Write<'_>, receipt: &Receipt) -> StoreResult<Applied<Receipt>> {
        let _writing = self.begin();
        let operation = self.operation(&write).await;
        let inner = Write { operation, ..write };
        self.store.keep(inner, receipt).await
    }
}
