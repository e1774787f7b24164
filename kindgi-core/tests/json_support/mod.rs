//! Documents made from a model that knows where each value ends up in the text, so that what is read from the text
//! can be compared with what was written, without parsing.
#![allow(dead_code, unreachable_pub, clippy::unwrap_used)]

use std::ops::Range;

use kindgi_core::json::Pointer;
use proptest::prelude::*;

/// A string as code points; lone surrogates are code points too.
pub type Points = Vec<u32>;

#[derive(Clone, Debug)]
pub enum Doc {
    Literal(&'static str),
    Number(String),
    String(Points),
    Array(Vec<Doc>),
    Object(Vec<(Points, Doc)>),
}

/// Where a value stands in the text it was written to.
#[derive(Debug)]
pub struct Placed<'a> {
    pub doc: &'a Doc,
    pub span: Range<usize>,
    /// The items, or the values of the members.
    pub children: Vec<Placed<'a>>,
}

impl<'a> Placed<'a> {
    pub fn members(&self) -> impl DoubleEndedIterator<Item = (&'a Points, &Placed<'a>)> {
        let names: &'a [(Points, Doc)] = match self.doc {
            Doc::Object(members) => members,
            _ => &[],
        };
        names.iter().map(|(name, _)| name).zip(&self.children)
    }
}

pub fn points(text: &str) -> Points {
    text.chars().map(u32::from).collect()
}

/// The text, with U+FFFD for lone surrogates.
pub fn lossy(points: &[u32]) -> String {
    points
        .iter()
        .map(|point| char::from_u32(*point).unwrap_or('\u{fffd}'))
        .collect()
}

pub fn is_lone(point: u32) -> bool {
    (0xd800..0xe000).contains(&point)
}

/// An endless row of choices of how to spell things.
pub struct Choices<'a> {
    row: &'a [u8],
    at: usize,
}

impl<'a> Choices<'a> {
    pub fn new(row: &'a [u8]) -> Self {
        Self { row, at: 0 }
    }

    fn next(&mut self) -> u8 {
        self.at += 1;
        self.row[self.at % self.row.len()]
    }
}

/// Writes the document with the white space and the escapes that the choices say, and says where everything is.
pub fn write<'a>(doc: &'a Doc, choices: &mut Choices<'_>) -> (String, Placed<'a>) {
    let mut out = String::new();
    space(&mut out, choices);
    let placed = write_value(doc, choices, &mut out);
    space(&mut out, choices);
    (out, placed)
}

fn write_value<'a>(doc: &'a Doc, choices: &mut Choices<'_>, out: &mut String) -> Placed<'a> {
    let start = out.len();
    let mut children = Vec::new();
    match doc {
        Doc::Literal(text) => out.push_str(text),
        Doc::Number(text) => out.push_str(text),
        Doc::String(points) => write_string(points, choices, out),
        Doc::Array(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                space(out, choices);
                children.push(write_value(item, choices, out));
                space(out, choices);
            }
            if items.is_empty() {
                space(out, choices);
            }
            out.push(']');
        }
        Doc::Object(members) => {
            out.push('{');
            for (index, (name, value)) in members.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                space(out, choices);
                write_string(name, choices, out);
                space(out, choices);
                out.push(':');
                space(out, choices);
                children.push(write_value(value, choices, out));
                space(out, choices);
            }
            out.push('}');
        }
    }
    Placed {
        doc,
        span: start..out.len(),
        children,
    }
}

fn space(out: &mut String, choices: &mut Choices<'_>) {
    out.push_str(match choices.next() % 8 {
        0 => " ",
        1 => "\n\t",
        2 => "\r\n  ",
        _ => "",
    });
}

fn write_string(points: &[u32], choices: &mut Choices<'_>, out: &mut String) {
    out.push('"');
    for point in points {
        let style = choices.next() % 4;
        let short = [
            ('"', "\\\""),
            ('\\', "\\\\"),
            ('/', "\\/"),
            ('\u{8}', "\\b"),
            ('\u{c}', "\\f"),
            ('\n', "\\n"),
            ('\r', "\\r"),
            ('\t', "\\t"),
        ]
        .into_iter()
        .find(|(c, _)| u32::from(*c) == *point);
        match (char::from_u32(*point), short) {
            (Some(_), Some((_, text))) if style == 0 => out.push_str(text),
            (Some(c), _) if style < 2 && c >= ' ' && c != '"' && c != '\\' => out.push(c),
            (Some(c), _) => {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    out.push_str(&escape(*unit, style == 3));
                }
            }
            (None, _) => out.push_str(&escape(u16::try_from(*point).unwrap(), style == 3)),
        }
    }
    out.push('"');
}

fn escape(unit: u16, upper: bool) -> String {
    if upper {
        format!("\\u{unit:04X}")
    } else {
        format!("\\u{unit:04x}")
    }
}

