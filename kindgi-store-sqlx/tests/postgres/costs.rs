//! Counts the statements that a server was sent, each of which is a round trip, and says what to
//! count.

use std::{fs, future::Future, path::PathBuf, pin::Pin, time::Duration};

use kindgi_core::{
    idempotency::{About, Begun, Claim, Completed, IdempotencyStore, KeptAnswer, Outcome, Token},
    model::{MaxOpen, PrincipalRef, RunId},
    store::{
        Applied, ClassAt, ClassCreated, ClassReplaced, ItemMoved, JudgeClassStore,
        JudgingQueueStore, JudgingRuleStore, JudgmentRemoved, JudgmentStore, Operation,
        OperationId, Recorded, RuleAppended, RuleStopped, Taken, Write,
    },
};
use kindgi_store_sqlx::SqlxStore;
use kindgi_test_servers::Postgres;

use super::support::{self, at, judgment, name_of, tenant};

/// A server that writes down each statement before it runs it.
pub(crate) struct Counting {
    server: Postgres,
    url: String,
    log: PathBuf,
}

impl Counting {
    pub(crate) fn start() -> Self {
        // What is only prepared isn't written down.
        let server = Postgres::start_with(&[("log_statement", "all"), ("log_min_messages", "log")]);
        let url = server.fresh_database();
        let log = server.folder().join("log");
        Self { server, url, log }
    }

    /// Goes on in an empty database.
    pub(crate) fn renew(&mut self) {
        self.url = self.server.fresh_database();
    }

    pub(crate) async fn store(&self) -> SqlxStore {
        support::open(&self.url).await
    }

    pub(crate) fn query(&self, sql: &str) -> Vec<Vec<Option<String>>> {
        self.server.query(name_of(&self.url), sql)
    }

    /// The statements of something. Several in one message, such as a transaction's begin with its
    /// locks, are one.
    pub(crate) async fn statements(&self, of: impl Future<Output = ()>) -> Vec<String> {
        let before = fs::metadata(&self.log).unwrap().len();
        of.await;
        let log = fs::read(&self.log).unwrap();
        let new = String::from_utf8_lossy(&log[usize::try_from(before).unwrap()..]).into_owned();
        let kinds = ["LOG:  statement: ", "LOG:  execute "];
        let is_statement = |line: &&str| kinds.iter().any(|kind| line.contains(kind));
        new.lines()
            .filter(is_statement)
            .map(str::to_owned)
            .collect()
    }

    /// Adds a thousand live judgments like the run's, if it has any.
    pub(crate) fn crowd(&self, run: &RunId) {
        self.query(&format!(
            "INSERT INTO kindgi_judgments SELECT (jsonb_populate_record(NULL::kindgi_judgments, \
             to_jsonb(j) || jsonb_build_object('id', j.id || '~' || g, \
             'item_key', j.item_key || '~' || g, 'live_key', md5(j.id || g)))).* \
             FROM (SELECT * FROM kindgi_judgments WHERE run = '{run}' \
             AND unregistered_at IS NULL LIMIT 1) j, generate_series(1, 1000) g"
        ));
    }
}

pub(crate) type Act = fn(At) -> Pin<Box<dyn Future<Output = ()> + Send>>;

/// A call as an operation of this number.
macro_rules! keyed {
    ($at:ident, $number:expr, |$write:ident| $call:expr) => {{
        let (tenant, id) = (tenant(), $at.operation($number));
        let $write = Write {
            tenant: &tenant,
            now: at(0),
            operation: Some(Operation {
                id: &id,
                body: &[0; 32],
                keep_until: at(1000),
            }),
        };
        $call.await.unwrap()
    }};
}

/// A place of its own for the round of a case: no other has its ids.
#[derive(Clone)]
pub(crate) struct At {
    pub(crate) store: SqlxStore,
    pub(crate) case: u8,
    pub(crate) round: u8,
}

impl At {
    pub(crate) fn id(&self, what: &str) -> String {
        format!("{what}-{}-{}", self.case, self.round)
    }

    pub(crate) fn run(&self) -> RunId {
        self.id("run").parse().unwrap()
    }

    pub(crate) fn operation(&self, number: u8) -> OperationId {
        let mut id = [0; 32];
        id[..3].copy_from_slice(&[self.case, self.round, number]);
        OperationId(id)
    }

    /// Records judgment `id` of item `key` with its run's copy.
    pub(crate) async fn record(&self, id: &str, key: &str, class: bool) -> Applied<Recorded> {
        let mut new = judgment(&self.id(id), self.run().as_str(), key);
        let class = class.then(|| self.id("class").parse().unwrap());
        new.judgment.class = class.clone();
        let number = id.bytes().map(u32::from).sum::<u32>();
        let number = u8::try_from(number % 200).unwrap();
        let copy = support::copy(&new.judgment);
        let class = class.as_ref().map(|id| ClassAt { id, revision: 1 });
        keyed!(self, number, |write| self.store.record(
            write,
            &new,
            Some(&copy),
            class
        ))
    }

