//! The end of data.

use async_trait::async_trait;

use super::MemoryStore;
use crate::{
    model::{RunId, TenantId},
    store::{Lifecycle, StoreResult, Write},
};

#[async_trait]
impl Lifecycle for MemoryStore {
    async fn erase_run(&self, write: Write<'_>, run: &RunId) -> StoreResult<()> {
        self.change(write.tenant, |tenant| {
            tenant.erased.insert(run.clone());
            tenant.judgments.erase_run(run);
            tenant.operations.erase_run(run);
        });
        Ok(())
    }

    async fn is_erased(&self, tenant: &TenantId, run: &RunId) -> StoreResult<bool> {
        Ok(self.look(tenant, |tenant| tenant.erased.contains(run)))
    }
}
