//! Laws of all aggregates together.

use std::{
    future::Future,
    pin::Pin,
    task::{Context, Poll},
};

use crate::conformance::{
    Backend, Report,
    call::{Answer, Call},
    generate,
    lab::Lab,
    model::Model,
    report::ensure,
    resolve, runner,
};

/// How often a dropped future is polled at most, and how often the rows are read until two
/// readings are equal.
const MAX_POLLS: usize = 40;
const MAX_READINGS: usize = 20;

/// In any sequence of calls, each answer is the one that the reference model gives; and so is all
/// that can be read in the end.
pub fn answers_equal_the_model(backend: &impl Backend) -> Result<(), Report> {
    Lab::hold("answers_equal_the_model", backend, |lab| {
        lab.property(320, &generate::sequence(), |commands, _| {
            runner::sequence(lab, commands)
        })
    })
}

/// When threads call at once, their answers, and all that can be read afterwards, are those of
/// some order of the calls that keeps each thread's own.
pub fn concurrent_rounds_equal_some_order(backend: &impl Backend) -> Result<(), Report> {
    Lab::hold("concurrent_rounds_equal_some_order", backend, |lab| {
        lab.property(160, &generate::round(), |round, shrinking| {
            runner::round(lab, round, shrinking)
        })
    })
}

/// A call whose future is dropped at any await took effect wholly or not at all.
pub fn a_dropped_future_leaves_all_or_nothing(backend: &impl Backend) -> Result<(), Report> {
    Lab::hold("a_dropped_future_leaves_all_or_nothing", backend, |lab| {
        lab.property(128, &generate::round(), |round, _| {
            let [first, rest @ ..] = round.threads.as_slice() else {
                return Ok(());
            };
            for polls in 1..MAX_POLLS {
                let commands: Vec<_> = round
                    .before
                    .iter()
                    .chain(first)
                    .chain(rest.iter().flatten())
                    .cloned()
                    .collect();
                let tenants = [lab.tenant()?, lab.tenant()?];
                let mut calls = resolve::calls(&tenants, &commands)?;
                let later = calls.split_off(round.before.len() + first.len());
                let dropped = calls.split_off(round.before.len());
                let [calls, dropped, later]: [Vec<Call>; 3] =
                    [calls, dropped, later].map(|calls| calls.into_iter().flatten().collect());
                let every: Vec<Call> = calls
                    .iter()
                    .chain(&dropped)
                    .chain(&later)
                    .cloned()
                    .collect();
                let readings = resolve::readings(&every);
                let mut model = Model::default();
                runner::answers_equal(lab, &calls, &mut model)?;
                let mut finished = true;
                for call in &dropped {
                    finished &= drop_one(lab, call, polls, &mut model, &readings)?;
                }
                // What can't be read may yet show in what comes later.
                runner::answers_equal(lab, &later, &mut model)
                    .map_err(|report| report.with_context(told(&dropped, polls)))?;
                if finished {
                    return Ok(());
                }
            }
            Ok(())
        })
    })
}

fn told(dropped: &[Call], polls: usize) -> String {
    let dropped = runner::list(&dropped.iter().collect::<Vec<_>>());
    format!("after these were dropped when they had been polled {polls} times:\n{dropped}")
}

/// Polls a call so often and drops it. Whether it was done by then.
fn drop_one(
    lab: &Lab,
    call: &Call,
    polls: usize,
    model: &mut Model,
    readings: &[Call],
) -> Result<bool, Report> {
    let future = Box::pin(call.ask_once(&*lab.store));
    let finished = lab.block_on(AtMost { future, polls }).is_some();
    let mut after = model.clone();
    after.answer(call);
    let is = settled(lab, readings)?;
    let of = |mut model: Model| {
        readings
            .iter()
            .map(|call| model.answer(call))
            .collect::<Vec<_>>()
    };
    let all = is == of(after.clone());
    let nothing = is == of(model.clone());
    ensure(all || (nothing && !finished), || {
        let should_be = if finished {
            "all of it"
        } else {
            "all or nothing of it"
        };
        let told: Vec<String> = readings
            .iter()
            .zip(&is)
            .map(|(call, is)| format!("  {call}\n    → {is:?}\n"))
            .collect();
        format!(
            "dropped after {polls} polls, this call should have had effect by {should_be}:\n  \
             {call}\nread afterwards:\n{}",
            told.concat()
        )
    })?;
    if all {
        *model = after;
    }
    Ok(finished)
}

/// All readings, once two in a row are equal: a database may still be ending what was dropped.
fn settled(lab: &Lab, readings: &[Call]) -> Result<Vec<Answer>, Report> {
    let ask = |call: &Call| lab.block_on(call.ask(&*lab.store));
    let read = || {
        readings
            .iter()
            .map(ask)
            .collect::<Result<Vec<Answer>, Report>>()
    };
    let mut last = read()?;
    for _ in 0..MAX_READINGS {
        let next = std::mem::replace(&mut last, read()?);
        if next == last {
            return Ok(last);
        }
    }
    Err(Report::new(
        "what can be read goes on changing while nobody writes",
    ))
}

/// A future that is dropped after some polls.
struct AtMost<F> {
    future: Pin<Box<F>>,
    polls: usize,
}

impl<F: Future> Future for AtMost<F> {
    type Output = Option<F::Output>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        self.polls = self.polls.saturating_sub(1);
        match self.future.as_mut().poll(context) {
            Poll::Ready(output) => Poll::Ready(Some(output)),
            Poll::Pending if self.polls == 0 => Poll::Ready(None),
            Poll::Pending => Poll::Pending,
        }
    }
}
