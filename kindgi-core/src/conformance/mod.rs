//! The suite that checks a backend: one named test per law of [`crate::store`].
//!
//! A backend's author switches on the feature `conformance` in their `dev-dependencies`,
//! implements [`Backend`] and writes one line in a file under `tests/`:
//!
//! ```
//! use std::sync::Arc;
//!
//! use kindgi_core::{BoxError, MemoryStore, conformance::{self, Backend}, store::Store};
//!
//! struct Mine;
//!
//! impl Backend for Mine {
//!     /// What must outlive the store: a container, a temporary directory.
//!     type Guard = ();
//!
//!     async fn build(&self) -> Result<((), Arc<dyn Store>), BoxError> {
//!         Ok(((), Arc::new(MemoryStore::new())))
//!     }
//!
//!     /// Opened as another process would; what is in memory, ends with it.
//!     async fn reopen(
//!         &self,
//!         _: &mut (),
//!         store: Arc<dyn Store>,
//!     ) -> Result<Arc<dyn Store>, BoxError> {
//!         Ok(store)
//!     }
//! }
//!
//! conformance::laws!(Mine);
//!
//! // The same as functions, for a test of one's own:
//! conformance::laws::json_is_kept_verbatim(&Mine)?;
//! # Ok::<(), conformance::Report>(())
//! ```
//!
//! Each law builds the store once and gives every case tenants of its own, which are new in each
//! run: one shared database will do, and need not be emptied before. Laws run in parallel, as
//! tests do.
//!
//! The cases are the same in every run. `KINDGI_CASES` in the environment says how many each
//! generated law tries, in place of its own number; `KINDGI_SHRINKS`, how many smaller ones are
//! tried of one that fails: 400 unless said, and with 0 it is reported as it came.
//!
//! A store that answers [`Busy`](crate::StoreErrorKind::Busy) is asked again, some times; any
//! other error fails the law.
//!
//! There are suites for other parts, too: [`archive`], [`idempotency`], [`rate_limit`] and
//! [`host`]. [`VERSION`] says which laws there are.

pub mod archive;
mod call;
mod command;
mod dropped;
mod generate;
mod generate_queue;
pub mod host;
pub mod idempotency;
mod lab;
pub mod laws;
mod model;
mod model_lifecycle;
mod model_operations;
mod model_queue;
mod model_rules;
pub mod rate_limit;
mod report;
mod resolve;
mod resolve_queue;
mod resolve_rules;
mod runner;
mod scene;
mod scene_queue;
mod texts;

use std::{future::Future, sync::Arc};

pub use self::report::Report;
use self::report::ensure_eq;
use crate::{BoxError, store::Store};

/// Which laws there are, in all suites: the version of this list.
///
/// A release that adds a law, or makes one stricter, has the next version, also when it is a minor
/// release of the crate: a backend that passed may then fail, for it has a fault that nobody
/// looked for before. Whoever wants to choose when to meet new laws asks for one minor release
/// exactly (`kindgi-core = "~0.1"`) in their `dev-dependencies`. No law is removed or made weaker
/// silently: `LAWS.md`, beside the crate's manifest, has an entry for each law, with the version
/// that it came with, and for each that went.
pub const VERSION: u32 = 1;

/// The names of the [`laws`](mod@laws), in their order.
pub const LAWS: &[&str] = crate::__kindgi_for_each_law! { (crate::__kindgi_law_names) };

/// A backend to check.
pub trait Backend: Send + Sync {
    /// What the store needs as long as it lives, such as a container or a temporary directory. It
    /// is dropped after the store, within the tokio runtime that [`build`](Self::build) ran on.
    type Guard: Send;

    /// Makes a store: an empty one, or one on a database that holds other tenants' data.
    ///
    /// Runs on a multi-threaded tokio runtime that lives as long as the store. Called once per
    /// law, also for several at a time.
    fn build(&self)
    -> impl Future<Output = Result<(Self::Guard, Arc<dyn Store>), BoxError>> + Send;

    /// Opens a store again that [`build`](Self::build) made, as a process does that starts anew:
    /// by new connections to the same database, by reading the same file. A store in memory, which
    /// nothing outlives, gives the same again.
    ///
    /// The store that is given is the only one there is, so that dropping it closes it; a store
    /// that others may have at the same time need not be closed before.
    fn reopen(
        &self,
        guard: &mut Self::Guard,
        store: Arc<dyn Store>,
    ) -> impl Future<Output = Result<Arc<dyn Store>, BoxError>> + Send;
}

