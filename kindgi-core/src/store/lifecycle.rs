//! What a backend promises for what the host may ask beside the API.

use std::sync::Arc;

use async_trait::async_trait;

use super::{StoreResult, Write};
use crate::model::{RunId, TenantId};

/// The end of data.
#[async_trait]
pub trait Lifecycle: Send + Sync + 'static {
    /// Erases a run, whether or not it was ever judged: clears its copy (input and output become
    /// `null`; context and segments go), its judgments' item values, reasons and corrections,
    /// and the same in the outcomes of kept operations. Verdicts stay, live ones live. Later
    /// judgments of the run are refused. Erasing twice changes nothing.
    ///
    /// The write's operation is not used.
    async fn erase_run(&self, write: Write<'_>, run: &RunId) -> StoreResult<()>;

    /// Whether the run was erased. The engine asks before it refuses a judgment for anything
    /// that an erased run must not tell.
    async fn is_erased(&self, tenant: &TenantId, run: &RunId) -> StoreResult<bool>;
}

#[async_trait]
impl<T: Lifecycle + ?Sized> Lifecycle for Arc<T> {
    async fn erase_run(&self, write: Write<'_>, run: &RunId) -> StoreResult<()> {
        (**self).erase_run(write, run).await
    }

    async fn is_erased(&self, tenant: &TenantId, run: &RunId) -> StoreResult<bool> {
        (**self).is_erased(tenant, run).await
    }
}
