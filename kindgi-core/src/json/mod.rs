//! JSON kept verbatim.
//!
//! A document that passes through is never turned into a tree of values and back: it stays the text it came as,
//! so that number text, escapes, the order of keys and duplicate keys survive, whatever features of `serde_json`
//! the host's build switches on.
//!
//! | type | for |
//! | --- | --- |
//! | [`RawJson`] | one value's text, checked once, cheap to clone and to slice |
//! | [`Pointer`] | an RFC 6901 JSON Pointer, resolved over the text |
//! | [`Node`] | a small document as a tree, for strict decoding |
//! | [`Number`] | a number's text, read exactly |
//! | [`canonical`] | one spelling for equal documents |
//! | [`Writer`] | compact answers with raw values spliced in |
//!
//! Nothing here recurses on a document, so depth costs memory in proportion and no stack. The one exception is
//! [`Node`], which refuses what is deeper than asked for.

mod canonical;
mod compact;
mod node;
mod number;
mod pointer;
mod raw;
mod scan;
mod shallow;
mod string;
mod walk;
mod writer;

pub use canonical::canonical;
pub use node::{Kind, Node, TooDeep};
pub use number::Number;
pub use pointer::{InvalidPointer, Pointer};
pub use raw::{InvalidJson, RawJson};
pub use string::{LoneSurrogate, Text};
pub use writer::{ArrayWriter, ObjectWriter, Writer};
