//! What the host asks of the engine beside the API.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::{
    collections::BTreeSet,
    num::NonZeroU16,
    sync::{Arc, Barrier, Mutex},
    thread,
};

use async_trait::async_trait;
use kindgi_core::{
    Clock as _, ErrorKind, HostError, ManualClock, MemoryStore, Timestamp,
    engine::{Engine, PreviewRule, RecordJudgment, RulePatch, RuleSpec, Told},
    host::{Permission, Permissions, RecentRuns, Runs},
    json::RawJson,
    model::{
        EndedRun, Item, ItemState, JudgingRule, MaxOpen, PageRequest, Principal, ProjectId,
        Readable, RuleWhen, Run, RunId, RunStatus, Sample, Subject, TenantId, Verdict,
    },
    rules::sampling,
    store::JudgedRunFilter,
};

/// A host that lets everyone do everything, with runs that end.
#[derive(Clone, Default)]
struct Host {
    ended: Arc<Mutex<Vec<EndedRun>>>,
}

fn subject() -> Subject {
    Subject::Agent {
        id: "agent".parse().unwrap(),
        version: "1".parse().unwrap(),
    }
}

#[async_trait]
impl Runs for Host {
    async fn run(&self, _: &TenantId, id: &RunId) -> Result<Option<Run>, HostError> {
        let output = RawJson::parse(r#"{"score":1.10}"#).unwrap();
        let run = Run::new(id.clone(), project(), subject()).completed_with(output);
        Ok(Some(run))
    }
}

#[async_trait]
impl RecentRuns for Host {
    async fn last_ended(
        &self,
        _: &TenantId,
        _: &ProjectId,
        last: u16,
    ) -> Result<Vec<EndedRun>, HostError> {
        let ended = self.ended.lock().unwrap();
        Ok(ended.iter().rev().take(last.into()).cloned().collect())
    }
}

#[async_trait]
impl Permissions for Host {
    async fn allows(&self, _: &Principal, _: Permission<'_>) -> Result<bool, HostError> {
        Ok(true)
    }
    async fn readable_projects(&self, _: &Principal) -> Result<Readable, HostError> {
        Ok(Readable::All)
    }
}

fn project() -> ProjectId {
    "project".parse().unwrap()
}

fn ada() -> Principal {
    Principal::user("acme".parse().unwrap(), "ada".parse().unwrap())
}

fn at(millis: i64) -> Timestamp {
    Timestamp::UNIX_EPOCH.saturating_add_millis(millis)
}

fn ended(run: &str, millis: i64) -> EndedRun {
    EndedRun::new(run.parse().unwrap(), project(), subject(), at(millis))
}

struct World {
    host: Host,
    clock: Arc<ManualClock>,
    engine: Engine,
}

impl World {
    fn new() -> Self {
        let host = Host::default();
        let clock = Arc::new(ManualClock::at(at(1_000)));
        let engine = Engine::builder(MemoryStore::new(), host.clone(), host.clone())
            .recent_runs(host.clone())
            .clock(clock.clone())
            .build();
        Self {
            host,
            clock,
            engine,
        }
    }

    async fn rule(&self, change: impl FnOnce(&mut RuleSpec)) -> JudgingRule {
        let mut spec = RuleSpec::new("rule".parse().unwrap(), RuleWhen::default());
        change(&mut spec);
        let made = self
            .engine
            .create_judging_rule(&ada(), &project(), spec)
            .await;
        made.unwrap()
    }

    async fn tell(&self, run: &EndedRun) -> Told {
        self.engine.run_ended(&ada().tenant, run).await.unwrap()
    }

    /// The runs in the queue, and where they are.
    async fn queue(&self) -> Vec<(String, ItemState)> {
        let (query, request) = (Default::default(), Default::default());
        let page = self
            .engine
            .judging_queue(&ada(), &project(), &query, &request)
            .await;
        let items = page.unwrap().items.into_iter();
        items
            .map(|item| (item.run.to_string(), item.state))
            .collect()
    }

