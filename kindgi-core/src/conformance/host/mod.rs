//! The suite that checks a host: one named test per law of [`crate::host`].
//!
//! A host says what it implements and names some of what it has. The suite asks about that, and
//! about what is near it and isn't there; it changes nothing.
//!
//! ```
//! use async_trait::async_trait;
//! use kindgi_core::{
//!     BoxError, HostError,
//!     conformance::{self, host::{Host, HostUnderTest, TenantSamples}},
//!     host::{Permission, Permissions, Runs},
//!     model::{Principal, Readable, Run, RunId, Subject, TenantId},
//! };
//!
//! struct MyRuns;
//!
//! #[async_trait]
//! impl Runs for MyRuns {
//!     async fn run(&self, tenant: &TenantId, id: &RunId) -> Result<Option<Run>, HostError> {
//!         let project = match (tenant.as_str(), id.as_str()) {
//!             ("acme", "run-1") => "matching",
//!             ("umbrella", "run-2") => "hiring",
//!             _ => return Ok(None),
//!         };
//!         let run = || -> Result<Run, BoxError> {
//!             let agent = Subject::Agent { id: "matcher".parse()?, version: "1".parse()? };
//!             Ok(Run::new(id.clone(), project.parse()?, agent))
//!         };
//!         run().map(Some).map_err(HostError::new)
//!     }
//! }
//!
//! struct Everyone;
//!
//! #[async_trait]
//! impl Permissions for Everyone {
//!     async fn allows(&self, _: &Principal, _: Permission<'_>) -> Result<bool, HostError> {
//!         Ok(true)
//!     }
//!     async fn readable_projects(&self, _: &Principal) -> Result<Readable, HostError> {
//!         Ok(Readable::All)
//!     }
//! }
//!
//! struct Mine;
//!
//! impl HostUnderTest for Mine {
//!     type Guard = ();
//!
//!     async fn build(&self) -> Result<((), Host), BoxError> {
//!         let of = |tenant: &str, project: &str, run: &str| {
//!             let tenant: TenantId = tenant.parse()?;
//!             let ada = Principal::user(tenant.clone(), "ada".parse()?);
//!             Ok::<_, BoxError>(
//!                 TenantSamples::new(tenant)
//!                     .principals([ada])
//!                     .projects([project.parse()?])
//!                     .runs([run.parse()?]),
//!             )
//!         };
//!         let host = Host::new(MyRuns, Everyone)
//!             .tenant(of("acme", "matching", "run-1")?)
//!             .tenant(of("umbrella", "hiring", "run-2")?);
//!         Ok(((), host))
//!     }
//! }
//!
//! conformance::host::laws!(Mine);
//!
//! // The same as functions, for a test of one's own:
//! conformance::host::laws::a_run_is_the_same_each_time(&Mine)?;
//! # Ok::<(), conformance::Report>(())
//! ```
//!
//! What a host doesn't implement isn't asked; the laws of it hold then. A host that answers
//! [`Busy`](crate::HostErrorKind::Busy) is asked again, some times; any other error fails the law.

mod asking;
pub mod laws;
mod samples;

use std::{fmt, future::Future, sync::Arc};

pub use self::samples::TenantSamples;
use crate::{
    BoxError,
    host::{ContextCapture, Directory, Permissions, RecentRuns, Runs},
    model::Principal,
};

/// A host to check.
pub trait HostUnderTest: Send + Sync {
    /// What the host needs as long as it lives. It is dropped after the host, within the tokio
    /// runtime that [`build`](Self::build) ran on.
    type Guard: Send;

    /// Makes a host that has what it names, and keeps it as it is while a law is tried.
    ///
    /// Runs on a multi-threaded tokio runtime that lives as long as the host. Called once per law,
    /// also for several at a time.
    fn build(&self) -> impl Future<Output = Result<(Self::Guard, Host), BoxError>> + Send;
}

