//! Texts and documents that a careless backend mixes up or changes.

/// Texts that differ by little: case, a blank at the end, an accent, how that is composed, a
/// character beyond the BMP, the last of 256.
pub(crate) fn near(stem: &str, number: u8) -> String {
    near_of(stem, number, 256)
}

/// The same, where a text may have so many code points.
pub(crate) fn near_of(stem: &str, number: u8, max: usize) -> String {
    match number % 8 {
        0 => stem.to_owned(),
        1 => stem.to_uppercase(),
        2 => format!("{stem} "),
        3 => format!("{stem}\u{e9}"),
        4 => format!("{stem}e\u{301}"),
        5 => format!("{stem}\u{1d11e}"),
        number => {
            let last = if number == 6 {
                "\u{1d11e}"
            } else {
                "\u{1d11f}"
            };
            let fill = max.saturating_sub(1 + stem.chars().count());
            format!("{stem}{}{last}", "\u{1f389}".repeat(fill))
        }
    }
}

/// Documents that change when someone reads and writes them anew.
pub(crate) const DOCUMENTS: [&str; 16] = [
    r#"{"score":1.10}"#,
    "[1e400,-0,-0.0,1E+2,0.10e-7,18446744073709551616,9007199254740993]",
    r#"{"a":1,"a":2,"b":{"c":3,"c":3}}"#,
    r#""\ud83d""#,
    r#"{"\ud83d":"\udc00\ud800"}"#,
    r#"{"\u0061":"\u0000\u00e9\/"}"#,
    "{ \"b\" :\t[ ] ,\n\"a\":  null }",
    "\"\u{1d11e}\\ud834\\udd1e\"",
    "\"e\u{301}\u{e9}\u{feff}\u{2028}\"",
    "null",
    r#""""#,
    "0.1000000000000000055511151231257827021181583404541015625",
    r#"{"":{"__proto__":{"":[[[[]]]]}}}"#,
    "false",
    "[ ]",
    r#""' \" \\ ; -- % _ $1 ?""#,
];
