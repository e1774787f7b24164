//! Answers: what is written is valid, compact, and says what was meant.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod json_support;

use json_support::{Choices, Doc, choices, documents, lossy, write};
use kindgi_core::json::{ArrayWriter, Kind, Node, Number, ObjectWriter, RawJson, Writer};
use proptest::prelude::*;

/// Writes a member of the model, numbers as raw text.
fn member(o: &mut ObjectWriter<'_>, name: &str, doc: &Doc) {
    match doc {
        Doc::Literal("null") => o.null(name),
        Doc::Literal(text) => o.bool(name, *text == "true"),
        Doc::Number(text) => o.raw(name, &RawJson::parse(text.as_str()).unwrap()),
        Doc::String(points) => o.str(name, &lossy(points)),
        Doc::Array(items) => o.array(name, |a| items.iter().for_each(|doc| item(a, doc))),
        Doc::Object(members) => o.object(name, |o| {
            members
                .iter()
                .for_each(|(name, doc)| member(o, &lossy(name), doc));
        }),
    }
}

fn item(a: &mut ArrayWriter<'_>, doc: &Doc) {
    match doc {
        Doc::Literal("null") => a.null(),
        Doc::Literal(text) => a.bool(*text == "true"),
        Doc::Number(text) => a.raw(&RawJson::parse(text.as_str()).unwrap()),
        Doc::String(points) => a.str(&lossy(points)),
        Doc::Array(items) => a.array(|a| items.iter().for_each(|doc| item(a, doc))),
        Doc::Object(members) => a.object(|o| {
            members
                .iter()
                .for_each(|(name, doc)| member(o, &lossy(name), doc));
        }),
    }
}

/// What was written, read back and compared with the model.
fn same(node: &Node, doc: &Doc) {
    match (node.kind(), doc) {
        (Kind::Null, Doc::Literal("null")) => {}
        (Kind::Bool(value), Doc::Literal(text)) => assert_eq!(value.to_string(), *text),
        (Kind::Number(number), Doc::Number(text)) => assert_eq!(number.as_str(), text),
        (Kind::String(text), Doc::String(points)) => {
            assert_eq!(text.as_str().unwrap(), lossy(points))
        }
        (Kind::Array(items), Doc::Array(docs)) => {
            assert_eq!(items.len(), docs.len());
            items
                .iter()
                .zip(docs)
                .for_each(|(item, doc)| same(item, doc));
        }
        (Kind::Object(members), Doc::Object(docs)) => {
            assert_eq!(members.len(), docs.len());
            for ((key, value), (name, doc)) in members.iter().zip(docs) {
                assert_eq!(key.as_str().unwrap(), lossy(name));
                same(value, doc);
            }
        }
        (kind, doc) => panic!("{kind:?} is not {doc:?}"),
    }
}

fn f64_text(value: f64) -> String {
    let text = Writer::array(|a| a.f64(value));
    text.strip_prefix('[')
        .unwrap()
        .strip_suffix(']')
        .unwrap()
        .to_owned()
}

proptest! {
    #[test]
    fn what_is_written_reads_back(doc in documents(false)) {
        let text = Writer::object(|o| member(o, "document", &doc));
        let raw = RawJson::parse(text.as_str()).unwrap();
        let whole = Doc::Object(vec![(json_support::points("document"), doc)]);
        same(&Node::parse(&raw, 128).unwrap(), &whole);
    }

    #[test]
    fn raw_values_go_in_unchanged(doc in documents(true), row in choices()) {
        let raw = RawJson::parse(write(&doc, &mut Choices::new(&row)).0).unwrap();
        let text = Writer::array(|a| {
            a.raw(&raw);
            a.object(|o| {
                o.raw("a", &raw);
                o.opt_raw("b", Some(&raw));
                o.opt_raw("c", None);
            });
        });
        prop_assert_eq!(text, format!("[{raw},{{\"a\":{raw},\"b\":{raw}}}]"));
    }

    #[test]
    fn names_and_strings_read_back(key in any::<String>(), value in any::<String>()) {
        let text = Writer::object(|o| o.str(&key, &value));
        let read: std::collections::BTreeMap<String, String> = serde_json::from_str(&text).unwrap();
        prop_assert_eq!(read, [(key, value)].into());
    }

    #[test]
    fn doubles_read_back(value in any::<f64>()) {
        let text = f64_text(value);
        if value.is_finite() {
            let read = Number::parse(&text).unwrap().to_f64().unwrap();
            prop_assert_eq!(read, value);
        } else {
            prop_assert_eq!(text, "null");
        }
    }

    #[test]
    fn whole_doubles_are_written_as_integers(value in -9_007_199_254_740_991i64..=9_007_199_254_740_991, small in -1000i64..1000) {
        for whole in [value, small] {
            prop_assert_eq!(f64_text(whole as f64), whole.to_string());
        }
    }

    #[test]
    fn whole_numbers_are_exact(value in any::<u64>()) {
        let text = Writer::array(|a| a.u64(value));
        prop_assert_eq!(text, format!("[{value}]"));
    }
}

#[test]
fn an_answer_is_compact_and_in_the_order_written() {
    let raw = RawJson::parse(r#" {"kept":  1.10} "#).unwrap();
    let text = Writer::object(|o| {
        o.str("id", "x\n\u{1}\"");
        o.opt_str("reason", None);
        o.opt_str("note", Some(""));
        o.u64("rank", 3);
        o.opt_u64("none", None);
        o.opt_u64("some", Some(u64::MAX));
        o.bool("x", true);
        o.f64("weight", 2.0);
        o.null("nextCursor");
        o.raw("itemValue", &raw);
        o.object("scope", |o| o.bool("b", false));
        o.object("empty", |_| {});
        o.array("none", |_| {});
        o.array("data", |a| {
            a.object(|o| o.u64("n", 1));
            a.array(|a| a.f64(0.5));
            a.str("a");
            a.raw(&raw);
            a.u64(7);
            a.bool(true);
            a.null();
        });
    });
    assert_eq!(
        text,
        concat!(
            r#"{"id":"x\n\u0001\"","note":"","rank":3,"some":18446744073709551615,"x":true,"weight":2,"#,
            r#""nextCursor":null,"itemValue":{"kept":  1.10},"scope":{"b":false},"empty":{},"none":[],"#,
            r#""data":[{"n":1},[0.5],"a",{"kept":  1.10},7,true,null]}"#
        )
    );
}

#[test]
fn doubles_are_short() {
    for (value, text) in [
        (2.0, "2"),
        (-2.0, "-2"),
        (0.0, "0"),
        (-0.0, "0"),
        (0.1, "0.1"),
        (0.30000000000000004, "0.30000000000000004"),
        (1e-7, "1e-7"),
        (5e-324, "5e-324"),
        (1e300, "1e300"),
        (f64::MAX, "1.7976931348623157e308"),
        (9_007_199_254_740_991.0, "9007199254740991"),
        (f64::NAN, "null"),
        (f64::INFINITY, "null"),
        (f64::NEG_INFINITY, "null"),
    ] {
        assert_eq!(f64_text(value), text);
    }
}

#[test]
fn a_written_value_is_raw_json_without_parsing_again() {
    let object = RawJson::object(|o| o.str("a", "b"));
    assert_eq!(object, RawJson::parse(r#"{"a":"b"}"#).unwrap());
    let array = RawJson::array(|a| a.raw(&object));
    assert_eq!(array, RawJson::parse(r#"[{"a":"b"}]"#).unwrap());
}
