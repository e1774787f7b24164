//! Cursors: where a page ended, bound to the list, its filters and its caller.
//!
//! A cursor is checked, not sealed: whoever takes it apart sees a row's instant and id, which
//! the page showed them anyway. A foreign or garbled one is refused.

use std::sync::Arc;

use kindgi_core::{
    Timestamp,
    model::{Position, Principal},
};
use sha2::{Digest, Sha256};

/// The format's version, so that a later one can tell.
const VERSION: u8 = 1;
const BOUND_TO: usize = 16;
const CHECK: usize = 8;
/// The longest text that is looked at: an id of 256 code points of four bytes, twice over.
const MAX_TEXT: usize = 4096;

/// What a cursor is good for: one caller's walk through one list.
pub(crate) struct Binding([u8; BOUND_TO]);

impl Binding {
    /// The walk of this caller through the list at this path with these filters: every query
    /// parameter but `cursor` and `limit`.
    pub(crate) fn new<'a>(
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
        Self(head(&hash.finalize()))
    }

    /// A row's place as a cursor.
    pub(crate) fn write(&self, position: &Position) -> String {
        let mut bytes = vec![VERSION];
        bytes.extend(self.0);
        bytes.extend(position.at.as_unix_millis().to_be_bytes());
        bytes.extend(position.id.bytes());
        bytes.extend(check(&bytes));
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// The place, if the cursor was written for this walk.
    pub(crate) fn read(&self, cursor: &str) -> Option<Position> {
        if cursor.len() > MAX_TEXT {
            return None;
        }
        let bytes = from_hex(cursor)?;
        let (bytes, sum) = bytes.split_at_checked(bytes.len().checked_sub(CHECK)?)?;
        let (version, rest) = bytes.split_first()?;
        let (bound_to, rest) = rest.split_first_chunk::<BOUND_TO>()?;
        let (millis, id) = rest.split_first_chunk::<8>()?;
        if *version != VERSION || *bound_to != self.0 || sum != check(bytes) {
            return None;
        }
        Some(Position {
            at: Timestamp::from_unix_millis(i64::from_be_bytes(*millis))?,
            id: Arc::from(std::str::from_utf8(id).ok()?),
        })
    }
}

fn check(bytes: &[u8]) -> [u8; CHECK] {
    head(&Sha256::digest(bytes))
}

fn head<const N: usize>(hash: &[u8]) -> [u8; N] {
    hash.first_chunk().copied().unwrap_or([0; N])
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
