//! Claims of idempotency keys, which begin with a statement by itself.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use kindgi_core::{
    idempotency::{Begun, Claim, Completed, IdempotencyStore, Outcome, Token},
    store::{OperationId, StoreResult},
};
use kindgi_store_sqlx::{Durability, SqlxStore};
use tokio::time::timeout;

use super::{
    invariants::assert_whole,
    support::{
        PATIENCE, cell, execute, name_of, named, open, read, record, run, session, tenant, until,
        url, waiting,
    },
};

async fn begin(store: &SqlxStore, key: &OperationId, token: &Token) -> StoreResult<Begun> {
    let tenant = tenant();
    let claim = Claim {
        tenant: &tenant,
        key,
        body: &[7; 32],
        token,
        hold: Duration::from_secs(600),
    };
    store.begin(claim).await
}

/// More claims than the pool has connections, each of a key whose row another session has changed
/// and neither keeps nor undoes.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn claims_of_rows_that_another_session_holds_are_busy_in_time_and_the_rest_goes_on() {
    let url = url();
    let store = open(&url).await;
    let (holder, late) = (Token::random(), Token::random());
    let keys: Vec<_> = (0..12).map(|n| named(&format!("key-{n}"))).collect();
    for key in &keys {
        assert_eq!(begin(&store, key, &holder).await.unwrap(), Begun::Run);
    }
    let mut other = session(&url).await;
    execute(&mut other, "BEGIN").await;
    let change = "UPDATE kindgi_idempotency_keys SET ends_at = ends_at + 1";
    execute(&mut other, change).await;
    let claims: Vec<_> = keys
        .iter()
        .map(|key| {
            let (store, key) = (store.clone(), *key);
            tokio::spawn(async move { begin(&store, &key, &late).await })
        })
        .collect();
    until("claims wait", || waiting(&url) >= 4).await;
    for round in 0..5 {
        let id = format!("id-{round}");
        record(&store, &id, "key").await.unwrap();
        assert!(read(&store, &id).await.unwrap());
    }
    for claim in &claims {
        assert!(
            !claim.is_finished(),
            "others had to wait for the claims to end"
        );
    }
    for claim in claims {
        let claimed = timeout(PATIENCE, claim).await.expect("it waits in vain");
        let error = claimed.unwrap().unwrap_err();
        assert!(error.is_busy(), "{error:?}");
    }
    let free = begin(&store, &named("free"), &late).await.unwrap();
    assert_eq!(free, Begun::Run);
    execute(&mut other, "ROLLBACK").await;
    for key in &keys {
        let again = begin(&store, key, &late).await.unwrap();
        assert!(matches!(again, Begun::InFlight { .. }), "{again:?}");
        assert_eq!(begin(&store, key, &holder).await.unwrap(), Begun::Run);
    }
}

/// A claim that found no row, in its transaction, may find that one is there by the time it comes
/// to insert it.
#[tokio::test(flavor = "multi_thread", worker_threads = 3)]
async fn tasks_of_three_nodes_that_claim_and_release_one_key_see_no_error_and_never_share_it() {
    let url = url();
    let nodes = [open(&url).await, open(&url).await, open(&url).await];
    let holders = Arc::new(AtomicUsize::new(0));
    let tasks: Vec<_> = (0..12)
        .map(|n| {
            let (store, holders) = (nodes[n % 3].clone(), Arc::clone(&holders));
            tokio::spawn(async move {
                let (key, mut ran) = (named("key"), 0);
                for _ in 0..84 {
                    let token = Token::random();
                    if begin(&store, &key, &token).await.unwrap() != Begun::Run {
                        continue;
                    }
                    ran += 1;
                    let before = holders.fetch_add(1, Ordering::SeqCst);
                    assert_eq!(before, 0, "two hold it");
                    tokio::task::yield_now().await;
                    holders.fetch_sub(1, Ordering::SeqCst);
                    assert!(store.release(&key, &token).await.unwrap());
                }
                ran
            })
        })
        .collect();
    let mut ran = 0;
    for task in tasks {
        ran += task.await.unwrap();
    }
    assert!(ran > 12, "it was held {ran} times only");
    assert_whole(&url);
}

