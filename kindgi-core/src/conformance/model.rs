//! The reference: what the traits' docs say, in the plainest way, sharing nothing with a backend.

use std::collections::BTreeMap;

use super::{
    call::{Answer, Ask, Call, OwnedOperation},
    model_operations::{receipt_of, replay},
    model_queue::Told,
    model_rules::Rules,
};
use crate::{
    Timestamp,
    model::{
        ClassScope, JudgeClass, Judgment, JudgmentWithCopies, ProjectId, Readable, RunCopy, RunId,
        TenantId,
    },
    store::{
        Applied, ClassCreated, ClassFilter, ClassReplaced, EnabledRules, JudgmentFilter,
        JudgmentRemoved, Keyset, NewJudgment, PurgePosition, Receipt, Recorded, Revised, Slice,
    },
};

/// Everything of all tenants, in the order it came.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Model {
    pub(super) judgments: Vec<NewJudgment>,
    /// Each with its run's project when it was taken.
    pub(super) copies: Vec<(TenantId, ProjectId, RunCopy)>,
    pub(super) classes: Vec<Revised<JudgeClass>>,
    pub(super) rules: Rules,
    pub(super) told: Vec<Told>,
    pub(super) erased: Vec<(TenantId, RunId)>,
    /// Before when each step of a purge was, and where it said to go on.
    pub(super) purged: Vec<(TenantId, Timestamp, Option<PurgePosition>)>,
    pub(super) operations: Vec<Kept>,
    /// Each tenant's latest write.
    latest: BTreeMap<TenantId, Timestamp>,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Kept {
    pub(super) tenant: TenantId,
    pub(super) operation: OwnedOperation,
    pub(super) receipt: Receipt,
}

impl Model {
    /// Whether the docs leave open what comes of the call: its operation was kept, but a write of
    /// the tenant at or after the end has been made, by a clock that went back since.
    pub(crate) fn leaves_open(&self, call: &Call) -> bool {
        let Some(end) = self.kept(call).map(|kept| kept.operation.keep_until) else {
            return false;
        };
        self.latest
            .get(&call.tenant)
            .is_some_and(|latest| *latest >= end)
    }

    /// The operation that the call looks at, where it is kept at its time.
    pub(super) fn kept(&self, call: &Call) -> Option<&Kept> {
        let id = call.looks_at()?.id;
        self.operations.iter().find(|kept| {
            kept.tenant == call.tenant
                && kept.operation.id == id
                && call.now < kept.operation.keep_until
        })
    }

    /// What a store answers.
    pub(crate) fn answer(&mut self, call: &Call) -> Answer {
        if !call.writes() {
            return self.read(call);
        }
        let answer = self.write(call);
        self.settle(&call.tenant, call.now);
        let latest = self.latest.entry(call.tenant.clone()).or_insert(call.now);
        *latest = call.now.max(*latest);
        answer
    }

