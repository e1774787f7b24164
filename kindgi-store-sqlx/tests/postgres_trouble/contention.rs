//! Many nodes at once, each with a pool of its own.

use std::{
    collections::BTreeMap,
    num::NonZeroU16,
    sync::{
        Arc, Barrier, Mutex,
        atomic::{AtomicI64, AtomicUsize, Ordering},
    },
    time::Duration,
};

use kindgi_core::{
    ManualClock, Timestamp,
    idempotency::{About, Begun, Claim, IdempotencyStore, KeptAnswer, Outcome, Token},
    model::{ClassScope, JudgeClass, JudgingRule, MaxOpen, Weight},
    store::{
        Applied, Candidate, ClassAt, ClassCreated, ItemMoved, JudgeClassStore, JudgingQueueStore,
        JudgingRuleStore, JudgmentStore, KnownOperation, Lifecycle, Operation, OperationId,
        OperationStore, Recorded, RuleAppended, StoreResult, Taken, Write,
    },
};
use kindgi_store_sqlx::SqlxStore;
use tokio::runtime::Handle;

use super::{
    invariants::assert_whole,
    support::{
        Random, at, builder, cell, ended, execute, judgment, named, open, operation, project,
        record, rule, session, tenant, until_idle, until_waiting, url, write,
    },
};

const NODES: usize = 8;
const CALLS: usize = 500;

/// What all nodes share: an instant that only grows, and numbers that nobody has twice.
#[derive(Default)]
struct Shared {
    now: AtomicI64,
    made: AtomicUsize,
    /// What the calls came to, and how often.
    came: Mutex<BTreeMap<&'static str, usize>>,
}

impl Shared {
    fn now(&self) -> Timestamp {
        at(1000 + self.now.fetch_add(1, Ordering::Relaxed))
    }

    fn made(&self) -> usize {
        self.made.fetch_add(1, Ordering::Relaxed)
    }

    fn came_to(&self, what: &'static str) {
        *self.came.lock().unwrap().entry(what).or_default() += 1;
    }
}

fn class(id: &str, name: usize, now: Timestamp) -> JudgeClass {
    JudgeClass {
        id: id.parse().unwrap(),
        tenant: tenant(),
        scope: ClassScope::Tenant,
        name: format!("name {name}").parse().unwrap(),
        weight: Weight::new(1.0).unwrap(),
        description: None,
        assertable_by: None,
        created_at: now,
        updated_at: now,
        unregistered_at: None,
    }
}

fn capped(id: &str, version: u32, now: Timestamp) -> JudgingRule {
    let mut rule = rule(id, version);
    rule.max_open = MaxOpen::new(5);
    rule.created_at = now;
    rule
}

