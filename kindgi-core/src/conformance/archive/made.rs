//! Plain records, made by hand.

use super::moving::MovingLab;
use crate::{
    conformance::{Report, scene::at},
    json::RawJson,
    model::{
        AssertedBy, ClassScope, EndedRun, Item, ItemState, JudgeClass, JudgeClassId, JudgingRule,
        Judgment, MaxOpen, PrincipalKind, QueueItem, RuleId, RuleWhen, RunCopy, RunId, Sample,
        Subject, TakenBy, TenantId, Verdict, Weight,
    },
    store::{
        NewJudgment, OperationId, Receipt, Record, Recorded, Revised,
        archive::{
            CopyRecord, OperationRecord, PurgeRecord, RulesRecord, RunRecord, TellingRecord,
        },
    },
};

/// Makes the records of one tenant.
pub(super) struct Made {
    pub(super) tenant: TenantId,
}

impl Made {
    pub(super) fn new(lab: &MovingLab) -> Result<Self, Report> {
        let tenant = lab.tenant()?;
        Ok(Self { tenant })
    }

    pub(super) fn class(&self, id: &str, name: &str) -> Result<Record, Report> {
        Ok(Record::Class(Box::new(Revised {
            revision: 1,
            value: JudgeClass {
                id: id.parse()?,
                tenant: self.tenant.clone(),
                scope: ClassScope::Tenant,
                name: name.parse()?,
                weight: Weight::new(1.0).ok_or_else(|| Report::new("1 is a weight"))?,
                description: None,
                assertable_by: None,
                created_at: at(0),
                updated_at: at(0),
                unregistered_at: None,
            },
        })))
    }

    /// A version of a rule that has at most two open items.
    pub(super) fn rule(&self, id: &str, version: u32) -> Result<JudgingRule, Report> {
        Ok(JudgingRule {
            id: id.parse()?,
            tenant: self.tenant.clone(),
            project: "project".parse()?,
            version,
            name: "a rule".parse()?,
            when: RuleWhen::default(),
            sample: Sample::ALL,
            max_open: MaxOpen::new(2),
            class: None,
            enabled: true,
            created_by: None,
            created_at: at(0),
            unregistered_at: None,
        })
    }

    pub(super) fn version(&self, id: &str, version: u32) -> Result<Record, Report> {
        Ok(Record::RuleVersion(Box::new(self.rule(id, version)?)))
    }

    pub(super) fn rules(&self, revision: u64) -> Result<Record, Report> {
        Ok(Record::Rules(RulesRecord {
            tenant: self.tenant.clone(),
            project: "project".parse()?,
            revision,
        }))
    }

    /// That runs of before an instant are told no more.
    pub(super) fn purge(&self, before: i64) -> Record {
        Record::Purge(PurgeRecord {
            tenant: self.tenant.clone(),
            before: at(before),
        })
    }

    pub(super) fn run(&self, run: &str) -> Result<Record, Report> {
        let copy = CopyRecord {
            project: "project".parse()?,
            copy: RunCopy {
                run: run.parse()?,
                subject: subject()?,
                input: RawJson::null(),
                output: RawJson::parse("{\n \"score\": 1.10}")?,
                context: None,
                segments: Some(Vec::new()),
                captured_at: at(0),
            },
        };
        Ok(Record::Run(Box::new(RunRecord {
            tenant: self.tenant.clone(),
            run: run.parse()?,
            erased: false,
            copy: Some(copy),
        })))
    }

    /// A run that was erased without ever having been judged, or can't be at all.
    pub(super) fn run_without_copy(&self, run: &str, erased: bool) -> Result<Record, Report> {
        Ok(Record::Run(Box::new(RunRecord {
            tenant: self.tenant.clone(),
            run: run.parse()?,
            erased,
            copy: None,
        })))
    }

