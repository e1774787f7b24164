//! Where time and ids come from: one place, so that tests own both.

use std::{
    fmt,
    sync::atomic::{AtomicI64, AtomicU64, Ordering},
};

/// An instant: whole milliseconds since the Unix epoch, between the years 0 and 9999.
///
/// Milliseconds are what the API shows and orders by ("newest first" is `createdAt` in
/// milliseconds, then the id), so nothing finer is kept.
///
/// ```
/// use kindgi_core::Timestamp;
///
/// let at = Timestamp::from_unix_millis(1_764_495_782_120).unwrap();
/// assert_eq!(at.to_string(), "2025-11-30T09:43:02.120Z");
/// assert!(Timestamp::from_unix_millis(i64::MAX).is_none());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(i64);

/// 0000-01-01T00:00:00.000Z
const FIRST: i64 = -62_167_219_200_000;
/// 9999-12-31T23:59:59.999Z
const LAST: i64 = 253_402_300_799_999;

impl Timestamp {
    /// 1970-01-01T00:00:00.000Z.
    pub const UNIX_EPOCH: Self = Self(0);

    /// The instant so many milliseconds after the Unix epoch; `None` outside the years 0 to 9999,
    /// which RFC 3339 can't write.
    pub const fn from_unix_millis(millis: i64) -> Option<Self> {
        if millis < FIRST || millis > LAST {
            return None;
        }
        Some(Self(millis))
    }

    /// Milliseconds since the Unix epoch.
    pub const fn as_unix_millis(self) -> i64 {
        self.0
    }

    /// The instant so many milliseconds later, or the last one there is.
    #[must_use]
    pub fn saturating_add_millis(self, millis: i64) -> Self {
        Self(self.0.saturating_add(millis).clamp(FIRST, LAST))
    }
}

/// RFC 3339 in UTC, with milliseconds and `Z`.
impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // By the civil calendar: an instant of jiff's ends some hours before the year 9999 does.
        let epoch = jiff::civil::date(1970, 1, 1).at(0, 0, 0, 0);
        let at = epoch
            .checked_add(jiff::SignedDuration::from_millis(self.0))
            .map_err(|_| fmt::Error)?;
        write!(
            f,
            "{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z",
            at.year(),
            at.month(),
            at.day(),
            at.hour(),
            at.minute(),
            at.second(),
            at.millisecond()
        )
    }
}

/// Tells the time and makes ids.
pub trait Clock: Send + Sync + 'static {
    /// Now.
    fn now(&self) -> Timestamp;

    /// A new id, unlike any before: a UUID of version 7 (RFC 9562) in its usual text form.
    fn new_id(&self) -> String;
}

/// The machine's clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "this is the one place")]
    fn now(&self) -> Timestamp {
        let millis = jiff::Timestamp::now().as_millisecond();
        Timestamp(millis.clamp(FIRST, LAST))
    }

    #[expect(clippy::disallowed_methods, reason = "this is the one place")]
    fn new_id(&self) -> String {
        uuid::Uuid::now_v7().to_string()
    }
}

/// A clock that stands still until told otherwise, and counts its ids: for tests.
///
/// ```
/// use kindgi_core::{Clock, ManualClock};
///
/// let clock = ManualClock::default();
/// let before = clock.now();
/// clock.advance_millis(30_000);
/// assert_eq!(clock.now(), before.saturating_add_millis(30_000));
/// assert!(clock.new_id() < clock.new_id());
/// ```
#[derive(Debug)]
pub struct ManualClock {
    millis: AtomicI64,
    ids: AtomicU64,
}

impl ManualClock {
    /// A clock that shows this instant.
    pub fn at(at: Timestamp) -> Self {
        Self {
            millis: AtomicI64::new(at.0),
            ids: AtomicU64::new(0),
        }
    }

    /// Moves it; back, too, with a negative number.
    pub fn advance_millis(&self, millis: i64) {
        self.millis.fetch_add(millis, Ordering::SeqCst);
    }
}

/// 2026-01-01T00:00:00.000Z.
impl Default for ManualClock {
    fn default() -> Self {
        Self::at(Timestamp(1_767_225_600_000))
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        Timestamp(self.millis.load(Ordering::SeqCst).clamp(FIRST, LAST))
    }

    fn new_id(&self) -> String {
        let count = self.ids.fetch_add(1, Ordering::SeqCst);
        let millis = u64::try_from(self.now().0).unwrap_or(0);
        let mut tail = [0; 10];
        tail[2..].copy_from_slice(&count.to_be_bytes());
        uuid::Builder::from_unix_timestamp_millis(millis, &tail)
            .into_uuid()
            .to_string()
    }
}

impl<C: Clock + ?Sized> Clock for std::sync::Arc<C> {
    fn now(&self) -> Timestamp {
        (**self).now()
    }

    fn new_id(&self) -> String {
        (**self).new_id()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_and_the_last_instant_are_written_in_four_digit_years() {
        let first = Timestamp::from_unix_millis(FIRST).unwrap();
        let last = Timestamp::from_unix_millis(LAST).unwrap();
        assert_eq!(first.to_string(), "0000-01-01T00:00:00.000Z");
        assert_eq!(last.to_string(), "9999-12-31T23:59:59.999Z");
        assert_eq!(Timestamp::from_unix_millis(FIRST - 1), None);
        assert_eq!(Timestamp::from_unix_millis(LAST + 1), None);
        assert_eq!(last.saturating_add_millis(i64::MAX), last);
        assert_eq!(first.saturating_add_millis(i64::MIN), first);
    }

    #[test]
    fn a_clocks_ids_are_version_7_and_never_repeat() {
        let manual = ManualClock::default();
        for clock in [&manual as &dyn Clock, &SystemClock] {
            let ids: std::collections::BTreeSet<String> =
                (0..1000).map(|_| clock.new_id()).collect();
            assert_eq!(ids.len(), 1000);
            for id in &ids {
                let id = uuid::Uuid::parse_str(id).unwrap();
                assert_eq!(id.get_version_num(), 7);
            }
        }
    }
}
