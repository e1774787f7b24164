//! For every law of limiters there are limiters that break it, on which it fails.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "rate_limit_laws/broken.rs"]
mod broken;
mod faults;

use std::num::NonZeroU32;

use broken::{Broken, Fault};
use kindgi_core::conformance::{self, rate_limit::laws};

fn times(n: u32) -> NonZeroU32 {
    NonZeroU32::new(n).unwrap()
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
    pub(super) fn a_dropped_check_counts_wholly_or_not_at_all() -> Vec<Fault> {
        vec![
            DroppedCountsTwice,
            DroppedRefusalCounts,
            DroppedKeepsOthersOut,
        ]
    }
}

mod broken_limiters {
    use super::{Broken, breaks, conformance, laws};

    conformance::rate_limit::for_each_law! {
        (crate::faults::fails) ["conformance::rate_limit", Broken]
    }
}

/// What has the faults breaks nothing by itself.
mod without_a_fault {
    use super::{Broken, Fault, conformance};

    conformance::rate_limit::laws!(Broken(Fault::None));
}
