//! Why a request was refused: an error code, a message, and what helps the caller to mend it.

use std::{borrow::Cow, error, fmt, sync::Arc, time::Duration};

use kindgi_core::{Error, ErrorKind, Timestamp, idempotency::KeptAnswer, json::Pointer};

/// How many unknown fields a refusal names.
const MAX_NAMED: usize = 100;

/// An error code of the API.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Code {
    BadInput,
    UnknownField,
    ScopeInvalid,
    ItemNotFound,
    JudgeClassNotApplicable,
    AuthMissing,
    AuthExpired,
    AuthRevoked,
    PermissionDenied,
    JudgeClassNotAllowed,
    NotFound,
    RunNotFound,
    ProjectNotFound,
    JudgmentNotFound,
    JudgeClassNotFound,
    JudgingRuleNotFound,
    JudgingItemNotFound,
    MethodNotAllowed,
    RunNotFinished,
    JudgeClassNameTaken,
    JudgingItemNotOpen,
    KeyBodyMismatch,
    KeyInFlight,
    KeyReplayWithheld,
    RunErased,
    RequestTooLarge,
    UnsupportedMediaType,
    RateLimitExceeded,
    InternalServerError,
    DatabaseBusy,
}

/// What lies behind an answer of 500 or 503, for the host: in the response's extensions, never
/// in its body. Its [source](error::Error::source) is the store's or the host's own error; it has
/// none where the service's time limit ran out or its line of writes is full.
///
/// With the feature `tracing` it is an error event, too, with the request's id.
///
/// ```
/// # fn log(_: &str) {}
/// fn look<B>(response: &http::Response<B>) {
///     if let Some(cause) = response.extensions().get::<kindgi_tower::Cause>() {
///         log(&cause.to_string());
///     }
/// }
/// ```
#[derive(Clone, Debug)]
pub struct Cause(Arc<Error>);

/// The error and all its sources, outermost first.
impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)?;
        let mut source = error::Error::source(&*self.0);
        while let Some(error) = source {
            write!(f, ": {error}")?;
            source = error.source();
        }
        Ok(())
    }
}

impl error::Error for Cause {
    fn source(&self) -> Option<&(dyn error::Error + 'static)> {
        error::Error::source(&*self.0)
    }
}

/// Why a handler has nothing of its own to answer.
pub(crate) enum Stop {
    /// It refused.
    Refused(Refusal),
    /// This was answered before.
    Replay(KeptAnswer),
}

impl From<Refusal> for Stop {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

/// A refusal, on its way to the answer.
#[derive(Debug)]
pub(crate) struct Refusal(Box<Parts>);

#[derive(Debug)]
pub(crate) struct Parts {
    pub(crate) code: Code,
    pub(crate) message: Cow<'static, str>,
    /// The place at fault: a JSON Pointer into the body, or a parameter's or header's name.
    pub(crate) field: Option<String>,
    /// The unknown fields, as JSON Pointers into the body.
    pub(crate) fields: Vec<String>,
    pub(crate) max_bytes: Option<usize>,
    /// The status that a withheld answer had, and when it was given.
    pub(crate) withheld: Option<(u16, Timestamp)>,
    /// When to try again.
    pub(crate) retry_after: Option<Duration>,
    /// The methods that the path has.
    pub(crate) allow: Option<&'static str>,
    /// What the caller isn't told.
    pub(crate) cause: Option<Cause>,
}

impl Refusal {
    pub(crate) fn new(code: Code, message: impl Into<Cow<'static, str>>) -> Self {
        Self(Box::new(Parts {
            code,
            message: message.into(),
            field: None,
            fields: Vec::new(),
            max_bytes: None,
            withheld: None,
            retry_after: None,
            allow: None,
            cause: None,
        }))
    }

    /// A fault of a parameter, a header or a place in the body.
    pub(crate) fn bad_input(
        field: impl Into<String>,
        message: impl Into<Cow<'static, str>>,
    ) -> Self {
        Self::new(Code::BadInput, message).at(field)
    }

    /// Names the first [`MAX_NAMED`] of them, so that the answer doesn't outgrow the body.
    pub(crate) fn unknown_fields(fields: &[Pointer]) -> Self {
        let named = fields.iter().take(MAX_NAMED).map(Pointer::to_string);
        let named: Vec<String> = named.collect();
        let mut message = format!("unknown field: {}", named.join(", "));
        if fields.len() > MAX_NAMED {
            message.push_str(&format!(" and {} more", fields.len() - MAX_NAMED));
        }
        let mut refusal = Self::new(Code::UnknownField, message);
        refusal.0.field = named.first().cloned();
        refusal.0.fields = named;
        refusal
    }

