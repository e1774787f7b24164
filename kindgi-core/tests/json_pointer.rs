//! JSON Pointers: which value a pointer names, and that it comes byte for byte.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod json_support;

use json_support::{
    Choices, Doc, Placed, choices, documents, lossy, naive_resolve, on_small_stack, points,
    random_tokens, write,
};
use kindgi_core::json::{Pointer, RawJson};
use proptest::prelude::*;

fn resolve(document: &str, pointer: &str) -> Option<String> {
    let document = RawJson::parse(document).unwrap();
    let value = Pointer::parse(pointer).unwrap().resolve(&document);
    value.map(|value| value.to_string())
}

fn expect(document: &str, pointer: &str, expected: Option<&str>) {
    assert_eq!(
        resolve(document, pointer).as_deref(),
        expected,
        "{pointer:?} in {document}"
    );
}

fn pointer_of(tokens: &[String]) -> Pointer {
    tokens
        .iter()
        .fold(Pointer::root(), |pointer, token| pointer.child(token))
}

/// Documents in which most names repeat.
fn few_names() -> impl Strategy<Value = Doc> {
    let name = prop::sample::select(vec![points("a"), points("a"), points("b"), points("0")]);
    Just(Doc::Literal("null")).prop_recursive(6, 64, 4, move |inner| {
        prop_oneof![
            1 => prop::collection::vec(inner.clone(), 1..3).prop_map(Doc::Array),
            3 => prop::collection::vec((name.clone(), inner), 1..4).prop_map(Doc::Object),
        ]
    })
}

/// The tokens of a walk from the top that takes one child after the other.
fn walk(placed: &Placed<'_>, steps: &[prop::sample::Index]) -> Vec<String> {
    let mut tokens = Vec::new();
    let mut here = placed;
    for step in steps {
        if here.children.is_empty() {
            break;
        }
        let child = step.index(here.children.len());
        tokens.push(match here.doc {
            Doc::Object(members) => lossy(&members[child].0),
            _ => child.to_string(),
        });
        here = &here.children[child];
    }
    tokens
}

