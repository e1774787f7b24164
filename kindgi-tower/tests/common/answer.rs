//! An answer, and what every answer must have.

use bytes::Bytes;
use http::{HeaderMap, StatusCode, header, response::Parts};
use kindgi_core::json::{Pointer, RawJson};

/// The API's error codes that these operations may answer with, and their statuses.
const CODES: &[(&str, u16)] = &[
    ("bad-input", 400),
    ("unknown-field", 400),
    ("scope-invalid", 400),
    ("item-not-found", 400),
    ("judge-class-not-applicable", 400),
    ("auth-missing", 401),
    ("auth-expired", 401),
    ("auth-revoked", 401),
    ("permission-denied", 403),
    ("judge-class-not-allowed", 403),
    ("not-found", 404),
    ("run-not-found", 404),
    ("project-not-found", 404),
    ("judgment-not-found", 404),
    ("judge-class-not-found", 404),
    ("judging-rule-not-found", 404),
    ("judging-item-not-found", 404),
    ("method-not-allowed", 405),
    ("run-not-finished", 409),
    ("judge-class-name-taken", 409),
    ("judging-item-not-open", 409),
    ("idempotency-key-body-mismatch", 409),
    ("idempotency-key-in-flight", 409),
    ("idempotency-key-replay-withheld", 409),
    ("run-erased", 410),
    ("request-too-large", 413),
    ("unsupported-media-type", 415),
    ("rate-limit-exceeded", 429),
    ("internal-server-error", 500),
    ("database-busy", 503),
];

/// The status of an error code.
fn status_of(code: &str) -> u16 {
    let known = CODES.iter().find(|(known, _)| *known == code);
    known
        .unwrap_or_else(|| panic!("an unknown error code: {code}"))
        .1
}

/// An answer that has what every answer must have.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    /// The body, as it came.
    pub(crate) body: String,
}

impl Answer {
    /// Checks the headers, that the body is JSON, and the envelope of an error.
    pub(crate) fn checked(parts: Parts, body: Bytes, is_head: bool) -> Self {
        let answer = Self {
            status: parts.status,
            headers: parts.headers,
            body: String::from_utf8(body.to_vec()).expect("answers are UTF-8"),
        };
        assert!(answer.header("x-request-id").is_some_and(|id| {
            (1..=128).contains(&id.len()) && id.bytes().all(|b| b.is_ascii_graphic())
        }));
        assert_eq!(answer.header("cache-control"), Some("no-store"));
        assert_eq!(answer.header("content-type"), Some("application/json"));
        answer.check_special_headers();
        match is_head {
            true => answer.check_head(),
            false => answer.check_body(),
        }
        answer
    }

    fn check_special_headers(&self) {
        let only_with = |name, status, value: Option<&str>| {
            assert_eq!(
                self.header(name),
                value.filter(|_| self.status == status),
                "{name}"
            );
        };
        only_with("www-authenticate", 401, Some("Bearer"));
        only_with("allow", 405, self.header("allow"));
        assert!(self.status != 405 || self.header("allow").is_some());
        let seconds = self.header("retry-after").map(str::parse::<u32>);
        match self.status.as_u16() {
            429 | 503 => assert!(matches!(seconds, Some(Ok(1..)))),
            // With a key in flight, and with no other: `check_body`.
            409 => assert!(matches!(seconds, None | Some(Ok(1..)))),
            _ => assert_eq!(seconds, None),
        }
        let replay = self.header("x-idempotent-replay");
        assert!(replay.is_none() || (replay == Some("true") && self.status.as_u16() < 400));
    }

    /// Whether it is an answer that was kept.
    pub(crate) fn is_replay(&self) -> bool {
        self.header("x-idempotent-replay").is_some()
    }

    fn check_head(&self) {
        assert_eq!(self.body, "");
        let length = self.headers.get(header::CONTENT_LENGTH).expect("of a HEAD");
        assert!(length.to_str().unwrap().parse::<u64>().unwrap() > 0);
    }