/// One call of a node, any of those that change something.
async fn any_call(store: &SqlxStore, shared: &Shared, random: &mut Random) -> StoreResult<()> {
    let (tenant, now, made) = (tenant(), shared.now(), shared.made());
    let run = format!("run-{}", random.below(30));
    let key = named(&format!("operation-{}", random.below(40)));
    // Some are kept for so short a time that they are over soon, and then are kept anew.
    let short = Operation {
        keep_until: at(now.as_unix_millis() + 50),
        ..operation(&key)
    };
    let write = Write {
        tenant: &tenant,
        now,
        operation: (random.below(2) == 0).then_some(short),
    };
    let by = "user:ada".parse().unwrap();
    let limit = NonZeroU16::new(50).unwrap();
    match random.below(16) {
        0..4 => {
            let item = format!("key-{}", random.below(3));
            let (mut new, copy) = judgment(&format!("id-{made}"), &run, &item);
            new.judgment.created_at = now;
            if random.below(4) == 0 {
                new.judgment.participant = Some(format!("p-{}", random.below(3)).parse().unwrap());
            }
            let classes: Vec<_> = store.wanted_classes(&tenant, &project()).await?;
            let named = classes.first().map(|class| class.id.clone());
            let at = match &named {
                Some(id) => store.class(&tenant, id).await?,
                None => None,
            };
            new.judgment.class = at.as_ref().and(named.clone());
            let class = at.zip(named.as_ref()).map(|(at, id)| ClassAt {
                id,
                revision: at.revision,
            });
            let recorded = store.record(write, &new, Some(&copy), class).await?;
            if let Applied::Done(Recorded::Ok { superseded, .. }) = recorded {
                let how = superseded.map_or("judged", |_| "judged anew");
                shared.came_to(how);
            }
        }
        4 => {
            let id = format!("id-{}", made.saturating_sub(random.below(100)));
            store.remove(write, &id.parse().unwrap()).await?;
        }
        5..7 => {
            let mut run = ended(&format!("run-{}", random.below(60)));
            run.ended_at = now;
            let enabled = store.enabled_rules(&tenant, &run.project).await?;
            let candidates: Vec<_> = enabled.rules.iter().map(Candidate::from).collect();
            if !candidates.is_empty() {
                let write = Write {
                    operation: None,
                    ..write
                };
                let taken = store.take(write, &run, enabled.revision, &candidates);
                match taken.await? {
                    Taken::Queued(_) => shared.came_to("queued"),
                    Taken::AllSkipped => shared.came_to("skipped"),
                    _ => {}
                }
            }
        }
        7 => {
            // Half of those that are queued are judged by nobody.
            let run = format!("run-{}", random.below(60)).parse().unwrap();
            let moved = store.dismiss(write, &project(), &run, &by, None).await?;
            if matches!(moved, Applied::Done(ItemMoved::Ok(_))) {
                shared.came_to("dismissed");
            }
        }
        8 => {
            let run = run.parse().unwrap();
            store.reopen(write, &project(), &run, &by).await?;
        }
        9 => {
            let id = format!("rule-{}", random.below(4));
            let latest = store
                .rule(&tenant, &project(), &id.parse().unwrap())
                .await?;
            let next = match latest {
                Some(latest) => capped(&id, latest.version + 1, now),
                None => capped(&format!("rule-of-{made}"), 1, now),
            };
            let appended = store.append_rule_version(write, &next, None).await?;
            if next.version > 1 && matches!(appended, Applied::Done(RuleAppended::Ok(_))) {
                shared.came_to("rule changed");
            }
        }
        10 => {
            let id = format!("class-{made}");
            let class = class(&id, random.below(5), now);
            if let Applied::Done(ClassCreated::Ok(_)) = store.create_class(write, &class).await? {
                shared.came_to("class made");
            }
        }
        11 => {
            let id = format!("class-{}", random.below(made + 1)).parse().unwrap();
            if let Some(found) = store.class(&tenant, &id).await? {
                let mut next = found.value;
                next.updated_at = now;
                next.unregistered_at = Some(now);
                store.replace_class(write, found.revision, &next).await?;
            }
        }
        12 => match random.below(6) {
            0 => {
                let run = format!("run-{}", 20 + random.below(10)).parse().unwrap();
                store.erase_run(write, &run).await?;
            }
            1 => {
                let of = format!("p-{}", random.below(3)).parse().unwrap();
                let pseudonym = format!("nobody-{made}").parse().unwrap();
                store.erase_participant(write, &of, &pseudonym).await?;
            }
            _ => {
                let before = at(now.as_unix_millis() - 400);
                let purged = Lifecycle::purge(store, write, before, None, limit).await?;
                if purged.removed > 0 {
                    shared.came_to("purged");
                }
            }
        },
        13..15 => keyed(store, random).await?,
        _ => match random.below(3) {
            0 => {
                let about = About::Run(run.parse().unwrap());
                store.forget(&tenant, &about).await?;
            }
            _ => {
                IdempotencyStore::purge(store, limit).await?;
            }
        },
    }
    Ok(())
}

/// A request under one of some keys.
async fn keyed(store: &SqlxStore, random: &mut Random) -> StoreResult<()> {
    let (tenant, token) = (tenant(), Token::random());
    let key = named(&format!("key-{}", random.below(10)));
    let claim = Claim {
        tenant: &tenant,
        key: &key,
        body: &[7; 32],
        token: &token,
        hold: Duration::from_millis(200),
    };
    if store.begin(claim).await? != Begun::Run {
        return Ok(());
    }
    let about = About::Run(format!("run-{}", random.below(30)).parse().unwrap());
    let outcome = Outcome::Answer(KeptAnswer {
        status: 201,
        headers: Vec::new(),
        body: "{}".into(),
    });
    let keep = Duration::from_millis(50);
    match random.below(4) {
        0 => drop(store.release(&key, &token).await?),
        1 => drop(store.renew(&key, &token, keep).await?),
        _ => drop(
            store
                .complete(&key, &token, &outcome, &[about], keep)
                .await?,
        ),
    }
    Ok(())
}

#[test]
fn eight_nodes_that_do_everything_at_once_see_no_error_and_keep_every_invariant() {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(4)
        .enable_all()
        .build()
        .unwrap();
    let url = url();
    let stores: Vec<_> = (0..NODES).map(|_| runtime.block_on(open(&url))).collect();
    runtime.block_on(async {
        let tenant = tenant();
        for n in 0..4 {
            let rule = capped(&format!("rule-{n}"), 1, at(0));
            let made = stores[0]
                .append_rule_version(write(&tenant), &rule, None)
                .await;
            made.unwrap();
        }
    });
    let (barrier, shared) = (Arc::new(Barrier::new(NODES)), Arc::<Shared>::default());
    let node = |(n, store): (usize, SqlxStore)| {
        let (barrier, shared) = (Arc::clone(&barrier), Arc::clone(&shared));
        let handle: Handle = runtime.handle().clone();
        std::thread::spawn(move || {
            let mut random = Random::new(n as u64 + 1);
            barrier.wait();
            for _ in 0..CALLS {
                let done = handle.block_on(any_call(&store, &shared, &mut random));
                done.unwrap();
            }
        })
    };
    let nodes: Vec<_> = stores.into_iter().enumerate().map(node).collect();
    for node in nodes {
        node.join().unwrap();
    }
    runtime.block_on(until_idle(&url));
    assert_whole(&url);
    let came = shared.came.lock().unwrap();
    for what in [
        "judged",
        "judged anew",
        "queued",
        "skipped",
        "dismissed",
        "rule changed",
        "class made",
        "purged",
    ] {
        assert!(came.contains_key(what), "no call came to: {what}: {came:?}");
    }
    let open = "SELECT COALESCE(MAX(open_items), 0) <= 5 FROM kindgi_rules";
    assert_eq!(cell(&url, open), "t", "a cap is exceeded");
}

