//! One spelling for equal documents.

use super::raw::RawJson;
use super::scan::{Scanner, Token, TokenKind};
use super::string::{CodePoint, code_points, push_respelled};

/// The document with its members sorted by name (by code point), without white space, with numbers as they were
/// sent, and in strings only `"`, `\` and what is below U+0020 escaped: in the short form where JSON has one, else
/// as `\u00xx` in lower case. Lone surrogates stay escapes, in lower case. Members with the same name are all kept,
/// in their order.
///
/// Takes memory in proportion to the text; depth needs no stack.
///
/// ```
/// use kindgi_core::json::{RawJson, canonical};
///
/// let raw = RawJson::parse(r#"{ "b": 1.10, "\u0061": "\/" }"#)?;
/// assert_eq!(canonical(&raw), r#"{"a":"/","b":1.10}"#);
/// # Ok::<(), kindgi_core::json::InvalidJson>(())
/// ```
#[must_use]
pub fn canonical(document: &RawJson) -> String {
    let source = document.as_str();
    Outline::of(source).write(source)
}

/// The values of a document in the order of its text, each with those directly in it.
///
/// Sorting the text of finished objects would copy the innermost once per level; this writes every value once.
struct Outline<'a> {
    values: Vec<Value<'a>>,
}

struct Value<'a> {
    token: Token,
    children: Vec<Child<'a>>,
}

struct Child<'a> {
    /// What stands between the quotes of a member's name; `None` for an item.
    key: Option<&'a str>,
    /// Which value it is.
    value: usize,
}

impl<'a> Outline<'a> {
    fn of(source: &'a str) -> Self {
        let mut values: Vec<Value<'a>> = Vec::new();
        let mut open: Vec<usize> = Vec::new();
        let mut key = None;
        for token in Scanner::new(source) {
            match token.kind {
                TokenKind::Key => key = Some(token.body(source)),
                TokenKind::Close => {
                    let closed = open.pop().and_then(|index| values.get_mut(index));
                    if let Some(Value { token, children }) = closed
                        && token.kind == TokenKind::OpenObject
                    {
                        // Stable, so members with the same name keep their order.
                        children.sort_by(|a, b| name(a).cmp(name(b)));
                    }
                }
                _ => {
                    let index = values.len();
                    if let Some(parent) = open.last().and_then(|parent| values.get_mut(*parent)) {
                        parent.children.push(Child {
                            key: key.take(),
                            value: index,
                        });
                    }
                    values.push(Value {
                        token,
                        children: Vec::new(),
                    });
                    if matches!(token.kind, TokenKind::OpenObject | TokenKind::OpenArray) {
                        open.push(index);
                    }
                }
            }
        }
        Self { values }
    }

    fn write(&self, source: &str) -> String {
        let mut out = String::with_capacity(source.len());
        // The containers being written: which value, and how many of its children are done.
        let mut open: Vec<(&Value<'_>, usize)> = Vec::new();
        let mut next = self.values.first();
        loop {
            if let Some(value) = next.take() {
                match value.token.kind {
                    TokenKind::OpenObject => out.push('{'),
                    TokenKind::OpenArray => out.push('['),
                    TokenKind::String => push_respelled(&mut out, value.token.body(source)),
                    _ => out.push_str(value.token.text(source)),
                }
                if matches!(
                    value.token.kind,
                    TokenKind::OpenObject | TokenKind::OpenArray
                ) {
                    open.push((value, 0));
                }
            }
            let Some((container, done)) = open.last_mut() else {
                return out;
            };
            if let Some(child) = container.children.get(*done) {
                if *done > 0 {
                    out.push(',');
                }
                *done += 1;
                if let Some(key) = child.key {
                    push_respelled(&mut out, key);
                    out.push(':');
                }
                next = self.values.get(child.value);
            } else {
                let is_object = container.token.kind == TokenKind::OpenObject;
                out.push(if is_object { '}' } else { ']' });
                open.pop();
            }
        }
    }
}

fn name<'a>(child: &Child<'a>) -> impl Iterator<Item = u32> + use<'a> {
    code_points(child.key.unwrap_or_default()).map(CodePoint::value)
}
