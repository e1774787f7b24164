//! Judgments on the outputs of AI runs, without HTTP and without a database.

pub mod json;
