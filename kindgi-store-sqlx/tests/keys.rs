//! Every law of idempotency keys, on every database.

#![cfg(any(feature = "sqlite", feature = "postgres"))]

#[cfg(feature = "postgres")]
mod servers;

#[cfg(feature = "sqlite")]
mod sqlite {
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
}

#[cfg(feature = "postgres")]
mod postgres {
    use std::sync::Arc;

    use kindgi_core::{
        BoxError, ManualClock,
        conformance::{self, idempotency::KeyBackend},
        idempotency::IdempotencyStore,
    };

    use crate::servers::postgres;

    struct Postgres;

    impl KeyBackend for Postgres {
        type Guard = ();

        async fn build(
            &self,
            clock: Arc<ManualClock>,
        ) -> Result<(Self::Guard, Arc<dyn IdempotencyStore>), BoxError> {
            let pool = postgres::pool().await?;
            let store = postgres::builder().clock(clock).postgres(pool).await?;
            Ok(((), Arc::new(store)))
        }
    }

    conformance::idempotency::laws!(Postgres);
}
