//! The same calls on SQLite and in memory: the same answers, and the numbers that SQLite keeps
//! are those that it could count.

use kindgi_core::{
    MemoryStore, Timestamp,
    model::{JudgmentId, PageSize, Position, PrincipalRef, QueueItem, TenantId},
    store::{
        Candidate, JudgedRunFilter, Keyset, Operation, OperationId, QueueFilter, Store, Write,
    },
};
use kindgi_store_sqlx::SqlxStore;
use proptest::{
    collection::vec,
    test_runner::{Config, RngAlgorithm, TestCaseError, TestRng, TestRunner},
};
use sqlx::{AssertSqlSafe, SqlitePool};

use crate::{
    queue_calls::{Call, How, RUNS, call, class, ended, id, judgment, rule, rule_project},
    support::{Folder, at, fills, number},
};

/// Both stores.
struct Both<'a> {
    memory: MemoryStore,
    sqlite: &'a SqlxStore,
    tenant: TenantId,
    /// How many judgments, classes and pseudonyms were made.
    made: u32,
    /// The judgments that were recorded.
    recorded: Vec<JudgmentId>,
}

/// Asks both the same; gives the answer, or fails if there are two.
macro_rules! same {
    ($both:expr, |$store:ident| $call:expr) => {{
        let expected = {
            let $store: &dyn Store = &$both.memory;
            $call.await.unwrap()
        };
        let answer = {
            let $store: &dyn Store = $both.sqlite;
            $call.await.unwrap()
        };
        if answer != expected {
            let call = stringify!($call);
            let reason = format!("{call}: {answer:#?}\n, in memory {expected:#?}");
            return Err(TestCaseError::fail(reason));
        }
        expected
    }};
}

type Checked = Result<(), TestCaseError>;