/// What the pointer's tokens name in the document, read off the model.
pub fn naive_resolve(placed: &Placed<'_>, tokens: &[String]) -> Option<Range<usize>> {
    let Some((token, rest)) = tokens.split_first() else {
        return Some(placed.span.clone());
    };
    let next = match placed.doc {
        Doc::Array(_) => {
            let all_digits = !token.is_empty() && token.chars().all(|c| c.is_ascii_digit());
            if !all_digits || (token.len() > 1 && token.starts_with('0')) {
                return None;
            }
            placed.children.get(token.parse::<usize>().ok()?)?
        }
        _ => {
            placed
                .members()
                .rev()
                .find(|(name, _)| **name == points(token))?
                .1
        }
    };
    naive_resolve(next, rest)
}

/// The first place, in the order of the text, that one of the tests takes, read off the model. A member's name is
/// tested with the names before it.
pub fn naive_search(
    placed: &Placed<'_>,
    at: &Pointer,
    name_test: &dyn Fn(&Points, &[&Points]) -> bool,
    value_test: &dyn Fn(&Doc) -> bool,
) -> Option<Pointer> {
    if value_test(placed.doc) {
        return Some(at.clone());
    }
    if let Doc::Object(_) = placed.doc {
        let mut before = Vec::new();
        for (name, value) in placed.members() {
            let here = at.child(&lossy(name));
            if name_test(name, &before) {
                return Some(here);
            }
            before.push(name);
            if let Some(found) = naive_search(value, &here, name_test, value_test) {
                return Some(found);
            }
        }
        return None;
    }
    placed
        .children
        .iter()
        .enumerate()
        .find_map(|(index, item)| {
            naive_search(item, &at.child(&index.to_string()), name_test, value_test)
        })
}

/// Two neighbouring halves of a pair are one code point.
fn pair_up(points: Points) -> Points {
    let mut paired: Points = Vec::new();
    for point in points {
        match paired.last().copied() {
            Some(high @ 0xd800..=0xdbff) if (0xdc00..0xe000).contains(&point) => {
                paired.pop();
                paired.push(0x10000 + ((high - 0xd800) << 10) + (point - 0xdc00));
            }
            _ => paired.push(point),
        }
    }
    paired
}

fn any_points(max: usize, lone: bool) -> BoxedStrategy<Points> {
    // Names repeat often, are often indices, and sort differently by UTF-16 unit than by code point.
    let odd: &[char] = &[
        '"', '\\', '/', '~', '\0', '\u{1f}', '\n', '\u{8}', '\u{7f}', 'é', '\u{e000}', '\u{fffd}',
        '😀', '\u{2028}', ':', '{', ']', ',',
    ];
    let odd: Points = odd.iter().copied().map(u32::from).collect();
    let plain = prop::sample::select(points("ab01"));
    let odd = prop::sample::select(odd);
    let half = prop::sample::select(vec![0xd83du32, 0xd83e, 0xde00, 0xdbff, 0xdfff]);
    let any_char = any::<char>().prop_map(u32::from);
    let point = if lone {
        prop_oneof![8 => plain, 4 => odd, 1 => any_char, 1 => half].boxed()
    } else {
        prop_oneof![8 => plain, 4 => odd, 1 => any_char].boxed()
    };
    prop::collection::vec(point, 0..max)
        .prop_map(pair_up)
        .boxed()
}

pub const NUMBER: &str = r"-?(0|[1-9][0-9]{0,24})(\.[0-9]{1,6})?([eE][+-]?[0-9]{1,5})?";

/// Documents with duplicate names, odd names, and every kind of value; with lone surrogates if asked for.
pub fn documents(lone: bool) -> BoxedStrategy<Doc> {
    let leaf = prop_oneof![
        prop::sample::select(vec!["null", "true", "false"]).prop_map(Doc::Literal),
        NUMBER.prop_map(Doc::Number),
        any_points(8, lone).prop_map(Doc::String),
    ];
    leaf.prop_recursive(5, 48, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Doc::Array),
            prop::collection::vec((any_points(3, lone), inner), 0..6).prop_map(Doc::Object),
        ]
    })
    .boxed()
}

pub fn choices() -> BoxedStrategy<Vec<u8>> {
    prop::collection::vec(any::<u8>(), 1..40).boxed()
}

/// Tokens of a pointer that need not hit anything.
pub fn random_tokens() -> BoxedStrategy<Vec<String>> {
    let token = prop_oneof![
        any_points(3, false).prop_map(|points| lossy(&points)),
        prop::sample::select(vec![
            "0",
            "1",
            "2",
            "00",
            "01",
            "-",
            "+1",
            "-0",
            "1 ",
            "99999999999999999999999"
        ])
        .prop_map(str::to_owned),
    ];
    prop::collection::vec(token, 0..5).boxed()
}

/// Runs on a small stack, where recursion on a deep document would end the process.
pub fn on_small_stack(run: impl FnOnce() + Send + 'static) {
    let thread = std::thread::Builder::new()
        .stack_size(128 * 1024)
        .spawn(run)
        .unwrap();
    if let Err(panic) = thread.join() {
        std::panic::resume_unwind(panic);
    }
}
