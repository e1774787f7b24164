//! Connections that break at every message of a write: it takes effect once, and who isn't sure of
//! that is told so.

use kindgi_core::{
    StoreError,
    idempotency::{Begun, Claim, Completed, HOLD, IdempotencyStore, KEEP, Outcome, Token},
    store::{
        Applied, ItemMoved, JudgingQueueStore, JudgingRuleStore, RuleAppended, StoreResult, Taken,
        Write,
    },
};
use kindgi_store_sqlx::SqlxStore;
use sqlx::PgPool;

use super::{
    invariants::assert_whole,
    proxy::{During, How, Proxy},
    support::{
        assert_pool_is_whole, builder, cell, ended, named, open, operation, pool, project, read,
        record, record_of, rule, tenant, until, until_idle, url, write,
    },
};

const ALL: [How; 3] = [How::Lost, How::Unanswered, How::Halved];

/// What a call came to, the first time and when it was repeated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Came {
    /// It took effect now.
    Now,
    /// It had taken effect.
    Before,
}

impl<T> From<Applied<T>> for Came {
    fn from(applied: Applied<T>) -> Self {
        match applied {
            Applied::Done(_) => Self::Now,
            Applied::Replayed(_) => Self::Before,
            Applied::OtherBody => panic!("the body is the same"),
        }
    }
}

/// An error that doesn't say whether the write took effect, and says that.
#[track_caller]
fn assert_unsure(error: &StoreError) {
    assert!(
        !error.is_busy(),
        "busy means that nothing was written: {error:?}"
    );
    let text = format!("{error:?}");
    assert!(
        text.contains("it isn't known whether it took effect"),
        "{text}"
    );
}

/// Makes a call of a new name, cutting at the first message, then another, cutting at the second,
/// and so on, until there is nothing to cut; and repeats each. Gives how many were cut at their
/// commit.
async fn cut_everywhere(
    (proxy, pool): (&Proxy, &PgPool),
    how: How,
    mut before: impl AsyncFnMut(&str),
    mut call: impl AsyncFnMut(&str) -> StoreResult<Came>,
    mut effects: impl FnMut(&str) -> String,
) -> usize {
    let mut at_commit = 0;
    for nth in 1.. {
        let name = format!("{how:?}-{nth}");
        before(&name).await;
        before(&format!("warm-{name}")).await;
        // So that what is prepared once for each connection is prepared, and the same messages come.
        call(&format!("warm-{name}")).await.unwrap();
        until("the connection is back", || pool.num_idle() == 1).await;
        proxy.cut(how, nth);
        let first = call(&name).await;
        let cut = proxy.cut_no_more();
        match cut {
            Some(During::Commit) => {
                at_commit += 1;
                assert_unsure(&first.unwrap_err());
                // Whoever retries knows no more, and gets what it came to.
                let came = call(&name).await.unwrap();
                let expected = match how {
                    How::Lost => Came::Now,
                    How::Unanswered | How::Halved => Came::Before,
                };
                assert_eq!(came, expected, "{name}");
            }
            // Nothing was committed, so it was done again, and nobody is told.
            _ => assert_eq!(first.unwrap(), Came::Now, "{name}"),
        }
        assert_eq!(call(&name).await.unwrap(), Came::Before, "{name}");
        assert_eq!(effects(&name), "1", "{name}");
        if cut.is_none() {
            assert!(nth > 8, "there was nothing to cut");
            return at_commit;
        }
    }
    0
}

/// A store of one connection at a time, and its pool.
async fn store_behind(proxy: &Proxy, direct: &str) -> (SqlxStore, PgPool) {
    let pool = pool(&proxy.url(direct), 1).await;
    let store = builder().postgres(pool.clone()).await.unwrap();
    (store, pool)
}

