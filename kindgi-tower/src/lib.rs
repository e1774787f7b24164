//! Kindgi's judgments API as one `tower` service, to mount in an axum, warp or hyper app.

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

pub use auth::{AuthError, Authenticator};
pub use body::ResponseBody;
pub use builder::KindgiServiceBuilder;
pub use future::ResponseFuture;
pub use request_id::RequestId;
pub use service::KindgiService;
