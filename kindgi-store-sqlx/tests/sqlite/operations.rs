//! Receipts of operations: the same as in memory, and from files of before.

use kindgi_core::{
    MemoryStore,
    model::{
        ClassScope, EndedRun, JudgeClass, JudgingRule, PrincipalRef, ProjectId, RuleWhen, RunId,
        Sample, Weight,
    },
    store::{
        Applied, Candidate, ClassCreated, ClassReplaced, ItemMoved, JudgingRuleStore,
        JudgmentRemoved, JudgmentStore, KnownOperation, Operation, OperationId, OperationStore,
        Receipt, Recorded, RuleAppended, RuleStopped, Store, Write,
    },
};
use sqlx::AssertSqlSafe;

use crate::support::{Folder, append_rule, at, judgment, number, record, tenant};

/// When all operations here end.
const END: i64 = 1000;

async fn receipt(store: &dyn Store, id: u8, body: u8, now: i64) -> Option<KnownOperation> {
    let (id, body) = (OperationId([id; 32]), [body; 32]);
    let operation = Operation {
        id: &id,
        body: &body,
        keep_until: at(END),
    };
    store.receipt(&tenant(), at(now), operation).await.unwrap()
}

/// Writes as an operation of this number.
macro_rules! keyed {
    ($store:expr, $id:expr, |$write:ident| $call:expr) => {{
        let (tenant, id, body) = (tenant(), OperationId([$id; 32]), [0; 32]);
        let operation = Some(Operation {
            id: &id,
            body: &body,
            keep_until: at(END),
        });
        let $write = Write {
            tenant: &tenant,
            now: at(0),
            operation,
        };
        $call.await.unwrap()
    }};
}

fn project() -> ProjectId {
    "project".parse().unwrap()
}

fn run() -> RunId {
    "run".parse().unwrap()
}

fn class() -> JudgeClass {
    JudgeClass {
        id: "class".parse().unwrap(),
        tenant: tenant(),
        scope: ClassScope::Project(project()),
        name: "experts".parse().unwrap(),
        weight: Weight::new(0.1).unwrap(),
        description: Some("who know".parse().unwrap()),
        assertable_by: None,
        created_at: at(0),
        updated_at: at(0),
        unregistered_at: None,
    }
}

fn rule(version: u32) -> JudgingRule {
    JudgingRule {
        id: "rule".parse().unwrap(),
        tenant: tenant(),
        project: project(),
        version,
        name: "every answer".parse().unwrap(),
        when: RuleWhen::default(),
        sample: Sample::ALL,
        max_open: None,
        class: Some("class".parse().unwrap()),
        enabled: true,
        created_by: Some("user:ada".parse().unwrap()),
        created_at: at(0),
        unregistered_at: None,
    }
}

/// An operation of each kind, by number, with its receipt.
async fn one_of_each(store: &dyn Store) -> Vec<(u8, Receipt)> {
    let ada: PrincipalRef = "user:ada".parse().unwrap();
    let mut done = Vec::new();
    macro_rules! does {
        ($id:expr, $kind:ident, |$write:ident| $call:expr) => {{
            let Applied::Done(outcome) = keyed!(store, $id, |$write| $call) else {
                panic!("operation {} was done before", $id);
            };
            done.push(($id, Receipt::$kind(outcome)));
        }};
    }
    let class = class();
    does!(1, ClassCreated, |write| store.create_class(write, &class));
    let mut retired = class.clone();
    retired.unregistered_at = Some(at(0));
    does!(2, RuleAppended, |write| store.append_rule_version(
        write,
        &rule(1),
        None
    ));
    let subject = judgment("a", "run", "key").1.subject;
    let ended = EndedRun::new(run(), project(), subject, at(0));
    let candidates = [Candidate::from(&rule(1))];
    let write = Write {
        tenant: &tenant(),
        now: at(0),
        operation: None,
    };
    store.take(write, &ended, 1, &candidates).await.unwrap();
    let reason = "too easy".parse().unwrap();
    does!(3, Dismissed, |write| store.dismiss(
        write,
        &project(),
        &run(),
        &ada,
        Some(&reason)
    ));
    does!(4, Reopened, |write| store.reopen(
        write,
        &project(),
        &run(),
        &ada
    ));
    let (mut new, copy) = judgment("a", "run", "key");
    new.judgment.reason = Some("because".parse().unwrap());
    new.judgment.participant = Some("grace".parse().unwrap());
    does!(5, Recorded, |write| store.record(
        write,
        &new,
        Some(&copy),
        None
    ));
    new.judgment.id = "b".parse().unwrap();
    does!(6, Recorded, |write| store.record(
        write,
        &new,
        Some(&copy),
        None
    ));
    does!(7, JudgmentRemoved, |write| store
        .remove(write, &new.judgment.id));
    does!(8, RuleStopped, |write| store.stop_rule(
        write,
        &project(),
        &rule(1).id
    ));
    does!(9, ClassReplaced, |write| store
        .replace_class(write, 1, &retired));
    done
}

