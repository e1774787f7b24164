//! JSON strings: from escaped text to characters, and back.

use std::fmt;
use std::str::Chars;

/// One code point of a JSON string.
///
/// Escapes can spell half of a surrogate pair (`"\ud83d"`). That is valid JSON and no character, so no `str` can
/// hold it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CodePoint {
    Char(char),
    Lone(u16),
}

impl CodePoint {
    /// The code point's number, by which canonical keys are sorted.
    pub(super) fn value(self) -> u32 {
        match self {
            Self::Char(c) => c.into(),
            Self::Lone(unit) => unit.into(),
        }
    }
}

/// The code points of what stands between the quotes of a valid JSON string.
pub(super) fn code_points(body: &str) -> CodePoints<'_> {
    CodePoints { rest: body.chars() }
}

#[derive(Clone)]
pub(super) struct CodePoints<'a> {
    rest: Chars<'a>,
}

impl Iterator for CodePoints<'_> {
    type Item = CodePoint;

    fn next(&mut self) -> Option<CodePoint> {
        let first = self.rest.next()?;
        if first != '\\' {
            return Some(CodePoint::Char(first));
        }
        Some(match self.rest.next()? {
            'b' => CodePoint::Char('\u{8}'),
            'f' => CodePoint::Char('\u{c}'),
            'n' => CodePoint::Char('\n'),
            'r' => CodePoint::Char('\r'),
            't' => CodePoint::Char('\t'),
            'u' => {
                let unit = hex_unit(&mut self.rest)?;
                self.complete(unit)
            }
            itself => CodePoint::Char(itself),
        })
    }
}

impl CodePoints<'_> {
    /// The code point that starts with this unit: itself, or with the escaped low surrogate that follows it.
    fn complete(&mut self, unit: u16) -> CodePoint {
        if (0xd800..=0xdbff).contains(&unit) {
            let mut ahead = self.rest.clone();
            if ahead.next() == Some('\\')
                && ahead.next() == Some('u')
                && let Some(low) = hex_unit(&mut ahead)
                && let Some(Ok(pair)) = char::decode_utf16([unit, low]).next()
            {
                self.rest = ahead;
                return CodePoint::Char(pair);
            }
        }
        char::from_u32(unit.into()).map_or(CodePoint::Lone(unit), CodePoint::Char)
    }
}

/// The four hexadecimal digits after `\u`.
fn hex_unit(chars: &mut Chars<'_>) -> Option<u16> {
    let mut unit = 0u32;
    for _ in 0..4 {
        unit = unit * 16 + chars.next()?.to_digit(16)?;
    }
    u16::try_from(unit).ok()
}

/// Writes `content` as a JSON string: `"`, `\` and what is below U+0020 escaped, in the short form where there is
/// one, else as `\u00xx` in lower case; all else as it is.
pub(super) fn push_quoted(out: &mut String, content: &str) {
    out.push('"');
    let mut rest = content;
    while let Some(at) = rest.find(|c| matches!(c, '"' | '\\' | '\0'..='\u{1f}')) {
        let (plain, escaped) = rest.split_at(at);
        out.push_str(plain);
        let mut chars = escaped.chars();
        if let Some(c) = chars.next() {
            push_char(out, c);
        }
        rest = chars.as_str();
    }
    out.push_str(rest);
    out.push('"');
}

/// Writes a JSON string, given as what stands between its quotes, in the spelling of [`push_quoted`]. Lone
/// surrogates stay escapes, in lower case.
pub(super) fn push_respelled(out: &mut String, body: &str) {
    out.push('"');
    if body.contains('\\') {
        for point in code_points(body) {
            match point {
                CodePoint::Char(c) => push_char(out, c),
                CodePoint::Lone(unit) => push_unit(out, unit),
            }
        }
    } else {
        // Valid and without a backslash: nothing in it needs one.
        out.push_str(body);
    }
    out.push('"');
}

fn push_char(out: &mut String, c: char) {
    match c {
        '"' => out.push_str("\\\""),
        '\\' => out.push_str("\\\\"),
        '\u{8}' => out.push_str("\\b"),
        '\u{c}' => out.push_str("\\f"),
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        '\0'..='\u{1f}' => push_unit(out, c as u16),
        c => out.push(c),
    }
}

fn push_unit(out: &mut String, unit: u16) {
    out.push_str("\\u");
    for shift in [12, 8, 4, 0] {
        let digit = u32::from(unit >> shift) & 0xf;
        out.push(char::from_digit(digit, 16).unwrap_or('0'));
    }
}

/// The content of a JSON string, or the news that no `str` can hold it.
///
/// Equal when the contents are, however they were escaped; two lone surrogates are equal when they are the same.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Text {
    /// The content, with U+FFFD for every lone surrogate.
    shown: Box<str>,
    /// With lone surrogates: the content in its one canonical spelling, which tells them apart.
    spelled: Option<Box<str>>,
}

impl Text {
    /// From what stands between the quotes of a valid JSON string.
    pub(super) fn unescape(body: &str) -> Self {
        if !body.contains('\\') {
            return Self {
                shown: body.into(),
                spelled: None,
            };
        }
        let mut shown = String::with_capacity(body.len());
        let mut lone = false;
        for point in code_points(body) {
            match point {
                CodePoint::Char(c) => shown.push(c),
                CodePoint::Lone(_) => {
                    lone = true;
                    shown.push(char::REPLACEMENT_CHARACTER);
                }
            }
        }
        Self {
            shown: shown.into(),
            spelled: lone.then(|| {
                let mut spelled = String::with_capacity(body.len());
                push_respelled(&mut spelled, body);
                spelled.into()
            }),
        }
    }

    /// The unescaped content.
    ///
    /// # Errors
    ///
    /// [`LoneSurrogate`] when an escape spells half of a surrogate pair.
    pub fn as_str(&self) -> Result<&str, LoneSurrogate> {
        match self.spelled {
            None => Ok(&self.shown),
            Some(_) => Err(LoneSurrogate(())),
        }
    }

    /// The unescaped content, with U+FFFD for every lone surrogate: for messages, not for storing.
    #[must_use]
    pub fn lossy(&self) -> &str {
        &self.shown
    }

    /// Whether an escape spells half of a surrogate pair.
    #[must_use]
    pub fn has_lone_surrogate(&self) -> bool {
        self.spelled.is_some()
    }
}

impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.spelled {
            None => write!(f, "{:?}", self.shown),
            Some(spelled) => f.write_str(spelled),
        }
    }
}

/// A string with an escape that spells half of a surrogate pair, which is no character.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoneSurrogate(());

impl fmt::Display for LoneSurrogate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the string has a lone surrogate escape")
    }
}

impl std::error::Error for LoneSurrogate {}
