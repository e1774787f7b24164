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
//! `Idempotency-Key` is checked (1 to 255 visible ASCII characters, sent once), but **not yet
//! honoured**: a repeated write takes effect again.
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
//! # Features
//!
//! - `tracing`: a write, which runs on a task of its own, stays in the span it was called in; and
//!   what lies behind a 500 or 503 is an error event.

mod auth;
mod body;
mod builder;
mod cursor;
mod decode;
mod future;
mod handlers;
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
pub use future::ResponseFuture;
pub use refusal::Cause;
pub use request_id::RequestId;
pub use service::KindgiService;
