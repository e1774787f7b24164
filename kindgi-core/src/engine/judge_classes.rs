//! Creating, listing, fetching, changing and retiring judge classes.

use std::{collections::HashMap, sync::Arc};

use super::{ATTEMPTS, Engine, access::admin_of, keyset, overtaken, page};
use crate::{
    clock::Timestamp,
    error::{Error, ErrorKind},
    model::{
        AssertableBy, ClassName, ClassScope, Description, JudgeClass, JudgeClassId, Page,
        PageRequest, Position, Principal, PrincipalId, PrincipalKind, ProjectId, ReviewerRole,
        TenantId, Weight,
    },
    store::{ClassCreated, ClassFilter, ClassReplaced, Receipt, Revised},
};

/// A judge class to create.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CreateJudgeClass {
    /// Where it applies.
    pub scope: ClassScope,
    /// Its name, unique among the live classes of its scope.
    pub name: ClassName,
    /// How much its judgments count.
    pub weight: Weight,
    /// What it is for.
    pub description: Option<Description>,
    /// Who may judge under it.
    pub assertable_by: Option<AssertableBy>,
}

impl CreateJudgeClass {
    /// A class without description or restriction.
    pub fn new(scope: ClassScope, name: ClassName, weight: Weight) -> Self {
        Self {
            scope,
            name,
            weight,
            description: None,
            assertable_by: None,
        }
    }
}

/// What to change of a judge class; at least one thing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct UpdateJudgeClass {
    /// The new weight.
    pub weight: Option<Weight>,
    /// The new description.
    pub description: Option<Description>,
    /// The new restriction; `Some(None)` lifts it.
    pub assertable_by: Option<Option<AssertableBy>>,
}

/// A judge class as its viewer may see it: the principals it names are shown only to an admin of
/// its scope, their number to everyone.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct JudgeClassView {
    /// Its id.
    pub id: JudgeClassId,
    /// The customer it belongs to.
    pub tenant: TenantId,
    /// Where it applies.
    pub scope: ClassScope,
    /// Its name.
    pub name: ClassName,
    /// How much its judgments count.
    pub weight: Weight,
    /// What it is for.
    pub description: Option<Description>,
    /// Who may judge under it.
    pub assertable_by: Option<AssertableByView>,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
    /// When it was retired.
    pub unregistered_at: Option<Timestamp>,
}

/// A restriction as its viewer may see it. Empty lists and `None` are parts that aren't set.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct AssertableByView {
    /// The least reviewer role.
    pub min_reviewer_role: Option<ReviewerRole>,
    /// The kinds of principals.
    pub principal_kinds: Vec<PrincipalKind>,
    /// The principals; empty for who isn't an admin of the scope.
    pub principal_ids: Vec<PrincipalId>,
    /// How many principals are named; 0 when that part isn't set.
    pub principal_count: usize,
}

impl JudgeClassView {
    fn new(class: JudgeClass, admin: bool) -> Self {
        let assertable_by = class.assertable_by.map(|by| AssertableByView {
            min_reviewer_role: by.min_reviewer_role(),
            principal_kinds: by.principal_kinds().to_vec(),
            principal_count: by.principal_ids().len(),
            principal_ids: match admin {
                true => by.principal_ids().to_vec(),
                false => Vec::new(),
            },
        });
        Self {
            id: class.id,
            tenant: class.tenant,
            scope: class.scope,
            name: class.name,
            weight: class.weight,
            description: class.description,
            assertable_by,
            created_at: class.created_at,
            updated_at: class.updated_at,
            unregistered_at: class.unregistered_at,
        }
    }
}

impl Engine {
    /// Creates a judge class. The checks, in this order: the scope's project exists and is
    /// readable ([`ProjectNotFound`](ErrorKind::ProjectNotFound)); the caller is an admin of the
    /// scope ([`PermissionDenied`](ErrorKind::PermissionDenied)); no live class of the scope has
    /// the name ([`JudgeClassNameTaken`](ErrorKind::JudgeClassNameTaken)).
    pub async fn create_judge_class(
        &self,
        who: &Principal,
        new: CreateJudgeClass,
    ) -> Result<JudgeClassView, Error> {
        let created = self.create_class(who, new).await;
        self.unless_done(who, created, |receipt| match receipt {
            Receipt::ClassCreated(ClassCreated::Ok(class)) => {
                Some(JudgeClassView::new(*class, true))
            }
            _ => None,
        })
        .await
    }

    async fn create_class(
        &self,
        who: &Principal,
        new: CreateJudgeClass,
    ) -> Result<JudgeClassView, Error> {
        if let Some(project) = new.scope.project() {
            self.readable_project(who, project).await?;
        }
        self.require_admin(who, &new.scope).await?;
        let write = self.write(who);
        let class = JudgeClass {
            id: self.new_id()?,
            tenant: who.tenant.clone(),
            scope: new.scope,
            name: new.name,
            weight: new.weight,
            description: new.description,
            assertable_by: new.assertable_by,
            created_at: write.now,
            updated_at: write.now,
            unregistered_at: None,
        };
        match self.done(self.0.store.create_class(write, &class).await?)? {
            ClassCreated::Ok(class) => Ok(JudgeClassView::new(*class, true)),
            ClassCreated::NameTaken => Err(Error::new(
                ErrorKind::JudgeClassNameTaken,
                "a live judge class of this scope has this name",
            )
            .with_field("/name")),
        }
    }

