//! Places for stores on servers that the tests start.

pub(crate) mod postgres {
    use std::sync::{
        LazyLock,
        atomic::{AtomicU32, Ordering},
    };

    use kindgi_store_sqlx::{Durability, SqlxStore, SqlxStoreBuilder};
    use kindgi_test_servers::Postgres;
    use sqlx::{
        PgPool,
        postgres::{PgConnectOptions, PgPoolOptions},
    };

    /// The database of this process; its stores have schemas of their own in it.
    static URL: LazyLock<String> = LazyLock::new(|| Postgres::shared().fresh_database());

    /// A builder of a store in a place of its own.
    pub(crate) fn builder() -> SqlxStoreBuilder {
        static STORES: AtomicU32 = AtomicU32::new(0);
        let number = STORES.fetch_add(1, Ordering::Relaxed);
        // The tests don't pull the plug.
        let builder = SqlxStore::builder().durability(Durability::MayLoseLastWritesOnPowerLoss);
        builder.schema(format!("store_{number}"))
    }

    /// A pool on the database.
    pub(crate) async fn pool() -> Result<PgPool, sqlx::Error> {
        let options: PgConnectOptions = URL.parse()?;
        let options = options.options([("plan_cache_mode", "force_custom_plan")]);
        PgPoolOptions::new().connect_with(options).await
    }
}
