//! A hold on a key: taken, renewed while its request runs, and ended.

use std::{future::Future, pin::pin, sync::Arc, time::Duration};

use futures_util::future::{Either, select};
use kindgi_core::{
    StoreError, Timestamp,
    idempotency::{
        About, Begun, Claim, HOLD, IdempotencyStore, KEEP, KeptAnswer, Outcome, RENEW_EVERY, Token,
    },
    model::TenantId,
    store::OperationId,
};

use super::HoldSlot;

/// A key that this request holds.
#[derive(Clone)]
pub(crate) struct Hold {
    store: Arc<dyn IdempotencyStore>,
    key: OperationId,
    token: Token,
}

/// What to do with a request that has a key.
pub(crate) enum Begin {
    /// The work; the key is held.
    Run(Hold),
    /// Nothing: it was answered before.
    Replay(KeptAnswer),
    /// Nothing: the key has another body.
    OtherBody,
    /// Nothing: the first request still runs.
    InFlight(Duration),
    /// Nothing: it was answered before, with what isn't kept.
    Withheld(u16, Timestamp),
}

impl Hold {
    /// Claims a key.
    pub(crate) async fn begin(
        store: &Arc<dyn IdempotencyStore>,
        tenant: &TenantId,
        key: OperationId,
        body: &[u8; 32],
    ) -> Result<Begin, StoreError> {
        let token = Token::random();
        let claim = Claim {
            tenant,
            key: &key,
            body,
            token: &token,
            hold: HOLD,
        };
        Ok(match store.begin(claim).await? {
            Begun::Run => Begin::Run(Self {
                store: Arc::clone(store),
                key,
                token,
            }),
            Begun::Replay(answer) => Begin::Replay(answer),
            Begun::OtherBody => Begin::OtherBody,
            Begun::InFlight { retry_after } => Begin::InFlight(retry_after),
            Begun::Withheld { status, at } => Begin::Withheld(status, at),
        })
    }

    /// Keeps the answer. It is given, too, where it can't be kept: the work is done.
    pub(crate) async fn complete(&self, outcome: &Outcome, about: &[About]) {
        let kept = self
            .store
            .complete(&self.key, &self.token, outcome, about, KEEP)
            .await;
        note("an answer could not be kept", kept.err());
    }

    /// Frees the key. It lapses by itself where that fails.
    pub(crate) async fn release(&self) {
        let released = self.store.release(&self.key, &self.token).await;
        note("an idempotency key could not be freed", released.err());
    }

    async fn renew(&self) {
        let renewed = self.store.renew(&self.key, &self.token, HOLD).await;
        note("an idempotency key could not be renewed", renewed.err());
    }
}

/// Trouble of the store of keys that no caller is told.
fn note(what: &'static str, error: Option<StoreError>) {
    #[cfg(feature = "tracing")]
    if let Some(error) = error {
        tracing::error!("{what}: {error}");
    }
    #[cfg(not(feature = "tracing"))]
    let _ = (what, error);
}

impl HoldSlot {
    /// Does the work, and renews the hold that it takes until it is done.
    pub(crate) async fn renewing<T>(&self, work: impl Future<Output = T>) -> T {
        let renewing = async {
            loop {
                tokio::time::sleep(RENEW_EVERY).await;
                if let Some(hold) = self.get() {
                    hold.renew().await;
                }
            }
        };
        // Beside the work: a store of keys that hangs must not hold it up.
        match select(pin!(work), pin!(renewing)).await {
            Either::Left((done, _)) => done,
            Either::Right((never, _)) => never,
        }
    }
}
