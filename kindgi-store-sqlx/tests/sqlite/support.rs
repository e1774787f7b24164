//! Stores in folders of their own, and judgments to put into them.

#[path = "../made/mod.rs"]
mod made;
#[path = "../made/migrated.rs"]
mod migrated;

use std::path::PathBuf;

use kindgi_core::{
    model::{JudgingRule, JudgmentId, RuleWhen, Sample},
    store::{Applied, JudgingRuleStore, JudgmentStore, Keyset, Recorded, RuleAppended, Write},
};
use kindgi_store_sqlx::{Durability, SqlxStore, SqlxStoreBuilder};
use sqlx::{SqlitePool, sqlite::SqliteConnectOptions};
use tempfile::TempDir;

pub(crate) use made::{at, judgment, tenant};
pub(crate) use migrated::{fills, judgments_with_segments};

pub(crate) struct Folder(TempDir);

impl Folder {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub(crate) fn file(&self) -> PathBuf {
        self.0.path().join("test.db")
    }

    pub(crate) fn url(&self) -> String {
        format!("sqlite:{}", self.file().display())
    }

    pub(crate) async fn store(&self) -> SqlxStore {
        builder().connect(&self.url()).await.unwrap()
    }

    /// A pool of the test's own on the file.
    pub(crate) async fn pool(&self) -> SqlitePool {
        let options = SqliteConnectOptions::new()
            .filename(self.file())
            .create_if_missing(true);
        SqlitePool::connect_with(options).await.unwrap()
    }
}

/// Words that no file has but by a test.
pub(crate) const SECRET: &str = "nobody may read this again";

/// Whether the database's file or its log has the words, as text or in hex.
pub(crate) fn holds_secret(folder: &Folder) -> bool {
    let file = folder.file();
    let log = file.with_extension("db-wal");
    let hex: String = SECRET.bytes().map(|byte| format!("{byte:02x}")).collect();
    [file, log].iter().any(|file| {
        let bytes = std::fs::read(file).unwrap_or_default();
        [SECRET, &hex].iter().any(|words| {
            let mut windows = bytes.windows(words.len());
            windows.any(|window| window == words.as_bytes())
        })
    })
}

/// How many steps the schema has.
pub(crate) const STEPS: i64 = 6;

/// Nobody pulls the plug, unless a test says so.
pub(crate) fn builder() -> SqlxStoreBuilder {
    SqlxStore::builder().durability(Durability::MayCorruptOnPowerLoss)
}

/// Records a judgment that nothing stands against.
pub(crate) async fn record(
    store: &SqlxStore,
    id: &str,
    run: &str,
    key: &str,
) -> Option<JudgmentId> {
    let (new, copy) = judgment(id, run, key);
    let tenant = tenant();
    let write = Write {
        tenant: &tenant,
        now: at(0),
        operation: None,
    };
    match store.record(write, &new, Some(&copy), None).await.unwrap() {
        Applied::Done(Recorded::Ok { superseded, .. }) => superseded,
        other => panic!("{other:?}"),
    }
}

/// Appends a version to rule `id`, which has the one before, or creates it.
pub(crate) async fn append_rule(store: &SqlxStore, id: &str, version: u32) -> JudgingRule {
    let rule = JudgingRule {
        id: id.parse().unwrap(),
        tenant: tenant(),
        project: "project".parse().unwrap(),
        version,
        name: "every answer".parse().unwrap(),
        when: RuleWhen::default(),
        sample: Sample::ALL,
        max_open: None,
        class: None,
        enabled: true,
        created_by: None,
        created_at: at(0),
        unregistered_at: None,
    };
    let write = Write {
        tenant: &tenant(),
        now: at(0),
        operation: None,
    };
    let appended = store.append_rule_version(write, &rule, None).await.unwrap();
    let stored = RuleAppended::Ok(Box::new(rule.clone()));
    assert_eq!(appended, Applied::Done(stored));
    rule
}

/// The ids of all live judgments, and of all that one file holds by a look of the test's own.
pub(crate) async fn live(store: &SqlxStore) -> Vec<String> {
    let mut ids = Vec::new();
    let mut after = None;
    loop {
        let keyset = Keyset {
            after,
            limit: Default::default(),
        };
        let all = kindgi_core::model::Readable::All;
        let page = store
            .judgments(&tenant(), &Default::default(), &all, &keyset)
            .await
            .unwrap();
        ids.extend(page.rows.iter().map(|row| row.id.to_string()));
        let Some(last) = page.rows.last().filter(|_| page.more) else {
            return ids;
        };
        after = Some(kindgi_core::model::Position {
            at: last.created_at,
            id: last.id.as_str().into(),
        });
    }
}

/// What one statement of the test's own says, as one number.
pub(crate) async fn number(pool: &SqlitePool, sql: &'static str) -> i64 {
    sqlx::query_scalar(sql).fetch_one(pool).await.unwrap()
}

/// Every judgment is live or ended by a successor that is there, at most one lives for each key,
/// and from each first one an unbroken chain leads to the live one: for a file into which only
/// judgments were recorded.
pub(crate) async fn assert_unbroken_chains(pool: &SqlitePool) {
    let open = "SELECT COUNT(*) FROM kindgi_judgments j WHERE unregistered_at IS NOT NULL AND \
                NOT EXISTS (SELECT 1 FROM kindgi_judgments s WHERE s.tenant = j.tenant \
                AND s.id = j.superseded_by AND s.run = j.run AND s.item_key = j.item_key \
                AND s.created_at = j.unregistered_at)";
    assert_eq!(number(pool, open).await, 0, "a chain is broken");
    let forks = "SELECT COUNT(*) FROM (SELECT superseded_by FROM kindgi_judgments \
                 WHERE superseded_by IS NOT NULL GROUP BY tenant, superseded_by \
                 HAVING COUNT(*) > 1)";
    assert_eq!(number(pool, forks).await, 0, "a chain forks");
    let keys = "SELECT COUNT(*) FROM (SELECT DISTINCT tenant, run, item_key FROM kindgi_judgments)";
    let live = "SELECT COUNT(*) FROM kindgi_judgments WHERE unregistered_at IS NULL";
    assert_eq!(
        number(pool, keys).await,
        number(pool, live).await,
        "one lives for each key"
    );
}
