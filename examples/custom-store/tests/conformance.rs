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
}

conformance::laws!(Files);
