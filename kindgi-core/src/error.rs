//! One opaque error for each layer: what the engine refuses, what a store can't do, what a host
//! can't answer.

use std::{borrow::Cow, error, fmt};

/// Any error, boxed, as a source.
pub type BoxError = Box<dyn error::Error + Send + Sync>;

/// Why the engine refused or failed.
///
/// Opaque, so that it can grow: ask [`kind`](Error::kind), or a predicate such as
/// [`is_busy`](Error::is_busy). The message is meant for the caller and never says more than the
/// caller may know.
pub struct Error(Box<Repr>);

struct Repr {
    kind: ErrorKind,
    message: Cow<'static, str>,
    field: Option<String>,
    source: Option<BoxError>,
}

/// What kind of refusal or failure an [`Error`] is.
///
/// Each kind but the last three is one error code of the API.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// A value breaks a rule that its type can't hold alone (`bad-input`).
    BadInput,
    /// The pointer resolves to nothing in the run's output (`item-not-found`).
    ItemNotFound,
    /// The judge class is unknown, retired or of another scope (`judge-class-not-applicable`).
    JudgeClassNotApplicable,
    /// The caller may read this, but not do it (`permission-denied`).
    PermissionDenied,
    /// The judge class is restricted and the caller doesn't meet it (`judge-class-not-allowed`).
    JudgeClassNotAllowed,
    /// No such run for this caller (`run-not-found`).
    RunNotFound,
    /// No such project for this caller (`project-not-found`).
    ProjectNotFound,
    /// No such judgment for this caller, or no live one (`judgment-not-found`).
    JudgmentNotFound,
    /// No such judge class for this caller, or no live one (`judge-class-not-found`).
    JudgeClassNotFound,
    /// No such judging rule for this caller, or no live one (`judging-rule-not-found`).
    JudgingRuleNotFound,
    /// The run isn't in the project's judging queue (`judging-item-not-found`).
    JudgingItemNotFound,
    /// The run has no output to judge yet, or never will (`run-not-finished`).
    RunNotFinished,
    /// A live judge class of the scope has this name (`judge-class-name-taken`).
    JudgeClassNameTaken,
    /// The item can't move from the state it is in (`judging-item-not-open`).
    JudgingItemNotOpen,
    /// The run's content was erased (`run-erased`).
    RunErased,
    /// The operation took effect before with another body
    /// (`idempotency-key-body-mismatch`).
    OtherBody,
    /// A document is larger than the store carries; nothing was stored.
    TooLarge,
    /// The store or the host could not answer in time; trying again may help.
    Busy,
    /// The store or the host failed.
    Internal,
}

impl Error {
    /// An error of this kind, with a message for the caller.
    pub fn new(kind: ErrorKind, message: impl Into<Cow<'static, str>>) -> Self {
        Self(Box::new(Repr {
            kind,
            message: message.into(),
            field: None,
            source: None,
        }))
    }

    /// Names the field at fault, as a JSON Pointer into the request's body.
    #[must_use]
    pub fn with_field(mut self, field: impl Into<String>) -> Self {
        self.0.field = Some(field.into());
        self
    }

    /// Adds what caused it.
    #[must_use]
    pub fn with_source(mut self, source: impl Into<BoxError>) -> Self {
        self.0.source = Some(source.into());
        self
    }

    /// What kind of refusal or failure this is.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// The message, for the caller.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// The field at fault, as a JSON Pointer into the request's body, where there is one.
    pub fn field(&self) -> Option<&str> {
        self.0.field.as_deref()
    }

    /// Whether the store or the host could not answer in time, so that trying again may help.
    pub fn is_busy(&self) -> bool {
        self.kind() == ErrorKind::Busy
    }

    /// Whether the caller asked for something that doesn't exist for them.
    pub fn is_not_found(&self) -> bool {
        matches!(
            self.kind(),
            ErrorKind::RunNotFound
                | ErrorKind::ProjectNotFound
                | ErrorKind::JudgmentNotFound
                | ErrorKind::JudgeClassNotFound
                | ErrorKind::JudgingRuleNotFound
        )
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Error")
            .field("kind", &self.0.kind)
            .field("message", &self.0.message)
            .field("field", &self.0.field)
            .field("source", &self.0.source)
            .finish()
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)?;
        match &self.0.field {
            Some(field) => write!(f, " (at {field:?})"),
            None => Ok(()),
        }
    }
}

