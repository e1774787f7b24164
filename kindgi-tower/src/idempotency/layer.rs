//! The same promise for a host's own routes.

use std::{
    collections::VecDeque,
    fmt,
    future::Future,
    panic::AssertUnwindSafe,
    pin::{Pin, pin},
    sync::Arc,
    task::{Context, Poll},
};

use bytes::{Buf, Bytes};
use futures_util::FutureExt;
use http::{
    HeaderName, HeaderValue, Method, Request, Response, StatusCode, header, request::Parts,
};
use http_body::{Body, Frame, SizeHint};
use http_body_util::BodyExt;
use kindgi_core::{
    BoxError, SystemClock,
    idempotency::{IdempotencyStore, KeptAnswer, Outcome},
    model::{Principal, TenantId},
    store::OperationId,
};
use tower_layer::Layer;
use tower_service::Service;

use super::{
    Begin, Hold, HoldSlot, IDEMPOTENCY_KEY, Routes, X_IDEMPOTENT_REPLAY, body_hash, key_of,
    operation,
};
use crate::{body, refusal::Refusal, request_id::RequestId, respond::respond};

/// Headers of an answer that are kept unless others are named, too.
const KEPT_HEADERS: [HeaderName; 4] = [
    header::CONTENT_TYPE,
    header::CONTENT_LANGUAGE,
    header::LOCATION,
    header::ETAG,
];

/// Headers that are never kept: a cookie is one client's, and the others one connection's
/// (RFC 9110 §7.6.1).
const NEVER_KEPT: [HeaderName; 9] = [
    header::SET_COOKIE,
    header::CONNECTION,
    header::PROXY_AUTHENTICATE,
    header::PROXY_AUTHORIZATION,
    header::TE,
    header::TRAILER,
    header::TRANSFER_ENCODING,
    header::UPGRADE,
    HeaderName::from_static("keep-alive"),
];

/// Says that an answer carries a secret: put into a response's extensions, so that the answer isn't
/// kept for the request's idempotency key. A retry is told when the first request succeeded, and
/// nothing more.
#[derive(Clone, Copy, Debug)]
pub struct Withhold;

/// Honours `Idempotency-Key` on a host's own routes, as the service does on its own: a `POST`, `PUT`,
/// `PATCH` or `DELETE` with a key is done once, and every retry within 24 hours gets the first
/// answer, if that was below 400, with `X-Idempotent-Replay: true`.
///
/// A key is one caller's, for one method and one path with its query, as the layer sees it: below
/// the prefix that an outer router takes off. Who calls is the [`Principal`] in the request's
/// extensions, so the layer goes inside of what puts it there; a request with a key and without one
/// is answered 400.
///
/// ```
/// use std::sync::Arc;
/// use axum::{Router, routing::post};
/// use kindgi_core::idempotency::{IdempotencyStore, MemoryIdempotency};
/// use kindgi_tower::IdempotencyLayer;
///
/// # fn example() -> Router {
/// let keys: Arc<dyn IdempotencyStore> = Arc::new(MemoryIdempotency::new());
/// Router::new()
///     .route("/invoices", post(|| async { "made" }))
///     .layer(IdempotencyLayer::new(keys))
/// # }
/// ```
///
/// Unlike the service's own operations, a route of the host leaves no receipt with its effect: where
/// the process dies between the effect and the answer, or the store of keys fails to keep the
/// answer, the key is free after 30 seconds, and a retry does the work again. Nor is an answer kept whose body is larger than
/// [`max_answer_bytes`](Self::max_answer_bytes): a retry is then told that it was withheld.
///
/// The layer has no line: a keyed request runs at once, and goes on to its end when its client hangs
/// up. So a limit on how many run at once belongs inside of the layer, around the route.
#[derive(Clone)]
pub struct IdempotencyLayer(Arc<Settings>);

struct Settings {
    store: Arc<dyn IdempotencyStore>,
    max_body_bytes: usize,
    max_answer_bytes: usize,
    kept_headers: Vec<HeaderName>,
}

impl IdempotencyLayer {
    /// Keeps keys in this store.
    pub fn new(store: Arc<dyn IdempotencyStore>) -> Self {
        Self(Arc::new(Settings {
            store,
            max_body_bytes: 1 << 20,
            max_answer_bytes: 1 << 20,
            kept_headers: KEPT_HEADERS.to_vec(),
        }))
    }