/// Another claims the key between a transaction's look, which finds it free, and its insert.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_claim_that_is_overtaken_between_its_look_and_its_insert_is_told_of_the_other() {
    let url = url();
    let store = open(&url).await;
    let (first, second) = (Token([1; 16]), Token([2; 16]));
    let key = named("key");
    assert_eq!(begin(&store, &key, &first).await.unwrap(), Begun::Run);
    // An insert of the second's waits at a gate.
    run(
        &url,
        "CREATE FUNCTION wait() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN \
         PERFORM pg_advisory_xact_lock(42); RETURN NEW; END $$",
    );
    run(
        &url,
        "CREATE TRIGGER wait BEFORE INSERT ON kindgi_idempotency_keys FOR EACH ROW \
         WHEN (NEW.token = repeat('02', 16)) EXECUTE FUNCTION wait()",
    );
    let (mut gate, mut other) = (session(&url).await, session(&url).await);
    execute(&mut gate, "SELECT pg_advisory_lock(42)").await;
    let claiming = {
        let (store, key) = (store.clone(), key);
        tokio::spawn(async move { begin(&store, &key, &second).await })
    };
    until("the statement by itself waits", || waiting(&url) == 1).await;
    // It finds the key held; then the transaction is kept from its look.
    let keeping = tokio::spawn(async move {
        execute(&mut other, "BEGIN").await;
        let keep = "LOCK TABLE kindgi_idempotency_keys IN ACCESS EXCLUSIVE MODE";
        execute(&mut other, keep).await;
        other
    });
    until("the other session waits", || waiting(&url) == 2).await;
    execute(&mut gate, "SELECT pg_advisory_unlock(42)").await;
    let mut other = keeping.await.unwrap();
    execute(&mut gate, "SELECT pg_advisory_lock(42)").await;
    until("the look waits", || waiting(&url) == 1).await;
    execute(&mut other, "DELETE FROM kindgi_idempotency_keys").await;
    execute(&mut other, "COMMIT").await;
    // It finds the key free, and is kept from its insert.
    let at_gate = "SELECT COUNT(*) FROM pg_stat_activity WHERE datname = current_database() \
                   AND wait_event = 'advisory' AND query LIKE 'INSERT%'";
    until("the insert waits", || cell(&url, at_gate) == "1").await;
    assert_eq!(begin(&store, &key, &first).await.unwrap(), Begun::Run);
    execute(&mut gate, "SELECT pg_advisory_unlock(42)").await;
    let claimed = claiming.await.unwrap().unwrap();
    assert!(matches!(claimed, Begun::InFlight { .. }), "{claimed:?}");
}

/// What a trigger saw of the setting, of every write in turn.
fn seen(url: &str) -> String {
    let seen = "SELECT string_agg(what || ' ' || setting, ', ' ORDER BY n) FROM seen";
    cell(url, seen)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_write_is_as_durable_as_was_said_whatever_the_database_sets() {
    let lasting = Durability::Full;
    let losing = Durability::MayLoseLastWritesOnPowerLoss;
    for (set, durability, expected) in [
        ("off", lasting, "on"),
        ("local", lasting, "local"),
        ("remote_apply", lasting, "remote_apply"),
        ("on", losing, "off"),
    ] {
        let url = url();
        let alter = format!("SET synchronous_commit = {set}");
        run(&url, &format!("ALTER DATABASE {} {alter}", name_of(&url)));
        let store = SqlxStore::builder().durability(durability);
        let store = store.connect(&url).await.unwrap();
        run(
            &url,
            "CREATE TABLE seen (n INT GENERATED ALWAYS AS IDENTITY, what TEXT, setting TEXT)",
        );
        run(
            &url,
            "CREATE FUNCTION see() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN \
             INSERT INTO seen (what, setting) VALUES \
             (TG_OP, current_setting('synchronous_commit')); RETURN NULL; END $$",
        );
        for table in ["kindgi_idempotency_keys", "kindgi_judgments"] {
            let trigger = format!(
                "CREATE TRIGGER see AFTER INSERT OR UPDATE OR DELETE ON {table} \
                 FOR EACH ROW EXECUTE FUNCTION see()"
            );
            run(&url, &trigger);
        }
        let (key, token) = (named("key"), Token::random());
        assert_eq!(begin(&store, &key, &token).await.unwrap(), Begun::Run);
        let hold = Duration::from_secs(900);
        assert!(store.renew(&key, &token, hold).await.unwrap());
        record(&store, "a", "key").await.unwrap();
        let outcome = Outcome::Withheld { status: 200 };
        let done = store.complete(&key, &token, &outcome, &[], hold).await;
        assert_eq!(done.unwrap(), Completed::Kept);
        let (other, token) = (named("other"), Token::random());
        assert_eq!(begin(&store, &other, &token).await.unwrap(), Begun::Run);
        assert!(store.release(&other, &token).await.unwrap());
        let of = ["INSERT", "UPDATE", "INSERT", "UPDATE", "INSERT", "DELETE"];
        let expected = of.map(|what| format!("{what} {expected}"));
        assert_eq!(seen(&url), expected.join(", "), "set to {set}");
    }
}
