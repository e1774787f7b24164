//! Errors.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

use super::values::*;
use crate::refusal::Code;

/// What every answer of 400 or more says.
#[derive(JsonSchema)]
pub(in crate::openapi) struct WireError {
    error: ErrorBody,
}

#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase", inline)]
struct ErrorBody {
    /// What went wrong, for programs.
    code: ErrorCode,
    /// What went wrong, for people. It may change at any time.
    message: Text,
    #[schemars(skip_serializing_if = "absent")]
    details: Details,
    /// What `X-Request-Id` says.
    request_id: Text,
}

/// More about the error.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase", inline, extend("additionalProperties" = true))]
struct Details {
    /// What is at fault: a JSON Pointer into the body, or the name of a parameter or header.
    #[schemars(skip_serializing_if = "absent")]
    field: Text,
    /// The unknown fields, as JSON Pointers into the body; the first hundred.
    #[schemars(skip_serializing_if = "absent")]
    fields: Vec<Text>,
    /// How large a body may be, in bytes.
    #[schemars(skip_serializing_if = "absent")]
    max_bytes: Count,
    /// The status of the answer that isn't kept.
    #[schemars(skip_serializing_if = "absent")]
    status: Count,
    /// When that was given.
    #[schemars(skip_serializing_if = "absent")]
    at: Time,
}

struct ErrorCode;

impl JsonSchema for ErrorCode {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "ErrorCode".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let names: Vec<_> = ALL.iter().map(|code| code.facts().0).collect();
        json_schema!({ "type": "string", "enum": names })
    }
}

/// Every error code there is.
pub(in crate::openapi) const ALL: &[Code] = &[
    Code::BadInput,
    Code::UnknownField,
    Code::ScopeInvalid,
    Code::ItemNotFound,
    Code::JudgeClassNotApplicable,
    Code::AuthMissing,
    Code::AuthExpired,
    Code::AuthRevoked,
    Code::PermissionDenied,
    Code::JudgeClassNotAllowed,
    Code::NotFound,
    Code::RunNotFound,
    Code::ProjectNotFound,
    Code::JudgmentNotFound,
    Code::JudgeClassNotFound,
    Code::JudgingRuleNotFound,
    Code::JudgingItemNotFound,
    Code::MethodNotAllowed,
    Code::RunNotFinished,
    Code::JudgeClassNameTaken,
    Code::JudgingItemNotOpen,
    Code::KeyBodyMismatch,
    Code::KeyInFlight,
    Code::KeyReplayWithheld,
    Code::RunErased,
    Code::RequestTooLarge,
    Code::UnsupportedMediaType,
    Code::RateLimitExceeded,
    Code::InternalServerError,
    Code::DatabaseBusy,
];
