//! Laws of runs, and of what they saw.

use crate::{
    conformance::{
        Report,
        host::{
            HostUnderTest, TenantSamples,
            asking::{Asking, context_on, run_on, same_run},
        },
        report::{ensure, ensure_eq},
    },
    model::{Run, RunId},
};

const THREADS: usize = 8;

/// A run that the tenant has is given when asked for by its id: that very run, of one of the
/// tenant's projects.
pub fn a_run_is_what_was_asked_for(host: &impl HostUnderTest) -> Result<(), Report> {
    Asking::hold("a_run_is_what_was_asked_for", host, |asking| {
        for own in &asking.host.tenants {
            for id in &own.runs {
                let run = given(asking, own, id)?;
                ensure_eq("the id of a run that was asked for", &run.id, id)?;
                ensure(own.projects.contains(&run.project), || {
                    let (tenant, project) = (&own.tenant, &run.project);
                    format!("the run {id:?} of {tenant} is of {project:?}, no project named of it")
                })?;
            }
        }
        Ok(())
    })
}

/// A run is the same each time it is asked for, also when several are asked for at once.
pub fn a_run_is_the_same_each_time(host: &impl HostUnderTest) -> Result<(), Report> {
    Asking::hold("a_run_is_the_same_each_time", host, |asking| {
        let runs = all_runs(asking)?;
        for (own, run) in &runs {
            let again = given(asking, own, &run.id)?;
            same_run("a run that is asked for again", &again, run)?;
        }
        // In each round each thread asks for another, as far as there are others.
        let rounds = asking
            .lab
            .race(THREADS, 2 * runs.len(), |handle, round, thread| {
                let (own, run) = of(&runs, round / 2 + thread * (round % 2))?;
                let again = run_on(handle, asking.host, &own.tenant, &run.id)?;
                let again = again.ok_or_else(|| missing(own, &run.id))?;
                same_run("a run that is asked for with others at once", &again, run)
            })?;
        rounds.into_iter().flatten().collect()
    })
}

/// A run that another tenant has isn't given. Where both tenants have one of that id, each gets
/// its own.
pub fn a_run_of_one_tenant_is_not_given_to_another(
    host: &impl HostUnderTest,
) -> Result<(), Report> {
    let law = "a_run_of_one_tenant_is_not_given_to_another";
    Asking::hold(law, host, |asking| {
        for (own, other) in asking.pairs() {
            for id in &other.runs {
                let run = asking.run(&own.tenant, id)?;
                let right = match &run {
                    Some(run) => own.runs.contains(id) && own.projects.contains(&run.project),
                    None => !own.runs.contains(id),
                };
                ensure(right, || {
                    let (own, other) = (&own.tenant, &other.tenant);
                    format!("{own}, asked for the run {id:?} of {other}, gives\n  {run:?}")
                })?;
            }
        }
        Ok(())
    })
}

/// What a run saw is captured without error, and the same each time, also at once: so that it
/// doesn't matter which of several first judgments keeps its copy.
pub fn a_context_is_the_same_each_time(host: &impl HostUnderTest) -> Result<(), Report> {
    Asking::hold("a_context_is_the_same_each_time", host, |asking| {
        let Some(context) = asking.host.context.as_deref() else {
            return Ok(());
        };
        let runs = all_runs(asking)?;
        let handle = asking.lab.handle();
        let capture =
            |(own, run): &(&TenantSamples, Run)| context_on(&handle, context, &own.tenant, run);
        let captured = runs.iter().map(capture).collect::<Result<Vec<_>, _>>()?;
        for (run, first) in runs.iter().zip(&captured) {
            ensure_eq("a context that is captured again", &capture(run)?, first)?;
        }
        let rounds = asking
            .lab
            .race(THREADS, 2 * runs.len(), |handle, round, thread| {
                let number = round / 2 + thread * (round % 2);
                let (own, run) = of(&runs, number)?;
                let again = context_on(handle, context, &own.tenant, run)?;
                let what = "a context that is captured with others at once";
                ensure_eq(what, &again, of(&captured, number)?)
            })?;
        rounds.into_iter().flatten().collect()
    })
}

/// Counted round.
fn of<T>(all: &[T], number: usize) -> Result<&T, Report> {
    let one = all.iter().cycle().nth(number);
    one.ok_or_else(|| Report::new("the suite has no run"))
}

fn all_runs<'a>(asking: &Asking<'a>) -> Result<Vec<(&'a TenantSamples, Run)>, Report> {
    let mut runs = Vec::new();
    for own in &asking.host.tenants {
        for id in &own.runs {
            runs.push((own, given(asking, own, id)?));
        }
    }
    Ok(runs)
}

fn given(asking: &Asking<'_>, own: &TenantSamples, id: &RunId) -> Result<Run, Report> {
    let run = asking.run(&own.tenant, id)?;
    run.ok_or_else(|| missing(own, id))
}

fn missing(own: &TenantSamples, id: &RunId) -> Report {
    Report::new(format!("the run {id:?} of {} isn't given", own.tenant))
}
