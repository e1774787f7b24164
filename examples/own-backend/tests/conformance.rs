//! The store of one's own keeps every promise: one named test per law.

use std::sync::Arc;

use kindgi_core::{
    BoxError, MemoryStore,
    conformance::{self, Backend},
    store::Store,
};
use own_backend::Counted;

struct CountedMemory;

impl Backend for CountedMemory {
    /// What must outlive the store, such as a container; nothing here.
    type Guard = ();

    async fn build(&self) -> Result<((), Arc<dyn Store>), BoxError> {
        Ok(((), Arc::new(Counted::new(MemoryStore::new()))))
    }

    /// As another process would open it; what is in memory ends with this one.
    async fn reopen(&self, _: &mut (), store: Arc<dyn Store>) -> Result<Arc<dyn Store>, BoxError> {
        Ok(store)
    }
}

conformance::laws!(CountedMemory);
