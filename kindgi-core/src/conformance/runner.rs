//! Runs generated cases against a store and the model.

use std::fmt::Write as _;

use super::{
    Report,
    call::{Answer, Call},
    command::{Command, Round},
    lab::Lab,
    model::Model,
    report::{difference, ensure},
    resolve,
};
use crate::model::TenantId;

/// How often a round is run, and how often while a smaller one is looked for.
const TIMES: usize = 6;
const TIMES_SMALLER: usize = 30;

/// Each of the store's answers must be the model's; and so must all that can be read in the end.
pub(crate) fn sequence(lab: &Lab, commands: &[Command]) -> Result<(), Report> {
    let tenants = [lab.tenant()?, lab.tenant()?];
    let calls = resolve::calls(&tenants, commands, commands.len())?;
    let mut calls: Vec<Call> = calls.into_iter().flatten().collect();
    calls.extend(resolve::readings(&calls));
    answers_equal(lab, &calls, &mut Model::default())
}

/// Each of the store's answers must be the model's.
pub(crate) fn answers_equal(lab: &Lab, calls: &[Call], model: &mut Model) -> Result<(), Report> {
    let mut done = Vec::new();
    for call in calls {
        if model.leaves_open(call) {
            continue;
        }
        done.push(call);
        let should_be = model.answer(call);
        let is = lab.block_on(call.ask(&*lab.store))?;
        ensure(is == should_be, || {
            let difference = difference(&should_be, &is);
            format!(
                "the last of these got another answer:\n{}{difference}",
                list(&done)
            )
        })?;
    }
    Ok(())
}

/// The answers that threads get at once, and all that can be read afterwards, must be those of
/// some order that keeps each thread's own.
pub(crate) fn round(lab: &Lab, round: &Round, shrinking: bool) -> Result<(), Report> {
    let times = if shrinking { TIMES_SMALLER } else { TIMES };
    let played: Vec<Played> = (0..times)
        .map(|_| Played::prepare(lab, round))
        .collect::<Result<_, _>>()?;
    let answers = lab.race(round.threads.len(), times, |handle, time, thread| {
        let calls = played.get(time).and_then(|it| it.threads.get(thread));
        let ask = async {
            let mut answers = Vec::new();
            for call in calls.into_iter().flatten() {
                answers.push(call.ask(&*lab.store).await?);
            }
            Ok::<_, Report>(answers)
        };
        handle.block_on(ask)
    })?;
    for (played, answers) in played.iter().zip(answers) {
        let answers = answers.into_iter().collect::<Result<Vec<_>, _>>()?;
        played.judge(lab, &answers)?;
    }
    Ok(())
}

/// A round with tenants of its own.
struct Played {
    before: Vec<Call>,
    threads: Vec<Vec<Call>>,
    model: Model,
}

impl Played {
    fn prepare(lab: &Lab, round: &Round) -> Result<Self, Report> {
        let tenants: [TenantId; 2] = [lab.tenant()?, lab.tenant()?];
        let all: Vec<Command> = round
            .before
            .iter()
            .chain(round.threads.iter().flatten())
            .cloned()
            .collect();
        let mut calls = resolve::calls(&tenants, &all, round.before.len())?.into_iter();
        let before: Vec<Call> = calls.by_ref().take(round.before.len()).flatten().collect();
        let threads = round
            .threads
            .iter()
            .map(|thread| calls.by_ref().take(thread.len()).flatten().collect());
        let threads = threads.collect();
        let mut model = Model::default();
        answers_equal(lab, &before, &mut model)?;
        Ok(Self {
            before,
            threads,
            model,
        })
    }

    fn judge(&self, lab: &Lab, answers: &[Vec<Answer>]) -> Result<(), Report> {
        let all: Vec<Call> = self
            .before
            .iter()
            .chain(self.threads.iter().flatten())
            .cloned()
            .collect();
        let mut end = Vec::new();
        for call in resolve::readings(&all) {
            let answer = lab.block_on(call.ask(&*lab.store))?;
            end.push((call, answer));
        }
        ensure(self.some_order_explains(answers, &end), || {
            self.tell(answers, &end)
        })
    }

    /// Looks for an order, leaving each way at the first answer that it doesn't give.
    fn some_order_explains(&self, answers: &[Vec<Answer>], end: &[(Call, Answer)]) -> bool {
        let mut open = vec![(self.model.clone(), vec![0; self.threads.len()])];
        while let Some((model, done)) = open.pop() {
            let mut all_done = true;
            for (thread, calls) in self.threads.iter().enumerate() {
                let next = done.get(thread).copied().unwrap_or_default();
                let answer = answers.get(thread).and_then(|answers| answers.get(next));
                let (Some(call), Some(answer)) = (calls.get(next), answer) else {
                    continue;
                };
                all_done = false;
                let mut model = model.clone();
                if model.answer(call) == *answer {
                    let mut done = done.clone();
                    if let Some(count) = done.get_mut(thread) {
                        *count += 1;
                    }
                    open.push((model, done));
                }
            }
            if all_done {
                let mut model = model;
                if end
                    .iter()
                    .all(|(call, answer)| model.answer(call) == *answer)
                {
                    return true;
                }
            }
        }
        false
    }

    fn tell(&self, answers: &[Vec<Answer>], end: &[(Call, Answer)]) -> String {
        let mut text = "no order of these calls gives these answers:\n".to_owned();
        text.push_str("first:\n");
        text.push_str(&list(&self.before.iter().collect::<Vec<_>>()));
        let mut tell = |heading: &str, call: &Call, answer: &Answer| {
            let _ = writeln!(text, "{heading}: {call}\n    → {answer:?}");
        };
        for (thread, (calls, answers)) in self.threads.iter().zip(answers).enumerate() {
            for (call, answer) in calls.iter().zip(answers) {
                tell(&format!("thread {thread}"), call, answer);
            }
        }
        for (call, answer) in end {
            tell("afterwards", call, answer);
        }
        text
    }
}

/// One line each.
pub(crate) fn list(calls: &[&Call]) -> String {
    calls.iter().map(|call| format!("  {call}\n")).collect()
}
