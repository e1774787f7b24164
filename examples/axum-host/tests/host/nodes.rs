//! Four hosts on one PostgreSQL database, which all do the same at once.

use std::{
    collections::BTreeMap,
    net::SocketAddr,
    sync::{Barrier, Mutex},
    thread,
};

use kindgi_test_servers::Postgres;

use crate::{
    client::{Answer, send},
    process::Host,
};

const PROJECT: &str = "/v1/projects/00000000-0000-4000-8000-0000000000a1";
pub(crate) const NODES: usize = 4;
/// How many threads drive each of them.
const CLIENTS: usize = 2;
const ROUNDS: usize = 60;
const MAX_OPEN: usize = 3;

/// Starts all of them at once.
pub(crate) fn start(url: &str, variables: &[(&str, &str)]) -> Vec<Host> {
    let variables = [&[("DATABASE_URL", url)], variables].concat();
    let barrier = Barrier::new(NODES);
    thread::scope(|scope| {
        let start = || {
            barrier.wait();
            Host::start(&variables)
        };
        let starting: Vec<_> = (0..NODES).map(|_| scope.spawn(start)).collect();
        let started = starting.into_iter().map(|host| host.join().unwrap());
        started.collect()
    })
}

/// What one statement says of the database at a URL, as one number.
pub(crate) fn number(url: &str, sql: &str) -> usize {
    let (_, database) = url.rsplit_once('/').unwrap();
    let rows = Postgres::shared().query(database, sql);
    rows[0][0].as_ref().unwrap().parse().unwrap()
}

/// What must never be in the tables, and the statement that counts it.
const NEVER: [(&str, &str); 12] = [
    (
        "a key with two live judgments",
        "SELECT COUNT(*) FROM (SELECT 1 FROM kindgi_judgments WHERE unregistered_at IS NULL \
         GROUP BY tenant, run, item_key, author_kind, author_id, participant \
         HAVING COUNT(*) > 1) x",
    ),
    (
        "a key of which no judgment lives",
        "SELECT COUNT(*) FROM (SELECT 1 FROM kindgi_judgments \
         GROUP BY tenant, run, item_key, author_kind, author_id, participant \
         HAVING COUNT(*) FILTER (WHERE unregistered_at IS NULL) = 0) x",
    ),
    (
        "a judgment with two predecessors",
        "SELECT COUNT(*) FROM (SELECT 1 FROM kindgi_judgments WHERE superseded_by IS NOT NULL \
         GROUP BY tenant, superseded_by HAVING COUNT(*) > 1) x",
    ),
    (
        "a dead judgment without a successor of its key",
        "SELECT COUNT(*) FROM kindgi_judgments j WHERE unregistered_at IS NOT NULL \
         AND NOT EXISTS (SELECT 1 FROM kindgi_judgments s WHERE s.tenant = j.tenant \
         AND s.id = j.superseded_by AND s.run = j.run AND s.item_key = j.item_key \
         AND s.author_id = j.author_id AND s.created_at = j.unregistered_at)",
    ),
    (
        "a count of items that isn't theirs",
        "SELECT COUNT(*) FROM kindgi_queue_counts c WHERE items <> \
         (SELECT COUNT(*) FROM kindgi_queue_items q WHERE q.tenant = c.tenant \
         AND q.project = c.project AND q.state = c.state AND (c.kind = '' \
         OR (c.kind = 'agent' AND q.agent = c.of_id) OR (c.kind = 'any' AND q.wants_any = 1) \
         OR EXISTS (SELECT 1 FROM kindgi_tellings t WHERE t.tenant = q.tenant AND t.run = q.run \
         AND ((c.kind = 'rule' AND t.rule = c.of_id AND t.skipped = 0) \
         OR (c.kind = 'wants' AND t.wants = c.of_id) \
         OR (c.kind = 'only' AND t.wants = c.of_id AND q.wants_any = 0)))))",
    ),
    (
        "an item that isn't counted",
        "SELECT COUNT(*) FROM (SELECT '' AS kind, COUNT(*) AS n FROM kindgi_queue_items \
         UNION ALL SELECT 'agent', COUNT(agent) FROM kindgi_queue_items \
         UNION ALL SELECT 'any', COUNT(NULLIF(wants_any, 0)) FROM kindgi_queue_items \
         UNION ALL SELECT 'rule', COUNT(NULLIF(skipped, 1)) FROM kindgi_tellings \
         UNION ALL SELECT 'wants', COUNT(wants) FROM kindgi_tellings) e WHERE n <> \
         (SELECT COALESCE(SUM(items), 0) FROM kindgi_queue_counts c WHERE c.kind = e.kind)",
    ),
    (
        "a rule whose number of open items isn't theirs",
        "SELECT COUNT(*) FROM kindgi_rules r WHERE open_items <> \
         (SELECT COUNT(*) FROM kindgi_tellings t JOIN kindgi_queue_items q \
         ON q.tenant = t.tenant AND q.run = t.run WHERE t.tenant = r.tenant \
         AND t.rule = r.id AND t.skipped = 0 AND q.state = 'open')",
    ),
    (
        "a run that was told to a rule twice",
        "SELECT COUNT(*) FROM (SELECT 1 FROM kindgi_tellings GROUP BY tenant, run, rule \
         HAVING COUNT(*) > 1) x",
    ),
    (
        "a run that was told but is in no queue, or the other way round",
        "SELECT COUNT(*) FROM (SELECT tenant, run FROM kindgi_tellings WHERE skipped = 0 \
         GROUP BY tenant, run) t FULL JOIN kindgi_queue_items q USING (tenant, run) \
         WHERE t.run IS NULL OR q.run IS NULL",
    ),
    (
        "a rule with a gap in its versions",
        "SELECT COUNT(*) FROM kindgi_rules r WHERE latest_version <> \
         (SELECT COUNT(*) FROM kindgi_rule_versions v WHERE v.tenant = r.tenant \
         AND v.rule = r.id AND v.version BETWEEN 1 AND r.latest_version)",
    ),
    (
        "two live classes of one name",
        "SELECT COUNT(*) FROM (SELECT 1 FROM kindgi_classes WHERE unregistered_at IS NULL \
         GROUP BY tenant, scope_kind, project, agent, name HAVING COUNT(*) > 1) x",
    ),
    (
        "a key that is still held",
        "SELECT COUNT(*) FROM kindgi_idempotency_keys WHERE token IS NOT NULL",
    ),
];

