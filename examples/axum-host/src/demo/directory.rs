//! Which projects and organisations there are.
//!
//! A real host looks them up where it keeps them. Here a project also comes to be when a run is
//! finished in it, so that whoever tries something can have a project to themselves.

use std::{
    collections::{BTreeSet, HashMap},
    sync::{Arc, PoisonError, RwLock},
};

use async_trait::async_trait;
use kindgi_core::{
    HostError, host,
    model::{InvalidText, OrgId, ProjectId, TenantId},
};

use super::{ORG, OTHER_PROJECT, OTHER_TENANT, PROJECT, SECOND_PROJECT, TENANT};

/// The projects of each tenant. Clones share them.
#[derive(Clone, Debug)]
pub struct Directory(Arc<RwLock<HashMap<TenantId, BTreeSet<ProjectId>>>>);

impl Directory {
    pub(super) fn new() -> Result<Self, InvalidText> {
        let ours = BTreeSet::from([PROJECT.parse()?, SECOND_PROJECT.parse()?]);
        let theirs = BTreeSet::from([OTHER_PROJECT.parse()?]);
        let all = HashMap::from([(TENANT.parse()?, ours), (OTHER_TENANT.parse()?, theirs)]);
        Ok(Self(Arc::new(RwLock::new(all))))
    }

    /// Adds a project, unless the tenant has it.
    pub fn add(&self, tenant: &TenantId, project: &ProjectId) {
        let mut all = self.0.write().unwrap_or_else(PoisonError::into_inner);
        all.entry(tenant.clone())
            .or_default()
            .insert(project.clone());
    }
}

#[async_trait]
impl host::Directory for Directory {
    async fn project_exists(
        &self,
        tenant: &TenantId,
        project: &ProjectId,
    ) -> Result<bool, HostError> {
        let all = self.0.read().unwrap_or_else(PoisonError::into_inner);
        Ok(all
            .get(tenant)
            .is_some_and(|projects| projects.contains(project)))
    }

    async fn projects_of_org(
        &self,
        tenant: &TenantId,
        org: &OrgId,
    ) -> Result<BTreeSet<ProjectId>, HostError> {
        if tenant.as_str() != TENANT || org.as_str() != ORG {
            return Ok(BTreeSet::new());
        }
        let projects = [PROJECT, SECOND_PROJECT].map(str::parse);
        projects
            .into_iter()
            .collect::<Result<_, _>>()
            .map_err(HostError::new)
    }
}
