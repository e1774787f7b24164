//! Calls on the queue and on all that moves it, to be tried on several stores: few ids and few
//! instants, so that they meet.

use std::num::NonZeroU16;

use kindgi_core::{
    Timestamp,
    json::RawJson,
    model::{
        AssertedBy, ClassScope, EndedRun, Item, ItemState, JudgeClass, JudgeClassId, JudgingRule,
        Judgment, MaxOpen, PrincipalKind, RunContext, RunCopy, Sample, Segment, Subject, TenantId,
        Verdict, Weight,
    },
    store::{JudgedRunFilter, NewJudgment, QueueFilter},
};
use proptest::{collection::vec, option, prelude::*, sample::subsequence};

use crate::support::at;

/// An id of a small pool.
type N = u8;

/// How many runs there are.
pub(crate) const RUNS: N = 8;

#[derive(Clone, Debug)]
pub(crate) enum Call {
    CreateClass(N),
    RetireClass(N),
    AppendRule {
        rule: N,
        class: Option<N>,
        max_open: Option<u32>,
        enabled: bool,
    },
    StopRule(N),
    Take {
        run: N,
        project: N,
        ended_at: i64,
        agent: Option<N>,
        stale: bool,
        /// Which of the rules that are enabled.
        which: Vec<bool>,
    },
    Dismiss {
        project: N,
        run: N,
        reason: bool,
    },
    Reopen {
        project: N,
        run: N,
    },
    Record(Record),
    /// One of the last that were recorded.
    Remove(N),
    EraseRun(N),
    EraseParticipant(N),
    Purge {
        before: i64,
        limit: NonZeroU16,
        steps: usize,
    },
    Queue(N, QueueFilter),
    Results(N, Option<Timestamp>),
    JudgedRuns(JudgedRunFilter),
}

#[derive(Clone, Debug)]
pub(crate) struct Record {
    pub(crate) run: N,
    pub(crate) project: N,
    pub(crate) key: N,
    pub(crate) participant: Option<N>,
    pub(crate) class: Option<N>,
    pub(crate) yes: bool,
    pub(crate) with_copy: bool,
    pub(crate) replay: bool,
    pub(crate) segments: usize,
}

/// When, and as which operation, with which body.
pub(crate) type How = (i64, Option<(u8, u8)>);

pub(crate) fn call() -> impl Strategy<Value = (How, Call)> {
    let operation = option::weighted(0.4, (0..6u8, prop_oneof![9 => Just(0u8), 1 => Just(1u8)]));
    ((0..20i64, operation), kinds())
}

fn kinds() -> impl Strategy<Value = Call> {
    let max_open = option::weighted(0.6, prop_oneof![3 => Just(1u32), 1 => Just(2)]);
    let rule = (
        0..4u8,
        option::of(0..3u8),
        max_open,
        prop::bool::weighted(0.9),
    );
    let rule = rule.prop_map(|(rule, class, max_open, enabled)| Call::AppendRule {
        rule,
        class,
        max_open,
        enabled,
    });
    let take = (
        0..RUNS,
        project(),
        0..20i64,
        option::weighted(0.7, 0..2u8),
        prop::bool::weighted(0.05),
        vec(prop::bool::weighted(0.8), 4),
    );
    let take = take.prop_map(|(run, project, ended_at, agent, stale, which)| Call::Take {
        run,
        project,
        ended_at,
        agent,
        stale,
        which,
    });
    let limit = (1..5u16).prop_map(|limit| NonZeroU16::new(limit).unwrap());
    // Often all that there is, so that what must stay shows.
    let before = prop_oneof![0..20i64, Just(20)];
    let purge = (before, limit, prop_oneof![1..8usize, Just(100)]);
    let of_run = || (project(), 0..RUNS);
    prop_oneof![
        2 => (0..3u8).prop_map(Call::CreateClass),
        3 => (0..3u8).prop_map(Call::RetireClass),
        8 => rule,
        1 => (0..4u8).prop_map(Call::StopRule),
        16 => take,
        5 => (of_run(), any::<bool>())
            .prop_map(|((project, run), reason)| Call::Dismiss { project, run, reason }),
        3 => of_run().prop_map(|(project, run)| Call::Reopen { project, run }),
        20 => record().prop_map(Call::Record),
        4 => (0..6u8).prop_map(Call::Remove),
        2 => (0..RUNS).prop_map(Call::EraseRun),
        4 => (0..2u8).prop_map(Call::EraseParticipant),
        4 => purge.prop_map(|(before, limit, steps)| Call::Purge { before, limit, steps }),
        25 => (project(), queue_filter()).prop_map(|(project, filter)| Call::Queue(project, filter)),
        3 => (0..4u8, option::of(0..20i64))
            .prop_map(|(rule, since)| Call::Results(rule, since.map(at))),
        10 => judged_run_filter().prop_map(Call::JudgedRuns),
    ]
}