    /// The live classes that match, newest first: `created_at`, then id, both descending.
    pub async fn judge_classes(
        &self,
        who: &Principal,
        filter: &ClassFilter,
        request: &PageRequest,
    ) -> Result<Page<JudgeClassView>, Error> {
        let readable = self.readable(who).await?;
        if readable.is_empty() {
            return Ok(Page::empty());
        }
        let keyset = keyset(request);
        let slice = self
            .0
            .store
            .classes(&who.tenant, filter, &readable, &keyset)
            .await?;
        let found = page(slice, |class| Position {
            at: class.created_at,
            id: Arc::from(class.id.as_str()),
        });
        // One question for each scope on the page that has something to hide.
        let mut admin: HashMap<Option<ProjectId>, bool> = HashMap::new();
        let mut rows = Vec::with_capacity(found.rows.len());
        for class in found.rows {
            let hides = class.assertable_by.as_ref();
            let hides = hides.is_some_and(|by| !by.principal_ids().is_empty());
            let key = class.scope.project().cloned();
            let is_admin = match admin.get(&key) {
                Some(known) => *known,
                None if hides => {
                    let is_admin = self.allows(who, admin_of(&class.scope)).await?;
                    admin.insert(key, is_admin);
                    is_admin
                }
                None => false,
            };
            rows.push(JudgeClassView::new(class, is_admin));
        }
        Ok(Page {
            rows,
            next: found.next,
        })
    }

    /// A judge class, live or retired.
    pub async fn judge_class(
        &self,
        who: &Principal,
        id: &JudgeClassId,
    ) -> Result<JudgeClassView, Error> {
        let class = self.readable_class(who, id).await?.value;
        let is_admin = self.allows(who, admin_of(&class.scope)).await?;
        Ok(JudgeClassView::new(class, is_admin))
    }

    /// Changes a live judge class. The checks, in this order: at least one change
    /// ([`BadInput`](ErrorKind::BadInput)); the class exists and is readable
    /// ([`JudgeClassNotFound`](ErrorKind::JudgeClassNotFound)); the caller is an admin of its
    /// scope ([`PermissionDenied`](ErrorKind::PermissionDenied)); it lives
    /// ([`JudgeClassNotFound`](ErrorKind::JudgeClassNotFound)).
    pub async fn update_judge_class(
        &self,
        who: &Principal,
        id: &JudgeClassId,
        change: UpdateJudgeClass,
    ) -> Result<JudgeClassView, Error> {
        if change == UpdateJudgeClass::default() {
            let message = "at least one field must be given";
            return Err(Error::new(ErrorKind::BadInput, message).with_field(""));
        }
        let class = self
            .replace_class(who, id, |class, now| {
                let before = class.clone();
                class.weight = change.weight.unwrap_or(class.weight);
                if let Some(description) = &change.description {
                    class.description = Some(description.clone());
                }
                if let Some(by) = &change.assertable_by {
                    class.assertable_by = by.clone();
                }
                if *class != before {
                    class.updated_at = now.max(before.updated_at);
                }
            })
            .await?;
        Ok(JudgeClassView::new(class, true))
    }

    /// Retires a live judge class: it still reads by id and names old judgments, but is never
    /// listed and takes no new ones. The checks are those of
    /// [`update_judge_class`](Self::update_judge_class).
    pub async fn unregister_judge_class(
        &self,
        who: &Principal,
        id: &JudgeClassId,
    ) -> Result<(), Error> {
        self.replace_class(who, id, |class, now| {
            let now = now.max(class.updated_at);
            class.updated_at = now;
            class.unregistered_at = Some(now);
        })
        .await
        .map(drop)
    }

    async fn replace_class(
        &self,
        who: &Principal,
        id: &JudgeClassId,
        change: impl Fn(&mut JudgeClass, Timestamp) + Send + Sync,
    ) -> Result<JudgeClass, Error> {
        let replaced = self.replace(who, id, change).await;
        self.unless_done(who, replaced, |receipt| match receipt {
            Receipt::ClassReplaced(ClassReplaced::Ok(class)) => Some(*class),
            _ => None,
        })
        .await
    }

    async fn replace(
        &self,
        who: &Principal,
        id: &JudgeClassId,
        change: impl Fn(&mut JudgeClass, Timestamp) + Send + Sync,
    ) -> Result<JudgeClass, Error> {
        for _ in 0..ATTEMPTS {
            let class = self.readable_class(who, id).await?;
            self.require_admin(who, &class.value.scope).await?;
            if !class.value.is_live() {
                return Err(no_class());
            }
            let write = self.write(who);
            let mut next = class.value;
            change(&mut next, write.now);
            match self.done(
                self.0
                    .store
                    .replace_class(write, class.revision, &next)
                    .await?,
            )? {
                ClassReplaced::Ok(class) => return Ok(*class),
                ClassReplaced::NotLive => return Err(no_class()),
                ClassReplaced::Stale => {}
            }
        }
        Err(overtaken())
    }

    async fn readable_class(
        &self,
        who: &Principal,
        id: &JudgeClassId,
    ) -> Result<Revised<JudgeClass>, Error> {
        if let Some(class) = self.0.store.class(&who.tenant, id).await?
            && self.may_read_scope(who, &class.value.scope).await?
        {
            return Ok(class);
        }
        Err(no_class())
    }

    async fn require_admin(&self, who: &Principal, scope: &ClassScope) -> Result<(), Error> {
        let message = "you may not manage the judge classes of this scope";
        self.require(who, admin_of(scope), message).await
    }
}

fn no_class() -> Error {
    Error::new(ErrorKind::JudgeClassNotFound, "no such judge class")
}
