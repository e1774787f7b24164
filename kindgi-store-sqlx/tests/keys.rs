//! Every law of idempotency keys, on SQLite.

#![cfg(feature = "sqlite")]

use std::sync::Arc;

use kindgi_core::{
    BoxError, ManualClock,
    conformance::{self, idempotency::KeyBackend},
    idempotency::IdempotencyStore,
};
use kindgi_store_sqlx::{Durability, SqlxStore};

struct Sqlite;

impl KeyBackend for Sqlite {
    type Guard = tempfile::TempDir;

    async fn build(
        &self,
        clock: Arc<ManualClock>,
    ) -> Result<(Self::Guard, Arc<dyn IdempotencyStore>), BoxError> {
        let folder = tempfile::tempdir()?;
        let url = format!("sqlite:{}", folder.path().join("keys.db").display());
        // The laws don't pull the plug.
        let builder = SqlxStore::builder().durability(Durability::MayCorruptOnPowerLoss);
        let store = builder.clock(clock).connect(&url).await?;
        Ok((folder, Arc::new(store)))
    }
}

conformance::idempotency::laws!(Sqlite);
