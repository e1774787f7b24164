//! Times in requests: RFC 3339, with any offset and any fraction of a second.

use kindgi_core::Timestamp;

/// The instant, or `None` if the text is no `date-time` of RFC 3339 §5.6: without an offset, with
/// a date or a time of day that there isn't, or outside the years 0 to 9999 in UTC.
///
/// What is finer than a millisecond is cut off, as it is of the times that rows have. So whatever
/// happened at that instant or later has a time that isn't before it.
pub(super) fn instant(text: &str) -> Option<Timestamp> {
    let mut text = Text(text.as_bytes());
    let (year, month, day) = date(&mut text)?;
    text.one_of(b"Tt")?;
    let hour = text.below(24)?;
    text.one_of(b":")?;
    let minute = text.below(60)?;
    text.one_of(b":")?;
    let second = text.below(61)?;
    let millis = text.fraction()?;
    let offset = offset(&mut text)?;
    if !text.0.is_empty() {
        return None;
    }
    let minutes = (days_before(year, month) + day - 1) * 1440 + hour * 60 + minute - offset;
    // A leap second ends a day in UTC; it is the first second of the next day here, as in most
    // clocks.
    if second == 60 && minutes.rem_euclid(1440) != 1439 {
        return None;
    }
    Timestamp::from_unix_millis((minutes * 60 + second) * 1000 + millis)
}

/// Year, month and day of a day that there is.
fn date(text: &mut Text<'_>) -> Option<(i64, i64, i64)> {
    let year = text.digits(4)?;
    text.one_of(b"-")?;
    let month = text.digits(2)?;
    text.one_of(b"-")?;
    let day = text.digits(2)?;
    let days = (1..=12)
        .contains(&month)
        .then(|| days_before(year, month + 1) - days_before(year, month))?;
    (1..=days).contains(&day).then_some((year, month, day))
}

/// How many minutes the time of day is ahead of UTC.
fn offset(text: &mut Text<'_>) -> Option<i64> {
    let sign = match text.one_of(b"Zz+-")? {
        b'+' => 1,
        b'-' => -1,
        _ => return Some(0),
    };
    let hours = text.below(24)?;
    text.one_of(b":")?;
    Some(sign * (hours * 60 + text.below(60)?))
}

/// Days from 1970-01-01 to the first day of a month of the Gregorian calendar; month 13 is the
/// next year's first.
fn days_before(year: i64, month: i64) -> i64 {
    // Counted in years that begin in March, so that a leap day ends one.
    let (year, month) = match month {
        ..3 => (year - 1, month + 9),
        _ => (year, month - 3),
    };
    let leap_days = year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    // From March on the months' lengths repeat after five: 31, 30, 31, 30, 31.
    let in_year = (153 * month + 2) / 5;
    year * 365 + leap_days + in_year - 719_468
}

/// What is still to be read.
struct Text<'a>(&'a [u8]);