    fn write(&mut self, call: &Call) -> Answer {
        if !call.uses_operation() {
            return self.write_always(call);
        }
        if let Some(kept) = self.kept(call) {
            let same_body = call
                .operation
                .is_some_and(|o| o.body == kept.operation.body);
            return replay(call, same_body.then(|| kept.receipt.clone()));
        }
        let answer = match &call.ask {
            Ask::Record { new, copy, class } => {
                let class = class
                    .as_ref()
                    .map(|(id, revision)| (id.as_str(), *revision));
                Answer::Recorded(Applied::Done(self.record(new, copy.as_deref(), class)))
            }
            Ask::Remove(id) => Answer::Removed(Applied::Done(self.remove(
                &call.tenant,
                id.as_str(),
                call.now,
            ))),
            Ask::CreateClass(class) => Answer::ClassCreated(Applied::Done(self.create(class))),
            Ask::ReplaceClass(at, next) => {
                Answer::ClassReplaced(Applied::Done(self.replace(*at, next)))
            }
            Ask::AppendRule { next, class } => {
                let changed = class
                    .as_ref()
                    .is_some_and(|(id, at)| !self.is_at(&call.tenant, id.as_str(), *at));
                Answer::RuleAppended(Applied::Done(self.rules.append(next, changed)))
            }
            Ask::StopRule(project, id) => Answer::RuleStopped(Applied::Done(self.rules.stop(
                &call.tenant,
                project,
                id,
                call.now,
            ))),
            Ask::Dismiss {
                project,
                run,
                by,
                reason,
            } => {
                let reason = reason.as_ref();
                let moved = self.dismiss(&call.tenant, project, run, by, reason, call.now);
                Answer::Dismissed(Applied::Done(moved))
            }
            Ask::Reopen { project, run, by } => {
                let moved = self.reopen(&call.tenant, project, run, by, call.now);
                Answer::Reopened(Applied::Done(moved))
            }
            Ask::Keep(receipt) => Answer::Kept(Applied::Done((**receipt).clone())),
            _ => self.read(call),
        };
        if let (Some(operation), Some(receipt)) = (call.operation, receipt_of(&answer)) {
            let same =
                |kept: &Kept| kept.tenant == call.tenant && kept.operation.id == operation.id;
            self.operations.retain(|kept| !same(kept));
            self.operations.push(Kept {
                tenant: call.tenant.clone(),
                operation,
                receipt,
            });
        }
        answer
    }

    /// What is done whatever its operation.
    fn write_always(&mut self, call: &Call) -> Answer {
        let tenant = &call.tenant;
        match &call.ask {
            Ask::Take {
                run,
                rules,
                candidates,
            } => Answer::Taken(self.take(tenant, run, *rules, candidates, call.now)),
            Ask::EraseParticipant {
                participant,
                pseudonym,
            } => Answer::ParticipantErased(self.erase_participant(tenant, participant, pseudonym)),
            Ask::Purge {
                before,
                from,
                limit,
            } => {
                let limit = usize::from(limit.get());
                Answer::Purged(self.purge(tenant, *before, from.as_ref(), limit))
            }
            Ask::EraseRun(run) => {
                self.erase(tenant, run);
                Answer::Erased
            }
            _ => self.read(call),
        }
    }

    fn is_at(&self, tenant: &TenantId, class: &str, revision: u64) -> bool {
        self.classes.iter().any(|it| {
            it.value.tenant == *tenant && it.value.id.as_str() == class && it.revision == revision
        })
    }

    fn record(
        &mut self,
        new: &NewJudgment,
        copy: Option<&RunCopy>,
        class: Option<(&str, u64)>,
    ) -> Recorded {
        let mut new = new.clone();
        let (tenant, run) = (new.judgment.tenant.clone(), new.judgment.run.clone());
        if self.erased.contains(&(tenant.clone(), run.clone())) {
            return Recorded::RunErased;
        }
        if let Some((id, revision)) = class
            && !self.is_at(&tenant, id, revision)
        {
            return Recorded::ClassChanged;
        }
        if !self
            .copies
            .iter()
            .any(|(of, _, copy)| *of == tenant && copy.run == run)
        {
            let project = new.judgment.project.clone();
            match copy {
                None => return Recorded::NeedsCopy,
                Some(copy) => self.copies.push((tenant, project, copy.clone())),
            }
        }
        let mut superseded = None;
        for NewJudgment { judgment: old, .. } in &mut self.judgments {
            let same = old.tenant == new.judgment.tenant
                && old.run == new.judgment.run
                && old.item.key == new.judgment.item.key
                && old.asserted_by == new.judgment.asserted_by
                && old.participant == new.judgment.participant;
            if same && old.unregistered_at.is_none() {
                new.judgment.created_at = new.judgment.created_at.max(old.created_at);
                old.unregistered_at = Some(new.judgment.created_at);
                old.superseded_by = Some(new.judgment.id.clone());
                superseded = Some(old.id.clone());
            }
        }
        self.judgments.push(new.clone());
        Recorded::Ok {
            judgment: Box::new(new.judgment),
            superseded,
        }
    }

