//! What the benchmarks share: a host whose runs put out about 2 KB, a store with many judgments,
//! and a large document.

use std::sync::Arc;

use async_trait::async_trait;
use kindgi_core::{
    BoxError, Clock, HostError, ManualClock, MemoryStore,
    engine::{Engine, RecordJudgment},
    host::{Permission, Permissions, Runs},
    json::RawJson,
    model::{InvalidText, Item, Principal, Readable, Run, RunId, Subject, TenantId, Verdict},
};

/// A host that has every run, and lets everyone do everything.
#[derive(Clone, Debug)]
pub struct Host {
    subject: Subject,
    input: RawJson,
    output: RawJson,
}

impl Host {
    /// A host whose runs all look alike.
    ///
    /// # Errors
    ///
    /// None in practice: its own constants are valid.
    pub fn new() -> Result<Self, BoxError> {
        let subject = Subject::Agent {
            id: "acme.matcher".parse()?,
            version: "1.2.0".parse()?,
        };
        let input = RawJson::parse(r#"{"question":"Which cases are like mine?"}"#)?;
        let output = RawJson::object(|o| {
            o.array("matches", |a| (0..10).for_each(|n| a.raw(&entry(n))));
        });
        Ok(Self {
            subject,
            input,
            output,
        })
    }
}

#[async_trait]
impl Runs for Host {
    async fn run(&self, _: &TenantId, id: &RunId) -> Result<Option<Run>, HostError> {
        let project = "project-1".parse().map_err(HostError::new)?;
        let run = Run::new(id.clone(), project, self.subject.clone());
        let run = run.with_input(self.input.clone());
        Ok(Some(run.completed_with(self.output.clone())))
    }
}

#[async_trait]
impl Permissions for Host {
    async fn allows(&self, _: &Principal, _: Permission<'_>) -> Result<bool, HostError> {
        Ok(true)
    }

    async fn readable_projects(&self, _: &Principal) -> Result<Readable, HostError> {
        Ok(Readable::All)
    }
}

/// Who judges.
///
/// # Errors
///
/// None in practice: its own constants are valid.
pub fn judge() -> Result<Principal, InvalidText> {
    Ok(Principal::user("acme".parse()?, "ada".parse()?))
}

/// A yes to the first match of a run.
///
/// # Errors
///
/// When the ids aren't valid.
pub fn judgment(run: &str, item: &str) -> Result<RecordJudgment, BoxError> {
    let item = Item::new(item.parse()?).with_pointer("/matches/0".parse()?);
    Ok(RecordJudgment::new(run.parse()?, item, Verdict::Yes))
}

/// An engine on an empty store.
///
/// # Errors
///
/// None in practice.
pub fn engine() -> Result<Engine, BoxError> {
    let host = Host::new()?;
    Ok(Engine::builder(MemoryStore::new(), host.clone(), host).build())
}

/// An engine on a store with so many live judgments: 100 for each run, a millisecond apart.
///
/// # Errors
///
/// When the engine refuses one, which doesn't happen in practice.
pub async fn engine_with(judgments: usize) -> Result<Engine, BoxError> {
    let host = Host::new()?;
    let clock = Arc::new(ManualClock::default());
    let engine = Engine::builder(MemoryStore::new(), host.clone(), host);
    let engine = engine.clock(Arc::clone(&clock) as Arc<dyn Clock>).build();
    let who = judge()?;
    for n in 0..judgments {
        clock.advance_millis(1);
        let new = judgment(&format!("run-{}", n / 100), &format!("item-{}", n % 100))?;
        engine.record_judgment(&who, new).await?;
    }
    Ok(engine)
}

/// A document of at least so many bytes: an array `items` of entries, and a member `last`.
pub fn document(bytes: usize) -> RawJson {
    let each = entry(0).as_str().len();
    RawJson::object(|o| {
        o.array("items", |a| {
            (0..bytes.div_ceil(each)).for_each(|n| a.raw(&entry(n)))
        });
        o.bool("last", true);
    })
}

/// An entry of a list of matches, about 200 bytes.
fn entry(n: usize) -> RawJson {
    RawJson::object(|o| {
        o.str("caseId", &format!("case-{n:08}"));
        o.str("title", "Müller \"&\" Sons v. Harbour Authority");
        o.f64("score", 0.875);
        o.str("court", "Commercial Court");
        o.str(
            "summary",
            "A claim for demurrage.\nThe vessel waited eleven days at anchor.",
        );
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_document_is_as_large_as_asked_for_and_little_more() {
        let length = document(1_000_000).as_str().len();
        assert!((1_000_000..1_010_000).contains(&length), "{length}");
        assert_eq!(
            RawJson::parse(document(1000).as_str()).unwrap(),
            document(1000)
        );
    }
}