impl Both<'_> {
    async fn call(&mut self, (now, operation): How, call: &Call) -> Checked {
        let tenant = &self.tenant.clone();
        let now = at(now);
        let known = operation.map(|(id, body)| (OperationId([id; 32]), [body; 32]));
        let operation = known.as_ref().map(|(id, body)| Operation {
            id,
            body,
            // Never reached: a clock that goes back may find an operation that ended.
            keep_until: at(1000),
        });
        let write = Write {
            tenant,
            now,
            operation,
        };
        let ada: PrincipalRef = "user:ada".parse().unwrap();
        self.made += 1;
        match call {
            Call::CreateClass(n) => {
                let class = class(tenant, *n, self.made, now);
                if same!(self, |store| store.class(tenant, &class.id)).is_none() {
                    same!(self, |store| store.create_class(write, &class));
                }
            }
            Call::RetireClass(n) => {
                let kept = same!(self, |store| store.class(tenant, &id("class", *n)));
                if let Some(mut kept) = kept {
                    kept.value.unregistered_at = Some(now);
                    let next = &kept.value;
                    same!(self, |store| store.replace_class(
                        write,
                        kept.revision,
                        next
                    ));
                }
            }
            Call::AppendRule {
                rule: n,
                class,
                max_open,
                enabled,
            } => {
                let project = rule_project(*n);
                let latest = same!(self, |store| store.rule(tenant, &project, &id("rule", *n)));
                let version = latest.map_or(1, |latest| latest.version + 1);
                let next = rule(tenant, (*n, version), (*class, *max_open, *enabled), now);
                same!(self, |store| store.append_rule_version(write, &next, None));
            }
            Call::StopRule(n) => {
                let (project, rule) = (rule_project(*n), id("rule", *n));
                same!(self, |store| store.stop_rule(write, &project, &rule));
            }
            Call::Take {
                run,
                project,
                ended_at,
                agent,
                stale,
                which,
            } => {
                let run = ended(*run, *project, *agent, *ended_at);
                let enabled = same!(self, |store| store.enabled_rules(tenant, &run.project));
                let rules = enabled.rules.iter().zip(which).filter(|(_, is)| **is);
                let candidates: Vec<_> = rules.map(|(rule, _)| Candidate::from(rule)).collect();
                let revision = enabled.revision + u64::from(*stale);
                if !candidates.is_empty() {
                    same!(self, |store| store.take(write, &run, revision, &candidates));
                }
            }
            Call::Dismiss {
                project,
                run,
                reason,
            } => {
                let (project, run) = (id("project", *project), id("run", *run));
                let reason = reason.then(|| "not now".parse().unwrap());
                same!(self, |store| store.dismiss(
                    write,
                    &project,
                    &run,
                    &ada,
                    reason.as_ref()
                ));
            }
            Call::Reopen { project, run } => {
                let (project, run) = (id("project", *project), id("run", *run));
                same!(self, |store| store.reopen(write, &project, &run, &ada));
            }
            Call::Record(record) => {
                let (new, copy) = judgment(tenant, self.made, record, now);
                let copy = copy.as_ref();
                same!(self, |store| store.record(write, &new, copy, None));
                self.recorded.push(new.judgment.id);
            }
            Call::Remove(n) => {
                if let Some(id) = self.recorded.iter().rev().nth(usize::from(*n)) {
                    same!(self, |store| store.remove(write, id));
                }
            }
            Call::EraseRun(n) => {
                same!(self, |store| store.erase_run(write, &id("run", *n)));
            }
            Call::EraseParticipant(n) => {
                let (of, pseudonym) = (id("participant", *n), self.made);
                let pseudonym = format!("nobody-{pseudonym}").parse().unwrap();
                same!(self, |store| store
                    .erase_participant(write, &of, &pseudonym));
            }
            Call::Purge {
                before,
                limit,
                steps,
            } => {
                let (before, mut from) = (at(*before), None);
                for _ in 0..*steps {
                    let from_here = from.as_ref();
                    let purged = same!(self, |store| store.purge(write, before, from_here, *limit));
                    self.everything().await?;
                    from = purged.next;
                    if from.is_none() {
                        break;
                    }
                }
            }
            Call::Queue(project, filter) => self.queue(&id("project", *project), filter).await?,
            Call::Results(n, since) => {
                let (project, rule) = (rule_project(*n), id("rule", *n));
                same!(self, |store| store
                    .rule_results(tenant, &project, &rule, *since));
            }
            Call::JudgedRuns(filter) => self.judged_runs(filter).await?,
        }
        Ok(())
    }

    /// Walks a queue, two items at a time.
    async fn queue(
        &self,
        project: &kindgi_core::model::ProjectId,
        filter: &QueueFilter,
    ) -> Checked {
        let tenant = &self.tenant;
        same!(self, |store| store.queue(tenant, project, filter, None));
        let mut keyset = first();
        loop {
            let page = Some(&keyset);
            let slice = same!(self, |store| store.queue(tenant, project, filter, page)).slice;
            let Some(last) = slice.rows.last().filter(|_| slice.more) else {
                return Ok(());
            };
            keyset.after = Some(place(last.added_at, last.run.as_str()));
        }
    }

    async fn judged_runs(&self, filter: &JudgedRunFilter) -> Checked {
        let tenant = &self.tenant;
        let mut keyset = first();
        loop {
            let slice = same!(self, |store| store.judged_runs(tenant, filter, &keyset));
            let Some(last) = slice.rows.last().filter(|_| slice.more) else {
                return Ok(());
            };
            keyset.after = Some(place(last.copy.captured_at, last.copy.run.as_str()));
        }
    }

    /// All that can be asked without a filter.
    async fn everything(&self) -> Checked {
        let tenant = &self.tenant;
        let page = Keyset {
            after: None,
            limit: PageSize::new(100).unwrap(),
        };
        for id in &self.recorded {
            same!(self, |store| store.judgment(tenant, id));
        }
        for n in 0..RUNS {
            same!(self, |store| store.is_erased(tenant, &id("run", n)));
        }
        for n in 0..2 {
            let project = &id("project", n);
            let queue = same!(self, |store| store.queue(
                tenant,
                project,
                &Default::default(),
                Some(&page)
            ));
            for QueueItem { run, .. } in &queue.slice.rows {
                same!(self, |store| store.queue_item(tenant, project, run));
            }
            same!(self, |store| store.wanted_classes(tenant, project));
            same!(self, |store| store.enabled_rules(tenant, project));
        }
        for n in 0..4 {
            let (project, rule) = (&rule_project(n), &id("rule", n));
            same!(self, |store| store
                .rule_results(tenant, project, rule, None));
        }
        self.judged_runs(&Default::default()).await
    }
}

fn first() -> Keyset {
    Keyset {
        after: None,
        limit: PageSize::new(2).unwrap(),
    }
}

fn place(at: Timestamp, id: &str) -> Position {
    Position { at, id: id.into() }
}

