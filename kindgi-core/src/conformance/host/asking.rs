//! Asking a host; again, if it is busy.

use std::{collections::BTreeSet, fmt::Debug, future::Future, sync::Arc};

use tokio::runtime::Handle;

use super::{Host, HostUnderTest, TenantSamples};
use crate::{
    HostError, HostErrorKind,
    conformance::{Report, lab::Lab, report::ensure},
    host::{ContextCapture, Directory, Permission, RecentRuns},
    model::{EndedRun, OrgId, Principal, ProjectId, Readable, Run, RunContext, RunId, TenantId},
};

/// How often a host may be busy in a row.
const MAX_BUSY: usize = 1000;

/// What a law of hosts works with.
pub(super) struct Asking<'l> {
    pub(super) lab: &'l Lab<Host>,
    pub(super) host: &'l Host,
}

impl Asking<'_> {
    /// Builds the host and tries a law on it.
    pub(super) fn hold(
        law: &'static str,
        host: &impl HostUnderTest,
        holds: impl FnOnce(&Asking<'_>) -> Result<(), Report>,
    ) -> Result<(), Report> {
        let build = || async {
            let (guard, host) = host.build().await?;
            Ok((guard, Arc::new(host)))
        };
        Lab::hold_on(law, build, |lab| {
            let host = &*lab.store;
            host.names_enough()?;
            holds(&Asking { lab, host })
        })
    }

    /// Tells of each tenant with each other one.
    pub(super) fn pairs(&self) -> impl Iterator<Item = (&TenantSamples, &TenantSamples)> {
        let all = &self.host.tenants;
        let with = |own| all.iter().map(move |other| (own, other));
        let pairs = all.iter().flat_map(with);
        pairs.filter(|(own, other)| own.tenant != other.tenant)
    }

    fn ask<T, F: Future<Output = Result<T, HostError>>>(
        &self,
        what: &dyn Debug,
        question: impl Fn() -> F,
    ) -> Result<T, Report> {
        self.lab.block_on(ask(what, question))
    }

    pub(super) fn run(&self, tenant: &TenantId, id: &RunId) -> Result<Option<Run>, Report> {
        run_on(&self.lab.handle(), self.host, tenant, id)
    }

    pub(super) fn allows(&self, who: &Principal, what: Permission<'_>) -> Result<bool, Report> {
        self.ask(&(who, what), || self.host.permissions.allows(who, what))
    }

    pub(super) fn readable(&self, who: &Principal) -> Result<Readable, Report> {
        self.ask(who, || self.host.permissions.readable_projects(who))
    }

    pub(super) fn exists(
        &self,
        directory: &dyn Directory,
        tenant: &TenantId,
        project: &ProjectId,
    ) -> Result<bool, Report> {
        self.ask(&(tenant, project), || {
            directory.project_exists(tenant, project)
        })
    }

    pub(super) fn projects_of(
        &self,
        directory: &dyn Directory,
        tenant: &TenantId,
        org: &OrgId,
    ) -> Result<BTreeSet<ProjectId>, Report> {
        self.ask(&(tenant, org), || directory.projects_of_org(tenant, org))
    }

    pub(super) fn last_ended(
        &self,
        runs: &dyn RecentRuns,
        tenant: &TenantId,
        project: &ProjectId,
        last: u16,
    ) -> Result<Vec<EndedRun>, Report> {
        let what = (tenant, project, last);
        self.ask(&what, || runs.last_ended(tenant, project, last))
    }
}

pub(super) fn run_on(
    handle: &Handle,
    host: &Host,
    tenant: &TenantId,
    id: &RunId,
) -> Result<Option<Run>, Report> {
    handle.block_on(ask(&(tenant, id), || host.runs.run(tenant, id)))
}

pub(super) fn context_on(
    handle: &Handle,
    context: &dyn ContextCapture,
    tenant: &TenantId,
    run: &Run,
) -> Result<Option<RunContext>, Report> {
    handle.block_on(ask(&(tenant, &run.id), || context.capture(tenant, run)))
}

async fn ask<T, F: Future<Output = Result<T, HostError>>>(
    what: &dyn Debug,
    question: impl Fn() -> F,
) -> Result<T, Report> {
    for _ in 0..MAX_BUSY {
        match question().await {
            Err(e) if e.kind() == HostErrorKind::Busy => tokio::task::yield_now().await,
            Err(e) => return Err(Report::new(format!("the host failed at {what:?}: {e:?}"))),
            Ok(answer) => return Ok(answer),
        }
    }
    Err(Report::new(format!(
        "the host was busy {MAX_BUSY} times in a row at {what:?}"
    )))
}

/// Fails a law unless two runs are equal, in all that they say.
pub(super) fn same_run(what: &str, is: &Run, should_be: &Run) -> Result<(), Report> {
    let Run {
        id,
        project,
        subject,
        status,
        erased,
        input,
        output,
        segments,
        replay_of,
    } = should_be;
    let parts = [
        ("id", is.id == *id),
        ("project", is.project == *project),
        ("subject", is.subject == *subject),
        ("status", is.status == *status),
        ("erasure", is.erased == *erased),
        ("input", is.input == *input),
        ("output", is.output == *output),
        ("segments", is.segments == *segments),
        ("replay", is.replay_of == *replay_of),
    ];
    for (part, same) in parts {
        ensure(same, || {
            format!("{what}: another {part}\n  once: {should_be:?}\n  once: {is:?}")
        })?;
    }
    Ok(())
}
