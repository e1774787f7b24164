//! Many at once judge the same: one judgment lives, and the others lead to it.

use std::{collections::BTreeMap, sync::Barrier, thread};

use crate::{client::Answer, process::Host};

const WRITERS: usize = 200;

#[test]
fn concurrent_judgments_of_one_item_leave_one_live_row_and_a_chain_of_all() {
    let host = Host::start(&[]);
    let barrier = Barrier::new(WRITERS);
    let body = r#"{"runId":"run-7","item":{"key":"first","pointer":"/matches/0"},"verdict":"yes"}"#;
    let ids: Vec<String> = thread::scope(|scope| {
        let judge = || {
            barrier.wait();
            host.post("/v1/judgments", "judge-token", body)
                .expect(201)
                .text("/id")
        };
        let writers: Vec<_> = (0..WRITERS).map(|_| scope.spawn(judge)).collect();
        writers
            .into_iter()
            .map(|writer| writer.join().unwrap())
            .collect()
    });

    let listed = host
        .get("/v1/judgments?runId=run-7&limit=100", "judge-token")
        .expect(200);
    assert_eq!(listed.count("/data"), 1, "{}", listed.body);
    let live = listed.text("/data/0/id");

    let rows: BTreeMap<String, Answer> = ids
        .into_iter()
        .map(|id| {
            let row = host
                .get(&format!("/v1/judgments/{id}"), "judge-token")
                .expect(200);
            (id, row)
        })
        .collect();
    assert_eq!(rows.len(), WRITERS, "no two have the same id");
    let successor = |id: &str| {
        let next = rows[id].find("/supersededBy")?;
        Some(next.trim_matches('"').to_owned())
    };
    let successors: Vec<String> = rows.keys().filter_map(|id| successor(id)).collect();
    let firsts: Vec<&String> = rows.keys().filter(|id| !successors.contains(id)).collect();
    assert_eq!(firsts.len(), 1, "one chain begins: {firsts:?}");

    let mut at = firsts[0].clone();
    let mut length = 1;
    while let Some(next) = successor(&at) {
        let ended = rows[&at].text("/unregisteredAt");
        assert_eq!(
            ended,
            rows[&next].text("/createdAt"),
            "the new one ends the old one"
        );
        assert!(
            rows[&at].text("/createdAt") <= ended,
            "time never goes back along the chain"
        );
        at = next;
        length += 1;
        assert!(length <= WRITERS, "the chain goes in circles");
    }
    assert_eq!(length, WRITERS, "the chain has all of them");
    assert_eq!(at, live, "the chain ends in the live one");
    assert_eq!(rows[&live].find("/unregisteredAt"), None);
}