#[tokio::test]
async fn a_receipt_is_the_outcome_until_its_instant_and_for_its_body_alone() {
    let folder = Folder::new();
    let store = folder.store().await;
    let done = one_of_each(&store).await;
    assert_eq!(done, one_of_each(&MemoryStore::new()).await);
    let Receipt::Recorded(Recorded::Ok { superseded, .. }) = &done[5].1 else {
        panic!("{done:?}");
    };
    assert_eq!(*superseded, Some("a".parse().unwrap()));
    for (id, outcome) in done {
        let known = Some(KnownOperation::Done(outcome));
        assert_eq!(receipt(&store, id, 0, 0).await, known);
        assert_eq!(receipt(&store, id, 0, END - 1).await, known);
        assert_eq!(receipt(&store, id, 0, END).await, None);
        let other = Some(KnownOperation::OtherBody);
        assert_eq!(receipt(&store, id, 1, END - 1).await, other);
        assert_eq!(receipt(&store, id + 100, 0, 0).await, None);
    }
}

#[tokio::test]
async fn a_receipt_of_before_an_erasure_is_given_cleared() {
    let folder = Folder::new();
    let (sqlite, memory) = (folder.store().await, MemoryStore::new());
    let stores: [&dyn Store; 2] = [&sqlite, &memory];
    for erased_run in [true, false] {
        let mut given = Vec::new();
        for store in stores {
            if erased_run {
                one_of_each(store).await;
            }
            let write = Write {
                tenant: &tenant(),
                now: at(0),
                operation: None,
            };
            match erased_run {
                true => store.erase_run(write, &run()).await.unwrap(),
                false => {
                    let nobody = "nobody".parse().unwrap();
                    let grace = "grace".parse().unwrap();
                    let erased = store.erase_participant(write, &grace, &nobody).await;
                    erased.unwrap();
                }
            }
            let mut all = Vec::new();
            for id in 1..=9 {
                all.push(receipt(store, id, 0, 0).await);
            }
            let told = format!("{all:?}");
            assert!(!told.contains("because") && !told.contains("too easy"));
            assert_eq!(told.contains("grace"), erased_run);
            given.push(all);
        }
        assert_eq!(given[0], given[1]);
    }
}

/// What may be kept where nothing changed, and what comes of the transition of its kind then.
#[tokio::test]
async fn what_changed_nothing_is_kept_once_and_replayed_by_its_transition() {
    let folder = Folder::new();
    let (sqlite, memory) = (folder.store().await, MemoryStore::new());
    let stores: [&dyn Store; 2] = [&sqlite, &memory];
    let unchanged = Receipt::RuleAppended(RuleAppended::Ok(Box::new(rule(3))));
    let stopped = Receipt::RuleStopped(RuleStopped::NotLive);
    for store in stores {
        for (id, kept) in [(1, &unchanged), (2, &stopped)] {
            let keep = keyed!(store, id, |write| store.keep(write, kept));
            assert_eq!(keep, Applied::Done(kept.clone()));
            let keep = keyed!(store, id, |write| store.keep(write, kept));
            assert_eq!(keep, Applied::Replayed(kept.clone()));
            let known = Some(KnownOperation::Done(kept.clone()));
            assert_eq!(receipt(store, id, 0, END - 1).await, known);
            assert_eq!(receipt(store, id, 0, END).await, None);
        }
        // Another kind's, and without an operation.
        let keep = keyed!(store, 2, |write| store.keep(write, &unchanged));
        assert_eq!(keep, Applied::OtherBody);
        let write = Write {
            tenant: &tenant(),
            now: at(0),
            operation: None,
        };
        let keep = store.keep(write, &stopped).await.unwrap();
        assert_eq!(keep, Applied::Done(stopped.clone()));
        // The rule lives meanwhile, and isn't stopped by what found it stopped.
        let next = rule(1);
        let created = store.append_rule_version(write, &next, None).await;
        assert!(matches!(
            created.unwrap(),
            Applied::Done(RuleAppended::Ok(_))
        ));
        let stop = keyed!(store, 2, |write| store.stop_rule(
            write,
            &project(),
            &next.id
        ));
        assert_eq!(stop, Applied::Replayed(RuleStopped::NotLive));
        let append = keyed!(store, 1, |write| store
            .append_rule_version(write, &next, None));
        let kept = RuleAppended::Ok(Box::new(rule(3)));
        assert_eq!(append, Applied::Replayed(kept));
        let alive = store.rule(&tenant(), &project(), &next.id).await.unwrap();
        assert_eq!(alive.unwrap().unregistered_at, None);
    }
}

