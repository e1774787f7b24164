//! Moving into databases and out of them.

#![cfg(any(feature = "sqlite", feature = "postgres"))]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[cfg(feature = "postgres")]
mod servers;

use kindgi_core::{
    BoxError, MemoryStore,
    conformance::archive::{ArchiveBackend, House},
};

struct Memory;

impl ArchiveBackend for Memory {
    type Guard = ();

    async fn build(&self) -> Result<((), House), BoxError> {
        Ok(((), House::of(MemoryStore::new())))
    }
}

#[cfg(feature = "sqlite")]
mod sqlite {
    use std::{
        num::NonZeroU16,
        sync::{Arc, Mutex},
    };

    use async_trait::async_trait;
    use kindgi_core::{
        BoxError, StoreError,
        conformance::{
            self,
            archive::{ArchiveBackend, House, laws},
        },
        store::{Archive, ExportPosition, Exported, Imported, Record, StoreResult},
    };
    use kindgi_store_sqlx::{Durability, SqlxStore};
    use sqlx::{Row as _, SqlitePool, sqlite::SqliteRow};

    use super::Memory;

    pub(super) struct Sqlite;

    async fn build() -> Result<(tempfile::TempDir, String, SqlxStore), BoxError> {
        let folder = tempfile::tempdir()?;
        let url = format!("sqlite:{}", folder.path().join("archive.db").display());
        // The laws don't pull the plug.
        let builder = SqlxStore::builder().durability(Durability::MayCorruptOnPowerLoss);
        let store = builder.connect(&url).await?;
        Ok((folder, url, store))
    }

    impl ArchiveBackend for Sqlite {
        type Guard = tempfile::TempDir;

        async fn build(&self) -> Result<(Self::Guard, House), BoxError> {
            let (folder, _, store) = build().await?;
            Ok((folder, House::of(store)))
        }

        fn cases(&self) -> u32 {
            48
        }
    }

    conformance::archive::laws!(Sqlite);

    mod from_memory {
        use super::{Memory, Sqlite, conformance};

        conformance::archive::laws!(Memory => Sqlite);
    }

    mod into_memory {
        use super::{Memory, Sqlite, conformance};

        conformance::archive::laws!(Sqlite => Memory);
    }

    /// The rows of each table, in order. What is left out is free: which of several rows says that
    /// a class is wanted, whether an erased run was a replay, and whether a count of 0 has a row.
    const TABLES: [&str; 12] = [
        "SELECT * FROM kindgi_judgments ORDER BY tenant, id",
        "SELECT tenant, run, erased, subject_kind, subject_id, version, input, output, context, \
         segments, captured_at, project, CASE erased WHEN 0 THEN replay END FROM kindgi_runs \
         ORDER BY tenant, run",
        "SELECT * FROM kindgi_run_paths ORDER BY tenant, run, path",
        "SELECT * FROM kindgi_classes ORDER BY tenant, id",
        "SELECT * FROM kindgi_rules ORDER BY tenant, id",
        "SELECT * FROM kindgi_rule_versions ORDER BY tenant, rule, version",
        "SELECT * FROM kindgi_project_rules ORDER BY tenant, project",
        "SELECT * FROM kindgi_queue_items ORDER BY tenant, run",
        "SELECT * FROM kindgi_queue_counts WHERE items <> 0 \
         ORDER BY tenant, project, kind, of_id, state",
        "SELECT tenant, run, rule, project, version, skipped, told_at, age, agent_version, \
         (SELECT GROUP_CONCAT(wants, CHAR(0)) FROM (SELECT wants FROM kindgi_tellings o \
         WHERE o.tenant = t.tenant AND o.run = t.run AND wants IS NOT NULL ORDER BY wants)) \
         FROM kindgi_tellings t ORDER BY tenant, run, rule",
        "SELECT * FROM kindgi_purges ORDER BY tenant",
        "SELECT * FROM kindgi_operations ORDER BY tenant, id",
    ];

    async fn table(url: &str, select: &'static str) -> Result<Vec<Vec<String>>, StoreError> {
        let pool = SqlitePool::connect(url).await.map_err(StoreError::other)?;
        let rows = sqlx::query(select).fetch_all(&pool).await;
        let rows = rows.map_err(StoreError::other)?;
        pool.close().await;
        let cell = |row: &SqliteRow, at: usize| match row.try_get::<Option<String>, _>(at) {
            Ok(text) => format!("{text:?}"),
            Err(_) => row.get::<i64, _>(at).to_string(),
        };
        let row = |row: &SqliteRow| (0..row.len()).map(|at| cell(row, at)).collect();
        Ok(rows.iter().map(row).collect())
    }

