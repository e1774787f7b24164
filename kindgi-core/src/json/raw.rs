//! One JSON value's text, checked once.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::Range;
use std::str::FromStr;
use std::sync::Arc;

use bytes::Bytes;

use super::string::push_quoted;
use super::writer::{ArrayWriter, ObjectWriter, Writer};

/// How many characters of the text `Debug` shows.
const SHOWN: usize = 64;

/// The text of one JSON value (RFC 8259), kept as it was written.
///
/// It is checked once, by [`parse`](Self::parse), and never again: clones and slices share the text. Inside the
/// value everything stays: white space, number text (`1.10`, `1e400`), escapes (lone surrogates too), the order of
/// keys and duplicate keys. There is no limit on size or depth.
///
/// Two are equal when their texts are, byte for byte; compare [`canonical`](super::canonical) forms to look past
/// spelling.
///
/// ```
/// use kindgi_core::json::RawJson;
///
/// let raw = RawJson::parse(" {\"big\": 18446744073709551616}\n")?;
/// assert_eq!(raw.as_str(), "{\"big\": 18446744073709551616}");
/// # Ok::<(), kindgi_core::json::InvalidJson>(())
/// ```
#[derive(Clone)]
pub struct RawJson(Repr);

#[derive(Clone)]
enum Repr {
    Static(&'static str),
    /// The range lies on character boundaries and spans exactly one value. `Arc<String>` and not `Arc<str>`,
    /// because the latter would copy every body and every column that comes in.
    Shared(Arc<String>, Range<usize>),
}

impl RawJson {
    /// Checks that `text` is one JSON value in UTF-8 without a byte-order mark, and keeps it. White space around
    /// the value is left out.
    ///
    /// Takes `&str`, `String`, `&[u8]`, `Vec<u8>` and `Bytes`. What is owned, and not shared, isn't copied.
    ///
    /// # Errors
    ///
    /// [`InvalidJson`] says where the first fault is.
    pub fn parse(text: impl Into<Vec<u8>>) -> Result<Self, InvalidJson> {
        let text = String::from_utf8(text.into()).map_err(|error| {
            InvalidJson::new(format!(
                "invalid UTF-8 after byte {}",
                error.utf8_error().valid_up_to()
            ))
        })?;
        if text.starts_with('\u{feff}') {
            return Err(InvalidJson::new("starts with a byte-order mark".to_owned()));
        }
        // `IgnoredAny` makes serde_json check the syntax in a loop: no recursion, no limit on depth, and no number
        // or key is interpreted, so the host's choice of its features changes nothing.
        serde_json::from_str::<serde::de::IgnoredAny>(&text)
            .map_err(|error| InvalidJson::new(error.to_string()))?;
        let is_space = |c: char| matches!(c, ' ' | '\t' | '\n' | '\r');
        let start = text.len() - text.trim_start_matches(is_space).len();
        let end = text.trim_end_matches(is_space).len();
        Ok(Self(Repr::Shared(Arc::new(text), start..end)))
    }

    /// From the text that [`as_str`](Self::as_str) gave, for a backend that kept it. Nothing is checked again: any
    /// other text makes answers that are no JSON.
    #[must_use]
    pub fn from_stored(text: String) -> Self {
        Self::trusted(text)
    }

    /// `null`.
    #[must_use]
    pub const fn null() -> Self {
        Self(Repr::Static("null"))
    }

    /// `true` or `false`.
    #[must_use]
    pub const fn from_bool(value: bool) -> Self {
        Self(Repr::Static(if value { "true" } else { "false" }))
    }

    /// A JSON string with this content, escaped where it must be and nowhere else.
    #[must_use]
    pub fn string(content: &str) -> Self {
        let mut text = String::with_capacity(content.len() + 2);
        push_quoted(&mut text, content);
        Self::trusted(text)
    }

