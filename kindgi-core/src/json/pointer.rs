//! JSON Pointers over raw text.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;
use std::str::FromStr;

use super::raw::RawJson;
use super::scan::{Scanner, TokenKind};
use super::string::{CodePoint, code_points};

/// A JSON Pointer (RFC 6901) in its string form.
///
/// ```
/// use kindgi_core::json::{Pointer, RawJson};
///
/// let document = RawJson::parse(r#"{"a/b": [1.10, 2]}"#)?;
/// let value = Pointer::parse("/a~1b/0")?.resolve(&document);
/// assert_eq!(value.map(|value| value.to_string()), Some("1.10".to_owned()));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Pointer(String);

impl Pointer {
    /// The pointer to the whole document, `""`.
    #[must_use]
    pub const fn root() -> Self {
        Self(String::new())
    }

    /// Reads the string form: `""`, or tokens that each begin with `/`, in which `~` stands only before `0` or `1`.
    ///
    /// # Errors
    ///
    /// [`InvalidPointer`] if it is anything else (RFC 6901 §3).
    pub fn parse(text: &str) -> Result<Self, InvalidPointer> {
        if !text.is_empty() && !text.starts_with('/') {
            return Err(InvalidPointer("must be empty or begin with `/`"));
        }
        if text
            .split('~')
            .skip(1)
            .any(|rest| !rest.starts_with(['0', '1']))
        {
            return Err(InvalidPointer("`~` must be followed by `0` or `1`"));
        }
        Ok(Self(text.to_owned()))
    }

    /// The string form.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether it points to the whole document.
    #[must_use]
    pub fn is_root(&self) -> bool {
        self.0.is_empty()
    }

    /// The reference tokens, unescaped.
    pub fn tokens(&self) -> impl Iterator<Item = Cow<'_, str>> {
        self.0.split('/').skip(1).map(unescape)
    }

    /// Appends a reference token: a member's name, unescaped.
    pub fn push(&mut self, token: &str) {
        self.0.push('/');
        for c in token.chars() {
            match c {
                '~' => self.0.push_str("~0"),
                '/' => self.0.push_str("~1"),
                c => self.0.push(c),
            }
        }
    }

    /// Appends an array index.
    pub fn push_index(&mut self, index: usize) {
        self.push(&index.to_string());
    }

    /// This pointer with one more reference token: a member's name, unescaped.
    #[must_use]
    pub fn child(&self, token: &str) -> Self {
        let mut child = self.clone();
        child.push(token);
        child
    }

    /// This pointer with one more array index.
    #[must_use]
    pub fn child_index(&self, index: usize) -> Self {
        let mut child = self.clone();
        child.push_index(index);
        child
    }

    /// The value this points to, as it stands in the document, or `None` if there is none (RFC 6901 §4).
    ///
    /// Names compare by their unescaped characters; a name with a lone surrogate escape equals no token. Of members
    /// with the same name the last counts, even when only an earlier one has the rest of the path. An array index
    /// is `0`, or digits that don't begin with `0`; `-` names no value.
    ///
    /// One pass over the text, whatever its depth and the number of tokens, with memory for the tokens alone.
    #[must_use]
    pub fn resolve(&self, document: &RawJson) -> Option<RawJson> {
        if self.is_root() {
            return Some(document.clone());
        }
        let steps: Vec<Step<'_>> = self.tokens().map(Step::new).collect();
        find(&steps, document.as_str()).map(|range| document.slice(range))
    }
}

impl fmt::Display for Pointer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for Pointer {
    type Err = InvalidPointer;

    fn from_str(text: &str) -> Result<Self, InvalidPointer> {
        Self::parse(text)
    }
}

/// `~1` first, then `~0`, so that `~01` is `~1` (RFC 6901 §4).
fn unescape(token: &str) -> Cow<'_, str> {
    if token.contains('~') {
        Cow::Owned(token.replace("~1", "/").replace("~0", "~"))
    } else {
        Cow::Borrowed(token)
    }
}

/// A reference token and what it means in an array, read once: a document may enter many arrays at one level.
struct Step<'a> {
    name: Cow<'a, str>,
    index: Option<usize>,
}

impl<'a> Step<'a> {
    fn new(name: Cow<'a, str>) -> Self {
        let digits = name.bytes().all(|byte| byte.is_ascii_digit());
        let leading_zero = name.len() > 1 && name.starts_with('0');
        let index = if digits && !leading_zero {
            name.parse().ok()
        } else {
            None
        };
        Self { name, index }
    }

    /// Whether a key, given as what stands between its quotes, is this token.
    fn is_key(&self, body: &str) -> bool {
        if !body.contains('\\') {
            return body == self.name;
        }
        code_points(body).eq(self.name.chars().map(CodePoint::Char))
    }
}

/// A container on the way to the target.
enum Frame {
    /// Whether the key just read is the one that is looked for.
    Object { at_key: bool },
    /// The index of the item that comes next.
    Array { next: usize },
}

/// Where the value at the end of `steps` is.
fn find(steps: &[Step<'_>], source: &str) -> Option<Range<usize>> {
    // The containers that lie on the path: the n-th is where step n is looked for.
    let mut frames: Vec<Frame> = Vec::new();
    // How many containers are open in a value that is passed over whole, and where it began if it is the target.
    let mut passing = 0usize;
    let mut target = None;
    let mut found = None;
    for token in Scanner::new(source) {
        let opens = matches!(token.kind, TokenKind::OpenObject | TokenKind::OpenArray);
        if passing > 0 {
            if opens {
                passing += 1;
            } else if token.kind == TokenKind::Close {
                passing -= 1;
                if passing == 0
                    && let Some(start) = target.take()
                {
                    found = Some(start..token.end);
                }
            }
            continue;
        }
        if token.kind == TokenKind::Close {
            frames.pop();
            continue;
        }
        let step = frames
            .len()
            .checked_sub(1)
            .and_then(|level| steps.get(level));
        if token.kind == TokenKind::Key {
            if let Some(Frame::Object { at_key }) = frames.last_mut() {
                *at_key = step.is_some_and(|step| step.is_key(token.body(source)));
            }
            continue;
        }
        let on_path = match frames.last_mut() {
            None => true,
            Some(Frame::Object { at_key }) => *at_key,
            Some(Frame::Array { next }) => {
                let index = *next;
                *next += 1;
                step.is_some_and(|step| step.index == Some(index))
            }
        };
        if on_path {
            // What was found before was under an earlier member of the same name.
            found = None;
        }
        let is_target = on_path && frames.len() == steps.len();
        match token.kind {
            TokenKind::OpenObject if on_path && !is_target => {
                frames.push(Frame::Object { at_key: false })
            }
            TokenKind::OpenArray if on_path && !is_target => frames.push(Frame::Array { next: 0 }),
            _ if opens => {
                passing = 1;
                target = is_target.then_some(token.start);
            }
            _ if is_target => found = Some(token.range()),
            _ => {}
        }
    }
    found
}

/// A text that is no JSON Pointer. `Display` says why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidPointer(&'static str);

impl fmt::Display for InvalidPointer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "invalid JSON Pointer: {}", self.0)
    }
}

impl std::error::Error for InvalidPointer {}
