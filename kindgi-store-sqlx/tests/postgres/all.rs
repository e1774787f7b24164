//! Every test of this target.

mod costs;
mod growing;
mod host_pool;
mod limits;
mod opening;
mod round_trips;
#[cfg(feature = "sqlite")]
mod schema;
mod support;
mod text;
