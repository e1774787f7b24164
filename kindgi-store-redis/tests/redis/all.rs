//! Every test of this target.

mod eviction;
mod kept;
mod laws;
mod made;
mod round_trips;
mod sent_again;
mod support;
mod watched;
