//! Laws of recent runs.

use std::collections::BTreeSet;

use crate::{
    Timestamp,
    conformance::{
        Report,
        host::{HostUnderTest, asking::Asking},
        report::{ensure, ensure_eq},
    },
    host::RecentRuns,
    model::{EndedRun, ProjectId, RunStatus, TenantId},
};

/// How many are asked for when all are.
const MANY: u16 = 1_000;

/// Recent runs are runs of their own that ended and replay nothing, newest first, each once; and
/// each is given when asked for by its id, and says the same then.
pub fn recent_runs_are_runs_that_ended_newest_first(
    host: &impl HostUnderTest,
) -> Result<(), Report> {
    let law = "recent_runs_are_runs_that_ended_newest_first";
    Asking::hold(law, host, |asking| {
        let Some(recent) = asking.host.recent_runs.as_deref() else {
            return Ok(());
        };
        let mut any = false;
        for own in &asking.host.tenants {
            for project in &own.projects {
                let runs = asking.last_ended(recent, &own.tenant, project, MANY)?;
                any |= !runs.is_empty();
                newest_first_and_once(&runs)?;
                for run in &runs {
                    is_given(asking, &own.tenant, run)?;
                }
            }
        }
        ensure(any, || "no named project has a recent run".to_owned())
    })
}

fn newest_first_and_once(runs: &[EndedRun]) -> Result<(), Report> {
    let mut ids = BTreeSet::new();
    for run in runs {
        let own = run.status != RunStatus::Running && run.top_level && !run.replay;
        ensure(own, || {
            format!("a recent run hasn't ended, or isn't of its own:\n  {run:?}")
        })?;
        ensure(ids.insert(&run.id), || {
            format!("a recent run is given twice:\n  {run:?}")
        })?;
    }
    for pair in runs.windows(2) {
        let [newer, older] = pair else { continue };
        ensure(newer.ended_at >= older.ended_at, || {
            format!("a recent run comes before one that ended later:\n  {newer:?}\n  {older:?}")
        })?;
    }
    Ok(())
}

fn is_given(asking: &Asking<'_>, tenant: &TenantId, recent: &EndedRun) -> Result<(), Report> {
    let run = asking.run(tenant, &recent.id)?;
    let run = run.ok_or_else(|| {
        let id = &recent.id;
        Report::new(format!(
            "the recent run {id:?} of {tenant} isn't given by its id"
        ))
    })?;
    let by_id = (&run.id, &run.project, &run.subject, run.status);
    let listed = (&recent.id, &recent.project, &recent.subject, recent.status);
    ensure_eq("a recent run, asked for by its id", &by_id, &listed)?;
    ensure(run.replay_of.is_none(), || {
        format!("a recent run is a replay by its id:\n  {run:?}")
    })
}

/// As many recent runs are given as are asked for, as far as there are so many: the last ones, all
/// of the project; and none of a project that isn't there, or is another tenant's.
pub fn recent_runs_are_as_many_as_asked_and_of_the_project(
    host: &impl HostUnderTest,
) -> Result<(), Report> {
    let law = "recent_runs_are_as_many_as_asked_and_of_the_project";
    Asking::hold(law, host, |asking| {
        let Some(recent) = asking.host.recent_runs.as_deref() else {
            return Ok(());
        };
        for own in &asking.host.tenants {
            for project in &own.projects {
                as_many_as_asked(asking, recent, &own.tenant, project)?;
            }
            for project in &own.no_projects() {
                none(asking, recent, &own.tenant, project)?;
            }
        }
        for (own, other) in asking.pairs() {
            for project in other.projects.difference(&own.projects) {
                none(asking, recent, &own.tenant, project)?;
            }
        }
        Ok(())
    })
}

fn as_many_as_asked(
    asking: &Asking<'_>,
    recent: &dyn RecentRuns,
    tenant: &TenantId,
    project: &ProjectId,
) -> Result<(), Report> {
    let all = ended(&asking.last_ended(recent, tenant, project, MANY)?);
    let count = u16::try_from(all.len()).unwrap_or(MANY);
    for last in [0, 1, 2, 3, count.saturating_sub(1), count, MANY - 1] {
        let runs = asking.last_ended(recent, tenant, project, last)?;
        let foreign = runs.iter().find(|run| run.project != *project);
        ensure(foreign.is_none(), || {
            format!("of the recent runs of {project:?} one is {foreign:?}")
        })?;
        // Of those that ended at one instant any may be the last.
        let should_be = all.get(..usize::from(last).min(all.len()));
        let what = format!("when the last {last} runs of {project:?} ended");
        ensure_eq(
            &what,
            &ended(&runs).as_slice(),
            &should_be.unwrap_or_default(),
        )?;
    }
    Ok(())
}

fn none(
    asking: &Asking<'_>,
    recent: &dyn RecentRuns,
    tenant: &TenantId,
    project: &ProjectId,
) -> Result<(), Report> {
    let runs = asking.last_ended(recent, tenant, project, MANY)?;
    ensure(runs.is_empty(), || {
        format!("{tenant} hasn't the project {project:?}, but it has recent runs: {runs:?}")
    })
}

fn ended(runs: &[EndedRun]) -> Vec<Timestamp> {
    runs.iter().map(|run| run.ended_at).collect()
}
