//! What tests on several databases put into a store.

use kindgi_core::{
    Timestamp,
    json::RawJson,
    model::{
        AssertedBy, Item, Judgment, PrincipalKind, RunCopy, Segment, Subject, TenantId, Verdict,
    },
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

/// Judgments of runs with segments of all lengths and all kinds of text.
pub(crate) fn judgments_with_segments() -> Vec<(NewJudgment, RunCopy)> {
    let long = "\u{1f980}".repeat(120);
    let texts = [
        "plain",
        "a \"quoted\" \\ one",
        "brackets ]},{[",
        "tab\tnewline\n",
        "\u{1}\u{7f}\u{2028}",
        "caf\u{e9}",
        "cafe\u{301}",
        "?",
        "$1 {} %_",
        &long,
    ];
    let path = |length: usize, first: usize| -> Vec<_> {
        let segment = |n| Segment::new(&format!("key{n}"), texts[n % texts.len()]).unwrap();
        (first..first + length).map(segment).collect()
    };
    let paths =
        (0..texts.len()).flat_map(|first| [0, 1, 2, 5, 40].map(|length| path(length, first)));
    // Of one run, paths that end alike.
    let again = vec![Segment::new("again", &long).unwrap(); 3];
    let paths = paths.chain([again]);
    let runs = paths.enumerate().map(|(n, path)| {
        let (new, mut copy) = judgment(&format!("j{n}"), &format!("run{n}"), "key");
        copy.segments = Some(path);
        (new, copy)
    });
    runs.collect()
}

/// The statement of a migration that fills a table from the rows that are there.
pub(crate) fn fills(migration: &str, table: &str) -> String {
    let migration = migration.replace("{}", "kindgi_");
    let begins = format!("INSERT INTO kindgi_{table}");
    let mut statements = migration.split(";\n").map(str::trim);
    let fills = statements.find(|sql| sql.contains(&begins));
    fills.unwrap().to_owned()
}
