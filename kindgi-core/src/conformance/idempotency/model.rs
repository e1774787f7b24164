//! What a store of keys should answer.

use std::collections::{BTreeMap, BTreeSet};

use super::call::{Answer, Call, millis};
use crate::{
    Timestamp,
    idempotency::{About, Begun, Completed, Outcome, Token},
    model::TenantId,
    store::OperationId,
};

/// The reference: all keys, as plainly as can be.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Model(BTreeMap<OperationId, Record>);

#[derive(Clone, Debug, PartialEq)]
struct Record {
    tenant: TenantId,
    body: u8,
    ends_at: Timestamp,
    state: State,
}

#[derive(Clone, Debug, PartialEq)]
enum State {
    Held {
        by: Token,
        forgotten: BTreeSet<About>,
    },
    Done {
        outcome: Outcome,
        at: Timestamp,
        about: Vec<About>,
    },
}

impl Model {
    pub(super) fn answer(&mut self, call: &Call, now: Timestamp) -> Answer {
        self.0.retain(|_, record| record.ends_at > now);
        match call {
            Call::Begin { .. } => Answer::Begun(self.begin(call, now)),
            Call::Renew(key, token, hold) => Answer::Renewed(match self.held(key, *token) {
                None => false,
                Some(record) => {
                    record.ends_at = record.ends_at.max(now.saturating_add_millis(*hold));
                    true
                }
            }),
            Call::Complete { .. } => Answer::Completed(self.complete(call, now)),
            Call::Release(key, token) => {
                let held = self.held(key, *token).is_some();
                if held {
                    self.0.remove(key);
                }
                Answer::Released(held)
            }
            Call::Forget(tenant, about) => {
                self.forget(tenant, about);
                Answer::Forgotten
            }
            Call::Purge(_) => Answer::Purged(true),
            Call::Advance(_) => Answer::Advanced,
        }
    }

    fn held(&mut self, key: &OperationId, token: Token) -> Option<&mut Record> {
        let record = self.0.get_mut(key)?;
        matches!(&record.state, State::Held { by, .. } if *by == token).then_some(record)
    }

    fn begin(&mut self, call: &Call, now: Timestamp) -> Begun {
        let Call::Begin {
            tenant,
            key,
            body,
            token,
            hold,
        } = call
        else {
            return Begun::Run;
        };
        let ends_at = now.saturating_add_millis(*hold);
        let Some(record) = self.0.get_mut(key) else {
            let record = Record {
                tenant: tenant.clone(),
                body: *body,
                ends_at,
                state: State::Held {
                    by: *token,
                    forgotten: BTreeSet::new(),
                },
            };
            self.0.insert(*key, record);
            return Begun::Run;
        };
        if record.body != *body {
            return Begun::OtherBody;
        }
        match &record.state {
            State::Held { by, .. } if by == token => {
                record.ends_at = record.ends_at.max(ends_at);
                Begun::Run
            }
            State::Held { .. } => Begun::InFlight {
                retry_after: millis(record.ends_at.as_unix_millis() - now.as_unix_millis()),
            },
            State::Done { outcome, at, .. } => match outcome {
                Outcome::Answer(answer) => Begun::Replay(answer.clone()),
                Outcome::Withheld { status } => Begun::Withheld {
                    status: *status,
                    at: *at,
                },
            },
        }
    }

    fn complete(&mut self, call: &Call, now: Timestamp) -> Completed {
        let Call::Complete {
            key,
            token,
            outcome,
            about,
            keep,
        } = call
        else {
            return Completed::NotHeld;
        };
        let Some(record) = self.held(key, *token) else {
            return Completed::NotHeld;
        };
        if let State::Held { forgotten, .. } = &record.state
            && about.iter().any(|about| forgotten.contains(about))
        {
            self.0.remove(key);
            return Completed::Forgotten;
        }
        record.ends_at = now.saturating_add_millis(*keep);
        record.state = State::Done {
            outcome: outcome.clone(),
            at: now,
            about: about.clone(),
        };
        Completed::Kept
    }

    fn forget(&mut self, tenant: &TenantId, what: &About) {
        self.0.retain(|_, record| {
            let is_its = record.tenant == *tenant;
            match &mut record.state {
                State::Held { forgotten, .. } if is_its => {
                    forgotten.insert(what.clone());
                    true
                }
                State::Done { about, .. } if is_its => !about.contains(what),
                _ => true,
            }
        });
    }
}
