//! Every statement that the store makes on one database is one on the others, too: what is not
//! often run on one must not be found out by a host.

#![allow(clippy::unwrap_used, reason = "a test")]

use std::{
    collections::{BTreeMap, BTreeSet},
    num::NonZeroU16,
    sync::{Arc, Mutex},
    time::Duration,
};

use async_trait::async_trait;
use kindgi_core::{
    BoxError, ManualClock, Timestamp,
    conformance::{self, Backend, idempotency::KeyBackend},
    idempotency::{About, Begun, Claim, Completed, IdempotencyStore, Outcome, Token},
    model::{
        DismissReason, EndedRun, JudgeClass, JudgeClassId, JudgingRule, Judgment, JudgmentId,
        JudgmentWithCopies, PageSize, ParticipantId, PrincipalRef, ProjectId, QueueItem, Readable,
        RuleId, RunCopy, RunId, TenantId,
    },
    store::{
        Applied, Candidate, ClassAt, ClassCreated, ClassFilter, ClassReplaced, EnabledRules,
        ItemMoved, JudgeClassStore, JudgedRun, JudgedRunFilter, JudgingQueueStore,
        JudgingRuleStore, JudgmentFilter, JudgmentRemoved, JudgmentStore, Keyset, KnownOperation,
        Lifecycle, ListedRule, NewJudgment, Operation, OperationId, OperationStore, PurgePosition,
        Purged, QueueFilter, QueueSlice, Receipt, Recorded, Revised, RuleAppended, RuleResults,
        RuleStopped, Slice, Store, StoreResult, Taken, Write,
    },
};
use kindgi_test_servers::Postgres;
use sqlx::{
    AssertSqlSafe, Connection as _, Executor, PgConnection, SqlSafeStr, SqliteConnection, Type,
    postgres::{PgTypeInfo, types::Oid},
};

use super::SqlxStore;
use crate::{
    dialect::Dialect,
    drivers::{Connection, Database, postgres},
    error::DbError,
    lock::Lock,
    sql::{Cell, Row, Sql},
    writer::Work,
};

/// Statements by their text, and which methods were called.
#[derive(Default)]
struct Seen {
    statements: Mutex<BTreeMap<String, Sql>>,
    methods: Mutex<BTreeSet<&'static str>>,
}

impl Seen {
    fn see(&self, sql: &Sql) {
        let mut statements = self.statements.lock().unwrap();
        statements.entry(sql.text.clone()).or_insert(sql.clone());
    }
}

/// A database that keeps the statements that it is given.
struct Recording {
    database: Arc<dyn Database>,
    /// How the statements are to be.
    dialect: &'static Dialect,
    seen: Arc<Seen>,
}

#[async_trait]
impl Database for Recording {
    fn dialect(&self) -> &'static Dialect {
        self.dialect
    }

    async fn read(&self, sql: &Sql) -> Result<Vec<Row>, DbError> {
        self.seen.see(sql);
        self.database.read(sql).await
    }

    fn write(&self, lock: Lock, work: Box<dyn Work>) {
        let seen = Arc::clone(&self.seen);
        self.database.write(lock, Box::new(Recorder { work, seen }));
    }

    async fn settle(&self) {
        self.database.settle().await;
    }

    async fn close(&self) {
        self.database.close().await;
    }
}

struct Recorder {
    work: Box<dyn Work>,
    seen: Arc<Seen>,
}

#[async_trait]
impl Work for Recorder {
    async fn run(&mut self, connection: &mut dyn Connection) -> Result<(), DbError> {
        let seen = &*self.seen;
        let mut recorded = RecordedConnection { connection, seen };
        self.work.run(&mut recorded).await
    }

    fn answer(self: Box<Self>, fate: Result<(), DbError>) {
        self.work.answer(fate);
    }
}

struct RecordedConnection<'c> {
    connection: &'c mut dyn Connection,
    seen: &'c Seen,
}

