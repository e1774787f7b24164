//! Calls as data, and their answers.

use std::{num::NonZeroU16, time::Duration};

use crate::{
    StoreError,
    idempotency::{About, Begun, Claim, Completed, IdempotencyStore, Outcome, Token},
    model::TenantId,
    store::OperationId,
};

/// A call of a store.
#[derive(Clone, Debug)]
pub(super) enum Call {
    Begin {
        tenant: TenantId,
        key: OperationId,
        body: u8,
        token: Token,
        hold: i64,
    },
    Renew(OperationId, Token, i64),
    Complete {
        key: OperationId,
        token: Token,
        outcome: Outcome,
        about: Vec<About>,
        keep: i64,
    },
    Release(OperationId, Token),
    Forget(TenantId, About),
    Purge(NonZeroU16),
    /// No call: the clock moves on by so many milliseconds.
    Advance(i64),
}

/// What a store answered.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Answer {
    Begun(Begun),
    Renewed(bool),
    Completed(Completed),
    Released(bool),
    Forgotten,
    /// Whether it is no more than it may be. A store may have dropped some before.
    Purged(bool),
    Advanced,
}

impl Call {
    /// Asks the store.
    pub(super) async fn ask_once(
        &self,
        store: &dyn IdempotencyStore,
    ) -> Result<Answer, StoreError> {
        Ok(match self {
            Self::Begin {
                tenant,
                key,
                body,
                token,
                hold,
            } => {
                let claim = Claim {
                    tenant,
                    key,
                    body: &[*body; 32],
                    token,
                    hold: millis(*hold),
                };
                Answer::Begun(store.begin(claim).await?)
            }
            Self::Renew(key, token, hold) => {
                Answer::Renewed(store.renew(key, token, millis(*hold)).await?)
            }
            Self::Complete {
                key,
                token,
                outcome,
                about,
                keep,
            } => {
                let completed = store.complete(key, token, outcome, about, millis(*keep));
                Answer::Completed(completed.await?)
            }
            Self::Release(key, token) => Answer::Released(store.release(key, token).await?),
            Self::Forget(tenant, about) => {
                store.forget(tenant, about).await?;
                Answer::Forgotten
            }
            Self::Purge(limit) => {
                Answer::Purged(store.purge(*limit).await? <= u64::from(limit.get()))
            }
            Self::Advance(_) => Answer::Advanced,
        })
    }
}

pub(super) fn millis(millis: i64) -> Duration {
    Duration::from_millis(u64::try_from(millis).unwrap_or(0))
}

/// A token that is told by a number.
pub(super) fn token(number: u8) -> Token {
    Token([number; 16])
}
