//! The tree of a small document: all that was written is in it, and faults are found with their place.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod json_support;

use json_support::{
    Choices, Doc, Placed, choices, documents, is_lone, lossy, naive_search, on_small_stack, points,
    write,
};
use kindgi_core::json::{Kind, Node, Pointer, RawJson};
use proptest::prelude::*;

fn parse(text: &str) -> Node {
    Node::parse(&RawJson::parse(text).unwrap(), 128).unwrap()
}

/// The whole tree against the model, slices against the text.
fn same(node: &Node, placed: &Placed<'_>, text: &str) {
    assert_eq!(node.raw().as_str(), &text[placed.span.clone()]);
    match (node.kind(), placed.doc) {
        (Kind::Null, Doc::Literal("null"))
        | (Kind::Bool(true), Doc::Literal("true"))
        | (Kind::Bool(false), Doc::Literal("false")) => {}
        (Kind::Number(number), Doc::Number(text)) => assert_eq!(number.as_str(), text),
        (Kind::String(text), Doc::String(points)) => same_text(text, points),
        (Kind::Array(items), Doc::Array(docs)) => {
            assert_eq!(items.len(), docs.len());
            for (item, child) in items.iter().zip(&placed.children) {
                same(item, child, text);
            }
        }
        (Kind::Object(members), Doc::Object(docs)) => {
            assert_eq!(members.len(), docs.len());
            for ((key, value), (name, child)) in members.iter().zip(placed.members()) {
                same_text(key, name);
                same(value, child, text);
            }
        }
        (kind, doc) => panic!("{kind:?} is not {doc:?}"),
    }
}

fn same_text(text: &kindgi_core::json::Text, points: &[u32]) {
    let lone = points.iter().any(|point| is_lone(*point));
    assert_eq!(text.has_lone_surrogate(), lone);
    assert_eq!(text.lossy(), lossy(points));
    match text.as_str() {
        Ok(content) => {
            assert!(!lone);
            assert_eq!(content, lossy(points));
        }
        Err(error) => {
            assert!(lone);
            assert_eq!(error.to_string(), "the string has a lone surrogate escape");
        }
    }
}

