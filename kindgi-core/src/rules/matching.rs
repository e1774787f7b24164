//! Which runs a rule matches.

use crate::model::{EndedRun, RuleWhen, RunStatus, VersionMatch, Via, WhenSubjects};

/// Whether a run matches: completed, a run of its own, no replay, no dry run unless asked for,
/// and everything that the rule says.
///
/// A run whose version choice wasn't recorded never matches `live`.
pub fn matches(when: &RuleWhen, run: &EndedRun) -> bool {
    let counts = run.status == RunStatus::Completed && run.top_level && !run.replay;
    let dry = !run.dry_run || when.include_dry_runs == Some(true);
    counts && dry && is_subject(when, run) && is_version(when, run)
}

fn is_subject(when: &RuleWhen, run: &EndedRun) -> bool {
    match &when.subjects {
        WhenSubjects::Any => true,
        WhenSubjects::Agents(agents) => run
            .subject
            .agent()
            .is_some_and(|agent| agents.as_slice().contains(agent)),
        WhenSubjects::Flows(flows) => {
            let flow = run.flow_id();
            flows.as_slice().contains(&flow)
        }
    }
}

fn is_version(when: &RuleWhen, run: &EndedRun) -> bool {
    let Some(versions) = &when.versions else {
        return true;
    };
    versions.as_slice().iter().any(|wanted| match wanted {
        VersionMatch::Live => run.via == Some(Via::Live),
        VersionMatch::Exact(version) => run.subject.version() == version,
    })
}