#[async_trait]
impl Connection for RecordedConnection<'_> {
    async fn execute(&mut self, sql: &Sql) -> Result<u64, DbError> {
        self.seen.see(sql);
        self.connection.execute(sql).await
    }

    async fn fetch(&mut self, sql: &Sql) -> Result<Vec<Row>, DbError> {
        self.seen.see(sql);
        self.connection.fetch(sql).await
    }

    async fn together(&mut self, all: &[Sql]) -> Result<(), DbError> {
        all.iter().for_each(|sql| self.seen.see(sql));
        self.connection.together(all).await
    }
}

/// A store that says which methods were called.
struct Calls {
    store: SqlxStore,
    seen: Arc<Seen>,
}

/// The same trait for [`Calls`], and the names of all that it has.
macro_rules! calls {
    ($($trait:ident {$(
        $name:ident($($arg:ident: [$($type:tt)*]),*) -> [$($gives:tt)*];
    )*})*) => {
        $(#[async_trait]
        impl $trait for Calls {$(
            async fn $name(&self, $($arg: $($type)*),*) -> StoreResult<$($gives)*> {
                let name = concat!(stringify!($trait), "::", stringify!($name));
                self.seen.methods.lock().unwrap().insert(name);
                $trait::$name(&self.store, $($arg),*).await
            }
        )*})*

        const METHODS: &[&str] = &[
            $($(concat!(stringify!($trait), "::", stringify!($name)),)*)*
        ];
    };
}

