//! Generated calls about the judging queue, and about the end of data.

use proptest::{collection::vec, option, prelude::*};

use super::{
    command::{JudgedFilterBy, QueueFilterBy, RecordBy, RuleBy, TakeBy, What},
    generate::{few, list, of_operations, pick, revision},
};

/// What a queue begins with, in this order.
pub(super) fn classes() -> BoxedStrategy<What> {
    (0..2_u8).prop_map(class).boxed()
}

pub(super) fn rules() -> BoxedStrategy<What> {
    rule().prop_map(What::CreateRule).boxed()
}

pub(super) fn takes() -> BoxedStrategy<What> {
    prop_oneof![9 => take(), 2 => record()].boxed()
}

/// What happens to it then.
pub(super) fn all() -> BoxedStrategy<What> {
    prop_oneof![
        9 => take(),
        24 => record(),
        5 => pick().prop_map(|pick| What::Remove { pick }),
        26 => moves(),
        26 => readings(),
        2 => rule().prop_map(What::CreateRule),
        5 => (0..3_u8, 2..4_u8, rule()).prop_map(|(pick, version, next)| What::AppendRule {
            pick,
            version,
            elsewhere: false,
            next,
        }),
        2 => pick().prop_map(|pick| What::StopRule { pick, elsewhere: false }),
        2 => (0..2_u8).prop_map(class),
        5 => (pick(), revision(), any::<bool>()).prop_map(|(pick, revision, retire)| {
            What::ReplaceClass {
                pick,
                revision,
                content: 6,
                retire,
            }
        }),
        10 => ends(),
        6 => of_operations(),
        32 => pick().prop_map(|pick| What::Again { pick }),
    ]
    .boxed()
}

fn class(name: u8) -> What {
    What::CreateClass {
        scope: 0,
        name,
        content: 1,
    }
}

/// Those of one project, mostly, and flows' of another.
fn run() -> impl Strategy<Value = u8> {
    prop_oneof![10 => Just(0_u8), 9 => Just(3), 6 => Just(6), 3 => Just(1), 1 => 0..8_u8]
}

fn instant() -> impl Strategy<Value = u8> {
    0..7_u8
}

fn elsewhere() -> impl Strategy<Value = bool> {
    prop::bool::weighted(0.05)
}

/// Mostly enabled, and often with a cap.
fn rule() -> impl Strategy<Value = RuleBy> {
    let project = prop_oneof![4 => Just(0_u8), 1 => Just(1)];
    let content = prop_oneof![3 => Just(0_u8), 2 => Just(1), 2 => Just(11), 1 => any::<u8>()];
    let class = option::weighted(0.4, (0..2_u8, Just(1_u8)));
    (project, few(), content, class).prop_map(|(project, name, content, class)| RuleBy {
        project,
        name,
        content,
        class,
    })
}

fn record() -> impl Strategy<Value = What> {
    let class = option::weighted(0.5, (0..2_u8, Just(1_u8)));
    let content = prop_oneof![1 => Just(0_u8), 1 => Just(4), 1 => 0..32_u8];
    (run(), few(), few(), few(), content, 0..16_u8, class).prop_map(
        |(run, key, author, participant, content, copy, class)| {
            What::Record(RecordBy {
                run,
                key,
                author,
                participant,
                content,
                copy: Some(copy),
                class,
            })
        },
    )
}

fn take() -> impl Strategy<Value = What> {
    let stale = prop::bool::weighted(0.1);
    (run(), instant(), any::<u8>(), stale, 0..4_u8).prop_map(
        |(run, ended, which, stale, content)| {
            What::Take(TakeBy {
                run,
                ended,
                which,
                stale,
                content,
            })
        },
    )
}

fn moves() -> impl Strategy<Value = What> {
    // Of few items, so that they go to and fro.
    let one = || {
        let run = prop_oneof![8 => Just(0_u8), 4 => Just(3), 1 => run()];
        (run, elsewhere(), 0..8_u8)
    };
    prop_oneof![
        1 => one().prop_map(|(run, elsewhere, content)| What::Dismiss {
            run,
            elsewhere,
            content,
        }),
        1 => one().prop_map(|(run, elsewhere, content)| What::Reopen {
            run,
            elsewhere,
            content,
        }),
    ]
}

fn readings() -> impl Strategy<Value = What> {
    let since = option::weighted(0.5, instant());
    let project = || prop_oneof![5 => Just(0_u8), 2 => Just(1)];
    prop_oneof![
        6 => (project(), filter(), option::weighted(0.8, list()))
            .prop_map(|(project, filter, list)| What::Queue { project, filter, list }),
        1 => (run(), elsewhere()).prop_map(|(run, elsewhere)| What::QueueItem { run, elsewhere }),
        3 => (pick(), elsewhere(), since)
            .prop_map(|(pick, elsewhere, since)| What::RuleResults { pick, elsewhere, since }),
        1 => few().prop_map(|project| What::EnabledRules { project }),
        2 => few().prop_map(|project| What::WantedClasses { project }),
        3 => (judged_filter(), list()).prop_map(|(filter, list)| What::JudgedRuns { filter, list }),
    ]
}

fn filter() -> impl Strategy<Value = QueueFilterBy> {
    (
        option::weighted(0.4, prop_oneof![3 => 0..3_u8, 1 => Just(3)]),
        option::weighted(0.07, run()),
        option::weighted(0.07, pick()),
        option::weighted(0.07, pick()),
        option::weighted(0.15, vec(pick(), 0..3)),
        option::weighted(0.07, instant()),
        option::weighted(0.07, instant()),
    )
        .prop_map(
            |(state, agent, rule, wants, wants_any_or, added_after, closed_after)| QueueFilterBy {
                state,
                agent,
                rule,
                wants,
                wants_any_or,
                added_after,
                closed_after,
            },
        )
}

fn judged_filter() -> impl Strategy<Value = JudgedFilterBy> {
    (
        option::weighted(0.12, 0..3_u8),
        option::weighted(0.12, (run(), option::of(0..2_u8))),
        option::weighted(0.12, prop_oneof![3 => Just(1_u8), 1 => few()]),
        option::weighted(0.12, instant()),
        option::weighted(0.12, instant()),
        option::weighted(0.2, (0..8_u8, 0..3_u8)),
    )
        .prop_map(
            |(project, agent, flow, since, until, segments)| JudgedFilterBy {
                project,
                agent,
                flow,
                since,
                until,
                segments,
            },
        )
}

/// Erasure and purges; of these seldom of all.
fn ends() -> impl Strategy<Value = What> {
    let before = prop_oneof![4 => 0..5_u8, 1 => 5..9_u8];
    let limit = prop_oneof![1 => 1..3_u8, 1 => Just(100)];
    prop_oneof![
        3 => run().prop_map(|run| What::EraseRun { run }),
        4 => few().prop_map(|participant| What::EraseParticipant { participant }),
        8 => (before, limit, prop::bool::weighted(0.9)).prop_map(|(before, limit, goes_on)| {
            What::Purge {
                before,
                limit,
                goes_on,
            }
        }),
    ]
}