    fn with(&self, change: impl FnOnce(&mut Settings)) -> Self {
        let mut settings = Settings {
            store: Arc::clone(&self.0.store),
            kept_headers: self.0.kept_headers.clone(),
            ..*self.0
        };
        change(&mut settings);
        Self(Arc::new(settings))
    }

    /// The most bytes that a request with a key may have: 1 MiB unless said. A larger one is
    /// answered 413.
    #[must_use]
    pub fn max_body_bytes(&self, bytes: usize) -> Self {
        self.with(|settings| settings.max_body_bytes = bytes)
    }

    /// The most bytes of an answer that are kept: 1 MiB unless said.
    #[must_use]
    pub fn max_answer_bytes(&self, bytes: usize) -> Self {
        self.with(|settings| settings.max_answer_bytes = bytes)
    }

    /// Keeps this header of an answer, too, besides `Content-Type`, `Content-Language`, `Location`
    /// and `ETag`. `Set-Cookie` and those of a connection are never kept, whatever is said.
    #[must_use]
    pub fn keep_header(&self, name: HeaderName) -> Self {
        self.with(|settings| {
            let never = NEVER_KEPT.contains(&name);
            if !never && !settings.kept_headers.contains(&name) {
                settings.kept_headers.push(name);
            }
        })
    }
}

impl fmt::Debug for IdempotencyLayer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("IdempotencyLayer").finish_non_exhaustive()
    }
}

impl<S> Layer<S> for IdempotencyLayer {
    type Service = Idempotent<S>;

    fn layer(&self, inner: S) -> Idempotent<S> {
        let settings = Arc::clone(&self.0);
        Idempotent { inner, settings }
    }
}

/// A service whose keyed requests are done once: see [`IdempotencyLayer`].
#[derive(Clone)]
pub struct Idempotent<S> {
    inner: S,
    settings: Arc<Settings>,
}

impl<S> fmt::Debug for Idempotent<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Idempotent").finish_non_exhaustive()
    }
}

/// The answer to come.
type Answering<R, E> = Pin<Box<dyn Future<Output = Result<Response<KeyedBody<R>>, E>> + Send>>;

impl<S, B, R> Service<Request<B>> for Idempotent<S>
where
    S: Service<Request<KeyedBody<B>>, Response = Response<R>> + Clone + Send + 'static,
    S::Future: Send + 'static,
    S::Error: Send + 'static,
    B: Body + Send + 'static,
    B::Error: Into<BoxError>,
    R: Body + Send + 'static,
    R::Error: Into<BoxError>,
{
    type Response = Response<KeyedBody<R>>;
    type Error = S::Error;
    type Future = Answering<R, S::Error>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        // The one that is ready answers; its clone gets ready for the next.
        let next = self.inner.clone();
        let mut inner = std::mem::replace(&mut self.inner, next);
        let settings = Arc::clone(&self.settings);
        let writes = [Method::POST, Method::PUT, Method::PATCH, Method::DELETE];
        if !writes.contains(request.method()) || !request.headers().contains_key(IDEMPOTENCY_KEY) {
            let answer = inner.call(request.map(KeyedBody::passed));
            return Box::pin(async move { Ok(answer.await?.map(KeyedBody::passed)) });
        }
        Box::pin(async move {
            let (parts, body) = request.into_parts();
            let id = RequestId::of(&parts.extensions, &parts.headers, false, &SystemClock);
            let refused = |refusal| {
                let response = respond(Err(refusal), &id, false);
                Ok(response.map(KeyedBody::of_own))
            };
            let asked = match Asked::of(&settings, &parts, body).await {
                Ok(asked) => asked,
                Err(refusal) => return refused(refusal),
            };
            // It goes on to its end, whether or not the client waits for it.
            match tokio::spawn(keyed(settings, parts, asked, inner)).await {
                Ok(Ok(answer)) => answer,
                Ok(Err(refusal)) => refused(refusal),
                Err(_) => refused(Refusal::internal()),
            }
        })
    }
}

/// A request with a key, all of it there.
struct Asked {
    tenant: TenantId,
    key: OperationId,
    body: Bytes,
}

