//! A whole backend in few lines: for each tenant a file of JSON lines.
//!
//! Reads look at what is in memory. A write, one at a time, is made on a copy of its tenant's data;
//! then the copy is written to a new file, the file takes the place of the tenant's, and only then
//! the copy that of what others read. So a write that fails has changed nothing, nobody reads what
//! isn't on the disk, and whoever opens the folder after a crash finds each tenant as it was before
//! a write or after it.
//!
//! A write waits for its turn and for nothing else: a future that is dropped while it waits has
//! done nothing, and from then on it runs to its end in one go. That keeps its thread from other
//! work while the disk is written. A store for many would leave that to a thread of its own.
//!
//! ```
//! use custom_store::{FileStore, Flush};
//! use kindgi_core::store::{Store, StoreResult};
//!
//! async fn plug_it_in(folder: &std::path::Path) -> StoreResult<impl Store> {
//!     FileStore::open(folder, Flush::EachWrite).await
//! }
//! ```

mod delegate;

use std::{
    collections::HashMap,
    ffi::OsStr,
    fs::{self, File, TryLockError},
    io::{self, Write as _},
    num::NonZeroU16,
    path::{Path, PathBuf},
    sync::{PoisonError, RwLock},
};

use kindgi_core::{
    MemoryStore, StoreError, archive,
    model::TenantId,
    store::{Archive, Imported, Record, StoreResult},
};
use sha2::{Digest, Sha256};
use tokio::sync::{Mutex, MutexGuard};

/// What is being written. No tenant's file has this name.
const UNFINISHED: &str = "unfinished.tmp";

/// When the disk is told to keep what it was given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flush {
    /// Before a write is answered.
    EachWrite,
    /// When the system likes to, for tests: the process may be killed at any time, but a loss of
    /// power may lose writes or leave a file that [`FileStore::open`] refuses.
    Never,
}

/// A backend in a folder, which one process has at a time.
#[derive(Debug)]
pub struct FileStore {
    path: PathBuf,
    /// The folder: locked as long as this is open.
    folder: File,
    flush: Flush,
    /// What is on the disk. Nobody writes to one of these: they are replaced.
    tenants: RwLock<HashMap<TenantId, MemoryStore>>,
    /// Whose turn it is to write.
    turn: Mutex<()>,
}

impl FileStore {
    /// Opens the store in a folder, which is there and has nothing else in it.
    ///
    /// # Errors
    ///
    /// [Busy](StoreError::is_busy) if it is open already, here or in another process. Other errors
    /// tell of the disk, or of a file that isn't whole.
    pub async fn open(path: impl Into<PathBuf>, flush: Flush) -> StoreResult<Self> {
        let path = path.into();
        let folder = File::open(&path).map_err(StoreError::other)?;
        folder.try_lock().map_err(|e| match e {
            TryLockError::WouldBlock => StoreError::busy("the folder is open already"),
            TryLockError::Error(e) => StoreError::other(e),
        })?;
        let mut tenants = HashMap::new();
        for file in fs::read_dir(&path).map_err(StoreError::other)? {
            let file = file.map_err(StoreError::other)?.path();
            if file.file_name() == Some(OsStr::new(UNFINISHED)) {
                // Of a write that was never answered. It may hold what was erased since.
                fs::remove_file(&file).map_err(StoreError::other)?;
            } else if let Some((tenant, records)) = read(&file).map_err(StoreError::other)? {
                tenants.insert(tenant, memory_of(&records).await?);
            }
        }
        Ok(Self {
            path,
            folder,
            flush,
            tenants: RwLock::new(tenants),
            turn: Mutex::new(()),
        })
    }

    /// A tenant's data as it is on the disk, for reading.
    fn tenant(&self, tenant: &TenantId) -> MemoryStore {
        let tenants = self.tenants.read().unwrap_or_else(PoisonError::into_inner);
        tenants.get(tenant).cloned().unwrap_or_default()
    }

