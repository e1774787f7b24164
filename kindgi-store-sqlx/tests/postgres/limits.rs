//! What PostgreSQL's indexes and documents carry.
//!
//! An index takes at most 2,704 bytes a row. Ids of 256 characters of up to two bytes fit anywhere;
//! of ids of 256 characters of four bytes no index takes three. What doesn't fit is refused as too
//! large, and nothing of it is written.

use std::{
    future::Future,
    hash::{BuildHasher, RandomState},
    time::Duration,
};

use kindgi_core::{
    StoreErrorKind,
    idempotency::{About, Begun, Claim, IdempotencyStore, KeptAnswer, Outcome, Token},
    json::RawJson,
    model::{ClassScope, Readable, Segment, Subject},
    store::{
        Candidate, ClassAt, JudgeClassStore, JudgingQueueStore, JudgingRuleStore, JudgmentFilter,
        JudgmentStore, Keyset, Lifecycle, Operation, OperationId, StoreResult,
    },
};
use kindgi_store_sqlx::SqlxStore;

use super::support::{self, at, cell, url};

/// 256 characters that are no repetition, of so many bytes each.
fn long(bytes: u32) -> String {
    let hasher = RandomState::new();
    let characters = (0..256u32).map(|n| {
        let random = u32::try_from(hasher.hash_one(n) >> 40).unwrap();
        let code = match bytes {
            1 => u32::from(b'!') + random % 94,
            2 => 0x100 + random % 0x600,
            _ => 0x1_0000 + random % 0xf_0000,
        };
        char::from_u32(code).unwrap()
    });
    let text: String = characters.collect();
    assert_eq!(text.len(), 256 * bytes as usize);
    text
}

/// Which of some places have long ids, by the places' names.
#[derive(Debug)]
struct Ids {
    /// Of how many bytes a character.
    bytes: u32,
    long: Vec<&'static str>,
}

