//! The shapes of bodies and answers. The types have no values: they exist for their schemas, and
//! what the service takes and answers is written by hand in `decode` and `wire`. A test compares.
//!
//! `skip_serializing_if = "absent"` marks what may be left out. An `Option` may be `null`.
#![expect(dead_code, reason = "only their schemas are used")]

pub(super) mod errors;
pub(super) mod judge_classes;
pub(super) mod judging_queue;
pub(super) mod judging_rules;
pub(super) mod judgments;
pub(super) mod values;

use schemars::JsonSchema;

/// What a principal is.
#[derive(JsonSchema)]
#[schemars(rename_all = "lowercase", inline)]
enum Kind {
    User,
    Service,
}
