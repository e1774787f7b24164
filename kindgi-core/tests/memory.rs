//! The backend in memory keeps every law.

use std::sync::Arc;

use kindgi_core::{
    BoxError, MemoryStore,
    conformance::{self, Backend},
    store::Store,
};

struct Memory;

impl Backend for Memory {
    type Guard = ();

    async fn build(&self) -> Result<((), Arc<dyn Store>), BoxError> {
        Ok(((), Arc::new(MemoryStore::new())))
    }

    async fn reopen(&self, _: &mut (), store: Arc<dyn Store>) -> Result<Arc<dyn Store>, BoxError> {
        Ok(store)
    }
}

conformance::laws!(Memory);
