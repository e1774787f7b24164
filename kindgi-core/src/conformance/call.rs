//! One call of a store, and what it may answer.

use std::fmt;

use super::Report;
use crate::{
    StoreError, Timestamp,
    model::{
        JudgeClass, JudgeClassId, JudgingRule, Judgment, JudgmentId, JudgmentWithCopies, PageSize,
        ProjectId, Readable, RuleId, RunCopy, RunId, TenantId,
    },
    store::{
        Applied, ClassAt, ClassCreated, ClassFilter, ClassReplaced, JudgmentFilter,
        JudgmentRemoved, Keyset, ListedRule, NewJudgment, Operation, OperationId, Recorded,
        Revised, RuleAppended, RuleStopped, Slice, Store, Write,
    },
};

/// How often a store may say that it is busy.
const MAX_BUSY: usize = 200;

/// A call, with everything that it says.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    pub(crate) tenant: TenantId,
    pub(crate) now: Timestamp,
    pub(crate) operation: Option<OwnedOperation>,
    pub(crate) ask: Ask,
}

/// [`Operation`], owned.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct OwnedOperation {
    pub(crate) id: OperationId,
    pub(crate) body: [u8; 32],
    pub(crate) keep_until: Timestamp,
}

/// What is called.
#[derive(Clone, Debug)]
pub(crate) enum Ask {
    Record {
        new: Box<NewJudgment>,
        copy: Option<Box<RunCopy>>,
        class: Option<(JudgeClassId, u64)>,
    },
    Remove(JudgmentId),
    Judgment(JudgmentId),
    Judgments(JudgmentFilter, Readable, Keyset),
    CreateClass(Box<JudgeClass>),
    ReplaceClass(u64, Box<JudgeClass>),
    Class(JudgeClassId),
    Classes(ClassFilter, Readable, Keyset),
    AppendRule {
        next: Box<JudgingRule>,
        class: Option<(JudgeClassId, u64)>,
    },
    StopRule(ProjectId, RuleId),
    Rule(ProjectId, RuleId),
    Rules(ProjectId, Keyset),
    RuleVersions(ProjectId, RuleId, Option<u32>, PageSize),
    EraseRun(RunId),
    IsErased(RunId),
}

/// What is answered.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Answer {
    Recorded(Applied<Recorded>),
    Removed(Applied<JudgmentRemoved>),
    Judgment(Option<Box<JudgmentWithCopies>>),
    Judgments(Slice<Judgment>),
    ClassCreated(Applied<ClassCreated>),
    ClassReplaced(Applied<ClassReplaced>),
    Class(Option<Box<Revised<JudgeClass>>>),
    Classes(Slice<JudgeClass>),
    RuleAppended(Applied<RuleAppended>),
    RuleStopped(Applied<RuleStopped>),
    Rule(Option<Box<JudgingRule>>),
    Rules(Slice<ListedRule>),
    RuleVersions(Option<Slice<JudgingRule>>),
    Erased,
    IsErased(bool),
}

impl Call {
    /// A reading call.
    pub(crate) fn reading(tenant: &TenantId, ask: Ask) -> Self {
        Self {
            tenant: tenant.clone(),
            now: Timestamp::UNIX_EPOCH,
            operation: None,
            ask,
        }
    }

    /// Whether it may change something.
    pub(crate) fn writes(&self) -> bool {
        !matches!(
            self.ask,
            Ask::Judgment(_)
                | Ask::Judgments(..)
                | Ask::Class(_)
                | Ask::Classes(..)
                | Ask::Rule(..)
                | Ask::Rules(..)
                | Ask::RuleVersions(..)
                | Ask::IsErased(_)
        )
    }

    /// Asks the store; again, if that is busy.
    pub(crate) async fn ask(&self, store: &dyn Store) -> Result<Answer, Report> {
        for _ in 0..MAX_BUSY {
            match self.ask_once(store).await {
                Err(e) if e.is_busy() => tokio::task::yield_now().await,
                answer => return Ok(answer?),
            }
        }
        Err(Report::new(format!(
            "the store was busy {MAX_BUSY} times in a row at\n  {self}"
        )))
    }