/// What a host implements, and some of what it has.
#[derive(Clone)]
pub struct Host {
    runs: Arc<dyn Runs>,
    permissions: Arc<dyn Permissions>,
    directory: Option<Arc<dyn Directory>>,
    context: Option<Arc<dyn ContextCapture>>,
    recent_runs: Option<Arc<dyn RecentRuns>>,
    tenants: Vec<TenantSamples>,
    strangers: Vec<Principal>,
}

impl Host {
    /// A host with what every host has. It needs two tenants.
    pub fn new(runs: impl Runs, permissions: impl Permissions) -> Self {
        Self {
            runs: Arc::new(runs),
            permissions: Arc::new(permissions),
            directory: None,
            context: None,
            recent_runs: None,
            tenants: Vec::new(),
            strangers: Vec::new(),
        }
    }

    /// It has a directory.
    #[must_use]
    pub fn directory(mut self, directory: impl Directory) -> Self {
        self.directory = Some(Arc::new(directory));
        self
    }

    /// It captures contexts.
    #[must_use]
    pub fn context_capture(mut self, context: impl ContextCapture) -> Self {
        self.context = Some(Arc::new(context));
        self
    }

    /// It lists its recent runs.
    #[must_use]
    pub fn recent_runs(mut self, runs: impl RecentRuns) -> Self {
        self.recent_runs = Some(Arc::new(runs));
        self
    }

    /// It has this tenant.
    #[must_use]
    pub fn tenant(mut self, samples: TenantSamples) -> Self {
        self.tenants.push(samples);
        self
    }

    /// It lets these do nothing: such as people who left, or somebody of one tenant as if they
    /// were of another. None, where whoever signs in may do something.
    #[must_use]
    pub fn strangers(mut self, strangers: impl IntoIterator<Item = Principal>) -> Self {
        self.strangers.extend(strangers);
        self
    }
}

impl fmt::Debug for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Host")
            .field("tenants", &self.tenants)
            .field("strangers", &self.strangers)
            .finish_non_exhaustive()
    }
}

/// Hands the names of all laws to a macro, after what else it is to be given.
#[doc(hidden)]
#[macro_export]
macro_rules! __kindgi_for_each_host_law {
    (($($each:tt)*) $($with:tt)*) => {
        $($each)*! {
            $($with)*
            what_may_be_read_agrees_with_what_is_listed
            nobody_may_do_anything_in_another_tenant
            a_stranger_may_do_nothing
            a_run_is_what_was_asked_for
            a_run_is_the_same_each_time
            a_run_of_one_tenant_is_not_given_to_another
            a_context_is_the_same_each_time
            the_directory_knows_the_projects_there_are
            an_organisation_has_projects_of_its_tenant
            recent_runs_are_runs_that_ended_newest_first
            recent_runs_are_as_many_as_asked_and_of_the_project
            odd_ids_are_answered_and_never_mixed_up
        }
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __kindgi_stamp_host_law {
    ([$host:expr] $($law:ident)*) => {
        $(
            #[test]
            fn $law() -> ::core::result::Result<(), $crate::conformance::Report> {
                $crate::conformance::host::laws::$law(&$host)
            }
        )*
        $crate::__kindgi_stamp_all_laws_are_here! { 12, host::LAWS: $($law)* }
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __kindgi_host_laws {
    ($host:expr $(,)?) => {
        $crate::__kindgi_for_each_host_law! { ($crate::__kindgi_stamp_host_law) [$host] }
    };
}

/// The names of the [`laws`](mod@laws), in their order.
pub const LAWS: &[&str] = crate::__kindgi_for_each_host_law! { (crate::__kindgi_law_names) };

#[doc(hidden)]
pub use crate::__kindgi_for_each_host_law as for_each_law;
/// Stamps a `#[test]` for each of the [`laws`](mod@laws) on a [`HostUnderTest`], given as an
/// expression, and one that says whether all are there. See [the module](self).
#[doc(inline)]
pub use crate::__kindgi_host_laws as laws;