    fn remove(&mut self, tenant: &TenantId, id: &str, now: Timestamp) -> JudgmentRemoved {
        for NewJudgment { judgment, .. } in &mut self.judgments {
            let this = judgment.tenant == *tenant && judgment.id.as_str() == id;
            if this && judgment.unregistered_at.is_none() {
                judgment.unregistered_at = Some(now.max(judgment.created_at));
                return JudgmentRemoved::Ok;
            }
        }
        JudgmentRemoved::NotLive
    }

    fn create(&mut self, class: &JudgeClass) -> ClassCreated {
        let taken = self.classes.iter().any(|Revised { value: old, .. }| {
            old.tenant == class.tenant
                && old.scope == class.scope
                && old.name == class.name
                && old.unregistered_at.is_none()
        });
        if taken {
            return ClassCreated::NameTaken;
        }
        self.classes.push(Revised {
            revision: 1,
            value: class.clone(),
        });
        ClassCreated::Ok(Box::new(class.clone()))
    }

    fn replace(&mut self, at: u64, next: &JudgeClass) -> ClassReplaced {
        for old in &mut self.classes {
            if old.value.tenant == next.tenant
                && old.value.id == next.id
                && old.value.unregistered_at.is_none()
            {
                if old.revision != at {
                    return ClassReplaced::Stale;
                }
                old.revision = at + 1;
                old.value = next.clone();
                return ClassReplaced::Ok(Box::new(next.clone()));
            }
        }
        ClassReplaced::NotLive
    }

    /// The rules that take a project's runs.
    pub(super) fn enabled(&self, tenant: &TenantId, project: &ProjectId) -> EnabledRules {
        self.rules.enabled(tenant, project)
    }

    pub(super) fn is_erased(&self, tenant: &TenantId, run: &RunId) -> bool {
        self.erased.contains(&(tenant.clone(), run.clone()))
    }

    fn read(&self, call: &Call) -> Answer {
        let tenant = &call.tenant;
        match &call.ask {
            Ask::Judgment(id) => {
                let found = self
                    .judgments
                    .iter()
                    .find(|new| new.judgment.tenant == *tenant && new.judgment.id == *id);
                let with_copies = found.and_then(|new| {
                    let run = &new.judgment.run;
                    let mut copies = self.copies.iter();
                    let (.., copy) =
                        copies.find(|(of, _, copy)| of == tenant && copy.run == *run)?;
                    Some(Box::new(JudgmentWithCopies {
                        judgment: new.judgment.clone(),
                        run: copy.clone(),
                        item_value: new.item_value.clone(),
                    }))
                });
                Answer::Judgment(with_copies)
            }
            Ask::Judgments(filter, readable, keyset) => {
                let wanted = |judgment: &&Judgment| {
                    judgment.tenant == *tenant
                        && judgment.unregistered_at.is_none()
                        && reads(readable, judgment.project.as_str())
                        && is_wanted(filter, judgment)
                };
                let rows = self
                    .judgments
                    .iter()
                    .map(|new| &new.judgment)
                    .filter(wanted);
                let place = |row: &Judgment| (row.created_at, row.id.to_string());
                Answer::Judgments(slice(rows.cloned().collect(), keyset, place))
            }
            Ask::Class(id) => {
                let mut classes = self.classes.iter();
                let found = classes.find(|c| c.value.tenant == *tenant && c.value.id == *id);
                Answer::Class(found.cloned().map(Box::new))
            }
            Ask::Classes(ClassFilter { scope }, readable, keyset) => {
                let wanted = |class: &&JudgeClass| {
                    let may_read = match &class.scope {
                        ClassScope::Tenant => match readable {
                            Readable::All => true,
                            Readable::Only(some) => !some.is_empty(),
                        },
                        ClassScope::Project(project) | ClassScope::Agent(project, _) => {
                            reads(readable, project.as_str())
                        }
                    };
                    class.tenant == *tenant
                        && class.unregistered_at.is_none()
                        && may_read
                        && (scope.is_none() || scope.as_ref() == Some(&class.scope))
                };
                let rows = self.classes.iter().map(|class| &class.value).filter(wanted);
                let place = |row: &JudgeClass| (row.created_at, row.id.to_string());
                Answer::Classes(slice(rows.cloned().collect(), keyset, place))
            }
            Ask::Rule(project, id) => {
                Answer::Rule(self.rules.latest(tenant, project, id).map(Box::new))
            }
            Ask::Rules(project, keyset) => Answer::Rules(self.rules.live(tenant, project, keyset)),
            Ask::RuleVersions(project, id, before, limit) => Answer::RuleVersions(
                self.rules
                    .versions_before(tenant, project, id, *before, *limit),
            ),
            Ask::EnabledRules(project) => Answer::EnabledRules(self.enabled(tenant, project)),
            Ask::WantedClasses(project) => {
                let named = |it: &&JudgeClass| {
                    it.tenant == *tenant
                        && it.unregistered_at.is_none()
                        && self.rules.name(tenant, Some(project), &it.id)
                };
                let classes = self.classes.iter().map(|class| &class.value).filter(named);
                let mut classes: Vec<JudgeClass> = classes.cloned().collect();
                classes.sort_by_key(|class| class.id.to_string());
                Answer::WantedClasses(classes)
            }
            Ask::QueueItem(project, run) => {
                Answer::QueueItem(self.item_of(tenant, project, run).map(Box::new))
            }
            Ask::Queue(project, filter, keyset) => {
                Answer::Queue(self.queue(tenant, project, filter, keyset.as_ref()))
            }
            Ask::RuleResults(project, rule, since) => {
                Answer::RuleResults(self.results(tenant, project, rule, *since))
            }
            Ask::IsErased(run) => Answer::IsErased(self.is_erased(tenant, run)),
            Ask::JudgedRuns(filter, keyset) => {
                Answer::JudgedRuns(self.judged_runs(tenant, filter, keyset))
            }
            Ask::Receipt(operation) => Answer::Receipt(self.receipt(call, operation)),
            _ => Answer::Erased,
        }
    }
}

