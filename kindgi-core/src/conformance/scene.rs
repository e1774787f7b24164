//! Plain rows of a tenant, for laws that tell a story.

use std::sync::Arc;

use super::{
    Report,
    call::{Answer, Ask, Call, OwnedOperation},
    lab::Lab,
};
use crate::{
    Timestamp,
    json::RawJson,
    model::{
        AssertedBy, ClassScope, Item, JudgeClass, JudgingRule, Judgment, PageSize, Position,
        PrincipalKind, Readable, RuleId, RuleWhen, RunCopy, RunId, Sample, Subject, TenantId,
        Verdict, Weight,
    },
    store::{
        ClassFilter, JudgmentFilter, Keyset, ListedRule, NewJudgment, OperationId, Recorded, Slice,
    },
};

/// The instant so many milliseconds after 2026-01-01T00:00:00.000Z.
pub(crate) fn at(millis: i64) -> Timestamp {
    Timestamp::UNIX_EPOCH.saturating_add_millis(1_767_225_600_000 + millis)
}

/// The first rows of a list, as many as a page may have.
pub(crate) fn first(limit: u16) -> Keyset {
    Keyset {
        after: None,
        limit: PageSize::new(limit).unwrap_or_default(),
    }
}

/// A tenant of its own.
pub(crate) struct Scene<'a> {
    pub(crate) lab: &'a Lab,
    pub(crate) tenant: TenantId,
}

impl<'a> Scene<'a> {
    pub(crate) fn new(lab: &'a Lab) -> Result<Self, Report> {
        let tenant = lab.tenant()?;
        Ok(Self { lab, tenant })
    }

    /// A judgment: key `item`, by the user `ada` for nobody.
    pub(crate) fn judgment(&self, id: &str, run: &str, now: i64) -> Result<NewJudgment, Report> {
        let judgment = Judgment {
            id: id.parse()?,
            tenant: self.tenant.clone(),
            project: "project".parse()?,
            run: run.parse()?,
            subject: subject()?,
            item: Item {
                key: "item".parse()?,
                pointer: None,
                rank: None,
            },
            verdict: Verdict::Yes,
            reason: Some("because".parse()?),
            correction: None,
            class: None,
            restricted: false,
            asserted_by: AssertedBy {
                kind: PrincipalKind::User,
                id: "ada".parse()?,
            },
            participant: None,
            created_at: at(now),
            unregistered_at: None,
            superseded_by: None,
        };
        let item_value = Some(RawJson::parse("1.10")?);
        Ok(NewJudgment {
            judgment,
            item_value,
        })
    }