impl error::Error for Error {
    fn source(&self) -> Option<&(dyn error::Error + 'static)> {
        self.0.source.as_deref().map(|e| e as _)
    }
}

impl From<StoreError> for Error {
    fn from(e: StoreError) -> Self {
        let (kind, message) = match e.kind() {
            StoreErrorKind::Busy => (ErrorKind::Busy, "the store is too busy to answer in time"),
            StoreErrorKind::TooLarge => (
                ErrorKind::TooLarge,
                "a document is larger than the store carries",
            ),
            StoreErrorKind::Other => (ErrorKind::Internal, "the store failed"),
        };
        Self::new(kind, message).with_source(e)
    }
}

impl From<HostError> for Error {
    fn from(e: HostError) -> Self {
        let (kind, message) = match e.kind() {
            HostErrorKind::Busy => (ErrorKind::Busy, "the host is too busy to answer in time"),
            HostErrorKind::Other => (ErrorKind::Internal, "the host failed"),
        };
        Self::new(kind, message).with_source(e)
    }
}

/// A store's own trouble. What a transition decided is never an error, but an outcome.
#[derive(Debug)]
pub struct StoreError {
    kind: StoreErrorKind,
    source: BoxError,
}

/// What kind of trouble a [`StoreError`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum StoreErrorKind {
    /// Not in time: a lock or statement timeout, no free connection. Nothing was written.
    Busy,
    /// A document is larger than the backend carries. Nothing was written.
    TooLarge,
    /// Anything else. Whether something was written is unknown.
    Other,
}

impl StoreError {
    /// The store could not answer in time, and wrote nothing.
    pub fn busy(source: impl Into<BoxError>) -> Self {
        Self::of(StoreErrorKind::Busy, source)
    }

    /// A document is larger than the backend carries, and nothing was written.
    pub fn too_large(source: impl Into<BoxError>) -> Self {
        Self::of(StoreErrorKind::TooLarge, source)
    }

    /// The store failed.
    pub fn other(source: impl Into<BoxError>) -> Self {
        Self::of(StoreErrorKind::Other, source)
    }

    fn of(kind: StoreErrorKind, source: impl Into<BoxError>) -> Self {
        let source = source.into();
        Self { kind, source }
    }

    /// What kind of trouble this is.
    pub fn kind(&self) -> StoreErrorKind {
        self.kind
    }

    /// Whether trying again may help.
    pub fn is_busy(&self) -> bool {
        self.kind == StoreErrorKind::Busy
    }
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.kind {
            StoreErrorKind::Busy => "the store is busy",
            StoreErrorKind::TooLarge => "a document is too large for the store",
            StoreErrorKind::Other => "the store failed",
        })
    }
}

impl error::Error for StoreError {
    fn source(&self) -> Option<&(dyn error::Error + 'static)> {
        Some(&*self.source)
    }
}

/// A host's own trouble while it answers the engine.
///
/// It becomes a server error on the wire, never a "may not" or a "not found": a permission
/// service that is down must not look like a refusal.
#[derive(Debug)]
pub struct HostError {
    kind: HostErrorKind,
    source: BoxError,
}

/// What kind of trouble a [`HostError`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum HostErrorKind {
    /// Not in time; trying again may help.
    Busy,
    /// Anything else.
    Other,
}

impl HostError {
    /// The host failed.
    pub fn new(source: impl Into<BoxError>) -> Self {
        let source = source.into();
        let kind = HostErrorKind::Other;
        Self { kind, source }
    }

    /// The host could not answer in time.
    pub fn busy(source: impl Into<BoxError>) -> Self {
        let source = source.into();
        let kind = HostErrorKind::Busy;
        Self { kind, source }
    }

    /// What kind of trouble this is.
    pub fn kind(&self) -> HostErrorKind {
        self.kind
    }

    /// Whether trying again may help.
    pub fn is_busy(&self) -> bool {
        self.kind == HostErrorKind::Busy
    }
}

impl fmt::Display for HostError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.kind {
            HostErrorKind::Busy => "the host is busy",
            HostErrorKind::Other => "the host failed",
        })
    }
}

impl error::Error for HostError {
    fn source(&self) -> Option<&(dyn error::Error + 'static)> {
        Some(&*self.source)
    }
}
