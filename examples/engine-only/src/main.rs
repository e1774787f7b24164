//! Judgments without HTTP: a program of one's own that calls the engine.
//!
//! It judges a run, judges again, lists, removes, and judges under a restricted judge class, and
//! prints what it does.

use std::io::{self, Write};

use async_trait::async_trait;
use kindgi_core::{
    BoxError, HostError, MemoryStore,
    engine::{CreateJudgeClass, Engine, JudgmentQuery, RecordJudgment},
    host::{Permission, Permissions, Runs},
    json::RawJson,
    model::{
        AssertableBy, ClassScope, Item, PageRequest, Principal, Readable, ReviewerRole, Run, RunId,
        Subject, TenantId, Verdict, Weight,
    },
};

// Any runtime will do: the engine needs none of its own.
#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), BoxError> {
    run(&mut io::stdout().lock()).await
}

async fn run(out: &mut impl Write) -> Result<(), BoxError> {
    // A database in place of `MemoryStore` keeps judgments beyond the process.
    let engine = Engine::builder(MemoryStore::new(), Host, Host).build();
    // Who calls comes from the program's own sign-in, never from what they send.
    let ada = Principal::user("acme".parse()?, "ada".parse()?);
    let lin =
        Principal::user("acme".parse()?, "lin".parse()?).with_reviewer_role(ReviewerRole::Senior);

    let score = || -> Result<Item, BoxError> {
        Ok(Item::new("score".parse()?).with_pointer("/score".parse()?))
    };
    let judgment = |verdict| -> Result<RecordJudgment, BoxError> {
        Ok(RecordJudgment::new("run-1".parse()?, score()?, verdict))
    };

    let first = engine
        .record_judgment(&ada, judgment(Verdict::Yes)?)
        .await?;
    let kept = engine.judgment(&ada, &first.id).await?;
    let value = kept.item_value.unwrap_or(RawJson::null());
    writeln!(out, "ada says yes to the score {value}")?;

    let mut changed = judgment(Verdict::No)?;
    changed.reason = Some("two decimals too many".parse()?);
    let second = engine.record_judgment(&ada, changed).await?;
    let first = engine.judgment(&ada, &first.id).await?.judgment;
    let superseded = first.superseded_by == Some(second.id.clone());
    writeln!(
        out,
        "ada changes her mind; the first judgment is superseded: {superseded}"
    )?;

    let mut class = CreateJudgeClass::new(
        ClassScope::Tenant,
        "expert".parse()?,
        Weight::new(3.0).ok_or("a weight is finite and not negative")?,
    );
    class.assertable_by = Some(AssertableBy::new(
        Some(ReviewerRole::Senior),
        Vec::new(),
        Vec::new(),
    )?);
    let class = engine.create_judge_class(&ada, class).await?;
    let mut as_expert = judgment(Verdict::Yes)?;
    as_expert.class = Some(class.id.clone());
    let refused = engine.record_judgment(&ada, as_expert.clone()).await;
    let why = refused.err().map_or("nobody".into(), |e| e.to_string());
    writeln!(out, "ada is no expert: {why}")?;
    engine.record_judgment(&lin, as_expert).await?;
    writeln!(
        out,
        "lin is, and says yes with weight {}",
        class.weight.get()
    )?;

    let all = (JudgmentQuery::default(), PageRequest::default());
    for row in engine.judgments(&ada, &all.0, &all.1).await?.rows {
        writeln!(
            out,
            "live: {} by {}",
            row.verdict.as_str(),
            row.asserted_by.id
        )?;
    }
    engine.unregister_judgment(&ada, &second.id).await?;
    let left = engine.judgments(&ada, &all.0, &all.1).await?.rows.len();
    writeln!(out, "ada's is removed; live judgments left: {left}")?;
    Ok(())
}

/// What the program knows of its runs, and who may do what.
struct Host;

#[async_trait]
impl Runs for Host {
    /// A real program looks the run up in its own database, by tenant and id.
    async fn run(&self, _: &TenantId, id: &RunId) -> Result<Option<Run>, HostError> {
        if id.as_str() != "run-1" {
            return Ok(None);
        }
        let subject = Subject::Agent {
            id: "acme.matcher".parse().map_err(HostError::new)?,
            version: "1.2.0".parse().map_err(HostError::new)?,
        };
        let project = "project-1".parse().map_err(HostError::new)?;
        let output = RawJson::parse(r#"{"score":1.1000}"#).map_err(HostError::new)?;
        Ok(Some(
            Run::new(id.clone(), project, subject).completed_with(output),
        ))
    }
}

#[async_trait]
impl Permissions for Host {
    /// A real program asks its own permissions, for each `Permission` on its own.
    async fn allows(&self, _: &Principal, _: Permission<'_>) -> Result<bool, HostError> {
        Ok(true)
    }

    /// A real program names the projects, unless the caller may read them all.
    async fn readable_projects(&self, _: &Principal) -> Result<Readable, HostError> {
        Ok(Readable::All)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn it_prints_what_it_does() {
        let mut out = Vec::new();
        run(&mut out).await.unwrap();
        let expected = "\
ada says yes to the score 1.1000
ada changes her mind; the first judgment is superseded: true
ada is no expert: you may not judge under this judge class (at \"/judgeClassId\")
lin is, and says yes with weight 3
live: yes by lin
live: no by ada
ada's is removed; live judgments left: 1
";
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }
}
