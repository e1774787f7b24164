//! How many round trips each operation takes: a number that depends neither on what is there nor
//! on who else writes.

use kindgi_core::{
    idempotency::{Begun, Completed},
    json::RawJson,
    model::{
        AgentId, ClassScope, ItemState, Position, ProjectId, Readable, RuleId, TenantId, Verdict,
    },
    store::{
        Applied, ClassCreated, ClassFilter, ClassReplaced, ItemMoved, JudgeClassStore,
        JudgedRunFilter, JudgingQueueStore, JudgingRuleStore, JudgmentFilter, JudgmentRemoved,
        JudgmentStore, Keyset, Lifecycle, NewJudgment, Operation, OperationId, OperationStore,
        QueueFilter, Receipt, Recorded, RuleAppended, RuleStopped, Taken,
    },
};

use super::{
    costs::{Act, At, Counting},
    support::{self, at, tenant},
};

/// The most that recording a judgment may take.
const OF_RECORD: usize = 8;

struct Case {
    name: &'static str,
    /// How many round trips, `BEGIN` and `COMMIT` included.
    cost: usize,
    /// What is there before.
    before: Act,
    act: Act,
}

macro_rules! cases {
    ($($name:literal $cost:literal: |$b:ident| $before:block, |$a:ident| $act:block;)*) => {
        vec![$(Case {
            name: $name,
            cost: $cost,
            before: |$b: At| Box::pin(async move { let _ = &$b; $before }),
            act: |$a: At| Box::pin(async move { $act }),
        }),*]
    };
}

/// What recording does.
fn records() -> Vec<Case> {
    cases! {
        "the first of a run, with its copy" 4:
            |_at| {},
            |at| { at.recorded("a", "key", false, false).await };
        "another of the run" 4:
            |at| { at.recorded("a", "key", false, false).await },
            |at| { at.recorded("b", "other", false, false).await };
        "one that supersedes" 5:
            |at| { at.recorded("a", "key", false, false).await },
            |at| { at.recorded("b", "key", false, true).await };
        "the first, with a class" 4:
            |at| { created(&at).await },
            |at| { at.recorded("a", "key", true, false).await };
        "one that supersedes, with a class" 5:
            |at| { created(&at).await; at.recorded("a", "key", true, false).await },
            |at| { at.recorded("b", "key", true, true).await };
        "the first of a run that is queued, which is then judged" 5:
            |at| { at.queued(false).await },
            |at| { at.recorded("a", "key", false, false).await };
        "one that a queued run does not want" 5:
            |at| { created(&at).await; at.queued(true).await },
            |at| { at.recorded("a", "key", false, false).await };
        "the class's that a queued run wants" 5:
            |at| { created(&at).await; at.queued(true).await },
            |at| { at.recorded("a", "key", true, false).await };
        "another of a run that was queued" 5:
            |at| { at.queued(false).await; at.recorded("a", "key", false, false).await },
            |at| { at.recorded("b", "other", false, false).await };
        "one that supersedes, with a class, of a run that is queued" 6:
            |at| {
                created(&at).await;
                at.recorded("a", "key", true, false).await;
                at.queued(true).await;
            },
            |at| { at.recorded("b", "key", true, true).await };
        "an operation that is known" 3:
            |at| { at.recorded("a", "key", false, false).await },
            |at| {
                let known = at.record("a", "key", false).await;
                assert!(matches!(known, Applied::Replayed(_)));
            };
        "one that names a class that is not there" 3:
            |_at| {},
            |at| {
                let refused = at.record("a", "key", true).await;
                assert_eq!(refused, Applied::Done(Recorded::ClassChanged));
            };
        "one of an erased run" 3:
            |at| {
                let run = at.run();
                at.store.erase_run(support::write(&tenant()), &run).await.unwrap();
            },
            |at| {
                let refused = at.record("a", "key", false).await;
                assert_eq!(refused, Applied::Done(Recorded::RunErased));
            };
    }
}

async fn created(at: &At) {
    let created = at.created().await;
    assert!(matches!(created, Applied::Done(ClassCreated::Ok(_))));
}

