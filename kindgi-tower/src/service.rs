//! The service.

use std::{
    convert::Infallible,
    fmt,
    sync::Arc,
    task::{Context, Poll},
};

use http::{Request, Response};
use http_body::Body;
use kindgi_core::{BoxError, engine::Engine};
use tower_service::Service;

use crate::{
    body::ResponseBody,
    builder::KindgiServiceBuilder,
    future::ResponseFuture,
    pipeline::{self, Shared},
};

/// The whole API as one [`tower`](tower_service) service, to mount in any router.
///
/// It is always ready, never fails, and clones cheaply. It needs a tokio
/// runtime with time enabled.
#[derive(Clone)]
pub struct KindgiService(Arc<Shared>);

impl KindgiService {
    /// Begins with the engine.
    pub fn builder(engine: Engine) -> KindgiServiceBuilder {
        KindgiServiceBuilder::new(engine)
    }

    pub(crate) fn new(shared: Shared) -> Self {
        Self(Arc::new(shared))
    }

    /// Waits until no write is in flight, also those whose clients have hung up.
    ///
    /// For shutdown: stop accepting requests, wait for this, then let the runtime go.
    pub async fn drained(&self) {
        self.0.writes.drained().await;
    }
}

impl<B> Service<Request<B>> for KindgiService
where
    B: Body + Send + 'static,
    B::Error: Into<BoxError>,
{
    type Response = Response<ResponseBody>;
    type Error = Infallible;
    type Future = ResponseFuture;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> ResponseFuture {
        ResponseFuture::new(pipeline::serve(Arc::clone(&self.0), request))
    }
}

impl fmt::Debug for KindgiService {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KindgiService").finish_non_exhaustive()
    }
}
