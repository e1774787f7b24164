//! Databases of a test's own, what to put into them, and what to wait for.

#[path = "../made/mod.rs"]
mod made;

use std::{
    future::Future,
    pin::{Pin, pin},
    task::{Context, Poll, Waker},
    time::{Duration, Instant},
};

use kindgi_core::{
    model::{EndedRun, JudgingRule, JudgmentId, ProjectId, RuleWhen, Sample, TenantId},
    store::{Applied, JudgmentStore, Operation, OperationId, Recorded, StoreResult, Write},
};
use kindgi_store_sqlx::{Durability, SqlxStore, SqlxStoreBuilder};
use kindgi_test_servers::Postgres;
use sqlx::{
    PgConnection, PgPool,
    postgres::{PgConnectOptions, PgPoolOptions},
};

pub(crate) use made::{at, judgment, tenant};

/// How long anything may take before it counts as failed.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// A new database on the server of this process.
pub(crate) fn url() -> String {
    Postgres::shared().fresh_database()
}

/// The database's name in a URL.
pub(crate) fn name_of(url: &str) -> &str {
    url.rsplit_once('/').unwrap().1
}

/// What a statement of the test's own answers, as one cell, on a connection of its own.
pub(crate) fn cell(url: &str, sql: &str) -> String {
    cell_on(Postgres::shared(), url, sql)
}

pub(crate) fn cell_on(server: &Postgres, url: &str, sql: &str) -> String {
    let rows = server.query(name_of(url), sql);
    let cell = rows
        .into_iter()
        .next()
        .and_then(|row| row.into_iter().next());
    cell.flatten().unwrap_or_default()
}

/// Does a statement of the test's own.
pub(crate) fn run(url: &str, sql: &str) {
    Postgres::shared().query(name_of(url), sql);
}

/// Nobody pulls the plug.
pub(crate) fn builder() -> SqlxStoreBuilder {
    SqlxStore::builder().durability(Durability::MayLoseLastWritesOnPowerLoss)
}

pub(crate) async fn open(url: &str) -> SqlxStore {
    builder().connect(url).await.unwrap()
}

/// A pool like the store's own, which hands out connections without a look at them.
pub(crate) async fn pool(url: &str, connections: u32) -> PgPool {
    let options = PgPoolOptions::new().max_connections(connections);
    let options = options.test_before_acquire(false);
    options.connect(url).await.unwrap()
}

/// A session of somebody else's, whose deadlocks are the other's to find.
pub(crate) async fn session(url: &str) -> PgConnection {
    let options: PgConnectOptions = url.parse().unwrap();
    let options = options.options([("deadlock_timeout", "1h")]);
    <PgConnection as sqlx::Connection>::connect_with(&options)
        .await
        .unwrap()
}

pub(crate) async fn execute(session: &mut PgConnection, sql: &'static str) {
    sqlx::raw_sql(sql).execute(session).await.unwrap();
}

pub(crate) fn project() -> ProjectId {
    "project".parse().unwrap()
}

/// A write of no operation.
pub(crate) fn write(tenant: &TenantId) -> Write<'_> {
    Write {
        tenant,
        now: at(0),
        operation: None,
    }
}

/// The id of an operation that has this name.
pub(crate) fn named(name: &str) -> OperationId {
    let mut id = [0; 32];
    for (at, byte) in name.bytes().enumerate() {
        id[at % 32] ^= byte.rotate_left(at as u32 / 32);
    }
    OperationId(id)
}

/// An operation that is kept for longer than any test lasts.
pub(crate) fn operation(id: &OperationId) -> Operation<'_> {
    Operation {
        id,
        body: &[7; 32],
        keep_until: at(1_000_000_000),
    }
}

/// Records a judgment of the default run.
pub(crate) async fn record(store: &SqlxStore, id: &str, key: &str) -> StoreResult<JudgmentId> {
    record_of(store, &tenant(), id, key, None).await
}

