//! The service as a warp filter. warp has no way to mount a `tower` service, so the filter takes
//! the request apart and the service gets one that is put together again.

use std::convert::Infallible;

use bytes::{Buf, Bytes};
use futures_util::{Stream, TryStreamExt};
use http::{HeaderMap, Method, Request, Response, StatusCode};
use http_body::Frame;
use http_body_util::{BodyExt, StreamBody};
use kindgi_core::model::Principal;
use kindgi_tower::KindgiService;
use tower_service::Service;
use warp::{Filter, Rejection, path::FullPath};

/// Everything under `/prefix`.
///
/// The path is handed on whole, so build the service with
/// [`base_path`](kindgi_tower::KindgiServiceBuilder::base_path) of the same prefix. `who` is
/// whom the app's own session filters found, or `None` to leave it to the service's
/// authenticator.
pub(crate) fn mounted<W>(
    prefix: &'static str,
    service: KindgiService,
    who: W,
) -> impl Filter<Extract = (Response<Bytes>,), Error = Rejection> + Clone
where
    W: Filter<Extract = (Option<Principal>,), Error = Infallible> + Clone + Send + Sync + 'static,
{
    // A request without a query makes `raw` reject it.
    let query = warp::query::raw().or(warp::any().map(String::new)).unify();
    warp::path(prefix)
        .and(warp::method())
        .and(warp::path::full())
        .and(query)
        .and(warp::header::headers_cloned())
        .and(who)
        .and(warp::body::stream())
        .then(move |method, path, query, headers, who, body| {
            answer(service.clone(), method, path, query, headers, who, body)
        })
}

async fn answer(
    mut service: KindgiService,
    method: Method,
    path: FullPath,
    query: String,
    headers: HeaderMap,
    who: Option<Principal>,
    body: impl Stream<Item = Result<impl Buf + 'static, warp::Error>> + Send + 'static,
) -> Response<Bytes> {
    let uri = match query.as_str() {
        "" => path.as_str().to_owned(),
        query => format!("{}?{query}", path.as_str()),
    };
    // It streams on, so that the service's cap can stop a body while it comes in.
    let body = StreamBody::new(body.map_ok(Frame::data));
    let Ok(mut request) = Request::builder().method(method).uri(uri).body(body) else {
        // What was an URI a moment ago is one still.
        let mut response = Response::new(Bytes::new());
        *response.status_mut() = StatusCode::BAD_REQUEST;
        return response;
    };
    *request.headers_mut() = headers;
    if let Some(who) = who {
        request.extensions_mut().insert(who);
    }
    // The service never fails and its answers are whole, so nothing is lost by collecting them.
    let Ok(response) = service.call(request).await;
    let (parts, body) = response.into_parts();
    let Ok(body) = body.collect().await;
    Response::from_parts(parts, body.to_bytes())
}
