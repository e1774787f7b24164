//! Databases of a test's own, and what to put into them.

use kindgi_core::{
    Timestamp,
    json::RawJson,
    model::{
        AssertedBy, ClassScope, EndedRun, Item, JudgeClass, JudgingRule, Judgment, PrincipalKind,
        ProjectId, RuleWhen, RunCopy, Sample, Subject, TenantId, Verdict, Weight,
    },
    store::{Candidate, NewJudgment, Write},
};
use kindgi_store_sqlx::{Durability, SqlxStore, SqlxStoreBuilder};
use kindgi_test_servers::Postgres;

/// A new database on the server of this process.
pub(crate) fn url() -> String {
    Postgres::shared().fresh_database()
}

/// The database's name in a URL.
pub(crate) fn name_of(url: &str) -> &str {
    url.rsplit_once('/').unwrap().1
}

/// What a statement of the test's own answers, as text.
pub(crate) fn query(url: &str, sql: &str) -> Vec<Vec<Option<String>>> {
    Postgres::shared().query(name_of(url), sql)
}

/// The same, if it is one cell.
pub(crate) fn cell(url: &str, sql: &str) -> String {
    query(url, sql)[0][0].clone().unwrap()
}

/// Nobody pulls the plug.
pub(crate) fn builder() -> SqlxStoreBuilder {
    SqlxStore::builder().durability(Durability::MayLoseLastWritesOnPowerLoss)
}

pub(crate) async fn open(url: &str) -> SqlxStore {
    builder().connect(url).await.unwrap()
}

pub(crate) fn tenant() -> TenantId {
    "acme".parse().unwrap()
}

pub(crate) fn project() -> ProjectId {
    "project".parse().unwrap()
}

pub(crate) fn at(millis: i64) -> Timestamp {
    Timestamp::from_unix_millis(millis).unwrap()
}

/// A write of no operation.
pub(crate) fn write(tenant: &TenantId) -> Write<'_> {
    Write {
        tenant,
        now: at(0),
        operation: None,
    }
}

/// A judgment of item `key` of run `run`.
pub(crate) fn judgment(id: &str, run: &str, key: &str) -> NewJudgment {
    let subject = Subject::Agent {
        id: "agent".parse().unwrap(),
        version: "1".parse().unwrap(),
    };
    let judgment = Judgment {
        id: id.parse().unwrap(),
        tenant: tenant(),
        project: project(),
        run: run.parse().unwrap(),
        subject,
        item: Item::new(key.parse().unwrap()),
        verdict: Verdict::Yes,
        reason: None,
        correction: None,
        class: None,
        restricted: false,
        asserted_by: AssertedBy {
            kind: PrincipalKind::User,
            id: "ada".parse().unwrap(),
        },
        participant: None,
        created_at: at(0),
        unregistered_at: None,
        superseded_by: None,
    };
    let item_value = None;
    NewJudgment {
        judgment,
        item_value,
    }
}

/// The copy of a judgment's run.
pub(crate) fn copy(judgment: &Judgment) -> RunCopy {
    RunCopy {
        run: judgment.run.clone(),
        subject: judgment.subject.clone(),
        input: RawJson::parse("{}").unwrap(),
        output: RawJson::parse(r#"{"score": 1.10}"#).unwrap(),
        context: None,
        segments: Some(Vec::new()),
        captured_at: at(0),
    }
}

pub(crate) fn class(id: &str, name: &str) -> JudgeClass {
    JudgeClass {
        id: id.parse().unwrap(),
        tenant: tenant(),
        scope: ClassScope::Tenant,
        name: name.parse().unwrap(),
        weight: Weight::new(0.1).unwrap(),
        description: None,
        assertable_by: None,
        created_at: at(0),
        updated_at: at(0),
        unregistered_at: None,
    }
}

pub(crate) fn rule(id: &str, version: u32) -> JudgingRule {
    JudgingRule {
        id: id.parse().unwrap(),
        tenant: tenant(),
        project: project(),
        version,
        name: "every answer".parse().unwrap(),
        when: RuleWhen::default(),
        sample: Sample::ALL,
        max_open: None,
        class: None,
        enabled: true,
        created_by: None,
        created_at: at(0),
        unregistered_at: None,
    }
}

pub(crate) fn ended(run: &str) -> EndedRun {
    let subject = judgment("id", run, "key").judgment.subject;
    EndedRun::new(run.parse().unwrap(), project(), subject, at(0))
}

/// Version 1 of a rule, about a run.
pub(crate) fn candidate(rule: &str) -> Candidate {
    Candidate {
        rule: rule.parse().unwrap(),
        version: 1,
        max_open: None,
        wants: None,
    }
}