/// What else writes, beside keys.
fn writes() -> Vec<Case> {
    cases! {
        "removing" 6:
            |at| { at.recorded("a", "key", false, false).await },
            |at| { assert_eq!(at.removed("a").await, Applied::Done(JudgmentRemoved::Ok)) };
        "removing one of a run that is queued" 7:
            |at| { at.recorded("a", "key", false, false).await; at.queued(false).await },
            |at| { assert_eq!(at.removed("a").await, Applied::Done(JudgmentRemoved::Ok)) };
        "removing again, as the same operation" 3:
            |at| { at.recorded("a", "key", false, false).await; at.removed("a").await; },
            |at| { assert_eq!(at.removed("a").await, Applied::Replayed(JudgmentRemoved::Ok)) };
        "removing what is not there" 4:
            |_at| {},
            |at| { assert_eq!(at.removed("a").await, Applied::Done(JudgmentRemoved::NotLive)) };
        "creating a class" 5: |_at| {}, |at| { created(&at).await };
        "creating a class again, as the same operation" 3:
            |at| { created(&at).await },
            |at| { assert!(matches!(at.created().await, Applied::Replayed(_))) };
        "replacing a class" 5:
            |at| { created(&at).await },
            |at| {
                let replaced = at.replaced(1).await;
                assert!(matches!(replaced, Applied::Done(ClassReplaced::Ok(_))));
            };
        "replacing a class that changed" 4:
            |at| { created(&at).await },
            |at| { assert_eq!(at.replaced(7).await, Applied::Done(ClassReplaced::Stale)) };
        "the first version of a rule" 4:
            |_at| {},
            |at| { assert!(is_ok(&at.appended(1, false).await)) };
        "the first version of a rule with a class" 5:
            |at| { created(&at).await },
            |at| { assert!(is_ok(&at.appended(1, true).await)) };
        "a later version of a rule with a class" 6:
            |at| { created(&at).await; at.appended(1, true).await; },
            |at| { assert!(is_ok(&at.appended(2, true).await)) };
        "a version again, as the same operation" 3:
            |at| { at.appended(1, false).await; },
            |at| { assert!(matches!(at.appended(1, false).await, Applied::Replayed(_))) };
        "stopping a rule" 5:
            |at| { at.appended(1, false).await; },
            |at| { assert_eq!(at.stopped().await, Applied::Done(RuleStopped::Ok)) };
        "stopping a rule that is not there" 4:
            |_at| {},
            |at| { assert_eq!(at.stopped().await, Applied::Done(RuleStopped::NotLive)) };
        "telling a rule" 5:
            |at| { at.recorded("a", "key", false, false).await; at.appended(1, false).await; },
            |at| { assert!(matches!(at.told("run", None, false).await, Taken::Queued(_))) };
        "telling a rule with a cap" 6:
            |at| { at.recorded("a", "key", false, false).await; at.appended(1, false).await; },
            |at| { assert!(matches!(at.told("run", Some(1), false).await, Taken::Queued(_))) };
        "telling a rule that skips" 5:
            |at| { at.queued(false).await },
            |at| { assert_eq!(at.told("another", Some(1), false).await, Taken::AllSkipped) };
        "telling again" 3:
            |at| { at.queued(false).await },
            |at| { assert_eq!(at.told("run", None, false).await, Taken::Known) };
        "dismissing" 5:
            |at| { at.queued(false).await },
            |at| {
                assert!(matches!(at.dismissed().await, Applied::Done(ItemMoved::Ok(_))));
                };
        "dismissing again, as the same operation" 3:
            |at| { at.queued(false).await; at.dismissed().await; },
            |at| { assert!(matches!(at.dismissed().await, Applied::Replayed(_))) };
        "dismissing what is judged" 4:
            |at| { at.recorded("a", "key", false, false).await; at.queued(false).await },
            |at| {
                let not = ItemMoved::Not(ItemState::Judged);
                assert_eq!(at.dismissed().await, Applied::Done(not));
            };
        "reopening" 6:
            |at| { at.queued(false).await; at.dismissed().await; },
            |at| {
                assert!(matches!(at.reopened().await, Applied::Done(ItemMoved::Ok(_))));
            };
        "keeping a receipt" 4:
            |_at| {},
            |at| { assert_eq!(keep(&at).await, Applied::Done(receipt())) };
        "keeping a receipt again" 3:
            |at| { keep(&at).await; },
            |at| { assert_eq!(keep(&at).await, Applied::Replayed(receipt())) };
    }
}

fn is_ok(appended: &Applied<RuleAppended>) -> bool {
    matches!(appended, Applied::Done(RuleAppended::Ok(_)))
}

fn receipt() -> Receipt {
    Receipt::JudgmentRemoved(JudgmentRemoved::NotLive)
}

async fn keep(at: &At) -> Applied<Receipt> {
    let id = at.operation(213);
    let (tenant, body) = (tenant(), [0; 32]);
    let mut write = support::write(&tenant);
    write.operation = Some(Operation {
        id: &id,
        body: &body,
        keep_until: self::at(1000),
    });
    at.store.keep(write, &receipt()).await.unwrap()
}