impl Ids {
    /// All choices of places.
    fn choices(bytes: u32, places: &[&'static str]) -> Vec<Self> {
        let chosen = |choice: usize| {
            let places = places.iter().enumerate();
            let places = places.filter(|(n, _)| choice & (1 << n) != 0);
            places.map(|(_, place)| *place).collect()
        };
        let all = (0..1 << places.len()).map(|choice| Self {
            bytes,
            long: chosen(choice),
        });
        all.collect()
    }

    /// A new id for a place.
    fn of<T: std::str::FromStr<Err: std::fmt::Debug>>(&self, place: &str) -> T {
        let id = match self.long.contains(&place) {
            true => long(self.bytes),
            false => format!("{:x}", RandomState::new().hash_one(0)),
        };
        id.parse().unwrap()
    }

    /// Whether each index takes a row of them.
    fn fit(&self, indexes: &[&[&str]]) -> bool {
        let of_index = |index: &&[&str]| {
            let long = index.iter().filter(|place| self.long.contains(place));
            long.map(|_| self.bytes * 256).sum::<u32>()
        };
        indexes.iter().all(|index| of_index(index) < 2600)
    }
}

/// A store, and its database's URL.
type Place<'a> = (&'a SqlxStore, &'a str);

/// How many rows all tables have.
fn rows(url: &str) -> String {
    let count = "SELECT string_agg(format('(SELECT COUNT(*) FROM %I)', tablename), ' + ') \
                 FROM pg_tables WHERE schemaname = 'public'";
    cell(url, &format!("SELECT {}", cell(url, count)))
}

/// Does a step, which writes all or nothing.
async fn step<T>(url: &str, call: impl Future<Output = StoreResult<T>>) -> StoreResult<T> {
    let before = rows(url);
    let came = call.await;
    if let Err(error) = &came {
        assert_eq!(error.kind(), StoreErrorKind::TooLarge, "{error:?}");
        assert_eq!(before, rows(url), "something stays");
    }
    came
}

/// Where a judgment has ids that an index is of.
const RECORD: [&str; 8] = [
    "tenant",
    "id",
    "project",
    "run",
    "subject",
    "version",
    "class",
    "participant",
];

/// The places of the indexes with the most: of judgments and of runs.
const OF_RECORD: [&[&str]; 6] = [
    &["tenant", "run", "id"],
    &["tenant", "project", "subject", "version", "id"],
    &["tenant", "project", "class", "id"],
    &["tenant", "project", "participant", "id"],
    &["tenant", "run", "class"],
    &["tenant", "project", "subject", "version", "run"],
];

/// A judgment, which is then read by each id that it has.
async fn record((store, url): Place<'_>, ids: &Ids, has_class: bool) -> StoreResult<()> {
    let mut new = support::judgment("id", "run", "key");
    let j = &mut new.judgment;
    j.tenant = ids.of("tenant");
    (j.id, j.project, j.run) = (ids.of("id"), ids.of("project"), ids.of("run"));
    j.subject = Subject::Agent {
        id: ids.of("subject"),
        version: ids.of("version"),
    };
    j.participant = Some(ids.of("participant"));
    // No index has these.
    j.item.key = long(ids.bytes).parse().unwrap();
    j.asserted_by.id = long(ids.bytes).parse().unwrap();
    let mut class = support::class("class", "name");
    if has_class {
        class.id = ids.of("class");
        class.tenant = j.tenant.clone();
        j.class = Some(class.id.clone());
        let write = support::write(&j.tenant);
        store.create_class(write, &class).await.unwrap();
    }
    let class = has_class.then_some(ClassAt {
        id: &class.id,
        revision: 1,
    });
    let mut copy = support::copy(&new.judgment);
    copy.segments = Some(vec![Segment::new("key", &long(ids.bytes)).unwrap()]);
    let (id, body) = (OperationId([7; 32]), [0; 32]);
    let mut write = support::write(&new.judgment.tenant);
    write.operation = Some(Operation {
        id: &id,
        body: &body,
        keep_until: at(1000),
    });
    step(url, store.record(write, &new, Some(&copy), class)).await?;
    let j = &new.judgment;
    let filter = JudgmentFilter {
        run: Some(j.run.clone()),
        agent: j.subject.agent().cloned(),
        agent_version: Some(j.subject.version().clone()),
        class: j.class.clone(),
        participant: j.participant.clone(),
        ..JudgmentFilter::default()
    };
    let limit = Default::default();
    let keyset = Keyset { after: None, limit };
    let readable = Readable::Only([j.project.clone()].into());
    let page = store.judgments(&j.tenant, &filter, &readable, &keyset);
    assert_eq!(page.await?.rows, std::slice::from_ref(j));
    Ok(())
}

#[tokio::test]
async fn a_judgment_of_long_ids_is_whole_or_too_large() {
    let url = url();
    let store = support::open(&url).await;
    let (mut taken, mut refused) = (0, 0);
    for ids in Ids::choices(4, &RECORD) {
        let came = record((&store, &url), &ids, true).await;
        assert_eq!(came.is_ok(), ids.fit(&OF_RECORD), "{ids:?}: {came:?}");
        *(if came.is_ok() {
            &mut taken
        } else {
            &mut refused
        }) += 1;
    }
    assert_eq!((taken, refused), (86, 170));
}

/// Where the rest has ids.
const PLACES: [&str; 7] = [
    "tenant", "project", "run", "rule", "class", "agent", "thing",
];

/// The places of the indexes with the most: of classes, of rules, of items and of tellings.
const OF_QUEUE: [&[&str]; 7] = [
    &["tenant", "project", "agent", "class"],
    &["tenant", "class", "project"],
    &["tenant", "project", "rule"],
    &["tenant", "project", "agent", "run"],
    &["tenant", "project", "rule", "run"],
    &["tenant", "project", "class", "run"],
    &["tenant", "run", "rule"],
];

/// A class, a rule that wants it, and a run that is told, dismissed and erased.
async fn queue((store, url): Place<'_>, ids: &Ids) -> StoreResult<()> {
    let tenant = ids.of("tenant");
    let write = support::write(&tenant);
    let mut rule = support::rule("rule", 1);
    rule.id = ids.of("rule");
    rule.tenant = tenant.clone();
    rule.project = ids.of("project");
    let mut run = support::ended("run");
    run.id = ids.of("run");
    run.project = rule.project.clone();
    let (id, version) = (ids.of("agent"), "1".parse().unwrap());
    run.subject = Subject::Agent { id, version };
    let mut class = support::class("class", "name");
    class.id = ids.of("class");
    class.tenant = tenant.clone();
    let agent = run.subject.agent().cloned().unwrap();
    class.scope = ClassScope::Agent(rule.project.clone(), agent);
    step(url, store.create_class(write, &class)).await?;
    rule.class = Some(class.id.clone());
    let class = ClassAt {
        id: &class.id,
        revision: 1,
    };
    let appended = store.append_rule_version(write, &rule, Some(class));
    step(url, appended).await?;
    let candidates = [Candidate::from(&rule)];
    step(url, store.take(write, &run, 1, &candidates)).await?;
    let ada = "user:ada".parse().unwrap();
    let dismissed = store.dismiss(write, &rule.project, &run.id, &ada, None);
    step(url, dismissed).await?;
    let item = store.queue_item(&tenant, &rule.project, &run.id).await?;
    assert_eq!(item.unwrap().run, run.id);
    step(url, store.erase_run(write, &run.id)).await
}

#[tokio::test]
async fn a_queue_of_long_ids_is_whole_or_too_large() {
    let url = url();
    let store = support::open(&url).await;
    let (mut taken, mut refused) = (0, 0);
    for ids in Ids::choices(4, &PLACES[..6]) {
        let came = queue((&store, &url), &ids).await;
        assert_eq!(came.is_ok(), ids.fit(&OF_QUEUE), "{ids:?}: {came:?}");
        *(if came.is_ok() {
            &mut taken
        } else {
            &mut refused
        }) += 1;
    }
    assert_eq!((taken, refused), (31, 33));
}

#[tokio::test]
async fn ids_of_up_to_two_bytes_a_character_fit_everywhere() {
    let url = url();
    let store = support::open(&url).await;
    for bytes in [1, 2] {
        let (of_record, long) = (RECORD.to_vec(), PLACES.to_vec());
        let ids = Ids {
            bytes,
            long: of_record,
        };
        record((&store, &url), &ids, true).await.unwrap();
        record((&store, &url), &ids, false).await.unwrap();
        let ids = Ids { bytes, long };
        queue((&store, &url), &ids).await.unwrap();
        claim(&store, &ids).await.unwrap();
    }
}

/// A key with its answer, which is then replayed and forgotten.
async fn claim(store: &SqlxStore, ids: &Ids) -> StoreResult<()> {
    let mut key = OperationId([0; 32]);
    for (n, chunk) in key.0.chunks_mut(8).enumerate() {
        chunk.copy_from_slice(&RandomState::new().hash_one(n).to_le_bytes());
    }
    let (tenant, token, body) = (ids.of("tenant"), Token([1; 16]), [0; 32]);
    let duration = Duration::from_mins(10);
    let claim = Claim {
        tenant: &tenant,
        key: &key,
        body: &body,
        token: &token,
        hold: duration,
    };
    assert_eq!(store.begin(claim).await?, Begun::Run);
    let answer = KeptAnswer {
        status: 200,
        headers: Vec::new(),
        body: "é".repeat(1 << 20).into(),
    };
    let outcome = Outcome::Answer(answer.clone());
    let about = [
        About::Run(ids.of("thing")),
        About::Participant(ids.of("thing")),
    ];
    let completed = store.complete(&key, &token, &outcome, &about, duration);
    completed.await?;
    assert_eq!(store.begin(claim).await?, Begun::Replay(answer));
    store.forget(&tenant, &about[1]).await?;
    assert_eq!(store.begin(claim).await?, Begun::Run);
    Ok(())
}

#[tokio::test]
async fn keys_take_all_long_ids() {
    let store = support::open(&url()).await;
    for ids in Ids::choices(4, &["tenant", "thing"]) {
        claim(&store, &ids).await.unwrap();
    }
}

#[tokio::test]
async fn large_documents_are_kept_verbatim() {
    let store = support::open(&url()).await;
    for megabytes in [2, 30] {
        let id = format!("of-{megabytes}-mb");
        let mut new = support::judgment(&id, &id, "key");
        let text = "ä \\u00e4 1.10 ".repeat((megabytes << 20) / 14);
        let document = RawJson::parse(format!("[ 1.10,\"{text}\" ]")).unwrap();
        assert!(document.as_str().len() > megabytes << 20);
        let mut copy = support::copy(&new.judgment);
        (copy.input, copy.output) = (document.clone(), document.clone());
        new.item_value = Some(document.clone());
        let tenant = support::tenant();
        let write = support::write(&tenant);
        let recorded = store.record(write, &new, Some(&copy), None);
        recorded.await.unwrap();
        let found = store.judgment(&tenant, &new.judgment.id).await;
        let found = found.unwrap().unwrap();
        let item = found.item_value.as_ref().unwrap();
        for kept in [&found.run.input, &found.run.output, item] {
            assert!(kept.as_str() == document.as_str(), "{megabytes} MB differ");
        }
    }
}
