//! A caller gets a burst and then so many requests a second, whatever others do.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::{num::NonZeroU32, sync::Arc, time::Duration};

use kindgi_core::{
    ManualClock,
    model::Principal,
    rate_limit::{LocalRateLimiter, RateDecision, RateLimiter},
};
use proptest::{collection::vec, prelude::*};

fn times(n: u32) -> NonZeroU32 {
    NonZeroU32::new(n).unwrap()
}

fn caller(n: usize) -> Principal {
    let id = format!("user-{n}").parse().unwrap();
    Principal::user("tenant".parse().unwrap(), id)
}

struct World {
    clock: Arc<ManualClock>,
    limiter: LocalRateLimiter,
    runtime: tokio::runtime::Runtime,
}

impl World {
    fn new(limiter: LocalRateLimiter) -> Self {
        let clock = Arc::new(ManualClock::default());
        Self {
            limiter: limiter.clock(Arc::clone(&clock)),
            clock,
            runtime: tokio::runtime::Builder::new_current_thread()
                .build()
                .unwrap(),
        }
    }

    fn asks(&self, who: &Principal) -> RateDecision {
        self.runtime.block_on(self.limiter.check(who)).unwrap()
    }

    /// How many of so many requests at once go through.
    fn burst(&self, who: &Principal, requests: u32) -> u32 {
        (0..requests)
            .filter(|_| self.asks(who) == RateDecision::Allowed)
            .count() as u32
    }
}

#[test]
fn a_burst_goes_through_and_then_so_many_a_second() {
    let world = World::new(LocalRateLimiter::per_second(times(10)).burst(times(30)));
    assert_eq!(world.burst(&caller(0), 100), 30);
    for (millis, through) in [(1_000, 10), (50, 0), (50, 1), (60_000, 30)] {
        world.clock.advance_millis(millis);
        assert_eq!(world.burst(&caller(0), 100), through, "after {millis} ms");
    }
}

#[test]
fn callers_are_told_exactly_when_to_come_again() {
    let world = World::new(LocalRateLimiter::per_second(times(2)).burst(times(1)));
    assert_eq!(world.asks(&caller(0)), RateDecision::Allowed);
    for (millis, left) in [(0, 500), (123, 377), (376, 1)] {
        world.clock.advance_millis(millis);
        let retry_after = Duration::from_millis(left);
        assert_eq!(
            world.asks(&caller(0)),
            RateDecision::Limited { retry_after },
            "after {millis} ms more"
        );
    }
    world.clock.advance_millis(1);
    assert_eq!(world.asks(&caller(0)), RateDecision::Allowed);
}

#[test]
fn nobody_counts_for_somebody_else() {
    let world = World::new(LocalRateLimiter::per_second(times(1)).burst(times(3)));
    let service = Principal::service("tenant".parse().unwrap(), "user-0".parse().unwrap());
    let elsewhere = Principal::user("other".parse().unwrap(), "user-0".parse().unwrap());
    for who in [caller(0), caller(1), service, elsewhere] {
        assert_eq!(world.burst(&who, 10), 3);
    }
}

#[test]
fn quiet_callers_are_forgotten_and_get_no_more_than_they_had() {
    let world = World::new(LocalRateLimiter::per_second(times(10)).burst(times(10)));
    assert_eq!(world.burst(&caller(0), 10), 10);
    for n in 1..2_000 {
        world.asks(&caller(n));
    }
    assert_eq!(world.limiter.callers(), 2_000);
    // One who comes often makes the limiter tidy up, with all but them quiet for long enough.
    world.clock.advance_millis(5_000);
    for _ in 0..5_000 {
        world.asks(&caller(1));
    }
    assert_eq!(world.limiter.callers(), 1);
    assert_eq!(world.burst(&caller(0), 100), 10);
}

#[test]
fn a_clock_that_goes_back_stands_still() {
    let world = World::new(LocalRateLimiter::per_second(times(1)).burst(times(2)));
    assert_eq!(world.burst(&caller(0), 5), 2);
    world.clock.advance_millis(-3_600_000);
    assert_eq!(world.burst(&caller(0), 5), 0);
    world.clock.advance_millis(3_601_000);
    assert_eq!(world.burst(&caller(0), 5), 1);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(64) })]

    /// Whoever is limited stays so while others come, also where there are more of them than are
    /// remembered, as long as not as many others come as a generation holds.
    #[test]
    fn many_callers_free_nobody_and_take_bounded_room(
        others in vec((1..400usize, 0..20i64), 1..300),
    ) {
        const CALLERS: usize = 32;
        let limiter = LocalRateLimiter::per_second(times(1)).burst(times(5));
        let world = World::new(limiter.max_callers(CALLERS));
        let (mut let_through, mut millis) = (0, 0);
        for (n, step) in others {
            let_through += world.burst(&caller(0), 2);
            world.asks(&caller(n));
            world.clock.advance_millis(step);
            millis += step;
            prop_assert!(world.limiter.callers() <= 2 * CALLERS);
        }
        let most = 5 + u32::try_from(millis / 1_000).unwrap() + 1;
        prop_assert!(let_through <= most, "{let_through} of {most}");
    }
}
