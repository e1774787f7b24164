//! The law of checks that are dropped.

use super::{LimitBackend, bench::Bench};
use crate::{
    conformance::{
        Report,
        dropped::MAX_POLLS,
        report::{ensure, ensure_eq},
    },
    model::Principal,
    rate_limit::RateDecision,
};

/// A check whose future is dropped at any await counts as one request, by the time that later ones
/// are answered, or as none; a refused one counts as none. It keeps nobody from asking on.
pub fn a_dropped_check_counts_wholly_or_not_at_all(
    backend: &impl LimitBackend,
) -> Result<(), Report> {
    let law = "a_dropped_check_counts_wholly_or_not_at_all";
    Bench::hold(law, backend, |bench| {
        for polls in 1..MAX_POLLS {
            let mut finished = true;
            // New callers, some who have something left, and some who haven't.
            for used in [0, 1, bench.burst() / 2, bench.burst() - 1, bench.burst()] {
                for drops in [1, 2, bench.burst()] {
                    finished &= drop_after(bench, polls, (used, drops))?;
                }
            }
            if finished {
                return Ok(());
            }
        }
        Ok(())
    })
}

/// Whether each check was done before it was dropped.
fn drop_after(bench: &Bench<'_>, polls: usize, (used, drops): (u32, u32)) -> Result<bool, Report> {
    let (who, twin) = (bench.caller()?, bench.caller()?);
    bench.expect("a new caller", &who, (used, used))?;
    let (mut done, mut through) = (0, 0);
    for _ in 0..drops {
        let decided = bench.dropped(&who, polls);
        done += u32::from(decided.is_some());
        through += u32::from(decided == Some(RateDecision::Allowed));
    }
    let told = || {
        format!(
            "a caller of whom, after {used} requests, {} of {drops} checks were dropped when they \
             had been polled {polls} times",
            drops - done
        )
    };
    let left = bench.burst() - used;
    let rest = bench.through(&who, bench.burst() + 1)?;
    let (all, fewest) = (through + rest, left.saturating_sub(drops - done));
    ensure((fewest..=left).contains(&all), || {
        format!("{}: {all} more go through, where {left} were left", told())
    })?;
    // By now it counts or never does, and they are as anyone who has had a burst.
    bench.drain(&twin)?;
    same(bench, &told(), (&who, &twin))?;
    for pause in [1, bench.whole() / 2, bench.whole()] {
        bench.advance(pause);
        same(bench, &told(), (&who, &twin))?;
    }
    Ok(done == drops)
}

/// Two callers are told the same until they are refused.
fn same(
    bench: &Bench<'_>,
    what: &str,
    (who, twin): (&Principal, &Principal),
) -> Result<(), Report> {
    for _ in 0..=bench.burst() {
        let (is, should_be) = (bench.ask(who)?, bench.ask(twin)?);
        ensure_eq(&format!("the answer to {what}"), &is, &should_be)?;
    }
    Ok(())
}
