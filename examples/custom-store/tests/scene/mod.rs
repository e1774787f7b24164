//! A tenant's story, of which each step is a write that changes something; and all that can be
//! read of it.

use std::{fmt::Debug, num::NonZeroU16};

use kindgi_core::{
    Timestamp,
    json::RawJson,
    model::{
        AssertedBy, ClassScope, EndedRun, Item, JudgeClass, JudgingRule, Judgment, PageSize,
        PrincipalKind, PrincipalRef, Readable, RuleWhen, RunCopy, RunId, Sample, Subject, TenantId,
        Verdict, Weight,
    },
    store::{
        Applied, Candidate, ClassFilter, ItemMoved, JudgedRunFilter, JudgmentFilter, Keyset,
        NewJudgment, Operation, OperationId, QueueFilter, Recorded, Store, StoreResult, Taken,
        Write,
    },
};

const OPERATION: OperationId = OperationId([7; 32]);
pub(crate) const STEPS: usize = 10;

pub(crate) fn acme() -> TenantId {
    "acme".parse().unwrap()
}

fn at(seconds: i64) -> Timestamp {
    Timestamp::UNIX_EPOCH.saturating_add_millis(seconds * 1000)
}

pub(crate) fn write(tenant: &TenantId, seconds: i64) -> Write<'_> {
    Write {
        tenant,
        now: at(seconds),
        operation: None,
    }
}

fn operation() -> Operation<'static> {
    Operation {
        id: &OPERATION,
        body: &[8; 32],
        keep_until: at(1_000_000),
    }
}

fn subject() -> Subject {
    Subject::Agent {
        id: "agent".parse().unwrap(),
        version: "1".parse().unwrap(),
    }
}

fn judgment(id: &str, run: &str, seconds: i64) -> NewJudgment {
    let judgment = Judgment {
        id: id.parse().unwrap(),
        tenant: acme(),
        project: "project".parse().unwrap(),
        run: run.parse().unwrap(),
        subject: subject(),
        item: Item {
            key: "item".parse().unwrap(),
            pointer: None,
            rank: None,
        },
        verdict: Verdict::Yes,
        reason: Some(format!("the reason of {id}").parse().unwrap()),
        correction: None,
        class: None,
        restricted: false,
        asserted_by: AssertedBy {
            kind: PrincipalKind::User,
            id: "ada".parse().unwrap(),
        },
        participant: Some("somebody".parse().unwrap()),
        created_at: at(seconds),
        unregistered_at: None,
        superseded_by: None,
    };
    NewJudgment {
        judgment,
        item_value: Some(RawJson::parse("1.10").unwrap()),
    }
}

