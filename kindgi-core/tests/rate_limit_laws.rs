//! The limiter in memory keeps every law; and for every law there are limiters that break it, on
//! which it fails.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "rate_limit_laws/broken.rs"]
mod broken;

use std::{num::NonZeroU32, sync::Arc, time::Duration};

use broken::{Broken, Fault};
use kindgi_core::{
    BoxError, ManualClock,
    conformance::{
        self,
        rate_limit::{Limit, LimitBackend, laws},
    },
    rate_limit::{LocalRateLimiter, RateLimiter},
};

fn times(n: u32) -> NonZeroU32 {
    NonZeroU32::new(n).unwrap()
}

/// So many a second, a burst, and how many callers are remembered.
struct Local {
    per_second: u32,
    burst: u32,
    callers: usize,
}

impl LimitBackend for Local {
    type Guard = ();

    async fn build(&self, clock: Arc<ManualClock>) -> Result<((), Arc<dyn RateLimiter>), BoxError> {
        let limiter = LocalRateLimiter::per_second(times(self.per_second))
            .burst(times(self.burst))
            .max_callers(self.callers);
        Ok(((), Arc::new(limiter.clock(clock))))
    }

    fn limit(&self) -> Limit {
        let limit = Limit::new(times(self.per_second), Duration::from_secs(1));
        limit.burst(times(self.burst))
    }

    fn callers(&self) -> usize {
        self.callers
    }
}

mod in_memory {
    use super::{Local, conformance};

    conformance::rate_limit::laws!(Local {
        per_second: 3,
        burst: 5,
        callers: 100,
    });

    mod one_at_a_time {
        use super::{Local, conformance};

        conformance::rate_limit::laws!(Local {
            per_second: 1,
            burst: 1,
            callers: 64,
        });
    }

    mod many_a_millisecond {
        use super::{Local, conformance};

        conformance::rate_limit::laws!(Local {
            per_second: 7_000,
            burst: 40,
            callers: 1_000,
        });
    }
}

/// What breaks each law: a law without a function here doesn't compile below.
mod breaks {
    use super::Fault::{self, *};

    pub(super) fn a_burst_goes_through_and_the_next_is_refused() -> Vec<Fault> {
        vec![Burst(1), Burst(-1), RefusalHasNoTime, RetryInMinutes]
    }
    pub(super) fn a_refused_caller_is_told_exactly_when_to_come_again() -> Vec<Fault> {
        vec![
            RetryLater(1),
            RetryLater(-1),
            RetryInSeconds,
            RetryIsForAWholeBurst,
            RetryIsForOneFromNow,
            NextOneLate,
        ]
    }
    pub(super) fn a_refusal_postpones_nothing() -> Vec<Fault> {
        vec![RefusalBeginsAnew, RefusalCounts]
    }
    pub(super) fn callers_dont_count_for_each_other() -> Vec<Fault> {
        vec![
            KeyWithoutTenant,
            KeyWithoutKind,
            KeyWithoutId,
            KeyWithRole,
            KeyJoined(":"),
            KeyJoined("/"),
            KeyFolded,
            KeyTrimmed,
            KeyCut,
        ]
    }
    pub(super) fn no_more_than_the_limit_goes_through_under_concurrency() -> Vec<Fault> {
        vec![Races]
    }
    pub(super) fn a_quiet_caller_gets_a_burst_and_no_more() -> Vec<Fault> {
        vec![QuietSavesUp, GivesBackOne, Burst(1)]
    }
    pub(super) fn in_no_time_more_goes_through_than_the_limit() -> Vec<Fault> {
        vec![FixedWindow, QuietSavesUp]
    }
    pub(super) fn many_callers_free_nobody_who_comes_again() -> Vec<Fault> {
        vec![
            ForgetsTheFirst,
            ForgetsTheRefused,
            ForgetsAll,
            FullLetsThrough,
            FullRefuses,
        ]
    }
    pub(super) fn a_clock_that_stands_or_goes_back_frees_nobody() -> Vec<Fault> {
        vec![ClockBackFrees, ClockBackCountsAsPassed, EachRequestIsATick]
    }
}

mod broken_limiters {
    use super::{Broken, breaks, conformance, laws};

    macro_rules! fails {
        ($($law:ident)*) => {$(
            #[test]
            fn $law() {
                let faults = breaks::$law();
                assert!(!faults.is_empty());
                for fault in faults {
                    let failed = laws::$law(&Broken(fault));
                    let report = failed.expect_err(&format!("{fault:?} went unnoticed"));
                    assert_eq!(report.law(), stringify!($law));
                    assert!(!report.to_string().contains("the suite"), "{report}");
                }
            }
        )*};
    }
    conformance::rate_limit::for_each_law! { (fails) }
}

/// What has the faults breaks nothing by itself.
mod without_a_fault {
    use super::{Broken, Fault, conformance};

    conformance::rate_limit::laws!(Broken(Fault::None));
}