/// That what is kept of numbers is what can be counted.
pub(crate) async fn assert_counted(pool: &SqlitePool) {
    let of_states = "SELECT COUNT(*) FROM kindgi_queue_counts c WHERE items <> \
                     (SELECT COUNT(*) FROM kindgi_queue_items q WHERE q.tenant = c.tenant \
                     AND q.project = c.project AND q.state = c.state AND (c.kind = '' \
                     OR (c.kind = 'agent' AND q.agent = c.of_id) OR (c.kind = 'any' AND q.wants_any = 1) \
                     OR EXISTS (SELECT 1 FROM kindgi_tellings t WHERE t.tenant = q.tenant AND t.run = q.run \
                     AND ((c.kind = 'rule' AND t.rule = c.of_id AND t.skipped = 0) \
                     OR (c.kind = 'wants' AND t.wants = c.of_id) \
                     OR (c.kind = 'only' AND t.wants = c.of_id AND q.wants_any = 0)))))";
    assert_eq!(number(pool, of_states).await, 0);
    let uncounted = "SELECT COUNT(*) FROM (SELECT '' AS kind, COUNT(*) AS n FROM kindgi_queue_items \
                     UNION ALL SELECT 'agent', COUNT(agent) FROM kindgi_queue_items \
                     UNION ALL SELECT 'any', COUNT(NULLIF(wants_any, 0)) FROM kindgi_queue_items \
                     UNION ALL SELECT 'rule', COUNT(NULLIF(skipped, 1)) FROM kindgi_tellings \
                     UNION ALL SELECT 'wants', COUNT(wants) FROM kindgi_tellings) e WHERE n <> \
                     (SELECT COALESCE(SUM(items), 0) FROM kindgi_queue_counts c WHERE c.kind = e.kind)";
    assert_eq!(number(pool, uncounted).await, 0);
    let open = "SELECT COUNT(*) FROM kindgi_rules r WHERE open_items <> \
                (SELECT COUNT(*) FROM kindgi_tellings t JOIN kindgi_queue_items q \
                ON q.tenant = t.tenant AND q.run = t.run WHERE t.tenant = r.tenant \
                AND t.rule = r.id AND t.skipped = 0 AND q.state = 'open')";
    assert_eq!(number(pool, open).await, 0);
    let of_no_item = "SELECT COUNT(*) FROM kindgi_tellings t WHERE skipped = 0 AND NOT EXISTS \
                      (SELECT 1 FROM kindgi_queue_items q WHERE q.tenant = t.tenant \
                      AND q.run = t.run AND q.project = t.project AND q.added_at = t.told_at)";
    assert_eq!(number(pool, of_no_item).await, 0);
}

#[test]
fn after_any_calls_sqlite_answers_as_memory_does() {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .unwrap();
    let folder = Folder::new();
    let store = runtime.block_on(folder.store());
    let case = std::cell::Cell::new(0);
    let config = Config {
        cases: 60,
        failure_persistence: None,
        ..Config::default()
    };
    // The same cases in every run.
    let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let mut runner = TestRunner::new_with_rng(config, rng);
    let tried = runner.run(&vec(call(), 20..120), |calls| {
        case.set(case.get() + 1);
        let mut both = Both {
            memory: MemoryStore::new(),
            sqlite: &store,
            tenant: format!("tenant-{}", case.get()).parse().unwrap(),
            made: 0,
            recorded: Vec::new(),
        };
        runtime.block_on(async {
            for (n, (how, call)) in calls.iter().enumerate() {
                both.call(*how, call).await?;
                if n % 8 == 0 {
                    both.everything().await?;
                }
            }
            both.everything().await
        })
    });
    tried.unwrap();
    runtime.block_on(async {
        let pool = folder.pool().await;
        assert_counted(&pool).await;
        let migration = include_str!("../../migrations/sqlite/0006_lists.sql");
        let recount = fills(migration, "queue_counts");
        for sql in ["DELETE FROM kindgi_queue_counts WHERE kind <> ''", &recount] {
            sqlx::query(AssertSqlSafe(sql))
                .execute(&pool)
                .await
                .unwrap();
        }
        assert_counted(&pool).await;
        for (what, sql) in COVERED {
            assert!(number(&pool, sql).await > 0, "the calls came to no {what}");
        }
    });
}

/// What the calls must have come to, or they show little.
const COVERED: [(&str, &str); 7] = [
    (
        "open item",
        "SELECT COUNT(*) FROM kindgi_queue_items WHERE state = 'open'",
    ),
    (
        "judged item",
        "SELECT COUNT(*) FROM kindgi_queue_items WHERE state = 'judged'",
    ),
    (
        "dismissed item",
        "SELECT COUNT(*) FROM kindgi_queue_items WHERE state = 'dismissed'",
    ),
    (
        "erased item",
        "SELECT COUNT(*) FROM kindgi_queue_items WHERE state = 'erased'",
    ),
    (
        "skipped run",
        "SELECT COUNT(*) FROM kindgi_tellings WHERE skipped = 1",
    ),
    ("purge", "SELECT COUNT(*) FROM kindgi_purges"),
    (
        "participant's pseudonym",
        "SELECT COUNT(*) FROM kindgi_judgments WHERE participant LIKE 'nobody-%'",
    ),
];
