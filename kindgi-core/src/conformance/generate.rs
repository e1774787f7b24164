//! Generated cases.

use proptest::{collection::vec, option, prelude::*};

use super::{
    command::{Command, FilterBy, ListBy, OperationBy, RecordBy, Round, RuleBy, What},
    generate_queue,
};

/// How often it is the second tenant that calls.
const BOTH: f64 = 0.2;
const FIRST: f64 = 0.06;
const NONE: f64 = 0.0;

/// Cases in sequence.
pub(crate) fn sequence() -> impl Strategy<Value = Vec<Command>> {
    let at = prop_oneof![12 => 0..6_u8, 1 => 6..9_u8];
    let until = prop_oneof![1 => 0..7_u8, 2 => Just(255)];
    let (at, until) = (at.boxed(), until.boxed());
    let operation = move |often| option::weighted(often, operation(until.clone())).boxed();
    let each = |what: BoxedStrategy<What>| command(at.clone(), operation(0.4), BOTH, what);
    let of = |what: BoxedStrategy<What>| vec(each(what), 1..48);
    // A queue that is full needs calls that take effect.
    let queue = |what: BoxedStrategy<What>| command(at.clone(), operation(0.3), FIRST, what);
    let queue = (
        vec(queue(generate_queue::classes()), 1..4),
        vec(queue(generate_queue::rules()), 2..6),
        vec(queue(generate_queue::takes()), 2..9),
        vec(queue(generate_queue::all()), 1..32),
    );
    // Some of all kinds, and more of one, so that these meet.
    prop_oneof![
        3 => of(what(22, 13, 2).boxed()),
        3 => of(what(4, 8, 26).boxed()),
        5 => queue.prop_map(|(classes, rules, takes, all)| [classes, rules, takes, all].concat()),
    ]
}

/// Cases at once. What is kept is kept for long: when it ends is another law's.
pub(crate) fn round() -> impl Strategy<Value = Round> {
    let each = |often, what| {
        let operation = option::weighted(often, operation(Just(255).boxed()));
        command((0..3_u8).boxed(), operation.boxed(), NONE, what)
    };
    let one = move |what| each(0.4, what);
    let at_once = move |what| vec(vec(one(what), 1..=3), 2..=3);
    let round = move |what: BoxedStrategy<What>| {
        (vec(one(what.clone()), 0..4), at_once(what))
            .prop_map(|(before, threads)| Round { before, threads })
    };
    // As above: what is to be there takes effect.
    let first = |what| each(0.05, what);
    let before = (
        vec(first(generate_queue::classes()), 1..3),
        vec(first(generate_queue::rules()), 1..3),
        vec(first(generate_queue::takes()), 0..5),
    );
    let of_queue =
        (before, at_once(generate_queue::all())).prop_map(|((classes, rules, takes), threads)| {
            Round {
                before: [classes, rules, takes].concat(),
                threads,
            }
        });
    // As above, and apart, since few calls are made at once.
    prop_oneof![
        5 => round(what(22, 13, 1).boxed()),
        2 => round(what(1, 5, 26).boxed()),
        5 => of_queue,
    ]
}

fn operation(until: BoxedStrategy<u8>) -> impl Strategy<Value = OperationBy> {
    let body = prop_oneof![6 => Just(0_u8), 1 => Just(1)];
    (0..3_u8, body, until).prop_map(|(id, body, until)| OperationBy { id, body, until })
}

fn command(
    at: BoxedStrategy<u8>,
    operation: BoxedStrategy<Option<OperationBy>>,
    second: f64,
    what: BoxedStrategy<What>,
) -> impl Strategy<Value = Command> {
    let tenant = prop::bool::weighted(second).prop_map(u8::from);
    let on = prop::bool::weighted(0.999);
    (on, tenant, at, operation, what).prop_map(|(on, tenant, at, operation, what)| Command {
        on,
        tenant,
        at,
        operation,
        what,
    })
}

/// Mostly the first, so that they meet; sometimes any, which differ by little.
pub(super) fn few() -> impl Strategy<Value = u8> {
    prop_oneof![10 => Just(0_u8), 3 => Just(1), 1 => 0..8_u8]
}