fn reads(readable: &Readable, project: &str) -> bool {
    match readable {
        Readable::All => true,
        Readable::Only(some) => some.iter().any(|one| one.as_str() == project),
    }
}

fn is_wanted(filter: &JudgmentFilter, judgment: &Judgment) -> bool {
    use crate::model::Subject::{Agent, Flow};
    let run = filter.run.as_ref().is_none_or(|run| *run == judgment.run);
    let agent = filter
        .agent
        .as_ref()
        .is_none_or(|agent| match &judgment.subject {
            Agent { id, .. } => id == agent,
            Flow { .. } => false,
        });
    let version = filter
        .agent_version
        .as_ref()
        .is_none_or(|wanted| match &judgment.subject {
            Agent { version, .. } => version == wanted,
            Flow { .. } => false,
        });
    let flow = filter
        .flow
        .as_ref()
        .is_none_or(|flow| match &judgment.subject {
            Agent { .. } => false,
            Flow { id, .. } => id == flow,
        });
    let verdict = filter
        .verdict
        .is_none_or(|verdict| verdict == judgment.verdict);
    let class = filter.class.is_none() || filter.class == judgment.class;
    let participant = filter.participant.is_none() || filter.participant == judgment.participant;
    run && agent && version && flow && verdict && class && participant
}

/// Newest first, those after the position, at most so many.
pub(super) fn slice<T>(
    mut rows: Vec<T>,
    keyset: &Keyset,
    place: impl Fn(&T) -> (Timestamp, String),
) -> Slice<T> {
    rows.sort_by_key(|row| std::cmp::Reverse(place(row)));
    if let Some(after) = &keyset.after {
        rows.retain(|row| place(row) < (after.at, after.id.to_string()));
    }
    let limit = usize::from(keyset.limit.get());
    let more = rows.len() > limit;
    rows.truncate(limit);
    Slice { rows, more }
}
