//! Operations that take effect at most once: a repeated one gives the first outcome, whatever has
//! become of what it did, and changes nothing.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicUsize, Ordering},
};

use async_trait::async_trait;
use kindgi_core::{
    Error, ErrorKind, HostError, ManualClock, MemoryStore,
    engine::{
        CreateJudgeClass, Engine, JudgmentQuery, QueuePageRequest, QueueQuery, RecordJudgment,
        RulePatch, RuleSpec, UpdateJudgeClass,
    },
    host::{Permission, Permissions, Runs},
    json::RawJson,
    model::{
        ClassScope, EndedRun, Item, JudgeClassId, JudgmentId, PageRequest, Principal, ProjectId,
        Readable, RuleId, RuleWhen, Run, RunId, Sample, Subject, TenantId, Verdict, Weight,
    },
    store::{ClassFilter, OperationId},
};

/// A host that lets everyone do everything, until it doesn't; and whose runs go away.
#[derive(Clone, Default)]
struct Host {
    denies: Arc<AtomicBool>,
    has_no_runs: Arc<AtomicBool>,
}

#[async_trait]
impl Runs for Host {
    async fn run(&self, _: &TenantId, id: &RunId) -> Result<Option<Run>, HostError> {
        let run = Run::new(id.clone(), project(), subject());
        let run = run.completed_with(RawJson::parse(r#"{"score":1.10}"#).unwrap());
        Ok((!self.has_no_runs.load(Ordering::SeqCst)).then_some(run))
    }
}

#[async_trait]
impl Permissions for Host {
    async fn allows(&self, _: &Principal, _: Permission<'_>) -> Result<bool, HostError> {
        Ok(!self.denies.load(Ordering::SeqCst))
    }

    async fn readable_projects(&self, _: &Principal) -> Result<Readable, HostError> {
        Ok(match self.denies.load(Ordering::SeqCst) {
            true => Readable::Only([].into()),
            false => Readable::All,
        })
    }
}

fn subject() -> Subject {
    Subject::Agent {
        id: "agent".parse().unwrap(),
        version: "1".parse().unwrap(),
    }
}

fn project() -> ProjectId {
    "project".parse().unwrap()
}

fn ada() -> Principal {
    Principal::user("acme".parse().unwrap(), "ada".parse().unwrap())
}

fn bob() -> Principal {
    Principal::user("acme".parse().unwrap(), "bob".parse().unwrap())
}

/// Everything an operation may be about, made before.
struct World {
    engine: Engine,
    host: Host,
    clock: Arc<ManualClock>,
    judged: JudgmentId,
    class: JudgeClassId,
    rules: [RuleId; 2],
}

/// Every operation that writes, with its outcome as text.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Op {
    Record,
    Remove,
    CreateClass,
    UpdateClass,
    UpdateClassToTheSame,
    RetireClass,
    CreateRule,
    UpdateRule,
    UpdateRuleToTheSame,
    StopRule,
    StopStoppedRule,
    Dismiss,
    Reopen,
}

const OPS: [Op; 13] = [
    Op::Record,
    Op::Remove,
    Op::CreateClass,
    Op::UpdateClass,
    Op::UpdateClassToTheSame,
    Op::RetireClass,
    Op::CreateRule,
    Op::UpdateRule,
    Op::UpdateRuleToTheSame,
    Op::StopRule,
    Op::StopStoppedRule,
    Op::Dismiss,
    Op::Reopen,
];

const ID: OperationId = OperationId([7; 32]);
const BODY: [u8; 32] = [1; 32];
const OTHER: [u8; 32] = [2; 32];

fn run(id: &str) -> RunId {
    id.parse().unwrap()
}

fn judgment(of: &str) -> RecordJudgment {
    let mut new = RecordJudgment::new(run(of), Item::new("k".parse().unwrap()), Verdict::Yes);
    new.reason = Some("secret".parse().unwrap());
    new.participant = Some("somebody".parse().unwrap());
    new
}

fn named(name: &str) -> RuleSpec {
    RuleSpec::new(name.parse().unwrap(), RuleWhen::default())
}

fn weighs(weight: f64) -> UpdateJudgeClass {
    let mut change = UpdateJudgeClass::default();
    change.weight = Some(Weight::new(weight).unwrap());
    change
}

impl World {
    async fn new() -> Self {
        let (host, clock) = (Host::default(), Arc::new(ManualClock::default()));
        let engine = Engine::builder(MemoryStore::new(), host.clone(), host.clone())
            .clock(Arc::clone(&clock))
            .build();
        let class = CreateJudgeClass::new(
            ClassScope::Tenant,
            "n".parse().unwrap(),
            Weight::new(2.0).unwrap(),
        );
        let class = engine.create_judge_class(&ada(), class).await.unwrap();
        let mut rules = Vec::new();
        for name in ["a", "b"] {
            let (who, project) = (ada(), project());
            let rule = engine.create_judging_rule(&who, &project, named(name));
            rules.push(rule.await.unwrap().id);
        }
        for id in ["open", "dismissed"] {
            let ended = EndedRun::new(
                run(id),
                project(),
                subject(),
                kindgi_core::Clock::now(&*clock),
            );
            engine.run_ended(&ada().tenant, &ended).await.unwrap();
        }
        let dismissed = run("dismissed");
        engine
            .dismiss_judging_item(&ada(), &project(), &dismissed, None)
            .await
            .unwrap();
        engine
            .unregister_judging_rule(&ada(), &project(), &rules[1])
            .await
            .unwrap();
        let judged = engine.record_judgment(&ada(), judgment("judged")).await;
        Self {
            judged: judged.unwrap().id,
            class: class.id,
            rules: rules.try_into().unwrap(),
            engine,
            host,
            clock,
        }
    }