fn copy(run: &str) -> RunCopy {
    RunCopy {
        run: run.parse().unwrap(),
        subject: subject(),
        input: RawJson::parse("{\"question\":\n  \"?\"}").unwrap(),
        output: RawJson::parse(r#"["1.10", 1.10, 1e400, "\ud83d"]"#).unwrap(),
        context: None,
        segments: None,
        captured_at: at(0),
    }
}

/// Records a judgment of a run; of one run they supersede each other.
pub(crate) async fn record(
    store: &dyn Store,
    id: &str,
    run: &str,
    seconds: i64,
) -> StoreResult<()> {
    let tenant = acme();
    let write = write(&tenant, seconds);
    let new = judgment(id, run, seconds);
    let recorded = store.record(write, &new, Some(&copy(run)), None).await?;
    assert!(matches!(recorded, Applied::Done(Recorded::Ok { .. })));
    Ok(())
}

async fn tell(store: &dyn Store, run: &str, seconds: i64) -> StoreResult<()> {
    let (tenant, project) = (acme(), "project".parse().unwrap());
    let rules = store.enabled_rules(&tenant, &project).await?;
    let candidates: Vec<_> = rules.rules.iter().map(Candidate::from).collect();
    let run = EndedRun::new(run.parse().unwrap(), project, subject(), at(seconds));
    let write = write(&tenant, seconds);
    let taken = store.take(write, &run, rules.revision, &candidates).await?;
    assert!(matches!(taken, Taken::Queued(_)));
    Ok(())
}

/// One of the story's [steps](STEPS), in their order.
pub(crate) async fn step(store: &dyn Store, step: usize) -> StoreResult<()> {
    let tenant = acme();
    let seconds = 100 + i64::try_from(step).unwrap();
    let write = write(&tenant, seconds);
    match step {
        0 => {
            let class = JudgeClass {
                id: "class".parse().unwrap(),
                tenant: acme(),
                scope: ClassScope::Tenant,
                name: "experts".parse().unwrap(),
                weight: Weight::new(2.5).unwrap(),
                description: None,
                assertable_by: None,
                created_at: at(seconds),
                updated_at: at(seconds),
                unregistered_at: None,
            };
            store.create_class(write, &class).await.map(drop)
        }
        1 => {
            let rule = JudgingRule {
                id: "rule".parse().unwrap(),
                tenant: acme(),
                project: "project".parse().unwrap(),
                version: 1,
                name: "everything".parse().unwrap(),
                when: RuleWhen::default(),
                sample: Sample::ALL,
                max_open: None,
                class: None,
                enabled: true,
                created_by: None,
                created_at: at(seconds),
                unregistered_at: None,
            };
            let appended = store.append_rule_version(write, &rule, None).await;
            appended.map(drop)
        }
        2 => {
            let write = Write {
                operation: Some(operation()),
                ..write
            };
            let (new, copy) = (judgment("j-1", "run-1", seconds), copy("run-1"));
            store.record(write, &new, Some(&copy), None).await.map(drop)
        }
        3 => record(store, "j-2", "run-1", seconds).await,
        4 => record(store, "j-3", "run-2", seconds).await,
        5 => tell(store, "run-3", seconds).await,
        6 => {
            let (project, run) = ("project".parse().unwrap(), "run-3".parse().unwrap());
            let by: PrincipalRef = "user:ada".parse().unwrap();
            let moved = store.dismiss(write, &project, &run, &by, None).await?;
            assert!(matches!(moved, Applied::Done(ItemMoved::Ok(_))));
            Ok(())
        }
        7 => store.erase_run(write, &"run-1".parse().unwrap()).await,
        8 => {
            let (who, pseudonym) = ("somebody".parse().unwrap(), "nobody".parse().unwrap());
            let changed = store.erase_participant(write, &who, &pseudonym).await?;
            assert_eq!(changed, 3);
            Ok(())
        }
        9 => {
            let purged = store.purge(write, at(50), None, NonZeroU16::MIN).await;
            purged.map(drop)
        }
        _ => panic!("the story has no step {step}"),
    }
}

/// All that can be read of the tenant, as text.
pub(crate) async fn everything(store: &dyn Store) -> String {
    fn told(said: &mut String, answer: StoreResult<impl Debug>) {
        said.push_str(&format!("{:?}\n", answer.unwrap()));
    }
    let (tenant, project) = (&acme(), &"project".parse().unwrap());
    let (rule, all) = (&"rule".parse().unwrap(), &Readable::All);
    let (last, page) = (
        PageSize::default(),
        &Keyset {
            after: None,
            limit: PageSize::default(),
        },
    );
    let said = &mut String::new();
    for id in ["j-1", "j-2", "j-3"] {
        told(said, store.judgment(tenant, &id.parse().unwrap()).await);
    }
    for run in ["run-1", "run-2", "run-3"] {
        let run: RunId = run.parse().unwrap();
        told(said, store.is_erased(tenant, &run).await);
        told(said, store.queue_item(tenant, project, &run).await);
    }
    let filter = JudgmentFilter::default();
    told(said, store.judgments(tenant, &filter, all, page).await);
    told(said, store.class(tenant, &"class".parse().unwrap()).await);
    let filter = ClassFilter::default();
    told(said, store.classes(tenant, &filter, all, page).await);
    told(said, store.rules(tenant, project, page).await);
    let versions = store.rule_versions(tenant, project, rule, None, last).await;
    told(said, versions);
    told(said, store.enabled_rules(tenant, project).await);
    let filter = QueueFilter::default();
    told(
        said,
        store.queue(tenant, project, &filter, Some(page)).await,
    );
    told(said, store.rule_results(tenant, project, rule, None).await);
    told(said, store.receipt(tenant, at(200), operation()).await);
    let filter = JudgedRunFilter::default();
    told(said, store.judged_runs(tenant, &filter, page).await);
    std::mem::take(said)
}
