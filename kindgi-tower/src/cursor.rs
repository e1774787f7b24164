//! Cursors: where a page ended, sealed, and bound to the list, its filters and its caller.
//!
//! A cursor tells nothing and can't be forged: it is sealed with XChaCha20-Poly1305, and what it
//! is bound to is authenticated with it. It is good for 24 hours.

use std::{fmt, sync::Arc};

use chacha20poly1305::{
    Key, XChaCha20Poly1305, XNonce,
    aead::{Aead, Generate, KeyInit, Payload},
};
use kindgi_core::{
    Timestamp,
    model::{Position, Principal},
};
use sha2::{Digest, Sha256};

/// The format's version, so that a later one can tell.
const VERSION: u8 = 2;
const NONCE: usize = 24;
/// The longest text that is looked at: an id of 256 code points of four bytes, twice over.
const MAX_TEXT: usize = 4096;
/// How long a cursor is good for.
const GOOD_FOR_MILLIS: i64 = 24 * 60 * 60 * 1000;
/// How far the clock of the node that made a cursor may be ahead.
const AHEAD_MILLIS: i64 = 60 * 1000;

/// A key that cursors are sealed with: 32 bytes that nobody else knows.
///
/// Its `Debug` doesn't show it.
#[derive(Clone)]
pub struct CursorKey([u8; 32]);

impl CursorKey {
    /// These bytes, from a good source: a key-derivation function or a random generator, never a
    /// word.
    pub fn new(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// A random one.
    pub fn random() -> Self {
        Self(Key::generate().into())
    }
}

impl fmt::Debug for CursorKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CursorKey")
    }
}

/// The keys that cursors are sealed and opened with.
pub(crate) struct CursorKeys {
    seals: XChaCha20Poly1305,
    /// The same, and older ones.
    opens: Vec<XChaCha20Poly1305>,
}

impl CursorKeys {
    /// The first seals, and every one opens. Without any, one is made.
    pub(crate) fn new(keys: &[CursorKey]) -> Self {
        let seals = keys.first().cloned().unwrap_or_else(CursorKey::random);
        let cipher = |key: &CursorKey| XChaCha20Poly1305::new(&key.0.into());
        let older = keys.iter().skip(1).map(cipher);
        Self {
            opens: [cipher(&seals)].into_iter().chain(older).collect(),
            seals: cipher(&seals),
        }
    }
}

/// What a cursor is good for: one caller's walk through one list, and when it is looked at.
pub(crate) struct Binding {
    keys: Arc<CursorKeys>,
    bound_to: [u8; 32],
    now: Timestamp,
}

impl Binding {
    /// The walk of this caller through the list at this path with these filters: every query
    /// parameter but `cursor` and `limit`.
    pub(crate) fn new<'a>(
        keys: &Arc<CursorKeys>,
        now: Timestamp,
        who: &Principal,
        path: &str,
        filters: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Self {
        let mut filters: Vec<_> = filters.into_iter().collect();
        filters.sort_unstable();
        let mut hash = Sha256::new();
        let caller = [
            who.tenant.as_str(),
            who.kind.as_str(),
            who.id.as_str(),
            path,
        ];
        let filters = filters.iter().flat_map(|(name, value)| [*name, *value]);
        for part in caller.into_iter().chain(filters) {
            // With its length, so that no two lists of parts are spelled the same.
            hash.update((part.len() as u64).to_be_bytes());
            hash.update(part);
        }
        Self {
            keys: Arc::clone(keys),
            bound_to: hash.finalize().into(),
            now,
        }
    }

    /// A row's place as a cursor.
    pub(crate) fn write(&self, position: &Position) -> String {
        let mut place = Vec::new();
        place.extend(self.now.as_unix_millis().to_be_bytes());
        place.extend(position.at.as_unix_millis().to_be_bytes());
        place.extend(position.id.bytes());
        let nonce = XNonce::generate();
        // Only a place of gigabytes can't be sealed.
        let sealed = self.keys.seals.encrypt(&nonce, self.payload(&place));
        let bytes = [VERSION].into_iter().chain(nonce);
        let bytes = bytes.chain(sealed.unwrap_or_default());
        bytes.map(|byte| format!("{byte:02x}")).collect()
    }

    /// The place, if the cursor was written for this walk, within a day.
    pub(crate) fn read(&self, cursor: &str) -> Option<Position> {
        if cursor.len() > MAX_TEXT {
            return None;
        }
        let bytes = from_hex(cursor)?;
        let (version, rest) = bytes.split_first()?;
        let (nonce, sealed) = rest.split_first_chunk::<NONCE>()?;
        if *version != VERSION {
            return None;
        }
        let nonce = XNonce::from(*nonce);
        let mut opened = self.keys.opens.iter();
        let place = opened.find_map(|key| key.decrypt(&nonce, self.payload(sealed)).ok())?;
        let (made_at, rest) = place.split_first_chunk::<8>()?;
        let (millis, id) = rest.split_first_chunk::<8>()?;
        let age = self.now.as_unix_millis() - i64::from_be_bytes(*made_at);
        if !(-AHEAD_MILLIS..=GOOD_FOR_MILLIS).contains(&age) {
            return None;
        }
        Some(Position {
            at: Timestamp::from_unix_millis(i64::from_be_bytes(*millis))?,
            id: Arc::from(std::str::from_utf8(id).ok()?),
        })
    }

    fn payload<'p>(&'p self, msg: &'p [u8]) -> Payload<'p, 'p> {
        let aad = &self.bound_to;
        Payload { msg, aad }
    }
}

/// Lower-case digits only, so that a place has one spelling.
fn from_hex(text: &str) -> Option<Vec<u8>> {
    let digit = |byte: u8| match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        _ => None,
    };
    let (pairs, []) = text.as_bytes().as_chunks::<2>() else {
        return None;
    };
    pairs
        .iter()
        .map(|[high, low]| Some(digit(*high)? << 4 | digit(*low)?))
        .collect()
}