    pub(crate) fn too_large(max_bytes: usize) -> Self {
        let mut refusal = Self::new(Code::RequestTooLarge, "the request's body is too large");
        refusal.0.max_bytes = Some(max_bytes);
        refusal
    }

    /// The caller asks too often.
    pub(crate) fn rate_limited(retry_after: Duration) -> Self {
        let message = "there are too many requests of this caller";
        let mut refusal = Self::new(Code::RateLimitExceeded, message);
        refusal.0.retry_after = Some(retry_after);
        refusal
    }

    /// The key was used with another body.
    pub(crate) fn key_mismatch() -> Self {
        let message = "the idempotency key was used for another request";
        Self::new(Code::KeyBodyMismatch, message)
    }

    /// The first request with the key still runs.
    pub(crate) fn key_in_flight(retry_after: Duration) -> Self {
        let message = "the first request with this idempotency key still runs";
        let mut refusal = Self::new(Code::KeyInFlight, message);
        refusal.0.retry_after = Some(retry_after);
        refusal
    }

    /// The answer carried a secret, and isn't kept.
    pub(crate) fn key_withheld(status: u16, at: Timestamp) -> Self {
        let message = "the first request with this idempotency key succeeded, but its answer \
                       isn't kept, since it carried a secret";
        let mut refusal = Self::new(Code::KeyReplayWithheld, message);
        refusal.0.withheld = Some((status, at));
        refusal
    }

    pub(crate) fn method_not_allowed(allow: &'static str) -> Self {
        let mut refusal = Self::new(Code::MethodNotAllowed, "the path has no such method");
        refusal.0.allow = Some(allow);
        refusal
    }

    pub(crate) fn internal() -> Self {
        Self::new(Code::InternalServerError, "the server failed")
    }

    pub(crate) fn at(mut self, field: impl Into<String>) -> Self {
        self.0.field = Some(field.into());
        self
    }

    pub(crate) fn parts(&self) -> &Parts {
        &self.0
    }

    /// What the engine refused. Only a read may be answered as busy: whoever repeats a write
    /// must know what they do.
    pub(crate) fn from_engine(error: Error, is_read: bool) -> Self {
        let code = match error.kind() {
            ErrorKind::BadInput => Code::BadInput,
            ErrorKind::ItemNotFound => Code::ItemNotFound,
            ErrorKind::JudgeClassNotApplicable => Code::JudgeClassNotApplicable,
            ErrorKind::PermissionDenied => Code::PermissionDenied,
            ErrorKind::JudgeClassNotAllowed => Code::JudgeClassNotAllowed,
            ErrorKind::RunNotFound => Code::RunNotFound,
            ErrorKind::ProjectNotFound => Code::ProjectNotFound,
            ErrorKind::JudgmentNotFound => Code::JudgmentNotFound,
            ErrorKind::JudgeClassNotFound => Code::JudgeClassNotFound,
            ErrorKind::JudgingRuleNotFound => Code::JudgingRuleNotFound,
            ErrorKind::JudgingItemNotFound => Code::JudgingItemNotFound,
            ErrorKind::RunNotFinished => Code::RunNotFinished,
            ErrorKind::JudgeClassNameTaken => Code::JudgeClassNameTaken,
            ErrorKind::JudgingItemNotOpen => Code::JudgingItemNotOpen,
            ErrorKind::RunErased => Code::RunErased,
            ErrorKind::OtherBody => Code::KeyBodyMismatch,
            ErrorKind::TooLarge => Code::RequestTooLarge,
            ErrorKind::Busy if is_read => Code::DatabaseBusy,
            _ => Code::InternalServerError,
        };
        // Nothing of the server's own trouble is told to the caller.
        let is_own = matches!(code, Code::InternalServerError | Code::DatabaseBusy);
        let mut refusal = match code {
            Code::InternalServerError => Self::internal(),
            _ => Self::new(code, error.message().to_owned()),
        };
        refusal.0.field = error.field().map(str::to_owned);
        refusal.0.cause = is_own.then(|| Cause(Arc::new(error)));
        refusal
    }
}
