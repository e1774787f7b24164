//! Rows of the judging queue, for laws that tell a story.

use super::{
    Report,
    call::{Answer, Ask, Call},
    report::ensure_eq,
    scene::{Scene, at},
};
use crate::{
    model::{
        EndedRun, ItemState, JudgingRule, MaxOpen, PrincipalRef, QueueItem, RunId, Subject, TakenBy,
    },
    store::{
        Applied, Candidate, EnabledRules, ItemMoved, Keyset, QueueFilter, QueueSlice, RuleResults,
        Taken,
    },
};

impl Scene<'_> {
    /// A rule of `project` that takes every run, wants this class's judgment and may have so many
    /// open items.
    pub(crate) fn create_rule(
        &self,
        id: &str,
        wants: Option<&str>,
        max_open: Option<u32>,
    ) -> Result<JudgingRule, Report> {
        let mut rule = self.rule(id, 1, 0)?;
        rule.class = wants.map(str::parse).transpose()?;
        rule.max_open = max_open.and_then(MaxOpen::new);
        self.ask(&self.append(&rule))?;
        Ok(rule)
    }

    /// A class of the tenant that is named as its id.
    pub(crate) fn create_class(&self, id: &str) -> Result<(), Report> {
        let class = Box::new(self.class(id, id, 0)?);
        self.ask(&self.call(0, Ask::CreateClass(class))).map(drop)
    }

    /// The enabled rules of `project`.
    pub(crate) fn enabled(&self) -> Result<EnabledRules, Report> {
        let ask = Ask::EnabledRules("project".parse()?);
        match self.ask(&Call::reading(&self.tenant, ask))? {
            Answer::EnabledRules(rules) => Ok(rules),
            answer => Err(other(&answer)),
        }
    }

    /// A run of `project`, of the same agent as its judgments, which ended at 0.
    pub(crate) fn ended(&self, run: &str) -> Result<EndedRun, Report> {
        let subject = Subject::Agent {
            id: "agent".parse()?,
            version: "1".parse()?,
        };
        Ok(EndedRun::new(
            run.parse()?,
            "project".parse()?,
            subject,
            at(0),
        ))
    }

    /// The call that tells a run to these rules, all of which take it.
    pub(crate) fn tell(&self, run: EndedRun, rules: &EnabledRules, now: i64) -> Call {
        let candidates = rules.rules.iter().map(Candidate::from).collect();
        let ask = Ask::Take {
            run: Box::new(run),
            rules: rules.revision,
            candidates,
        };
        self.call(now, ask)
    }

    /// Tells a run to the enabled rules of its project.
    pub(crate) fn told(&self, run: &str, now: i64) -> Result<Taken, Report> {
        let call = self.tell(self.ended(run)?, &self.enabled()?, now);
        taken(self.ask(&call)?)
    }

    /// Tells a run that a rule takes.
    pub(crate) fn queued(&self, run: &str, now: i64) -> Result<QueueItem, Report> {
        match self.told(run, now)? {
            Taken::Queued(item) => Ok(*item),
            taken => Err(Report::new(format!(
                "the run {run:?} should have been queued, but: {taken:?}"
            ))),
        }
    }

    /// The item of a run of `project` that these rules took at that time, while it is open.
    pub(crate) fn open_item(
        &self,
        run: &str,
        rules: &[&JudgingRule],
        now: i64,
    ) -> Result<QueueItem, Report> {
        let run = self.ended(run)?;
        let taken_by = rules.iter().map(|rule| TakenBy {
            rule: rule.id.clone(),
            version: rule.version,
            wants: rule.class.clone(),
        });
        Ok(QueueItem {
            agent: Some(("agent".parse()?, "1".parse()?)),
            flow: "agent.turn".parse()?,
            completed_at: run.ended_at,
            added_at: at(now),
            taken_by: taken_by.collect(),
            progress: Vec::new(),
            state: ItemState::Open,
            closed_at: None,
            closed_by: None,
            reason: None,
            run: run.id,
            project: run.project,
        })
    }

    /// The call that dismisses an item.
    pub(crate) fn dismiss(
        &self,
        run: &str,
        reason: Option<&str>,
        now: i64,
    ) -> Result<Call, Report> {
        let ask = Ask::Dismiss {
            project: "project".parse()?,
            run: run.parse()?,
            by: bea()?,
            reason: reason.map(str::parse).transpose()?,
        };
        Ok(self.call(now, ask))
    }

    /// The call that reopens an item.
    pub(crate) fn reopen(&self, run: &str, now: i64) -> Result<Call, Report> {
        let ask = Ask::Reopen {
            project: "project".parse()?,
            run: run.parse()?,
            by: bea()?,
        };
        Ok(self.call(now, ask))
    }

    /// Moves an item that can.
    pub(crate) fn moved(&self, call: &Call) -> Result<QueueItem, Report> {
        let answer = self.ask(call)?;
        match moved(&answer) {
            Some(ItemMoved::Ok(item)) => Ok((**item).clone()),
            _ => Err(Report::new(format!(
                "should have moved, but: {answer:?}, to\n  {call}"
            ))),
        }
    }

    /// The call that reads a run's item.
    pub(crate) fn read_item(&self, run: &RunId) -> Result<Call, Report> {
        let ask = Ask::QueueItem("project".parse()?, run.clone());
        Ok(Call::reading(&self.tenant, ask))
    }

    /// A run's item, if it has one.
    pub(crate) fn item(&self, run: &str) -> Result<Option<QueueItem>, Report> {
        match self.ask(&self.read_item(&run.parse()?)?)? {
            Answer::QueueItem(item) => Ok(item.map(|item| *item)),
            answer => Err(other(&answer)),
        }
    }

    /// Fails the law unless this is the item, by itself and in the queue.
    pub(crate) fn expect_item(&self, when: &str, should_be: &QueueItem) -> Result<(), Report> {
        let is = self.item(should_be.run.as_str())?;
        ensure_eq(&format!("the item {when}"), &is.as_ref(), &Some(should_be))?;
        for state in ItemState::ALL {
            let filter = QueueFilter {
                state: Some(state),
                ..QueueFilter::default()
            };
            let rows = self.queue("project", &filter, Some(super::scene::first(100)))?;
            let found = rows.slice.rows.iter().find(|row| row.run == should_be.run);
            let here = (state == should_be.state).then_some(should_be);
            let what = format!("the item among those that are {} {when}", state.as_str());
            ensure_eq(&what, &found, &here)?;
        }
        Ok(())
    }

    /// A queue.
    pub(crate) fn queue(
        &self,
        project: &str,
        filter: &QueueFilter,
        keyset: Option<Keyset>,
    ) -> Result<QueueSlice, Report> {
        let ask = Ask::Queue(project.parse()?, Box::new(filter.clone()), keyset);
        match self.ask(&Call::reading(&self.tenant, ask))? {
            Answer::Queue(slice) => Ok(slice),
            answer => Err(other(&answer)),
        }
    }

    /// What came of a rule of `project` that is there.
    pub(crate) fn results(&self, rule: &str, since: Option<i64>) -> Result<RuleResults, Report> {
        let ask = Ask::RuleResults("project".parse()?, rule.parse()?, since.map(at));
        match self.ask(&Call::reading(&self.tenant, ask))? {
            Answer::RuleResults(Some(results)) => Ok(results),
            answer => Err(Report::new(format!(
                "the rule {rule:?} is gone: {answer:?}"
            ))),
        }
    }
}

/// Who moves items.
pub(crate) fn bea() -> Result<PrincipalRef, Report> {
    Ok("user:bea".parse()?)
}

/// What became of telling a run.
pub(crate) fn taken(answer: Answer) -> Result<Taken, Report> {
    match answer {
        Answer::Taken(taken) => Ok(taken),
        answer => Err(other(&answer)),
    }
}

/// What became of moving an item, now or before.
pub(crate) fn moved(answer: &Answer) -> Option<&ItemMoved> {
    use Applied::{Done, Replayed};
    match answer {
        Answer::Dismissed(Done(moved) | Replayed(moved))
        | Answer::Reopened(Done(moved) | Replayed(moved)) => Some(moved),
        _ => None,
    }
}

fn other(answer: &Answer) -> Report {
    Report::new(format!("another answer than was asked for: {answer:?}"))
}
