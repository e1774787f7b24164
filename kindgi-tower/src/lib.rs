//! Kindgi's judgments API as one `tower` service, to mount in an axum, warp or hyper app.
//!
//! ```
//! use axum::Router;
//! use kindgi_core::{MemoryStore, engine::Engine, host::{Permissions, Runs}};
//! use kindgi_tower::{Authenticator, KindgiService};
//!
//! fn mount(
//!     app: Router,
//!     runs: impl Runs,
//!     permissions: impl Permissions,
//!     tokens: impl Authenticator,
//! ) -> Router {
//!     let engine = Engine::builder(MemoryStore::new(), runs, permissions).build();
//!     let kindgi = KindgiService::builder(engine).authenticator(tokens).build();
//!     app.nest_service("/kindgi", kindgi)
//! }
//! ```
//!
//! # Mounting
//!
//! [`KindgiService`] takes a request with any body and answers with an opaque one. It is always
//! ready, never fails, and doesn't need to know where it is mounted: it makes no redirects and no
//! absolute links.
//!
//! | host | how |
//! | --- | --- |
//! | axum | `nest_service("/kindgi", service)`, or `fallback_service(service)` at the root |
//! | hyper | `hyper_util::service::TowerToHyperService::new(service)` |
//! | warp | a filter that rebuilds the request: `examples/warp-host` |
//!
//! A host that leaves its prefix on the path names it:
//! [`base_path`](KindgiServiceBuilder::base_path).
//!
//! Paths match as they are sent, so an empty segment or a trailing slash is a 404. What a router
//! changes before can't be seen: axum's `nest_service` takes one slash of two right after the
//! mount (`/kindgi//v1/…`).
//!
//! # Who calls
//!
//! Either the service resolves the bearer token with your [`Authenticator`], or your own
//! middleware puts a [`Principal`](kindgi_core::model::Principal) into the request's extensions;
//! that one wins over any header. The tenant comes from there and from nowhere else.
//!
//! # Writes
//!
//! Once its body has arrived, a write runs to its end, whether or not the client is still there.
//! At shutdown, stop accepting requests and wait for [`KindgiService::drained`].
//!
//! How many run at once and how many wait for their turn is bounded:
//! [`max_writes_in_flight`](KindgiServiceBuilder::max_writes_in_flight),
//! [`max_writes_in_line`](KindgiServiceBuilder::max_writes_in_line). One more is answered 500, and
//! nothing of it was done.
//!
//! # Retries
//!
//! A write with an `Idempotency-Key` (1 to 255 visible ASCII characters, sent once) is done once in
//! 24 hours, and a retry gets the first answer byte for byte, with `X-Idempotent-Replay: true`. A
//! key is one caller's, for one method and path; with another body it is a 409, and so is a retry
//! while the first request runs. An answer of 400 or more frees the key.
//!
//! Two things keep that promise. The store of keys
//! ([`EngineBuilder::idempotency`](kindgi_core::engine::EngineBuilder::idempotency)) holds a key
//! while its request runs, and keeps the answer. The store of judgments keeps a receipt in the same
//! transaction as the effect, and is asked before anything is done again: so a write takes effect
//! at most once also when the process dies at any moment, a hold lapses, or the store of keys fails
//! or is lost. For the service's own operations nothing remains open. The answer that is made from
//! a receipt has the same bytes, less what was erased since.
//!
//! For your own routes there is [`IdempotencyLayer`]. It leaves no receipt with an effect of yours,
//! so there a window remains: where the process dies between the effect and the answer, or the
//! store of keys can't keep the answer, a retry does the work again after 30 seconds.
//!
//! # Several nodes
//!
//! Give all of them the same store of keys, since the default one is each node's own memory; and
//! the same [`cursor_keys`](KindgiServiceBuilder::cursor_keys), since else a cursor is good only
//! for the node that gave it, until that is started anew. A
//! [`rate_limiter`](KindgiServiceBuilder::rate_limiter) of one node counts what that node sees.
//!
//! # Requests and their ids
//!
//! Every answer carries `X-Request-Id`, and every error repeats it in its body. The service makes
//! the id, unless your middleware put a [`RequestId`] into the extensions.
//!
//! # Panics in the host
//!
//! A panic in one of the host's traits is answered 500; the service goes on.
//!
//! # What lies behind a 500
//!
//! Callers are told nothing of it. The host finds it in the response's extensions: [`Cause`].
//!
//! # The OpenAPI document
//!
//! `GET /v1/openapi.json` answers the API's OpenAPI 3.1 document, made from the table of operations
//! when it is first asked for. It needs no authentication, and may be cached (`ETag`,
//! `Cache-Control`). Its `servers` is the [`base_path`](KindgiServiceBuilder::base_path); a host
//! whose router takes the prefix off names it there, too, so that the document is right. A host
//! that has a document of its own merges [`openapi()`] into it.
//!
//! # Features
//!
//! - `openapi`, on by default: the document. It costs six small crates at build time (`schemars`
//!   with its derive, on `serde_json` without any feature that changes a host's) and, at run time,
//!   some 100 KB once somebody has asked for it. Without it, `/v1/openapi.json` is a 404.
//! - `tracing`: a write, which runs on a task of its own, stays in the span it was called in; and
//!   what lies behind a 500 or 503 is an error event.

mod auth;
mod body;
mod builder;
mod cursor;
mod decode;
mod future;
mod handlers;
mod idempotency;
#[cfg(feature = "openapi")]
mod openapi;
mod pipeline;
mod refusal;
mod request_id;
mod respond;
mod route;
mod service;
mod wire;
mod writes;

/// The README's example compiles.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;

pub use auth::{AuthError, Authenticator};
pub use body::ResponseBody;
pub use builder::KindgiServiceBuilder;
pub use cursor::CursorKey;
pub use future::ResponseFuture;
pub use idempotency::{IdempotencyLayer, Idempotent, KeyedBody, Withhold};
#[cfg(feature = "openapi")]
pub use openapi::openapi;
pub use refusal::Cause;
pub use request_id::RequestId;
pub use service::KindgiService;