/// Hands the names of all laws to a macro, after what else it is to be given.
#[doc(hidden)]
#[macro_export]
macro_rules! __kindgi_for_each_law {
    (($($each:tt)*) $($with:tt)*) => {
        $($each)*! {
            $($with)*
            answers_equal_the_model
            concurrent_rounds_equal_some_order
            what_was_written_is_there_when_opened_again
            a_dropped_future_leaves_all_or_nothing
            one_live_judgment_per_key_under_concurrency
            a_copy_never_changes_after_the_first
            a_successor_is_never_before_its_predecessor
            what_was_removed_never_revives
            walking_a_list_yields_every_row_once_in_order
            walking_a_list_while_others_write_skips_and_repeats_nothing
            a_list_shows_readable_projects_alone
            tenants_never_meet
            text_compares_exactly
            text_is_kept_verbatim
            json_is_kept_verbatim
            a_kept_operation_takes_effect_once
            a_refusal_is_never_kept
            an_operation_ends_at_its_instant
            a_receipt_is_what_an_operation_came_to
            what_changed_nothing_is_kept_once
            a_live_class_name_is_unique_in_its_scope_under_concurrency
            a_class_that_changed_is_noticed
            a_retired_class_frees_its_name
            rule_versions_are_consecutive_under_concurrency
            a_stopped_rule_takes_no_version
            a_version_naming_a_changed_class_is_noticed
            walking_rules_and_versions_yields_every_row_once_in_order
            walking_rules_while_others_write_skips_and_repeats_nothing
            an_item_is_where_its_facts_put_it
            a_run_is_told_once
            rules_that_changed_are_noticed
            moving_an_item_is_decided_once_under_concurrency
            a_cap_is_exact_under_concurrency
            runs_that_end_at_once_are_all_answered
            walking_the_queue_yields_every_item_once_in_order
            walking_the_queue_while_others_write_skips_and_repeats_nothing
            results_add_up
            what_races_with_retiring_a_class_is_whole
            what_races_with_erasing_a_run_leaves_no_trace
            an_erased_run_takes_no_judgment
            nothing_of_an_erased_run_can_be_read
            nothing_of_an_erased_participant_can_be_read
            a_purge_removes_what_is_older_and_nothing_else
            a_purge_moves_the_items_that_stay
            a_run_of_before_a_purge_is_never_taken
            walking_judged_runs_yields_every_run_once_in_order
        }
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __kindgi_stamp {
    ([$backend:expr] $($law:ident)*) => {
        $(
            #[test]
            fn $law() -> ::core::result::Result<(), $crate::conformance::Report> {
                $crate::conformance::laws::$law(&$backend)
            }
        )*
        $crate::__kindgi_stamp_all_laws_are_here! { 46, LAWS: $($law)* }
    };
}

/// The names of laws.
#[doc(hidden)]
#[macro_export]
macro_rules! __kindgi_law_names {
    ($($law:ident)*) => { &[$(::core::stringify!($law)),*] };
}

/// Stamps the test that no law is missing: so many are stamped, and they are those of the list.
#[doc(hidden)]
#[macro_export]
macro_rules! __kindgi_stamp_all_laws_are_here {
    ($number:literal, $($list:ident)::*: $($law:ident)*) => {
        #[test]
        fn all_laws_are_here() -> ::core::result::Result<(), $crate::conformance::Report> {
            let stamped: &[&str] = $crate::__kindgi_law_names! { $($law)* };
            $crate::conformance::all_laws_are_here(
                stamped,
                $crate::conformance::$($list)::*,
                $number,
            )
        }
    };
}

/// For the test of that name: a suite has lost or won no law since its number was written.
#[doc(hidden)]
pub fn all_laws_are_here(stamped: &[&str], list: &[&str], number: usize) -> Result<(), Report> {
    let here = || {
        ensure_eq("the number of laws that are run", &stamped.len(), &number)?;
        ensure_eq("the laws that are run", &stamped, &list)
    };
    here().map_err(|report: Report| report.of_law("all_laws_are_here"))
}

#[doc(hidden)]
#[macro_export]
macro_rules! __kindgi_laws {
    ($backend:expr $(,)?) => {
        $crate::__kindgi_for_each_law! { ($crate::__kindgi_stamp) [$backend] }
    };
}

#[doc(hidden)]
pub use crate::__kindgi_for_each_law as for_each_law;
/// Stamps a `#[test]` for each of the [`laws`](mod@laws) on a [`Backend`], given as an
/// expression, and one that says whether all are there. See [the module](self).
#[doc(inline)]
pub use crate::__kindgi_laws as laws;
