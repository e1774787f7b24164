//! What a backend promises for judge classes.

use std::sync::Arc;

use async_trait::async_trait;

use super::{Applied, Keyset, Slice, StoreResult, Write};
use crate::model::{ClassScope, JudgeClass, JudgeClassId, Readable, TenantId};

/// Judge classes.
#[async_trait]
pub trait JudgeClassStore: Send + Sync + 'static {
    /// Creates a class at revision 1, unless a live class of the same scope has its name
    /// (compared bytewise). The class lives, and has an id that no other of its tenant has.
    async fn create_class(
        &self,
        write: Write<'_>,
        class: &JudgeClass,
    ) -> StoreResult<Applied<ClassCreated>>;

    /// Puts `next` in the place of the class of its id, if that is live and at this revision;
    /// its revision grows by one. Scope, name and `created_at` are the same in both. A `next`
    /// with `unregistered_at` retires the class, which frees its name.
    async fn replace_class(
        &self,
        write: Write<'_>,
        at: u64,
        next: &JudgeClass,
    ) -> StoreResult<Applied<ClassReplaced>>;

    /// A class, live or retired.
    async fn class(
        &self,
        tenant: &TenantId,
        id: &JudgeClassId,
    ) -> StoreResult<Option<Revised<JudgeClass>>>;

    /// The live classes that match, newest first: `created_at`, then id, both descending, the id
    /// compared bytewise. A class of a project or an agent is there if its project is in
    /// `readable`; the tenant's classes, unless `readable` is empty.
    async fn classes(
        &self,
        tenant: &TenantId,
        filter: &ClassFilter,
        readable: &Readable,
        keyset: &Keyset,
    ) -> StoreResult<Slice<JudgeClass>>;
}

/// A value at a revision: 1 when it was created, one more with every change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Revised<T> {
    /// The revision.
    pub revision: u64,
    /// The value.
    pub value: T,
}

/// What became of creating a class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClassCreated {
    /// It is stored.
    Ok(Box<JudgeClass>),
    /// A live class of the scope has its name.
    NameTaken,
}

/// What became of replacing a class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClassReplaced {
    /// It is stored.
    Ok(Box<JudgeClass>),
    /// The class is live, but not at that revision any more: decide again.
    Stale,
    /// There is no such class, or it is retired.
    NotLive,
}

/// Which judge classes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClassFilter {
    /// Of exactly this scope.
    pub scope: Option<ClassScope>,
}

impl ClassFilter {
    /// Whether a class matches.
    pub fn matches(&self, class: &JudgeClass) -> bool {
        self.scope
            .as_ref()
            .is_none_or(|scope| *scope == class.scope)
    }
}

#[async_trait]
impl<T: JudgeClassStore + ?Sized> JudgeClassStore for Arc<T> {
    async fn create_class(
        &self,
        write: Write<'_>,
        class: &JudgeClass,
    ) -> StoreResult<Applied<ClassCreated>> {
        (**self).create_class(write, class).await
    }

    async fn replace_class(
        &self,
        write: Write<'_>,
        at: u64,
        next: &JudgeClass,
    ) -> StoreResult<Applied<ClassReplaced>> {
        (**self).replace_class(write, at, next).await
    }

    async fn class(
        &self,
        tenant: &TenantId,
        id: &JudgeClassId,
    ) -> StoreResult<Option<Revised<JudgeClass>>> {
        (**self).class(tenant, id).await
    }

    async fn classes(
        &self,
        tenant: &TenantId,
        filter: &ClassFilter,
        readable: &Readable,
        keyset: &Keyset,
    ) -> StoreResult<Slice<JudgeClass>> {
        (**self).classes(tenant, filter, readable, keyset).await
    }
}
