//! The canonical form: one spelling for equal documents.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod json_support;

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};

use json_support::{Choices, Doc, choices, documents, on_small_stack, write};
use kindgi_core::json::{RawJson, canonical};
use proptest::prelude::*;

fn canon(text: &str) -> String {
    canonical(&RawJson::parse(text).unwrap())
}

/// The canonical form, written from the model.
fn naive(doc: &Doc) -> String {
    match doc {
        Doc::Literal(text) => (*text).to_owned(),
        Doc::Number(text) => text.clone(),
        Doc::String(points) => naive_string(points),
        Doc::Array(items) => format!(
            "[{}]",
            items.iter().map(naive).collect::<Vec<_>>().join(",")
        ),
        Doc::Object(members) => {
            let mut sorted: Vec<_> = members.iter().enumerate().collect();
            sorted.sort_by(|(i, (a, _)), (j, (b, _))| a.cmp(b).then(i.cmp(j)));
            let members: Vec<_> = sorted
                .into_iter()
                .map(|(_, (name, value))| format!("{}:{}", naive_string(name), naive(value)))
                .collect();
            format!("{{{}}}", members.join(","))
        }
    }
}

fn naive_string(points: &[u32]) -> String {
    let content: String = points
        .iter()
        .map(|point| match (point, char::from_u32(*point)) {
            (0x22, _) => "\\\"".to_owned(),
            (0x5c, _) => "\\\\".to_owned(),
            (8, _) => "\\b".to_owned(),
            (9, _) => "\\t".to_owned(),
            (10, _) => "\\n".to_owned(),
            (12, _) => "\\f".to_owned(),
            (13, _) => "\\r".to_owned(),
            (0..0x20, _) | (_, None) => format!("\\u{point:04x}"),
            (_, Some(c)) => c.to_string(),
        })
        .collect();
    format!("\"{content}\"")
}

/// Another order of members, in which those with the same name keep theirs.
fn reorder(doc: &Doc, seed: u64) -> Doc {
    match doc {
        Doc::Array(items) => Doc::Array(items.iter().map(|item| reorder(item, seed)).collect()),
        Doc::Object(members) => {
            let mut members: Vec<_> = members
                .iter()
                .map(|(name, value)| (name.clone(), reorder(value, seed)))
                .collect();
            members.sort_by_cached_key(|(name, _)| {
                let mut hasher = DefaultHasher::new();
                (seed, name).hash(&mut hasher);
                hasher.finish()
            });
            Doc::Object(members)
        }
        scalar => scalar.clone(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn agrees_with_the_model(doc in documents(true), row in choices()) {
        let text = write(&doc, &mut Choices::new(&row)).0;
        prop_assert_eq!(canon(&text), naive(&doc), "{}", text);
    }

    #[test]
    fn is_its_own_canonical_form(doc in documents(true), row in choices()) {
        let once = canon(&write(&doc, &mut Choices::new(&row)).0);
        prop_assert_eq!(canon(&once), once);
    }

    #[test]
    fn does_not_depend_on_order_white_space_or_escapes(
        doc in documents(true), row in choices(), other in choices(), seed in any::<u64>(),
    ) {
        let one = write(&doc, &mut Choices::new(&row)).0;
        let reordered = reorder(&doc, seed);
        let two = write(&reordered, &mut Choices::new(&other)).0;
        prop_assert_eq!(canon(&one), canon(&two), "{} and {}", one, two);
    }

    #[test]
    fn a_string_is_written_as_everywhere(content in any::<String>(), row in choices()) {
        let doc = Doc::String(json_support::points(&content));
        let text = write(&doc, &mut Choices::new(&row)).0;
        prop_assert_eq!(canon(&text), RawJson::string(&content).to_string());
    }
}

#[test]
fn members_are_sorted_by_code_point() {
    // By UTF-16 unit the emoji would come before U+E000; by UTF-8 byte of their escapes, all would differ.
    assert_eq!(
        canon(r#"{"😀":1,"\ue000":2,"\ud83d":3,"b":4,"\u0061":5,"":6,"B":7,"aa":8,"é":9}"#),
        "{\"\":6,\"B\":7,\"a\":5,\"aa\":8,\"b\":4,\"é\":9,\"\\ud83d\":3,\"\u{e000}\":2,\"😀\":1}"
    );
}

#[test]
fn numbers_stay_as_sent() {
    assert_eq!(
        canon("[1.10, 1E-7, -0.0, 1e400, 18446744073709551616]"),
        "[1.10,1E-7,-0.0,1e400,18446744073709551616]"
    );
}

#[test]
fn strings_are_escaped_only_where_they_must_be() {
    assert_eq!(
        canon(
            r#"["\/\u0022\\\u0008\u0009\u000A\u000C\u000d\u0000\u001F\u007f\u00e9\u2028\uD83D\uDE00","\uD83D"]"#
        ),
        "[\"/\\\"\\\\\\b\\t\\n\\f\\r\\u0000\\u001f\u{7f}é\u{2028}😀\",\"\\ud83d\"]"
    );
}

#[test]
fn duplicates_are_kept_in_their_order() {
    assert_eq!(
        canon(r#"{"b":1,"a":2,"b":0,"\u0061":1}"#),
        r#"{"a":2,"a":1,"b":1,"b":0}"#
    );
}

#[test]
fn deep_documents_need_no_stack() {
    on_small_stack(|| {
        let open = "{ \"b\" : [ 1, ";
        let close = " ], \"a\" : 1.10 }";
        let deep = format!("{}{{}}{}", open.repeat(50_000), close.repeat(50_000));
        let expected = format!(
            "{}{{}}{}",
            "{\"a\":1.10,\"b\":[1,".repeat(50_000),
            "]}".repeat(50_000)
        );
        assert_eq!(canonical(&RawJson::parse(deep).unwrap()), expected);
    });
}
