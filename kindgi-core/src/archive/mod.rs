//! Archives as lines of text: one JSON object for each [record](crate::store::archive), as files
//! that end in `.ndjson` have it.
//!
//! ```text
//! {"format":"kindgi-archive","version":1}
//! {"record":"run","tenant":"acme","run":"run-1","erased":false,"copy":{…,"output":"{\"score\": 1.10}",…}}
//! {"record":"judgment","tenant":"acme","id":"…","verdict":"yes",…,"itemValue":"1.10"}
//! ```
//!
//! - The [first line](first_line) says which format it is.
//! - Copies of runs, their contexts and the values of items stand in JSON *strings*: so their text
//!   survives byte for byte, line breaks included, while a line stays a line.
//! - Times are milliseconds since the Unix epoch. What isn't there is left out.
//! - A field that isn't known, or that stands there twice, is refused: nothing is dropped silently.
//!
//! Lines end in `\n`, which [`to_line`] leaves to who writes them.

mod fields;
mod read;
mod receipts;
mod write;

use std::{error, fmt};

use self::fields::Fields;
use crate::{
    json::{RawJson, Writer},
    store::Record,
};

const FORMAT: &str = "kindgi-archive";
const VERSION: u64 = 1;

/// The line that an archive begins with.
pub fn first_line() -> String {
    Writer::object(|o| {
        o.str("format", FORMAT);
        o.u64("version", VERSION);
    })
}

/// Whether this is the line that an archive begins with.
///
/// # Errors
///
/// [`InvalidLine`] says what else it is, such as another version.
pub fn check_first_line(line: &str) -> Result<(), InvalidLine> {
    let mut fields = Fields::of_line(line)?;
    let format = fields.required("format")?;
    if format.text()? != FORMAT {
        return Err(format.must("be kindgi-archive"));
    }
    let version = fields.required("version")?;
    if version.number::<u64>()? != VERSION {
        return Err(version.must("be 1, the only version there is"));
    }
    fields.end()
}

/// A record as a line, without its end. No line holds a line break.
pub fn to_line(record: &Record) -> String {
    write::record(record)
}

/// From what [`to_line`] wrote.
///
/// # Errors
///
/// [`InvalidLine`] says which field is wrong, and why.
pub fn from_line(line: &str) -> Result<Record, InvalidLine> {
    read::record(Fields::of_line(line)?)
}

/// A line that is no record's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidLine {
    field: String,
    message: String,
}

impl InvalidLine {
    /// Which field, such as `copy.input` or `skipped.0.rule`; empty for the line as a whole.
    pub fn field(&self) -> &str {
        &self.field
    }
}

impl fmt::Display for InvalidLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &*self.field {
            "" => write!(f, "the line {}", self.message),
            field => write!(f, "`{field}` {}", self.message),
        }
    }
}

impl error::Error for InvalidLine {}

/// A document in a field's string.
fn document(text: &str) -> Option<RawJson> {
    let document = RawJson::parse(text).ok()?;
    // White space around it is no part of a document, and would be lost.
    (document.as_str().len() == text.len()).then_some(document)
}
