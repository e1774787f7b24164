//! A number's text, read exactly.

use std::fmt;

use super::raw::RawJson;

/// A JSON number (RFC 8259 §6) as it was written.
///
/// Equal when written alike: `2` and `2.0` are not.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Number(RawJson);

impl Number {
    /// Reads a text that is one JSON number and nothing else: no white space, no leading zeros, no `+` in front, a
    /// digit on both sides of the point. `None` if it is anything else.
    ///
    /// ```
    /// use kindgi_core::json::Number;
    ///
    /// assert!(Number::parse("1e-05").is_some());
    /// assert!(Number::parse("01").is_none());
    /// ```
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Parts::split(text)?;
        Some(Self(RawJson::trusted(text.to_owned())))
    }

    /// From a value that is known to be a number.
    pub(super) fn trusted(raw: RawJson) -> Self {
        Self(raw)
    }

    /// The number's text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }

    /// The number as a JSON value.
    #[must_use]
    pub fn raw(&self) -> &RawJson {
        &self.0
    }

    /// The nearest double. `None` if that is infinite (`1e400`); what is too small for a double is `0`.
    #[must_use]
    pub fn to_f64(&self) -> Option<f64> {
        let value: f64 = self.as_str().parse().ok()?;
        value.is_finite().then_some(value)
    }

    /// The number if it is whole, not negative and within `u64`, however it is written: `2`, `2.0`, `2e0` and
    /// `20e-1` are 2, `-0.0` is 0. Exact, in time proportional to the text, whatever the exponent.
    #[must_use]
    pub fn to_u64_exact(&self) -> Option<u64> {
        Parts::split(self.as_str())?.to_u64()
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Debug for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Number({})", self.as_str())
    }
}

/// The parts of a number's text. The value is the digits of `whole` and `fraction`, read as one integer, times ten
/// to the power of `exponent` less the length of `fraction`.
struct Parts<'a> {
    negative: bool,
    whole: &'a str,
    fraction: &'a str,
    /// Saturated; see [`Parts::to_u64`] for why that is exact enough.
    exponent: i64,
}

impl<'a> Parts<'a> {
    /// `None` if the text doesn't follow the grammar.
    fn split(text: &'a str) -> Option<Self> {
        let unsigned = text.strip_prefix('-');
        let negative = unsigned.is_some();
        let (whole, rest) = split_digits(unsigned.unwrap_or(text))?;
        if whole.len() > 1 && whole.starts_with('0') {
            return None;
        }
        let (fraction, rest) = match rest.strip_prefix('.') {
            Some(rest) => split_digits(rest)?,
            None => ("", rest),
        };
        let (exponent, rest) = match rest.strip_prefix(['e', 'E']) {
            Some(rest) => {
                let below = rest.starts_with('-');
                let (digits, rest) = split_digits(rest.strip_prefix(['+', '-']).unwrap_or(rest))?;
                let size = saturating_integer(digits);
                (if below { -size } else { size }, rest)
            }
            None => (0, rest),
        };
        rest.is_empty().then_some(Self {
            negative,
            whole,
            fraction,
            exponent,
        })
    }

    fn to_u64(&self) -> Option<u64> {
        let digits = || self.whole.bytes().chain(self.fraction.bytes());
        let total = self.whole.len() + self.fraction.len();
        if digits().all(|digit| digit == b'0') {
            return Some(0);
        }
        if self.negative {
            return None;
        }
        let trailing = digits().rev().take_while(|digit| *digit == b'0').count();
        // The value is the digits without the trailing zeros, times ten to this power. Their last isn't zero,
        // so below zero it is no whole number. A text is far shorter than the exponent at which it saturates, so a
        // saturated one keeps its sign here.
        let power = self
            .exponent
            .saturating_sub(i64::try_from(self.fraction.len()).ok()?)
            .saturating_add(i64::try_from(trailing).ok()?);
        let power = u32::try_from(power).ok()?;
        let mut value = 0u64;
        for digit in digits().take(total - trailing) {
            value = value
                .checked_mul(10)?
                .checked_add(u64::from(digit - b'0'))?;
        }
        value.checked_mul(10u64.checked_pow(power)?)
    }
}

/// One or more digits, and what follows them.
fn split_digits(text: &str) -> Option<(&str, &str)> {
    let end = text.bytes().take_while(u8::is_ascii_digit).count();
    if end == 0 {
        None
    } else {
        text.split_at_checked(end)
    }
}

fn saturating_integer(digits: &str) -> i64 {
    digits.bytes().fold(0i64, |value, digit| {
        value
            .saturating_mul(10)
            .saturating_add(i64::from(digit - b'0'))
    })
}
