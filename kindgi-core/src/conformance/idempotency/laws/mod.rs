//! The laws, as functions.

mod dropped;
mod forgotten;
mod holds;
mod verbatim;
mod whole;

pub use dropped::a_dropped_future_leaves_all_or_nothing;
pub use forgotten::{
    tenants_never_meet, what_was_begun_before_it_was_forgotten_is_not_kept,
    what_was_forgotten_is_not_replayed,
};
pub use holds::{
    a_claim_made_again_is_recognised, a_deadline_is_exact_to_the_millisecond,
    a_lost_hold_changes_nothing, a_purge_removes_only_what_ended,
    one_request_at_a_time_holds_a_key_under_concurrency,
};
pub use verbatim::{a_kept_answer_is_verbatim, a_withheld_answer_is_told_and_not_kept};
pub use whole::answers_equal_the_model;

use super::{
    bench::Bench,
    call::{Answer, Call, millis, token},
};
use crate::{
    conformance::Report,
    idempotency::{About, Begun, Completed, KeptAnswer, Outcome},
    model::TenantId,
    store::OperationId,
};

/// A key, and whose it is.
struct Key {
    tenant: TenantId,
    key: OperationId,
}

impl Key {
    fn new(bench: &Bench<'_>) -> Result<Self, Report> {
        let (tenant, key) = bench.fresh()?;
        Ok(Self { tenant, key })
    }

    /// Another one of the same tenant.
    fn another(&self, bench: &Bench<'_>) -> Self {
        Self {
            tenant: self.tenant.clone(),
            key: bench.key_of(&self.tenant),
        }
    }

    fn begin(&self, by: u8, hold: i64) -> Call {
        Call::Begin {
            tenant: self.tenant.clone(),
            key: self.key,
            body: 0,
            token: token(by),
            hold,
        }
    }

    fn renew(&self, by: u8, hold: i64) -> Call {
        Call::Renew(self.key, token(by), hold)
    }

    fn complete(&self, by: u8, outcome: &Outcome, about: &[About], keep: i64) -> Call {
        Call::Complete {
            key: self.key,
            token: token(by),
            outcome: outcome.clone(),
            about: about.to_vec(),
            keep,
        }
    }

    fn release(&self, by: u8) -> Call {
        Call::Release(self.key, token(by))
    }

    fn forget(&self, about: &About) -> Call {
        Call::Forget(self.tenant.clone(), about.clone())
    }

    /// Claims the key and keeps an answer, both for long.
    fn kept(&self, bench: &Bench<'_>, answer: &KeptAnswer, about: &[About]) -> Result<(), Report> {
        bench.begins(&self.begin(0, LONG), Begun::Run)?;
        let outcome = Outcome::Answer(answer.clone());
        bench.expect(&self.complete(0, &outcome, about, LONG), &KEPT)
    }
}

const LONG: i64 = 1_000_000;
const KEPT: Answer = Answer::Completed(Completed::Kept);
const FORGOTTEN: Answer = Answer::Completed(Completed::Forgotten);
const NOT_HELD: Answer = Answer::Completed(Completed::NotHeld);

fn answer(text: &str) -> KeptAnswer {
    KeptAnswer {
        status: 201,
        headers: vec![("location".to_owned(), "/v1/1".into())],
        body: text.to_owned().into(),
    }
}

fn in_flight(left: i64) -> Begun {
    Begun::InFlight {
        retry_after: millis(left),
    }
}
