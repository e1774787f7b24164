//! `IdempotencyLayer` on a host's own routes: in an axum router, and on a plain tower service.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "layer/axum_routes.rs"]
mod axum_routes;
#[path = "layer/service.rs"]
mod service;
#[path = "layer/support.rs"]
mod support;