/// Calls of each kind in these shares.
fn what(judgment: u32, class: u32, rule: u32) -> impl Strategy<Value = What> {
    prop_oneof![
        judgment => of_judgments(),
        class => of_classes(),
        rule => of_rules(),
        4 => of_operations(),
        12 => pick().prop_map(|pick| What::Again { pick }),
    ]
}

pub(super) fn pick() -> impl Strategy<Value = u8> {
    0..16_u8
}

pub(super) fn content() -> impl Strategy<Value = u8> {
    0..32_u8
}

fn of_judgments() -> impl Strategy<Value = What> {
    prop_oneof![
        10 => record().prop_map(What::Record),
        3 => pick().prop_map(|pick| What::Remove { pick }),
        2 => pick().prop_map(|pick| What::Judgment { pick }),
        4 => (filter(), list()).prop_map(|(filter, list)| What::Judgments { filter, list }),
        1 => (0..3_u8).prop_map(|run| What::EraseRun { run }),
        2 => (0..3_u8).prop_map(|run| What::IsErased { run }),
    ]
}

fn of_classes() -> impl Strategy<Value = What> {
    prop_oneof![
        5 => (few(), few(), content())
            .prop_map(|(scope, name, content)| What::CreateClass { scope, name, content }),
        3 => (pick(), revision(), content(), any::<bool>()).prop_map(
            |(pick, revision, content, retire)| What::ReplaceClass {
                pick,
                revision,
                content,
                retire,
            },
        ),
        2 => pick().prop_map(|pick| What::Class { pick }),
        3 => (option::weighted(0.3, few()), list()).prop_map(|(scope, list)| What::Classes { scope, list }),
    ]
}

pub(super) fn of_operations() -> impl Strategy<Value = What> {
    // All but the id and the body of an operation is for those who write.
    prop_oneof![
        3 => operation(Just(255).boxed()).prop_map(What::Receipt),
        2 => (0..8_u8, pick(), content()).prop_map(|(kind, pick, content)| What::Keep {
            kind,
            pick,
            content,
        }),
    ]
}

fn of_rules() -> impl Strategy<Value = What> {
    let elsewhere = || prop::bool::weighted(0.1);
    let version = prop_oneof![6 => Just(2_u8), 4 => Just(3), 2 => Just(4), 1 => 5..7_u8];
    let limit = prop_oneof![2 => 1..3_u8, 1 => Just(100)];
    prop_oneof![
        12 => rule().prop_map(What::CreateRule),
        12 => (pick(), version, elsewhere(), rule()).prop_map(
            |(pick, version, elsewhere, next)| What::AppendRule {
                pick,
                version,
                elsewhere,
                next,
            },
        ),
        6 => (pick(), elsewhere()).prop_map(|(pick, elsewhere)| What::StopRule { pick, elsewhere }),
        4 => (pick(), elsewhere()).prop_map(|(pick, elsewhere)| What::Rule { pick, elsewhere }),
        5 => (few(), list()).prop_map(|(project, list)| What::Rules { project, list }),
        5 => (pick(), elsewhere(), option::weighted(0.4, 1..5_u8), limit).prop_map(
            |(pick, elsewhere, before, limit)| What::RuleVersions {
                pick,
                elsewhere,
                before,
                limit,
            },
        ),
    ]
}

fn rule() -> impl Strategy<Value = RuleBy> {
    let class = option::weighted(0.2, (pick(), revision()));
    (few(), 0..8_u8, any::<u8>(), class).prop_map(|(project, name, content, class)| RuleBy {
        project,
        name,
        content,
        class,
    })
}

fn record() -> impl Strategy<Value = RecordBy> {
    let copy = option::weighted(0.8, 0..16_u8);
    let class = option::weighted(0.25, (0..16_u8, revision()));
    (few(), few(), few(), few(), 0..32_u8, copy, class).prop_map(
        |(run, key, author, participant, content, copy, class)| RecordBy {
            run,
            key,
            author,
            participant,
            content,
            copy,
            class,
        },
    )
}

pub(super) fn revision() -> impl Strategy<Value = u8> {
    prop_oneof![4 => Just(1_u8), 2 => Just(2), 1 => 0..5_u8]
}