/// What is done with keys, by the server's clock.
fn keys() -> Vec<Case> {
    cases! {
        "claiming" 1:
            |_at| {},
            |at| { assert_eq!(at.begun(1, 0, 600).await, Begun::Run) };
        "claiming what has ended" 8:
            |at| { at.begun(1, 0, 0).await; },
            |at| { assert_eq!(at.begun(2, 0, 600).await, Begun::Run) };
        "claiming again" 5:
            |at| { at.begun(1, 0, 600).await; },
            |at| { assert_eq!(at.begun(1, 0, 600).await, Begun::Run) };
        "claiming what is held" 4:
            |at| { at.begun(1, 0, 600).await; },
            |at| { assert!(matches!(at.begun(2, 0, 600).await, Begun::InFlight { .. })) };
        "claiming with another body" 4:
            |at| { at.begun(1, 0, 600).await; },
            |at| { assert_eq!(at.begun(2, 1, 600).await, Begun::OtherBody) };
        "keeping an answer" 4:
            |at| { at.begun(1, 0, 600).await; },
            |at| { assert_eq!(at.completed(false).await, Completed::Kept) };
        "keeping an answer about something" 4:
            |at| { at.begun(1, 0, 600).await; },
            |at| { assert_eq!(at.completed(true).await, Completed::Kept) };
        "keeping an answer without the key" 3:
            |_at| {},
            |at| { assert_eq!(at.completed(true).await, Completed::NotHeld) };
        "replaying" 4:
            |at| { at.begun(1, 0, 600).await; at.completed(true).await; },
            |at| { assert!(matches!(at.begun(2, 0, 600).await, Begun::Replay(_))) };
        "renewing" 3:
            |at| { at.begun(1, 0, 600).await; },
            |at| { assert!(at.renewed().await) };
        "releasing" 4:
            |at| { at.begun(1, 0, 600).await; },
            |at| { assert!(at.released().await) };
        "releasing what is not held" 3:
            |_at| {},
            |at| { assert!(!at.released().await) };
    }
}

