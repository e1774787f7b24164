//! Idempotency keys: one implementation for the service and for the [layer](IdempotencyLayer) on
//! a host's own routes.

mod hold;
mod layer;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use http::{HeaderMap, HeaderName};
use kindgi_core::{engine::Engine, model::Principal, store::OperationId};
use sha2::{Digest, Sha256};

pub(crate) use hold::{Begin, Hold};
pub use layer::{IdempotencyLayer, Idempotent, KeyedBody, Withhold};

/// The header with the key.
pub(crate) const IDEMPOTENCY_KEY: &str = "Idempotency-Key";
/// The header of an answer that was kept.
pub(crate) const X_IDEMPOTENT_REPLAY: HeaderName = HeaderName::from_static("x-idempotent-replay");

/// The key of a request, if it has one: sent once, 1 to 255 visible ASCII characters.
pub(crate) fn key_of(headers: &HeaderMap) -> Result<Option<&[u8]>, &'static str> {
    let mut values = headers.get_all(IDEMPOTENCY_KEY).iter();
    let Some(key) = values.next() else {
        return Ok(None);
    };
    if values.next().is_some() {
        return Err("must be sent once");
    }
    let is_key = (1..=255).contains(&key.len()) && key.as_bytes().iter().all(u8::is_ascii_graphic);
    match is_key {
        true => Ok(Some(key.as_bytes())),
        false => Err("must be 1 to 255 visible ASCII characters"),
    }
}

/// Whose paths they are, so that a host's own route and one of the service's never share a key.
#[derive(Clone, Copy)]
pub(crate) enum Routes {
    Service,
    Host,
}

/// What a key is of: one caller's requests with this method to this path.
pub(crate) fn operation(
    routes: Routes,
    who: &Principal,
    method: &str,
    path: &str,
    key: &[u8],
) -> OperationId {
    let routes: &[u8] = match routes {
        Routes::Service => b"service",
        Routes::Host => b"host",
    };
    let parts: [&[u8]; 7] = [
        routes,
        who.tenant.as_str().as_bytes(),
        who.kind.as_str().as_bytes(),
        who.id.as_str().as_bytes(),
        method.as_bytes(),
        path.as_bytes(),
        key,
    ];
    let mut hash = Sha256::new();
    for part in parts {
        // With its length, so that no two requests are spelled the same.
        hash.update((part.len() as u64).to_be_bytes());
        hash.update(part);
    }
    OperationId(hash.finalize().into())
}

/// The hash of a body's bytes.
pub(crate) fn body_hash(body: &[u8]) -> [u8; 32] {
    Sha256::digest(body).into()
}

/// Where a handler leaves the hold that it took, for whoever ends it.
#[derive(Clone, Default)]
pub(crate) struct HoldSlot(Arc<Mutex<Slot>>);

#[derive(Default)]
struct Slot {
    hold: Option<Hold>,
    /// The engine that does the work.
    keyed: Option<Engine>,
}

impl HoldSlot {
    pub(crate) fn put(&self, hold: Hold, keyed: Option<Engine>) {
        let hold = Some(hold);
        *self.lock() = Slot { hold, keyed };
    }

    pub(crate) fn get(&self) -> Option<Hold> {
        self.lock().hold.clone()
    }

    /// Whether the work was found to be done before.
    pub(crate) fn replayed(&self) -> bool {
        self.lock().keyed.as_ref().is_some_and(Engine::replayed)
    }

    fn lock(&self) -> MutexGuard<'_, Slot> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