impl Asked {
    async fn of<B>(settings: &Settings, parts: &Parts, body: B) -> Result<Self, Refusal>
    where
        B: Body + Send + 'static,
        B::Error: Into<BoxError>,
    {
        let bad_key = |message| Refusal::bad_input(IDEMPOTENCY_KEY, message);
        let key = key_of(&parts.headers).map_err(bad_key)?;
        let key = key.ok_or_else(Refusal::internal)?;
        let Some(who) = parts.extensions.get::<Principal>() else {
            return Err(bad_key("nobody is known to call, whose key it could be"));
        };
        let body: Bytes = body::collect(body, settings.max_body_bytes).await?.into();
        let path = parts.uri.path_and_query().map_or("/", |path| path.as_str());
        Ok(Self {
            tenant: who.tenant.clone(),
            key: operation(Routes::Host, who, parts.method.as_str(), path, key),
            body,
        })
    }
}

/// What becomes of a request with a key: a refusal of the layer's, or what the host answers.
type Keyed<R, E> = Result<Result<Response<KeyedBody<R>>, E>, Refusal>;

/// Claims the key, does the work under the hold, and ends it before the answer is given.
async fn keyed<S, B, R>(
    settings: Arc<Settings>,
    parts: Parts,
    asked: Asked,
    mut inner: S,
) -> Keyed<R, S::Error>
where
    S: Service<Request<KeyedBody<B>>, Response = Response<R>>,
    R: Body,
    R::Error: Into<BoxError>,
{
    let hash = body_hash(&asked.body);
    let begun = Hold::begin(&settings.store, &asked.tenant, asked.key, &hash).await;
    let hold = match begun.map_err(|error| Refusal::from_engine(error.into(), false))? {
        Begin::Run(hold) => hold,
        Begin::Replay(answer) => return Ok(Ok(replay(answer))),
        Begin::OtherBody => return Err(Refusal::key_mismatch()),
        Begin::InFlight(retry_after) => return Err(Refusal::key_in_flight(retry_after)),
        Begin::Withheld(status, at) => return Err(Refusal::key_withheld(status, at)),
    };
    let slot = HoldSlot::default();
    slot.put(hold.clone(), None);
    let work = async {
        let request = Request::from_parts(parts, KeyedBody::whole(asked.body));
        Ok(kept(&settings, inner.call(request).await?).await)
    };
    match AssertUnwindSafe(slot.renewing(work)).catch_unwind().await {
        Ok(Ok((response, Some(outcome)))) => {
            hold.complete(&outcome, &[]).await;
            Ok(Ok(response))
        }
        Ok(Ok((response, None))) => {
            hold.release().await;
            Ok(Ok(response))
        }
        Ok(Err(error)) => {
            hold.release().await;
            Ok(Err(error))
        }
        Err(_) => {
            hold.release().await;
            Err(Refusal::internal())
        }
    }
}

/// An answer, and what is kept of it: nothing of a refusal.
async fn kept<R>(
    settings: &Settings,
    response: Response<R>,
) -> (Response<KeyedBody<R>>, Option<Outcome>)
where
    R: Body,
    R::Error: Into<BoxError>,
{
    let (parts, body) = response.into_parts();
    let status = parts.status.as_u16();
    if status >= 400 {
        return (Response::from_parts(parts, KeyedBody::passed(body)), None);
    }
    if parts.extensions.get::<Withhold>().is_some() {
        let outcome = Outcome::Withheld { status };
        return (
            Response::from_parts(parts, KeyedBody::passed(body)),
            Some(outcome),
        );
    }
    let body = KeyedBody::buffered(body, settings.max_answer_bytes).await;
    let outcome = match body.whole_within(settings.max_answer_bytes) {
        None => Outcome::Withheld { status },
        Some(body) => Outcome::Answer(KeptAnswer {
            status,
            headers: kept_headers(settings, &parts.headers),
            body,
        }),
    };
    (Response::from_parts(parts, body), Some(outcome))
}

fn kept_headers(settings: &Settings, headers: &http::HeaderMap) -> Vec<(String, Bytes)> {
    let kept = headers
        .iter()
        .filter(|(name, _)| settings.kept_headers.contains(name));
    kept.map(|(name, value)| {
        let value = Bytes::copy_from_slice(value.as_bytes());
        (name.as_str().to_owned(), value)
    })
    .collect()
}