fn keyed<'a>(
    tenant: &'a kindgi_core::model::TenantId,
    id: &'a kindgi_core::store::OperationId,
) -> Write<'a> {
    Write {
        operation: Some(operation(id)),
        ..write(tenant)
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_keyed_judgment_takes_effect_once_wherever_the_connection_breaks() {
    let (proxy, direct) = (Proxy::start(), url());
    let (store, pool) = store_behind(&proxy, &direct).await;
    let mut tries = 0;
    for how in ALL {
        let call = async |name: &str| {
            let id = named(name);
            tries += 1;
            // Each try has an id of its own, as an engine gives it, and the first one's is kept.
            let own = format!("{name}-try-{tries}");
            let operation = Some(operation(&id));
            let id = record_of(&store, &tenant(), &own, "key", operation).await?;
            Ok(if id.as_str() == own {
                Came::Now
            } else {
                Came::Before
            })
        };
        let effects = |name: &str| {
            let like = format!("id LIKE '{name}-try-%'");
            cell(
                &direct,
                &format!("SELECT COUNT(*) FROM kindgi_judgments WHERE {like}"),
            )
        };
        let at_commit = cut_everywhere((&proxy, &pool), how, async |_| {}, call, effects).await;
        assert!(at_commit > 0, "no commit was cut");
    }
    let rows = "SELECT (SELECT COUNT(*) FROM kindgi_judgments) \
                = (SELECT COUNT(*) FROM kindgi_operations)";
    assert_eq!(cell(&direct, rows), "t", "one effect for each operation");
    let live = "SELECT COUNT(*) FROM kindgi_judgments WHERE unregistered_at IS NULL";
    assert_eq!(cell(&direct, live), "1", "all but the last are superseded");
    assert_whole(&direct);
    until_idle(&direct).await;
    assert_pool_is_whole(&direct, &pool).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_keyed_rule_takes_effect_once_wherever_the_connection_breaks() {
    let (proxy, direct) = (Proxy::start(), url());
    let (store, pool) = store_behind(&proxy, &direct).await;
    for how in ALL {
        let call = async |name: &str| {
            let (tenant, id) = (tenant(), named(name));
            let write = keyed(&tenant, &id);
            let applied = store
                .append_rule_version(write, &rule(name, 1), None)
                .await?;
            if let Applied::Done(it) | Applied::Replayed(it) = &applied {
                assert!(matches!(it, RuleAppended::Ok(_)), "{it:?}");
            }
            Ok(applied.into())
        };
        let effects = |name: &str| {
            let of = format!("kindgi_rule_versions WHERE rule = '{name}'");
            cell(&direct, &format!("SELECT COUNT(*) FROM {of}"))
        };
        let at_commit = cut_everywhere((&proxy, &pool), how, async |_| {}, call, effects).await;
        assert!(at_commit > 0, "no commit was cut");
    }
    assert_whole(&direct);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_item_is_taken_and_dismissed_once_wherever_the_connection_breaks() {
    let (proxy, direct) = (Proxy::start(), url());
    let (store, pool) = store_behind(&proxy, &direct).await;
    let tenant = tenant();
    let rule = rule("rule", 1);
    let made = store.append_rule_version(write(&tenant), &rule, None).await;
    assert!(matches!(made.unwrap(), Applied::Done(RuleAppended::Ok(_))));
    let take = async |name: &str| {
        let candidates = [(&rule).into()];
        let run = ended(name);
        match store.take(write(&tenant), &run, 1, &candidates).await? {
            Taken::Queued(_) => Ok(Came::Now),
            Taken::Known => Ok(Came::Before),
            other => panic!("{other:?}"),
        }
    };
    let dismiss = async |name: &str| {
        let (id, by) = (named(name), "user:ada".parse().unwrap());
        let (project, run) = (project(), name.parse().unwrap());
        let write = keyed(&tenant, &id);
        let moved = store.dismiss(write, &project, &run, &by, None).await?;
        if let Applied::Done(it) | Applied::Replayed(it) = &moved {
            assert!(matches!(it, ItemMoved::Ok(_)), "{it:?}");
        }
        Ok(moved.into())
    };
    let rows = |table: &str, which: &str, run: &str| {
        let of = format!("kindgi_{table} WHERE run = '{run}' AND {which}");
        cell(&direct, &format!("SELECT COUNT(*) FROM {of}"))
    };
    for how in ALL {
        let told = |run: &str| rows("tellings", "skipped = 0", run);
        let cut = cut_everywhere((&proxy, &pool), how, async |_| {}, take, told).await;
        assert!(cut > 0, "no commit was cut");
        let taken = async |name: &str| {
            take(name).await.unwrap();
        };
        let dismissed = |run: &str| rows("queue_items", "state = 'dismissed'", run);
        let cut = cut_everywhere((&proxy, &pool), how, taken, dismiss, dismissed).await;
        assert!(cut > 0, "no commit was cut");
        assert_whole(&direct);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_key_is_claimed_and_answered_once_wherever_the_connection_breaks() {
    let (proxy, direct) = (Proxy::start(), url());
    let (store, pool) = store_behind(&proxy, &direct).await;
    let token = Token::random();
    let claim = async |name: &str, token: Token| {
        let claim = Claim {
            tenant: &tenant(),
            key: &named(name),
            body: &[7; 32],
            token: &token,
            hold: HOLD,
        };
        store.begin(claim).await
    };
    for how in ALL {
        for nth in 1.. {
            let name = format!("{how:?}-{nth}");
            claim(&format!("warm-{name}"), token).await.unwrap();
            until("the connection is back", || pool.num_idle() == 1).await;
            proxy.cut(how, nth);
            let begun = claim(&name, token).await;
            let cut = proxy.cut_no_more();
            match cut {
                Some(During::Commit) => assert_unsure(&begun.unwrap_err()),
                _ => assert_eq!(begun.unwrap(), Begun::Run, "{name}"),
            }
            // Its own claim isn't in its way.
            assert_eq!(claim(&name, token).await.unwrap(), Begun::Run, "{name}");
            let other = claim(&name, Token::random()).await.unwrap();
            assert!(matches!(other, Begun::InFlight { .. }), "{name}: {other:?}");
            if cut.is_none() {
                break;
            }
        }
        let outcome = Outcome::Withheld { status: 204 };
        let claimed = async |name: &str| {
            claim(name, token).await.unwrap();
        };
        let complete = async |name: &str| {
            let key = named(name);
            match store.complete(&key, &token, &outcome, &[], KEEP).await? {
                Completed::Kept => Ok(Came::Now),
                Completed::NotHeld => Ok(Came::Before),
                other @ Completed::Forgotten => panic!("{other:?}"),
            }
        };
        let kept = |_: &str| {
            let twice = "SELECT COUNT(*) - COUNT(DISTINCT id) FROM kindgi_idempotency_keys";
            assert_eq!(cell(&direct, twice), "0");
            "1".to_owned()
        };
        let cut = cut_everywhere((&proxy, &pool), how, claimed, complete, kept).await;
        assert!(cut > 0, "no commit was cut");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_read_is_repeated_wherever_the_connection_breaks_and_nobody_is_told() {
    let (proxy, direct) = (Proxy::start(), url());
    let (store, _pool) = store_behind(&proxy, &direct).await;
    record(&store, "a", "key").await.unwrap();
    for how in ALL {
        let mut cuts = 0;
        for nth in 1.. {
            proxy.cut(how, nth);
            assert!(read(&store, "a").await.unwrap(), "{how:?} at {nth}");
            match proxy.cut_no_more() {
                Some(_) => cuts += 1,
                None => break,
            }
        }
        assert!(cuts > 3, "{how:?}: only {cuts} cuts");
    }
}

/// Opening may fail, but the next one finds a database that it can use.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_store_that_is_cut_off_while_it_opens_opens_again() {
    let proxy = Proxy::start();
    for how in ALL {
        // Some are enough: a schema is made by some hundred messages, in one transaction.
        for nth in [1, 2, 3, 5, 8, 21, 55, 144, 233] {
            let direct = url();
            proxy.cut(how, nth);
            let _ = builder().connect(&proxy.url(&direct)).await;
            proxy.cut_no_more();
            let store = open(&direct).await;
            record(&store, "a", "key").await.unwrap();
            let versions = "SELECT COUNT(*) = MAX(version) FROM kindgi_schema";
            assert_eq!(cell(&direct, versions), "t", "{how:?} at {nth}");
        }
    }
}
