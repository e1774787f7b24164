//! The store keeps every promise: one named test per law.

use std::sync::Arc;

use custom_store::{FileStore, Flush};
use kindgi_core::{
    BoxError,
    conformance::{self, Backend},
    store::Store,
};
use tempfile::TempDir;

struct Files;

impl Backend for Files {
    type Guard = TempDir;

    async fn build(&self) -> Result<(TempDir, Arc<dyn Store>), BoxError> {
        let folder = tempfile::tempdir()?;
        let store = FileStore::open(folder.path(), Flush::Never).await?;
        Ok((folder, Arc::new(store)))
    }

    async fn reopen(
        &self,
        folder: &mut TempDir,
        store: Arc<dyn Store>,
    ) -> Result<Arc<dyn Store>, BoxError> {
        // Its folder is open to one at a time.
        drop(store);
        let store = FileStore::open(folder.path(), Flush::Never).await?;
        Ok(Arc::new(store))
    }
}

conformance::laws!(Files);
