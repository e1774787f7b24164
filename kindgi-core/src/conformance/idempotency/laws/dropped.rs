//! The law of futures that are dropped.

use crate::conformance::{
    Report,
    dropped::{AtMost, MAX_POLLS},
    idempotency::{
        KeyBackend,
        bench::{Bench, ask},
        call::Call,
        generate::{self, Cast, Dropped},
        model::Model,
    },
    report::{difference, ensure},
};

/// A call whose future is dropped at any await takes effect wholly, at once or later, or not at
/// all.
pub fn a_dropped_future_leaves_all_or_nothing(backend: &impl KeyBackend) -> Result<(), Report> {
    Bench::hold("a_dropped_future_leaves_all_or_nothing", backend, |bench| {
        for case in generate::stories() {
            drop_ever_later(bench, &case)?;
        }
        bench.lab.property(160, &generate::dropped(), |case, _| {
            drop_ever_later(bench, case)
        })
    })
}

/// Drops the call at each of its awaits.
fn drop_ever_later(bench: &Bench<'_>, case: &Dropped) -> Result<(), Report> {
    for polls in 1..MAX_POLLS {
        if drop_after(bench, case, polls)? {
            break;
        }
    }
    Ok(())
}

/// Whether the call was done before it was dropped.
fn drop_after(bench: &Bench<'_>, case: &Dropped, polls: usize) -> Result<bool, Report> {
    let cast = Cast::new(bench)?;
    let mut without = Model::default();
    bench.answers_equal(&cast.calls(&case.before)?, &mut without)?;
    let dropped = cast.call(&case.dropped)?;
    let mut with = without.clone();
    let should_be = with.answer(&dropped, bench.now());
    let asked = AtMost::new(polls, ask(&*bench.lab.store, &dropped));
    if let Some(answer) = bench.lab.block_on(asked) {
        let is = answer?;
        let right = is == should_be;
        return ensure(right, || difference(&should_be, &is)).map(|()| true);
    }
    // All that may be the case, and whether the call may still take effect.
    let mut worlds = vec![(without, true), (with, false)];
    let mut later = cast.calls(&case.after)?;
    later.extend(cast.readings());
    for call in &later {
        answer_fits(bench, &mut worlds, call, &dropped)
            .map_err(|report| report.with_context(told(&dropped, polls)))?;
    }
    Ok(false)
}

/// Keeps the worlds in which the store's answer is right.
fn answer_fits(
    bench: &Bench<'_>,
    worlds: &mut Vec<(Model, bool)>,
    call: &Call,
    dropped: &Call,
) -> Result<(), Report> {
    let is = bench.ask(call)?;
    let now = bench.now();
    let mut fitting: Vec<(Model, bool)> = Vec::new();
    let mut should_be = None;
    for (mut model, pending) in std::mem::take(worlds) {
        let answer = model.answer(call, now);
        if answer == is && !fitting.contains(&(model.clone(), pending)) {
            if pending {
                let mut done = model.clone();
                done.answer(dropped, now);
                fitting.push((done, false));
            }
            fitting.push((model, pending));
        }
        should_be.get_or_insert(answer);
    }
    let possible = !fitting.is_empty();
    *worlds = fitting;
    ensure(possible, || {
        let should_be = should_be.as_ref().unwrap_or(&is);
        let difference = difference(should_be, &is);
        format!("no order of effects gives this answer:\n  {call:?}\n{difference}")
    })
}

fn told(dropped: &Call, polls: usize) -> String {
    format!("after this was dropped when it had been polled {polls} times:\n  {dropped:?}")
}
