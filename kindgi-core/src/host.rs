//! What the host implements: its runs, its permissions and, if it likes, its directory and the
//! context of its runs.
//!
//! Each trait is object-safe and asks for one thing. A host's failure is a
//! [`HostError`]; it becomes a server error on the wire, never a refusal.

use std::{collections::BTreeSet, sync::Arc};

use async_trait::async_trait;

use crate::{
    error::HostError,
    model::{EndedRun, OrgId, Principal, ProjectId, Readable, Run, RunContext, RunId, TenantId},
};

/// The host's runs.
#[async_trait]
pub trait Runs: Send + Sync + 'static {
    /// The tenant's run of this id, if it has one. A run of another tenant is `None`: nothing is
    /// ever visible across tenants.
    async fn run(&self, tenant: &TenantId, id: &RunId) -> Result<Option<Run>, HostError>;
}

/// The host's recent runs.
///
/// A host without them has previews of rules that consider nothing, and tells the rules itself
/// what a crash kept from them.
#[async_trait]
pub trait RecentRuns: Send + Sync + 'static {
    /// The project's last `last` runs that ended, however they did, newest first: runs of their
    /// own, not steps of others, that replay nothing. Others are left out of what is given.
    async fn last_ended(
        &self,
        tenant: &TenantId,
        project: &ProjectId,
        last: u16,
    ) -> Result<Vec<EndedRun>, HostError>;
}

/// What someone wants to do, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Permission<'a> {
    /// Read the judgments, judging rules and judging queue of a project.
    Read {
        /// Which project.
        project: &'a ProjectId,
    },
    /// Judge a run.
    Judge {
        /// The run's project.
        project: &'a ProjectId,
        /// Which run.
        run: &'a RunId,
    },
    /// Remove judgments of a project, anyone's, manage its judging rules, and dismiss and reopen
    /// items of its judging queue.
    Write {
        /// Which project.
        project: &'a ProjectId,
    },
    /// Manage the judge classes of the tenant.
    AdminTenant,
    /// Manage the judge classes of a project and of its agents.
    Admin {
        /// Which project.
        project: &'a ProjectId,
    },
}

/// The host's permissions.
///
/// Both answers must agree: a project is among [`readable_projects`](Self::readable_projects)
/// exactly when [`Permission::Read`] is allowed on it.
#[async_trait]
pub trait Permissions: Send + Sync + 'static {
    /// Whether this principal may do this here.
    async fn allows(&self, who: &Principal, what: Permission<'_>) -> Result<bool, HostError>;

    /// Which projects of their tenant this principal may read. Lists are filtered by it inside
    /// the store's query, so that pages stay full.
    async fn readable_projects(&self, who: &Principal) -> Result<Readable, HostError>;
}

/// What the host knows of its projects and organisations.
///
/// A host without one takes every project id for a project, and has no organisations.
#[async_trait]
pub trait Directory: Send + Sync + 'static {
    /// Whether the tenant has this project.
    async fn project_exists(
        &self,
        tenant: &TenantId,
        project: &ProjectId,
    ) -> Result<bool, HostError>;

    /// The projects of an organisation; none for one that the tenant doesn't have.
    async fn projects_of_org(
        &self,
        tenant: &TenantId,
        org: &OrgId,
    ) -> Result<BTreeSet<ProjectId>, HostError>;
}

/// Captures what a run needs besides its input to be replayed.
///
/// Asked for a run's first judgment only (more than once only where several first judgments
/// race; one copy is kept). A failure doesn't stop the judgment: it is recorded without context.
#[async_trait]
pub trait ContextCapture: Send + Sync + 'static {
    /// The run's context, if there is one.
    async fn capture(&self, tenant: &TenantId, run: &Run) -> Result<Option<RunContext>, HostError>;
}

#[async_trait]
impl<T: Runs + ?Sized> Runs for Arc<T> {
    async fn run(&self, tenant: &TenantId, id: &RunId) -> Result<Option<Run>, HostError> {
        (**self).run(tenant, id).await
    }
}

#[async_trait]
impl<T: Permissions + ?Sized> Permissions for Arc<T> {
    async fn allows(&self, who: &Principal, what: Permission<'_>) -> Result<bool, HostError> {
        (**self).allows(who, what).await
    }

    async fn readable_projects(&self, who: &Principal) -> Result<Readable, HostError> {
        (**self).readable_projects(who).await
    }
}

#[async_trait]
impl<T: Directory + ?Sized> Directory for Arc<T> {
    async fn project_exists(
        &self,
        tenant: &TenantId,
        project: &ProjectId,
    ) -> Result<bool, HostError> {
        (**self).project_exists(tenant, project).await
    }

    async fn projects_of_org(
        &self,
        tenant: &TenantId,
        org: &OrgId,
    ) -> Result<BTreeSet<ProjectId>, HostError> {
        (**self).projects_of_org(tenant, org).await
    }
}

#[async_trait]
impl<T: ContextCapture + ?Sized> ContextCapture for Arc<T> {
    async fn capture(&self, tenant: &TenantId, run: &Run) -> Result<Option<RunContext>, HostError> {
        (**self).capture(tenant, run).await
    }
}

#[async_trait]
impl<T: RecentRuns + ?Sized> RecentRuns for Arc<T> {
    async fn last_ended(
        &self,
        tenant: &TenantId,
        project: &ProjectId,
        last: u16,
    ) -> Result<Vec<EndedRun>, HostError> {
        (**self).last_ended(tenant, project, last).await
    }
}
