//! The rules of the judging queue, as pure functions: which runs match, which of them a sample
//! takes, where an item of the queue is, and what comes out.
//!
//! They hold no state and do no I/O, so that engines, backends and the conformance suite can all
//! be checked against the same few lines.

pub mod matching;
pub mod queue_state;
pub mod results;
pub mod sampling;
