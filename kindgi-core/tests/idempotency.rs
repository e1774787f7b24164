//! For every law of keys there are stores that break it, on which it fails.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "idempotency/broken.rs"]
mod broken;
mod faults;

use broken::{Broken, Fault};
use kindgi_core::conformance::{self, idempotency::laws};

/// What breaks each law: a law without a function here doesn't compile below.
mod breaks {
    use super::Fault::{self, *};

    pub(super) fn answers_equal_the_model() -> Vec<Fault> {
        vec![
            BodyIgnored,
            BodyOfHoldIgnored,
            LapsedHoldCounts,
            CompleteUnfenced,
            RenewShortens,
            ReleaseFreesAnswers,
            ForgetBarsNothing,
            ForgetBarsForGood,
            KindOfThingIgnored,
            PurgeTakesHolds,
        ]
    }
    pub(super) fn one_request_at_a_time_holds_a_key_under_concurrency() -> Vec<Fault> {
        vec![BeginRaces]
    }
    pub(super) fn a_lost_hold_changes_nothing() -> Vec<Fault> {
        vec![
            CompleteUnfenced,
            ReleaseUnfenced,
            RenewUnfenced,
            LapsedHoldCounts,
            ReleaseFreesAnswers,
        ]
    }
    pub(super) fn a_claim_made_again_is_recognised() -> Vec<Fault> {
        vec![
            OwnClaimInFlight,
            ClaimAgainForgetsBars,
            ClaimAgainRenewsNothing,
        ]
    }
    pub(super) fn a_deadline_is_exact_to_the_millisecond() -> Vec<Fault> {
        vec![
            EndsLate(1),
            EndsLate(-1),
            LapsedHoldCounts,
            RenewShortens,
            AnswerEndsWithItsHold,
            DeadlinesInSeconds,
        ]
    }
    pub(super) fn what_was_forgotten_is_not_replayed() -> Vec<Fault> {
        vec![
            ForgetKeepsAnswers,
            FirstThingOnly,
            KindOfThingIgnored,
            ForgetTakesAll,
        ]
    }
    pub(super) fn what_was_begun_before_it_was_forgotten_is_not_kept() -> Vec<Fault> {
        vec![
            ForgetBarsNothing,
            ForgetBarsForGood,
            BarredKeyStaysHeld,
            CompleteRacesForget,
            KindOfThingIgnored,
            RenewForgetsBars,
        ]
    }
    pub(super) fn a_kept_answer_is_verbatim() -> Vec<Fault> {
        vec![
            HeadersSorted,
            HeaderRepeatsDropped,
            HeaderNamesLowered,
            HeaderValuesAsText,
            HeaderValuesTrimmed,
            BodyAsText,
            BodyToItsFirstNul,
            BodyTo64KiB,
            StatusOk,
        ]
    }
    pub(super) fn a_withheld_answer_is_told_and_not_kept() -> Vec<Fault> {
        vec![WithheldIsFree, WithheldAsEmptyAnswer, WithheldAtNow]
    }
    pub(super) fn a_dropped_future_leaves_all_or_nothing() -> Vec<Fault> {
        vec![CompleteInTwoSteps, AboutInAStepOfItsOwn, ForgetInTwoSteps]
    }
    pub(super) fn tenants_never_meet() -> Vec<Fault> {
        vec![ForgetForAllTenants]
    }
    pub(super) fn a_purge_removes_only_what_ended() -> Vec<Fault> {
        vec![
            PurgeTakesHolds,
            PurgeTakesAnswers,
            PurgeTakesBars,
            PurgeLimitIgnored,
            PurgeNeverEnds,
            PurgeByTheFirstEnd,
        ]
    }
}

mod broken_stores {
    use super::{Broken, breaks, conformance, laws};

    conformance::idempotency::for_each_law! {
        (crate::faults::fails) ["conformance::idempotency", Broken]
    }
}

/// What has the faults breaks nothing by itself.
mod without_a_fault {
    use super::{Broken, Fault, conformance};

    conformance::idempotency::laws!(Broken(Fault::None));
}

#[test]
fn a_failing_case_is_made_small_and_told() {
    let failed = laws::answers_equal_the_model(&Broken(Fault::ReleaseFreesAnswers));
    let text = failed.unwrap_err().to_string();
    let calls = text.lines().filter(|line| {
        let call = line.trim_start();
        [
            "Begin", "Renew", "Complete", "Release", "Forget", "Purge", "Advance",
        ]
        .iter()
        .any(|name| call.starts_with(name))
    });
    // A claim, its answer, the release that it has not, and the claim that tells.
    assert!((3..=4).contains(&calls.count()), "{text}");
}