    /// Does an operation under an id; its outcome as text.
    async fn does(&self, op: Op, id: OperationId, body: [u8; 32]) -> Result<String, Error> {
        let (engine, who, project) = (self.engine.keyed(id, body), ada(), project());
        let reason = "secret".parse().unwrap();
        let rule = &self.rules[0];
        let renames = |name: &str| {
            let mut patch = RulePatch::default();
            patch.name = Some(name.parse().unwrap());
            patch
        };
        let class = || {
            CreateJudgeClass::new(
                ClassScope::Tenant,
                "new".parse().unwrap(),
                Weight::new(1.0).unwrap(),
            )
        };
        Ok(match op {
            Op::Record => shown(engine.record_judgment(&who, judgment("run")).await?),
            Op::Remove => shown(engine.unregister_judgment(&who, &self.judged).await?),
            Op::CreateClass => shown(engine.create_judge_class(&who, class()).await?),
            Op::UpdateClass => shown(
                engine
                    .update_judge_class(&who, &self.class, weighs(9.0))
                    .await?,
            ),
            Op::UpdateClassToTheSame => shown(
                engine
                    .update_judge_class(&who, &self.class, weighs(2.0))
                    .await?,
            ),
            Op::RetireClass => shown(engine.unregister_judge_class(&who, &self.class).await?),
            Op::CreateRule => shown(
                engine
                    .create_judging_rule(&who, &project, named("new"))
                    .await?,
            ),
            Op::UpdateRule => shown(
                engine
                    .update_judging_rule(&who, &project, rule, renames("m"))
                    .await?,
            ),
            Op::UpdateRuleToTheSame => shown(
                engine
                    .update_judging_rule(&who, &project, rule, renames("a"))
                    .await?,
            ),
            Op::StopRule => shown(engine.unregister_judging_rule(&who, &project, rule).await?),
            Op::StopStoppedRule => {
                let stopped = &self.rules[1];
                shown(
                    engine
                        .unregister_judging_rule(&who, &project, stopped)
                        .await?,
                )
            }
            Op::Dismiss => {
                let item = run("open");
                let item = engine.dismiss_judging_item(&who, &project, &item, Some(&reason));
                shown(item.await?)
            }
            Op::Reopen => {
                let item = run("dismissed");
                shown(engine.reopen_judging_item(&who, &project, &item).await?)
            }
        })
    }

