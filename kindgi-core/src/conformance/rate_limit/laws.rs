//! The laws, as functions.

use std::time::Duration;

use proptest::{collection::vec, prelude::*};

pub use super::dropped::a_dropped_check_counts_wholly_or_not_at_all;
use super::{
    LimitBackend,
    bench::{Bench, ceil, through_on},
};
use crate::{
    conformance::{
        Report, lab,
        report::{ensure, ensure_eq},
        texts::near,
    },
    model::{Principal, ReviewerRole, TenantId},
    rate_limit::RateDecision,
};

const THREADS: usize = 8;
const ROUNDS: usize = 24;

/// A new caller's requests go through up to the burst, and the next is refused; so it is for each
/// caller, and whenever they come first.
pub fn a_burst_goes_through_and_the_next_is_refused(
    backend: &impl LimitBackend,
) -> Result<(), Report> {
    let law = "a_burst_goes_through_and_the_next_is_refused";
    Bench::hold(law, backend, |bench| {
        for pause in [0, 1, bench.whole(), 86_400_000] {
            bench.advance(pause);
            let who = bench.caller()?;
            bench.expect("a new caller", &who, (bench.burst(), bench.burst()))?;
            let told = bench.refused("the request after a burst", &who)?;
            ensure(ceil(told) <= bench.whole(), || {
                format!("after a burst one comes again after {told:?}, when all is there again")
            })?;
        }
        Ok(())
    })
}

/// `retry_after` is exact: a caller who waits is refused up to it, being told the rest, and goes
/// through at it.
pub fn a_refused_caller_is_told_exactly_when_to_come_again(
    backend: &impl LimitBackend,
) -> Result<(), Report> {
    let law = "a_refused_caller_is_told_exactly_when_to_come_again";
    Bench::hold(law, backend, |bench| {
        let whole = bench.whole();
        // After a whole burst, and after what came back since.
        for pause in [0, 1, whole / 3, whole / 2 + 1, whole - 1] {
            exact_after(bench, pause)?;
        }
        Ok(())
    })
}

fn exact_after(bench: &Bench<'_>, pause: i64) -> Result<(), Report> {
    // Each is asked once, so that no refusal comes between.
    let callers = bench.callers(6)?;
    callers
        .iter()
        .try_for_each(|who| bench.drain(who).map(drop))?;
    bench.advance(pause);
    let mut told = Vec::new();
    for who in &callers {
        told.push(bench.drain(who)?);
    }
    let [first, ..] = *told else {
        return Err(Report::new("the suite has no caller"));
    };
    ensure(told.iter().all(|other| *other == first), || {
        format!("callers who did the same are told otherwise: {told:?}")
    })?;
    let until = ceil(first);
    let mut passed = 0;
    let instants = [0, 1, until / 2, until - 1, until, until + 1];
    for (at, who) in instants.into_iter().zip(&callers) {
        if at < passed {
            // So soon that there is no such instant.
            continue;
        }
        bench.advance(at - passed);
        passed = at;
        let left = first.checked_sub(Duration::from_millis(at.try_into().unwrap_or(0)));
        let should_be = match left.filter(|left| *left > Duration::ZERO) {
            Some(retry_after) => RateDecision::Limited { retry_after },
            None => RateDecision::Allowed,
        };
        let is = bench.ask(who)?;
        let what = format!("{at} ms after a caller was told to come again after {first:?}");
        ensure_eq(&what, &is, &should_be)?;
    }
    Ok(())
}

/// A refused request isn't counted: a caller who asks on while refused gets as much as one who
/// waits.
pub fn a_refusal_postpones_nothing(backend: &impl LimitBackend) -> Result<(), Report> {
    Bench::hold("a_refusal_postpones_nothing", backend, |bench| {
        let (waits, asks) = (bench.caller()?, bench.caller()?);
        let until = ceil(bench.drain(&waits)?);
        bench.drain(&asks)?;
        bench.expect(
            "a caller who has had a burst",
            &asks,
            (0, bench.burst() + 2),
        )?;
        let step = (until / 16).max(1);
        let mut passed = 0;
        while passed + step < until {
            bench.advance(step);
            passed += step;
            bench.expect("a caller before their time", &asks, (0, 2))?;
        }
        bench.advance(until - passed);
        for pause in [0, 1, until, bench.whole(), bench.whole() / 2] {
            bench.advance(pause);
            for request in 1..=bench.burst() + 1 {
                let (is, should_be) = (bench.ask(&asks)?, bench.ask(&waits)?);
                let what = format!("request {request} of a caller who asked while refused");
                ensure_eq(&what, &is, &should_be)?;
            }
        }
        Ok(())
    })
}