    /// Begins a write of a tenant, when those before it are done.
    async fn change<'a>(&'a self, tenant: &'a TenantId) -> StoreResult<Change<'a>> {
        let turn = self.turn.lock().await;
        let before = records_of(&self.tenant(tenant)).await?;
        Ok(Change {
            store: self,
            tenant,
            next: memory_of(&before).await?,
            before,
            _turn: turn,
        })
    }

    /// Puts a tenant's data on the disk, and then in the place of what others read.
    fn replace(&self, tenant: &TenantId, next: MemoryStore, records: &[Record]) -> io::Result<()> {
        let unfinished = self.path.join(UNFINISHED);
        let mut file = File::create(&unfinished)?;
        file.write_all(text_of(records).as_bytes())?;
        self.flush(&file)?;
        fs::rename(&unfinished, self.path.join(file_name(tenant)))?;
        // From here on it is done, so others must see it even if we can't tell for how long it is.
        let flushed = self.flush(&self.folder);
        let mut tenants = self.tenants.write().unwrap_or_else(PoisonError::into_inner);
        tenants.insert(tenant.clone(), next);
        flushed
    }

    fn flush(&self, file: &File) -> io::Result<()> {
        match self.flush {
            Flush::EachWrite => file.sync_all(),
            Flush::Never => Ok(()),
        }
    }
}

/// A write on its way. Dropped before [`done`](Self::done), it has changed nothing.
struct Change<'a> {
    store: &'a FileStore,
    tenant: &'a TenantId,
    before: Vec<Record>,
    next: MemoryStore,
    _turn: MutexGuard<'a, ()>,
}

impl Change<'_> {
    /// Keeps what was done to `next`, and hands on what came of it.
    async fn done<T>(self, outcome: T) -> StoreResult<T> {
        let after = records_of(&self.next).await?;
        if after != self.before {
            let replaced = self.store.replace(self.tenant, self.next, &after);
            replaced.map_err(StoreError::other)?;
        }
        Ok(outcome)
    }
}

/// All that a tenant has, in the order of an archive.
async fn records_of(memory: &MemoryStore) -> StoreResult<Vec<Record>> {
    let mut records = Vec::new();
    let mut from = None;
    loop {
        let page = memory.export(from.as_ref(), NonZeroU16::MAX).await?;
        records.extend(page.records);
        from = page.next;
        if from.is_none() {
            return Ok(records);
        }
    }
}

async fn memory_of(records: &[Record]) -> StoreResult<MemoryStore> {
    let memory = MemoryStore::new();
    match memory.import(records).await? {
        Imported::Ok { .. } => Ok(memory),
        Imported::Refused(refused) => Err(StoreError::other(refused.to_string())),
    }
}

/// A file: an archive, and a last line that tells whether the file is whole.
fn text_of(records: &[Record]) -> String {
    let mut text = archive::first_line();
    for record in records {
        text.push('\n');
        text.push_str(&archive::to_line(record));
    }
    text.push_str(&format!("\n{{\"records\":{}}}\n", records.len()));
    text
}

/// What is in a file; `None` if that is nothing, so that it could be any tenant's.
fn read(path: &Path) -> io::Result<Option<(TenantId, Vec<Record>)>> {
    let wrong = |what: &str| io::Error::other(format!("{}: {what}", path.display()));
    let text = fs::read_to_string(path)?;
    let mut records = Vec::new();
    if let [_, lines @ .., _] = &*text.lines().collect::<Vec<_>>() {
        for line in lines {
            records.push(archive::from_line(line).map_err(|e| wrong(&e.to_string()))?);
        }
    }
    if text_of(&records) != text {
        return Err(wrong("the file isn't whole"));
    }
    let Some(tenant) = records.first().map(|record| record.tenant().clone()) else {
        return Ok(None);
    };
    let its_own = path.file_name() == Some(OsStr::new(&file_name(&tenant)));
    if !its_own || records.iter().any(|record| *record.tenant() != tenant) {
        return Err(wrong("the file is another tenant's"));
    }
    Ok(Some((tenant, records)))
}

/// A name that no file system takes for another tenant's, however long the id is.
fn file_name(tenant: &TenantId) -> String {
    let hash = Sha256::digest(tenant.as_str());
    let hash: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
    hash + ".ndjson"
}
