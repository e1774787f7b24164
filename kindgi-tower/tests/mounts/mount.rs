//! The mounts, each as short as in a real host.

use std::net::SocketAddr;

use axum::{Router, extract::Request, middleware, middleware::Next, response::Response};
use http::header::AUTHORIZATION;
use hyper::server::conn::http1;
use hyper_util::{rt::TokioIo, service::TowerToHyperService};
use kindgi_tower::{KindgiService, KindgiServiceBuilder};
use tokio::{
    net::TcpListener,
    runtime::{Builder, Runtime},
};
use warp::Filter;

use crate::{
    host::{self, Host, TOKEN},
    warp_filter,
};

/// The largest body that the mounted services take.
pub(crate) const MAX_BODY: usize = 64 * 1024;

/// A server on a loopback port, until it is dropped.
pub(crate) struct Mounted {
    pub(crate) address: SocketAddr,
    /// What stands before the service's own paths.
    pub(crate) prefix: &'static str,
    _runtime: Runtime,
}

impl Mounted {
    fn start<F>(
        prefix: &'static str,
        build: impl FnOnce(KindgiServiceBuilder) -> KindgiService,
        serve: impl FnOnce(TcpListener, KindgiService) -> F,
    ) -> Self
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let runtime = Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .unwrap();
        let engine = runtime.block_on(host::engine());
        let service = build(KindgiService::builder(engine).max_body_bytes(MAX_BODY));
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
        let address = listener.local_addr().unwrap();
        runtime.spawn(serve(listener, service));
        Self {
            address,
            prefix,
            _runtime: runtime,
        }
    }
}

fn with_tokens(builder: KindgiServiceBuilder) -> KindgiService {
    builder.authenticator(Host).build()
}

pub(crate) fn hyper_at_the_root() -> Mounted {
    Mounted::start("", with_tokens, serve_with_hyper)
}

/// `prefix` is what clients write, whatever the service is told.
pub(crate) fn hyper_with_base_path(prefix: &'static str) -> Mounted {
    Mounted::start(
        prefix,
        |builder| with_tokens(builder.base_path("/kindgi")),
        serve_with_hyper,
    )
}

async fn serve_with_hyper(listener: TcpListener, service: KindgiService) {
    loop {
        let (stream, _) = listener.accept().await.unwrap();
        let service = TowerToHyperService::new(service.clone());
        tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), service));
    }
}

pub(crate) fn axum_nested() -> Mounted {
    Mounted::start("/kindgi", with_tokens, |listener, service| {
        serve_with_axum(listener, Router::new().nest_service("/kindgi", service))
    })
}

pub(crate) fn axum_fallback() -> Mounted {
    Mounted::start("", with_tokens, |listener, service| {
        serve_with_axum(listener, Router::new().fallback_service(service))
    })
}

/// The service has no authenticator here: only the layer lets anyone in.
pub(crate) fn axum_under_auth_layer() -> Mounted {
    Mounted::start(
        "/orgs/acme/kindgi",
        KindgiServiceBuilder::build,
        |listener, service| {
            let own = Router::new().nest_service("/kindgi", service);
            let router = Router::new()
                .nest("/orgs/{org}", own)
                .layer(middleware::from_fn(sign_in));
            serve_with_axum(listener, router)
        },
    )
}

async fn sign_in(mut request: Request, next: Next) -> Response {
    let expected = format!("Bearer {TOKEN}");
    let given = request.headers_mut().remove(AUTHORIZATION);
    if given.is_some_and(|given| given.as_bytes() == expected.as_bytes()) {
        request.extensions_mut().insert(host::ada());
    }
    next.run(request).await
}

async fn serve_with_axum(listener: TcpListener, router: Router) {
    axum::serve(listener, router).await.unwrap();
}

pub(crate) fn warp_filter() -> Mounted {
    let build = |builder: KindgiServiceBuilder| with_tokens(builder.base_path("/kindgi"));
    Mounted::start("/kindgi", build, |listener, service| async move {
        let nobody = warp::any().map(|| None);
        let filter = warp_filter::mounted("kindgi", service, nobody);
        warp::serve(filter).incoming(listener).run().await;
    })
}
