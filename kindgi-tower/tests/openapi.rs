//! The OpenAPI document: how it is served, that it has the contract's facts, and that the service
//! answers and takes what it says.
#![cfg(feature = "openapi")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_types,
    reason = "a test may use any JSON"
)]

#[allow(
    dead_code,
    unused_imports,
    reason = "the other test binaries use the rest of it"
)]
#[path = "common/mod.rs"]
mod common;

#[path = "openapi/answers.rs"]
mod answers;
#[path = "openapi/contract.rs"]
mod contract;
#[path = "openapi/facts.rs"]
mod facts;
#[path = "openapi/limits.rs"]
mod limits;
#[path = "openapi/schema.rs"]
mod schema;
#[path = "openapi/served.rs"]
mod served;

use serde_json::Value;

/// The document, as a host gets it.
fn document() -> Value {
    serde_json::from_str(&kindgi_tower::openapi()).unwrap()
}
