//! A host in memory.

use std::{
    collections::{BTreeSet, HashMap},
    sync::{Mutex, PoisonError},
};

use async_trait::async_trait;
use kindgi_core::{
    HostError,
    host::{ContextCapture, Directory, Permission, Permissions, RecentRuns, Runs},
    model::{
        EndedRun, OrgId, Principal, PrincipalKind, ProjectId, Readable, Run, RunContext, RunId,
        TenantId,
    },
};
use kindgi_tower::{AuthError, Authenticator};

use super::{faults::Faults, id, raw};

/// What is known of a token.
#[derive(Clone)]
pub(crate) enum Known {
    Principal(Principal),
    Expired,
    Revoked,
}

/// Runs, those that ended, people and what they may, projects and organisations, contexts.
#[derive(Default)]
pub(crate) struct Host {
    pub(crate) faults: Faults,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    tokens: HashMap<String, Known>,
    rights: HashMap<(TenantId, PrincipalKind, String), BTreeSet<String>>,
    runs: HashMap<(TenantId, RunId), Run>,
    /// The one that ended last is the last one.
    ended: Vec<(TenantId, EndedRun)>,
    orgs: HashMap<(TenantId, OrgId), BTreeSet<ProjectId>>,
    context: Option<RunContext>,
}

impl Host {
    fn state<T>(&self, use_it: impl FnOnce(&mut State) -> T) -> T {
        use_it(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub(crate) fn token(&self, token: &str, known: Known) {
        self.state(|s| s.tokens.insert(token.to_owned(), known));
    }

    /// Replaces someone's rights.
    pub(crate) fn grant(&self, who: &Principal, rights: &str) {
        let rights = rights.split(' ').map(str::to_owned).collect();
        self.state(|s| s.rights.insert(key(who), rights));
    }

    pub(crate) fn run_of(&self, tenant: &str, run: Run) {
        self.state(|s| s.runs.insert((id(tenant), run.id.clone()), run));
    }

    /// A run that ended.
    pub(crate) fn ended(&self, tenant: &str, run: EndedRun) {
        self.state(|s| s.ended.push((id(tenant), run)));
    }

    pub(crate) fn org(&self, tenant: &str, org: &str, projects: &[&str]) {
        let projects = projects.iter().map(|project| id(project)).collect();
        self.state(|s| s.orgs.insert((id(tenant), id(org)), projects));
    }

    /// What every capture gives from now on.
    pub(crate) fn context(&self, context: Option<&str>) {
        let context = context.map(|text| RunContext::parse(&raw(text)).unwrap());
        self.state(|s| s.context = context);
    }

    fn may(&self, who: &Principal, what: &str, project: &str) -> bool {
        self.state(|s| {
            s.rights.get(&key(who)).is_some_and(|rights| {
                rights.contains(&format!("{what}:{project}"))
                    || rights.contains(&format!("{what}:*"))
            })
        })
    }
}

fn key(who: &Principal) -> (TenantId, PrincipalKind, String) {
    (who.tenant.clone(), who.kind, who.id.as_str().to_owned())
}

#[async_trait]
impl Authenticator for Host {
    async fn authenticate(&self, token: &str) -> Result<Principal, AuthError> {
        self.faults.host("authenticate").await?;
        match self.state(|s| s.tokens.get(token).cloned()) {
            Some(Known::Principal(who)) => Ok(who),
            Some(Known::Expired) => Err(AuthError::expired()),
            Some(Known::Revoked) => Err(AuthError::revoked()),
            None => Err(AuthError::unknown()),
        }
    }
}

#[async_trait]
impl Runs for Host {
    async fn run(&self, tenant: &TenantId, id: &RunId) -> Result<Option<Run>, HostError> {
        self.faults.host("run").await?;
        Ok(self.state(|s| s.runs.get(&(tenant.clone(), id.clone())).cloned()))
    }
}

#[async_trait]
impl RecentRuns for Host {
    async fn last_ended(
        &self,
        tenant: &TenantId,
        project: &ProjectId,
        last: u16,
    ) -> Result<Vec<EndedRun>, HostError> {
        self.faults.host("last_ended").await?;
        Ok(self.state(|s| {
            let own = s.ended.iter().rev().filter(|(of, run)| {
                let counts = run.top_level && !run.replay;
                of == tenant && run.project == *project && counts
            });
            own.take(last.into()).map(|(_, run)| run.clone()).collect()
        }))
    }
}

#[async_trait]
impl Permissions for Host {
    async fn allows(&self, who: &Principal, what: Permission<'_>) -> Result<bool, HostError> {
        self.faults.host("allows").await?;
        Ok(match what {
            Permission::Read { project } => self.may(who, "read", project.as_str()),
            Permission::Judge { project, .. } => self.may(who, "judge", project.as_str()),
            Permission::Write { project } => self.may(who, "write", project.as_str()),
            Permission::Admin { project } => self.may(who, "admin", project.as_str()),
            Permission::AdminTenant => self.state(|s| {
                s.rights
                    .get(&key(who))
                    .is_some_and(|rights| rights.contains("admin"))
            }),
            _ => false,
        })
    }

    async fn readable_projects(&self, who: &Principal) -> Result<Readable, HostError> {
        self.faults.host("readable_projects").await?;
        let rights = self
            .state(|s| s.rights.get(&key(who)).cloned())
            .unwrap_or_default();
        if rights.contains("read:*") {
            return Ok(Readable::All);
        }
        let projects = rights
            .iter()
            .filter_map(|right| right.strip_prefix("read:"));
        Ok(Readable::Only(projects.map(id).collect()))
    }
}

/// Projects are all whose name begins with `p`.
#[async_trait]
impl Directory for Host {
    async fn project_exists(&self, _: &TenantId, project: &ProjectId) -> Result<bool, HostError> {
        self.faults.host("project_exists").await?;
        Ok(project.as_str().starts_with('p'))
    }

    async fn projects_of_org(
        &self,
        tenant: &TenantId,
        org: &OrgId,
    ) -> Result<BTreeSet<ProjectId>, HostError> {
        self.faults.host("projects_of_org").await?;
        let org = (tenant.clone(), org.clone());
        Ok(self
            .state(|s| s.orgs.get(&org).cloned())
            .unwrap_or_default())
    }
}

#[async_trait]
impl ContextCapture for Host {
    async fn capture(&self, _: &TenantId, _: &Run) -> Result<Option<RunContext>, HostError> {
        self.faults.host("capture").await?;
        Ok(self.state(|s| s.context.clone()))
    }
}
