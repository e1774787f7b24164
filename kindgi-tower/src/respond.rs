//! From outcomes to HTTP answers: the only file with status codes.

use std::time::Duration;

use bytes::Bytes;
use http::{
    HeaderValue, Response, StatusCode,
    header::{
        ALLOW, CACHE_CONTROL, CONTENT_LENGTH, CONTENT_TYPE, ETAG, RETRY_AFTER, WWW_AUTHENTICATE,
    },
};
use kindgi_core::{
    idempotency::{About, KeptAnswer, Outcome},
    json::Writer,
};

use crate::{
    body::ResponseBody,
    idempotency::X_IDEMPOTENT_REPLAY,
    refusal::{Code, Refusal},
    request_id::{RequestId, X_REQUEST_ID},
};

/// How long a client should wait when the store is busy, in seconds.
const BUSY_RETRY_AFTER: u64 = 1;

/// For how long the document may be kept without asking again: five minutes, so that a new
/// deployment's is soon seen.
const PUBLIC: &str = "public, max-age=300";

/// What a handler answers.
#[derive(Debug)]
pub(crate) struct Answer {
    status: StatusCode,
    body: Bytes,
    about: Vec<About>,
    is_replay: bool,
    /// Of an answer that anyone may cache.
    etag: Option<HeaderValue>,
}

impl Answer {
    fn new(status: StatusCode, body: impl Into<Bytes>) -> Self {
        Self {
            status,
            body: body.into(),
            about: Vec::new(),
            is_replay: false,
            etag: None,
        }
    }

    /// 200, with this JSON.
    pub(crate) fn ok(body: String) -> Self {
        Self::new(StatusCode::OK, body)
    }

    /// 201, with this JSON.
    pub(crate) fn created(body: String) -> Self {
        Self::new(StatusCode::CREATED, body)
    }

    /// The API's own document.
    #[cfg(feature = "openapi")]
    pub(crate) fn document(json: Bytes, etag: HeaderValue) -> Self {
        Self {
            etag: Some(etag),
            ..Self::new(StatusCode::OK, json)
        }
    }

    /// The client has the document already.
    #[cfg(feature = "openapi")]
    pub(crate) fn not_modified(etag: HeaderValue) -> Self {
        Self {
            etag: Some(etag),
            ..Self::new(StatusCode::NOT_MODIFIED, Bytes::new())
        }
    }

    /// Says what the answer tells of, so that it is forgotten with that.
    pub(crate) fn about(mut self, about: About) -> Self {
        self.about.push(about);
        self
    }

    /// The answer as it is kept for an idempotency key, and what it tells of.
    pub(crate) fn kept(&self) -> (Outcome, &[About]) {
        let answer = KeptAnswer {
            status: self.status.as_u16(),
            headers: Vec::new(),
            body: self.body.clone(),
        };
        (Outcome::Answer(answer), &self.about)
    }

    /// The same, as that of a request that was done before, if it was.
    pub(crate) fn replay_if(mut self, replayed: bool) -> Self {
        self.is_replay |= replayed;
        self
    }

    /// The answer that was kept.
    pub(crate) fn replayed(kept: KeptAnswer) -> Result<Self, Refusal> {
        let status = StatusCode::from_u16(kept.status).map_err(|_| Refusal::internal())?;
        Ok(Self {
            is_replay: true,
            ..Self::new(status, kept.body)
        })
    }
}

impl Code {
    /// Its name and its status, as the API's list of error codes has them.
    pub(crate) const fn facts(self) -> (&'static str, StatusCode) {
        use StatusCode as S;
        match self {
            Self::BadInput => ("bad-input", S::BAD_REQUEST),
            Self::UnknownField => ("unknown-field", S::BAD_REQUEST),
            Self::ScopeInvalid => ("scope-invalid", S::BAD_REQUEST),
            Self::ItemNotFound => ("item-not-found", S::BAD_REQUEST),
            Self::JudgeClassNotApplicable => ("judge-class-not-applicable", S::BAD_REQUEST),
            Self::AuthMissing => ("auth-missing", S::UNAUTHORIZED),
            Self::AuthExpired => ("auth-expired", S::UNAUTHORIZED),
            Self::AuthRevoked => ("auth-revoked", S::UNAUTHORIZED),
            Self::PermissionDenied => ("permission-denied", S::FORBIDDEN),
            Self::JudgeClassNotAllowed => ("judge-class-not-allowed", S::FORBIDDEN),
            Self::NotFound => ("not-found", S::NOT_FOUND),
            Self::RunNotFound => ("run-not-found", S::NOT_FOUND),
            Self::ProjectNotFound => ("project-not-found", S::NOT_FOUND),
            Self::JudgmentNotFound => ("judgment-not-found", S::NOT_FOUND),
            Self::JudgeClassNotFound => ("judge-class-not-found", S::NOT_FOUND),
            Self::JudgingRuleNotFound => ("judging-rule-not-found", S::NOT_FOUND),
            Self::JudgingItemNotFound => ("judging-item-not-found", S::NOT_FOUND),
            Self::MethodNotAllowed => ("method-not-allowed", S::METHOD_NOT_ALLOWED),
            Self::RunNotFinished => ("run-not-finished", S::CONFLICT),
            Self::JudgeClassNameTaken => ("judge-class-name-taken", S::CONFLICT),
            Self::JudgingItemNotOpen => ("judging-item-not-open", S::CONFLICT),
            Self::KeyBodyMismatch => ("idempotency-key-body-mismatch", S::CONFLICT),
            Self::KeyInFlight => ("idempotency-key-in-flight", S::CONFLICT),
            Self::KeyReplayWithheld => ("idempotency-key-replay-withheld", S::CONFLICT),
            Self::RunErased => ("run-erased", S::GONE),
            Self::RequestTooLarge => ("request-too-large", S::PAYLOAD_TOO_LARGE),
            Self::UnsupportedMediaType => ("unsupported-media-type", S::UNSUPPORTED_MEDIA_TYPE),
            Self::RateLimitExceeded => ("rate-limit-exceeded", S::TOO_MANY_REQUESTS),
            Self::InternalServerError => ("internal-server-error", S::INTERNAL_SERVER_ERROR),
            Self::DatabaseBusy => ("database-busy", S::SERVICE_UNAVAILABLE),
        }
    }
}

