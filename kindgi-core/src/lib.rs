//! Judgments on the outputs of AI runs, without HTTP and without a database.

pub mod clock;
pub mod engine;
mod error;
pub mod host;
pub mod json;
pub mod model;
pub mod store;

pub use clock::{Clock, ManualClock, SystemClock, Timestamp};
pub use error::{
    BoxError, Error, ErrorKind, HostError, HostErrorKind, StoreError, StoreErrorKind,
};