/// A caller is a tenant, a kind of principal and an id, each compared exactly. Others never count
/// for them; and they are one caller whatever reviewer they are.
pub fn callers_dont_count_for_each_other(backend: &impl LimitBackend) -> Result<(), Report> {
    Bench::hold("callers_dont_count_for_each_other", backend, |bench| {
        let (tenant, other) = (bench.lab.tenant()?, bench.lab.tenant()?);
        let mut callers = Vec::new();
        for number in 0..8 {
            let id = near("ada", number);
            callers.push(Principal::user(tenant.clone(), id.parse()?));
            callers.push(Principal::service(tenant.clone(), id.parse()?));
            callers.push(Principal::user(other.clone(), id.parse()?));
            let twin = TenantId::new(near(tenant.as_str(), number))?;
            if number > 0 {
                callers.push(Principal::user(twin, "ada".parse()?));
            }
        }
        // What is one text when joined.
        for by in [":", "/", "|", "-", " ", "\n", "user:", ":user:"] {
            let longer = TenantId::new(format!("{tenant}{by}x"))?;
            callers.push(Principal::user(longer, "y".parse()?));
            callers.push(Principal::user(tenant.clone(), format!("x{by}y").parse()?));
        }
        for who in &callers {
            let what = format!("{who:?}, after others");
            bench.expect(&what, who, (bench.burst(), bench.burst() + 1))?;
        }
        for who in &callers {
            bench.refused(&format!("{who:?}, who has had a burst"), who)?;
            let reviews = who.clone().with_reviewer_role(ReviewerRole::Senior);
            bench.refused("a caller who became a reviewer", &reviews)?;
        }
        Ok(())
    })
}

/// Of requests that come at once, exactly those go through that would one after another.
pub fn no_more_than_the_limit_goes_through_under_concurrency(
    backend: &impl LimitBackend,
) -> Result<(), Report> {
    let law = "no_more_than_the_limit_goes_through_under_concurrency";
    Bench::hold(law, backend, |bench| {
        let callers = bench.callers(ROUNDS)?;
        let threads = u32::try_from(THREADS).unwrap_or(u32::MAX);
        let each = bench.burst().div_ceil(threads) + 1;
        let limiter = &*bench.lab.store;
        let rounds = bench.lab.race(THREADS, ROUNDS, |handle, round, _| {
            let who = callers.get(round);
            let who = who.ok_or_else(|| Report::new("the suite has no caller"))?;
            through_on(handle, limiter, who, each)
        })?;
        for round in rounds {
            let by_thread = round.into_iter().collect::<Result<Vec<u32>, _>>()?;
            let what = format!("how many requests go through at once ({by_thread:?} by thread)");
            ensure_eq(&what, &by_thread.iter().sum(), &bench.burst())?;
        }
        Ok(())
    })
}

/// However long a caller was quiet, they get a burst and no more; and they have it again after as
/// long as the limit takes for it.
pub fn a_quiet_caller_gets_a_burst_and_no_more(backend: &impl LimitBackend) -> Result<(), Report> {
    Bench::hold(
        "a_quiet_caller_gets_a_burst_and_no_more",
        backend,
        |bench| {
            let (often, once) = (bench.caller()?, bench.caller()?);
            bench.expect("a new caller", &often, (bench.burst(), bench.burst() + 1))?;
            bench.expect("a new caller", &once, (1, 1))?;
            for pause in [
                bench.whole(),
                2 * bench.whole() + 1,
                3_600_000,
                31_622_400_000,
            ] {
                let pause = pause.max(bench.whole());
                bench.advance(pause);
                let what = format!("a caller who was quiet for {pause} ms");
                bench.expect(&what, &often, (bench.burst(), 2 * bench.burst() + 1))?;
            }
            bench.expect(
                "a caller who came once",
                &once,
                (bench.burst(), 2 * bench.burst() + 1),
            )
        },
    )
}

/// Pauses of so many 64ths of the time that a whole burst takes, and then so many requests.
type Visits = Vec<(i64, u32)>;

impl lab::Case for Visits {
    fn fewer(&self) -> Vec<Self> {
        let without = |index| {
            let visits = self.iter().enumerate().filter(|(at, _)| *at != index);
            visits.map(|(_, visit)| *visit).collect()
        };
        (0..self.len()).map(without).collect()
    }
}

