//! Which runs a rule matches: every part narrows, and only what counts can match.

use kindgi_core::{
    Timestamp,
    model::{EndedRun, RuleWhen, RunStatus, Subject, VersionMatch, Via, WhenItems, WhenSubjects},
    rules::matching::matches,
};
use proptest::{collection::vec, option, prelude::*, sample::select};

fn agent_run() -> EndedRun {
    let subject = Subject::Agent {
        id: "agent".parse().unwrap(),
        version: "1".parse().unwrap(),
    };
    EndedRun::new(
        "run".parse().unwrap(),
        "project".parse().unwrap(),
        subject,
        Timestamp::UNIX_EPOCH,
    )
}

fn flow_run() -> EndedRun {
    let subject = Subject::Flow {
        id: "flow".parse().unwrap(),
        version: "1".parse().unwrap(),
    };
    EndedRun::new(
        "run".parse().unwrap(),
        "project".parse().unwrap(),
        subject,
        Timestamp::UNIX_EPOCH,
    )
}

fn run() -> impl Strategy<Value = EndedRun> {
    let statuses = vec![
        RunStatus::Completed,
        RunStatus::Failed,
        RunStatus::Cancelled,
        RunStatus::Running,
    ];
    let bools = (any::<bool>(), any::<bool>(), any::<bool>());
    let via = option::of(select(vec![Via::Live, Via::Named]));
    let flow = option::of(select(vec!["flow", "other"]));
    (any::<bool>(), select(statuses), via, flow, bools).prop_map(
        |(agent, status, via, flow, (dry_run, replay, top_level))| {
            let mut run = if agent { agent_run() } else { flow_run() };
            (run.status, run.via, run.dry_run) = (status, via, dry_run);
            (run.replay, run.top_level) = (replay, top_level);
            run.flow = flow.map(|flow| flow.parse().unwrap());
            run
        },
    )
}

fn names() -> impl Strategy<Value = Vec<&'static str>> {
    vec(
        select(vec![
            "agent",
            "flow",
            "other",
            "agent.turn",
            "1",
            "2",
            "live",
        ]),
        1..4,
    )
}

fn when() -> impl Strategy<Value = RuleWhen> {
    let dry = option::of(any::<bool>());
    (0..3, names(), option::of(names()), any::<bool>(), dry).prop_map(
        |(subjects, names, versions, says_completed, include_dry_runs)| RuleWhen {
            subjects: match subjects {
                0 => WhenSubjects::Any,
                1 => WhenSubjects::Agents(items(&names, |n| n.parse().unwrap())),
                _ => WhenSubjects::Flows(items(&names, |n| n.parse().unwrap())),
            },
            versions: versions.map(|names| {
                items(&names, |n| {
                    VersionMatch::from(n.parse::<kindgi_core::model::Version>().unwrap())
                })
            }),
            says_completed,
            include_dry_runs,
        },
    )
}

fn items<T: PartialEq>(names: &[&str], item: impl Fn(&str) -> T) -> WhenItems<T> {
    WhenItems::new(names.iter().map(|name| item(name)).collect()).unwrap()
}

proptest! {
    #[test]
    fn only_completed_runs_of_their_own_that_replay_nothing_match(when in when(), run in run()) {
        if matches(&when, &run) {
            prop_assert_eq!(run.status, RunStatus::Completed);
            prop_assert!(run.top_level && !run.replay);
            prop_assert!(!run.dry_run || when.include_dry_runs == Some(true));
        }
    }

    #[test]
    fn every_part_narrows_and_none_depends_on_another(when in when(), run in run()) {
        let any = || RuleWhen { include_dry_runs: when.include_dry_runs, ..RuleWhen::default() };
        let by_subject = RuleWhen { subjects: when.subjects.clone(), ..any() };
        let by_version = RuleWhen { versions: when.versions.clone(), ..any() };
        prop_assert_eq!(
            matches(&when, &run),
            matches(&any(), &run) && matches(&by_subject, &run) && matches(&by_version, &run)
        );
    }

    #[test]
    fn saying_that_a_run_must_have_completed_changes_nothing(when in when(), run in run()) {
        let other = RuleWhen { says_completed: !when.says_completed, ..when.clone() };
        prop_assert_eq!(matches(&when, &run), matches(&other, &run));
    }
}

fn subjects(subjects: WhenSubjects) -> RuleWhen {
    RuleWhen {
        subjects,
        ..RuleWhen::default()
    }
}

#[test]
fn agents_and_flows_match_by_exact_id() {
    let agents =
        |name: &str| subjects(WhenSubjects::Agents(items(&[name], |n| n.parse().unwrap())));
    let flows = |name: &str| subjects(WhenSubjects::Flows(items(&[name], |n| n.parse().unwrap())));
    assert!(matches(&agents("agent"), &agent_run()));
    assert!(!matches(&agents("Agent"), &agent_run()));
    assert!(!matches(&agents("flow"), &flow_run()));
    assert!(matches(&flows("flow"), &flow_run()));
    assert!(!matches(&flows("agent"), &agent_run()));
    // An agent's run is of the flow that the host says, or else of `agent.turn`.
    assert!(matches(&flows("agent.turn"), &agent_run()));
    let mut of_flow = agent_run();
    of_flow.flow = Some("flow".parse().unwrap());
    assert!(matches(&flows("flow"), &of_flow));
    assert!(!matches(&flows("agent.turn"), &of_flow));
}

#[test]
fn live_matches_runs_that_got_the_live_version_and_no_others() {
    let versions = |names: &[&str]| RuleWhen {
        versions: Some(items(names, |n| {
            VersionMatch::from(n.parse::<kindgi_core::model::Version>().unwrap())
        })),
        ..RuleWhen::default()
    };
    let mut run = agent_run();
    assert!(!matches(&versions(&["live"]), &run), "not recorded");
    run.via = Some(Via::Named);
    assert!(!matches(&versions(&["live"]), &run));
    assert!(matches(&versions(&["live", "1"]), &run));
    run.via = Some(Via::Live);
    assert!(matches(&versions(&["live"]), &run));
    assert!(!matches(&versions(&["2"]), &run));
}

#[test]
fn lists_have_1_to_50_items_without_repeats_in_order() {
    assert!(WhenItems::<u32>::new(vec![]).is_err());
    assert!(WhenItems::new((0..51).collect()).is_err());
    assert_eq!(
        WhenItems::new(vec![3, 1, 3, 2, 1]).unwrap().as_slice(),
        [3, 1, 2]
    );
    assert_eq!(
        WhenItems::new((0..50).collect()).unwrap().as_slice().len(),
        50
    );
}