fn filter() -> impl Strategy<Value = FilterBy> {
    let agent = (few(), option::of(few()));
    let sometimes = |strategy: BoxedStrategy<u8>| option::weighted(0.12, strategy);
    (
        sometimes(few().boxed()),
        option::weighted(0.12, agent),
        sometimes(few().boxed()),
        option::weighted(0.12, any::<bool>()),
        sometimes((0..16_u8).boxed()),
        sometimes(few().boxed()),
    )
        .prop_map(|(run, agent, flow, verdict, class, participant)| FilterBy {
            run,
            agent,
            flow,
            verdict,
            class,
            participant,
        })
}

pub(super) fn list() -> impl Strategy<Value = ListBy> {
    let readable = option::weighted(0.2, 0..8_u8);
    let after = option::weighted(0.3, (0..7_u8, 0..16_u8));
    let limit = prop_oneof![2 => 1..5_u8, 1 => Just(100)];
    (readable, after, limit).prop_map(|(readable, after, limit)| ListBy {
        readable,
        after,
        limit,
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::{
        strategy::ValueTree,
        test_runner::{Config, RngAlgorithm, TestRng, TestRunner},
    };

    use super::*;
    use crate::{
        conformance::{call::Answer, model::Model, resolve},
        model::ItemState,
        store::{
            Applied::{self, Done, OtherBody, Replayed},
            ClassCreated, ClassReplaced, ItemMoved, JudgmentRemoved, KnownOperation, PurgePart,
            Recorded, RuleAppended, RuleStopped, Taken,
        },
    };

    fn kind<T>(
        call: &'static str,
        applied: &Applied<T>,
        outcome: impl Fn(&T) -> &'static str,
    ) -> (&'static str, &'static str) {
        match applied {
            Done(done) => (call, outcome(done)),
            Replayed(_) => (call, "replayed"),
            OtherBody => (call, "other body"),
        }
    }

    fn kind_of(answer: &Answer) -> (&'static str, &'static str) {
        let filled = |any: bool, more: bool| match (any, more) {
            (false, _) => "none",
            (true, false) => "some",
            (true, true) => "more",
        };
        match answer {
            Answer::Recorded(applied) => kind("record", applied, |it| match it {
                Recorded::Ok {
                    superseded: None, ..
                } => "first",
                Recorded::Ok { .. } => "superseded",
                Recorded::NeedsCopy => "needs copy",
                Recorded::RunErased => "run erased",
                Recorded::ClassChanged => "class changed",
            }),
            Answer::Removed(applied) => kind("remove", applied, |it| match it {
                JudgmentRemoved::Ok => "ok",
                JudgmentRemoved::NotLive => "not live",
            }),
            Answer::ClassCreated(applied) => kind("create class", applied, |it| match it {
                ClassCreated::Ok(_) => "ok",
                ClassCreated::NameTaken => "name taken",
            }),
            Answer::ClassReplaced(applied) => kind("replace class", applied, |it| match it {
                ClassReplaced::Ok(next) if next.is_live() => "changed",
                ClassReplaced::Ok(_) => "retired",
                ClassReplaced::Stale => "stale",
                ClassReplaced::NotLive => "not live",
            }),
            Answer::Judgment(found) => ("judgment", filled(found.is_some(), false)),
            Answer::Judgments(page) => ("judgments", filled(!page.rows.is_empty(), page.more)),
            Answer::Class(found) => ("class", filled(found.is_some(), false)),
            Answer::Classes(page) => ("classes", filled(!page.rows.is_empty(), page.more)),
            Answer::RuleAppended(applied) => kind("append rule", applied, |it| match it {
                RuleAppended::Ok(rule) if rule.version == 1 => "created",
                RuleAppended::Ok(rule) if rule.version == 2 => "second",
                RuleAppended::Ok(_) => "later",
                RuleAppended::Stale => "stale",
                RuleAppended::NotLive => "not live",
                RuleAppended::ClassChanged => "class changed",
            }),
            Answer::RuleStopped(applied) => kind("stop rule", applied, |it| match it {
                RuleStopped::Ok => "ok",
                RuleStopped::NotLive => "not live",
            }),
            Answer::Rule(None) => ("rule", "none"),
            Answer::Rule(Some(rule)) => match rule.unregistered_at {
                None => ("rule", "live"),
                Some(_) => ("rule", "stopped"),
            },
            Answer::Rules(page) => ("rules", filled(!page.rows.is_empty(), page.more)),
            Answer::RuleVersions(None) => ("versions", "no rule"),
            Answer::RuleVersions(Some(page)) => {
                ("versions", filled(!page.rows.is_empty(), page.more))
            }
            Answer::EnabledRules(rules) => ("enabled", filled(!rules.rules.is_empty(), false)),
            Answer::WantedClasses(all) => ("wanted", filled(!all.is_empty(), false)),
            Answer::Taken(taken) => ("take", taken_kind(taken)),
            Answer::Dismissed(Replayed(_)) | Answer::Reopened(Replayed(_)) => ("move", "replayed"),
            Answer::Dismissed(applied) => kind("dismiss", applied, moved_kind),
            Answer::Reopened(applied) => kind("reopen", applied, moved_kind),
            Answer::QueueItem(found) => ("item", filled(found.is_some(), false)),
            Answer::Queue(page) => (
                "queue",
                filled(!page.slice.rows.is_empty(), page.slice.more),
            ),
            Answer::RuleResults(None) => ("results", "no rule"),
            Answer::RuleResults(Some(results)) => (
                "results",
                match results.counted.len() {
                    0 => "none",
                    1 => "one",
                    _ if results.weights.is_empty() => "several",
                    _ => "several, weighted",
                },
            ),
            Answer::ParticipantErased(0) => ("erase participant", "none"),
            Answer::ParticipantErased(_) => ("erase participant", "some"),
            Answer::Purged(purged) => (
                "purge",
                match (purged.removed, purged.next.as_ref().map(|next| next.part)) {
                    (_, None) => "done",
                    (0, Some(_)) => "none of a part",
                    (_, Some(PurgePart::Judgments)) => "judgments",
                    (_, Some(PurgePart::Tellings)) => "tellings, or the last judgments",
                    (_, Some(PurgePart::Classes)) => "classes, or the last tellings",
                },
            ),
            Answer::JudgedRuns(page) => ("judged runs", filled(!page.rows.is_empty(), page.more)),
            Answer::Receipt(None) => ("receipt", "none"),
            Answer::Receipt(Some(KnownOperation::Done(_))) => ("receipt", "done"),
            Answer::Receipt(Some(KnownOperation::OtherBody)) => ("receipt", "other body"),
            Answer::Kept(applied) => kind("keep", applied, |_| "kept"),
            Answer::Erased => ("erase", "ok"),
            Answer::IsErased(is) => ("is erased", if *is { "yes" } else { "no" }),
        }
    }

    fn state_kind(state: ItemState) -> &'static str {
        state.as_str()
    }

    fn taken_kind(taken: &Taken) -> &'static str {
        match taken {
            Taken::Queued(item) if item.taken_by.len() > 1 => "queued by several",
            Taken::Queued(item) => state_kind(item.state),
            Taken::AllSkipped => "all skipped",
            Taken::Known => "known",
            Taken::RunErased => "run erased",
            Taken::BeforePurge => "before purge",
            Taken::RulesChanged => "rules changed",
        }
    }

    fn moved_kind(moved: &ItemMoved) -> &'static str {
        match moved {
            ItemMoved::Ok(item) if item.state == ItemState::Judged => "judged at once",
            ItemMoved::Ok(_) => "ok",
            ItemMoved::Not(state) => state_kind(*state),
            ItemMoved::Missing => "missing",
        }
    }

    #[test]
    fn generated_cases_reach_every_outcome_often() {
        let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
        let mut runner = TestRunner::new_with_rng(Config::default(), rng);
        let tenants = ["t-1".parse().unwrap(), "t-2".parse().unwrap()];
        let mut seen = BTreeMap::new();
        let mut left_open = 0;
        for _ in 0..2048 {
            let commands = sequence().new_tree(&mut runner).unwrap().current();
            let mut model = Model::default();
            for call in resolve::calls(&tenants, &commands, commands.len())
                .unwrap()
                .into_iter()
                .flatten()
            {
                if model.leaves_open(&call) {
                    left_open += 1;
                } else {
                    *seen.entry(kind_of(&model.answer(&call))).or_insert(0) += 1;
                }
            }
        }
        // Every outcome of `kind_of`; the ends of lists are told apart by "more".
        assert_eq!(seen.len(), 108, "{seen:#?}");
        assert!(seen.values().all(|count| *count >= 2), "{seen:#?}");
        assert!(seen[&("record", "superseded")] >= 200, "{seen:#?}");
        assert!(left_open * 10 < seen.values().sum::<i32>(), "{left_open}");
    }
}
