//! What a host's choice of serde_json's features changes: its own values, and nothing of ours.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
#![allow(
    clippy::disallowed_types,
    reason = "a host's own `Value` is what shows whether the feature is on"
)]

use kindgi_core::{
    json::{Kind, Node, Pointer, RawJson, canonical},
    model::Args,
};
use proptest::prelude::*;
use serde_json::Value;

#[test]
fn a_hosts_numbers_are_kept_as_text_exactly_under_arbitrary_precision() {
    let value: Value = serde_json::from_str("1.10").unwrap();
    let kept = cfg!(feature = "arbitrary-precision");
    assert_eq!(value.to_string(), if kept { "1.10" } else { "1.1" });
}

#[test]
fn a_hosts_maps_keep_their_order_exactly_under_preserve_order() {
    let value: Value = serde_json::from_str(r#"{"z":1,"a":2}"#).unwrap();
    let (kept, sorted) = (r#"{"z":1,"a":2}"#, r#"{"a":2,"z":1}"#);
    let expected = if cfg!(feature = "preserve-order") {
        kept
    } else {
        sorted
    };
    assert_eq!(value.to_string(), expected);
}

/// Everything that a `Value` loses, with or without the features.
const DOCUMENT: &str = concat!(
    r#"{"big":18446744073709551616, "exp":1e400,"tiny":1E-7,"dup":1,"dup":2.0,"#,
    r#""esc":"\u00e9\u0000\ud83d","z":1,"a":[1.10, -0],"$serde_json::private::Number":"1"}"#,
);

#[test]
fn our_documents_stay_verbatim() {
    let raw = RawJson::parse(DOCUMENT).unwrap();
    assert_eq!(raw.as_str(), DOCUMENT);
    for (pointer, expected) in [
        ("/big", "18446744073709551616"),
        ("/exp", "1e400"),
        ("/tiny", "1E-7"),
        ("/dup", "2.0"),
        ("/esc", r#""\u00e9\u0000\ud83d""#),
        ("/a", "[1.10, -0]"),
        ("/a/0", "1.10"),
        ("/$serde_json::private::Number", r#""1""#),
    ] {
        let found = Pointer::parse(pointer).unwrap().resolve(&raw);
        assert_eq!(
            found.as_ref().map(RawJson::as_str),
            Some(expected),
            "{pointer}"
        );
    }
}

#[test]
fn our_trees_keep_the_order_of_members_and_the_text_of_numbers() {
    let raw = RawJson::parse(r#"{"z":1.10,"a":1e400,"$serde_json::private::Number":"1"}"#).unwrap();
    let node = Node::parse(&raw, 8).unwrap();
    let Kind::Object(members) = node.kind() else {
        panic!("an object is one");
    };
    let members: Vec<_> = members
        .iter()
        .map(|(key, value)| (key.lossy(), value.raw()))
        .collect();
    let members: Vec<_> = members
        .iter()
        .map(|(key, value)| (*key, value.as_str()))
        .collect();
    let expected = [
        ("z", "1.10"),
        ("a", "1e400"),
        ("$serde_json::private::Number", r#""1""#),
    ];
    assert_eq!(members, expected);
}

#[test]
fn our_canonical_form_sorts_by_itself_and_keeps_numbers_as_sent() {
    let raw = RawJson::parse(r#"{"z": 1.10, "a": 1e400}"#).unwrap();
    assert_eq!(canonical(&raw), r#"{"a":1e400,"z":1.10}"#);
    let args = Args::new(raw).unwrap();
    assert_eq!(args.as_json().as_str(), r#"{"z":1.10,"a":1e400}"#);
}

proptest! {
    #[test]
    fn any_number_keeps_its_text(text in "-?(0|[1-9][0-9]{0,30})(\\.[0-9]{1,30})?([eE][+-]?[0-9]{1,4})?") {
        let raw = RawJson::parse(format!(r#"[{text}]"#)).unwrap();
        let found = Pointer::parse("/0").unwrap().resolve(&raw).unwrap();
        prop_assert_eq!(found.as_str(), &text);
        let node = Node::parse(&raw, 8).unwrap();
        prop_assert_eq!(node.raw(), raw);
    }
}
