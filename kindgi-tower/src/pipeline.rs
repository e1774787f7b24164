//! A request's way: the API's order of checks, in one place.
//!
//! Route and method, authentication, rate limit, body size, media type; then, in the operation's handler,
//! the shape of the query, the path and the body, the idempotency key, and what the engine
//! checks: existence, permission, state. No check tells what an earlier one hides.

use std::{future::Future, panic::AssertUnwindSafe, sync::Arc, time::Duration};

use bytes::Bytes;
use futures_util::FutureExt;
use http::{
    HeaderMap, Method, Request, Response,
    header::{CONTENT_ENCODING, CONTENT_TYPE},
    request::Parts,
};
use http_body::Body;
use kindgi_core::{
    BoxError, Error, ErrorKind,
    engine::Engine,
    model::Principal,
    rate_limit::{RateDecision, RateLimiter},
};

use crate::{
    auth::{self, Authenticator},
    body::{self, ResponseBody},
    cursor::CursorKeys,
    handlers::Call,
    idempotency::HoldSlot,
    refusal::{Code, Refusal, Stop},
    request_id::RequestId,
    respond::{Answer, respond},
    route::Routes,
    writes::Writes,
};

/// What every request needs.
pub(crate) struct Shared {
    pub(crate) engine: Engine,
    pub(crate) authenticator: Option<Arc<dyn Authenticator>>,
    pub(crate) routes: Routes,
    #[cfg(feature = "openapi")]
    pub(crate) document: crate::openapi::Document,
    pub(crate) cursor_keys: Arc<CursorKeys>,
    pub(crate) rate_limiter: Option<Arc<dyn RateLimiter>>,
    pub(crate) writes: Writes,
    /// Without a trailing slash; empty at the root.
    pub(crate) base_path: String,
    pub(crate) max_body_bytes: usize,
    pub(crate) time_limit: Duration,
    pub(crate) trust_request_id_header: bool,
}

/// The answer to a request, whatever comes.
pub(crate) async fn serve<B>(shared: Arc<Shared>, request: Request<B>) -> Response<ResponseBody>
where
    B: Body + Send + 'static,
    B::Error: Into<BoxError>,
{
    let (parts, body) = request.into_parts();
    let trust = shared.trust_request_id_header;
    let id = RequestId::of(
        &parts.extensions,
        &parts.headers,
        trust,
        shared.engine.clock(),
    );
    let is_head = parts.method == Method::HEAD;
    // A panic of the host's must not cost the connection, nor the request its id.
    let answer = AssertUnwindSafe(answer(&shared, parts, body))
        .catch_unwind()
        .await;
    respond(
        answer.unwrap_or_else(|_| Err(Refusal::internal())),
        &id,
        is_head,
    )
}

async fn answer<B>(shared: &Shared, parts: Parts, body: B) -> Result<Answer, Refusal>
where
    B: Body + Send + 'static,
    B::Error: Into<BoxError>,
{
    let path = shared.own_path(parts.uri.path());
    #[cfg(feature = "openapi")]
    if let Some(answer) = shared.document.answer(&parts, path, &shared.base_path) {
        return answer;
    }
    let found = shared.routes.find(&parts.method, path)?;
    let is_read = matches!(parts.method, Method::GET | Method::HEAD);
    let limit = shared.time_limit;
    let who = auth::principal(shared.authenticator.as_deref(), &parts, is_read);
    let who = within(limit, is_read, who).await?;
    if let Some(limiter) = &shared.rate_limiter {
        within(limit, is_read, rate(&**limiter, &who, is_read)).await?;
    }
    let path = path.to_owned();
    let hold = HoldSlot::default();
    let mut call = Call {
        engine: shared.engine.clone(),
        who,
        found,
        query: parts.uri.query().map(str::to_owned),
        headers: parts.headers,
        body: Bytes::new(),
        method: parts.method,
        path,
        hold: hold.clone(),
        cursor_keys: Arc::clone(&shared.cursor_keys),
        is_read,
    };
    if is_read {
        return within(limit, is_read, answered(call)).await;
    }
    call.body = body::collect(body, shared.max_body_bytes).await?.into();
    media_type(&call.headers)?;
    // The limit is on the write, not on its waiting in line. Cutting it off leaves it done or not
    // done, but never half: that is what a store promises.
    let write = async move {
        let answer = within(limit, is_read, answered(call));
        let answer = AssertUnwindSafe(hold.renewing(answer)).catch_unwind().await;
        let answer = answer.unwrap_or_else(|_| Err(Refusal::internal()));
        let answer = answer.map(|answer| answer.replay_if(hold.replayed()));
        // The work is done or refused by now, whatever the store of keys says.
        let _ = tokio::time::timeout(limit, ended(&hold, &answer)).await;
        answer
    };
    shared.writes.run(write).await
}

