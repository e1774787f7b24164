//! The suite that checks an [`Archive`]: what is moved from one store into another is there, and
//! the other goes on where the one was.
//!
//! ```
//! use std::sync::Arc;
//!
//! use kindgi_core::{
//!     BoxError, MemoryStore,
//!     conformance::{self, archive::{ArchiveBackend, House}},
//! };
//!
//! struct Mine;
//!
//! impl ArchiveBackend for Mine {
//!     type Guard = ();
//!
//!     async fn build(&self) -> Result<((), House), BoxError> {
//!         Ok(((), House::of(MemoryStore::new())))
//!     }
//! }
//!
//! // From one into another of the same kind. `laws!(Mine => Other)` is from Mine into Other.
//! conformance::archive::laws!(Mine);
//!
//! // The same as functions, for a test of one's own:
//! conformance::archive::laws::a_moved_rule_keeps_its_cap(&Mine, &Mine)?;
//! # Ok::<(), conformance::Report>(())
//! ```
//!
//! Each case of a law has stores of its own. What is said of cases, of `KINDGI_CASES` and of busy
//! stores [there](super) holds here, too.

mod case;
pub mod laws;
mod made;
mod moving;

use std::{fmt, future::Future, sync::Arc};

use crate::{
    BoxError,
    store::{Archive, Store},
};

/// A store that can be moved out of and into.
pub trait ArchiveBackend: Send + Sync {
    /// What the store needs as long as it lives, such as a temporary directory. It is dropped after
    /// the store, within the tokio runtime that [`build`](Self::build) ran on.
    type Guard: Send;

    /// Makes a store that holds nothing, and whose tables are its own.
    ///
    /// Runs on a multi-threaded tokio runtime that lives as long as the store. Called twice for
    /// each case, and for several laws at a time.
    fn build(&self) -> impl Future<Output = Result<(Self::Guard, House), BoxError>> + Send;

    /// How many cases each generated law tries, unless the environment says how many. Where making
    /// a store takes long, fewer will do.
    fn cases(&self) -> u32 {
        96
    }
}

/// A store as both of its sides.
#[derive(Clone)]
pub struct House {
    /// The store.
    pub store: Arc<dyn Store>,
    /// The same store.
    pub archive: Arc<dyn Archive>,
}

impl House {
    /// A store that is both.
    pub fn of(store: impl Store + Archive + Clone) -> Self {
        Self {
            store: Arc::new(store.clone()),
            archive: Arc::new(store),
        }
    }
}

impl fmt::Debug for House {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("House").finish_non_exhaustive()
    }
}

/// Hands the names of all laws to a macro, after what else it is to be given.
#[doc(hidden)]
#[macro_export]
macro_rules! __kindgi_for_each_archive_law {
    (($($each:tt)*) $($with:tt)*) => {
        $($each)*! {
            $($with)*
            what_was_moved_is_read_alike
            a_moved_store_goes_on
            a_moved_rule_keeps_its_cap
            a_moved_item_is_listed_once
            what_was_over_before_the_move_stays_over
            a_record_that_differs_is_refused_with_its_batch
            a_record_that_fits_nowhere_is_refused_with_its_batch
        }
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __kindgi_stamp_archive_law {
    ([$from:expr, $to:expr] $($law:ident)*) => {
        $(
            #[test]
            fn $law() -> ::core::result::Result<(), $crate::conformance::Report> {
                $crate::conformance::archive::laws::$law(&$from, &$to)
            }
        )*
        $crate::__kindgi_stamp_all_laws_are_here! { 7, archive::LAWS: $($law)* }
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __kindgi_archive_laws {
    ($from:expr => $to:expr $(,)?) => {
        $crate::__kindgi_for_each_archive_law! {
            ($crate::__kindgi_stamp_archive_law) [$from, $to]
        }
    };
    ($backend:expr $(,)?) => {
        $crate::__kindgi_archive_laws! { $backend => $backend }
    };
}

/// The names of the [`laws`](mod@laws), in their order.
pub const LAWS: &[&str] = crate::__kindgi_for_each_archive_law! { (crate::__kindgi_law_names) };

/// Stamps a `#[test]` for each of the [`laws`](mod@laws) on an [`ArchiveBackend`], given as an
/// expression, or on two: `laws!(From => To)`; and one that says whether all are there. See [the module](self).
#[doc(inline)]
pub use crate::__kindgi_archive_laws as laws;
#[doc(hidden)]
pub use crate::__kindgi_for_each_archive_law as for_each_law;
