//! A small host: any run but `none` exists, and one tenant's `ada` may do everything.

use std::sync::Arc;

use async_trait::async_trait;
use kindgi_core::{
    Clock, HostError, ManualClock, MemoryStore,
    engine::{Engine, RuleSpec},
    host::{Permission, Permissions, RecentRuns, Runs},
    json::RawJson,
    model::{
        ClassScope, EndedRun, JudgeClass, Principal, ProjectId, Readable, RuleName, RuleWhen, Run,
        RunId, Subject, TenantId, Weight,
    },
    store::{JudgeClassStore, Write},
};
use kindgi_tower::{AuthError, Authenticator};

/// Ada's token.
pub(crate) const TOKEN: &str = "ada-token";
/// What every run has put out.
pub(crate) const OUTPUT: &str = r#"{"score": 1.10, "big":18446744073709551616,"esc":"\u00e9"}"#;
/// The project of every run.
pub(crate) const PROJECT: &str = "project-1";
/// The runs that are queued from the start.
pub(crate) const QUEUED: [&str; 3] = ["run 1/ä", "run-2", "run-3"];
/// The id of a judge class that is there from the start.
pub(crate) const ODD_ID: &str = "a/b c%41";

pub(crate) struct Host;

pub(crate) fn ada() -> Principal {
    Principal::user("acme".parse().unwrap(), "ada".parse().unwrap())
}

/// An engine whose ids and times are the same in every run.
pub(crate) async fn engine() -> Engine {
    let store = MemoryStore::new();
    let clock = Arc::new(ManualClock::default());
    let class = JudgeClass {
        id: ODD_ID.parse().unwrap(),
        tenant: ada().tenant,
        scope: ClassScope::Tenant,
        name: "odd".parse().unwrap(),
        weight: Weight::new(0.5).unwrap(),
        description: None,
        assertable_by: None,
        created_at: clock.now(),
        updated_at: clock.now(),
        unregistered_at: None,
    };
    let write = Write {
        tenant: &class.tenant,
        now: clock.now(),
        operation: None,
    };
    store.create_class(write, &class).await.unwrap();
    let engine = Engine::builder(store, Host, Host)
        .recent_runs(Host)
        .clock(clock)
        .build();
    let name: RuleName = "every".parse().unwrap();
    let every = RuleSpec::new(name, RuleWhen::default());
    let project = PROJECT.parse().unwrap();
    engine
        .create_judging_rule(&ada(), &project, every)
        .await
        .unwrap();
    for run in Host.last_ended(&ada().tenant, &project, 3).await.unwrap() {
        engine.run_ended(&ada().tenant, &run).await.unwrap();
    }
    engine
}

#[async_trait]
impl RecentRuns for Host {
    async fn last_ended(
        &self,
        _: &TenantId,
        project: &ProjectId,
        last: u16,
    ) -> Result<Vec<EndedRun>, HostError> {
        let ended = QUEUED.iter().take(last.into()).map(|run| {
            let id = run.parse().map_err(HostError::new)?;
            let at = ManualClock::default().now();
            Ok(EndedRun::new(id, project.clone(), subject()?, at))
        });
        ended.collect()
    }
}

fn subject() -> Result<Subject, HostError> {
    Ok(Subject::Agent {
        id: "acme.matcher".parse().map_err(HostError::new)?,
        version: "1.2.0".parse().map_err(HostError::new)?,
    })
}

#[async_trait]
impl Runs for Host {
    async fn run(&self, _: &TenantId, id: &RunId) -> Result<Option<Run>, HostError> {
        if id.as_str() == "none" {
            return Ok(None);
        }
        let project = PROJECT.parse().map_err(HostError::new)?;
        let output = RawJson::parse(OUTPUT).map_err(HostError::new)?;
        Ok(Some(
            Run::new(id.clone(), project, subject()?).completed_with(output),
        ))
    }
}

#[async_trait]
impl Permissions for Host {
    async fn allows(&self, who: &Principal, _: Permission<'_>) -> Result<bool, HostError> {
        Ok(*who == ada())
    }

    async fn readable_projects(&self, _: &Principal) -> Result<Readable, HostError> {
        Ok(Readable::All)
    }
}

#[async_trait]
impl Authenticator for Host {
    async fn authenticate(&self, token: &str) -> Result<Principal, AuthError> {
        match token {
            TOKEN => Ok(ada()),
            _ => Err(AuthError::unknown()),
        }
    }
}
