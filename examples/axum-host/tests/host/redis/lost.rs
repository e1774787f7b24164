//! The idempotency keys are lost altogether, amid keyed writes: the receipts beside the judgments
//! keep each effect at most once, and answer who asks again.
#![allow(clippy::print_stdout, reason = "how much was met is for who reads it")]

use std::{
    collections::BTreeMap,
    net::SocketAddr,
    sync::{
        Mutex,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use kindgi_test_servers::{Postgres, Redis};

use super::keys;
use crate::{
    client::{Answer, PATIENCE},
    idempotency::Write,
    nodes::{NODES, assert_whole, number, start},
};

/// How many threads write.
const WRITERS: usize = 4;
/// How often the keys are lost.
const LOSSES: usize = 6;

/// What the clients know.
#[derive(Default)]
struct Seen {
    writes: BTreeMap<String, Write>,
    answers: BTreeMap<String, String>,
    /// How many were told that the host failed.
    failed: usize,
}

impl Seen {
    /// Takes an answer, which is the same as any before.
    fn take(&mut self, write: &Write, answer: Answer) {
        match answer.status {
            // Another host has it in hand, or had when it could no more say that it is done.
            409 => drop(answer.expect_error(409, "idempotency-key-in-flight")),
            500 => {
                answer.expect_error(500, "internal-server-error");
                self.failed += 1;
            }
            _ => {
                let body = answer.expect(201).body;
                let first = self.answers.entry(write.key.clone());
                assert_eq!(
                    *first.or_insert_with(|| body.clone()),
                    body,
                    "{}",
                    write.key
                );
            }
        }
    }
}

/// Ends the writers also when the test fails.
struct Stop<'a>(&'a AtomicBool);

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Sends writes of its own, each to two hosts at once and later once more, until it is told to stop.
fn write_on(writer: usize, hosts: &[SocketAddr], seen: &Mutex<Seen>, stop: &AtomicBool) {
    for n in 0.. {
        if stop.load(Ordering::Relaxed) {
            return;
        }
        let key = format!("{writer}-{n}");
        let write = match n % 2 {
            0 => Write::rule(&key),
            _ => Write::judgment(&key, 1 + n % 7),
        };
        seen.lock().unwrap().writes.insert(key, write.clone());
        // And one of before, whose keys were perhaps lost since.
        let before = seen.lock().unwrap().writes[&format!("{writer}-{}", n / 2)].clone();
        thread::scope(|scope| {
            let other = n + 1 + writer % (NODES - 1);
            for (write, at) in [(&write, n), (&write, other), (&before, n + writer)] {
                let to = hosts[at % NODES];
                scope.spawn(move || {
                    let answer = write.send(to).expect("the host is there");
                    seen.lock().unwrap().take(write, answer);
                });
            }
        });
    }
}

/// Waits until so much more is counted.
fn until_more(seen: &Mutex<Seen>, more: usize, count: impl Fn(&Seen) -> usize) {
    let (began, before) = (Instant::now(), count(&seen.lock().unwrap()));
    while count(&seen.lock().unwrap()) < before + more {
        assert!(began.elapsed() < PATIENCE, "it doesn't go on");
        thread::sleep(Duration::from_millis(5));
    }
}

/// Asserts that no write took effect twice, and those that were answered did, as they say. Gives how
/// many took effect.
fn assert_at_most_once(url: &str, seen: &Seen) -> usize {
    assert_whole(url);
    let (_, database) = url.rsplit_once('/').unwrap();
    let effects = "SELECT item_key, id FROM kindgi_judgments UNION ALL \
                   SELECT name, rule FROM kindgi_rule_versions";
    let mut ids = BTreeMap::new();
    for row in Postgres::shared().query(database, effects) {
        let [key, id] = row.try_into().unwrap();
        let (key, id) = (key.unwrap(), id.unwrap());
        assert!(seen.writes.contains_key(&key), "{key}");
        let before = ids.insert(key.clone(), id.clone());
        assert_eq!(before, None, "{key} took effect twice, now as {id}");
    }
    for (key, answer) in &seen.answers {
        let id = ids
            .get(key)
            .unwrap_or_else(|| panic!("{key} was answered, and is not there"));
        assert!(
            answer.contains(&format!(r#""{id}""#)),
            "{key}: {answer} is not {id}"
        );
    }
    assert_eq!(
        number(url, "SELECT COUNT(*) FROM kindgi_operations"),
        ids.len()
    );
    ids.len()
}

#[test]
fn on_postgres_no_write_takes_effect_twice_though_all_keys_are_lost() {
    let (url, mut redis) = (Postgres::shared().fresh_database(), Redis::start());
    let hosts = start(&url, &[("RUNS", "10"), ("REDIS_URL", &redis.url())]);
    let addresses: Vec<SocketAddr> = hosts.iter().map(|host| host.address).collect();
    let (seen, stop) = (Mutex::new(Seen::default()), AtomicBool::new(false));
    let (acknowledged, failed) = (|seen: &Seen| seen.answers.len(), |seen: &Seen| seen.failed);
    thread::scope(|scope| {
        let _stop = Stop(&stop);
        for writer in 0..WRITERS {
            let (addresses, seen, stop) = (&addresses, &seen, &stop);
            scope.spawn(move || write_on(writer, addresses, seen, stop));
        }
        for loss in 0..LOSSES {
            until_more(&seen, 25, acknowledged);
            assert_ne!(keys(&redis), 0, "the keys are elsewhere");
            if loss % 2 == 0 {
                redis.kill();
                until_more(&seen, 2 * WRITERS, failed);
                redis.start_again();
            } else {
                redis.command(&["FLUSHALL"]);
            }
        }
        until_more(&seen, 25, acknowledged);
    });
    let mut seen = seen.into_inner().unwrap();
    let took = assert_at_most_once(&url, &seen);
    let acknowledged = seen.answers.len();

    // Nothing is in flight, and nobody knows anything but from the receipts.
    redis.command(&["FLUSHALL"]);
    let writes: Vec<Write> = seen.writes.values().cloned().collect();
    for (n, write) in writes.iter().enumerate() {
        let was_answered = seen.answers.contains_key(&write.key);
        for at in 0..NODES {
            let answer = write.send(addresses[(n + at) % NODES]).unwrap().expect(201);
            let replayed = answer.header("x-idempotent-replay") == Some("true");
            assert!(replayed || at == 0 && !was_answered, "{}", write.key);
            seen.take(write, answer);
        }
    }
    assert_eq!(
        assert_at_most_once(&url, &seen),
        writes.len(),
        "all of them took effect"
    );
    println!(
        "{} writes: {acknowledged} acknowledged, {} more took effect, {} requests failed",
        writes.len(),
        took - acknowledged,
        seen.failed
    );
}
