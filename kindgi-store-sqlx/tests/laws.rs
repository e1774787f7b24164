//! Every law of the suite, on every database.

#![cfg(any(feature = "sqlite", feature = "postgres"))]

#[cfg(feature = "postgres")]
mod servers;

#[cfg(feature = "sqlite")]
mod sqlite {
    use std::sync::Arc;

    use kindgi_core::{
        BoxError,
        conformance::{self, Backend},
        store::Store,
    };
    use kindgi_store_sqlx::{Durability, SqlxStore};

    struct Sqlite;

    impl Backend for Sqlite {
        type Guard = tempfile::TempDir;

        async fn build(&self) -> Result<(Self::Guard, Arc<dyn Store>), BoxError> {
            let folder = tempfile::tempdir()?;
            let url = format!("sqlite:{}", folder.path().join("laws.db").display());
            // The laws don't pull the plug.
            let builder = SqlxStore::builder().durability(Durability::MayCorruptOnPowerLoss);
            let store = builder.connect(&url).await?;
            Ok((folder, Arc::new(store)))
        }
    }

    conformance::laws!(Sqlite);
}

#[cfg(feature = "postgres")]
mod postgres {
    use std::sync::Arc;

    use kindgi_core::{
        BoxError,
        conformance::{self, Backend},
        store::Store,
    };

    use crate::servers::postgres;

    struct Postgres;

    impl Backend for Postgres {
        type Guard = ();

        async fn build(&self) -> Result<(Self::Guard, Arc<dyn Store>), BoxError> {
            let store = postgres::builder()
                .postgres(postgres::pool().await?)
                .await?;
            Ok(((), Arc::new(store)))
        }
    }

    conformance::laws!(Postgres);
}