    /// Two databases: what goes out of the first into the second must be the same rows there, once
    /// the second is asked for all.
    #[derive(Default)]
    struct Noted(Mutex<String>);

    struct Compared<'n> {
        noted: &'n Noted,
        /// Something that is undone after each import.
        spoilt: Option<&'static str>,
    }

    impl ArchiveBackend for Noted {
        type Guard = tempfile::TempDir;

        async fn build(&self) -> Result<(Self::Guard, House), BoxError> {
            let (folder, url, store) = build().await?;
            *self.0.lock().unwrap() = url;
            Ok((folder, House::of(store)))
        }

        fn cases(&self) -> u32 {
            48
        }
    }

    impl ArchiveBackend for Compared<'_> {
        type Guard = tempfile::TempDir;

        async fn build(&self) -> Result<(Self::Guard, House), BoxError> {
            let (folder, url, store) = build().await?;
            let archive = Comparing {
                store: store.clone(),
                urls: [self.noted.0.lock().unwrap().clone(), url],
                spoilt: self.spoilt,
            };
            let house = House {
                store: Arc::new(store),
                archive: Arc::new(archive),
            };
            Ok((folder, house))
        }
    }

    struct Comparing {
        store: SqlxStore,
        urls: [String; 2],
        spoilt: Option<&'static str>,
    }

    #[async_trait]
    impl Archive for Comparing {
        async fn export(
            &self,
            from: Option<&ExportPosition>,
            limit: NonZeroU16,
        ) -> StoreResult<Exported> {
            if from.is_none() {
                for select in TABLES {
                    let (old, new) = (&self.urls[0], &self.urls[1]);
                    let (old, new) = (table(old, select).await?, table(new, select).await?);
                    if old != new {
                        let what = format!("{select}\n  old: {old:?}\n  new: {new:?}");
                        return Err(StoreError::other(what));
                    }
                }
            }
            self.store.export(from, limit).await
        }

        async fn import(&self, records: &[Record]) -> StoreResult<Imported> {
            let imported = self.store.import(records).await?;
            if let Some(statement) = self.spoilt {
                let pool = SqlitePool::connect(&self.urls[1]).await;
                let pool = pool.map_err(StoreError::other)?;
                let spoil = sqlx::query(statement).execute(&pool).await;
                spoil.map_err(StoreError::other)?;
                pool.close().await;
            }
            Ok(imported)
        }
    }

    #[test]
    fn all_columns_are_moved_or_derived_anew() {
        let noted = Noted::default();
        let compared = Compared {
            noted: &noted,
            spoilt: None,
        };
        laws::what_was_moved_is_read_alike(&noted, &compared).unwrap();
    }

    /// Counters that aren't derived anew are missed by a law.
    #[test]
    fn counters_that_stay_at_nothing_are_noticed() {
        for statement in [
            "UPDATE kindgi_rules SET open_items = 0",
            "UPDATE kindgi_queue_counts SET items = 0",
        ] {
            let noted = Noted::default();
            let compared = Compared {
                noted: &noted,
                spoilt: Some(statement),
            };
            let report = laws::a_moved_rule_keeps_its_cap(&noted, &compared);
            let report = report.expect_err(statement);
            assert_eq!(report.law(), "a_moved_rule_keeps_its_cap");
        }
    }
}

#[cfg(feature = "postgres")]
mod postgres {
    use kindgi_core::{
        BoxError,
        conformance::{
            self,
            archive::{ArchiveBackend, House},
        },
    };

    use crate::{Memory, servers::postgres};

    struct Postgres;

    impl ArchiveBackend for Postgres {
        type Guard = ();

        async fn build(&self) -> Result<((), House), BoxError> {
            let store = postgres::builder()
                .postgres(postgres::pool().await?)
                .await?;
            Ok(((), House::of(store)))
        }

        fn cases(&self) -> u32 {
            12
        }
    }

    conformance::archive::laws!(Postgres);

    mod from_memory {
        use super::{Memory, Postgres, conformance};

        conformance::archive::laws!(Memory => Postgres);
    }

    mod into_memory {
        use super::{Memory, Postgres, conformance};

        conformance::archive::laws!(Postgres => Memory);
    }

    #[cfg(feature = "sqlite")]
    mod from_sqlite {
        use super::{Postgres, conformance};
        use crate::sqlite::Sqlite;

        conformance::archive::laws!(Sqlite => Postgres);
    }
}
