//! Where a law of keys is tried: a clock, and keys and tenants that nobody used before.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use sha2::{Digest, Sha256};

use super::{
    KeyBackend,
    call::{Answer, Call},
    model::Model,
};
use crate::{
    Clock, ManualClock, Timestamp,
    conformance::{
        Report,
        lab::Lab,
        report::{difference, ensure, ensure_eq},
    },
    idempotency::{Begun, IdempotencyStore},
    model::TenantId,
    store::OperationId,
};

/// How often a store may be busy in a row.
const MAX_BUSY: usize = 1000;

/// What a law of keys works with.
pub(super) struct Bench<'l> {
    pub(super) lab: &'l Lab<dyn IdempotencyStore>,
    clock: Arc<ManualClock>,
    keys: AtomicU64,
}

impl Bench<'_> {
    /// Builds the store and tries a law on it.
    pub(super) fn hold(
        law: &'static str,
        backend: &impl KeyBackend,
        holds: impl FnOnce(&Bench<'_>) -> Result<(), Report>,
    ) -> Result<(), Report> {
        let clock = Arc::new(ManualClock::default());
        let build = || backend.build(Arc::clone(&clock));
        Lab::hold_on(law, build, |lab| {
            holds(&Bench {
                lab,
                clock: Arc::clone(&clock),
                keys: AtomicU64::new(0),
            })
        })
    }

    pub(super) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    pub(super) fn advance(&self, millis: i64) {
        self.clock.advance_millis(millis);
    }

    /// A key of a new tenant.
    pub(super) fn fresh(&self) -> Result<(TenantId, OperationId), Report> {
        let tenant = self.lab.tenant()?;
        let key = self.key_of(&tenant);
        Ok((tenant, key))
    }

    /// A key that nobody used before.
    pub(super) fn key_of(&self, tenant: &TenantId) -> OperationId {
        let number = self.keys.fetch_add(1, Ordering::Relaxed);
        let mut hash = Sha256::new();
        hash.update(tenant.as_str());
        hash.update(number.to_be_bytes());
        OperationId(hash.finalize().into())
    }

    /// The store's answer.
    pub(super) fn ask(&self, call: &Call) -> Result<Answer, Report> {
        self.lab.block_on(ask(&*self.lab.store, call))
    }

    /// The store's answer must be this one.
    pub(super) fn expect(&self, call: &Call, should_be: &Answer) -> Result<(), Report> {
        let is = self.ask(call)?;
        ensure_eq(&format!("the answer to\n  {call:?}"), &is, should_be)
    }

    /// What a claim came to must be this.
    pub(super) fn begins(&self, call: &Call, should_be: Begun) -> Result<(), Report> {
        self.expect(call, &Answer::Begun(should_be))
    }

    /// Each of the store's answers must be the model's.
    pub(super) fn answers_equal(&self, calls: &[Call], model: &mut Model) -> Result<(), Report> {
        for (count, call) in (1..).zip(calls) {
            if let Call::Advance(millis) = call {
                self.advance(*millis);
                continue;
            }
            let should_be = model.answer(call, self.now());
            let is = self.ask(call)?;
            ensure(is == should_be, || {
                let done: Vec<String> = calls.iter().take(count).map(told).collect();
                format!(
                    "the last of these got another answer:\n{}\n{}",
                    done.join("\n"),
                    difference(&should_be, &is)
                )
            })?;
        }
        Ok(())
    }
}

fn told(call: &Call) -> String {
    format!("  {call:?}")
}

/// Asks a store; again, if it is busy.
pub(super) async fn ask(store: &dyn IdempotencyStore, call: &Call) -> Result<Answer, Report> {
    for _ in 0..MAX_BUSY {
        match call.ask_once(store).await {
            Err(e) if e.is_busy() => tokio::task::yield_now().await,
            answer => return Ok(answer?),
        }
    }
    Err(Report::new(format!(
        "the store was busy {MAX_BUSY} times in a row at\n  {call:?}"
    )))
}