/// Refuses a caller who asks too often.
async fn rate(limiter: &dyn RateLimiter, who: &Principal, is_read: bool) -> Result<(), Refusal> {
    match limiter.check(who).await {
        Ok(RateDecision::Allowed) => Ok(()),
        Ok(RateDecision::Limited { retry_after }) => Err(Refusal::rate_limited(retry_after)),
        Err(error) => Err(Refusal::from_engine(error.into(), is_read)),
    }
}

/// The operation's answer, or the one that was kept.
async fn answered(call: Call) -> Result<Answer, Refusal> {
    match call.answer().await {
        Ok(answer) => Ok(answer),
        Err(Stop::Refused(refusal)) => Err(refusal),
        Err(Stop::Replay(kept)) => Answer::replayed(kept),
    }
}

/// Ends the hold on the request's key before it is answered: an answer is kept, a refusal frees
/// the key.
async fn ended(hold: &HoldSlot, answer: &Result<Answer, Refusal>) {
    match (hold.get(), answer) {
        (Some(hold), Ok(answer)) => {
            let (outcome, about) = answer.kept();
            hold.complete(&outcome, about).await;
        }
        (Some(hold), Err(_)) => hold.release().await,
        (None, _) => {}
    }
}

/// The outcome, if it comes within the time limit.
async fn within<T>(
    limit: Duration,
    is_read: bool,
    work: impl Future<Output = Result<T, Refusal>>,
) -> Result<T, Refusal> {
    let overdue = |_| {
        let error = Error::new(ErrorKind::Busy, "there was no answer within the time limit");
        Err(Refusal::from_engine(error, is_read))
    };
    tokio::time::timeout(limit, work)
        .await
        .unwrap_or_else(overdue)
}

impl Shared {
    /// The path below the mount, where the host leaves the mount's prefix on.
    fn own_path<'p>(&self, path: &'p str) -> &'p str {
        let rest = path.strip_prefix(&self.base_path);
        rest.filter(|rest| rest.starts_with('/')).unwrap_or(path)
    }
}

/// A body is JSON in UTF-8 unless its headers say otherwise.
fn media_type(headers: &HeaderMap) -> Result<(), Refusal> {
    let mut types = headers.get_all(CONTENT_TYPE).iter();
    let is_json = match (types.next(), types.next()) {
        (None, _) => true,
        (Some(only), None) => only.to_str().is_ok_and(is_json),
        (Some(_), Some(_)) => false,
    };
    let plain = |coding: &http::HeaderValue| coding.as_bytes().eq_ignore_ascii_case(b"identity");
    if is_json && headers.get_all(CONTENT_ENCODING).iter().all(plain) {
        return Ok(());
    }
    let message = "the body must be JSON in UTF-8, without a content coding";
    Err(Refusal::new(Code::UnsupportedMediaType, message))
}

/// `application/json` or `application/…+json` (RFC 6839 §3.1), in UTF-8 where it says.
fn is_json(media_type: &str) -> bool {
    let mut parts = media_type.split(';').map(str::trim);
    let essence = parts.next().unwrap_or_default().to_ascii_lowercase();
    let subtype = essence.strip_prefix("application/").unwrap_or_default();
    let charset_fits = parts.all(|parameter| match parameter.split_once('=') {
        Some((name, value)) if name.trim().eq_ignore_ascii_case("charset") => {
            value.trim().trim_matches('"').eq_ignore_ascii_case("utf-8")
        }
        _ => true,
    });
    (subtype == "json" || subtype.ends_with("+json")) && charset_fits
}