    /// Asks the store.
    pub(crate) async fn ask_once(&self, store: &dyn Store) -> Result<Answer, StoreError> {
        let tenant = &self.tenant;
        let write = Write {
            tenant,
            now: self.now,
            operation: self.operation.as_ref().map(|operation| Operation {
                id: &operation.id,
                body: &operation.body,
                keep_until: operation.keep_until,
            }),
        };
        Ok(match &self.ask {
            Ask::Record { new, copy, class } => {
                let class = class_at(class.as_ref());
                Answer::Recorded(store.record(write, new, copy.as_deref(), class).await?)
            }
            Ask::Remove(id) => Answer::Removed(store.remove(write, id).await?),
            Ask::Judgment(id) => Answer::Judgment(store.judgment(tenant, id).await?.map(Box::new)),
            Ask::Judgments(filter, readable, keyset) => {
                Answer::Judgments(store.judgments(tenant, filter, readable, keyset).await?)
            }
            Ask::CreateClass(class) => {
                Answer::ClassCreated(store.create_class(write, class).await?)
            }
            Ask::ReplaceClass(at, next) => {
                Answer::ClassReplaced(store.replace_class(write, *at, next).await?)
            }
            Ask::Class(id) => Answer::Class(store.class(tenant, id).await?.map(Box::new)),
            Ask::Classes(filter, readable, keyset) => {
                Answer::Classes(store.classes(tenant, filter, readable, keyset).await?)
            }
            Ask::AppendRule { next, class } => {
                let class = class_at(class.as_ref());
                Answer::RuleAppended(store.append_rule_version(write, next, class).await?)
            }
            Ask::StopRule(project, id) => {
                Answer::RuleStopped(store.stop_rule(write, project, id).await?)
            }
            Ask::Rule(project, id) => {
                Answer::Rule(store.rule(tenant, project, id).await?.map(Box::new))
            }
            Ask::Rules(project, keyset) => {
                Answer::Rules(store.rules(tenant, project, keyset).await?)
            }
            Ask::RuleVersions(project, id, before, limit) => Answer::RuleVersions(
                store
                    .rule_versions(tenant, project, id, *before, *limit)
                    .await?,
            ),
            Ask::EraseRun(run) => {
                store.erase_run(write, run).await?;
                Answer::Erased
            }
            Ask::IsErased(run) => Answer::IsErased(store.is_erased(tenant, run).await?),
        })
    }
}

/// One line, without what seldom matters.
impl fmt::Display for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tenant = self.tenant.as_str();
        let tail = tenant.rsplit('-').next().unwrap_or(tenant);
        write!(f, "tenant …{tail}: ")?;
        match &self.ask {
            Ask::Record { new, copy, class } => {
                let judgment = &new.judgment;
                write!(
                    f,
                    "record {:?}: run {:?}, key {:?}, by {} {:?}",
                    judgment.id,
                    judgment.run,
                    judgment.item.key,
                    judgment.asserted_by.kind.as_str(),
                    judgment.asserted_by.id,
                )?;
                if let Some(participant) = &judgment.participant {
                    write!(f, " for {participant:?}")?;
                }
                match copy {
                    Some(copy) => write!(f, ", copy of output {}", Short(copy.output.as_str()))?,
                    None => f.write_str(", no copy")?,
                }
                if let Some((class, revision)) = class {
                    write!(f, ", class {class:?} at {revision}")?;
                }
            }
            Ask::Remove(id) => write!(f, "remove {id:?}")?,
            Ask::Judgment(id) => write!(f, "judgment {id:?}")?,
            Ask::Judgments(filter, readable, keyset) => {
                write!(f, "judgments {filter:?}, {readable:?}, {keyset:?}")?;
            }
            Ask::CreateClass(class) => {
                write!(
                    f,
                    "create class {:?}: {:?} in {:?}",
                    class.id, class.name, class.scope
                )?;
            }
            Ask::ReplaceClass(at, next) => {
                let verb = if next.is_live() { "change" } else { "retire" };
                write!(f, "{verb} class {:?} at {at}", next.id)?;
            }
            Ask::Class(id) => write!(f, "class {id:?}")?,
            Ask::Classes(filter, readable, keyset) => {
                write!(f, "classes {filter:?}, {readable:?}, {keyset:?}")?;
            }
            Ask::AppendRule { next, class } => {
                write!(
                    f,
                    "version {} of rule {:?} in {:?}: {:?}",
                    next.version, next.id, next.project, next.name
                )?;
                if let Some((class, revision)) = class {
                    write!(f, ", class {class:?} at {revision}")?;
                }
            }
            Ask::StopRule(project, id) => write!(f, "stop rule {id:?} in {project:?}")?,
            Ask::Rule(project, id) => write!(f, "rule {id:?} in {project:?}")?,
            Ask::Rules(project, keyset) => write!(f, "rules of {project:?}, {keyset:?}")?,
            Ask::RuleVersions(project, id, before, limit) => {
                write!(f, "versions of rule {id:?} in {project:?}")?;
                if let Some(before) = before {
                    write!(f, " before {before}")?;
                }
                write!(f, ", at most {}", limit.get())?;
            }
            Ask::EraseRun(run) => write!(f, "erase run {run:?}")?,
            Ask::IsErased(run) => write!(f, "is erased {run:?}")?,
        }
        if self.writes() {
            write!(f, " @ {}", self.now)?;
        }
        if let Some(operation) = &self.operation {
            write!(
                f,
                ", operation {} with body {} until {}",
                operation.id.0[0], operation.body[0], operation.keep_until
            )?;
        }
        Ok(())
    }
}

fn class_at(class: Option<&(JudgeClassId, u64)>) -> Option<ClassAt<'_>> {
    class.map(|(id, revision)| ClassAt {
        id,
        revision: *revision,
    })
}

struct Short<'a>(&'a str);

impl fmt::Display for Short<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.40}", self.0)
    }
}
