//! Idempotency keys in one process.

use std::{
    collections::{BTreeSet, HashMap},
    num::NonZeroU16,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use async_trait::async_trait;

use super::{About, Begun, Claim, Completed, IdempotencyStore, Outcome, Token};
use crate::{
    clock::{Clock, SystemClock, Timestamp},
    model::TenantId,
    store::{OperationId, StoreResult},
};

/// Keys in memory: gone when the process ends, and not shared with other nodes. Clones share them.
///
/// What ended is dropped as others come, so that it grows with the requests of a day and no
/// further. A key in flight is never dropped.
#[derive(Clone)]
pub struct MemoryIdempotency {
    keys: Arc<Mutex<Keys>>,
    clock: Arc<dyn Clock>,
}

#[derive(Default)]
struct Keys {
    records: HashMap<OperationId, Record>,
    /// When each record ends, soonest first.
    ends: BTreeSet<(Timestamp, OperationId)>,
}

struct Record {
    tenant: TenantId,
    body: [u8; 32],
    ends_at: Timestamp,
    state: State,
}

enum State {
    Held {
        by: Token,
        /// What was forgotten since the claim.
        forgotten: BTreeSet<About>,
    },
    Done {
        outcome: Outcome,
        at: Timestamp,
        about: Vec<About>,
    },
}

impl MemoryIdempotency {
    /// An empty one, by the machine's clock.
    pub fn new() -> Self {
        Self::with_clock(SystemClock)
    }

    /// An empty one, by this clock.
    pub fn with_clock(clock: impl Clock) -> Self {
        Self {
            keys: Arc::default(),
            clock: Arc::new(clock),
        }
    }

    /// The keys as of now. No step panics halfway, so a poisoned lock still guards whole data.
    fn now(&self) -> (MutexGuard<'_, Keys>, Timestamp) {
        let keys = self.keys.lock().unwrap_or_else(PoisonError::into_inner);
        (keys, self.clock.now())
    }
}

impl Default for MemoryIdempotency {
    fn default() -> Self {
        Self::new()
    }
}

impl std::fmt::Debug for MemoryIdempotency {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("MemoryIdempotency").finish_non_exhaustive()
    }
}

impl Keys {
    fn put(&mut self, key: OperationId, record: Record) {
        self.remove(&key);
        self.ends.insert((record.ends_at, key));
        self.records.insert(key, record);
    }

    fn remove(&mut self, key: &OperationId) -> Option<Record> {
        let record = self.records.remove(key)?;
        self.ends.remove(&(record.ends_at, *key));
        Some(record)
    }

    /// The record of a key, if it hasn't ended.
    fn at(&self, key: &OperationId, now: Timestamp) -> Option<&Record> {
        self.records.get(key).filter(|record| record.ends_at > now)
    }

    /// Takes out the record of a key that this token holds.
    fn held(&mut self, key: &OperationId, token: &Token, now: Timestamp) -> Option<Record> {
        let record = self.at(key, now)?;
        match &record.state {
            State::Held { by, .. } if by == token => self.remove(key),
            _ => None,
        }
    }

    /// Drops what ended, so much at most.
    fn drop_ended(&mut self, now: Timestamp, limit: usize) -> u64 {
        let mut dropped = 0;
        while let Some((_, key)) = self.ends.first().copied().filter(|(end, _)| *end <= now) {
            if dropped == limit {
                break;
            }
            self.remove(&key);
            dropped += 1;
        }
        dropped as u64
    }
}

/// So much later.
fn after(at: Timestamp, duration: Duration) -> Timestamp {
    let millis = i64::try_from(duration.as_millis()).unwrap_or(i64::MAX);
    at.saturating_add_millis(millis)
}

#[async_trait]
impl IdempotencyStore for MemoryIdempotency {
    async fn begin(&self, claim: Claim<'_>) -> StoreResult<Begun> {
        let (mut keys, now) = self.now();
        keys.drop_ended(now, usize::MAX);
        let mut held = Record {
            tenant: claim.tenant.clone(),
            body: *claim.body,
            ends_at: after(now, claim.hold),
            state: State::Held {
                by: *claim.token,
                forgotten: BTreeSet::new(),
            },
        };
        if let Some(record) = keys.at(claim.key, now) {
            if record.body != *claim.body {
                return Ok(Begun::OtherBody);
            }
            match &record.state {
                // The claim is made again: it began with the first one.
                State::Held { by, forgotten } if by == claim.token => {
                    held.ends_at = held.ends_at.max(record.ends_at);
                    held.state = State::Held {
                        by: *by,
                        forgotten: forgotten.clone(),
                    };
                }
                State::Held { .. } => {
                    let left = record.ends_at.as_unix_millis() - now.as_unix_millis();
                    let retry_after = Duration::from_millis(u64::try_from(left).unwrap_or(0));
                    return Ok(Begun::InFlight { retry_after });
                }
                State::Done { outcome, at, .. } => {
                    return Ok(match outcome {
                        Outcome::Answer(answer) => Begun::Replay(answer.clone()),
                        Outcome::Withheld { status } => Begun::Withheld {
                            status: *status,
                            at: *at,
                        },
                    });
                }
            }
        }
        keys.put(*claim.key, held);
        Ok(Begun::Run)
    }

    async fn renew(&self, key: &OperationId, token: &Token, hold: Duration) -> StoreResult<bool> {
        let (mut keys, now) = self.now();
        let Some(mut record) = keys.held(key, token, now) else {
            return Ok(false);
        };
        record.ends_at = record.ends_at.max(after(now, hold));
        keys.put(*key, record);
        Ok(true)
    }

    async fn complete(
        &self,
        key: &OperationId,
        token: &Token,
        outcome: &Outcome,
        about: &[About],
        keep: Duration,
    ) -> StoreResult<Completed> {
        let (mut keys, now) = self.now();
        let Some(mut record) = keys.held(key, token, now) else {
            return Ok(Completed::NotHeld);
        };
        if let State::Held { forgotten, .. } = &record.state
            && about.iter().any(|about| forgotten.contains(about))
        {
            return Ok(Completed::Forgotten);
        }
        record.ends_at = after(now, keep);
        record.state = State::Done {
            outcome: outcome.clone(),
            at: now,
            about: about.to_vec(),
        };
        keys.put(*key, record);
        Ok(Completed::Kept)
    }

    async fn release(&self, key: &OperationId, token: &Token) -> StoreResult<bool> {
        let (mut keys, now) = self.now();
        Ok(keys.held(key, token, now).is_some())
    }

    async fn forget(&self, tenant: &TenantId, about: &About) -> StoreResult<()> {
        let (mut keys, _) = self.now();
        let mut told = Vec::new();
        let of_tenant = keys.records.iter_mut();
        for (key, record) in of_tenant.filter(|(_, record)| record.tenant == *tenant) {
            match &mut record.state {
                State::Done { about: of, .. } if of.contains(about) => told.push(*key),
                State::Done { .. } => {}
                State::Held { forgotten, .. } => {
                    forgotten.insert(about.clone());
                }
            }
        }
        for key in &told {
            keys.remove(key);
        }
        Ok(())
    }

    async fn purge(&self, limit: NonZeroU16) -> StoreResult<u64> {
        let (mut keys, now) = self.now();
        Ok(keys.drop_ended(now, limit.get().into()))
    }
}