    /// A compact object; see [`Writer::object`].
    #[must_use]
    pub fn object(members: impl FnOnce(&mut ObjectWriter<'_>)) -> Self {
        Self::trusted(Writer::object(members))
    }

    /// A compact array; see [`Writer::array`].
    #[must_use]
    pub fn array(items: impl FnOnce(&mut ArrayWriter<'_>)) -> Self {
        Self::trusted(Writer::array(items))
    }

    /// The value's text. Costs nothing.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match &self.0 {
            Repr::Static(text) => text,
            Repr::Shared(text, range) => text.get(range.clone()).unwrap_or_default(),
        }
    }

    /// The value's text in UTF-8. Costs nothing.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        self.as_str().as_bytes()
    }

    /// The value's text as `Bytes` that share it, without a copy.
    #[must_use]
    pub fn to_bytes(&self) -> Bytes {
        struct Owner(RawJson);
        impl AsRef<[u8]> for Owner {
            fn as_ref(&self) -> &[u8] {
                self.0.as_bytes()
            }
        }
        match &self.0 {
            Repr::Static(text) => Bytes::from_static(text.as_bytes()),
            Repr::Shared(..) => Bytes::from_owner(Owner(self.clone())),
        }
    }

    /// Whether the value is `null`.
    #[must_use]
    pub fn is_null(&self) -> bool {
        self.as_str() == "null"
    }

    /// The same value with a text of its own. A slice keeps the whole document it was cut from in memory: detach
    /// a small one that is to live longer.
    #[must_use]
    pub fn detached(&self) -> Self {
        match &self.0 {
            Repr::Shared(text, range) if range.len() < text.len() => {
                Self::trusted(self.as_str().to_owned())
            }
            Repr::Static(_) | Repr::Shared(..) => self.clone(),
        }
    }

    /// Keeps a text that is known to be one JSON value without white space around it.
    pub(crate) fn trusted(text: String) -> Self {
        let range = 0..text.len();
        Self(Repr::Shared(Arc::new(text), range))
    }

    /// The value at these byte offsets of [`as_str`](Self::as_str), sharing the text. The range must span exactly
    /// one value, as the scanner's tokens do.
    pub(crate) fn slice(&self, range: Range<usize>) -> Self {
        debug_assert!(
            self.as_str()
                .get(range.clone())
                .is_some_and(|cut| !cut.is_empty()),
            "a slice spans one value"
        );
        match &self.0 {
            Repr::Static(text) => Self(Repr::Static(text.get(range).unwrap_or_default())),
            Repr::Shared(text, outer) => {
                let start = outer.start + range.start;
                Self(Repr::Shared(Arc::clone(text), start..start + range.len()))
            }
        }
    }
}

impl fmt::Display for RawJson {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The start of the text, and how long it is when that isn't all: documents are large, and often confidential.
impl fmt::Debug for RawJson {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self.as_str();
        match text.char_indices().nth(SHOWN) {
            None => write!(f, "RawJson({text})"),
            Some((cut, _)) => {
                let start = text.get(..cut).unwrap_or_default();
                write!(f, "RawJson({start}… {} bytes)", text.len())
            }
        }
    }
}

impl PartialEq for RawJson {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

impl Eq for RawJson {}

impl Hash for RawJson {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.as_str().hash(state);
    }
}

impl FromStr for RawJson {
    type Err = InvalidJson;

    fn from_str(text: &str) -> Result<Self, InvalidJson> {
        Self::parse(text)
    }
}

/// A text that isn't one JSON value. `Display` says what is wrong, and where: by line and column for the syntax,
/// by byte for the encoding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidJson {
    message: Box<str>,
}

impl InvalidJson {
    fn new(message: String) -> Self {
        Self {
            message: message.into_boxed_str(),
        }
    }
}

impl fmt::Display for InvalidJson {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "invalid JSON: {}", self.message)
    }
}

impl std::error::Error for InvalidJson {}