fn replay<R>(answer: KeptAnswer) -> Response<KeyedBody<R>> {
    let mut response = Response::new(KeyedBody::whole(answer.body));
    *response.status_mut() = StatusCode::from_u16(answer.status).unwrap_or(StatusCode::OK);
    for (name, value) in answer.headers {
        let name = HeaderName::from_bytes(name.as_bytes());
        if let (Ok(name), Ok(value)) = (name, HeaderValue::from_maybe_shared(value)) {
            response.headers_mut().append(name, value);
        }
    }
    let yes = HeaderValue::from_static("true");
    response.headers_mut().insert(X_IDEMPOTENT_REPLAY, yes);
    response
}

/// A body that the layer let through, or read ahead of.
#[derive(Debug)]
pub struct KeyedBody<B> {
    ahead: VecDeque<Bytes>,
    /// What follows; `None` once it ended.
    rest: Option<Pin<Box<B>>>,
    /// Where reading ahead failed.
    failed: Option<BoxError>,
}

impl<B> KeyedBody<B> {
    fn passed(body: B) -> Self {
        Self {
            ahead: VecDeque::new(),
            rest: Some(Box::pin(body)),
            failed: None,
        }
    }

    fn whole(bytes: Bytes) -> Self {
        Self {
            ahead: VecDeque::from([bytes]),
            rest: None,
            failed: None,
        }
    }

    fn of_own(body: body::ResponseBody) -> Self {
        Self::whole(body.into_bytes())
    }

    /// All of it, if all of it was read, and it is no more than that.
    fn whole_within(&self, max_bytes: usize) -> Option<Bytes> {
        let bytes: usize = self.ahead.iter().map(Bytes::len).sum();
        if self.rest.is_some() || self.failed.is_some() || bytes > max_bytes {
            return None;
        }
        let pieces = self.ahead.iter().flat_map(|piece| piece.iter().copied());
        Some(pieces.collect::<Vec<u8>>().into())
    }
}

impl<B> KeyedBody<B>
where
    B: Body,
    B::Error: Into<BoxError>,
{
    /// Reads ahead, so much at most and a frame.
    async fn buffered(body: B, max_bytes: usize) -> Self {
        let mut this = Self::passed(body);
        let mut read = 0;
        while read <= max_bytes {
            let Some(rest) = &mut this.rest else { break };
            match pin!(rest.as_mut().frame()).await {
                None => this.rest = None,
                Some(Ok(frame)) => {
                    // Trailers aren't kept.
                    if let Ok(mut data) = frame.into_data() {
                        let data = data.copy_to_bytes(data.remaining());
                        read += data.len();
                        this.ahead.push_back(data);
                    }
                }
                Some(Err(error)) => {
                    this.rest = None;
                    this.failed = Some(error.into());
                }
            }
        }
        this
    }
}

impl<B> Body for KeyedBody<B>
where
    B: Body,
    B::Error: Into<BoxError>,
{
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        if let Some(data) = self.ahead.pop_front() {
            return Poll::Ready(Some(Ok(Frame::data(data))));
        }
        if let Some(error) = self.failed.take() {
            return Poll::Ready(Some(Err(error)));
        }
        let Some(rest) = &mut self.rest else {
            return Poll::Ready(None);
        };
        let frame = rest.as_mut().poll_frame(cx);
        frame.map(|frame| {
            let frame = frame?.map_err(Into::into);
            Some(frame.map(|frame| frame.map_data(|mut data| data.copy_to_bytes(data.remaining()))))
        })
    }

    fn is_end_stream(&self) -> bool {
        let rest_ended = self.rest.as_ref().is_none_or(|rest| rest.is_end_stream());
        self.ahead.is_empty() && self.failed.is_none() && rest_ended
    }

    fn size_hint(&self) -> SizeHint {
        let ahead: u64 = self.ahead.iter().map(|data| data.len() as u64).sum();
        let rest = self.rest.as_ref().map(|rest| rest.size_hint());
        let rest = rest.unwrap_or_else(|| SizeHint::with_exact(0));
        let mut hint = SizeHint::new();
        hint.set_lower(ahead.saturating_add(rest.lower()));
        if let Some(upper) = rest.upper().and_then(|upper| upper.checked_add(ahead)) {
            hint.set_upper(upper);
        }
        hint
    }
}