    fn check_body(&self) {
        let members = self.json().members().expect("answers are objects");
        if self.status.as_u16() < 400 {
            assert!(self.raw("/error").is_none());
            return;
        }
        let names = |raw: &RawJson| -> Vec<String> {
            let members = raw.members().unwrap();
            members
                .iter()
                .map(|(name, _)| name.lossy().to_owned())
                .collect()
        };
        assert_eq!(members.len(), 1, "{}", self.body);
        let names = names(&members[0].1);
        let expected = ["code", "message", "details", "requestId"];
        let expected: Vec<_> = expected
            .iter()
            .filter(|n| **n != "details" || self.raw("/error/details").is_some())
            .collect();
        assert_eq!(names.iter().collect::<Vec<_>>(), expected, "{}", self.body);
        assert_eq!(
            Some(self.text("/error/requestId").as_str()),
            self.header("x-request-id")
        );
        assert_eq!(
            status_of(&self.code()),
            self.status.as_u16(),
            "{}",
            self.body
        );
        if self.status == 409 {
            let waits = self.header("retry-after").is_some();
            assert_eq!(waits, self.code() == "idempotency-key-in-flight");
        }
        assert!(!self.text("/error/message").is_empty());
        if let Some(details) = self.raw("/error/details") {
            assert!(!details.members().expect("details are an object").is_empty());
        }
    }

    /// A header that is there at most once.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let mut values = self.headers.get_all(name).iter();
        let value = values.next()?.to_str().unwrap();
        assert!(values.next().is_none(), "{name} is there twice");
        Some(value)
    }

    /// The whole body.
    pub(crate) fn json(&self) -> RawJson {
        RawJson::parse(self.body.as_str()).expect("answers are JSON")
    }

    /// The value at a pointer, as it was written.
    pub(crate) fn raw(&self, pointer: &str) -> Option<RawJson> {
        Pointer::parse(pointer).unwrap().resolve(&self.json())
    }

    /// The text of the value at a pointer; none is there.
    pub(crate) fn shown(&self, pointer: &str) -> String {
        self.raw(pointer)
            .map_or_else(|| "nothing".to_owned(), |raw| raw.to_string())
    }

    /// The content of the string at a pointer.
    pub(crate) fn text(&self, pointer: &str) -> String {
        let text = self.raw(pointer).and_then(|raw| raw.as_text());
        let text = text.unwrap_or_else(|| panic!("no string at {pointer}: {}", self.body));
        text.as_str().expect("no lone surrogate").to_owned()
    }

    /// The error's code.
    pub(crate) fn code(&self) -> String {
        self.text("/error/code")
    }

    /// The error's `details.field`.
    pub(crate) fn field(&self) -> Option<String> {
        self.raw("/error/details/field")
            .map(|_| self.text("/error/details/field"))
    }

    /// The ids of a list's rows.
    pub(crate) fn ids(&self) -> Vec<String> {
        self.column("id")
    }

    /// The strings of this name in a list's rows.
    pub(crate) fn column(&self, name: &str) -> Vec<String> {
        (0..self.rows())
            .map(|row| self.text(&format!("/data/{row}/{name}")))
            .collect()
    }

    /// The texts of the values of this name in a list's rows.
    pub(crate) fn shown_column(&self, name: &str) -> Vec<String> {
        (0..self.rows())
            .map(|row| self.shown(&format!("/data/{row}/{name}")))
            .collect()
    }

    fn rows(&self) -> usize {
        let rows = self
            .raw("/data")
            .and_then(|rows| rows.items())
            .expect("a list");
        rows.len()
    }

    /// Asserts the status.
    #[track_caller]
    pub(crate) fn is(self, status: u16) -> Self {
        assert_eq!(self.status.as_u16(), status, "{}", self.body);
        self
    }

    /// Asserts the error's code, and so its status.
    #[track_caller]
    pub(crate) fn refused(self, code: &str) -> Self {
        assert!(
            self.status.as_u16() >= 400,
            "not refused with {code}: {}",
            self.body
        );
        assert_eq!(self.code(), code, "{}", self.body);
        self
    }

    /// Asserts the error's code and `details.field`.
    #[track_caller]
    pub(crate) fn refused_at(self, code: &str, field: &str) -> Self {
        let refused = self.refused(code);
        assert_eq!(refused.field().as_deref(), Some(field), "{}", refused.body);
        refused
    }
}