/// Keeps an operation, which has ended by then if it was kept before.
async fn keep(store: &SqlxStore, id: &OperationId, now: i64) {
    let (new, copy) = judgment(&format!("{now}"), "run", "key");
    let tenant = tenant();
    let write = Write {
        tenant: &tenant,
        now: at(now),
        operation: Some(short(id, now)),
    };
    let kept = store.record(write, &new, Some(&copy), None).await.unwrap();
    assert!(matches!(kept, Applied::Done(_)), "{kept:?}");
}

/// Kept for less than any other's beginning.
fn short(id: &OperationId, now: i64) -> Operation<'_> {
    Operation {
        keep_until: at(now + 5),
        ..operation(id)
    }
}

async fn is_kept(store: &SqlxStore, id: &OperationId, now: i64) -> bool {
    let kept = store.receipt(&tenant(), at(now), short(id, now)).await;
    matches!(kept.unwrap(), Some(KnownOperation::Done(_)))
}

/// A purge finds an operation that has ended, and comes to its row after who keeps it anew.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_operation_that_is_kept_anew_while_a_purge_waits_for_its_row_stays() {
    let url = url();
    let clock = Arc::new(ManualClock::at(at(10)));
    let purging = builder()
        .clock(Arc::clone(&clock))
        .connect(&url)
        .await
        .unwrap();
    let store = open(&url).await;
    let id = named("operation");
    keep(&store, &id, 0).await;
    let mut other = session(&url).await;
    execute(&mut other, "BEGIN").await;
    execute(&mut other, "SELECT 1 FROM kindgi_operations FOR UPDATE").await;
    let again = store.clone();
    let keeping = tokio::spawn(async move { keep(&again, &named("operation"), 10).await });
    until_waiting(&url, 1).await;
    let purge = tokio::spawn(async move {
        IdempotencyStore::purge(&purging, NonZeroU16::MAX)
            .await
            .unwrap();
    });
    until_waiting(&url, 2).await;
    execute(&mut other, "ROLLBACK").await;
    keeping.await.unwrap();
    purge.await.unwrap();
    assert!(is_kept(&store, &id, 10).await);
    assert_eq!(cell(&url, "SELECT COUNT(*) FROM kindgi_operations"), "1");
}

/// The same without an order: purges of all kinds go on, and each operation that was kept anew is
/// looked up at once.
#[tokio::test(flavor = "multi_thread", worker_threads = 3)]
async fn no_purge_ever_drops_an_operation_that_was_kept_anew() {
    let url = url();
    let clock = Arc::new(ManualClock::at(at(0)));
    let mut purgers = Vec::new();
    let over = Arc::new(AtomicI64::new(0));
    for n in 0..3 {
        let store = builder()
            .clock(Arc::clone(&clock))
            .connect(&url)
            .await
            .unwrap();
        let over = Arc::clone(&over);
        purgers.push(tokio::spawn(async move {
            let mut last = 0;
            while last >= 0 {
                last = over.load(Ordering::Relaxed);
                if n == 0 {
                    let tenant = tenant();
                    let write = Write {
                        tenant: &tenant,
                        now: at(last.max(0)),
                        operation: None,
                    };
                    let purged = Lifecycle::purge(&store, write, at(0), None, NonZeroU16::MAX);
                    purged.await.unwrap();
                } else {
                    IdempotencyStore::purge(&store, NonZeroU16::MAX)
                        .await
                        .unwrap();
                }
            }
        }));
    }
    let store = open(&url).await;
    let ids: Vec<_> = (0..4).map(|n| named(&format!("operation-{n}"))).collect();
    for round in 0..60 {
        // A writer's instant is never before that of a purge.
        let now = round * 100;
        clock.advance_millis(100);
        over.store(now, Ordering::Relaxed);
        for (n, id) in ids.iter().enumerate() {
            let now = now + 100 + 10 * i64::try_from(n).unwrap();
            keep(&store, id, now).await;
            assert!(is_kept(&store, id, now).await, "round {round}");
        }
    }
    over.store(-1, Ordering::Relaxed);
    for purger in purgers {
        purger.await.unwrap();
    }
    record(&store, "last", "key").await.unwrap();
    assert_whole(&url);
}
