//! A small document as a tree, for strict decoding.

use std::fmt;
use std::mem;

use super::number::Number;
use super::raw::RawJson;
use super::scan::{Scanner, Token, TokenKind};
use super::string::Text;

/// One value of a small document, with all that is needed to refuse it with reasons: duplicate members are kept, in
/// order, numbers keep their text, and every value knows its own text.
///
/// Meant for the bodies of requests. For host documents, which may be large and deep, use
/// [`Pointer`](super::Pointer) over the text.
#[derive(Clone, Debug)]
pub struct Node {
    raw: RawJson,
    kind: Kind,
}

/// What a [`Node`] is.
#[derive(Clone, Debug)]
pub enum Kind {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A number, as written.
    Number(Number),
    /// A string, unescaped.
    String(Text),
    /// The items in order.
    Array(Vec<Node>),
    /// The members in order, duplicates included.
    Object(Vec<(Text, Node)>),
}

impl Node {
    /// The deepest nesting a tree is ever built for. Dropping or printing one recurses once per level, and this
    /// keeps that within any thread's stack.
    pub const MAX_DEPTH: usize = 512;

    /// Builds the tree. `max_depth` counts arrays and objects within each other: a scalar has depth 0, `[]` depth 1.
    /// More than [`MAX_DEPTH`](Self::MAX_DEPTH) is taken as that.
    ///
    /// # Errors
    ///
    /// [`TooDeep`] as soon as a deeper array or object opens.
    pub fn parse(document: &RawJson, max_depth: usize) -> Result<Self, TooDeep> {
        let max_depth = max_depth.min(Self::MAX_DEPTH);
        let mut open: Vec<Open> = Vec::new();
        let mut root = Self {
            raw: document.clone(),
            kind: Kind::Null,
        };
        for token in Scanner::new(document.as_str()) {
            let node = match token.kind {
                TokenKind::OpenObject | TokenKind::OpenArray => {
                    if open.len() >= max_depth {
                        return Err(TooDeep { max_depth });
                    }
                    open.push(Open::new(token));
                    continue;
                }
                TokenKind::Key => {
                    if let Some(parent) = open.last_mut() {
                        parent.key = Some(Text::unescape(token.body(document.as_str())));
                    }
                    continue;
                }
                TokenKind::Close => match open.pop() {
                    Some(closed) => Self {
                        raw: document.slice(closed.start..token.end),
                        kind: closed.kind,
                    },
                    None => continue,
                },
                TokenKind::String
                | TokenKind::Number
                | TokenKind::True
                | TokenKind::False
                | TokenKind::Null => Self::scalar(document, token),
            };
            match open.last_mut() {
                Some(parent) => parent.add(node),
                None => root = node,
            }
        }
        Ok(root)
    }

    fn scalar(document: &RawJson, token: Token) -> Self {
        let raw = document.slice(token.range());
        let kind = match token.kind {
            TokenKind::String => Kind::String(Text::unescape(token.body(document.as_str()))),
            TokenKind::Number => Kind::Number(Number::trusted(raw.clone())),
            TokenKind::True => Kind::Bool(true),
            TokenKind::False => Kind::Bool(false),
            _ => Kind::Null,
        };
        Self { raw, kind }
    }

    /// The value's text, a slice of the document's.
    #[must_use]
    pub fn raw(&self) -> RawJson {
        self.raw.clone()
    }

    /// What the value is.
    #[must_use]
    pub fn kind(&self) -> &Kind {
        &self.kind
    }
}

/// An array or object whose end hasn't come yet.
struct Open {
    start: usize,
    kind: Kind,
    /// The key whose value comes next.
    key: Option<Text>,
}

impl Open {
    fn new(token: Token) -> Self {
        let kind = if token.kind == TokenKind::OpenObject {
            Kind::Object(Vec::new())
        } else {
            Kind::Array(Vec::new())
        };
        Self {
            start: token.start,
            kind,
            key: None,
        }
    }

    fn add(&mut self, node: Node) {
        match &mut self.kind {
            Kind::Array(items) => items.push(node),
            Kind::Object(members) => {
                members.extend(mem::take(&mut self.key).map(|key| (key, node)))
            }
            Kind::Null | Kind::Bool(_) | Kind::Number(_) | Kind::String(_) => {}
        }
    }
}

/// A document with arrays and objects nested deeper than allowed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TooDeep {
    max_depth: usize,
}

impl TooDeep {
    /// The depth that was allowed.
    #[must_use]
    pub fn max_depth(&self) -> usize {
        self.max_depth
    }
}

impl fmt::Display for TooDeep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the JSON is nested deeper than {}", self.max_depth)
    }
}

impl std::error::Error for TooDeep {}
