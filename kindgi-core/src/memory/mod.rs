//! A backend in one process: for tests, for trying things out, and as the plainest example of
//! what [`Store`](crate::store::Store) promises.

mod archive;
mod judge_classes;
mod judging_queue;
mod judging_rules;
mod judgments;
mod lifecycle;
mod operations;

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use self::{
    judge_classes::Classes,
    judging_queue::Queue,
    judging_rules::Rules,
    judgments::Judgments,
    operations::{Operations, Outcome},
};
use crate::{
    model::{Position, RunId, TenantId},
    store::{Applied, Keyset, Slice, Write},
};

/// A backend that keeps everything in memory, behind one lock for all tenants. Clones share the
/// same data, which ends with the last of them. A list that few rows match looks at many under that
/// lock: it is for tests and for trying things out.
///
/// ```
/// use kindgi_core::{MemoryStore, store::Store};
///
/// let store = MemoryStore::new();
/// let same: std::sync::Arc<dyn Store> = std::sync::Arc::new(store.clone());
/// ```
#[derive(Clone, Debug, Default)]
pub struct MemoryStore {
    tenants: Arc<Mutex<HashMap<TenantId, Tenant>>>,
}

impl MemoryStore {
    /// An empty one.
    pub fn new() -> Self {
        Self::default()
    }

    /// Looks at a tenant's data, if there is any. The lock never outlives the call, so that no
    /// await can hold it.
    fn look<T: Default>(&self, tenant: &TenantId, look: impl FnOnce(&Tenant) -> T) -> T {
        self.lock().get(tenant).map(look).unwrap_or_default()
    }

    /// Changes a tenant's data.
    fn change<T>(&self, tenant: &TenantId, change: impl FnOnce(&mut Tenant) -> T) -> T {
        change(self.lock().entry(tenant.clone()).or_default())
    }

    /// No transition panics halfway, so a poisoned lock still guards whole data.
    fn lock(&self) -> MutexGuard<'_, HashMap<TenantId, Tenant>> {
        self.tenants.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// All that is kept for one tenant.
#[derive(Debug, Default)]
struct Tenant {
    judgments: Judgments,
    classes: Classes,
    rules: Rules,
    queue: Queue,
    erased: HashSet<RunId>,
    operations: Operations,
}

impl Tenant {
    /// Decides, unless the write's operation is known; and keeps the operation.
    fn apply<T: Outcome>(
        &mut self,
        write: Write<'_>,
        decide: impl FnOnce(&mut Self) -> T,
    ) -> Applied<T> {
        self.operations.forget_before(write.now);
        let Some(operation) = write.operation else {
            return Applied::Done(decide(self));
        };
        if let Some(known) = self.operations.known(operation) {
            return known;
        }
        let outcome = decide(self);
        self.operations.keep(operation, &outcome);
        Applied::Done(outcome)
    }
}

/// Live rows by their place in the list.
type Live<Id> = BTreeMap<Position, Id>;

/// A row's place in its list.
fn place(at: crate::Timestamp, id: &str) -> Position {
    Position { at, id: id.into() }
}

/// The rows after the keyset's position, newest first.
fn slice<'a, Id, T: Clone + 'a>(
    live: &'a Live<Id>,
    keyset: &Keyset,
    row: impl Fn(&'a Id) -> Option<&'a T>,
) -> Slice<T> {
    let older = match &keyset.after {
        None => live.range::<Position, _>(..),
        Some(after) => live.range::<Position, _>(..after),
    };
    let mut matching = older.rev().filter_map(|(_, id)| row(id));
    let limit = usize::from(keyset.limit.get());
    let rows = matching.by_ref().take(limit).cloned().collect();
    let more = matching.next().is_some();
    Slice { rows, more }
}
