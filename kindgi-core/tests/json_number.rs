//! Numbers: which texts are one, and what they are worth exactly.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod json_support;

use json_support::NUMBER;
use kindgi_core::json::{Number, RawJson};
use proptest::prelude::*;

fn number(text: &str) -> Number {
    Number::parse(text).unwrap_or_else(|| panic!("{text:?} is a number"))
}

/// Writes the number out in full, without an exponent, and reads that.
fn by_writing_out(text: &str) -> Option<u64> {
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().unwrap()),
        None => (text, 0),
    };
    let (negative, mantissa) = match mantissa.strip_prefix('-') {
        Some(mantissa) => (true, mantissa),
        None => (false, mantissa),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let (mut whole, mut fraction) = (whole.to_owned(), fraction.to_owned());
    for _ in 0..exponent {
        let first = if fraction.is_empty() {
            '0'
        } else {
            fraction.remove(0)
        };
        whole.push(first);
    }
    for _ in exponent..0 {
        fraction.insert(0, whole.pop().unwrap_or('0'));
    }
    if fraction.contains(|c| c != '0') {
        return None;
    }
    let whole = whole.trim_start_matches('0');
    if whole.is_empty() {
        return Some(0);
    }
    if negative { None } else { whole.parse().ok() }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    #[test]
    fn whole_numbers_agree_with_writing_them_out(
        text in r"-?(0|[1-9][0-9]{0,4}0{0,18})(\.(0{0,4}|[0-9]{1,2}0{0,4})0)?([eE][+-]?0{0,2}[0-9]{1,2})?",
    ) {
        prop_assert_eq!(number(&text).to_u64_exact(), by_writing_out(&text), "{}", text);
    }

    #[test]
    fn every_spelling_of_a_whole_number_is_read(
        value in prop_oneof![any::<u64>(), 0..1000u64, u64::MAX - 3..=u64::MAX], zeros in 0..30usize, point in any::<prop::sample::Index>(),
    ) {
        // All digits, zeros appended, the point anywhere, and the exponent that makes up for both.
        let digits = format!("{value}{}", "0".repeat(zeros));
        let at = 1 + point.index(digits.len());
        let exponent = i64::try_from(digits.len() - at).unwrap() - i64::try_from(zeros).unwrap();
        let (whole, fraction) = digits.split_at(at);
        prop_assume!(whole.len() == 1 || !whole.starts_with('0'));
        let text = if fraction.is_empty() {
            format!("{whole}e{exponent}")
        } else {
            format!("{whole}.{fraction}E{exponent:+}")
        };
        prop_assert_eq!(number(&text).to_u64_exact(), Some(value), "{}", text);
    }

    #[test]
    fn only_numbers_are_parsed(text in "[-+0-9.eE ]{0,8}") {
        // In JSON text made of these characters, white space apart, nothing but numbers is valid.
        let valid = !text.contains(' ') && RawJson::parse(text.as_str()).is_ok();
        let parsed = Number::parse(&text);
        prop_assert_eq!(parsed.as_ref().map(Number::as_str), valid.then_some(text.as_str()));
    }

    #[test]
    fn text_is_kept_and_is_json(text in NUMBER) {
        let number = number(&text);
        prop_assert_eq!(number.as_str(), &text);
        prop_assert_eq!(number.raw(), &RawJson::parse(text.as_str()).unwrap());
        prop_assert_eq!(number.to_string(), text);
    }

    #[test]
    fn doubles_read_back(value in any::<f64>().prop_filter("JSON has finite numbers", |value| value.is_finite())) {
        prop_assert_eq!(number(&format!("{value:?}")).to_f64(), Some(value));
        prop_assert_eq!(number(&format!("{value}")).to_f64(), Some(value));
    }

    #[test]
    fn arbitrary_text_never_panics(text in any::<String>()) {
        prop_assert_eq!(Number::parse(&text).is_some(), RawJson::parse(text.as_str()).is_ok_and(|raw| {
            raw.as_str() == text && text.starts_with(|c: char| c == '-' || c.is_ascii_digit())
        }));
    }
}

#[test]
fn the_grammar_is_jsons() {
    for text in [
        "0",
        "-0",
        "-0.0",
        "1e-05",
        "1E+5",
        "10",
        "0.10",
        "2e0",
        "1e400",
        "0e999999999",
    ] {
        assert_eq!(number(text).as_str(), text);
    }
    for text in [
        "",
        "-",
        "+1",
        "01",
        "-01",
        "00",
        ".5",
        "5.",
        "1.e1",
        "1e",
        "1e+",
        " 1",
        "1 ",
        "1\n",
        "0x1",
        "1_0",
        "1,0",
        "NaN",
        "Infinity",
        "-Infinity",
        "inf",
        "null",
        "\"1\"",
        "--1",
        "1e1.0",
        "1e1e1",
        "１",
    ] {
        assert!(Number::parse(text).is_none(), "{text:?}");
    }
}

#[test]
fn whole_numbers_are_exact() {
    for (text, value) in [
        ("2", Some(2)),
        ("2.0", Some(2)),
        ("2e0", Some(2)),
        ("20e-1", Some(2)),
        ("0.02E2", Some(2)),
        ("-0", Some(0)),
        ("-0.0", Some(0)),
        ("-0e5", Some(0)),
        ("0e999999999", Some(0)),
        ("0.000e-99999999999999999999999", Some(0)),
        ("1e999999999999", None),
        ("1e99999999999999999999999999", None),
        ("1e18446744073709551619", None),
        ("100000e-18446744073709551619", None),
        ("1e-999999999999", None),
        ("1e-99999999999999999999999999", None),
        ("-1", None),
        ("-1e99999999999999999999", None),
        ("2.5", None),
        ("25e-1", None),
        ("0.1", None),
        ("9007199254740993", Some(9_007_199_254_740_993)),
        ("18446744073709551615", Some(u64::MAX)),
        ("18446744073709551615.000", Some(u64::MAX)),
        ("1844674407370955161500e-2", Some(u64::MAX)),
        ("18446744073709551616", None),
        ("18446744073709551615.1", None),
        ("1e19", Some(10_000_000_000_000_000_000)),
        ("2e19", None),
        ("1e20", None),
        ("1e0000000000000000000000000000000003", Some(1000)),
    ] {
        assert_eq!(number(text).to_u64_exact(), value, "{text}");
    }
}

#[test]
fn long_texts_are_exact() {
    let zeros = "0".repeat(100_000);
    assert_eq!(number(&format!("7{zeros}e-100000")).to_u64_exact(), Some(7));
    assert_eq!(number(&format!("7{zeros}e-100001")).to_u64_exact(), None);
    assert_eq!(
        number(&format!("0.{zeros}7e100001")).to_u64_exact(),
        Some(7)
    );
    assert_eq!(number(&format!("7.{zeros}")).to_u64_exact(), Some(7));
    assert_eq!(number(&format!("7.{zeros}1")).to_u64_exact(), None);
    assert_eq!(number(&format!("7{zeros}")).to_u64_exact(), None);
    assert_eq!(number(&format!("7{zeros}")).to_f64(), None);
}

#[test]
fn doubles_are_finite_or_none() {
    assert_eq!(number("1e400").to_f64(), None);
    assert_eq!(number("-1e400").to_f64(), None);
    assert_eq!(number("1e-400").to_f64(), Some(0.0));
    assert_eq!(number("1.10").to_f64(), Some(1.1));
    assert_eq!(number("1e-05").to_f64(), Some(0.00001));
}