/// Mostly the first, so that things meet.
fn project() -> impl Strategy<Value = N> {
    prop_oneof![4 => Just(0u8), 1 => Just(1u8)]
}

fn record() -> impl Strategy<Value = Record> {
    let what = (
        0..RUNS,
        project(),
        0..2u8,
        option::of(0..2u8),
        option::of(0..3u8),
    );
    let how = (
        any::<bool>(),
        prop::bool::weighted(0.9),
        prop::bool::weighted(0.1),
        0..PATHS,
    );
    (what, how).prop_map(|(what, how)| {
        let (run, project, key, participant, class) = what;
        let (yes, with_copy, replay, segments) = how;
        Record {
            run,
            project,
            key,
            participant,
            class,
            yes,
            with_copy,
            replay,
            segments,
        }
    })
}

fn queue_filter() -> impl Strategy<Value = QueueFilter> {
    let is = |range: std::ops::Range<u8>| option::weighted(0.15, range);
    let state = option::weighted(0.4, prop::sample::select(&ItemState::ALL[..]));
    let for_me = option::weighted(0.2, subsequence(vec![0u8, 1, 2], 0..=3));
    let after = || option::weighted(0.2, 0..20i64);
    let whose = (is(0..2), is(0..4), is(0..3), for_me);
    (state, whose, after(), after()).prop_map(|(state, whose, added_after, closed_after)| {
        let (agent, rule, wants, for_me) = whose;
        QueueFilter {
            state,
            agent: agent.map(|n| id("agent", n)),
            rule: rule.map(|n| id("rule", n)),
            wants: wants.map(class_id),
            wants_any_or: for_me.map(|classes| classes.into_iter().map(class_id).collect()),
            added_after: added_after.map(at),
            closed_after: closed_after.map(at),
        }
    })
}

fn judged_run_filter() -> impl Strategy<Value = JudgedRunFilter> {
    let is = || option::weighted(0.3, 0..2u8);
    let when = || option::weighted(0.3, 0..20i64);
    let what = (is(), is(), is(), is());
    let segments = (0..PATHS, prop::sample::select(vec![1, 2, 33, 40]));
    (what, when(), when(), segments).prop_map(|(what, since, until, segments)| {
        let (project, agent, version, flow) = what;
        let mut filter = JudgedRunFilter::default();
        filter.project = project.map(|n| id("project", n));
        filter.agent = agent.map(|n| id("agent", n));
        filter.agent_version = version.map(|n| id("v", n));
        filter.flow = flow.filter(|_| agent.is_none()).map(|n| id("flow", n));
        (filter.since, filter.until) = (since.map(at), until.map(at));
        let (n, length) = segments;
        filter.segments = path(n).into_iter().take(length).collect();
        filter
    })
}

pub(crate) fn id<T: std::str::FromStr<Err: std::fmt::Debug>>(kind: &str, n: N) -> T {
    format!("{kind}-{n}").parse().unwrap()
}

pub(crate) fn class_id(n: N) -> JudgeClassId {
    id("class", n)
}

const PATHS: usize = 9;

