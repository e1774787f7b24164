//! Databases of a test's own, and what to put into them.

#[path = "../made/mod.rs"]
mod made;
#[path = "../made/migrated.rs"]
mod migrated;

use kindgi_core::{
    model::{
        ClassScope, EndedRun, JudgeClass, JudgingRule, Judgment, ProjectId, RuleWhen, RunCopy,
        Sample, TenantId, Weight,
    },
    store::{Candidate, NewJudgment, Write},
};
use kindgi_store_sqlx::{Durability, SqlxStore, SqlxStoreBuilder};
use kindgi_test_servers::Postgres;

pub(crate) use made::{at, tenant};
pub(crate) use migrated::{fills, judgments_with_segments};

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

pub(crate) fn project() -> ProjectId {
    "project".parse().unwrap()
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
    made::judgment(id, run, key).0
}

/// The copy of a judgment's run.
pub(crate) fn copy(judgment: &Judgment) -> RunCopy {
    let (_, copy) = made::judgment("any", "any", "any");
    RunCopy {
        run: judgment.run.clone(),
        subject: judgment.subject.clone(),
        ..copy
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
