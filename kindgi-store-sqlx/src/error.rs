//! Errors: of opening a store, and of a statement.

use std::{error, fmt};

use kindgi_core::{BoxError, StoreError};

/// Why a store could not be opened.
#[derive(Debug)]
pub struct OpenError {
    kind: OpenErrorKind,
    message: String,
    source: Option<BoxError>,
}

/// What kind of trouble an [`OpenError`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum OpenErrorKind {
    /// The URL, the table prefix or another setting can't be used.
    Config,
    /// The database's schema is newer than this code: update the code, not the schema.
    SchemaTooNew,
    /// The database could not be reached, or failed.
    Database,
}

impl OpenError {
    pub(crate) fn config(message: impl Into<String>) -> Self {
        Self::of(OpenErrorKind::Config, message.into())
    }

    pub(crate) fn too_new(message: impl Into<String>) -> Self {
        Self::of(OpenErrorKind::SchemaTooNew, message.into())
    }

    fn of(kind: OpenErrorKind, message: String) -> Self {
        let source = None;
        Self {
            kind,
            message,
            source,
        }
    }

    /// What kind of trouble this is.
    pub fn kind(&self) -> OpenErrorKind {
        self.kind
    }
}

impl From<DbError> for OpenError {
    fn from(e: DbError) -> Self {
        let message = "the database could not be reached, or failed".to_owned();
        let mut error = Self::of(OpenErrorKind::Database, message);
        error.source = Some(Box::new(e));
        error
    }
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl error::Error for OpenError {
    fn source(&self) -> Option<&(dyn error::Error + 'static)> {
        self.source.as_deref().map(|e| e as _)
    }
}

/// What a statement, or the way to it, came to.
#[derive(Debug)]
pub(crate) enum DbError {
    /// Not in time: a lock, a timeout, no free connection.
    Busy(BoxError),
    /// Another transaction stood in the way; tried again, it may not.
    Conflict(BoxError),
    /// The connection broke, or was ended. What it had not committed is undone.
    Gone(BoxError),
    /// A document is larger than the database carries.
    TooLarge(BoxError),
    /// Anything else.
    Other(BoxError),
}

impl DbError {
    pub(crate) fn other(e: impl Into<BoxError>) -> Self {
        Self::Other(e.into())
    }

    /// What is stored can't be read back as what it should be.
    pub(crate) fn corrupt(what: &'static str) -> Self {
        Self::other(format!(
            "the database holds {what} that this code didn't write"
        ))
    }

    /// The same trouble, for each of several that it befell.
    pub(crate) fn again(&self) -> Self {
        let message = self.to_string();
        match self {
            Self::Busy(_) => Self::Busy(message.into()),
            Self::Conflict(_) => Self::Conflict(message.into()),
            Self::Gone(_) => Self::Gone(message.into()),
            Self::TooLarge(_) => Self::TooLarge(message.into()),
            Self::Other(_) => Self::Other(message.into()),
        }
    }
}

impl From<DbError> for StoreError {
    fn from(e: DbError) -> Self {
        match e {
            DbError::Busy(e) | DbError::Conflict(e) | DbError::Gone(e) => Self::busy(e),
            DbError::TooLarge(e) => Self::too_large(e),
            DbError::Other(e) => Self::other(e),
        }
    }
}

impl fmt::Display for DbError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Busy(e)
            | Self::Conflict(e)
            | Self::Gone(e)
            | Self::TooLarge(e)
            | Self::Other(e) => write!(f, "{e}"),
        }
    }
}

impl error::Error for DbError {
    fn source(&self) -> Option<&(dyn error::Error + 'static)> {
        match self {
            Self::Busy(e)
            | Self::Conflict(e)
            | Self::Gone(e)
            | Self::TooLarge(e)
            | Self::Other(e) => e.source(),
        }
    }
}