    /// A copy with this output.
    pub(crate) fn copy(&self, run: &str, output: &str) -> Result<RunCopy, Report> {
        Ok(RunCopy {
            run: run.parse()?,
            subject: subject()?,
            input: RawJson::parse(r#"{"question": "?"}"#)?,
            output: RawJson::parse(output)?,
            context: None,
            segments: Some(Vec::new()),
            captured_at: at(0),
        })
    }

    /// A class of the tenant.
    pub(crate) fn class(&self, id: &str, name: &str, now: i64) -> Result<JudgeClass, Report> {
        Ok(JudgeClass {
            id: id.parse()?,
            tenant: self.tenant.clone(),
            scope: ClassScope::Tenant,
            name: name.parse()?,
            weight: Weight::new(1.0).ok_or_else(|| Report::new("1 is a weight"))?,
            description: None,
            assertable_by: None,
            created_at: at(now),
            updated_at: at(now),
            unregistered_at: None,
        })
    }

    /// The same class, retired.
    pub(crate) fn retired(class: &JudgeClass, now: i64) -> JudgeClass {
        JudgeClass {
            updated_at: at(now),
            unregistered_at: Some(at(now)),
            ..class.clone()
        }
    }

    /// A version of a rule of `project`, without a class.
    pub(crate) fn rule(&self, id: &str, version: u32, now: i64) -> Result<JudgingRule, Report> {
        Ok(JudgingRule {
            id: id.parse()?,
            tenant: self.tenant.clone(),
            project: "project".parse()?,
            version,
            name: format!("version {version}").parse()?,
            when: RuleWhen::default(),
            sample: Sample::ALL,
            max_open: None,
            class: None,
            enabled: true,
            created_by: None,
            created_at: at(now),
            unregistered_at: None,
        })
    }

    /// The call that appends a version at its `created_at`, whatever became of its class.
    pub(crate) fn append(&self, next: &JudgingRule) -> Call {
        Call {
            tenant: self.tenant.clone(),
            now: next.created_at,
            operation: None,
            ask: Ask::AppendRule {
                next: Box::new(next.clone()),
                class: None,
            },
        }
    }

    /// The call that stops a rule of `project`.
    pub(crate) fn stop(&self, id: &str, now: i64) -> Result<Call, Report> {
        Ok(self.call(now, Ask::StopRule("project".parse()?, id.parse()?)))
    }

    /// A writing call without an operation.
    pub(crate) fn call(&self, now: i64, ask: Ask) -> Call {
        Call {
            tenant: self.tenant.clone(),
            now: at(now),
            operation: None,
            ask,
        }
    }

    /// The call that records a judgment at its `created_at`.
    pub(crate) fn record(&self, new: NewJudgment, copy: Option<RunCopy>) -> Call {
        Call {
            tenant: self.tenant.clone(),
            now: new.judgment.created_at,
            operation: None,
            ask: Ask::Record {
                new: Box::new(new),
                copy: copy.map(Box::new),
                class: None,
            },
        }
    }

    /// Asks the store.
    pub(crate) fn ask(&self, call: &Call) -> Result<Answer, Report> {
        self.lab.block_on(call.ask(&*self.lab.store))
    }

    /// Asks, and fails the law unless this is the answer.
    pub(crate) fn expect(&self, call: &Call, answer: &Answer) -> Result<(), Report> {
        super::report::ensure_eq(
            &format!("the answer to\n  {call}"),
            &self.ask(call)?,
            answer,
        )
    }

    /// Records; what was superseded isn't looked at.
    pub(crate) fn recorded(
        &self,
        new: NewJudgment,
        copy: Option<RunCopy>,
    ) -> Result<Judgment, Report> {
        let call = self.record(new, copy);
        let answer = self.ask(&call)?;
        recorded(&answer).cloned().ok_or_else(|| {
            Report::new(format!(
                "the store refused a judgment: {answer:?}, to\n  {call}"
            ))
        })
    }

    /// Reads a judgment that is there.
    pub(crate) fn read(&self, id: &str) -> Result<crate::model::JudgmentWithCopies, Report> {
        let call = Call::reading(&self.tenant, Ask::Judgment(id.parse()?));
        match self.ask(&call)? {
            Answer::Judgment(Some(found)) => Ok(*found),
            answer => Err(Report::new(format!(
                "the judgment {id:?} is gone: {answer:?}"
            ))),
        }
    }

    /// Live judgments.
    pub(crate) fn live(
        &self,
        filter: &JudgmentFilter,
        readable: &Readable,
        keyset: Keyset,
    ) -> Result<Slice<Judgment>, Report> {
        let ask = Ask::Judgments(filter.clone(), readable.clone(), keyset);
        match self.ask(&Call::reading(&self.tenant, ask))? {
            Answer::Judgments(slice) => Ok(slice),
            _ => Err(Report::new("another answer than was asked for")),
        }
    }

    /// A rule's latest version; it must be there.
    pub(crate) fn latest(&self, id: &str) -> Result<JudgingRule, Report> {
        let ask = Ask::Rule("project".parse()?, id.parse()?);
        match self.ask(&Call::reading(&self.tenant, ask))? {
            Answer::Rule(Some(rule)) => Ok(*rule),
            answer => Err(Report::new(format!("the rule {id:?} is gone: {answer:?}"))),
        }
    }

    /// A rule's versions before one, newest first; the rule must be there.
    pub(crate) fn versions(
        &self,
        id: &str,
        before: Option<u32>,
        limit: PageSize,
    ) -> Result<Slice<JudgingRule>, Report> {
        let id: RuleId = id.parse()?;
        let ask = Ask::RuleVersions("project".parse()?, id.clone(), before, limit);
        match self.ask(&Call::reading(&self.tenant, ask))? {
            Answer::RuleVersions(Some(slice)) => Ok(slice),
            answer => Err(Report::new(format!("the rule {id:?} is gone: {answer:?}"))),
        }
    }

    /// Live rules of a project.
    pub(crate) fn live_rules(
        &self,
        project: &str,
        keyset: Keyset,
    ) -> Result<Slice<ListedRule>, Report> {
        let ask = Ask::Rules(project.parse()?, keyset);
        match self.ask(&Call::reading(&self.tenant, ask))? {
            Answer::Rules(slice) => Ok(slice),
            _ => Err(Report::new("another answer than was asked for")),
        }
    }

    /// Live classes.
    pub(crate) fn live_classes(
        &self,
        filter: &ClassFilter,
        readable: &Readable,
        keyset: Keyset,
    ) -> Result<Slice<JudgeClass>, Report> {
        let ask = Ask::Classes(filter.clone(), readable.clone(), keyset);
        match self.ask(&Call::reading(&self.tenant, ask))? {
            Answer::Classes(slice) => Ok(slice),
            _ => Err(Report::new("another answer than was asked for")),
        }
    }
}

/// What the run ran.
fn subject() -> Result<Subject, Report> {
    Ok(Subject::Agent {
        id: "agent".parse()?,
        version: "1".parse()?,
    })
}

/// The judgment that an answer says was recorded, now or before.
pub(crate) fn recorded(answer: &Answer) -> Option<&Judgment> {
    use crate::store::Applied::{Done, Replayed};
    match answer {
        Answer::Recorded(
            Done(Recorded::Ok { judgment, .. }) | Replayed(Recorded::Ok { judgment, .. }),
        ) => Some(judgment),
        _ => None,
    }
}

/// An operation with this id and body.
pub(crate) fn operation(id: u8, body: u8, keep_until: Timestamp) -> OwnedOperation {
    OwnedOperation {
        id: OperationId([id; 32]),
        body: [body; 32],
        keep_until,
    }
}

/// A row's place.
pub(crate) fn position(at: Timestamp, id: &str) -> Position {
    let id: Arc<str> = id.into();
    Position { at, id }
}

/// Judgments of this run.
pub(crate) fn of_run(run: &RunId) -> JudgmentFilter {
    JudgmentFilter {
        run: Some(run.clone()),
        ..JudgmentFilter::default()
    }
}
