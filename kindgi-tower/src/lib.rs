//! The API as one tower service.
