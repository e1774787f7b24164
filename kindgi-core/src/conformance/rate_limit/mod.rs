//! The suite that checks a rate limiter: one named test per law of [`crate::rate_limit`].
//!
//! ```
//! use std::{num::NonZeroU32, sync::Arc, time::Duration};
//!
//! use kindgi_core::{
//!     BoxError, ManualClock,
//!     conformance::{self, rate_limit::{Limit, LimitBackend}},
//!     rate_limit::{LocalRateLimiter, RateLimiter},
//! };
//!
//! struct Mine;
//!
//! const TEN: NonZeroU32 = NonZeroU32::new(10).unwrap();
//!
//! impl LimitBackend for Mine {
//!     type Guard = ();
//!
//!     async fn build(
//!         &self,
//!         clock: Arc<ManualClock>,
//!     ) -> Result<((), Arc<dyn RateLimiter>), BoxError> {
//!         Ok(((), Arc::new(LocalRateLimiter::per_second(TEN).clock(clock))))
//!     }
//!
//!     fn limit(&self) -> Limit {
//!         Limit::new(TEN, Duration::from_secs(1))
//!     }
//! }
//!
//! conformance::rate_limit::laws!(Mine);
//!
//! // The same as functions, for a test of one's own:
//! conformance::rate_limit::laws::a_refusal_postpones_nothing(&Mine)?;
//! # Ok::<(), conformance::Report>(())
//! ```
//!
//! Each law builds one limiter and gives every case callers of its own. A small limit, of a few
//! requests, makes the laws quick. What is said of cases, of `KINDGI_CASES` and of busy stores
//! [there](super) holds here, too.

mod bench;
mod dropped;
pub mod laws;

use std::{future::Future, num::NonZeroU32, sync::Arc, time::Duration};

use crate::{BoxError, ManualClock, rate_limit::RateLimiter};

/// A rate limiter to check.
pub trait LimitBackend: Send + Sync {
    /// What the limiter needs as long as it lives. It is dropped after the limiter, within the
    /// tokio runtime that [`build`](Self::build) ran on.
    type Guard: Send;

    /// Makes a limiter that goes by this clock.
    ///
    /// What it counts is its own: laws run in parallel, each by another clock. Runs on a
    /// multi-threaded tokio runtime that lives as long as the limiter.
    fn build(
        &self,
        clock: Arc<ManualClock>,
    ) -> impl Future<Output = Result<(Self::Guard, Arc<dyn RateLimiter>), BoxError>> + Send;

    /// How much the limiter lets through.
    fn limit(&self) -> Limit;

    /// How many other callers may come between two requests of a caller who is still remembered.
    ///
    /// The laws let several times as many come, so that a bound on how many are remembered is
    /// met. At least 64.
    fn callers(&self) -> usize {
        1_000
    }
}

/// What each caller may do: a burst at once, then so many requests in a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit {
    requests: NonZeroU32,
    per: Duration,
    burst: NonZeroU32,
}

impl Limit {
    /// So many requests in this time, and as many at once.
    pub fn new(requests: NonZeroU32, per: Duration) -> Self {
        Self {
            requests,
            per,
            burst: requests,
        }
    }

    /// How many requests may come at once, after a time without any.
    #[must_use]
    pub fn burst(self, requests: NonZeroU32) -> Self {
        Self {
            burst: requests,
            ..self
        }
    }
}

/// Hands the names of all laws to a macro, after what else it is to be given.
#[doc(hidden)]
#[macro_export]
macro_rules! __kindgi_for_each_limit_law {
    (($($each:tt)*) $($with:tt)*) => {
        $($each)*! {
            $($with)*
            a_burst_goes_through_and_the_next_is_refused
            a_refused_caller_is_told_exactly_when_to_come_again
            a_refusal_postpones_nothing
            callers_dont_count_for_each_other
            no_more_than_the_limit_goes_through_under_concurrency
            a_quiet_caller_gets_a_burst_and_no_more
            in_no_time_more_goes_through_than_the_limit
            many_callers_free_nobody_who_comes_again
            a_clock_that_stands_or_goes_back_frees_nobody
            a_dropped_check_counts_wholly_or_not_at_all
        }
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __kindgi_stamp_limit_law {
    ([$backend:expr] $($law:ident)*) => {
        $(
            #[test]
            fn $law() -> ::core::result::Result<(), $crate::conformance::Report> {
                $crate::conformance::rate_limit::laws::$law(&$backend)
            }
        )*
        $crate::__kindgi_stamp_all_laws_are_here! { 10, rate_limit::LAWS: $($law)* }
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __kindgi_limit_laws {
    ($backend:expr $(,)?) => {
        $crate::__kindgi_for_each_limit_law! { ($crate::__kindgi_stamp_limit_law) [$backend] }
    };
}

/// The names of the [`laws`](mod@laws), in their order.
pub const LAWS: &[&str] = crate::__kindgi_for_each_limit_law! { (crate::__kindgi_law_names) };

#[doc(hidden)]
pub use crate::__kindgi_for_each_limit_law as for_each_law;
/// Stamps a `#[test]` for each of the [`laws`](mod@laws) on a [`LimitBackend`], given as an
/// expression, and one that says whether all are there. See [the module](self).
#[doc(inline)]
pub use crate::__kindgi_limit_laws as laws;
