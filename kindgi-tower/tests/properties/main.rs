//! Properties of the whole service: whatever comes, and whatever order it comes in.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[allow(
    dead_code,
    unused_imports,
    reason = "the other test binary uses the rest of it"
)]
#[path = "../common/mod.rs"]
mod common;

mod arbitrary_requests;
mod fault_order;
mod mutated_bodies;
mod queue_walks;
mod walks;

/// Runs a future on a runtime of its own.
fn block_on<F: Future>(future: F) -> F::Output {
    tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .unwrap()
        .block_on(future)
}
