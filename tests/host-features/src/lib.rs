//! No code: only two features, which switch on those of `serde_json` that change a whole build
//! and that a host of ours may have chosen. So the whole suite can be run as that host's build
//! would have it:
//!
//! ```sh
//! cargo test --workspace --features kindgi-host-features/arbitrary-precision
//! cargo test --workspace --features kindgi-host-features/preserve-order
//! ```
//!
//! The tests here show that a feature is really on where it was asked for, and off where it
//! wasn't: nothing else in the workspace may switch it on.
