//! From outcomes to HTTP answers: the only file with status codes.

use bytes::Bytes;
use http::{
    HeaderValue, Response, StatusCode,
    header::{ALLOW, CACHE_CONTROL, CONTENT_LENGTH, CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE},
};
use kindgi_core::json::Writer;

use crate::{
    body::ResponseBody,
    refusal::{Code, Refusal},
    request_id::{RequestId, X_REQUEST_ID},
};

/// How long a client should wait when the store is busy, in seconds.
const BUSY_RETRY_AFTER: u64 = 1;

/// What a handler answers.
#[derive(Debug)]
pub(crate) struct Answer {
    status: StatusCode,
    body: String,
}

impl Answer {
    /// 200, with this JSON.
    pub(crate) fn ok(body: String) -> Self {
        let status = StatusCode::OK;
        Self { status, body }
    }

    /// 201, with this JSON.
    pub(crate) fn created(body: String) -> Self {
        let status = StatusCode::CREATED;
        Self { status, body }
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
            Self::RunErased => ("run-erased", S::GONE),
            Self::RequestTooLarge => ("request-too-large", S::PAYLOAD_TOO_LARGE),
            Self::UnsupportedMediaType => ("unsupported-media-type", S::UNSUPPORTED_MEDIA_TYPE),
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
        Ok(answer) => json(answer.status, answer.body),
        Err(refusal) => refused(&refusal, id),
    };
    if is_head {
        let length = response.body().len();
        *response.body_mut() = ResponseBody::default();
        response
            .headers_mut()
            .insert(CONTENT_LENGTH, HeaderValue::from(length));
    }
    let headers = response.headers_mut();
    headers.insert(X_REQUEST_ID, id.header_value());
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

fn json(status: StatusCode, body: String) -> Response<ResponseBody> {
    let mut response = Response::new(ResponseBody::from(Bytes::from(body)));
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
            if refusal.field.is_some() || max_bytes.is_some() {
                o.object("details", |o| {
                    o.opt_str("field", refusal.field.as_deref());
                    if !refusal.fields.is_empty() {
                        o.array("fields", |a| refusal.fields.iter().for_each(|f| a.str(f)));
                    }
                    o.opt_u64("maxBytes", max_bytes);
                });
            }
            o.str("requestId", id.as_str());
        });
    });
    let mut response = json(status, body);
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
    if let Some(allow) = refusal.allow {
        headers.insert(ALLOW, HeaderValue::from_static(allow));
    }
    response
}