    /// The same; it must be done, and supersede or not.
    pub(crate) async fn recorded(&self, id: &str, key: &str, class: bool, supersedes: bool) {
        match self.record(id, key, class).await {
            Applied::Done(Recorded::Ok { superseded, .. }) => {
                assert_eq!(superseded.is_some(), supersedes);
            }
            other => panic!("{other:?}"),
        }
    }

    pub(crate) async fn removed(&self, id: &str) -> Applied<JudgmentRemoved> {
        let id = self.id(id).parse().unwrap();
        keyed!(self, 201, |write| self.store.remove(write, &id))
    }

    pub(crate) async fn created(&self) -> Applied<ClassCreated> {
        let class = support::class(&self.id("class"), &self.id("name"));
        keyed!(self, 202, |write| self.store.create_class(write, &class))
    }

    pub(crate) async fn replaced(&self, revision: u64) -> Applied<ClassReplaced> {
        let class = support::class(&self.id("class"), &self.id("another"));
        keyed!(self, 203, |write| self
            .store
            .replace_class(write, revision, &class))
    }

    /// Appends a version of the one rule of a project of its own.
    pub(crate) async fn appended(&self, version: u32, class: bool) -> Applied<RuleAppended> {
        let mut rule = support::rule(&self.id("rule"), version);
        rule.project = self.id("project").parse().unwrap();
        let class = class.then(|| self.id("class").parse().unwrap());
        rule.class = class.clone();
        let number = 204 + u8::try_from(version).unwrap();
        let class = class.as_ref().map(|id| ClassAt { id, revision: 1 });
        keyed!(self, number, |write| self
            .store
            .append_rule_version(write, &rule, class))
    }

    pub(crate) async fn stopped(&self) -> Applied<RuleStopped> {
        let (project, rule) = (self.id("project"), self.id("rule"));
        let (project, rule) = (project.parse().unwrap(), rule.parse().unwrap());
        keyed!(self, 210, |write| self
            .store
            .stop_rule(write, &project, &rule))
    }

    /// Tells the project's one rule, at its first version, of a run.
    pub(crate) async fn told(&self, run: &str, max_open: Option<u32>, class: bool) -> Taken {
        let mut ended = support::ended(&self.id(run));
        ended.project = self.id("project").parse().unwrap();
        let mut candidate = support::candidate(&self.id("rule"));
        candidate.max_open = max_open.and_then(MaxOpen::new);
        candidate.wants = class.then(|| self.id("class").parse().unwrap());
        let tenant = tenant();
        let (write, candidates) = (support::write(&tenant), [candidate]);
        let taken = self.store.take(write, &ended, 1, &candidates);
        taken.await.unwrap()
    }

    /// A rule, and the run in its queue.
    pub(crate) async fn queued(&self, class: bool) {
        assert!(matches!(
            self.appended(1, class).await,
            Applied::Done(RuleAppended::Ok(_))
        ));
        assert!(matches!(
            self.told("run", None, class).await,
            Taken::Queued(_)
        ));
    }

    pub(crate) async fn dismissed(&self) -> Applied<ItemMoved> {
        let ada: PrincipalRef = "user:ada".parse().unwrap();
        let project = self.id("project").parse().unwrap();
        let run = self.run();
        keyed!(self, 211, |write| self
            .store
            .dismiss(write, &project, &run, &ada, None))
    }

    pub(crate) async fn reopened(&self) -> Applied<ItemMoved> {
        let ada: PrincipalRef = "user:ada".parse().unwrap();
        let project = self.id("project").parse().unwrap();
        let run = self.run();
        keyed!(self, 212, |write| self
            .store
            .reopen(write, &project, &run, &ada))
    }

    /// Claims the key, with a body and for so many seconds.
    pub(crate) async fn begun(&self, token: u8, body: u8, seconds: u64) -> Begun {
        let claim = Claim {
            tenant: &tenant(),
            key: &self.operation(0),
            body: &[body; 32],
            token: &Token([token; 16]),
            hold: Duration::from_secs(seconds),
        };
        self.store.begin(claim).await.unwrap()
    }

    pub(crate) async fn completed(&self, about: bool) -> Completed {
        let outcome = Outcome::Answer(KeptAnswer {
            status: 201,
            headers: Vec::new(),
            body: "{}".into(),
        });
        let things = [
            About::Run(self.run()),
            About::Participant("grace".parse().unwrap()),
        ];
        let things = if about { &things[..] } else { &[] };
        let (key, token) = (self.operation(0), Token([1; 16]));
        let keep = Duration::from_secs(600);
        let completed = self.store.complete(&key, &token, &outcome, things, keep);
        completed.await.unwrap()
    }

    pub(crate) async fn renewed(&self) -> bool {
        let (key, token) = (self.operation(0), Token([1; 16]));
        let hold = Duration::from_secs(600);
        self.store.renew(&key, &token, hold).await.unwrap()
    }

    pub(crate) async fn released(&self) -> bool {
        let (key, token) = (self.operation(0), Token([1; 16]));
        self.store.release(&key, &token).await.unwrap()
    }
}
