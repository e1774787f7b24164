//! The one tokenizer over text that is known to be valid JSON.

use std::ops::Range;

/// What a [`Token`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TokenKind {
    OpenObject,
    OpenArray,
    /// The end of an object or an array.
    Close,
    /// A member's name: a string before a colon.
    Key,
    String,
    Number,
    True,
    False,
    Null,
}

/// A piece of the text: where it is and what it is. Commas, colons and white space are no tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Token {
    pub(super) kind: TokenKind,
    pub(super) start: usize,
    pub(super) end: usize,
}

impl Token {
    /// The token's own text.
    pub(super) fn text<'a>(&self, source: &'a str) -> &'a str {
        source.get(self.range()).unwrap_or_default()
    }

    /// What stands between the quotes of a key or a string, still escaped.
    pub(super) fn body<'a>(&self, source: &'a str) -> &'a str {
        source.get(self.start + 1..self.end - 1).unwrap_or_default()
    }

    pub(super) fn range(&self) -> Range<usize> {
        self.start..self.end
    }
}

/// Yields the tokens in the order of the text, in one pass.
///
/// It keeps no stack and doesn't need one: in valid JSON a string before a colon is a key, and who walks the tokens
/// counts the containers where it matters.
pub(super) struct Scanner<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Scanner<'a> {
    /// `source` must be valid JSON. On any other text the tokens mean nothing, though there is still an end to them.
    pub(super) fn new(source: &'a str) -> Self {
        Self {
            bytes: source.as_bytes(),
            at: 0,
        }
    }

    /// The first offset from `at` on whose byte `takes` refuses.
    fn end_of_run(&self, at: usize, takes: impl Fn(u8) -> bool) -> usize {
        let rest = self.bytes.get(at..).unwrap_or_default();
        at + rest.iter().take_while(|byte| takes(**byte)).count()
    }

    /// The offset after the closing quote of the string that opens at `open`.
    fn string_end(&self, open: usize) -> usize {
        let mut at = open + 1;
        while let Some(byte) = self.bytes.get(at) {
            match byte {
                b'"' => return at + 1,
                b'\\' => at += 2,
                _ => at += 1,
            }
        }
        self.bytes.len()
    }
}

impl Iterator for Scanner<'_> {
    type Item = Token;

    fn next(&mut self) -> Option<Token> {
        let start = self.end_of_run(self.at, |byte| {
            is_space(byte) || matches!(byte, b',' | b':')
        });
        let (kind, end) = match self.bytes.get(start)? {
            b'{' => (TokenKind::OpenObject, start + 1),
            b'[' => (TokenKind::OpenArray, start + 1),
            b'}' | b']' => (TokenKind::Close, start + 1),
            b'"' => {
                let end = self.string_end(start);
                let next = self.bytes.get(self.end_of_run(end, is_space));
                let is_key = next == Some(&b':');
                (
                    if is_key {
                        TokenKind::Key
                    } else {
                        TokenKind::String
                    },
                    end,
                )
            }
            first => {
                let kind = match first {
                    b't' => TokenKind::True,
                    b'f' => TokenKind::False,
                    b'n' => TokenKind::Null,
                    _ => TokenKind::Number,
                };
                let in_scalar = |byte| !is_space(byte) && !matches!(byte, b',' | b']' | b'}');
                (kind, self.end_of_run(start + 1, in_scalar))
            }
        };
        self.at = end;
        Some(Token { kind, start, end })
    }
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}