    async fn judge(&self, run: &str, participant: Option<&str>) {
        let item = Item::new("item".parse().unwrap());
        let mut new = RecordJudgment::new(run.parse().unwrap(), item, Verdict::Yes);
        new.reason = Some("secret".parse().unwrap());
        new.participant = participant.map(|it| it.parse().unwrap());
        self.engine.record_judgment(&ada(), new).await.unwrap();
    }
}

#[tokio::test]
async fn a_run_is_queued_once_however_often_it_is_told() {
    let world = World::new();
    let run = ended("run", 5);
    assert_eq!(world.tell(&run).await, Told::NotWanted);
    world.rule(|_| {}).await;
    assert!(matches!(world.tell(&run).await, Told::Queued(item) if item.added_at == at(1_000)));
    world.rule(|_| {}).await;
    assert_eq!(world.tell(&run).await, Told::Known);
    assert_eq!(world.queue().await, [("run".to_owned(), ItemState::Open)]);
}

#[tokio::test]
async fn a_run_that_does_not_match_is_not_wanted() {
    let world = World::new();
    world.rule(|_| {}).await;
    let change = |change: fn(&mut EndedRun)| {
        let mut run = ended("run", 5);
        change(&mut run);
        run
    };
    for run in [
        change(|run| run.status = RunStatus::Failed),
        change(|run| run.dry_run = true),
        change(|run| run.replay = true),
        change(|run| run.top_level = false),
        change(|run| run.project = "elsewhere".parse().unwrap()),
    ] {
        assert_eq!(world.tell(&run).await, Told::NotWanted, "{run:?}");
    }
    assert!(world.queue().await.is_empty());
}

#[tokio::test]
async fn a_disabled_or_stopped_rule_takes_nothing() {
    let world = World::new();
    let rule = world.rule(|_| {}).await;
    let patch = |enabled| {
        let mut patch = RulePatch::default();
        patch.enabled = Some(enabled);
        patch
    };
    let (who, project) = (ada(), project());
    for (enabled, run) in [(false, "a"), (true, "b")] {
        let update = world
            .engine
            .update_judging_rule(&who, &project, &rule.id, patch(enabled));
        update.await.unwrap();
        let told = world.tell(&ended(run, 5)).await;
        assert_eq!(matches!(told, Told::Queued(_)), enabled);
    }
    let stop = world
        .engine
        .unregister_judging_rule(&who, &project, &rule.id);
    stop.await.unwrap();
    assert_eq!(world.tell(&ended("c", 5)).await, Told::NotWanted);
    assert_eq!(world.queue().await, [("b".to_owned(), ItemState::Open)]);
}

#[test]
fn runs_told_at_once_from_many_sides_are_queued_once_and_never_beyond_the_cap() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let world = World::new();
    runtime.block_on(world.rule(|rule| rule.max_open = MaxOpen::new(7)));
    let barrier = Barrier::new(4);
    let queued: Vec<usize> = thread::scope(|scope| {
        let threads: Vec<_> = (0..4)
            .map(|thread| {
                let (world, barrier, handle) = (&world, &barrier, runtime.handle());
                scope.spawn(move || {
                    barrier.wait();
                    let mut queued = 0;
                    for n in 0..40 {
                        // Half of them from the other end.
                        let n = if thread % 2 == 0 { n } else { 39 - n };
                        let told = handle.block_on(world.tell(&ended(&format!("run-{n}"), 5)));
                        queued += usize::from(matches!(told, Told::Queued(_)));
                    }
                    queued
                })
            })
            .collect();
        threads.into_iter().map(|it| it.join().unwrap()).collect()
    });
    assert_eq!(queued.iter().sum::<usize>(), 7);
    assert_eq!(runtime.block_on(world.queue()).len(), 7);
}

#[tokio::test]
async fn what_was_not_told_is_told_again_oldest_first() {
    let world = World::new();
    world.rule(|rule| rule.max_open = MaxOpen::new(3)).await;
    for n in 0..6 {
        let mut run = ended(&format!("run-{n}"), n);
        run.replay = n == 4;
        world.host.ended.lock().unwrap().push(run);
    }
    world.tell(&ended("run-1", 1)).await;
    let tenant = ada().tenant;
    let filled = world.engine.back_fill(&tenant, &project(), 5).await;
    let filled = filled.unwrap();
    // Of the last five, one is a replay, one was told, and of the three left two have room.
    assert_eq!((filled.told, filled.queued, filled.skipped), (4, 2, 1));
    let queue: Vec<_> = world.queue().await.into_iter().map(|it| it.0).collect();
    assert_eq!(queue, ["run-1", "run-2", "run-3"]);
    let again = world.engine.back_fill(&tenant, &project(), 5).await;
    let again = again.unwrap();
    assert_eq!((again.told, again.queued, again.skipped), (4, 0, 0));
}

#[tokio::test]
async fn a_host_without_recent_runs_has_none_to_preview_or_to_tell() {
    let host = Host::default();
    let engine = Engine::builder(MemoryStore::new(), host.clone(), host).build();
    let preview = PreviewRule::new(RuleWhen::default());
    let preview = engine
        .preview_judging_rule(&ada(), &project(), &preview)
        .await;
    let preview = preview.unwrap();
    assert_eq!((preview.considered, preview.matched), (0, 0));
    let filled = engine.back_fill(&ada().tenant, &project(), 5).await;
    assert_eq!(filled.unwrap(), Default::default());
}