pub(crate) fn assert_whole(url: &str) {
    for (what, sql) in NEVER {
        assert_eq!(number(url, sql), 0, "there is {what}");
    }
}

/// A request to one of the hosts, by someone who may do everything, perhaps under a key.
fn ask(to: SocketAddr, method: &str, target: &str, key: Option<&str>, body: &str) -> Answer {
    let mut headers = vec![
        ("Authorization", "Bearer test-token"),
        ("Content-Type", "application/json"),
    ];
    headers.extend(key.map(|key| ("Idempotency-Key", key)));
    send(to, method, target, &headers, body)
}

/// The nth keyed write: its key, and what one of the hosts answers.
pub(crate) fn keyed(to: SocketAddr, n: usize) -> (String, Answer) {
    let key = format!("key-{n}");
    let (target, body) = match n % 2 {
        0 => (
            format!("{PROJECT}/judging-rules"),
            format!(r#"{{"name":"{key}","when":{{"agentIds":["none"]}}}}"#),
        ),
        _ => (
            "/v1/judgments".to_owned(),
            format!(r#"{{"runId":"run-9","item":{{"key":"{key}"}},"verdict":"no"}}"#),
        ),
    };
    let answer = ask(to, "POST", &target, Some(&key), &body);
    (key, answer)
}

/// What all clients know.
struct Shared {
    /// The rule that takes every run, and the one that may have some open items only.
    rules: [String; 2],
    /// What was answered under a key: the same, whoever asks.
    answers: Mutex<BTreeMap<String, String>>,
}

impl Shared {
    /// The nth round of a client: all clients do the same in it, and so do all hosts.
    fn round(&self, to: SocketAddr, n: usize) {
        let judged = format!(
            r#"{{"runId":"run-{}","item":{{"key":"shared-{}"}},"verdict":"yes"}}"#,
            n % 3,
            n % 2
        );
        ask(to, "POST", "/v1/judgments", None, &judged).expect(201);

        let rule = format!("{PROJECT}/judging-rules/{}", self.rules[n % 2]);
        if n.is_multiple_of(4) {
            let named = format!(r#"{{"name":"round {n}"}}"#);
            ask(to, "PATCH", &rule, None, &named).expect(200);
        }

        let ended = format!(r#"{{"runId":"ended-{n}"}}"#);
        let told = ask(to, "POST", "/demo/runs", None, &ended);
        // A host has each run once; that another has it, too, it doesn't know.
        if told.status != 201 {
            told.expect_error(409, "run-exists");
        }

        let how = ["dismiss", "reopen"][n / 2 % 2];
        let item = format!("{PROJECT}/judging-queue/ended-{}/{how}", n / 3);
        let moved = ask(to, "POST", &item, None, "");
        if moved.status != 200 {
            // Every state but the one that it can be moved from.
            assert!(
                matches!(moved.status, 404 | 409),
                "{}: {}",
                item,
                moved.body
            );
        }

        let (key, answer) = keyed(to, n);
        if answer.status == 409 {
            answer.expect_error(409, "idempotency-key-in-flight");
            return;
        }
        let body = answer.expect(201).body;
        let mut answers = self.answers.lock().unwrap();
        let first = answers.entry(key).or_insert_with(|| body.clone());
        assert_eq!(*first, body, "one answer for each key");
    }
}

#[test]
fn four_nodes_that_do_everything_at_once_on_postgres_keep_every_invariant() {
    let url = Postgres::shared().fresh_database();
    let hosts = start(&url, &[("RUNS", "10")]);
    do_everything_at_once(&url, &hosts);
}

/// Has all clients do the same at once, looks at the tables afterwards, and gives what was answered
/// under each key.
pub(crate) fn do_everything_at_once(url: &str, hosts: &[Host]) -> BTreeMap<String, String> {
    let rule = |body: &str| {
        let made = ask(
            hosts[0].address,
            "POST",
            &format!("{PROJECT}/judging-rules"),
            None,
            body,
        );
        made.expect(201).text("/ruleId")
    };
    let shared = Shared {
        rules: [
            rule(r#"{"name":"every run","when":{}}"#),
            rule(&format!(
                r#"{{"name":"some","when":{{}},"maxOpen":{MAX_OPEN}}}"#
            )),
        ],
        answers: Mutex::default(),
    };
    for n in 0..ROUNDS {
        // Each round begins at once for all, so that they really meet.
        let barrier = Barrier::new(NODES * CLIENTS);
        thread::scope(|scope| {
            for client in 0..NODES * CLIENTS {
                let (shared, barrier, to) = (&shared, &barrier, hosts[client % NODES].address);
                scope.spawn(move || {
                    barrier.wait();
                    shared.round(to, n);
                });
            }
        });
        let open = format!(
            "SELECT open_items FROM kindgi_rules WHERE id = '{}'",
            shared.rules[1]
        );
        assert!(number(url, &open) <= MAX_OPEN, "the cap is exceeded");
    }
    assert_whole(url);

    let clients = NODES * CLIENTS;
    let each = |which: &str| number(url, &format!("SELECT COUNT(*) FROM kindgi_{which}"));
    assert_eq!(
        each("judgments WHERE item_key LIKE 'shared-%'"),
        clients * ROUNDS
    );
    assert_eq!(each("queue_items WHERE run LIKE 'ended-%'"), ROUNDS);
    let versions = each("rule_versions WHERE name LIKE 'round %'");
    assert_eq!(
        versions,
        1 + (ROUNDS.div_ceil(4) - 1),
        "a name that is there changes nothing"
    );
    assert_ne!(
        each("tellings WHERE skipped = 1"),
        0,
        "the cap never mattered"
    );
    for state in ["open", "dismissed"] {
        assert_ne!(
            each(&format!("queue_items WHERE state = '{state}'")),
            0,
            "{state}"
        );
    }

    // Every key was answered, and took effect once: with what was answered.
    let answers = shared.answers.into_inner().unwrap();
    assert_eq!(answers.len(), ROUNDS);
    assert_eq!(each("operations"), ROUNDS);
    for (key, answer) in &answers {
        let sql = format!(
            "SELECT (SELECT COUNT(*) FROM kindgi_judgments WHERE item_key = '{key}' \
             AND position(id in '{answer}') > 0) + (SELECT COUNT(*) FROM kindgi_rule_versions \
             WHERE name = '{key}' AND position(rule in '{answer}') > 0)"
        );
        assert_eq!(number(url, &sql), 1, "{key}: {answer}");
    }
    let effects = each("judgments WHERE item_key LIKE 'key-%'")
        + each("rule_versions WHERE name LIKE 'key-%'");
    assert_eq!(effects, ROUNDS);

    // All hosts see the same.
    for target in [
        "/v1/judgments?limit=100",
        &format!("{PROJECT}/judging-queue?limit=100"),
    ] {
        let page = |host: &Host| host.get(target, "test-token").expect(200).body;
        let first = page(&hosts[0]);
        assert!(hosts.iter().all(|host| page(host) == first), "{target}");
    }
    answers
}

#[test]
fn four_nodes_that_fill_the_queue_of_an_empty_postgres_at_once_fill_it_once() {
    for _ in 0..3 {
        let url = Postgres::shared().fresh_database();
        let hosts = start(&url, &[("RUNS", "40"), ("SEED_QUEUE", "30")]);
        for (rows, table) in [
            (30, "queue_items"),
            (30, "tellings"),
            (1, "classes"),
            (1, "rules"),
        ] {
            assert_eq!(
                number(&url, &format!("SELECT COUNT(*) FROM kindgi_{table}")),
                rows
            );
        }
        for host in &hosts {
            let target = format!("{PROJECT}/judging-queue?state=open&limit=0");
            let page = host.get(&target, "reader-token").expect(200);
            assert_eq!(page.find("/total").as_deref(), Some("30"));
        }
        assert_whole(&url);
    }
}
