//! One call of a store, and what it may answer.

use std::{fmt, num::NonZeroU16};

use super::Report;
use crate::{
    StoreError, Timestamp,
    model::{
        DismissReason, EndedRun, JudgeClass, JudgeClassId, JudgingRule, Judgment, JudgmentId,
        JudgmentWithCopies, PageSize, ParticipantId, PrincipalRef, ProjectId, QueueItem, Readable,
        RuleId, RunCopy, RunId, TenantId,
    },
    store::{
        Applied, Candidate, ClassAt, ClassCreated, ClassFilter, ClassReplaced, EnabledRules,
        ItemMoved, JudgedRun, JudgedRunFilter, JudgmentFilter, JudgmentRemoved, Keyset,
        KnownOperation, ListedRule, NewJudgment, Operation, OperationId, PurgePosition, Purged,
        QueueFilter, QueueSlice, Receipt, Recorded, Revised, RuleAppended, RuleResults,
        RuleStopped, Slice, Store, Taken, Write,
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
    EnabledRules(ProjectId),
    WantedClasses(ProjectId),
    Take {
        run: Box<EndedRun>,
        /// At which revision of the project's rules.
        rules: u64,
        candidates: Vec<Candidate>,
    },
    Dismiss {
        project: ProjectId,
        run: RunId,
        by: PrincipalRef,
        reason: Option<DismissReason>,
    },
    Reopen {
        project: ProjectId,
        run: RunId,
        by: PrincipalRef,
    },
    QueueItem(ProjectId, RunId),
    Queue(ProjectId, Box<QueueFilter>, Option<Keyset>),
    RuleResults(ProjectId, RuleId, Option<Timestamp>),
    EraseRun(RunId),
    IsErased(RunId),
    EraseParticipant {
        participant: ParticipantId,
        pseudonym: ParticipantId,
    },
    Purge {
        before: Timestamp,
        from: Option<PurgePosition>,
        limit: NonZeroU16,
    },
    JudgedRuns(JudgedRunFilter, Keyset),
    /// What is kept of an operation at the call's time.
    Receipt(OwnedOperation),
    Keep(Box<Receipt>),
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
    EnabledRules(EnabledRules),
    WantedClasses(Vec<JudgeClass>),
    Taken(Taken),
    Dismissed(Applied<ItemMoved>),
    Reopened(Applied<ItemMoved>),
    QueueItem(Option<Box<QueueItem>>),
    Queue(QueueSlice),
    RuleResults(Option<RuleResults>),
    Erased,
    IsErased(bool),
    ParticipantErased(u64),
    Purged(Purged),
    JudgedRuns(Slice<JudgedRun>),
    Receipt(Option<KnownOperation>),
    Kept(Applied<Receipt>),
}

impl OwnedOperation {
    fn borrowed(&self) -> Operation<'_> {
        Operation {
            id: &self.id,
            body: &self.body,
            keep_until: self.keep_until,
        }
    }
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

    /// Whether its operation is used, if it has one.
    pub(crate) fn uses_operation(&self) -> bool {
        let never = matches!(
            self.ask,
            Ask::Take { .. } | Ask::EraseRun(_) | Ask::EraseParticipant { .. } | Ask::Purge { .. }
        );
        self.writes() && !never
    }

    /// The operation that the answer depends on.
    pub(crate) fn looks_at(&self) -> Option<OwnedOperation> {
        match self.ask {
            Ask::Receipt(operation) => Some(operation),
            _ => self.operation.filter(|_| self.uses_operation()),
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
                | Ask::EnabledRules(_)
                | Ask::WantedClasses(_)
                | Ask::QueueItem(..)
                | Ask::Queue(..)
                | Ask::RuleResults(..)
                | Ask::IsErased(_)
                | Ask::JudgedRuns(..)
                | Ask::Receipt(_)
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
            operation: self.operation.as_ref().map(OwnedOperation::borrowed),
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
            Ask::EnabledRules(project) => {
                Answer::EnabledRules(store.enabled_rules(tenant, project).await?)
            }
            Ask::WantedClasses(project) => {
                Answer::WantedClasses(store.wanted_classes(tenant, project).await?)
            }
            Ask::Take {
                run,
                rules,
                candidates,
            } => Answer::Taken(store.take(write, run, *rules, candidates).await?),
            Ask::Dismiss {
                project,
                run,
                by,
                reason,
            } => {
                let reason = reason.as_ref();
                Answer::Dismissed(store.dismiss(write, project, run, by, reason).await?)
            }
            Ask::Reopen { project, run, by } => {
                Answer::Reopened(store.reopen(write, project, run, by).await?)
            }
            Ask::QueueItem(project, run) => {
                Answer::QueueItem(store.queue_item(tenant, project, run).await?.map(Box::new))
            }
            Ask::Queue(project, filter, keyset) => {
                let keyset = keyset.as_ref();
                Answer::Queue(store.queue(tenant, project, filter, keyset).await?)
            }
            Ask::RuleResults(project, rule, since) => {
                Answer::RuleResults(store.rule_results(tenant, project, rule, *since).await?)
            }
            Ask::EraseRun(run) => {
                store.erase_run(write, run).await?;
                Answer::Erased
            }
            Ask::IsErased(run) => Answer::IsErased(store.is_erased(tenant, run).await?),
            Ask::EraseParticipant {
                participant,
                pseudonym,
            } => {
                let changed = store.erase_participant(write, participant, pseudonym);
                Answer::ParticipantErased(changed.await?)
            }
            Ask::Purge {
                before,
                from,
                limit,
            } => Answer::Purged(store.purge(write, *before, from.as_ref(), *limit).await?),
            Ask::JudgedRuns(filter, keyset) => {
                Answer::JudgedRuns(store.judged_runs(tenant, filter, keyset).await?)
            }
            Ask::Receipt(operation) => {
                let operation = operation.borrowed();
                Answer::Receipt(store.receipt(tenant, self.now, operation).await?)
            }
            Ask::Keep(receipt) => Answer::Kept(store.keep(write, receipt).await?),
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
            Ask::EnabledRules(project) => write!(f, "enabled rules of {project:?}")?,
            Ask::WantedClasses(project) => write!(f, "wanted classes of {project:?}")?,
            Ask::Take {
                run,
                rules,
                candidates,
            } => {
                write!(
                    f,
                    "take run {:?} of {:?}, ended {}, rules at {rules}, by",
                    run.id, run.project, run.ended_at
                )?;
                for (number, it) in candidates.iter().enumerate() {
                    let and = if number == 0 { "" } else { " and" };
                    write!(f, "{and} {:?} v{}", it.rule, it.version)?;
                    if let Some(max) = it.max_open {
                        write!(f, ", at most {}", max.get())?;
                    }
                    if let Some(class) = &it.wants {
                        write!(f, ", wanting {class:?}")?;
                    }
                }
            }
            Ask::Dismiss {
                project,
                run,
                by,
                reason,
            } => {
                write!(f, "dismiss run {run:?} of {project:?} by {:?}", by.as_str())?;
                if let Some(reason) = reason {
                    write!(f, ": {}", Short(reason.as_str()))?;
                }
            }
            Ask::Reopen { project, run, by } => {
                write!(f, "reopen run {run:?} of {project:?} by {:?}", by.as_str())?;
            }
            Ask::QueueItem(project, run) => write!(f, "item of run {run:?} of {project:?}")?,
            Ask::Queue(project, filter, keyset) => {
                write!(f, "queue of {project:?}, {filter:?}, {keyset:?}")?;
            }
            Ask::RuleResults(project, rule, since) => {
                write!(f, "results of rule {rule:?} of {project:?} since {since:?}")?;
            }
            Ask::EraseRun(run) => write!(f, "erase run {run:?}")?,
            Ask::IsErased(run) => write!(f, "is erased {run:?}")?,
            Ask::EraseParticipant {
                participant,
                pseudonym,
            } => write!(f, "erase participant {participant:?}, now {pseudonym:?}")?,
            Ask::Purge {
                before,
                from,
                limit,
            } => write!(f, "purge before {before}, from {from:?}, at most {limit}")?,
            Ask::JudgedRuns(filter, keyset) => write!(f, "judged runs {filter:?}, {keyset:?}")?,
            Ask::Receipt(_) => f.write_str("receipt")?,
            Ask::Keep(receipt) => write!(f, "keep {receipt:?}")?,
        }
        if self.writes() || self.looks_at().is_some() {
            write!(f, " @ {}", self.now)?;
        }
        if let Some(operation) = self.operation.or(self.looks_at()) {
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