/// Compares with the model by place, not by text, so that equal texts elsewhere don't pass.
fn agrees(doc: &Doc, row: &[u8], tokens: impl Fn(&Placed<'_>) -> Vec<String>) {
    let (text, placed) = write(doc, &mut Choices::new(row));
    let document = RawJson::parse(text.as_str()).unwrap();
    let tokens = tokens(&placed);
    let found = pointer_of(&tokens).resolve(&document).map(|value| {
        let start = value.as_str().as_ptr() as usize - document.as_str().as_ptr() as usize;
        start..start + value.as_str().len()
    });
    let shift = placed.span.start;
    let expected = naive_resolve(&placed, &tokens).map(|span| span.start - shift..span.end - shift);
    assert_eq!(found, expected, "{tokens:?} in {text}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn a_pointer_to_something_names_what_the_model_says(
        doc in documents(true), row in choices(), steps in prop::collection::vec(any::<prop::sample::Index>(), 0..6),
    ) {
        agrees(&doc, &row, |placed| walk(placed, &steps));
    }

    #[test]
    fn a_pointer_that_leaves_the_path_names_what_the_model_says(
        doc in documents(true), row in choices(), steps in prop::collection::vec(any::<prop::sample::Index>(), 0..4), more in random_tokens(),
    ) {
        agrees(&doc, &row, |placed| [walk(placed, &steps), more.clone()].concat());
    }

    #[test]
    fn among_many_duplicates_the_last_counts_as_the_model_says(
        doc in few_names(), row in choices(), steps in prop::collection::vec(any::<prop::sample::Index>(), 2..7),
    ) {
        agrees(&doc, &row, |placed| walk(placed, &steps));
    }

    #[test]
    fn tokens_read_back_as_pushed(tokens in prop::collection::vec(any::<String>(), 0..6)) {
        let pointer = pointer_of(&tokens);
        prop_assert_eq!(pointer.tokens().collect::<Vec<_>>(), tokens);
        prop_assert_eq!(Pointer::parse(pointer.as_str()), Ok(pointer.clone()));
        prop_assert_eq!(pointer.to_string().parse(), Ok(pointer));
    }

    #[test]
    fn parse_accepts_the_grammar_alone(text in "[/~01a é]{0,8}") {
        let mut valid = text.is_empty() || text.starts_with('/');
        let mut chars = text.chars();
        while let Some(c) = chars.next() {
            if c == '~' {
                valid &= matches!(chars.next(), Some('0' | '1'));
            }
        }
        prop_assert_eq!(Pointer::parse(&text).is_ok(), valid);
    }
}

#[test]
fn rfc_6901_section_5() {
    let document = r#"{"foo": ["bar", "baz"], "": 0, "a/b": 1, "c%d": 2, "e^f": 3, "g|h": 4, "i\\j": 5, "k\"l": 6, " ": 7, "m~n": 8}"#;
    for (pointer, value) in [
        ("", document),
        ("/foo", r#"["bar", "baz"]"#),
        ("/foo/0", r#""bar""#),
        ("/", "0"),
        ("/a~1b", "1"),
        ("/c%d", "2"),
        ("/e^f", "3"),
        ("/g|h", "4"),
        ("/i\\j", "5"),
        ("/k\"l", "6"),
        ("/ ", "7"),
        ("/m~0n", "8"),
    ] {
        expect(document, pointer, Some(value));
    }
}

#[test]
fn values_come_byte_for_byte() {
    let document = r#"{"big":18446744073709551616,"exp":1e400,"tiny":1E-7,"dup":1,"dup":2,"esc":"\u00e9\u0000\ud83d","z":1,"a":1.10}"#;
    for (pointer, value) in [
        ("/big", "18446744073709551616"),
        ("/exp", "1e400"),
        ("/tiny", "1E-7"),
        ("/dup", "2"),
        ("/esc", r#""\u00e9\u0000\ud83d""#),
        ("/z", "1"),
        ("/a", "1.10"),
        ("", document),
    ] {
        expect(document, pointer, Some(value));
    }
    expect(document, "/none", None);
}

#[test]
fn odd_names_and_nested_values_are_found() {
    let document = r#"{"a/b":1,"m~n":2,"":3,"é":{"x":null},"list":[[1,2],3]}"#;
    for (pointer, value) in [
        ("/a~1b", Some("1")),
        ("/m~0n", Some("2")),
        ("/", Some("3")),
        ("/é", Some(r#"{"x":null}"#)),
        ("/é/x", Some("null")),
        ("/list", Some("[[1,2],3]")),
        ("/list/0", Some("[1,2]")),
        ("/list/0/0", Some("1")),
        ("/list/0/1", Some("2")),
        ("/list/1", Some("3")),
        ("/list/2", None),
        ("/list/-", None),
        ("/list/00", None),
        ("/list/01", None),
        ("/list/+1", None),
        ("/list/", None),
        ("/list/0/0/0", None),
        ("/list/18446744073709551616", None),
        ("/é/x/y", None),
        ("/a", None),
        ("//", None),
    ] {
        expect(document, pointer, value);
    }
}

#[test]
fn names_compare_unescaped() {
    expect(r#"{"\u0061": 1}"#, "/a", Some("1"));
    expect(r#"{"\ud83d\ude00": 1}"#, "/😀", Some("1"));
    expect(r#"{"\/": 1}"#, "/~1", Some("1"));
    expect(r#"{"~1": 1}"#, "/~01", Some("1"));
    expect(r#"{"a": 1}"#, "/\\u0061", None);
}

#[test]
fn a_name_with_a_lone_surrogate_equals_nothing_and_leaves_its_siblings() {
    let document = r#"{"a": 1, "\ud83d": 2, "\ude00b": 3, "c": 4}"#;
    expect(document, "/a", Some("1"));
    expect(document, "/c", Some("4"));
    expect(document, "/\u{fffd}", None);
    expect(document, "/\u{fffd}b", None);
    expect(document, "/", None);
}

#[test]
fn the_last_of_duplicate_names_counts_at_every_level() {
    expect(
        r#"{"a": {"b": 1, "b": 2}, "a": {"b": 3, "b": 4}}"#,
        "/a/b",
        Some("4"),
    );
    expect(r#"{"a": {"b": 1}, "a": {}}"#, "/a/b", None);
    expect(r#"{"a": {"b": 1}, "a": 0}"#, "/a/b", None);
    expect(r#"{"a": {"b": {"c": 1}}, "a": 0}"#, "/a/b/c", None);
    expect(
        r#"{"a": {"b": {"c": {"d": 1}}}, "a": {"b": 1}}"#,
        "/a/b/c/d",
        None,
    );
    expect(r#"{"a": [1], "a": {"0": 2}}"#, "/a/0", Some("2"));
    expect(r#"{"a": {"0": 2}, "a": [1]}"#, "/a/0", Some("1"));
    expect(r#"{"a": {"b": 1}, "\u0061": {"c": 2}}"#, "/a/b", None);
    expect(r#"{"a": {"b": 1}, "c": {"b": 2}}"#, "/a/b", Some("1"));
    expect(r#"{"a": {"b": 1, "a": 5}, "b": 2}"#, "/a/b", Some("1"));
}

#[test]
fn indices_do_not_name_members_of_arrays_further_in() {
    expect("[[10, 11, 12], 13]", "/1", Some("13"));
    expect("[[10, 11, 12], [13], 14]", "/2", Some("14"));
    expect("[{\"0\": 1, \"1\": 2}, 3]", "/0/1", Some("2"));
}

#[test]
fn a_scalar_document_has_itself_alone() {
    expect(" 1.10 ", "", Some("1.10"));
    expect("1.10", "/", None);
    expect("\"a\"", "/0", None);
}

#[test]
fn malformed_pointers_are_refused() {
    for text in [
        "a", "a/b", "#", "#/a", "~0", "/~", "/~2", "/a~", "/~a", "/~~0", "/~/", " /a", "/a/~1~",
    ] {
        assert!(Pointer::parse(text).is_err(), "{text}");
    }
    for text in [
        "", "/", "//", "/~0", "/~1", "/~01", "/~00~11", "/a b/é", "/\0",
    ] {
        assert_eq!(Pointer::parse(text).unwrap().as_str(), text);
    }
}

#[test]
fn a_pointer_is_built_from_names_and_indices() {
    let mut pointer = Pointer::root();
    assert!(pointer.is_root());
    pointer.push("a/b~");
    pointer.push_index(12);
    assert_eq!(pointer.as_str(), "/a~1b~0/12");
    assert!(!pointer.is_root());
    assert_eq!(pointer.child("").as_str(), "/a~1b~0/12/");
    assert_eq!(pointer.child_index(0).as_str(), "/a~1b~0/12/0");
    assert_eq!(Pointer::default(), Pointer::root());
}

#[test]
fn long_pointers_and_deep_documents_need_no_stack() {
    on_small_stack(|| {
        let deep = format!(
            "{}1.10{}",
            "{\"a\":[7,".repeat(50_000),
            "],\"b\":0}".repeat(50_000)
        );
        let document = RawJson::parse(deep).unwrap();
        let value = |pointer: String| Pointer::parse(&pointer).unwrap().resolve(&document);

        assert_eq!(value("/a/1".repeat(50_000)).unwrap().as_str(), "1.10");
        let half = value("/a/1".repeat(25_000)).unwrap();
        assert!(half.as_str().starts_with("{\"a\":[7,{\"a\":"));
        assert_eq!(
            half.as_str().len(),
            4 + 25_000 * ("{\"a\":[7,".len() + "],\"b\":0}".len())
        );
        assert_eq!(
            value(format!("{}/b", "/a/1".repeat(49_999)))
                .unwrap()
                .as_str(),
            "0"
        );
        assert_eq!(value("/a/1".repeat(50_001)), None);
        assert_eq!(value(format!("{}/a/2", "/a/1".repeat(49_999))), None);
    });
}

#[test]
fn a_long_pointer_into_many_duplicates_takes_the_last() {
    let tail = "/x".repeat(50_000);
    let members: String = (0..50_000).map(|n| format!("\"a\":[{n}],")).collect();
    let document = RawJson::parse(format!("{{{members}\"a\":{{\"x\":5}}}}")).unwrap();
    let long = Pointer::parse(&format!("/a{tail}")).unwrap();
    assert_eq!(long.resolve(&document), None);
    let short = Pointer::parse("/a/x").unwrap();
    assert_eq!(short.resolve(&document).unwrap().as_str(), "5");
}