    /// A live judgment, always of the same item by the same judge.
    pub(super) fn judgment(&self, id: &str, run: &str) -> Result<Record, Report> {
        let judgment = Judgment {
            id: id.parse()?,
            tenant: self.tenant.clone(),
            project: "project".parse()?,
            run: run.parse()?,
            subject: subject()?,
            item: Item::new("item".parse()?),
            verdict: Verdict::No,
            reason: None,
            correction: None,
            class: None,
            restricted: false,
            asserted_by: AssertedBy {
                kind: PrincipalKind::User,
                id: "ada".parse()?,
            },
            participant: None,
            created_at: at(1),
            unregistered_at: None,
            superseded_by: None,
        };
        Ok(Record::Judgment(Box::new(NewJudgment {
            judgment,
            item_value: None,
        })))
    }

    /// A run that a rule took, and that is open or dismissed.
    pub(super) fn telling(&self, run: &str, rule: &str, open: bool) -> Result<Record, Report> {
        let ended = self.ended(run)?;
        let (state, closed_at) = match open {
            true => (ItemState::Open, None),
            false => (ItemState::Dismissed, Some(at(3))),
        };
        let item = QueueItem {
            run: run.parse()?,
            project: ended.project.clone(),
            agent: Some(("agent".parse()?, "1".parse()?)),
            flow: ended.flow_id(),
            completed_at: ended.ended_at,
            added_at: at(2),
            taken_by: vec![self.taker(rule, None)?],
            progress: Vec::new(),
            state,
            closed_at,
            closed_by: None,
            reason: None,
        };
        Ok(Record::Telling(Box::new(TellingRecord {
            tenant: self.tenant.clone(),
            run: run.parse()?,
            project: ended.project,
            told_at: at(2),
            age: at(2),
            agent_version: Some("1".parse()?),
            skipped: Vec::new(),
            item: Some(item),
        })))
    }

    pub(super) fn taker(
        &self,
        rule: &str,
        wants: Option<&JudgeClassId>,
    ) -> Result<TakenBy, Report> {
        Ok(TakenBy {
            rule: rule.parse()?,
            version: 1,
            wants: wants.cloned(),
        })
    }

    /// What no store can have held.
    pub(super) fn impossible(&self) -> Result<Vec<Record>, Report> {
        let rule = "rule".parse()?;
        let told = |change: &dyn Fn(&mut TellingRecord)| {
            let mut record = self.telling("run", "rule", true)?;
            if let Record::Telling(telling) = &mut record {
                change(telling);
            }
            Ok::<_, Report>(record)
        };
        let taken = |change: &dyn Fn(&mut QueueItem)| {
            told(&|telling| {
                if let Some(item) = &mut telling.item {
                    change(item);
                }
            })
        };
        let another = "another".parse()?;
        let refused = Receipt::Recorded(Recorded::NeedsCopy);
        Ok(vec![
            self.version("rule", 0)?,
            self.run_without_copy("run-3", false)?,
            told(&|it| it.item = None)?,
            told(&|it| it.skipped = vec![(RuleId::clone(&rule), 1)])?,
            told(&|it| {
                it.item = None;
                it.skipped = vec![(rule.clone(), 1), (rule.clone(), 2)];
            })?,
            taken(&|it| it.taken_by.extend(it.taken_by.clone()))?,
            taken(&|it| it.taken_by.clear())?,
            taken(&|it| it.run = RunId::clone(&another))?,
            taken(&|it| it.closed_at = Some(at(3)))?,
            Record::Operation(Box::new(OperationRecord {
                tenant: self.tenant.clone(),
                id: OperationId([1; 32]),
                body: [1; 32],
                keep_until: at(9),
                receipt: refused,
            })),
        ])
    }

    pub(super) fn ended(&self, run: &str) -> Result<EndedRun, Report> {
        Ok(EndedRun::new(
            run.parse()?,
            "project".parse()?,
            subject()?,
            at(1),
        ))
    }
}

fn subject() -> Result<Subject, Report> {
    Ok(Subject::Agent {
        id: "agent".parse()?,
        version: "1".parse()?,
    })
}
