//! The demo host keeps the laws of hosts: what it answers can be built on, and so can what is
//! copied from it.
#![allow(clippy::unwrap_used)]

use axum_host::{
    BoxError,
    demo::{
        Context, Demo, FinishedRun, ORG, OTHER_PROJECT, OTHER_TENANT, PROJECT, SECOND_PROJECT,
        TENANT,
    },
};
use kindgi_core::{
    conformance::{
        self,
        host::{Host, HostUnderTest, TenantSamples},
    },
    model::{Principal, PrincipalKind, ProjectId, RunId, TenantId},
};

/// The runs that are there at the start: a few alike, and the special ones.
const RUNS: [&str; 14] = [
    "run-0",
    "run-1",
    "run-2",
    "run-running",
    "run-failed",
    "run-erased",
    "run-null-output",
    "run-false-output",
    "run-odd-keys",
    "run-verbatim",
    "run-flow",
    "run-replay",
    "run-other-project",
    "run-dry",
];

struct DemoHost;

impl HostUnderTest for DemoHost {
    type Guard = ();

    async fn build(&self) -> Result<((), Host), BoxError> {
        let demo = Demo::new(3)?;
        let (ours, theirs): (TenantId, TenantId) = (TENANT.parse()?, OTHER_TENANT.parse()?);

        // A step of a run, one that ended later, and another tenant's of the same id as ours.
        let first = demo.runs.get(&ours, &"run-1".parse()?);
        let first = first.ok_or("the demo has no runs")?;
        let mut step = first.clone();
        step.run.id = "run-1-step".parse()?;
        step.parent = Some(first.run.id.clone());
        let mut later = first.clone();
        later.run.id = "run-later".parse()?;
        later.ended_at = first.ended_at.saturating_add_millis(1);
        let mut same_id = first.clone();
        same_id.run.project = OTHER_PROJECT.parse()?;
        add(&demo, &ours, step)?;
        add(&demo, &ours, later)?;
        add(&demo, &theirs, same_id)?;

        let who = |token| demo.people.by_token(token).cloned();
        let who = |token| who(token).map_err(|e| format!("{token}: {e:?}"));
        let people = [
            who("test-token")?,
            who("judge-token")?,
            who("reader-token")?,
            who("project-token")?,
            who("service-token")?,
        ];
        let strangers: Vec<Principal> = people.iter().flat_map(nearly).collect();
        let gone: [ProjectId; 2] = ["deleted".parse()?, OTHER_PROJECT.to_uppercase().parse()?];
        let mut runs = RUNS
            .map(str::parse)
            .into_iter()
            .collect::<Result<Vec<RunId>, _>>()?;
        runs.extend(["run-1-step".parse()?, "run-later".parse()?]);
        let ours = TenantSamples::new(ours)
            .principals(people)
            .projects([PROJECT.parse()?, SECOND_PROJECT.parse()?])
            .gone_projects(gone)
            .orgs([ORG.parse()?])
            .runs(runs);
        let theirs = TenantSamples::new(theirs)
            .principals([who("other-tenant-token")?])
            .projects([OTHER_PROJECT.parse()?])
            .runs(["run-other-tenant".parse()?, "run-1".parse()?]);
        let host = Host::new(demo.runs.clone(), demo.people.clone())
            .directory(demo.directory.clone())
            .context_capture(Context)
            .recent_runs(demo.runs.clone())
            .tenant(ours)
            .tenant(theirs)
            .strangers(strangers);
        Ok(((), host))
    }
}

fn add(demo: &Demo, tenant: &TenantId, run: FinishedRun) -> Result<(), BoxError> {
    let id = run.run.id.clone();
    let added = demo.runs.add(tenant, run);
    added
        .then_some(())
        .ok_or_else(|| format!("the id {id} is taken").into())
}

/// Somebody of another tenant, and somebody of another kind, by the same id.
fn nearly(who: &Principal) -> [Principal; 2] {
    let mut elsewhere = who.clone();
    elsewhere.tenant = OTHER_TENANT.parse().unwrap();
    let mut other = who.clone();
    other.kind = match who.kind {
        PrincipalKind::User => PrincipalKind::Service,
        PrincipalKind::Service => PrincipalKind::User,
    };
    [elsewhere, other]
}

conformance::host::laws!(DemoHost);