/// Receipts of every kind are kept as their transitions keep them, and tell of whom they tell.
#[tokio::test]
async fn a_receipt_that_is_kept_by_itself_is_replayed_and_erased_like_any_other() {
    let folder = Folder::new();
    let store = folder.store().await;
    let done = one_of_each(&MemoryStore::new()).await;
    for (id, outcome) in &done {
        let kept = keyed!(store, *id, |write| store.keep(write, outcome));
        assert_eq!(kept, Applied::Done(outcome.clone()));
        let known = receipt(&store, *id, 0, 0).await;
        assert_eq!(known, Some(KnownOperation::Done(outcome.clone())));
    }
    let not_live = Receipt::JudgmentRemoved(JudgmentRemoved::NotLive);
    keyed!(store, 50, |write| store.keep(write, &not_live));
    let known = receipt(&store, 50, 0, 0).await;
    assert_eq!(known, Some(KnownOperation::Done(not_live)));
    let write = Write {
        tenant: &tenant(),
        now: at(0),
        operation: None,
    };
    use kindgi_core::store::Lifecycle;
    store.erase_run(write, &run()).await.unwrap();
    for (id, _) in &done {
        let told = format!("{:?}", receipt(&store, *id, 0, 0).await);
        assert!(
            !told.contains("because") && !told.contains("too easy"),
            "{told}"
        );
    }
}

#[tokio::test]
async fn a_refusal_can_not_be_kept() {
    let folder = Folder::new();
    let store = folder.store().await;
    for refused in [
        Receipt::Recorded(Recorded::NeedsCopy),
        Receipt::ClassCreated(ClassCreated::NameTaken),
        Receipt::ClassReplaced(ClassReplaced::Stale),
        Receipt::RuleAppended(RuleAppended::Stale),
        Receipt::Dismissed(ItemMoved::Missing),
        Receipt::Reopened(ItemMoved::Missing),
    ] {
        let write = Write {
            tenant: &tenant(),
            now: at(0),
            operation: None,
        };
        assert!(store.keep(write, &refused).await.is_err(), "{refused:?}");
    }
    let kept = "SELECT COUNT(*) FROM kindgi_operations";
    assert_eq!(number(&folder.pool().await, kept).await, 0);
}

/// A file of the third version with the rows of a file of now.
async fn downgraded(new: &Folder) -> Folder {
    let old = Folder::new();
    let steps = [
        include_str!("../../migrations/sqlite/0001_judgments.sql"),
        include_str!("../../migrations/sqlite/0002_judging_rules.sql"),
        include_str!("../../migrations/sqlite/0003_judging_queue.sql"),
    ];
    let tables = [
        "judgments",
        "runs",
        "classes",
        "rules",
        "rule_versions",
        "project_rules",
        "queue_items",
        "tellings",
        "purges",
        "operations",
    ];
    let copies =
        tables.map(|table| format!("INSERT INTO kindgi_{table} SELECT * FROM new.kindgi_{table};"));
    let counts = "INSERT INTO kindgi_queue_counts SELECT tenant, project, state, items \
                  FROM new.kindgi_queue_counts WHERE kind = '';";
    let sql = format!(
        "CREATE TABLE kindgi_schema (version BIGINT NOT NULL, name TEXT NOT NULL); \
         INSERT INTO kindgi_schema VALUES (1, '0001_judgments'), (2, '0002_judging_rules'), \
         (3, '0003_judging_queue'); {} ATTACH '{}' AS new; {} {counts} DETACH new;",
        steps.join("\n").replace("{}", "kindgi_"),
        new.file().display(),
        copies.join(" "),
    );
    let pool = old.pool().await;
    let mut connection = pool.acquire().await.unwrap();
    let made = sqlx::raw_sql(AssertSqlSafe(sql));
    made.execute(&mut *connection).await.unwrap();
    old
}

#[tokio::test]
async fn a_file_of_the_third_version_is_brought_up_to_date_and_keeps_its_receipts() {
    let new = Folder::new();
    let done = one_of_each(&new.store().await).await;
    let old = downgraded(&new).await;
    let schema = "SELECT COUNT(*) FROM sqlite_master WHERE name LIKE 'kindgi%'";
    let (old_pool, new_pool) = (old.pool().await, new.pool().await);
    assert!(number(&old_pool, schema).await < number(&new_pool, schema).await);
    let store = old.store().await;
    for schema in [
        schema,
        "SELECT COUNT(*) FROM kindgi_schema",
        "SELECT SUM(length(sql)) FROM sqlite_master WHERE name LIKE 'kindgi%'",
    ] {
        let (old, new) = (
            number(&old_pool, schema).await,
            number(&new_pool, schema).await,
        );
        assert_eq!(old, new, "{schema}");
    }
    for (id, outcome) in done {
        let known = receipt(&store, id, 0, 0).await;
        assert_eq!(known, Some(KnownOperation::Done(outcome)));
    }
    record(&store, "c", "run", "other key").await;
    let stopped = store.rule(&tenant(), &project(), &rule(1).id).await;
    assert!(stopped.unwrap().unwrap().unregistered_at.is_some());
    append_rule(&store, "later", 1).await;
    let kept = store.judgment(&tenant(), &"a".parse().unwrap()).await;
    assert!(kept.unwrap().is_some());
}