/// Counts each case: alone, with a thousand other judgments in its run, and by eight tasks at once
/// on two nodes.
async fn assert_costs(cases: Vec<Case>) {
    let counting = Counting::start();
    let nodes = [counting.store().await, counting.store().await];
    let mut wrong = Vec::new();
    for (case, number) in cases.iter().zip(0..) {
        let place = |round: u8| At {
            store: nodes[usize::from(round % 2)].clone(),
            case: number,
            round,
        };
        for round in 0..4 {
            let at = place(round);
            (case.before)(at.clone()).await;
            if round == 3 {
                counting.crowd(&at.run());
            }
            let found = counting.statements((case.act)(at)).await;
            if found.len() != case.cost {
                wrong.push(format!(
                    "{}: round {round}: {} round trips, not {}:\n{}",
                    case.name,
                    found.len(),
                    case.cost,
                    found.join("\n")
                ));
            }
        }
        for round in 4..12 {
            (case.before)(place(round)).await;
        }
        let at_once = async {
            let mut tasks: Vec<_> = (4..12)
                .map(|round| tokio::spawn((case.act)(place(round))))
                .collect();
            for task in tasks.drain(..) {
                task.await.unwrap();
            }
        };
        let found = counting.statements(at_once).await;
        if found.len() != 8 * case.cost {
            wrong.push(format!(
                "{}: eight at once: {} round trips, not 8 times {}:\n{}",
                case.name,
                found.len(),
                case.cost,
                found.join("\n")
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn recording_a_judgment_takes_a_constant_number_of_round_trips() {
    let records = records();
    assert!(records.iter().all(|case| case.cost <= OF_RECORD));
    assert_costs(records).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_other_write_takes_a_constant_number_of_round_trips() {
    assert_costs(writes()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_step_of_a_key_takes_a_constant_number_of_round_trips() {
    assert_costs(keys()).await;
}

/// The first page, and a later one.
fn pages() -> [Keyset; 2] {
    let limit = Default::default();
    let after = Some(Position {
        at: at(0),
        id: "0".into(),
    });
    [Keyset { after: None, limit }, Keyset { after, limit }]
}

fn judgment_filters() -> Vec<JudgmentFilter> {
    let all = JudgmentFilter::default();
    let mut filters = vec![all.clone(); 8];
    filters[1].run = Some("run-0-0".parse().unwrap());
    filters[2].agent = Some("agent".parse().unwrap());
    filters[3].agent_version = Some("1".parse().unwrap());
    filters[4].flow = Some("flow".parse().unwrap());
    filters[5].verdict = Some(Verdict::Yes);
    filters[6].class = Some("class-0-0".parse().unwrap());
    filters[7].participant = Some("grace".parse().unwrap());
    filters
}

fn queue_filters() -> Vec<QueueFilter> {
    let all = QueueFilter::default();
    let mut filters = vec![all.clone(); 9];
    filters[1].state = Some(ItemState::Open);
    filters[2].agent = Some("agent".parse().unwrap());
    filters[3].rule = Some("rule-0-0".parse().unwrap());
    filters[4].wants = Some("class-0-0".parse().unwrap());
    filters[5].wants_any_or = Some(["class-0-0".parse().unwrap()].into());
    filters[6].added_after = Some(at(0));
    filters[7].closed_after = Some(at(0));
    filters[8].rule = Some("rule-0-0".parse().unwrap());
    filters[8].state = Some(ItemState::Judged);
    filters
}

#[tokio::test]
async fn every_look_up_and_every_page_of_a_list_takes_one_round_trip() {
    let counting = Counting::start();
    let store = counting.store().await;
    let place = At {
        store: store.clone(),
        case: 0,
        round: 0,
    };
    created(&place).await;
    place.recorded("a", "key", true, false).await;
    place.queued(true).await;
    let (tenant, project): (TenantId, ProjectId) = (tenant(), place.id("project").parse().unwrap());
    let rule: RuleId = place.id("rule").parse().unwrap();
    let mut read = 0;
    macro_rules! one {
        ($call:expr) => {{
            let found = counting
                .statements(async { _ = $call.await.unwrap() })
                .await;
            assert_eq!(found.len(), 1, "{}: {found:#?}", stringify!($call));
            read += 1;
        }};
    }
    for crowded in [false, true] {
        if crowded {
            counting.crowd(&place.run());
        }
        one!(store.judgment(&tenant, &place.id("a").parse().unwrap()));
        one!(store.class(&tenant, &place.id("class").parse().unwrap()));
        one!(store.rule(&tenant, &project, &rule));
        one!(store.enabled_rules(&tenant, &project));
        one!(store.wanted_classes(&tenant, &project));
        one!(store.queue_item(&tenant, &project, &place.run()));
        one!(store.is_erased(&tenant, &place.run()));
        for since in [None, Some(at(0))] {
            one!(store.rule_results(&tenant, &project, &rule, since));
        }
        for before in [None, Some(2)] {
            let limit = Default::default();
            one!(store.rule_versions(&tenant, &project, &rule, before, limit));
        }
        let (id, body) = (OperationId([9; 32]), [0; 32]);
        let keep_until = at(1000);
        let operation = Operation {
            id: &id,
            body: &body,
            keep_until,
        };
        one!(store.receipt(&tenant, at(0), operation));
        let some = Readable::Only([support::project(), project.clone()].into());
        for keyset in pages() {
            for readable in [&Readable::All, &some] {
                for filter in judgment_filters() {
                    one!(store.judgments(&tenant, &filter, readable, &keyset));
                }
                for scope in [
                    None,
                    Some(ClassScope::Tenant),
                    Some(ClassScope::Project(project.clone())),
                ] {
                    let filter = ClassFilter { scope };
                    one!(store.classes(&tenant, &filter, readable, &keyset));
                }
            }
            one!(store.rules(&tenant, &project, &keyset));
            for filter in queue_filters() {
                one!(store.queue(&tenant, &project, &filter, Some(&keyset)));
                one!(store.queue(&tenant, &project, &filter, None));
            }
            let agent: AgentId = "agent".parse().unwrap();
            for agent in [None, Some(agent)] {
                let mut filter = JudgedRunFilter::default();
                filter.agent = agent;
                one!(store.judged_runs(&tenant, &filter, &keyset));
            }
        }
    }
    assert_eq!(read, 2 * (12 + 2 * (2 * (8 + 3) + 1 + 18 + 2)));
}

/// A judgment with a large document is one message more for no step.
#[tokio::test]
async fn a_large_document_takes_no_more_round_trips() {
    let counting = Counting::start();
    let store = counting.store().await;
    let (id, body, tenant) = (OperationId([9; 32]), [0; 32], tenant());
    let NewJudgment { judgment, .. } = support::judgment("a", "run", "key");
    let large = format!("\"{}\"", "x".repeat(2 << 20));
    let mut copy = support::copy(&judgment);
    copy.output = RawJson::parse(large.as_str()).unwrap();
    let new = NewJudgment {
        judgment,
        item_value: None,
    };
    let mut write = support::write(&tenant);
    write.operation = Some(Operation {
        id: &id,
        body: &body,
        keep_until: at(1000),
    });
    let found = counting
        .statements(async { _ = store.record(write, &new, Some(&copy), None).await.unwrap() })
        .await;
    assert_eq!(found.len(), 4, "{found:#?}");
}
