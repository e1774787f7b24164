//! Operations that take effect at most once.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use super::Engine;
use crate::{
    clock::Timestamp,
    error::{Error, ErrorKind},
    idempotency::KEEP,
    model::Principal,
    store::{Applied, KnownOperation, Operation, OperationId, Receipt},
};

/// An operation, owned.
#[derive(Clone)]
pub(super) struct Keyed(Arc<Parts>);

struct Parts {
    id: OperationId,
    body: [u8; 32],
    /// Whether its outcome came from a receipt.
    replayed: AtomicBool,
}

impl Keyed {
    pub(super) fn operation(&self, now: Timestamp) -> Operation<'_> {
        Operation {
            id: &self.0.id,
            body: &self.0.body,
            keep_until: later(now, KEEP),
        }
    }

    fn note_replay(&self) {
        self.0.replayed.store(true, Ordering::Relaxed);
    }
}

fn later(at: Timestamp, duration: Duration) -> Timestamp {
    at.saturating_add_millis(i64::try_from(duration.as_millis()).unwrap_or(i64::MAX))
}

impl Engine {
    /// The same engine for one write that takes effect at most once in
    /// [24 hours](crate::idempotency::KEEP), whoever repeats it, also after a crash: with this id,
    /// derived from the caller, the route and the key, and the SHA-256 of the request's body.
    ///
    /// The store keeps a receipt of the outcome in the same step as the effect. A repeated write
    /// gives that outcome, as it is after later erasures, and changes nothing, whatever has become
    /// of what it did; with another body it is refused ([`OtherBody`](ErrorKind::OtherBody)). A
    /// write that was refused leaves no receipt.
    #[must_use]
    pub fn keyed(&self, id: OperationId, body: [u8; 32]) -> Self {
        let replayed = AtomicBool::new(false);
        let parts = Parts { id, body, replayed };
        Self(Arc::clone(&self.0), Some(Keyed(Arc::new(parts))))
    }

    /// Whether what a [keyed](Self::keyed) engine's write gave was a receipt: the write took effect
    /// before, and changed nothing now.
    pub fn replayed(&self) -> bool {
        let keyed = self.1.as_ref();
        keyed.is_some_and(|keyed| keyed.0.replayed.load(Ordering::Relaxed))
    }

    /// What an operation did before, where it would be refused now.
    pub(super) async fn unless_done<T>(
        &self,
        who: &Principal,
        outcome: Result<T, Error>,
        from: impl FnOnce(Receipt) -> Option<T>,
    ) -> Result<T, Error> {
        let (Some(keyed), Err(refusal)) = (&self.1, &outcome) else {
            return outcome;
        };
        let by_server = matches!(refusal.kind(), ErrorKind::Busy | ErrorKind::Internal);
        if by_server || refusal.kind() == ErrorKind::OtherBody {
            return outcome;
        }
        let now = self.0.clock.now();
        let (store, operation) = (&self.0.store, keyed.operation(now));
        match store.receipt(&who.tenant, now, operation).await? {
            None => outcome,
            Some(KnownOperation::Done(receipt)) => {
                keyed.note_replay();
                from(receipt).ok_or_else(other_body)
            }
            Some(KnownOperation::OtherBody) => Err(other_body()),
        }
    }

    /// Keeps a receipt where there was nothing to change; gives the one that is kept.
    pub(super) async fn keep_unchanged(
        &self,
        who: &Principal,
        receipt: Receipt,
    ) -> Result<Receipt, Error> {
        if self.1.is_none() {
            return Ok(receipt);
        }
        self.done(self.0.store.keep(self.write(who), &receipt).await?)
    }

    /// What a write did, now or before.
    pub(super) fn done<T>(&self, applied: Applied<T>) -> Result<T, Error> {
        match applied {
            Applied::Done(outcome) => Ok(outcome),
            Applied::Replayed(outcome) => {
                if let Some(keyed) = &self.1 {
                    keyed.note_replay();
                }
                Ok(outcome)
            }
            Applied::OtherBody => Err(other_body()),
        }
    }
}

fn other_body() -> Error {
    let message = "the key was used before for another request";
    Error::new(ErrorKind::OtherBody, message)
}
