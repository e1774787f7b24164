//! The runs that are there at the start: many alike, and one for each thing that can be special
//! about a run.

use kindgi_core::{
    BoxError, Clock as _, SystemClock,
    json::RawJson,
    model::{InvalidText, ProjectId, Run, RunId, RunStatus, Subject, TenantId},
};

use super::{
    AGENT, AGENT_VERSION, FLOW, FLOW_VERSION, OTHER_PROJECT, OTHER_TENANT, PROJECT, SECOND_PROJECT,
    TENANT,
    output::{default_input, default_output},
    runs::{FinishedRun, Runs},
};

/// An output whose keys need escaping in a pointer.
const ODD_KEYS: &str = r#"{"a/b":1,"m~n":2,"":3,"é":{"x":null},"list":[[1,2],3]}"#;

/// An output that only survives when its text is kept as it is.
const VERBATIM: &str = r#"{"big":18446744073709551616,"exp":1e400,"tiny":1E-7,"dup":1,"dup":2,"esc":"\u00e9\u0000\ud83d","z":1,"a":1.10}"#;

/// Makes the runs.
pub(super) fn runs(count: u32) -> Result<Runs, BoxError> {
    let tenant: TenantId = TENANT.parse()?;
    let agent = Subject::Agent {
        id: AGENT.parse()?,
        version: AGENT_VERSION.parse()?,
    };
    let flow = Subject::Flow {
        id: FLOW.parse()?,
        version: FLOW_VERSION.parse()?,
    };
    let project: ProjectId = PROJECT.parse()?;

    let started = |name: &str, project: &ProjectId, subject: &Subject| {
        let id: RunId = name.parse()?;
        let input = default_input(&id);
        let run = Run::new(id, project.clone(), subject.clone());
        Ok::<_, InvalidText>(run.with_input(input))
    };
    let completed = |name: &str, project: &ProjectId, subject: &Subject| {
        let run = started(name, project, subject)?;
        let output = default_output(&run.id);
        Ok::<_, InvalidText>(run.completed_with(output))
    };
    let answered = |name: &str, output: RawJson| {
        let run = started(name, &project, &agent)?;
        Ok::<_, InvalidText>(run.completed_with(output))
    };

    let runs = Runs::default();
    let now = SystemClock.now();
    for n in 0..count {
        let run = completed(&format!("run-{n}"), &project, &agent)?;
        runs.add(&tenant, FinishedRun::new(run, now));
    }

    let second: ProjectId = SECOND_PROJECT.parse()?;
    let replay = completed("run-replay", &project, &agent)?;
    let failed = completed("run-failed", &project, &agent)?;
    for run in [
        started("run-running", &project, &agent)?,
        failed.with_status(RunStatus::Failed),
        completed("run-erased", &project, &agent)?.erased(),
        answered("run-null-output", RawJson::null())?,
        answered("run-false-output", RawJson::from_bool(false))?,
        answered("run-odd-keys", RawJson::parse(ODD_KEYS)?)?,
        answered("run-verbatim", RawJson::parse(VERBATIM)?)?,
        completed("run-flow", &project, &flow)?,
        replay.with_replay_of("run-1".parse()?),
        completed("run-other-project", &second, &agent)?,
    ] {
        runs.add(&tenant, FinishedRun::new(run, now));
    }

    let mut dry = FinishedRun::new(completed("run-dry", &project, &agent)?, now);
    dry.dry_run = true;
    runs.add(&tenant, dry);

    let theirs = completed("run-other-tenant", &OTHER_PROJECT.parse()?, &agent)?;
    runs.add(&OTHER_TENANT.parse()?, FinishedRun::new(theirs, now));
    Ok(runs)
}