/// Records a judgment of any tenant, perhaps as an operation; gives the id that is answered.
pub(crate) async fn record_of(
    store: &SqlxStore,
    tenant: &TenantId,
    id: &str,
    key: &str,
    operation: Option<Operation<'_>>,
) -> StoreResult<JudgmentId> {
    let (mut new, copy) = judgment(id, "run", key);
    new.judgment.tenant = tenant.clone();
    let write = Write {
        operation,
        ..write(tenant)
    };
    match store.record(write, &new, Some(&copy), None).await? {
        Applied::Done(Recorded::Ok { judgment, .. })
        | Applied::Replayed(Recorded::Ok { judgment, .. }) => Ok(judgment.id),
        other => panic!("{other:?}"),
    }
}

pub(crate) async fn read(store: &SqlxStore, id: &str) -> StoreResult<bool> {
    let found = store.judgment(&tenant(), &id.parse().unwrap()).await?;
    Ok(found.is_some())
}

pub(crate) fn rule(id: &str, version: u32) -> JudgingRule {
    JudgingRule {
        id: id.parse().unwrap(),
        tenant: tenant(),
        project: project(),
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
    }
}

pub(crate) fn ended(run: &str) -> EndedRun {
    let subject = judgment("id", run, "key").0.judgment.subject;
    EndedRun::new(run.parse().unwrap(), project(), subject, at(0))
}

/// Numbers that look random: xorshift.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub(crate) fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 20).unwrap() % end
    }
}

/// Polls a future so many times, letting others go on between, and drops it; what it gave, if it
/// was done.
pub(crate) async fn poll_then_drop<T>(future: impl Future<Output = T>, times: usize) -> Option<T> {
    let mut future = pin!(future);
    for _ in 0..times {
        if let Poll::Ready(value) = poll_once(future.as_mut()) {
            return Some(value);
        }
        tokio::task::yield_now().await;
    }
    None
}

fn poll_once<T>(future: Pin<&mut impl Future<Output = T>>) -> Poll<T> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

/// Waits until a condition holds.
pub(crate) async fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let began = Instant::now();
    while !holds() {
        assert!(began.elapsed() < PATIENCE, "waited in vain until {what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// How many of the database's sessions wait for a lock.
pub(crate) fn waiting(url: &str) -> usize {
    let waiting = "SELECT COUNT(*) FROM pg_stat_activity \
                   WHERE datname = current_database() AND wait_event_type = 'Lock'";
    cell(url, waiting).parse().unwrap()
}

/// Waits until so many of them do.
pub(crate) async fn until_waiting(url: &str, sessions: usize) {
    until("a session waits", || waiting(url) == sessions).await;
}

/// Waits until no other session of the database does anything, and none is in a transaction.
pub(crate) async fn until_idle(url: &str) {
    let busy = "SELECT COUNT(*) FROM pg_stat_activity WHERE datname = current_database() \
                AND pid <> pg_backend_pid() AND backend_type = 'client backend' \
                AND state <> 'idle'";
    until("all are idle", || cell(url, busy) == "0").await;
}

/// Every connection of a pool works, in no transaction, and none has a lock or a setting left.
pub(crate) async fn assert_pool_is_whole(url: &str, pool: &PgPool) {
    let mut connections = Vec::new();
    for _ in 0..pool.options().get_max_connections() {
        connections.push(pool.acquire().await.unwrap());
    }
    for connection in &mut connections {
        let sql = "SELECT current_setting('lock_timeout') = '0' AND NOT EXISTS \
                   (SELECT 1 FROM pg_locks WHERE pid = pg_backend_pid() AND locktype = 'advisory')";
        let whole: bool = sqlx::query_scalar(sql)
            .fetch_one(&mut **connection)
            .await
            .unwrap();
        assert!(whole, "something is left of a transaction");
    }
    until_idle(url).await;
}
