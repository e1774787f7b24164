//! Renewals of holds, against whoever goes by a hold's end: in the order of the steps, not by the
//! clock alone.

use std::{num::NonZeroU16, sync::Arc, time::Duration};

use kindgi_core::{
    ManualClock,
    idempotency::{About, Begun, Claim, Completed, IdempotencyStore, KeptAnswer, Outcome, Token},
    store::OperationId,
};
use kindgi_store_sqlx::SqlxStore;

use super::{
    invariants::assert_whole,
    support::{at, builder, execute, named, run, session, tenant, until, url, waiting},
};

/// A node whose clock stands still there.
async fn node(url: &str, millis: i64) -> SqlxStore {
    let clock = Arc::new(ManualClock::at(at(millis)));
    builder().clock(clock).connect(url).await.unwrap()
}

async fn begin(store: &SqlxStore, key: &OperationId, token: &Token) -> Begun {
    let tenant = tenant();
    let claim = Claim {
        tenant: &tenant,
        key,
        body: &[7; 32],
        token,
        hold: Duration::from_secs(1),
    };
    store.begin(claim).await.unwrap()
}

async fn renew(store: &SqlxStore, key: &OperationId, token: &Token) -> bool {
    let hold = Duration::from_secs(30);
    store.renew(key, token, hold).await.unwrap()
}

async fn complete(store: &SqlxStore, token: &Token, about: About) -> Completed {
    let outcome = Outcome::Answer(KeptAnswer {
        status: 200,
        headers: Vec::new(),
        body: "somebody's words".into(),
    });
    let (key, keep) = (named("key"), Duration::from_secs(1000));
    let about = [about];
    let completed = store.complete(&key, token, &outcome, &about, keep);
    completed.await.unwrap()
}

fn gone() -> About {
    About::Run("gone".parse().unwrap())
}

/// Has changes of keys wait at their commit, for whoever has this lock.
fn gate_commits(url: &str) {
    run(
        url,
        "CREATE FUNCTION wait() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN \
         PERFORM pg_advisory_xact_lock(42); RETURN NULL; END $$",
    );
    run(
        url,
        "CREATE CONSTRAINT TRIGGER wait AFTER UPDATE ON kindgi_idempotency_keys \
         DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION wait()",
    );
}

/// A hold from 0 to 1000 that is renewed at 500, and what another node does at 2000 while the
/// renewal comes to its commit.
async fn amid_a_renewal<T: Send + 'static>(
    url: &str,
    token: &Token,
    other: impl AsyncFnOnce(SqlxStore) -> T,
) -> (bool, T) {
    let (early, late) = (node(url, 0).await, node(url, 2000).await);
    let renewing = node(url, 500).await;
    let key = named("key");
    assert_eq!(begin(&early, &key, token).await, Begun::Run);
    gate_commits(url);
    let mut gate = session(url).await;
    execute(&mut gate, "SELECT pg_advisory_lock(42)").await;
    let token = *token;
    let renewed = tokio::spawn(async move { renew(&renewing, &named("key"), &token).await });
    until("the renewal waits", || waiting(url) == 1).await;
    let opened = async {
        until("the other node waits", || waiting(url) == 2).await;
        execute(&mut gate, "SELECT pg_advisory_unlock(42)").await;
    };
    let (came, ()) = tokio::join!(other(late), opened);
    (renewed.await.unwrap(), came)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_purge_never_removes_a_hold_that_is_being_renewed() {
    let url = url();
    let token = Token::random();
    let (renewed, purged) = amid_a_renewal(&url, &token, async |late| {
        let purged = IdempotencyStore::purge(&late, NonZeroU16::MAX).await;
        (purged.unwrap(), late)
    })
    .await;
    let (purged, late) = purged;
    assert!(renewed);
    assert_eq!(purged, 0);
    assert_eq!(complete(&late, &token, gone()).await, Completed::Kept);
    assert_whole(&url);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_forgotten_amid_a_renewal_is_kept_by_nobody() {
    let url = url();
    let token = Token::random();
    let (renewed, late) = amid_a_renewal(&url, &token, async |late| {
        late.forget(&tenant(), &gone()).await.unwrap();
        late
    })
    .await;
    assert!(renewed);
    assert_eq!(complete(&late, &token, gone()).await, Completed::Forgotten);
    assert_whole(&url);
}

/// Its hold has ended by the clock of who forgets, and is renewed by another's, which is behind.
#[tokio::test]
async fn a_request_whose_hold_has_ended_is_barred_as_well() {
    let url = url();
    let (early, late) = (node(&url, 500).await, node(&url, 2000).await);
    let (key, token) = (named("key"), Token::random());
    assert_eq!(begin(&node(&url, 0).await, &key, &token).await, Begun::Run);
    late.forget(&tenant(), &gone()).await.unwrap();
    assert_eq!(complete(&late, &token, gone()).await, Completed::NotHeld);
    assert!(renew(&early, &key, &token).await);
    assert_eq!(complete(&late, &token, gone()).await, Completed::Forgotten);
    assert_whole(&url);
}

/// The claim of another sees that the hold has ended; then the holder renews.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_key_is_never_both_renewed_and_claimed_by_another() {
    let url = url();
    let (key, first, second) = (named("key"), Token::random(), Token::random());
    assert_eq!(begin(&node(&url, 0).await, &key, &first).await, Begun::Run);
    let (renewing, claiming) = (node(&url, 500).await, node(&url, 2000).await);
    let mut gate = session(&url).await;
    execute(&mut gate, "BEGIN").await;
    let close = "LOCK TABLE kindgi_idempotency_about IN SHARE MODE";
    execute(&mut gate, close).await;
    let claimed = tokio::spawn(async move { begin(&claiming, &named("key"), &second).await });
    until("the claim waits", || waiting(&url) == 1).await;
    let renewed = tokio::spawn(async move { renew(&renewing, &named("key"), &first).await });
    until("the renewal waits or is over", || {
        waiting(&url) == 2 || renewed.is_finished()
    })
    .await;
    execute(&mut gate, "ROLLBACK").await;
    assert_eq!(claimed.await.unwrap(), Begun::Run);
    assert!(!renewed.await.unwrap(), "two hold it");
    assert_whole(&url);
}
