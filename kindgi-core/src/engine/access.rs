//! What the caller may see and do. What they may not read doesn't exist for them.

use super::Engine;
use crate::{
    error::{Error, ErrorKind},
    host::Permission,
    model::{ClassScope, Principal, ProjectId, Readable, Run, RunId},
};

impl Engine {
    pub(super) async fn allows(
        &self,
        who: &Principal,
        what: Permission<'_>,
    ) -> Result<bool, Error> {
        Ok(self.0.permissions.allows(who, what).await?)
    }

    /// Refuses what the caller may read, but not do.
    pub(super) async fn require(
        &self,
        who: &Principal,
        what: Permission<'_>,
        message: &'static str,
    ) -> Result<(), Error> {
        match self.allows(who, what).await? {
            true => Ok(()),
            false => Err(Error::new(ErrorKind::PermissionDenied, message)),
        }
    }

    pub(super) async fn may_read(
        &self,
        who: &Principal,
        project: &ProjectId,
    ) -> Result<bool, Error> {
        self.allows(who, Permission::Read { project }).await
    }

    pub(super) async fn readable(&self, who: &Principal) -> Result<Readable, Error> {
        Ok(self.0.permissions.readable_projects(who).await?)
    }

    /// The run, if it exists and its project is readable.
    pub(super) async fn readable_run(&self, who: &Principal, id: &RunId) -> Result<Run, Error> {
        if let Some(run) = self.0.runs.run(&who.tenant, id).await?
            && self.may_read(who, &run.project).await?
        {
            return Ok(run);
        }
        Err(Error::new(ErrorKind::RunNotFound, "no such run"))
    }

    /// Whether the project exists, as far as the host says, and is readable.
    pub(super) async fn readable_project(
        &self,
        who: &Principal,
        project: &ProjectId,
    ) -> Result<(), Error> {
        let known = match &self.0.directory {
            Some(directory) => directory.project_exists(&who.tenant, project).await?,
            None => true,
        };
        if known && self.may_read(who, project).await? {
            return Ok(());
        }
        Err(Error::new(ErrorKind::ProjectNotFound, "no such project"))
    }

    /// A class of the tenant is for everyone who may read any project.
    pub(super) async fn may_read_scope(
        &self,
        who: &Principal,
        scope: &ClassScope,
    ) -> Result<bool, Error> {
        match scope.project() {
            Some(project) => self.may_read(who, project).await,
            None => Ok(!self.readable(who).await?.is_empty()),
        }
    }
}

/// What managing the classes of a scope takes.
pub(super) fn admin_of(scope: &ClassScope) -> Permission<'_> {
    match scope.project() {
        Some(project) => Permission::Admin { project },
        None => Permission::AdminTenant,
    }
}
