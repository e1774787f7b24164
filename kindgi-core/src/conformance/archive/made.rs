//! Plain records, made by hand.

use super::moving::MovingLab;
use crate::{
    conformance::{Report, scene::at},
    json::RawJson,
    model::{
        AssertedBy, ClassProgress, ClassScope, Correction, DismissReason, EndedRun, Item,
        ItemState, JudgeClass, JudgeClassId, JudgingRule, Judgment, MaxOpen, PrincipalKind,
        QueueItem, Reason, RuleId, RuleWhen, RunContext, RunCopy, RunId, Sample, Subject, TakenBy,
        TenantId, Verdict, Version, Weight,
    },
    rules::queue_state,
    store::{
        ItemMoved, NewJudgment, OperationId, Receipt, Record, Recorded, Revised,
        archive::{
            CopyRecord, OperationRecord, PurgeRecord, RulesRecord, RunRecord, TellingRecord,
        },
    },
};

/// The highest count there is.
pub(super) const MAX_COUNT: u64 = i64::MAX.unsigned_abs();

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

    /// The item of a run that a rule took, open or dismissed.
    fn item(&self, run: &str, rule: &str, open: bool) -> Result<QueueItem, Report> {
        let ended = self.ended(run)?;
        let (state, closed_at) = match open {
            true => (ItemState::Open, None),
            false => (ItemState::Dismissed, Some(at(3))),
        };
        Ok(QueueItem {
            run: run.parse()?,
            agent: Some(("agent".parse()?, "1".parse()?)),
            flow: ended.flow_id(),
            project: ended.project,
            completed_at: ended.ended_at,
            added_at: at(2),
            taken_by: vec![self.taker(rule, None)?],
            progress: Vec::new(),
            state,
            closed_at,
            closed_by: None,
            reason: None,
        })
    }

    /// A run that a rule took, and that is open or dismissed.
    pub(super) fn telling(&self, run: &str, rule: &str, open: bool) -> Result<Record, Report> {
        let item = self.item(run, rule, open)?;
        Ok(Record::Telling(Box::new(TellingRecord {
            tenant: self.tenant.clone(),
            run: run.parse()?,
            project: item.project.clone(),
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
        let agent = ("agent".parse()?, "1".parse()?);
        let why: DismissReason = "words".parse()?;
        let refused = Receipt::Recorded(Recorded::NeedsCopy);
        let mut impossible = vec![
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
            taken(&|it| it.added_at = at(3))?,
            self.erased_item("run", &|it| it.agent = Some(agent.clone()))?,
            self.erased_item("run", &|it| it.reason = Some(why.clone()))?,
            self.erased_item("run", &|it| {
                let (class, judgments) = (None, 1);
                it.progress = vec![ClassProgress { class, judgments }];
            })?,
            self.operation(refused),
        ];
        impossible.extend(self.contents()?);
        for count in [MAX_COUNT + 1, u64::MAX] {
            impossible.extend(self.counts(count)?);
        }
        Ok(impossible)
    }

    /// The same count in each record that has one.
    pub(super) fn counts(&self, count: u64) -> Result<Vec<Record>, Report> {
        let mut class = self.class("counted", "counted")?;
        if let Record::Class(class) = &mut class {
            class.revision = count;
        }
        let mut item = self.item("counted", "rule", false)?;
        item.progress = vec![ClassProgress {
            class: None,
            judgments: count,
        }];
        let dismissed = Receipt::Dismissed(ItemMoved::Ok(Box::new(item.clone())));
        let mut telling = self.telling("counted", "rule", false)?;
        if let Record::Telling(telling) = &mut telling {
            telling.item = Some(item);
        }
        let operation = self.operation(dismissed);
        Ok(vec![class, self.rules(count)?, telling, operation])
    }

    /// What an erased run's copy doesn't have, each alone.
    fn contents(&self) -> Result<Vec<Record>, Report> {
        let content = |change: &dyn Fn(&mut RunCopy)| {
            let mut record = self.erased_run("run-3")?;
            if let Record::Run(run) = &mut record
                && let Some(kept) = &mut run.copy
            {
                change(&mut kept.copy);
            }
            Ok::<_, Report>(record)
        };
        let text = RawJson::parse(r#""text""#)?;
        let context = RunContext::of_replay(&"another".parse()?);
        Ok(vec![
            content(&|it| it.input = text.clone())?,
            content(&|it| it.output = text.clone())?,
            content(&|it| it.context = Some(context.clone()))?,
            content(&|it| it.segments = Some(Vec::new()))?,
        ])
    }

    /// A run that was judged, and then erased.
    pub(super) fn erased_run(&self, run: &str) -> Result<Record, Report> {
        let mut record = self.run(run)?;
        if let Record::Run(run) = &mut record {
            run.erased = true;
            if let Some(kept) = &mut run.copy {
                kept.copy = kept.copy.erased();
            }
        }
        Ok(record)
    }

    /// What an erasure leaves of what belongs to a run.
    pub(super) fn left(&self, run: &str) -> Result<Vec<Record>, Report> {
        Ok(vec![
            self.judgment("left", run)?,
            self.erased_telling(run, &|_| ())?,
            self.recorded(run, &|_| ())?,
        ])
    }

    /// What an erasure of a run clears, each alone.
    pub(super) fn cleared(&self, run: &str) -> Result<Vec<Record>, Report> {
        let judged = |change: &dyn Fn(&mut NewJudgment)| {
            let mut record = self.judgment("cleared", run)?;
            if let Record::Judgment(new) = &mut record {
                change(new);
            }
            Ok::<_, Report>(record)
        };
        let words: Reason = "words".parse()?;
        let why: DismissReason = "words".parse()?;
        let correction = Correction::new(Vec::new(), vec!["tool".parse()?])?;
        let version: Version = "1".parse()?;
        let mut dismissed = self.item(run, "rule", false)?;
        dismissed.reason = Some(why);
        let dismissed = Receipt::Dismissed(ItemMoved::Ok(Box::new(dismissed)));
        Ok(vec![
            judged(&|it| it.judgment.reason = Some(words.clone()))?,
            judged(&|it| it.judgment.correction = Some(correction.clone()))?,
            judged(&|it| it.item_value = Some(RawJson::null()))?,
            self.erased_telling(run, &|it| it.agent_version = Some(version.clone()))?,
            self.erased_item(run, &|it| it.state = ItemState::Dismissed)?,
            self.recorded(run, &|it| it.reason = Some(words.clone()))?,
            self.recorded(run, &|it| it.correction = Some(correction.clone()))?,
            self.operation(dismissed),
        ])
    }

    /// What is left of a run's telling once it is erased, its item changed.
    fn erased_item(&self, run: &str, change: &dyn Fn(&mut QueueItem)) -> Result<Record, Report> {
        self.erased_telling(run, &|telling| {
            if let Some(item) = &mut telling.item {
                change(item);
            }
        })
    }

    /// What is left of a run's telling once it is erased, changed.
    fn erased_telling(
        &self,
        run: &str,
        change: &dyn Fn(&mut TellingRecord),
    ) -> Result<Record, Report> {
        let mut record = self.telling(run, "rule", true)?;
        if let Record::Telling(telling) = &mut record {
            telling.agent_version = None;
            let item = telling.item.take();
            telling.item = item.map(|item| queue_state::erased(item, at(3)));
            change(telling);
        }
        Ok(record)
    }

    /// What is kept of an operation that recorded a judgment, changed.
    fn recorded(&self, run: &str, change: &dyn Fn(&mut Judgment)) -> Result<Record, Report> {
        let Record::Judgment(new) = self.judgment("recorded", run)? else {
            return Err(Report::new("a judgment is none"));
        };
        let mut judgment = new.judgment;
        change(&mut judgment);
        Ok(self.operation(Receipt::Recorded(Recorded::Ok {
            judgment: Box::new(judgment),
            superseded: None,
        })))
    }

    fn operation(&self, receipt: Receipt) -> Record {
        Record::Operation(Box::new(OperationRecord {
            tenant: self.tenant.clone(),
            id: OperationId([1; 32]),
            body: [1; 32],
            keep_until: at(9),
            receipt,
        }))
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
