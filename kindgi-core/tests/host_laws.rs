//! A host in memory keeps every law; and for every law there are hosts that break it, on which it
//! fails.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "host_laws/broken.rs"]
mod broken;
mod faults;

use broken::{Broken, Fault, Named};
use kindgi_core::{
    BoxError,
    conformance::{
        self,
        host::{Host, HostUnderTest, laws},
    },
};

/// What breaks each law: a law without a function here doesn't compile below.
mod breaks {
    use super::Fault::{self, *};

    pub(super) fn what_may_be_read_agrees_with_what_is_listed() -> Vec<Fault> {
        vec![
            ListsLess,
            ListsMore,
            ListsWhatIsGone,
            AllButWhatIsGone,
            ReadsWithoutListing,
            ReadsProjectsFolded,
            ListsOtherwiseEachTime,
        ]
    }
    pub(super) fn nobody_may_do_anything_in_another_tenant() -> Vec<Fault> {
        vec![
            ReadsElsewhere,
            JudgesElsewhere,
            WritesElsewhere,
            AdministersElsewhere,
            ProjectsOfAllTenants,
        ]
    }
    pub(super) fn a_stranger_may_do_nothing() -> Vec<Fault> {
        vec![
            PeopleOfAllTenants,
            KindOfPrincipalIgnored,
            StrangersReadAll,
            StrangersJudge,
            StrangersAreAdmins,
        ]
    }
    pub(super) fn a_run_is_what_was_asked_for() -> Vec<Fault> {
        vec![RunHasAnotherId, RunIsOfNoProject, RunIsMissing]
    }
    pub(super) fn a_run_is_the_same_each_time() -> Vec<Fault> {
        vec![OutputChanges, InputChanges, SegmentsChange, RunsMixAtOnce]
    }
    pub(super) fn a_run_of_one_tenant_is_not_given_to_another() -> Vec<Fault> {
        vec![RunsOfAllTenants, RunsOfTheFirstTenant]
    }
    pub(super) fn a_context_is_the_same_each_time() -> Vec<Fault> {
        vec![ContextFails, ContextChanges, ContextsMixAtOnce]
    }
    pub(super) fn the_directory_knows_the_projects_there_are() -> Vec<Fault> {
        vec![
            ProjectsOfAllTenants,
            KnowsAllProjects,
            KnowsWhatIsGone,
            MissesAProject,
            ProjectsFolded,
            KnowsWhatItWasAsked,
        ]
    }
    pub(super) fn an_organisation_has_projects_of_its_tenant() -> Vec<Fault> {
        vec![
            OrgsOfAllTenants,
            OrgHasWhatIsGone,
            OrgHasAnothersProject,
            OrgChanges,
            OrgIsEmpty,
            UnknownOrgHasAll,
        ]
    }
    pub(super) fn recent_runs_are_runs_that_ended_newest_first() -> Vec<Fault> {
        vec![
            RecentOldestFirst,
            RecentTwice,
            RecentRunning,
            RecentReplay,
            RecentStep,
            RecentUnknown,
            RecentOfAnotherStatus,
            RecentNone,
        ]
    }
    pub(super) fn recent_runs_are_as_many_as_asked_and_of_the_project() -> Vec<Fault> {
        vec![
            RecentOneMore,
            RecentAtLeastOne,
            RecentOneLess,
            RecentFirstOnes,
            RecentOfAllProjects,
            RecentOfNoProject,
            RecentOfAllTenants,
        ]
    }
    pub(super) fn odd_ids_are_answered_and_never_mixed_up() -> Vec<Fault> {
        vec![
            RunIdsTrimmed,
            RunIdsFolded,
            RunIdsComposed,
            RunIdsCut,
            LongIdsFail,
            QuotesFail,
            TenantsFolded,
            TenantsTrimmed,
            UnknownPeopleFail,
        ]
    }
}

mod broken_hosts {
    use super::{Broken, breaks, conformance, laws};

    conformance::host::for_each_law! {
        (crate::faults::fails) ["conformance::host", Broken]
    }
}

/// What has the faults breaks nothing by itself.
mod without_a_fault {
    use super::{Broken, Fault, conformance};

    conformance::host::laws!(Broken(Fault::None));
}

/// A host that has only what every host has.
mod with_the_least {
    use super::{BoxError, Broken, Fault, Host, HostUnderTest, conformance};

    struct Least;

    impl HostUnderTest for Least {
        type Guard = ();

        async fn build(&self) -> Result<((), Host), BoxError> {
            Ok(((), Broken(Fault::None).least()?))
        }
    }

    conformance::host::laws!(Least);
}

/// A host that names too little isn't taken for one that keeps the laws.
#[test]
fn a_host_must_name_enough() {
    macro_rules! fails {
        ($($law:ident)*) => {
            for named in Named::TOO_LITTLE {
                $({
                    let failed = laws::$law(&named).expect_err(&format!("{named:?}"));
                    assert!(failed.to_string().contains("must "), "{failed}");
                })*
            }
        };
    }
    conformance::host::for_each_law! { (fails) }
}
