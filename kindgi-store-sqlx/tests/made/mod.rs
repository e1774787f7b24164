//! What tests on several databases put into a store.

use kindgi_core::{
    Timestamp,
    json::RawJson,
    model::{AssertedBy, Item, Judgment, PrincipalKind, RunCopy, Subject, TenantId, Verdict},
    store::NewJudgment,
};

pub(crate) fn tenant() -> TenantId {
    "acme".parse().unwrap()
}

pub(crate) fn at(millis: i64) -> Timestamp {
    Timestamp::from_unix_millis(millis).unwrap()
}

/// A judgment of item `key` of run `run`, with its run's copy.
pub(crate) fn judgment(id: &str, run: &str, key: &str) -> (NewJudgment, RunCopy) {
    let subject = Subject::Agent {
        id: "agent".parse().unwrap(),
        version: "1".parse().unwrap(),
    };
    let copy = RunCopy {
        run: run.parse().unwrap(),
        subject: subject.clone(),
        input: RawJson::parse("{}").unwrap(),
        output: RawJson::parse(r#"{"score": 1.10}"#).unwrap(),
        context: None,
        segments: Some(Vec::new()),
        captured_at: at(0),
    };
    let judgment = Judgment {
        id: id.parse().unwrap(),
        tenant: tenant(),
        project: "project".parse().unwrap(),
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
    (
        NewJudgment {
            judgment,
            item_value,
        },
        copy,
    )
}