/// The answer, complete with headers; of a HEAD request's, all but the body.
pub(crate) fn respond(
    outcome: Result<Answer, Refusal>,
    id: &RequestId,
    is_head: bool,
) -> Response<ResponseBody> {
    let mut response = match outcome {
        Ok(answer) => answered(answer),
        Err(refusal) => refused(&refusal, id),
    };
    if is_head && response.status() != StatusCode::NOT_MODIFIED {
        let length = response.body().len();
        *response.body_mut() = ResponseBody::default();
        response
            .headers_mut()
            .insert(CONTENT_LENGTH, HeaderValue::from(length));
    }
    let headers = response.headers_mut();
    headers.insert(X_REQUEST_ID, id.header_value());
    let no_store = HeaderValue::from_static("no-store");
    headers.entry(CACHE_CONTROL).or_insert(no_store);
    response
}

fn answered(answer: Answer) -> Response<ResponseBody> {
    let mut response = json(answer.status, answer.body);
    if answer.is_replay {
        let yes = HeaderValue::from_static("true");
        response.headers_mut().insert(X_IDEMPOTENT_REPLAY, yes);
    }
    if let Some(etag) = answer.etag {
        let headers = response.headers_mut();
        headers.insert(ETAG, etag);
        headers.insert(CACHE_CONTROL, HeaderValue::from_static(PUBLIC));
        if answer.status == StatusCode::NOT_MODIFIED {
            headers.remove(CONTENT_TYPE);
        }
    }
    response
}

fn json(status: StatusCode, body: Bytes) -> Response<ResponseBody> {
    let mut response = Response::new(ResponseBody::from(body));
    *response.status_mut() = status;
    let json = HeaderValue::from_static("application/json");
    response.headers_mut().insert(CONTENT_TYPE, json);
    response
}

fn refused(refusal: &Refusal, id: &RequestId) -> Response<ResponseBody> {
    let refusal = refusal.parts();
    let (code, status) = refusal.code.facts();
    let body = Writer::object(|o| {
        o.object("error", |o| {
            o.str("code", code);
            o.str("message", &refusal.message);
            let max_bytes = refusal.max_bytes.map(|n| n as u64);
            let has_details =
                refusal.field.is_some() || max_bytes.is_some() || refusal.withheld.is_some();
            if has_details {
                o.object("details", |o| {
                    o.opt_str("field", refusal.field.as_deref());
                    if !refusal.fields.is_empty() {
                        o.array("fields", |a| refusal.fields.iter().for_each(|f| a.str(f)));
                    }
                    o.opt_u64("maxBytes", max_bytes);
                    if let Some((status, at)) = refusal.withheld {
                        o.u64("status", status.into());
                        o.str("at", &at.to_string());
                    }
                });
            }
            o.str("requestId", id.as_str());
        });
    });
    let mut response = json(status, body.into());
    if let Some(cause) = &refusal.cause {
        #[cfg(feature = "tracing")]
        tracing::error!(
            request_id = id.as_str(),
            status = status.as_u16(),
            "{cause}"
        );
        response.extensions_mut().insert(cause.clone());
    }
    let headers = response.headers_mut();
    match status {
        StatusCode::UNAUTHORIZED => {
            headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        StatusCode::SERVICE_UNAVAILABLE => {
            headers.insert(RETRY_AFTER, HeaderValue::from(BUSY_RETRY_AFTER));
        }
        _ => {}
    }
    if let Some(retry_after) = refusal.retry_after {
        headers.insert(RETRY_AFTER, HeaderValue::from(whole_seconds(retry_after)));
    }
    if let Some(allow) = refusal.allow {
        headers.insert(ALLOW, HeaderValue::from_static(allow));
    }
    response
}

/// Rounded up, so that nobody comes back too soon.
fn whole_seconds(duration: Duration) -> u64 {
    let more = u64::from(duration.subsec_nanos() > 0);
    duration.as_secs().saturating_add(more).max(1)
}
