//! The rules of the judging queue, held against plainer words.

#![allow(clippy::unwrap_used)]

mod matching;
mod queue_state;
mod results;
mod sampling;