fn depth(doc: &Doc) -> usize {
    match doc {
        Doc::Array(items) => 1 + items.iter().map(depth).max().unwrap_or(0),
        Doc::Object(members) => {
            1 + members
                .iter()
                .map(|(_, value)| depth(value))
                .max()
                .unwrap_or(0)
        }
        _ => 0,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn the_tree_is_the_model_and_its_slices_the_text(doc in documents(true), row in choices()) {
        let (text, placed) = write(&doc, &mut Choices::new(&row));
        same(&parse(&text), &placed, &text);
    }

    #[test]
    fn the_depth_allowed_is_the_depth_taken(doc in documents(true), row in choices()) {
        let raw = RawJson::parse(write(&doc, &mut Choices::new(&row)).0).unwrap();
        let depth = depth(&doc);
        prop_assert!(Node::parse(&raw, depth).is_ok());
        if let Some(less) = depth.checked_sub(1) {
            prop_assert_eq!(Node::parse(&raw, less).unwrap_err().max_depth(), less);
        }
    }

    #[test]
    fn the_first_duplicate_is_the_models(doc in documents(true), row in choices()) {
        let (text, placed) = write(&doc, &mut Choices::new(&row));
        let expected = naive_search(&placed, &Pointer::root(), &|name, before| before.contains(&name), &|_| false);
        prop_assert_eq!(parse(&text).first_duplicate_key(), expected);
    }

    #[test]
    fn the_first_lone_surrogate_is_the_models(doc in documents(true), row in choices()) {
        let (text, placed) = write(&doc, &mut Choices::new(&row));
        let lone = |points: &[u32]| points.iter().any(|point| is_lone(*point));
        let expected = naive_search(
            &placed,
            &Pointer::root(),
            &|name, _| lone(name),
            &|doc| matches!(doc, Doc::String(points) if lone(points)),
        );
        prop_assert_eq!(parse(&text).first_lone_surrogate(), expected);
    }

    #[test]
    fn without_lone_surrogates_none_is_found(doc in documents(false), row in choices()) {
        let text = write(&doc, &mut Choices::new(&row)).0;
        prop_assert_eq!(parse(&text).first_lone_surrogate(), None);
    }

    #[test]
    fn texts_are_equal_when_their_characters_are(content in any::<String>(), row in choices()) {
        let spelled = write(&Doc::String(points(&content)), &mut Choices::new(&row)).0;
        let (Kind::String(a), Kind::String(b)) = (parse(&spelled).kind().clone(), parse(RawJson::string(&content).as_str()).kind().clone()) else {
            panic!("both are strings");
        };
        prop_assert_eq!(a, b);
    }
}

#[test]
fn depth_counts_arrays_and_objects_within_each_other() {
    for (text, depth) in [
        ("1", 0),
        ("[]", 1),
        ("{}", 1),
        ("[{}]", 2),
        ("[1,[],[[]],{}]", 3),
        ("{\"a\":[{}]}", 3),
    ] {
        let raw = RawJson::parse(text).unwrap();
        assert!(Node::parse(&raw, depth).is_ok(), "{text}");
        assert!(
            depth == 0 || Node::parse(&raw, depth - 1).is_err(),
            "{text}"
        );
    }
    let error = Node::parse(&RawJson::parse("[[]]").unwrap(), 1).unwrap_err();
    assert_eq!(error.to_string(), "the JSON is nested deeper than 1");
}

#[test]
fn depth_is_refused_without_recursing() {
    on_small_stack(|| {
        let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
        let error = Node::parse(&RawJson::parse(deep).unwrap(), 128).unwrap_err();
        assert_eq!(error.max_depth(), 128);
    });
}

#[test]
fn no_tree_is_deeper_than_can_be_dropped() {
    let nested = |depth: usize| {
        RawJson::parse(format!("{}{}", "[".repeat(depth), "]".repeat(depth))).unwrap()
    };
    assert!(Node::parse(&nested(Node::MAX_DEPTH), usize::MAX).is_ok());
    let error = Node::parse(&nested(Node::MAX_DEPTH + 1), usize::MAX).unwrap_err();
    assert_eq!(error.max_depth(), Node::MAX_DEPTH);
}

#[test]
fn duplicates_are_found_in_the_order_of_the_text() {
    for (text, pointer) in [
        (r#"{"a":1,"b":2}"#, None),
        (r#"{"a":1,"a":2}"#, Some("/a")),
        (r#"{"a":1,"\u0061":2}"#, Some("/a")),
        (r#"{"a":{"x":1,"x":2},"a":1}"#, Some("/a/x")),
        (r#"{"a":1,"a":{"x":1,"x":2}}"#, Some("/a")),
        (
            r#"[{"a":1},{"a":1},{"b":[{"~":1,"/":2,"~":3}]}]"#,
            Some("/2/b/0/~0"),
        ),
        (r#"{"a":{"a":{"a":1}}}"#, None),
        (r#"{"":1,"":1}"#, Some("/")),
        (r#"{"\ud800":1,"\ud801":1,"\ufffd":1}"#, None),
        (r#"{"\ud80a":1,"\uD80A":1}"#, Some("/\u{fffd}")),
        ("1", None),
    ] {
        let found = parse(text).first_duplicate_key();
        assert_eq!(found.as_ref().map(Pointer::as_str), pointer, "{text}");
    }
}

#[test]
fn lone_surrogates_are_found_in_names_and_strings() {
    for (text, pointer) in [
        (r#""\ud83d""#, Some("")),
        (r#""\ud83d\ude00""#, None),
        (r#""\ude00\ud83d""#, Some("")),
        (r#""\\ud83d""#, None),
        (r#"{"a":[1,"x","\udfff"]}"#, Some("/a/2")),
        (r#"{"a":1,"b\ud83d":"\ud83d"}"#, Some("/b\u{fffd}")),
        (r#"{"a":{"c":"\ud83d"},"b\ud83d":1}"#, Some("/a/c")),
    ] {
        let found = parse(text).first_lone_surrogate();
        assert_eq!(found.as_ref().map(Pointer::as_str), pointer, "{text}");
    }
}

#[test]
fn whole_numbers_in_a_document_are_exact() {
    let node = parse("[2.0, 1e999999999999]");
    let Kind::Array(items) = node.kind() else {
        panic!("an array");
    };
    let values: Vec<_> = items
        .iter()
        .map(|item| match item.kind() {
            Kind::Number(number) => number.to_u64_exact(),
            other => panic!("{other:?} is a number"),
        })
        .collect();
    assert_eq!(values, [Some(2), None]);
}
