//! All that the store holds, out of it and into it.

mod derived;
mod import;
#[cfg(all(test, feature = "sqlite"))]
mod plans;
mod rows;

use std::{num::NonZeroU16, sync::Arc};

use async_trait::async_trait;
use kindgi_core::store::{
    Archive, ExportPosition, Exported, Imported, Record, StoreResult, archive::ArchivePart,
};

use self::{
    import::Import,
    rows::{Which, read, select},
};
use super::SqlxStore;

#[async_trait]
impl Archive for SqlxStore {
    async fn export(
        &self,
        from: Option<&ExportPosition>,
        limit: NonZeroU16,
    ) -> StoreResult<Exported> {
        let part = from.map_or(ArchivePart::Classes, ExportPosition::part);
        let after = from.and_then(ExportPosition::after);
        let select = select(&self.tables, part, Which::Page { after, limit });
        let rows = self.database.read(&select).await?;
        Ok(Exported::page(part, read(part, rows)?, limit))
    }

    async fn import(&self, records: &[Record]) -> StoreResult<Imported> {
        let import = Import {
            tables: Arc::clone(&self.tables),
            records: records.into(),
        };
        let imported = self.write(import.lock(), move |connection| {
            Box::pin(async move { import.run(connection).await })
        });
        Ok(imported.await?)
    }
}
