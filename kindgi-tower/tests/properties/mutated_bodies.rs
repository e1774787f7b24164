//! A valid body with something changed is taken, or refused where it is wrong; and nothing is
//! dismissed unless the answer says so.

use bytes::Bytes;
use http::Method;
use kindgi_core::json::{Pointer, RawJson};
use proptest::{collection::vec, prelude::*, sample::select};

use crate::{
    block_on,
    common::{Answer, App},
};

const DISMISS: &str = "/v1/projects/p1/judging-queue/run-9/dismiss";

/// With a run in the queue.
async fn app() -> App {
    let app = App::new();
    app.rule("p1", "n", "").await;
    app.queued("p1", &["run-9"]).await;
    app
}

const BODIES: &[(&str, &str)] = &[
    (
        "/v1/judgments",
        r#"{"runId":"run-1","item":{"key":"k","pointer":"/matches/0","rank":2.0},"verdict":"yes","reason":"so","participantId":"p"}"#,
    ),
    (
        "/v1/judgments",
        r#"{"runId":"run-1","item":{"key":"kindgi:correction","pointer":""},"verdict":"no","correction":{"calls":[{"tool":"t","args":{"a":[1.0,{}]}}],"notCalled":["u"]}}"#,
    ),
    (
        "/v1/judge-classes",
        r#"{"scope":{"kind":"agent","projectId":"p1","agentId":"a"},"name":"n","weight":1e0,"description":"d","assertableBy":{"minReviewerRole":"senior","principalKinds":["user"],"principalIds":["x"]}}"#,
    ),
    (
        "/v1/judge-classes",
        r#"{"scope":{"kind":"tenant"},"name":"n","weight":0,"assertableBy":null}"#,
    ),
    (
        "/v1/projects/p1/judging-rules",
        r#"{"name":"n","when":{"agentIds":["a","b","a"],"versions":["live","1"],"status":["completed"],"includeDryRuns":true},"sample":0.5,"maxOpen":5e1,"enabled":false}"#,
    ),
    (
        "/v1/projects/p1/judging-rules",
        r#"{"name":"n","when":{"flowIds":["f"]},"judgeClassId":"none"}"#,
    ),
    (DISMISS, r#"{"reason":"not \u00fcseful 🔥"}"#),
    (DISMISS, "{ }"),
];

/// Where the queued run's item is after a request: only a dismissal that was taken dismisses it, and
/// only a judgment that was taken, of that very run, closes it.
fn should_be(path: &str, body: &[u8], status: u16) -> &'static str {
    let of_it = |body: &[u8]| body.windows(7).any(|text| text == b"\"run-9\"");
    match (path, status) {
        (DISMISS, 200) => "dismissed",
        ("/v1/judgments", 201) if of_it(body) => "judged",
        _ => "open",
    }
}

/// What a mutation puts in.
const SCRAPS: &[&str] = &[
    "",
    "\"",
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "null",
    "true",
    "0",
    "-",
    "1e400",
    "9007199254740993",
    "\\",
    "\\u0000",
    "\\ud800",
    " ",
    "\"x\":1,",
    ",\"x\":1",
    "\"key\":\"k\",",
    "é",
    "🔥",
    "/",
    "~",
    "kindgi:",
    "\u{0}",
    "\u{feff}",
    "\"verdict\":\"yes\",",
    "a",
    "\"\"",
    "{}",
    "[]",
];

/// Cuts some characters out at a place, and puts a scrap in.
fn mutate(text: &str, (at, cut, scrap): (prop::sample::Index, usize, &str)) -> String {
    let chars: Vec<char> = text.chars().collect();
    let at = at.index(chars.len() + 1);
    let end = (at + cut).min(chars.len());
    let (head, tail) = (&chars[..at], &chars[end..]);
    head.iter()
        .copied()
        .chain(scrap.chars())
        .chain(tail.iter().copied())
        .collect()
}

/// `details.field` points to a place in the body, or to a member that is missing there.
fn check_field(body: &str, answer: &Answer) {
    let Some(field) = answer.field() else {
        return;
    };
    let Ok(body) = RawJson::parse(body) else {
        assert_eq!(field, "", "{}", answer.body);
        return;
    };
    // A lone surrogate in a name can't be shown.
    if field.contains('\u{fffd}') {
        return;
    }
    let at = Pointer::parse(&field).expect("a pointer");
    let parent = field.rsplit_once('/').map_or("", |(parent, _)| parent);
    let parent = Pointer::parse(parent).unwrap().resolve(&body);
    let is_missing = answer.text("/error/message").contains("missing")
        || answer.text("/error/message").contains("a correction needs");
    match at.resolve(&body) {
        Some(_) => assert!(!answer.text("/error/message").contains("is missing")),
        None => {
            assert!(is_missing, "{body} {}", answer.body);
            assert!(
                parent.is_some_and(|parent| parent.members().is_some()),
                "{body} {}",
                answer.body
            );
        }
    }
    if answer.code() == "unknown-field" {
        assert!(at.resolve(&body).is_some(), "{body} {}", answer.body);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2048))]

    #[test]
    fn a_mutated_body_is_taken_or_refused_where_it_is_wrong(
        (path, valid) in select(BODIES),
        mutations in vec((any::<prop::sample::Index>(), 0_usize..4, select(SCRAPS)), 1..3),
    ) {
        let body = mutations.into_iter().fold(valid.to_owned(), |text, mutation| mutate(&text, mutation));
        let app = block_on(app());
        let request = app.request(Method::POST, "admin", path, body.clone());
        let answer = block_on(app.send(request));
        let state = should_be(path, body.as_bytes(), answer.status.as_u16());
        prop_assert_eq!(block_on(app.state("p1", "run-9")), state);
        match answer.status.as_u16() {
            200 | 201 => {}
            400..=499 => check_field(&body, &answer),
            _ => prop_assert!(false, "{body} {}", answer.body),
        }
    }

    #[test]
    fn a_body_with_a_byte_changed_is_taken_or_refused(
        (path, valid) in select(BODIES),
        at: prop::sample::Index,
        byte: u8,
    ) {
        let mut body = valid.as_bytes().to_vec();
        let at = at.index(body.len());
        body[at] = byte;
        let app = block_on(app());
        let request = app.request(Method::POST, "admin", path, Bytes::from(body.clone()));
        let answer = block_on(app.send(request));
        let state = should_be(path, &body, answer.status.as_u16());
        prop_assert_eq!(block_on(app.state("p1", "run-9")), state);
        match (answer.status.as_u16(), std::str::from_utf8(&body)) {
            (200 | 201, Ok(_)) => {}
            (400..=499, Ok(body)) => check_field(body, &answer),
            (_, Err(_)) => drop(answer.refused_at("bad-input", "")),
            _ => prop_assert!(false, "{}", answer.body),
        }
    }
}

#[test]
fn a_judgment_of_the_queued_run_closes_its_item() {
    let body = r#"{"runId":"run-9","item":{"key":"k"},"verdict":"yes"}"#;
    let app = block_on(app());
    let request = app.request(Method::POST, "admin", "/v1/judgments", body.to_owned());
    let answer = block_on(app.send(request));
    let state = should_be("/v1/judgments", body.as_bytes(), answer.status.as_u16());
    assert_eq!(state, "judged");
    assert_eq!(block_on(app.state("p1", "run-9")), state);
}
