//! Writes of more than one statement carries.

use kindgi_core::{
    model::TakenBy,
    rules::queue_state,
    store::{
        Archive, Candidate, Imported, JudgingQueueStore, Record, Taken, archive::TellingRecord,
    },
};

use super::{
    invariants::assert_whole,
    support::{at, cell, ended, open, project, rule, tenant, url, write},
};

fn id(n: usize) -> String {
    format!("rule-{n:05}")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn thousands_of_rules_take_a_run_at_once() {
    let url = url();
    let store = open(&url).await;
    let candidates: Vec<_> = (0..7000)
        .map(|n| Candidate {
            rule: id(n).parse().unwrap(),
            version: 1,
            max_open: None,
            wants: None,
        })
        .collect();
    let (tenant, run) = (tenant(), ended("run"));
    let taken = store.take(write(&tenant), &run, 0, &candidates);
    let Taken::Queued(item) = taken.await.unwrap() else {
        panic!("nobody took it");
    };
    assert_eq!(item.taken_by.len(), 7000);
    let told = "SELECT COUNT(DISTINCT rule) FROM kindgi_tellings";
    assert_eq!(cell(&url, told), "7000");
    assert_whole(&url);
}

/// Each item is of rules of its own, so that there are as many numbers to keep as rules.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_batch_of_items_of_thousands_of_rules_is_imported_at_once() {
    let url = url();
    let store = open(&url).await;
    let rules: Vec<_> = (0..4000)
        .map(|n| Record::RuleVersion(Box::new(rule(&id(n), 1))))
        .collect();
    for rules in rules.chunks(500) {
        let imported = store.import(rules).await.unwrap();
        assert!(matches!(imported, Imported::Ok { .. }), "{imported:?}");
    }
    let tellings: Vec<_> = (0..40)
        .map(|item| {
            let taken_by = (item * 100..(item + 1) * 100).map(|n| TakenBy {
                rule: id(n).parse().unwrap(),
                version: 1,
                wants: None,
            });
            let run = ended(&format!("run-{item}"));
            let item = queue_state::queued(&run, taken_by.collect(), &[], at(0));
            Record::Telling(Box::new(TellingRecord {
                tenant: tenant(),
                run: item.run.clone(),
                project: project(),
                told_at: at(0),
                age: at(0),
                agent_version: None,
                skipped: Vec::new(),
                item: Some(item),
            }))
        })
        .collect();
    let imported = store.import(&tellings).await.unwrap();
    assert!(matches!(imported, Imported::Ok { .. }), "{imported:?}");
    let open = "SELECT COUNT(*) FROM kindgi_rules WHERE open_items = 1";
    assert_eq!(cell(&url, open), "4000");
    assert_whole(&url);
}
