//! Idempotency keys on a database: shared by hosts, and good across their deaths.
//!
//! `KINDGI_KILL_ROUNDS` says how often the host is killed, 30 times on SQLite and 10 on PostgreSQL
//! unless set; a failed test is repeated with the `KINDGI_KILL_SEED` that it prints.
#![allow(clippy::print_stdout, reason = "the seed is for who reads the failure")]

use std::{
    collections::{BTreeMap, BTreeSet},
    env,
    net::SocketAddr,
    sync::{Barrier, Mutex},
    thread,
    time::{Duration, Instant},
};

use kindgi_core::{Clock as _, SystemClock};
use kindgi_test_servers::Postgres;

use crate::{
    client::{Answer, PATIENCE, try_send},
    process::Host,
};

const WRITERS: usize = 4;
const RULES: &str = "/v1/projects/00000000-0000-4000-8000-0000000000a1/judging-rules";

pub(crate) fn folder() -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let url = format!("sqlite:{}", folder.path().join("judgments.db").display());
    (folder, url)
}

/// A write under a key of its own.
#[derive(Clone)]
pub(crate) struct Write {
    pub(crate) key: String,
    target: &'static str,
    body: String,
}

impl Write {
    /// A rule: two of one name are two, so that an effect that came twice is seen.
    pub(crate) fn rule(key: &str) -> Self {
        Self {
            key: key.to_owned(),
            target: RULES,
            body: format!(r#"{{"name":"{key}","when":{{"agentIds":["none"]}}}}"#),
        }
    }

    pub(crate) fn judgment(key: &str, run: usize) -> Self {
        let item = format!(r#"{{"key":"{key}"}}"#);
        Self {
            key: key.to_owned(),
            target: "/v1/judgments",
            body: format!(r#"{{"runId":"run-{run}","item":{item},"verdict":"yes"}}"#),
        }
    }

    pub(crate) fn send(&self, to: SocketAddr) -> Option<Answer> {
        let headers = [
            ("Authorization", "Bearer test-token"),
            ("Content-Type", "application/json"),
            ("Idempotency-Key", self.key.as_str()),
        ];
        try_send(to, "POST", self.target, &headers, &self.body)
    }

    /// Sends it until it is done.
    fn done(&self, to: SocketAddr) -> Answer {
        let began = Instant::now();
        loop {
            let answer = self.send(to).expect("the host is there");
            if answer.status != 409 {
                return answer.expect(201);
            }
            let answer = answer.expect_error(409, "idempotency-key-in-flight");
            assert!(began.elapsed() < PATIENCE, "{} is held for ever", self.key);
            let seconds: u64 = answer.header("retry-after").unwrap().parse().unwrap();
            assert!((1..=30).contains(&seconds), "{seconds}");
            // Sooner than it says, since others may have ended the hold.
            thread::sleep(Duration::from_millis(50));
        }
    }
}

/// All rows of a list, by what is at a pointer into each.
fn listed(host: &Host, path: &str, name: &str) -> Vec<(String, String)> {
    let mut rows = Vec::new();
    let mut cursor = String::new();
    loop {
        let target = format!("{path}?limit=100{cursor}");
        let page = host.get(&target, "test-token").expect(200);
        for at in 0..page.count("/data") {
            let id = page
                .find(&format!("/data/{at}/id"))
                .or_else(|| page.find(&format!("/data/{at}/ruleId")));
            let name = page.text(&format!("/data/{at}{name}"));
            rows.push((name, id.unwrap().trim_matches('"').to_owned()));
        }
        if page.find("/nextCursor").is_none() {
            return rows;
        }
        cursor = format!("&cursor={}", page.text("/nextCursor"));
    }
}

/// Every write took effect once, and it is the one that was answered.
fn each_is_there_once(host: &Host, answers: &BTreeMap<String, String>) {
    let mut rows = listed(host, RULES, "/name");
    rows.extend(listed(host, "/v1/judgments", "/item/key"));
    assert_eq!(rows.len(), answers.len(), "as many effects as writes");
    let rows: BTreeMap<String, String> = rows.into_iter().collect();
    let names: BTreeSet<&String> = rows.keys().collect();
    assert_eq!(names, answers.keys().collect());
    for (key, body) in answers {
        let id = format!(r#""{}""#, rows[key]);
        assert!(body.contains(&id), "{key}: {body} is not {id}");
    }
}

#[test]
fn two_hosts_on_one_file_do_a_write_that_both_get_at_once_a_single_time() {
    let (_folder, url) = folder();
    two_hosts_do_each_write_once(&[("DATABASE_URL", &url)]);
}

#[test]
fn two_hosts_on_postgres_do_a_write_that_both_get_at_once_a_single_time() {
    let url = Postgres::shared().fresh_database();
    two_hosts_do_each_write_once(&[("DATABASE_URL", &url)]);
}

/// Gives how many writes there were.
pub(crate) fn two_hosts_do_each_write_once(variables: &[(&str, &str)]) -> usize {
    let hosts = [(); 2].map(|()| Host::start(variables));
    let mut answers = BTreeMap::new();
    let mut replays = 0;
    for n in 0..20 {
        let write = match n % 2 {
            0 => Write::rule(&format!("rule-{n}")),
            _ => Write::judgment(&format!("judgment-{n}"), 1 + n % 7),
        };
        let barrier = Barrier::new(4);
        let both: Vec<Answer> = thread::scope(|scope| {
            let send = |to| {
                let (barrier, write) = (&barrier, &write);
                scope.spawn(move || {
                    barrier.wait();
                    write.done(to)
                })
            };
            let sent: Vec<_> = (0..4).map(|at| send(hosts[at % 2].address)).collect();
            sent.into_iter().map(|sent| sent.join().unwrap()).collect()
        });
        for answer in &both {
            assert_eq!(answer.body, both[0].body);
            replays += usize::from(answer.header("x-idempotent-replay").is_some());
        }
        answers.insert(write.key, both[0].body.clone());
    }
    assert_eq!(
        replays,
        3 * answers.len(),
        "all but one of each are replays"
    );
    for host in &hosts {
        each_is_there_once(host, &answers);
    }
    answers.len()
}

/// What is known of the writes so far.
#[derive(Default)]
struct Known {
    writes: Vec<Write>,
    answers: BTreeMap<String, String>,
    unanswered: Vec<Write>,
}

impl Known {
    /// Takes an answer, which is the same as any before.
    fn answered(&mut self, write: &Write, answer: &Answer) {
        assert_eq!(answer.status, 201, "{}: {}", write.key, answer.body);
        let first = self.answers.entry(write.key.clone());
        let first = first.or_insert_with(|| answer.body.clone());
        assert_eq!(*first, answer.body, "{}", write.key);
    }
}

#[test]
fn a_host_killed_at_random_moments_did_each_keyed_write_once() {
    let (_folder, url) = folder();
    is_killed_on(&url, 30);
}

#[test]
fn a_host_on_postgres_killed_at_random_moments_did_each_keyed_write_once() {
    is_killed_on(&Postgres::shared().fresh_database(), 10);
}

/// Kills the host so many times, unless the environment says otherwise.
fn is_killed_on(url: &str, rounds: u64) {
    let number = |name| env::var(name).ok().map(|text| text.parse::<u64>().unwrap());
    let rounds = number("KINDGI_KILL_ROUNDS").unwrap_or(rounds);
    let seed =
        number("KINDGI_KILL_SEED").unwrap_or(SystemClock.now().as_unix_millis().unsigned_abs());
    println!("KINDGI_KILL_SEED={seed} KINDGI_KILL_ROUNDS={rounds}");
    let (began, mut random) = (Instant::now(), seed | 1);
    let known = Mutex::new(Known::default());
    for round in 0..rounds {
        let host = Host::start(&[("DATABASE_URL", url)]);
        // Xorshift: the moment needs to be no better than that.
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        let moment = Duration::from_micros(random % 80_000);
        let to = host.address;
        let barrier = Barrier::new(WRITERS + 1);
        thread::scope(|scope| {
            for writer in 0..WRITERS {
                let (known, barrier) = (&known, &barrier);
                scope.spawn(move || {
                    barrier.wait();
                    write_until_gone(known, to, &format!("{round}-{writer}"));
                });
            }
            barrier.wait();
            thread::sleep(moment);
            host.signal("KILL");
            host.wait();
        });
    }
    let killed = known.into_inner().unwrap();
    let cut_off = killed.unanswered.len();
    let acknowledged = killed.answers.len();
    let host = Host::start(&[("DATABASE_URL", url)]);
    let (known, left) = (Mutex::new(killed), Mutex::new(0));
    let writes = known.lock().unwrap().writes.clone();
    thread::scope(|scope| {
        // As many at once as there may be held ones, so that their leases are waited for together.
        for _ in 0..WRITERS * 8 {
            scope.spawn(|| {
                loop {
                    let at = {
                        let mut left = left.lock().unwrap();
                        *left += 1;
                        *left - 1
                    };
                    let Some(write) = writes.get(at) else { return };
                    let answer = write.done(host.address);
                    known.lock().unwrap().answered(write, &answer);
                }
            });
        }
    });
    let answers = known.into_inner().unwrap().answers;
    assert_eq!(answers.len(), writes.len());
    each_is_there_once(&host, &answers);
    println!(
        "{rounds} kills, {} writes, {acknowledged} acknowledged, {cut_off} cut off, {:?}",
        writes.len(),
        began.elapsed()
    );
    assert!(cut_off > 0, "no kill met a write");
}

/// Retries what was cut off before, then writes on, until the host is gone.
fn write_until_gone(known: &Mutex<Known>, to: SocketAddr, prefix: &str) {
    let cut_off = known.lock().unwrap().unanswered.pop();
    let fresh = (0..).map(|n: usize| {
        let key = format!("{prefix}-{n}");
        let write = match n % 2 {
            0 => Write::rule(&key),
            _ => Write::judgment(&key, 1 + n % 7),
        };
        known.lock().unwrap().writes.push(write.clone());
        write
    });
    for write in cut_off.into_iter().chain(fresh) {
        match write.send(to) {
            None => return known.lock().unwrap().unanswered.push(write),
            // The hold of the host that died.
            Some(answer) if answer.status == 409 => {
                answer.expect_error(409, "idempotency-key-in-flight");
                known.lock().unwrap().unanswered.insert(0, write);
            }
            Some(answer) => known.lock().unwrap().answered(&write, &answer),
        }
    }
}
