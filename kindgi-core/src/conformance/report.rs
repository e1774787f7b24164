//! What is said of a law that doesn't hold.

use std::{error, fmt};

use crate::{BoxError, StoreError, json::InvalidJson, model::InvalidText};

/// Why a law doesn't hold, for a human: what was done, what should have come of it, what did.
pub struct Report {
    law: &'static str,
    case: Option<u32>,
    what: String,
}

impl Report {
    pub(crate) fn new(what: impl Into<String>) -> Self {
        Self {
            law: "",
            case: None,
            what: what.into(),
        }
    }

    pub(crate) fn of_law(self, law: &'static str) -> Self {
        Self { law, ..self }
    }

    pub(crate) fn with_context(self, context: impl fmt::Display) -> Self {
        Self {
            what: format!("{}\n{context}", self.what),
            ..self
        }
    }

    pub(crate) fn of_case(self, case: u32) -> Self {
        let case = Some(case);
        Self { case, ..self }
    }

    /// The law's name, which is its function's and its test's.
    pub fn law(&self) -> &'static str {
        self.law
    }

    /// Which of the law's generated cases failed first, counted from 1, before a smaller one was
    /// looked for; `None` if the law failed by what it does itself.
    pub fn case(&self) -> Option<u32> {
        self.case
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the law `{}` doesn't hold:\n{}", self.law, self.what)
    }
}

/// The same as `Display`, since this is what a failing test shows.
impl fmt::Debug for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl error::Error for Report {}

impl From<InvalidText> for Report {
    fn from(e: InvalidText) -> Self {
        Self::new(format!("the suite made a text that isn't valid: {e}"))
    }
}

impl From<InvalidJson> for Report {
    fn from(e: InvalidJson) -> Self {
        Self::new(format!("the suite made JSON that isn't valid: {e}"))
    }
}

impl From<StoreError> for Report {
    fn from(e: StoreError) -> Self {
        Self::new(format!("the store failed: {}", told(&e)))
    }
}

impl From<BoxError> for Report {
    fn from(e: BoxError) -> Self {
        Self::new(format!("the store could not be built: {}", told(&*e)))
    }
}

/// An error with its causes.
pub(crate) fn told(e: &(dyn error::Error + 'static)) -> String {
    let mut causes = vec![e.to_string()];
    let mut next = e.source();
    while let Some(e) = next {
        causes.push(e.to_string());
        next = e.source();
    }
    causes.join(": ")
}

/// Fails a law unless something holds.
pub(crate) fn ensure(holds: bool, otherwise: impl FnOnce() -> String) -> Result<(), Report> {
    if holds {
        Ok(())
    } else {
        Err(Report::new(otherwise()))
    }
}

/// Fails a law unless two values are equal.
pub(crate) fn ensure_eq<T: PartialEq + fmt::Debug>(
    what: &str,
    is: &T,
    should_be: &T,
) -> Result<(), Report> {
    ensure(is == should_be, || {
        format!("{what}:\n{}", difference(should_be, is))
    })
}

/// Two values that differ, as their lines that do where these can be told, else in full.
pub(crate) fn difference<T: fmt::Debug>(should_be: &T, is: &T) -> String {
    let (want, got) = (format!("{should_be:#?}"), format!("{is:#?}"));
    if want.lines().count() != got.lines().count() {
        return format!("  should be: {should_be:?}\n  the store: {is:?}");
    }
    let differing = want
        .lines()
        .zip(got.lines())
        .filter(|(want, got)| want != got);
    let shown: Vec<String> = differing
        .map(|(want, got)| format!("  should be: {}\n  the store: {}", want.trim(), got.trim()))
        .collect();
    if shown.is_empty() {
        // Debug shows only the start of a document.
        return format!("  should be and is shown alike, but differs: {should_be:?}");
    }
    shown.join("\n")
}