    /// All that can be read.
    async fn everything(&self) -> String {
        let (engine, who, page) = (&self.engine, ada(), PageRequest::default());
        let judgments = engine
            .judgments(&who, &JudgmentQuery::default(), &page)
            .await;
        let classes = engine
            .judge_classes(&who, &ClassFilter::default(), &page)
            .await;
        let rules = engine.judging_rules(&who, &project(), &page).await;
        let items = engine
            .judging_queue(
                &who,
                &project(),
                &QueueQuery::default(),
                &QueuePageRequest::default(),
            )
            .await;
        let of = (
            self.engine.judgment(&who, &self.judged).await,
            engine.judge_class(&who, &self.class).await,
        );
        shown((
            judgments.unwrap(),
            classes.unwrap(),
            rules.unwrap(),
            items.unwrap(),
            of,
        ))
    }

    /// Makes something else of all there is.
    async fn undo(&self) {
        let (engine, who) = (&self.engine, bob());
        self.clock.advance_millis(1);
        let page = PageRequest::default();
        let live = engine
            .judgments(&who, &JudgmentQuery::default(), &page)
            .await
            .unwrap();
        for judgment in live.rows {
            engine
                .unregister_judgment(&who, &judgment.id)
                .await
                .unwrap();
        }
        let rules = engine.judging_rules(&who, &project(), &page).await.unwrap();
        for rule in rules.rows {
            let mut patch = RulePatch::default();
            patch.name = Some("other".parse().unwrap());
            patch.sample = Some(Sample::new(0.5).unwrap());
            engine
                .update_judging_rule(&who, &project(), &rule.id, patch)
                .await
                .unwrap();
            engine
                .unregister_judging_rule(&who, &project(), &rule.id)
                .await
                .unwrap();
        }
        let every = ClassFilter::default();
        let classes = engine.judge_classes(&who, &every, &page).await.unwrap();
        for class in classes.rows {
            let id = class.id;
            engine
                .update_judge_class(&who, &id, weighs(5.0))
                .await
                .unwrap();
            engine.unregister_judge_class(&who, &id).await.unwrap();
        }
        for item in ["open", "dismissed"].map(run) {
            let moved = engine.reopen_judging_item(&who, &project(), &item).await;
            if moved.is_err() {
                engine
                    .dismiss_judging_item(&who, &project(), &item, None)
                    .await
                    .unwrap();
            }
        }
    }
}

fn shown(of: impl std::fmt::Debug) -> String {
    format!("{of:?}")
}

#[tokio::test]
async fn a_repeated_operation_gives_the_first_outcome_whatever_became_of_what_it_did() {
    let checked = AtomicUsize::new(0);
    for op in OPS {
        let world = World::new().await;
        let first = world.does(op, ID, BODY).await.unwrap();
        let after = world.everything().await;
        let again = |what: &'static str| {
            let (world, first, checked) = (&world, &first, &checked);
            async move {
                let before = world.everything().await;
                assert_eq!(
                    world.does(op, ID, BODY).await.unwrap(),
                    *first,
                    "{op:?} {what}"
                );
                let other = world.does(op, ID, OTHER).await.unwrap_err();
                assert_eq!(other.kind(), ErrorKind::OtherBody, "{op:?} {what}");
                assert_eq!(world.everything().await, before, "{op:?} {what}");
                checked.fetch_add(1, Ordering::SeqCst);
            }
        };
        again("at once").await;
        assert_eq!(world.everything().await, after, "{op:?}");
        world.clock.advance_millis(1000);
        again("later").await;
        world.undo().await;
        again("undone").await;
        let superseding = judgment("run");
        world
            .engine
            .record_judgment(&ada(), superseding)
            .await
            .unwrap();
        again("superseded").await;
        world.host.has_no_runs.store(true, Ordering::SeqCst);
        again("without the run").await;
        world.host.denies.store(true, Ordering::SeqCst);
        let retry = world.does(op, ID, BODY).await;
        assert_eq!(retry.unwrap(), first, "{op:?} without the permission");
    }
    assert_eq!(checked.into_inner(), 5 * OPS.len());
}

