//! The suite that checks a store of idempotency keys: one named test per law of
//! [`crate::idempotency`].
//!
//! ```
//! use std::sync::Arc;
//!
//! use kindgi_core::{
//!     BoxError, ManualClock,
//!     conformance::{self, idempotency::KeyBackend},
//!     idempotency::{IdempotencyStore, MemoryIdempotency},
//! };
//!
//! struct Mine;
//!
//! impl KeyBackend for Mine {
//!     type Guard = ();
//!
//!     async fn build(
//!         &self,
//!         clock: Arc<ManualClock>,
//!     ) -> Result<((), Arc<dyn IdempotencyStore>), BoxError> {
//!         Ok(((), Arc::new(MemoryIdempotency::with_clock(clock))))
//!     }
//! }
//!
//! conformance::idempotency::laws!(Mine);
//!
//! // The same as functions, for a test of one's own:
//! conformance::idempotency::laws::a_kept_answer_is_verbatim(&Mine)?;
//! # Ok::<(), conformance::Report>(())
//! ```
//!
//! Each law builds one store and gives every case keys and tenants of its own. What is said of
//! cases, of `KINDGI_CASES` and of busy stores [there](super) holds here, too.

mod bench;
mod call;
mod generate;
pub mod laws;
mod model;

use std::{future::Future, sync::Arc};

use crate::{BoxError, ManualClock, idempotency::IdempotencyStore};

/// A store of keys to check.
pub trait KeyBackend: Send + Sync {
    /// What the store needs as long as it lives, such as a temporary directory. It is dropped after
    /// the store, within the tokio runtime that [`build`](Self::build) ran on.
    type Guard: Send;

    /// Makes a store that judges its deadlines by this clock.
    ///
    /// Its records are its own: laws run in parallel, each by another clock, and one law's purge
    /// must not meet another's keys. Runs on a multi-threaded tokio runtime that lives as long as
    /// the store.
    fn build(
        &self,
        clock: Arc<ManualClock>,
    ) -> impl Future<Output = Result<(Self::Guard, Arc<dyn IdempotencyStore>), BoxError>> + Send;
}

/// Hands the names of all laws to a macro, after what else it is to be given.
#[doc(hidden)]
#[macro_export]
macro_rules! __kindgi_for_each_key_law {
    (($($each:tt)*) $($with:tt)*) => {
        $($each)*! {
            $($with)*
            answers_equal_the_model
            one_request_at_a_time_holds_a_key_under_concurrency
            a_lost_hold_changes_nothing
            a_claim_made_again_is_recognised
            a_deadline_is_exact_to_the_millisecond
            what_was_forgotten_is_not_replayed
            what_was_begun_before_it_was_forgotten_is_not_kept
            a_kept_answer_is_verbatim
            a_withheld_answer_is_told_and_not_kept
            a_dropped_future_leaves_all_or_nothing
            tenants_never_meet
            a_purge_removes_only_what_ended
        }
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __kindgi_stamp_key_law {
    ([$backend:expr] $($law:ident)*) => {
        $(
            #[test]
            fn $law() -> ::core::result::Result<(), $crate::conformance::Report> {
                $crate::conformance::idempotency::laws::$law(&$backend)
            }
        )*
        $crate::__kindgi_stamp_all_laws_are_here! { 12, idempotency::LAWS: $($law)* }
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __kindgi_key_laws {
    ($backend:expr $(,)?) => {
        $crate::__kindgi_for_each_key_law! { ($crate::__kindgi_stamp_key_law) [$backend] }
    };
}

/// The names of the [`laws`](mod@laws), in their order.
pub const LAWS: &[&str] = crate::__kindgi_for_each_key_law! { (crate::__kindgi_law_names) };

#[doc(hidden)]
pub use crate::__kindgi_for_each_key_law as for_each_law;
/// Stamps a `#[test]` for each of the [`laws`](mod@laws) on a [`KeyBackend`], given as an
/// expression, and one that says whether all are there. See [the module](self).
#[doc(inline)]
pub use crate::__kindgi_key_laws as laws;