#[tokio::test]
async fn a_preview_with_a_rule_counts_exactly_the_runs_that_it_takes() {
    let world = World::new();
    let half = Sample::new(0.5).unwrap();
    let rule = world.rule(|rule| rule.sample = half).await;
    let mut taken = 0;
    for n in 0..40 {
        let run = ended(&format!("run-{n}"), n);
        taken += u64::from(matches!(world.tell(&run).await, Told::Queued(_)));
        assert_eq!(
            sampling::takes(half, &rule.id, &run.id),
            world
                .queue()
                .await
                .iter()
                .any(|(id, _)| *id == run.id.as_str()),
        );
        world.host.ended.lock().unwrap().push(run);
    }
    let mut preview = PreviewRule::new(RuleWhen::default());
    preview.sample = half;
    let (who, project) = (ada(), project());
    let estimate = world
        .engine
        .preview_judging_rule(&who, &project, &preview)
        .await
        .unwrap();
    assert_eq!((estimate.considered, estimate.matched), (40, 20));
    preview.rule = Some(rule.id);
    let exact = world
        .engine
        .preview_judging_rule(&who, &project, &preview)
        .await
        .unwrap();
    assert_eq!((exact.considered, exact.matched), (40, taken));
    preview.last = 0;
    let refused = world
        .engine
        .preview_judging_rule(&who, &project, &preview)
        .await
        .unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::BadInput);
}

#[tokio::test]
async fn a_purge_ends_and_leaves_what_is_younger() {
    let world = World::new();
    world.rule(|_| {}).await;
    for n in 0..5 {
        world.tell(&ended(&format!("old-{n}"), 1)).await;
        world.judge(&format!("old-{n}"), None).await;
    }
    world.clock.advance_millis(1_000);
    let before = world.clock.now();
    world.tell(&ended("young", 1_500)).await;
    world.judge("young", None).await;

    let tenant = ada().tenant;
    let (mut from, mut removed) = (None, 0);
    loop {
        let limit = NonZeroU16::new(2).unwrap();
        let step = world
            .engine
            .purge(&tenant, before, from.as_ref(), limit)
            .await
            .unwrap();
        removed += step.removed;
        from = step.next;
        if from.is_none() {
            break;
        }
    }
    assert_eq!(removed, 10);
    assert_eq!(
        world.queue().await,
        [("young".to_owned(), ItemState::Judged)]
    );
    let all = PageRequest::default();
    let kept = world
        .engine
        .judgments(&ada(), &Default::default(), &all)
        .await
        .unwrap();
    assert_eq!(kept.rows.len(), 1);
    assert_eq!(world.tell(&ended("old-1", 1)).await, Told::BeforePurge);
    assert_eq!(world.tell(&ended("young", 1_500)).await, Told::Known);

    let future = before.saturating_add_millis(1);
    let limit = NonZeroU16::new(2).unwrap();
    let refused = world.engine.purge(&tenant, future, None, limit).await;
    assert_eq!(refused.unwrap_err().kind(), ErrorKind::BadInput);
}

#[tokio::test]
async fn an_erased_participants_pseudonym_tells_nothing_and_is_never_the_same() {
    let world = World::new();
    for (run, who) in [("a", "p-1"), ("b", "p-1"), ("c", "p-2"), ("d", "p-3")] {
        world.judge(run, Some(who)).await;
    }
    let tenant = ada().tenant;
    for (who, changed) in [("p-1", 2), ("p-2", 1), ("p-1", 0)] {
        let erased = world
            .engine
            .erase_participant(&tenant, &who.parse().unwrap())
            .await;
        assert_eq!(erased.unwrap(), changed, "{who}");
    }
    let all = PageRequest::default();
    let rows = world
        .engine
        .judgments(&ada(), &Default::default(), &all)
        .await
        .unwrap()
        .rows;
    let of = |run: &str| rows.iter().find(|it| it.run.as_str() == run).unwrap();
    let names: BTreeSet<_> = rows.iter().map(|it| it.participant.clone()).collect();
    assert_eq!(names.len(), 3);
    assert_eq!(of("a").participant, of("b").participant);
    for run in ["a", "b", "c"] {
        assert!(of(run).reason.is_none());
        assert!(
            !of(run)
                .participant
                .as_ref()
                .unwrap()
                .as_str()
                .contains("p-")
        );
    }
    assert_eq!(of("d").participant, Some("p-3".parse().unwrap()));
    assert!(of("d").reason.is_some());
}

#[tokio::test]
async fn judged_runs_are_paged_newest_first() {
    let world = World::new();
    for n in 0..5 {
        world.judge(&format!("run-{n}"), None).await;
        world.clock.advance_millis(1);
    }
    let tenant = ada().tenant;
    let filter = JudgedRunFilter::default();
    let mut request = PageRequest {
        after: None,
        size: kindgi_core::model::PageSize::new(2).unwrap(),
    };
    let mut seen = Vec::new();
    loop {
        let page = world
            .engine
            .judged_runs(&tenant, &filter, &request)
            .await
            .unwrap();
        for run in page.rows {
            assert_eq!(run.judgments.len(), 1);
            assert_eq!(run.copy.output.as_str(), r#"{"score":1.10}"#);
            seen.push(run.copy.run.to_string());
        }
        request.after = page.next;
        if request.after.is_none() {
            break;
        }
    }
    assert_eq!(seen, ["run-4", "run-3", "run-2", "run-1", "run-0"]);
}