#[tokio::test]
async fn an_operation_is_new_after_24_hours() {
    const DAY: i64 = 24 * 60 * 60 * 1000;
    for op in [Op::Record, Op::CreateRule, Op::UpdateRuleToTheSame] {
        let world = World::new().await;
        let first = world.does(op, ID, BODY).await.unwrap();
        world.clock.advance_millis(DAY - 1);
        assert_eq!(world.does(op, ID, BODY).await.unwrap(), first, "{op:?}");
        world.clock.advance_millis(1);
        let anew = world.does(op, ID, OTHER).await.unwrap();
        assert_eq!(anew == first, op == Op::UpdateRuleToTheSame, "{op:?}");
    }
    // A receipt that a refusal would be answered with has ended, too.
    let world = World::new().await;
    world.does(Op::RetireClass, ID, BODY).await.unwrap();
    world.clock.advance_millis(DAY);
    let refused = world.does(Op::RetireClass, ID, BODY).await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::JudgeClassNotFound);
}

#[tokio::test]
async fn a_refusal_leaves_no_receipt() {
    for op in OPS {
        let world = World::new().await;
        world.host.denies.store(true, Ordering::SeqCst);
        world.does(op, ID, OTHER).await.unwrap_err();
        world.host.denies.store(false, Ordering::SeqCst);
        // With another body: there is nothing it would be another than.
        world.does(op, ID, BODY).await.unwrap();
    }
    // Those that the store refuses.
    let world = World::new().await;
    world.undo().await;
    for op in [Op::Remove, Op::UpdateClass, Op::RetireClass, Op::UpdateRule] {
        for body in [BODY, OTHER] {
            let refused = world.does(op, ID, body).await.unwrap_err();
            assert_ne!(refused.kind(), ErrorKind::OtherBody, "{op:?}");
        }
    }
}

#[tokio::test]
async fn an_id_of_one_kind_of_operation_is_another_body_for_any_other_kind() {
    let world = World::new().await;
    world.does(Op::Record, ID, BODY).await.unwrap();
    for op in [
        Op::Remove,
        Op::CreateClass,
        Op::CreateRule,
        Op::StopStoppedRule,
        Op::Dismiss,
    ] {
        let refused = world.does(op, ID, BODY).await.unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::OtherBody, "{op:?}");
    }
    // And another id is another operation.
    world
        .does(Op::CreateRule, OperationId([8; 32]), BODY)
        .await
        .unwrap();
}

#[tokio::test]
async fn what_was_erased_is_gone_from_the_receipts() {
    for op in [Op::Record, Op::Dismiss] {
        let world = World::new().await;
        assert!(world.does(op, ID, BODY).await.unwrap().contains("secret"));
        for id in ["run", "open"].map(run) {
            world.engine.erase_run(&ada().tenant, &id).await.unwrap();
        }
        let retry = world.does(op, ID, BODY).await.unwrap();
        assert!(!retry.contains("secret"), "{retry}");
    }
    let world = World::new().await;
    world.does(Op::Record, ID, BODY).await.unwrap();
    let somebody = "somebody".parse().unwrap();
    world
        .engine
        .erase_participant(&ada().tenant, &somebody)
        .await
        .unwrap();
    let retry = world.does(Op::Record, ID, BODY).await.unwrap();
    for gone in ["secret", "somebody"] {
        assert!(!retry.contains(gone), "{retry}");
    }
}
