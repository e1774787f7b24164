//! What is answered, by status: headers, bodies, error codes.

use std::collections::BTreeMap;

use http::StatusCode;
use kindgi_core::json::{ObjectWriter, RawJson};
use schemars::SchemaGenerator;

use super::{
    operations::Facts,
    raw,
    schemas::{
        errors::WireError,
        values::{Seconds, Text},
    },
};
use crate::refusal::Code;

/// The codes that every operation may be refused with.
const COMMON: &[Code] = &[
    Code::BadInput,
    Code::AuthMissing,
    Code::AuthExpired,
    Code::AuthRevoked,
    Code::RateLimitExceeded,
    Code::InternalServerError,
];
/// Those of every read, besides.
const READ: &[Code] = &[Code::DatabaseBusy];
/// Those of every write, besides.
const WRITE: &[Code] = &[
    Code::UnknownField,
    Code::PermissionDenied,
    Code::KeyBodyMismatch,
    Code::KeyInFlight,
    Code::KeyReplayWithheld,
    Code::RequestTooLarge,
    Code::UnsupportedMediaType,
];

const X_REQUEST_ID: &str = "X-Request-Id";
const X_IDEMPOTENT_REPLAY: &str = "X-Idempotent-Replay";
const RETRY_AFTER: &str = "Retry-After";
const WWW_AUTHENTICATE: &str = "WWW-Authenticate";
const ETAG: &str = "ETag";
const CACHE_CONTROL: &str = "Cache-Control";

/// Every header that an answer may have, and what it says.
const HEADERS: &[(&str, &str)] = &[
    (X_REQUEST_ID, "The request's id."),
    (
        X_IDEMPOTENT_REPLAY,
        "`true` where the answer is the one that was kept for the idempotency key.",
    ),
    (RETRY_AFTER, "How long to wait, in seconds."),
    (WWW_AUTHENTICATE, "`Bearer`."),
    (ETAG, "The document's version."),
    (CACHE_CONTROL, "How long the document may be kept."),
];

/// The shared headers.
pub(super) fn headers(o: &mut ObjectWriter<'_>, generator: &mut SchemaGenerator) {
    for (name, description) in HEADERS {
        let schema = match *name {
            RETRY_AFTER => generator.subschema_for::<Seconds>(),
            _ => generator.subschema_for::<Text>(),
        };
        o.object(name, |o| {
            o.str("description", description);
            o.raw("schema", &raw(&schema));
        });
    }
}

/// The answers of an operation.
pub(super) fn responses(
    o: &mut ObjectWriter<'_>,
    generator: &mut SchemaGenerator,
    facts: &Facts,
    is_read: bool,
) {
    let answer = raw(&(facts.answer)(generator));
    let headers: &[&str] = match is_read {
        true => &[X_REQUEST_ID],
        false => &[X_REQUEST_ID, X_IDEMPOTENT_REPLAY],
    };
    success(o, facts.status, headers, Some(&answer));
    let error = raw(&generator.subschema_for::<WireError>());
    let by_method = if is_read { READ } else { WRITE };
    let codes = [COMMON, by_method, facts.codes].concat();
    refusals(o, &codes, &error);
}

/// The answers of the document's own path.
pub(super) fn of_document(
    o: &mut ObjectWriter<'_>,
    generator: &mut SchemaGenerator,
    facts: &Facts,
) {
    let answer = raw(&(facts.answer)(generator));
    let headers = &[X_REQUEST_ID, ETAG, CACHE_CONTROL];
    success(o, facts.status, headers, Some(&answer));
    success(o, 304, headers, None);
    let error = raw(&generator.subschema_for::<WireError>());
    refusals(o, &[Code::BadInput], &error);
}

fn success(o: &mut ObjectWriter<'_>, status: u16, headers: &[&str], body: Option<&RawJson>) {
    let reason = StatusCode::from_u16(status).ok();
    let reason = reason.and_then(|status| status.canonical_reason());
    response(o, status, reason.unwrap_or_default(), headers, body, &[]);
}

/// One response for each status that the codes have.
fn refusals(o: &mut ObjectWriter<'_>, codes: &[Code], error: &RawJson) {
    let mut by_status: BTreeMap<StatusCode, Vec<&str>> = BTreeMap::new();
    for code in codes {
        let (name, status) = code.facts();
        by_status.entry(status).or_default().push(name);
    }
    for (status, names) in &by_status {
        let headers: &[&str] = match *status {
            StatusCode::UNAUTHORIZED => &[X_REQUEST_ID, WWW_AUTHENTICATE],
            StatusCode::CONFLICT
            | StatusCode::TOO_MANY_REQUESTS
            | StatusCode::SERVICE_UNAVAILABLE => &[X_REQUEST_ID, RETRY_AFTER],
            _ => &[X_REQUEST_ID],
        };
        let quoted: Vec<_> = names.iter().map(|name| format!("`{name}`")).collect();
        let description = quoted.join(", ");
        let status = status.as_u16();
        response(o, status, &description, headers, Some(error), names);
    }
}

fn response(
    o: &mut ObjectWriter<'_>,
    status: u16,
    description: &str,
    headers: &[&str],
    body: Option<&RawJson>,
    codes: &[&str],
) {
    o.object(&status.to_string(), |o| {
        o.str("description", description);
        o.object("headers", |o| {
            for name in headers {
                o.object(name, |o| {
                    o.str("$ref", &format!("#/components/headers/{name}"));
                });
            }
        });
        if let Some(schema) = body {
            o.object("content", |o| {
                o.object("application/json", |o| o.raw("schema", schema));
            });
        }
        if !codes.is_empty() {
            o.array("x-error-codes", |a| {
                codes.iter().for_each(|code| a.str(code))
            });
        }
    });
}
