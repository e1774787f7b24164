//! A file of the schema's second version, from before there was a queue.

use kindgi_core::{
    json::RawJson,
    model::{JudgingRule, PageSize, RunContext},
    store::{
        Applied, Candidate, EnabledRules, JudgedRunFilter, JudgingQueueStore, JudgingRuleStore,
        JudgmentStore, Keyset, Lifecycle, Operation, OperationId, Recorded, Taken, Write,
    },
};
use kindgi_store_sqlx::SqlxStore;
use sqlx::AssertSqlSafe;

use crate::support::{Folder, append_rule, at, judgment, record, tenant};

/// Copies all that the second version had, column by column.
const COPY: [(&str, &str); 5] = [
    (
        "judgments",
        "tenant, id, project, run, subject_kind, subject_id, version, item_key, \
      pointer, item_rank, verdict, reason, correction, class, restricted, author_kind, author_id, \
      participant, created_at, unregistered_at, superseded_by, item_value, live_key",
    ),
    (
        "runs",
        "tenant, run, erased, subject_kind, subject_id, version, input, output, context, \
      segments, captured_at",
    ),
    (
        "rules",
        "tenant, id, project, latest_version, first_created_at, unregistered_at",
    ),
    (
        "rule_versions",
        "tenant, rule, version, name, matching, sample, max_open, class, enabled, \
      created_by, created_at",
    ),
    (
        "operations",
        "tenant, id, body, kind, outcome, run, keep_until",
    ),
];

/// A file of the second version with the rows of a file of now.
async fn downgraded(new: &Folder) -> Folder {
    let old = Folder::new();
    let steps = [
        include_str!("../../migrations/sqlite/0001_judgments.sql"),
        include_str!("../../migrations/sqlite/0002_judging_rules.sql"),
    ];
    let copies = COPY.map(|(table, columns)| {
        format!("INSERT INTO kindgi_{table} ({columns}) SELECT {columns} FROM new.kindgi_{table};")
    });
    let sql = format!(
        "CREATE TABLE kindgi_schema (version BIGINT NOT NULL, name TEXT NOT NULL); \
         INSERT INTO kindgi_schema VALUES (1, '0001_judgments'), (2, '0002_judging_rules'); \
         {} ATTACH '{}' AS new; {} DETACH new;",
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

fn page() -> Keyset {
    Keyset {
        after: None,
        limit: PageSize::default(),
    }
}

async fn judged(store: &SqlxStore) -> Vec<(String, String)> {
    let found = store
        .judged_runs(&tenant(), &JudgedRunFilter::default(), &page())
        .await;
    let found = found.unwrap().rows.into_iter();
    found
        .map(|run| (run.copy.run.to_string(), run.project.to_string()))
        .collect()
}

#[tokio::test]
async fn its_runs_are_judged_runs_of_their_first_judgments_project_except_replays() {
    let new = Folder::new();
    let store = new.store().await;
    record(&store, "z", "run", "key").await;
    let tenant = tenant();
    let write = Write {
        tenant: &tenant,
        now: at(0),
        operation: None,
    };
    // A later judgment's id and instant may come first.
    let (mut later, copy) = judgment("a", "run", "other");
    later.judgment.project = "elsewhere".parse().unwrap();
    later.judgment.created_at = at(-5);
    store
        .record(write, &later, Some(&copy), None)
        .await
        .unwrap();
    let contexts = [
        ("replay", r#"{"retrieved":1,"replayOf":"run"}"#),
        ("mentions", r#"{"retrieved":{"replayOf":"run"}}"#),
        ("empty", "{}"),
    ];
    for (run, context) in contexts {
        let (new, mut copy) = judgment(run, run, "key");
        let context = RawJson::parse(context).unwrap();
        copy.context = Some(RunContext::parse(&context).unwrap());
        store.record(write, &new, Some(&copy), None).await.unwrap();
    }
    store
        .erase_run(write, &"never-judged".parse().unwrap())
        .await
        .unwrap();
    let here = |run: &str| (run.to_owned(), "project".to_owned());
    let all = [here("run"), here("mentions"), here("empty")];
    assert_eq!(judged(&store).await, all);

    let old = downgraded(&new).await;
    assert_eq!(judged(&old.store().await).await, all);
}

#[tokio::test]
async fn its_rules_take_runs_and_their_classes_are_wanted() {
    let new = Folder::new();
    let store = new.store().await;
    append_rule(&store, "rule", 1).await;
    let latest: JudgingRule = append_rule(&store, "rule", 2).await;
    let old = downgraded(&new).await;
    let store = old.store().await;
    let tenant = tenant();
    let project = &latest.project;
    let enabled = store.enabled_rules(&tenant, project).await.unwrap();
    let EnabledRules { revision, rules } = enabled;
    assert!(revision > 0);
    assert_eq!(rules, std::slice::from_ref(&latest));
    let write = Write {
        tenant: &tenant,
        now: at(0),
        operation: None,
    };
    let (_, copy) = judgment("a", "run", "key");
    let ended = kindgi_core::model::EndedRun::new(copy.run, project.clone(), copy.subject, at(0));
    let candidates = [Candidate::from(&latest)];
    let taken = store
        .take(write, &ended, revision, &candidates)
        .await
        .unwrap();
    let Taken::Queued(item) = taken else {
        panic!("{taken:?}");
    };
    let queue = store
        .queue(&tenant, project, &Default::default(), Some(&page()))
        .await
        .unwrap();
    assert_eq!((queue.slice.rows, queue.total), (vec![*item], 1));
    append_rule(&store, "rule", 3).await;
    let changed = store
        .take(write, &ended, revision, &candidates)
        .await
        .unwrap();
    assert_eq!(changed, Taken::Known);
    let moved = store
        .enabled_rules(&tenant, project)
        .await
        .unwrap()
        .revision;
    assert_ne!(moved, revision);
}

#[tokio::test]
async fn its_kept_outcomes_tell_nothing_of_an_erased_participant() {
    let new = Folder::new();
    let store = new.store().await;
    let tenant = tenant();
    let (id, body) = (OperationId([7; 32]), [0; 32]);
    let operation = Some(Operation {
        id: &id,
        body: &body,
        keep_until: at(1000),
    });
    let write = Write {
        tenant: &tenant,
        now: at(0),
        operation,
    };
    let (mut judged, copy) = judgment("a", "run", "key");
    judged.judgment.participant = Some("grace".parse().unwrap());
    judged.judgment.reason = Some("because".parse().unwrap());
    store
        .record(write, &judged, Some(&copy), None)
        .await
        .unwrap();
    let old = downgraded(&new).await;
    let store = old.store().await;
    let erasing = Write {
        operation: None,
        ..write
    };
    let (grace, nobody) = ("grace".parse().unwrap(), "nobody".parse().unwrap());
    let changed = store.erase_participant(erasing, &grace, &nobody).await;
    assert_eq!(changed.unwrap(), 1);
    let again = store
        .record(write, &judged, Some(&copy), None)
        .await
        .unwrap();
    let Applied::Replayed(Recorded::Ok { judgment, .. }) = again else {
        panic!("{again:?}");
    };
    assert_eq!(judgment.participant, Some(nobody));
    assert_eq!(judgment.reason, None);
}
