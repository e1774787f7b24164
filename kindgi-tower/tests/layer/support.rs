//! A host's own service, which counts its effects and answers as it is told.

use std::{
    future::Future,
    pin::Pin,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    task::{Context, Poll},
};

use bytes::Bytes;
use http::{HeaderMap, Request, Response};
use http_body::{Body, Frame};
use http_body_util::{BodyExt, Full};
use kindgi_core::{
    BoxError, ManualClock,
    idempotency::{IdempotencyStore, MemoryIdempotency},
    model::Principal,
};
use kindgi_tower::{IdempotencyLayer, Idempotent};
use tokio::sync::Semaphore;
use tower::{Layer, Service, ServiceExt};

type Making = Box<dyn Fn(usize) -> Response<Pieces> + Send>;

/// The host's service.
#[derive(Clone)]
pub(crate) struct Own {
    pub(crate) effects: Arc<AtomicUsize>,
    /// The bodies it got.
    pub(crate) bodies: Arc<Mutex<Vec<Bytes>>>,
    answer: Arc<Mutex<Making>>,
    /// Closed where calls wait.
    pub(crate) gate: Arc<Semaphore>,
}

impl Own {
    fn new() -> Self {
        Self {
            effects: Arc::default(),
            bodies: Arc::default(),
            answer: Arc::new(Mutex::new(Box::new(|n| {
                Response::new(Pieces::of(&[&format!("answer {n}")]))
            }))),
            gate: Arc::new(Semaphore::new(Semaphore::MAX_PERMITS)),
        }
    }

    pub(crate) fn answers(&self, make: impl Fn(usize) -> Response<Pieces> + Send + 'static) {
        *self.answer.lock().unwrap() = Box::new(make);
    }

    pub(crate) fn effects(&self) -> usize {
        self.effects.load(Ordering::SeqCst)
    }
}

impl<B> Service<Request<B>> for Own
where
    B: Body<Data = Bytes> + Send + 'static,
    B::Error: Into<BoxError> + std::fmt::Debug,
{
    type Response = Response<Pieces>;
    type Error = &'static str;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Pieces>, &'static str>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), &'static str>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let own = self.clone();
        Box::pin(async move {
            let fails = request.headers().contains_key("fail");
            let body = request.into_body().collect().await.unwrap().to_bytes();
            own.gate.acquire().await.unwrap().forget();
            own.bodies.lock().unwrap().push(body);
            let n = own.effects.fetch_add(1, Ordering::SeqCst) + 1;
            if fails {
                return Err("on purpose");
            }
            // Some answers panic.
            let answer = own.answer.lock().unwrap_or_else(PoisonError::into_inner);
            Ok(answer(n))
        })
    }
}

/// An answer's body, in pieces, with an error at its end or not.
#[derive(Debug)]
pub(crate) struct Pieces {
    pieces: std::collections::VecDeque<Bytes>,
    breaks_off: bool,
}

impl Pieces {
    pub(crate) fn of(pieces: &[&str]) -> Self {
        let pieces = pieces.iter().map(|piece| Bytes::from((*piece).to_owned()));
        Self {
            pieces: pieces.collect(),
            breaks_off: false,
        }
    }

    pub(crate) fn broken(mut self) -> Self {
        self.breaks_off = true;
        self
    }
}

impl Body for Pieces {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        if let Some(piece) = self.pieces.pop_front() {
            return Poll::Ready(Some(Ok(Frame::data(piece))));
        }
        let breaks_off = std::mem::take(&mut self.breaks_off);
        Poll::Ready(breaks_off.then(|| Err("broken off".into())))
    }
}

/// The host's service in the layer.
pub(crate) struct World {
    pub(crate) own: Own,
    pub(crate) service: Idempotent<Own>,
    pub(crate) clock: Arc<ManualClock>,
}

impl World {
    pub(crate) fn new() -> Self {
        Self::with(|layer| layer)
    }

    pub(crate) fn with(build: impl FnOnce(IdempotencyLayer) -> IdempotencyLayer) -> Self {
        let clock = Arc::new(ManualClock::default());
        let keys = MemoryIdempotency::with_clock(Arc::clone(&clock));
        let keys: Arc<dyn IdempotencyStore> = Arc::new(keys);
        let own = Own::new();
        let service = build(IdempotencyLayer::new(keys)).layer(own.clone());
        Self {
            own,
            service,
            clock,
        }
    }

    pub(crate) async fn send(&self, request: Request<Full<Bytes>>) -> Answer {
        let response = self.service.clone().oneshot(request).await.unwrap();
        Answer::of(response).await
    }

    /// Posts `body` with `key`.
    pub(crate) async fn post(&self) -> Answer {
        self.send(post("key", "body")).await
    }
}

/// An answer, whole.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) body: String,
}

impl Answer {
    pub(crate) async fn of<B>(response: Response<B>) -> Self
    where
        B: Body<Data = Bytes>,
        B::Error: std::fmt::Debug,
    {
        let (parts, body) = response.into_parts();
        let body = body.collect().await.unwrap().to_bytes();
        Self {
            status: parts.status.as_u16(),
            headers: parts.headers,
            body: String::from_utf8(body.to_vec()).unwrap(),
        }
    }

    pub(crate) fn is_replay(&self) -> bool {
        self.headers
            .get("x-idempotent-replay")
            .is_some_and(|yes| yes == "true")
    }

    pub(crate) fn all(&self, name: &str) -> Vec<&str> {
        let values = self.headers.get_all(name).iter();
        values.map(|value| value.to_str().unwrap()).collect()
    }

    #[track_caller]
    pub(crate) fn refused(&self, status: u16, code: &str) {
        assert_eq!(self.status, status, "{}", self.body);
        assert!(
            self.body.contains(&format!(r#""code":"{code}""#)),
            "{}",
            self.body
        );
    }
}

pub(crate) fn ada() -> Principal {
    Principal::user("acme".parse().unwrap(), "ada".parse().unwrap())
}

/// A request of Ada's.
pub(crate) fn post(key: &str, body: &str) -> Request<Full<Bytes>> {
    let mut request = Request::post("/invoices")
        .header("idempotency-key", key)
        .body(Full::new(Bytes::from(body.to_owned())))
        .unwrap();
    request.extensions_mut().insert(ada());
    request
}
