//! What a store of idempotency keys promises: a request with a key takes effect at most once
//! while its key lives, and every retry gets the first answer.
//!
//! A request *claims* its key for a short time, the *hold*, and renews it while it runs. In the
//! end it *completes* the key with its answer, which is kept for long, or *releases* it, so that a
//! retry begins anew. A process that dies does neither: its hold lapses.
//!
//! Whoever claims brings a [`Token`]. It fences the hold: a holder whose hold lapsed, and whose
//! key somebody else holds now, can't complete nor release it; and a claim that was lost on the
//! way recognises itself when it is made again.
//!
//! All deadlines are in the record and judged by the store's own clock, never by a node's.
//!
//! This is separate from the [storage](crate::store) of judgments, since keys may be kept
//! elsewhere. That the *effect* happens at most once, also across a crash, is the promise of
//! [`store::Operation`](crate::store::Operation): see [the engine](crate::engine::Engine::keyed).

mod memory;

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use bytes::Bytes;

pub use memory::MemoryIdempotency;

use crate::{
    clock::Timestamp,
    model::{ParticipantId, RunId, TenantId},
    store::{OperationId, StoreResult},
};

/// How long a key is held unless it is renewed.
pub const HOLD: Duration = Duration::from_secs(30);
/// How often a hold is renewed while its request runs.
pub const RENEW_EVERY: Duration = Duration::from_secs(10);
/// How long an answer is kept.
pub const KEEP: Duration = Duration::from_secs(24 * 60 * 60);

/// A store of idempotency keys. Every method is one atomic step.
#[async_trait]
pub trait IdempotencyStore: Send + Sync + 'static {
    /// Claims a key.
    ///
    /// In this order: an answer is kept, or another holds the key, for another body:
    /// [`Begun::OtherBody`]; an answer is kept: [`Begun::Replay`], or [`Begun::Withheld`];
    /// another holds it: [`Begun::InFlight`]; else it is held from now on: [`Begun::Run`], as it
    /// is where this very token holds it already. Then the hold is renewed, and what was
    /// [forgotten](Self::forget) since the first claim stays forgotten.
    async fn begin(&self, claim: Claim<'_>) -> StoreResult<Begun>;

    /// Holds a key for `hold` from now on, and never for less than before; whether this token
    /// still held it.
    async fn renew(&self, key: &OperationId, token: &Token, hold: Duration) -> StoreResult<bool>;

    /// Keeps the answer for `keep` from now on and ends the hold, if this token still holds the
    /// key. An answer about something that was [forgotten](Self::forget) since the claim is not
    /// kept, and the key is free.
    async fn complete(
        &self,
        key: &OperationId,
        token: &Token,
        outcome: &Outcome,
        about: &[About],
        keep: Duration,
    ) -> StoreResult<Completed>;

    /// Frees a key; whether this token still held it.
    async fn release(&self, key: &OperationId, token: &Token) -> StoreResult<bool>;

    /// Forgets every kept answer about something, and those that are about to be kept: of
    /// requests that hold their key now, by the order of the steps and not by the clock. A retry of
    /// theirs begins anew. A claim that comes later is not concerned.
    async fn forget(&self, tenant: &TenantId, about: &About) -> StoreResult<()>;

    /// Removes up to `limit` records that ended; gives how many. Only to save room: what ended
    /// counts no more in any case.
    async fn purge(&self, limit: std::num::NonZeroU16) -> StoreResult<u64>;
}

/// A request that wants its key.
#[derive(Clone, Copy, Debug)]
pub struct Claim<'a> {
    /// Whose request.
    pub tenant: &'a TenantId,
    /// A hash over the tenant, the caller, the method, the path and the key.
    pub key: &'a OperationId,
    /// The SHA-256 of the body's bytes.
    pub body: &'a [u8; 32],
    /// Who claims: made anew for each request.
    pub token: &'a Token,
    /// For how long.
    pub hold: Duration,
}

/// What a claim is recognised by: 16 bytes that no other has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Token(pub [u8; 16]);

impl Token {
    /// A new one.
    pub fn random() -> Self {
        Self(uuid::Uuid::new_v4().into_bytes())
    }
}

/// What became of a claim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Begun {
    /// The key is held: do the work.
    Run,
    /// This was answered before.
    Replay(KeptAnswer),
    /// The key was used with another body.
    OtherBody,
    /// Another request holds the key.
    InFlight {
        /// When its hold lapses at the soonest.
        retry_after: Duration,
    },
    /// This was answered before, with something that isn't kept.
    Withheld {
        /// The answer's status.
        status: u16,
        /// When it was given.
        at: Timestamp,
    },
}

/// What became of completing a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Completed {
    /// The answer is kept.
    Kept,
    /// What it is about was forgotten meanwhile; the key is free.
    Forgotten,
    /// The hold was lost; nothing changed.
    NotHeld,
}

/// What is kept of a request that succeeded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Its answer.
    Answer(KeptAnswer),
    /// Only that it was answered, since the answer carries a secret.
    Withheld {
        /// The answer's status.
        status: u16,
    },
}

/// An answer as it is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptAnswer {
    /// The status.
    pub status: u16,
    /// The headers that are kept, in order, repeats included.
    pub headers: Vec<(String, Bytes)>,
    /// The body, byte for byte.
    pub body: Bytes,
}

/// What an answer tells of.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum About {
    /// A run.
    Run(RunId),
    /// A participant.
    Participant(ParticipantId),
}

#[async_trait]
impl<T: IdempotencyStore + ?Sized> IdempotencyStore for Arc<T> {
    async fn begin(&self, claim: Claim<'_>) -> StoreResult<Begun> {
        (**self).begin(claim).await
    }

    async fn renew(&self, key: &OperationId, token: &Token, hold: Duration) -> StoreResult<bool> {
        (**self).renew(key, token, hold).await
    }

    async fn complete(
        &self,
        key: &OperationId,
        token: &Token,
        outcome: &Outcome,
        about: &[About],
        keep: Duration,
    ) -> StoreResult<Completed> {
        (**self).complete(key, token, outcome, about, keep).await
    }

    async fn release(&self, key: &OperationId, token: &Token) -> StoreResult<bool> {
        (**self).release(key, token).await
    }

    async fn forget(&self, tenant: &TenantId, about: &About) -> StoreResult<()> {
        (**self).forget(tenant, about).await
    }

    async fn purge(&self, limit: std::num::NonZeroU16) -> StoreResult<u64> {
        (**self).purge(limit).await
    }
}