calls! {
    JudgmentStore {
        record(
            write: [Write<'_>], new: [&NewJudgment], copy: [Option<&RunCopy>],
            class: [Option<ClassAt<'_>>]
        ) -> [Applied<Recorded>];
        remove(write: [Write<'_>], id: [&JudgmentId]) -> [Applied<JudgmentRemoved>];
        judgment(tenant: [&TenantId], id: [&JudgmentId]) -> [Option<JudgmentWithCopies>];
        judgments(
            tenant: [&TenantId], filter: [&JudgmentFilter], readable: [&Readable],
            keyset: [&Keyset]
        ) -> [Slice<Judgment>];
    }
    JudgeClassStore {
        create_class(write: [Write<'_>], class: [&JudgeClass]) -> [Applied<ClassCreated>];
        replace_class(
            write: [Write<'_>], at: [u64], next: [&JudgeClass]
        ) -> [Applied<ClassReplaced>];
        class(tenant: [&TenantId], id: [&JudgeClassId]) -> [Option<Revised<JudgeClass>>];
        classes(
            tenant: [&TenantId], filter: [&ClassFilter], readable: [&Readable], keyset: [&Keyset]
        ) -> [Slice<JudgeClass>];
    }
    JudgingRuleStore {
        append_rule_version(
            write: [Write<'_>], next: [&JudgingRule], class: [Option<ClassAt<'_>>]
        ) -> [Applied<RuleAppended>];
        stop_rule(
            write: [Write<'_>], project: [&ProjectId], id: [&RuleId]
        ) -> [Applied<RuleStopped>];
        rule(
            tenant: [&TenantId], project: [&ProjectId], id: [&RuleId]
        ) -> [Option<JudgingRule>];
        rules(
            tenant: [&TenantId], project: [&ProjectId], keyset: [&Keyset]
        ) -> [Slice<ListedRule>];
        rule_versions(
            tenant: [&TenantId], project: [&ProjectId], id: [&RuleId], before: [Option<u32>],
            limit: [PageSize]
        ) -> [Option<Slice<JudgingRule>>];
        enabled_rules(tenant: [&TenantId], project: [&ProjectId]) -> [EnabledRules];
        wanted_classes(tenant: [&TenantId], project: [&ProjectId]) -> [Vec<JudgeClass>];
    }
    JudgingQueueStore {
        take(
            write: [Write<'_>], run: [&EndedRun], rules: [u64], candidates: [&[Candidate]]
        ) -> [Taken];
        dismiss(
            write: [Write<'_>], project: [&ProjectId], run: [&RunId], by: [&PrincipalRef],
            reason: [Option<&DismissReason>]
        ) -> [Applied<ItemMoved>];
        reopen(
            write: [Write<'_>], project: [&ProjectId], run: [&RunId], by: [&PrincipalRef]
        ) -> [Applied<ItemMoved>];
        queue_item(
            tenant: [&TenantId], project: [&ProjectId], run: [&RunId]
        ) -> [Option<QueueItem>];
        queue(
            tenant: [&TenantId], project: [&ProjectId], filter: [&QueueFilter],
            keyset: [Option<&Keyset>]
        ) -> [QueueSlice];
        rule_results(
            tenant: [&TenantId], project: [&ProjectId], rule: [&RuleId],
            since: [Option<Timestamp>]
        ) -> [Option<RuleResults>];
    }
    OperationStore {
        receipt(
            tenant: [&TenantId], now: [Timestamp], operation: [Operation<'_>]
        ) -> [Option<KnownOperation>];
        keep(write: [Write<'_>], receipt: [&Receipt]) -> [Applied<Receipt>];
    }
    Lifecycle {
        erase_run(write: [Write<'_>], run: [&RunId]) -> [()];
        is_erased(tenant: [&TenantId], run: [&RunId]) -> [bool];
        erase_participant(
            write: [Write<'_>], participant: [&ParticipantId], pseudonym: [&ParticipantId]
        ) -> [u64];
        purge(
            write: [Write<'_>], before: [Timestamp], from: [Option<&PurgePosition>],
            limit: [NonZeroU16]
        ) -> [Purged];
        judged_runs(
            tenant: [&TenantId], filter: [&JudgedRunFilter], keyset: [&Keyset]
        ) -> [Slice<JudgedRun>];
    }
    IdempotencyStore {
        begin(claim: [Claim<'_>]) -> [Begun];
        renew(key: [&OperationId], token: [&Token], hold: [Duration]) -> [bool];
        complete(
            key: [&OperationId], token: [&Token], outcome: [&Outcome], about: [&[About]],
            keep: [Duration]
        ) -> [Completed];
        release(key: [&OperationId], token: [&Token]) -> [bool];
        forget(tenant: [&TenantId], about: [&About]) -> [()];
        purge(limit: [NonZeroU16]) -> [u64];
    }
}

/// Stores on the database of a URL, with the statements of one dialect.
struct Place {
    url: String,
    dialect: &'static Dialect,
    seen: Arc<Seen>,
}

impl Place {
    async fn store(&self, clock: Option<Arc<ManualClock>>) -> Result<Calls, BoxError> {
        let mut builder = SqlxStore::builder();
        if let Some(clock) = clock {
            builder = builder.clock(clock);
        }
        let mut store = builder.connect(&self.url).await?;
        let seen = Arc::clone(&self.seen);
        store.database = Arc::new(Recording {
            database: store.database,
            dialect: self.dialect,
            seen: Arc::clone(&seen),
        });
        Ok(Calls { store, seen })
    }
}

impl Backend for Place {
    type Guard = ();

    async fn build(&self) -> Result<(Self::Guard, Arc<dyn Store>), BoxError> {
        Ok(((), Arc::new(self.store(None).await?)))
    }

    async fn reopen(&self, _: &mut (), store: Arc<dyn Store>) -> Result<Arc<dyn Store>, BoxError> {
        drop(store);
        Ok(Arc::new(self.store(None).await?))
    }
}

impl KeyBackend for Place {
    type Guard = ();

    async fn build(
        &self,
        clock: Arc<ManualClock>,
    ) -> Result<(Self::Guard, Arc<dyn IdempotencyStore>), BoxError> {
        Ok(((), Arc::new(self.store(Some(clock)).await?)))
    }
}

/// Keeps a receipt, which no law does.
async fn keep(place: &Place) {
    let store = place.store(None).await.unwrap();
    let tenant = "acme".parse().unwrap();
    let now = Timestamp::UNIX_EPOCH;
    let operation = Operation {
        id: &OperationId([7; 32]),
        body: &[0; 32],
        keep_until: now.saturating_add_millis(1000),
    };
    let write = Write {
        tenant: &tenant,
        now,
        operation: Some(operation),
    };
    let receipt = Receipt::JudgmentRemoved(JudgmentRemoved::NotLive);
    let kept = store.keep(write, &receipt).await.unwrap();
    assert_eq!(kept, Applied::Done(receipt.clone()));
    let known = store.receipt(&tenant, now, operation).await.unwrap();
    assert_eq!(known, Some(KnownOperation::Done(receipt)));
}

/// Makes the statements of all methods in all their cases.
fn run(url: &str, dialect: &'static Dialect) -> Vec<Sql> {
    use conformance::{idempotency::laws as of_keys, laws};
    let recorded = Place {
        url: url.to_owned(),
        dialect,
        seen: Arc::default(),
    };
    laws::answers_equal_the_model(&recorded).unwrap();
    laws::a_list_shows_readable_projects_alone(&recorded).unwrap();
    laws::walking_a_list_yields_every_row_once_in_order(&recorded).unwrap();
    laws::walking_rules_and_versions_yields_every_row_once_in_order(&recorded).unwrap();
    laws::walking_the_queue_yields_every_item_once_in_order(&recorded).unwrap();
    laws::walking_judged_runs_yields_every_run_once_in_order(&recorded).unwrap();
    laws::a_purge_moves_the_items_that_stay(&recorded).unwrap();
    laws::nothing_of_an_erased_participant_can_be_read(&recorded).unwrap();
    laws::nothing_of_an_erased_run_can_be_read(&recorded).unwrap();
    of_keys::answers_equal_the_model(&recorded).unwrap();
    of_keys::a_purge_removes_only_what_ended(&recorded).unwrap();
    runtime().block_on(keep(&recorded));
    let methods = recorded.seen.methods.lock().unwrap().clone();
    let missing = METHODS.iter().filter(|name| !methods.contains(*name));
    assert_eq!(missing.collect::<Vec<_>>(), [&""; 0], "not called");
    let statements = recorded.seen.statements.lock().unwrap();
    assert!(statements.len() > 100, "{}", statements.len());
    statements.values().cloned().collect()
}

fn files() -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let url = format!("sqlite:{}", folder.path().join("test.db").display());
    (folder, url)
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Runtime::new().unwrap()
}

/// `$1` for the first `?`, and so on.
fn numbered(text: &str) -> String {
    let mut number = 0;
    let characters = text.chars().map(|c| match c {
        '?' => {
            number += 1;
            format!("${number}")
        }
        other => other.to_string(),
    });
    characters.collect()
}

#[test]
fn postgres_takes_every_statement_that_is_made_on_sqlite() {
    let (_folder, url) = files();
    // SQLite takes what PostgreSQL says of indexes, and not the other way round.
    let statements = run(&url, &postgres::DIALECT);
    let url = Postgres::shared().fresh_database();
    runtime().block_on(async {
        SqlxStore::builder().connect(&url).await.unwrap();
        let mut connection = PgConnection::connect(&url).await.unwrap();
        for sql in statements {
            let kinds = sql.args.iter().map(|arg| match arg {
                Cell::Null => PgTypeInfo::with_oid(Oid(705)),
                Cell::Int(_) => <i64 as Type<sqlx::Postgres>>::type_info(),
                Cell::Text(_) => <str as Type<sqlx::Postgres>>::type_info(),
            });
            let kinds = kinds.collect::<Vec<_>>();
            let text = AssertSqlSafe(numbered(&sql.text)).into_sql_str();
            let prepared = connection.prepare_with(text, &kinds).await;
            assert!(prepared.is_ok(), "{}: {:?}", sql.text, prepared.err());
        }
    });
}

#[test]
fn what_is_made_on_postgres_sqlite_takes() {
    let statements = run(&Postgres::shared().fresh_database(), &postgres::DIALECT);
    let (_folder, url) = files();
    runtime().block_on(async {
        SqlxStore::builder().connect(&url).await.unwrap();
        let mut connection = SqliteConnection::connect(&url).await.unwrap();
        for sql in statements {
            // SQLite has no schemas.
            let text = sql.text.replace("\"public\".", "");
            let text = AssertSqlSafe(text).into_sql_str();
            let prepared = connection.prepare(text).await;
            assert!(prepared.is_ok(), "{}: {:?}", sql.text, prepared.err());
        }
    });
}
