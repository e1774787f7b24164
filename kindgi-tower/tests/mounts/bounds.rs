//! What the service asks of a host's types, and what it gives back: checked by the compiler, and
//! once by running it.

use std::{
    cell::Cell,
    convert::Infallible,
    marker::PhantomPinned,
    pin::Pin,
    rc::Rc,
    task::{Context, Poll},
};

use bytes::{Buf, Bytes};
use http::{Request, Response, StatusCode, header::AUTHORIZATION};
use http_body::{Body, Frame};
use http_body_util::BodyExt;
use kindgi_tower::{KindgiService, ResponseBody, ResponseFuture};
use tower_service::Service;

use crate::host::{self, Host, TOKEN};

/// Not `Bytes`, and not `Send`.
struct Piece(Rc<[u8]>, usize);

impl Buf for Piece {
    fn remaining(&self) -> usize {
        self.0.len() - self.1
    }

    fn chunk(&self) -> &[u8] {
        // One byte at a time, as a `Buf` may.
        &self.0[self.1..self.0.len().min(self.1 + 1)]
    }

    fn advance(&mut self, count: usize) {
        self.1 += count;
    }
}

/// An error that isn't an `Error`.
struct Trouble;

impl From<Trouble> for kindgi_core::BoxError {
    fn from(_: Trouble) -> Self {
        "trouble".into()
    }
}

/// Neither `Sync` nor `Unpin`.
struct OddBody {
    left: Cell<&'static [u8]>,
    breaks_off: bool,
    _pinned: PhantomPinned,
}

impl OddBody {
    fn new(text: &'static str, breaks_off: bool) -> Self {
        Self {
            left: Cell::new(text.as_bytes()),
            breaks_off,
            _pinned: PhantomPinned,
        }
    }
}

impl Body for OddBody {
    type Data = Piece;
    type Error = Trouble;

    fn poll_frame(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Piece>, Trouble>>> {
        let (piece, left) = self.left.get().split_at(self.left.get().len().min(7));
        self.left.set(left);
        Poll::Ready(match piece {
            [] if self.breaks_off => Some(Err(Trouble)),
            [] => None,
            _ => Some(Ok(Frame::data(Piece(Rc::from(piece), 0)))),
        })
    }
}

async fn answer(body: OddBody) -> (StatusCode, String) {
    let engine = host::engine().await;
    let mut service = KindgiService::builder(engine).authenticator(Host).build();
    let request = Request::post("/v1/judgments")
        .header(AUTHORIZATION, format!("Bearer {TOKEN}"))
        .body(body)
        .unwrap();
    let response = service.call(request).await.unwrap();
    let status = response.status();
    let body = response.into_body().collect().await.unwrap().to_bytes();
    (status, String::from_utf8(body.to_vec()).unwrap())
}

const JUDGMENT: &str = r#"{"runId":"run-1","item":{"key":"odd"},"verdict":"yes"}"#;

#[tokio::test]
async fn a_body_needs_no_more_than_send() {
    let (status, body) = answer(OddBody::new(JUDGMENT, false)).await;
    assert_eq!(status, StatusCode::CREATED, "{body}");
    assert!(body.contains(r#""key":"odd""#), "{body}");
}

#[tokio::test]
async fn a_body_that_breaks_off_is_bad_input_however_its_error_looks() {
    let (status, body) = answer(OddBody::new(JUDGMENT, true)).await;
    assert_eq!(status, StatusCode::BAD_REQUEST, "{body}");
    assert!(body.contains(r#""code":"bad-input""#), "{body}");
}

#[test]
fn the_service_its_future_and_its_answers_fit_every_host() {
    fn host_wants<S, B>()
    where
        S: Service<
                Request<B>,
                Response = Response<ResponseBody>,
                Error = Infallible,
                Future = ResponseFuture,
            > + Clone
            + Send
            + Sync
            + 'static,
    {
    }
    fn future<F: Future<Output = Result<Response<ResponseBody>, Infallible>> + Send + 'static>() {}
    fn body<B>()
    where
        B: Body<Data = Bytes, Error = Infallible> + Default + Send + Sync + Unpin + 'static,
    {
    }
    host_wants::<KindgiService, OddBody>();
    host_wants::<KindgiService, hyper::body::Incoming>();
    host_wants::<KindgiService, axum::body::Body>();
    host_wants::<KindgiService, http_body_util::Full<Bytes>>();
    host_wants::<KindgiService, String>();
    future::<ResponseFuture>();
    body::<ResponseBody>();
}
