//! Judge classes.

use std::collections::{HashMap, HashSet};

use async_trait::async_trait;

use super::{Live, MemoryStore, place, slice};
use crate::{
    Timestamp,
    model::{
        ClassName, ClassScope, JudgeClass, JudgeClassId, Position, Readable, TenantId, Weight,
    },
    store::{
        Applied, ClassAt, ClassCreated, ClassFilter, ClassReplaced, JudgeClassStore, Keyset,
        Revised, Slice, StoreResult, Write,
    },
};

/// The judge classes of a tenant.
#[derive(Debug, Default)]
pub(super) struct Classes {
    pub(super) rows: HashMap<JudgeClassId, Revised<JudgeClass>>,
    pub(super) live: Live<JudgeClassId>,
    pub(super) names: HashSet<(ClassScope, ClassName)>,
}

pub(super) fn place_of(class: &JudgeClass) -> Position {
    place(class.created_at, class.id.as_str())
}

pub(super) fn name_of(class: &JudgeClass) -> (ClassScope, ClassName) {
    (class.scope.clone(), class.name.clone())
}

impl Classes {
    /// Whether a class is at a revision.
    pub(super) fn is_at(&self, class: ClassAt<'_>) -> bool {
        self.rows
            .get(class.id)
            .is_some_and(|row| row.revision == class.revision)
    }

    /// A class's current weight.
    pub(super) fn weight(&self, id: &JudgeClassId) -> Option<Weight> {
        self.rows.get(id).map(|row| row.value.weight)
    }

    /// A class, while it lives.
    pub(super) fn live(&self, id: &JudgeClassId) -> Option<&JudgeClass> {
        let class = &self.rows.get(id)?.value;
        class.is_live().then_some(class)
    }

    /// The classes that were retired before an instant, in that order.
    pub(super) fn retired_before(&self, before: Timestamp) -> Vec<(Position, JudgeClassId)> {
        let retired = |row: &Revised<JudgeClass>| {
            let at = row.value.unregistered_at.filter(|at| *at < before)?;
            Some((place(at, row.value.id.as_str()), row.value.id.clone()))
        };
        let mut classes: Vec<_> = self.rows.values().filter_map(retired).collect();
        classes.sort();
        classes
    }

    /// Forgets a retired class.
    pub(super) fn forget(&mut self, id: &JudgeClassId) {
        self.rows.remove(id);
    }

    fn create(&mut self, class: &JudgeClass) -> ClassCreated {
        if !self.names.insert(name_of(class)) {
            return ClassCreated::NameTaken;
        }
        self.live.insert(place_of(class), class.id.clone());
        let value = class.clone();
        let revision = 1;
        self.rows
            .insert(class.id.clone(), Revised { revision, value });
        ClassCreated::Ok(Box::new(class.clone()))
    }

    fn replace(&mut self, at: u64, next: &JudgeClass) -> ClassReplaced {
        let Some(row) = self
            .rows
            .get_mut(&next.id)
            .filter(|row| row.value.is_live())
        else {
            return ClassReplaced::NotLive;
        };
        if row.revision != at {
            return ClassReplaced::Stale;
        }
        if !next.is_live() {
            self.live.remove(&place_of(&row.value));
            self.names.remove(&name_of(&row.value));
        }
        row.revision += 1;
        row.value = next.clone();
        ClassReplaced::Ok(Box::new(next.clone()))
    }

    fn list(
        &self,
        filter: &ClassFilter,
        readable: &Readable,
        keyset: &Keyset,
    ) -> Slice<JudgeClass> {
        slice(&self.live, keyset, |id| {
            let class = &self.rows.get(id)?.value;
            let may_read = match class.scope.project() {
                None => !readable.is_empty(),
                Some(project) => readable.contains(project),
            };
            (may_read && filter.matches(class)).then_some(class)
        })
    }
}

#[async_trait]
impl JudgeClassStore for MemoryStore {
    async fn create_class(
        &self,
        write: Write<'_>,
        class: &JudgeClass,
    ) -> StoreResult<Applied<ClassCreated>> {
        Ok(self.change(write.tenant, |tenant| {
            tenant.apply(write, |tenant| tenant.classes.create(class))
        }))
    }

    async fn replace_class(
        &self,
        write: Write<'_>,
        at: u64,
        next: &JudgeClass,
    ) -> StoreResult<Applied<ClassReplaced>> {
        Ok(self.change(write.tenant, |tenant| {
            tenant.apply(write, |tenant| tenant.classes.replace(at, next))
        }))
    }

    async fn class(
        &self,
        tenant: &TenantId,
        id: &JudgeClassId,
    ) -> StoreResult<Option<Revised<JudgeClass>>> {
        Ok(self.look(tenant, |tenant| tenant.classes.rows.get(id).cloned()))
    }

    async fn classes(
        &self,
        tenant: &TenantId,
        filter: &ClassFilter,
        readable: &Readable,
        keyset: &Keyset,
    ) -> StoreResult<Slice<JudgeClass>> {
        let list = |tenant: &super::Tenant| Some(tenant.classes.list(filter, readable, keyset));
        let found = self.look(tenant, list);
        Ok(found.unwrap_or(Slice {
            rows: Vec::new(),
            more: false,
        }))
    }
}