/// One of some paths, of which some begin or end as others do, as paths or only as texts.
fn path(n: usize) -> Vec<Segment> {
    let long = &*"x".repeat(120);
    let mut path = match n {
        0 => vec![],
        1 => vec![("company", "a")],
        2 => vec![("company", "a"), ("team", "b")],
        3 => vec![("company", "a\"},{"), ("team", "b")],
        4 => vec![("company", long)],
        5 => vec![("company", long), ("team", "b")],
        6 => vec![("team", long), ("team", "b")],
        _ => vec![("again", "a"); 40],
    };
    if n == 8 {
        path[39].1 = "b";
    }
    let path = path.iter();
    path.map(|(key, value)| Segment::new(key, value).unwrap())
        .collect()
}

pub(crate) fn subject(run: N) -> Subject {
    let (n, version) = (run % 2, id("v", run % 3));
    match run < 5 {
        true => Subject::Agent {
            id: id("agent", n),
            version,
        },
        false => Subject::Flow {
            id: id("flow", n),
            version,
        },
    }
}

pub(crate) fn class(tenant: &TenantId, n: N, made: u32, now: Timestamp) -> JudgeClass {
    JudgeClass {
        id: class_id(n),
        tenant: tenant.clone(),
        scope: ClassScope::Tenant,
        name: format!("name {made}").parse().unwrap(),
        weight: Weight::new(f64::from(n) / 3.0).unwrap(),
        description: None,
        assertable_by: None,
        created_at: now,
        updated_at: now,
        unregistered_at: None,
    }
}

pub(crate) fn rule(
    tenant: &TenantId,
    (n, version): (N, u32),
    (class, max_open, enabled): (Option<N>, Option<u32>, bool),
    now: Timestamp,
) -> JudgingRule {
    JudgingRule {
        id: id("rule", n),
        tenant: tenant.clone(),
        project: rule_project(n),
        version,
        name: "some".parse().unwrap(),
        when: Default::default(),
        sample: Sample::ALL,
        max_open: max_open.and_then(MaxOpen::new),
        class: class.map(class_id),
        enabled,
        created_by: None,
        created_at: now,
        unregistered_at: None,
    }
}

/// Three rules are of one project.
pub(crate) fn rule_project(rule: N) -> kindgi_core::model::ProjectId {
    id("project", rule / 3)
}

pub(crate) fn ended(run: N, project: N, agent: Option<N>, ended_at: i64) -> EndedRun {
    let mut subject = subject(run);
    if let (Some(version), Subject::Agent { version: of, .. }) = (agent, &mut subject) {
        *of = id("v", version);
    }
    let mut ended = EndedRun::new(
        id("run", run),
        id("project", project),
        subject,
        at(ended_at),
    );
    ended.flow = agent.map(|n| id("flow", n));
    ended
}

/// A judgment, with a copy that is taken now.
pub(crate) fn judgment(
    tenant: &TenantId,
    made: u32,
    record: &Record,
    now: Timestamp,
) -> (NewJudgment, Option<RunCopy>) {
    let r = record;
    let subject = subject(r.run);
    let copy = RunCopy {
        run: id("run", r.run),
        subject: subject.clone(),
        input: RawJson::parse("{}").unwrap(),
        output: RawJson::parse(format!("{made}")).unwrap(),
        context: r.replay.then(|| RunContext::of_replay(&id("run", 9))),
        segments: Some(path(r.segments)),
        captured_at: now,
    };
    let judgment = Judgment {
        id: format!("judgment-{made}").parse().unwrap(),
        tenant: tenant.clone(),
        project: id("project", r.project),
        run: id("run", r.run),
        subject,
        item: Item::new(id("key", r.key)),
        verdict: if r.yes { Verdict::Yes } else { Verdict::No },
        reason: Some("because".parse().unwrap()),
        correction: None,
        class: r.class.map(class_id),
        restricted: false,
        asserted_by: AssertedBy {
            kind: PrincipalKind::User,
            id: "ada".parse().unwrap(),
        },
        participant: r.participant.map(|n| id("participant", n)),
        created_at: now,
        unregistered_at: None,
        superseded_by: None,
    };
    let item_value = Some(RawJson::parse(format!("[{made}]")).unwrap());
    let new = NewJudgment {
        judgment,
        item_value,
    };
    (new, r.with_copy.then_some(copy))
}