impl Text<'_> {
    fn one_of(&mut self, any: &[u8]) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        any.contains(first).then(|| {
            self.0 = rest;
            *first
        })
    }

    fn digits(&mut self, count: usize) -> Option<i64> {
        (0..count).try_fold(0, |number, _| {
            let digit = self.one_of(b"0123456789")?;
            Some(number * 10 + i64::from(digit - b'0'))
        })
    }

    /// Two digits of less.
    fn below(&mut self, end: i64) -> Option<i64> {
        self.digits(2).filter(|number| *number < end)
    }

    /// The whole milliseconds of a fraction of a second, of any length, if there is one.
    fn fraction(&mut self) -> Option<i64> {
        if self.one_of(b".").is_none() {
            return Some(0);
        }
        let mut millis = self.digits(1)? * 100;
        for worth in [10, 1] {
            millis += self.digits(1).unwrap_or(0) * worth;
        }
        while self.digits(1).is_some() {}
        Some(millis)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn shown(text: &str) -> Option<String> {
        instant(text).map(|at| at.to_string())
    }

    #[test]
    fn an_instant_may_have_any_offset_and_fraction() {
        for (text, is) in [
            ("1970-01-01T00:00:00Z", "1970-01-01T00:00:00.000Z"),
            ("2026-01-01t00:00:00z", "2026-01-01T00:00:00.000Z"),
            ("2026-01-01T00:00:00.1Z", "2026-01-01T00:00:00.100Z"),
            ("2026-01-01T00:00:00.1239999Z", "2026-01-01T00:00:00.123Z"),
            ("1969-12-31T23:59:59.9999Z", "1969-12-31T23:59:59.999Z"),
            ("2026-01-01T02:30:00+02:30", "2026-01-01T00:00:00.000Z"),
            ("2025-12-31T00:01:00-23:59", "2026-01-01T00:00:00.000Z"),
            ("2026-01-01T00:00:00-00:00", "2026-01-01T00:00:00.000Z"),
            ("2024-02-29T23:59:59Z", "2024-02-29T23:59:59.000Z"),
            ("2000-02-29T00:00:00Z", "2000-02-29T00:00:00.000Z"),
            ("0000-02-29T00:00:00Z", "0000-02-29T00:00:00.000Z"),
            ("9999-12-31T23:59:59.999Z", "9999-12-31T23:59:59.999Z"),
            // RFC 3339 §5.8
            ("1990-12-31T23:59:60Z", "1991-01-01T00:00:00.000Z"),
            ("1990-12-31T15:59:60.5-08:00", "1991-01-01T00:00:00.500Z"),
        ] {
            assert_eq!(shown(text).as_deref(), Some(is), "{text}");
        }
    }

    #[test]
    fn what_is_no_instant_is_none() {
        for text in [
            "",
            "2026-01-01",
            "2026-01-01T00:00:00",
            "2026-01-01T00:00Z",
            "2026-01-01 00:00:00Z",
            "2026-01-01T00:00:00 Z",
            "2026-01-01T00:00:00Z ",
            " 2026-01-01T00:00:00Z",
            "2026-01-01T00:00:00.Z",
            "2026-01-01T00:00:00,5Z",
            "2026-01-01T00:00:00+0100",
            "2026-01-01T00:00:00+01",
            "2026-01-01T00:00:00+24:00",
            "2026-01-01T00:00:00+01:60",
            "2026-01-01T00:00:00 01:00",
            "2026-01-01T00:00:00Z[UTC]",
            "2026-01-01T24:00:00Z",
            "2026-01-01T00:60:00Z",
            "2026-01-01T00:00:60Z",
            "2026-01-01T23:59:61Z",
            "2026-00-01T00:00:00Z",
            "2026-13-01T00:00:00Z",
            "2026-01-00T00:00:00Z",
            "2026-04-31T00:00:00Z",
            "2026-02-29T00:00:00Z",
            "1900-02-29T00:00:00Z",
            "26-01-01T00:00:00Z",
            "02026-01-01T00:00:00Z",
            "+2026-01-01T00:00:00Z",
            "-2026-01-01T00:00:00Z",
            "2026-1-1T00:00:00Z",
            "2026-W01-1T00:00:00Z",
            "٢٠٢٦-01-01T00:00:00Z",
            // Outside the years that can be shown, in UTC.
            "0000-01-01T00:00:00+00:01",
            "9999-12-31T23:59:59-00:01",
            "9999-12-31T23:59:60Z",
            "1767225600000",
        ] {
            assert_eq!(shown(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn every_time_that_is_shown_reads_back(millis in -62_167_219_200_000_i64..=253_402_300_799_999) {
            let at = Timestamp::from_unix_millis(millis).unwrap();
            prop_assert_eq!(instant(&at.to_string()), Some(at));
        }

        #[test]
        fn an_offset_moves_the_instant_by_itself(
            millis in -62_167_000_000_000_i64..=253_402_000_000_000,
            ahead: bool,
            hours in 0_i64..24,
            minutes in 0_i64..60,
            finer in "[0-9]{0,6}",
        ) {
            let at = Timestamp::from_unix_millis(millis).unwrap().to_string();
            let sign = if ahead { '+' } else { '-' };
            let local = at.replace('Z', &format!("{finer}{sign}{hours:02}:{minutes:02}"));
            let by = (hours * 60 + minutes) * 60_000;
            let expected = millis + if ahead { -by } else { by };
            prop_assert_eq!(instant(&local), Timestamp::from_unix_millis(expected));
        }

        #[test]
        fn any_text_is_an_instant_or_none(text in "[0-9TtZz:.+ -]{0,40}") {
            let _ = instant(&text);
        }
    }
}
