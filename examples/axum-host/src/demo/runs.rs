//! The runs, in memory.
//!
//! A real host has its runs in its own database, and answers the one question that the engine
//! asks ([`host::Runs::run`]) by a look-up there.

use std::{
    collections::{HashMap, hash_map::Entry},
    sync::{Arc, PoisonError, RwLock},
};

use async_trait::async_trait;
use kindgi_core::{
    HostError, host,
    model::{FlowId, ProjectId, Run, RunId, TenantId},
};

/// A run, with what else the demo knows of it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct FinishedRun {
    /// The run, as the engine is told of it.
    pub run: Run,
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
    pub fn new(run: Run) -> Self {
        Self {
            run,
            of_flow: None,
            via: Via::Live,
            dry_run: false,
            parent: None,
        }
    }
}

/// How the version that ran was chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Via {
    /// The one that was live.
    Live,
    /// The one that was named.
    Named,
}

/// The runs of each tenant. Clones share them.
#[derive(Clone, Debug, Default)]
pub struct Runs(Arc<RwLock<HashMap<TenantId, HashMap<RunId, FinishedRun>>>>);

impl Runs {
    /// Adds a run, and says whether its id was free.
    pub fn add(&self, tenant: &TenantId, run: FinishedRun) -> bool {
        let mut all = self.0.write().unwrap_or_else(PoisonError::into_inner);
        match all
            .entry(tenant.clone())
            .or_default()
            .entry(run.run.id.clone())
        {
            Entry::Occupied(_) => false,
            Entry::Vacant(free) => {
                free.insert(run);
                true
            }
        }
    }

    /// The project of a run, if the tenant has the run.
    pub fn project_of(&self, tenant: &TenantId, id: &RunId) -> Option<ProjectId> {
        let all = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let found = all.get(tenant)?.get(id)?;
        Some(found.run.project.clone())
    }

    /// Clears a run's content. The run itself stays, so that it is known to be erased.
    pub fn erase(&self, tenant: &TenantId, id: &RunId) {
        let mut all = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = all.get_mut(tenant).and_then(|runs| runs.get_mut(id)) {
            found.run = found.run.clone().erased();
        }
    }
}

#[async_trait]
impl host::Runs for Runs {
    async fn run(&self, tenant: &TenantId, id: &RunId) -> Result<Option<Run>, HostError> {
        let all = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let found = all.get(tenant).and_then(|runs| runs.get(id));
        Ok(found.map(|found| found.run.clone()))
    }
}
