//! The runs, in memory.
//!
//! A real host has its runs in its own database, and answers the two questions that the engine
//! asks ([`host::Runs::run`] and [`host::RecentRuns::last_ended`]) by a look-up there.

use std::{
    collections::{HashMap, hash_map::Entry},
    sync::{Arc, PoisonError, RwLock},
};

use async_trait::async_trait;
use kindgi_core::{
    HostError, Timestamp, host,
    model::{EndedRun, FlowId, ProjectId, Run, RunId, RunStatus, TenantId, Via},
};

/// A run, with what else the demo knows of it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct FinishedRun {
    /// The run, as the engine is told of it.
    pub run: Run,
    /// When it ended, if it did.
    pub ended_at: Timestamp,
    /// For an agent's run: the flow it is said to be of.
    pub of_flow: Option<FlowId>,
    /// How its version was chosen.
    pub via: Via,
    /// Whether it was only tried, without effects.
    pub dry_run: bool,
    /// The run of which it is a step, when it is one.
    pub parent: Option<RunId>,
}

impl FinishedRun {
    /// A run at the live version, of its own, with effects.
    pub fn new(run: Run, ended_at: Timestamp) -> Self {
        Self {
            run,
            ended_at,
            of_flow: None,
            via: Via::Live,
            dry_run: false,
            parent: None,
        }
    }

    /// The run as the judging rules are told of it.
    pub fn ended(&self) -> EndedRun {
        let (id, project) = (self.run.id.clone(), self.run.project.clone());
        let mut ended = EndedRun::new(id, project, self.run.subject.clone(), self.ended_at);
        ended.status = self.run.status;
        ended.flow = self.of_flow.clone();
        ended.via = Some(self.via);
        ended.dry_run = self.dry_run;
        ended.replay = self.run.replay_of.is_some();
        ended.top_level = self.parent.is_none();
        ended
    }
}

/// The runs of each tenant. Clones share them.
#[derive(Clone, Debug, Default)]
pub struct Runs(Arc<RwLock<HashMap<TenantId, OfTenant>>>);

#[derive(Debug, Default)]
struct OfTenant {
    by_id: HashMap<RunId, FinishedRun>,
    /// A project's runs, in the order they were added in.
    of_project: HashMap<ProjectId, Vec<RunId>>,
}

impl Runs {
    /// Adds a run, and says whether its id was free.
    pub fn add(&self, tenant: &TenantId, run: FinishedRun) -> bool {
        let mut all = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let runs = all.entry(tenant.clone()).or_default();
        let id = run.run.id.clone();
        match runs.by_id.entry(id.clone()) {
            Entry::Occupied(_) => false,
            Entry::Vacant(free) => {
                let project = run.run.project.clone();
                runs.of_project.entry(project).or_default().push(id);
                free.insert(run);
                true
            }
        }
    }

    /// A run, if the tenant has it.
    pub fn get(&self, tenant: &TenantId, id: &RunId) -> Option<FinishedRun> {
        let all = self.0.read().unwrap_or_else(PoisonError::into_inner);
        all.get(tenant)?.by_id.get(id).cloned()
    }

    /// Clears a run's content. The run itself stays, so that it is known to be erased.
    pub fn erase(&self, tenant: &TenantId, id: &RunId) {
        let mut all = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = all.get_mut(tenant).and_then(|runs| runs.by_id.get_mut(id)) {
            found.run = found.run.clone().erased();
        }
    }
}

#[async_trait]
impl host::Runs for Runs {
    async fn run(&self, tenant: &TenantId, id: &RunId) -> Result<Option<Run>, HostError> {
        Ok(self.get(tenant, id).map(|found| found.run))
    }
}

#[async_trait]
impl host::RecentRuns for Runs {
    async fn last_ended(
        &self,
        tenant: &TenantId,
        project: &ProjectId,
        last: u16,
    ) -> Result<Vec<EndedRun>, HostError> {
        let all = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let Some(runs) = all.get(tenant) else {
            return Ok(Vec::new());
        };
        let ids = runs.of_project.get(project).into_iter().flatten().rev();
        let ended = ids
            .filter_map(|id| runs.by_id.get(id))
            .map(FinishedRun::ended);
        let own =
            ended.filter(|run| run.status != RunStatus::Running && run.top_level && !run.replay);
        Ok(own.take(last.into()).collect())
    }
}
