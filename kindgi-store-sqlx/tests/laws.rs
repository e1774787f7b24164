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
            let store = open(&folder).await?;
            Ok((folder, store))
        }

        async fn reopen(
            &self,
            folder: &mut Self::Guard,
            store: Arc<dyn Store>,
        ) -> Result<Arc<dyn Store>, BoxError> {
            drop(store);
            open(folder).await
        }
    }

    async fn open(folder: &tempfile::TempDir) -> Result<Arc<dyn Store>, BoxError> {
        let url = format!("sqlite:{}", folder.path().join("laws.db").display());
        // The laws don't pull the plug.
        let builder = SqlxStore::builder().durability(Durability::MayCorruptOnPowerLoss);
        Ok(Arc::new(builder.connect(&url).await?))
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
    use kindgi_store_sqlx::SqlxStoreBuilder;

    use crate::servers::postgres;

    struct Postgres;

    impl Backend for Postgres {
        /// It knows the store's place.
        type Guard = SqlxStoreBuilder;

        async fn build(&self) -> Result<(Self::Guard, Arc<dyn Store>), BoxError> {
            let builder = postgres::builder();
            let store = open(&builder).await?;
            Ok((builder, store))
        }

        async fn reopen(
            &self,
            builder: &mut Self::Guard,
            store: Arc<dyn Store>,
        ) -> Result<Arc<dyn Store>, BoxError> {
            drop(store);
            open(builder).await
        }
    }

    async fn open(builder: &SqlxStoreBuilder) -> Result<Arc<dyn Store>, BoxError> {
        let pool = postgres::pool().await?;
        Ok(Arc::new(builder.clone().postgres(pool).await?))
    }

    conformance::laws!(Postgres);
}
