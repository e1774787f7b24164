//! What erasures and purges cost: a constant, and a few round trips more for each hundred rows, or
//! five hundred.

use std::num::NonZeroU16;

use kindgi_core::{
    model::ItemState,
    store::{
        Applied, JudgingQueueStore, JudgingRuleStore, JudgmentStore, Lifecycle, Operation,
        OperationId, PurgePart, PurgePosition, QueueFilter, Recorded, Taken, Write,
    },
};
use kindgi_store_sqlx::SqlxStore;

use super::{
    costs::Counting,
    support::{self, at, tenant},
};

/// How many rows are tried.
const ROWS: [u16; 4] = [1, 2, 100, 250];

/// Records as many judgments as operations, each of a run of its own or all of one.
async fn record(store: &SqlxStore, rows: u16, participant: Option<&str>, one_run: bool) {
    let tenant = tenant();
    for row in 0..rows {
        let run = format!("run-{}", if one_run { 0 } else { row });
        let mut new = support::judgment(&format!("{rows}-{row}"), &run, &format!("key-{row}"));
        new.judgment.participant = participant.map(|it| it.parse().unwrap());
        new.judgment.reason = Some("because".parse().unwrap());
        let copy = support::copy(&new.judgment);
        let mut id = OperationId([0; 32]);
        id.0[..2].copy_from_slice(&row.to_le_bytes());
        let write = Write {
            tenant: &tenant,
            now: at(0),
            operation: Some(Operation {
                id: &id,
                body: &[0; 32],
                keep_until: at(1_000_000),
            }),
        };
        let recorded = store.record(write, &new, Some(&copy), None).await.unwrap();
        assert!(matches!(recorded, Applied::Done(Recorded::Ok { .. })));
    }
}

/// Tells one rule of as many runs.
async fn tell(store: &SqlxStore, rows: u16) {
    let tenant = tenant();
    let write = support::write(&tenant);
    let rule = support::rule("rule", 1);
    store.append_rule_version(write, &rule, None).await.unwrap();
    for row in 0..rows {
        let run = support::ended(&format!("run-{row}"));
        let candidates = [support::candidate("rule")];
        let taken = store.take(write, &run, 1, &candidates);
        assert!(matches!(taken.await.unwrap(), Taken::Queued(_)));
    }
}

async fn open_items(store: &SqlxStore) -> u64 {
    let filter = QueueFilter {
        state: Some(ItemState::Open),
        ..QueueFilter::default()
    };
    let (tenant, project) = (tenant(), support::project());
    let queue = store.queue(&tenant, &project, &filter, None);
    queue.await.unwrap().total
}

/// What a purge of one part costs that removes so many.
async fn purge(counting: &Counting, store: &SqlxStore, part: PurgePart, removes: u64) -> usize {
    let from = PurgePosition { part, after: None };
    let limit = NonZeroU16::new(1000).unwrap();
    let tenant = tenant();
    let mut write = support::write(&tenant);
    write.now = at(10);
    let found = counting
        .statements(async {
            let purged = store.purge(write, at(5), Some(&from), limit).await.unwrap();
            assert_eq!(purged.removed, removes);
        })
        .await;
    found.len()
}

/// The costs for each number of rows, each in a database of its own.
macro_rules! costs {
    (|$counting:ident, $store:ident, $rows:ident| $call:expr) => {{
        let mut costs = Vec::new();
        let mut $counting = Counting::start();
        for $rows in ROWS {
            $counting.renew();
            let $store = $counting.store().await;
            costs.push($call);
        }
        costs
    }};
}

#[tokio::test]
async fn erasing_a_run_costs_a_constant_and_one_for_each_hundred_outcomes() {
    let costs = costs!(|counting, store, rows| {
        record(&store, rows, None, true).await;
        let run = "run-0".parse().unwrap();
        let erased = async {
            let tenant = tenant();
            let write = support::write(&tenant);
            store.erase_run(write, &run).await.unwrap();
        };
        counting.statements(erased).await.len()
    });
    assert_eq!(costs, [8, 8, 8, 10]);
}

#[tokio::test]
async fn erasing_a_participant_costs_a_constant_and_two_for_each_hundred_judgments() {
    let costs = costs!(|counting, store, rows| {
        record(&store, rows, Some("grace"), false).await;
        let (grace, nobody) = ("grace".parse().unwrap(), "nobody".parse().unwrap());
        let erased = async {
            let tenant = tenant();
            let write = support::write(&tenant);
            let erased = store.erase_participant(write, &grace, &nobody).await;
            assert_eq!(erased.unwrap(), u64::from(rows));
        };
        counting.statements(erased).await.len()
    });
    assert_eq!(costs, [8, 8, 8, 12]);
}

#[tokio::test]
async fn purging_judgments_costs_a_constant_whatever_the_runs() {
    let costs = costs!(|counting, store, rows| {
        record(&store, rows, None, false).await;
        purge(&counting, &store, PurgePart::Judgments, rows.into()).await
    });
    assert_eq!(costs, [9, 9, 9, 9]);
}

#[tokio::test]
async fn purging_judgments_moves_each_item_that_opens_again() {
    let costs = costs!(|counting, store, rows| {
        record(&store, rows, None, false).await;
        tell(&store, rows).await;
        assert_eq!(open_items(&store).await, 0);
        let cost = purge(&counting, &store, PurgePart::Judgments, rows.into()).await;
        assert_eq!(open_items(&store).await, u64::from(rows));
        cost
    });
    assert_eq!(costs, [11, 12, 110, 260]);
}

#[tokio::test]
async fn purging_tellings_costs_a_constant_whatever_the_items() {
    let costs = costs!(|counting, store, rows| {
        tell(&store, rows).await;
        assert_eq!(open_items(&store).await, u64::from(rows));
        let cost = purge(&counting, &store, PurgePart::Tellings, rows.into()).await;
        assert_eq!(open_items(&store).await, 0);
        let counts = "SELECT COUNT(*) FROM kindgi_queue_items \
                      UNION ALL SELECT COUNT(*) FROM kindgi_tellings \
                      UNION ALL SELECT open_items FROM kindgi_rules \
                      UNION ALL SELECT SUM(items) FROM kindgi_queue_counts";
        let nothing = vec![vec![Some("0".to_owned())]; 4];
        assert_eq!(counting.query(counts), nothing);
        cost
    });
    assert_eq!(costs, [10, 10, 10, 10]);
}