/// In no stretch of time, however a caller comes and pauses, more requests go through than a burst
/// and what the limit gives in that time.
pub fn in_no_time_more_goes_through_than_the_limit(
    backend: &impl LimitBackend,
) -> Result<(), Report> {
    let law = "in_no_time_more_goes_through_than_the_limit";
    Bench::hold(law, backend, |bench| {
        let pause = prop_oneof![3 => 0..8_i64, 2 => 0..80_i64, 1 => Just(0)];
        let visits = vec((pause, 0..=bench.burst() + 1), 1..16);
        bench.lab.property(48, &visits, |visits, _| {
            let who = bench.caller()?;
            let (mut now, mut through) = (0, Vec::new());
            for (pause, requests) in visits {
                let pause = pause * bench.whole() / 64;
                bench.advance(pause);
                now += pause;
                through.push((now, bench.through(&who, *requests)?));
            }
            for (index, (began, _)) in through.iter().enumerate() {
                let mut sum = 0;
                for (at, count) in through.iter().skip(index) {
                    sum += u128::from(*count);
                    let most = bench.most_within(at - began);
                    ensure(sum <= most, || {
                        let within = at - began;
                        format!(
                            "of these visits (64ths of the time of a burst, requests)\n  {visits:?}\n\
                             {sum} requests go through within {within} ms, where {most} may"
                        )
                    })?;
                }
            }
            Ok(())
        })
    })
}

/// Whoever comes again stays limited, however many others come: more of them, all in all, than
/// are remembered. And so is whoever comes after them.
pub fn many_callers_free_nobody_who_comes_again(backend: &impl LimitBackend) -> Result<(), Report> {
    Bench::hold(
        "many_callers_free_nobody_who_comes_again",
        backend,
        |bench| {
            let (drained, slow) = (bench.caller()?, bench.caller()?);
            bench.drain(&drained)?;
            let left = bench.burst().min(4);
            let at_once = bench.burst() - left;
            bench.expect("a new caller", &slow, (at_once, at_once))?;
            let mut others = 0;
            for round in 0..left + 4 {
                // Both count themselves as another to each other.
                for _ in 1..backend.callers() {
                    bench.expect("a new caller among many", &bench.caller()?, (1, 1))?;
                    others += 1;
                }
                let what =
                    format!("a caller who had a burst and came again, after {others} others,");
                bench.refused(&what, &drained)?;
                let through = u32::from(round < left);
                let what = format!("a caller who came {round} times, after {others} others");
                bench.expect(&what, &slow, (through, 1))?;
            }
            let late = bench.caller()?;
            let what = format!("a new caller after {others} others");
            bench.expect(&what, &late, (bench.burst(), bench.burst() + 1))
        },
    )
}

/// While the clock stands, goes back, or comes up again to where it was, nobody gets more than
/// they had left.
pub fn a_clock_that_stands_or_goes_back_frees_nobody(
    backend: &impl LimitBackend,
) -> Result<(), Report> {
    let law = "a_clock_that_stands_or_goes_back_frees_nobody";
    Bench::hold(law, backend, |bench| {
        let hour = 3_600_000;
        for back in [1, bench.whole(), hour] {
            let (drained, half) = (bench.caller()?, bench.caller()?);
            bench.drain(&drained)?;
            let used = bench.burst().div_ceil(2);
            let most = bench.burst() - used;
            bench.expect("a new caller", &half, (used, used))?;
            bench.expect(
                "a caller at whom the clock stands",
                &drained,
                (0, bench.burst() * 4),
            )?;
            bench.advance(-back);
            bench.expect(
                "a caller for whom the clock went back",
                &drained,
                (0, bench.burst() + 1),
            )?;
            let mut through = bench.through(&half, bench.burst() + 1)?;
            // Up again, not quite and quite, and back and forth once more.
            for step in [back - 1, 1, -back, back] {
                bench.advance(step);
                bench.expect(
                    "a caller before the clock went on",
                    &drained,
                    (0, bench.burst()),
                )?;
                through += bench.through(&half, bench.burst())?;
            }
            ensure(through <= most, || {
                format!(
                    "a caller with {most} requests left got {through} by the clock's going back"
                )
            })?;
            bench.advance(bench.whole());
            bench.expect(
                "a caller for whom the clock went on",
                &drained,
                (bench.burst(), bench.burst() + 1),
            )?;
        }
        Ok(())
    })
}
