//! What is taken as JSON, and that it stays as it came.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod json_support;

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};

use bytes::Bytes;
use json_support::{Choices, choices, documents, on_small_stack, write};
use kindgi_core::json::{Node, Pointer, RawJson, canonical};
use proptest::prelude::*;
use serde::de::IgnoredAny;

/// RFC 8259's grammar, by the book.
mod grammar {
    pub(super) fn accepts(text: &str) -> bool {
        value(space(text)).is_some_and(|rest| space(rest).is_empty())
    }

    fn space(text: &str) -> &str {
        text.trim_start_matches([' ', '\t', '\n', '\r'])
    }

    fn value(text: &str) -> Option<&str> {
        for literal in ["null", "true", "false"] {
            if let Some(rest) = text.strip_prefix(literal) {
                return Some(rest);
            }
        }
        match text.chars().next()? {
            '"' => string(text),
            '[' => list(&text[1..], ']', value),
            '{' => list(&text[1..], '}', |text| {
                let rest = space(string(text)?).strip_prefix(':')?;
                value(space(rest))
            }),
            _ => number(text),
        }
    }

    fn list(text: &str, close: char, element: impl Fn(&str) -> Option<&str>) -> Option<&str> {
        let mut rest = space(text);
        if let Some(rest) = rest.strip_prefix(close) {
            return Some(rest);
        }
        loop {
            rest = space(element(rest)?);
            if let Some(rest) = rest.strip_prefix(close) {
                return Some(rest);
            }
            rest = space(rest.strip_prefix(',')?);
        }
    }

    fn string(text: &str) -> Option<&str> {
        let mut chars = text.strip_prefix('"')?.chars();
        loop {
            match chars.next()? {
                '"' => return Some(chars.as_str()),
                '\\' => match chars.next()? {
                    '"' | '\\' | '/' | 'b' | 'f' | 'n' | 'r' | 't' => {}
                    'u' => {
                        for _ in 0..4 {
                            chars.next()?.to_digit(16)?;
                        }
                    }
                    _ => return None,
                },
                '\0'..='\u{1f}' => return None,
                _ => {}
            }
        }
    }

    fn number(text: &str) -> Option<&str> {
        let text = text.strip_prefix('-').unwrap_or(text);
        let mut rest = match text.strip_prefix('0') {
            Some(rest) => rest,
            None => digits(text)?,
        };
        if let Some(fraction) = rest.strip_prefix('.') {
            rest = digits(fraction)?;
        }
        if let Some(exponent) = rest.strip_prefix(['e', 'E']) {
            rest = digits(exponent.strip_prefix(['+', '-']).unwrap_or(exponent))?;
        }
        Some(rest)
    }

    fn digits(text: &str) -> Option<&str> {
        let rest = text.trim_start_matches(|c: char| c.is_ascii_digit());
        (rest.len() < text.len()).then_some(rest)
    }
}

/// Parses, checks the verdict against both references, and uses all there is on what was taken.
fn check(bytes: &[u8]) {
    let parsed = RawJson::parse(bytes);
    let text = std::str::from_utf8(bytes).ok();
    let expected = text.is_some_and(|text| serde_json::from_str::<IgnoredAny>(text).is_ok());
    assert_eq!(parsed.is_ok(), expected, "{text:?}");
    assert_eq!(expected, text.is_some_and(grammar::accepts), "{text:?}");
    match parsed {
        Ok(raw) => {
            assert_eq!(
                raw.as_str(),
                text.unwrap().trim_matches([' ', '\t', '\n', '\r'])
            );
            assert_eq!(raw.as_bytes(), raw.as_str().as_bytes());
            assert_eq!(raw.to_bytes(), raw.as_bytes());
            assert_eq!(
                RawJson::parse(canonical(&raw)).unwrap().as_str(),
                canonical(&raw)
            );
            let node = Node::parse(&raw, 100).unwrap();
            assert_eq!(node.raw(), raw);
            for pointer in node
                .first_duplicate_key()
                .into_iter()
                .chain(node.first_lone_surrogate())
            {
                assert_eq!(Pointer::parse(pointer.as_str()).unwrap(), pointer);
            }
            assert!(!format!("{raw:?}").is_empty());
        }
        Err(error) => assert!(error.to_string().starts_with("invalid JSON: ")),
    }
}

proptest! {
    #[test]
    fn arbitrary_bytes_are_judged_as_the_grammar_does(bytes in prop::collection::vec(any::<u8>(), 0..32)) {
        check(&bytes);
    }

    #[test]
    fn json_like_text_is_judged_as_the_grammar_does(text in r#"([ \t\n\[\]{},:"\\\-+.eE0-9]|null|true|"a"|\\u00e9|\\ud83d|\u{feff}|é){0,14}"#) {
        check(text.as_bytes());
    }

    #[test]
    fn damaged_documents_are_judged_as_the_grammar_does(
        doc in documents(true),
        row in choices(),
        at in any::<prop::sample::Index>(),
        byte in prop_oneof![any::<u8>(), prop::sample::select(&b"\"\\[]{},:0.e- \t"[..])],
        damage in 0..4,
    ) {
        let mut bytes = write(&doc, &mut Choices::new(&row)).0.into_bytes();
        let at = at.index(bytes.len());
        match damage {
            0 => bytes.truncate(at),
            1 => bytes[at] = byte,
            2 => bytes.insert(at, byte),
            _ => drop(bytes.remove(at)),
        }
        check(&bytes);
    }

    #[test]
    fn a_document_is_taken_and_kept_verbatim(doc in documents(true), row in choices()) {
        let (text, placed) = write(&doc, &mut Choices::new(&row));
        check(text.as_bytes());
        let raw = RawJson::parse(text.as_str()).unwrap();
        prop_assert_eq!(raw.as_str(), &text[placed.span]);
        prop_assert_eq!(raw.to_string(), raw.as_str());
        prop_assert_eq!(raw.detached(), raw);
    }

    #[test]
    fn a_string_reads_back(content in any::<String>()) {
        let raw = RawJson::string(&content);
        check(raw.as_bytes());
        let read: String = serde_json::from_str(raw.as_str()).unwrap();
        prop_assert_eq!(read, content);
    }
}

#[test]
fn every_kind_of_text_can_be_parsed() {
    let expected = RawJson::parse("[1]").unwrap();
    assert_eq!(RawJson::parse("[1]".to_owned()).unwrap(), expected);
    assert_eq!(RawJson::parse(b"[1]".to_vec()).unwrap(), expected);
    assert_eq!(RawJson::parse(&b"[1]"[..]).unwrap(), expected);
    assert_eq!(
        RawJson::parse(Bytes::from_static(b"[1]")).unwrap(),
        expected
    );
    assert_eq!(" [1] ".parse::<RawJson>().unwrap(), expected);
}

#[test]
fn owned_text_is_not_copied() {
    let text = "[1, 2, 3]".to_owned();
    let place = text.as_ptr();
    let raw = RawJson::parse(Bytes::from(text)).unwrap();
    assert_eq!(raw.as_str().as_ptr(), place);
    assert_eq!(raw.clone().as_str().as_ptr(), place);
    assert_eq!(raw.to_bytes().as_ptr(), place);
}

#[test]
fn a_byte_order_mark_is_refused_by_name() {
    let error = RawJson::parse("\u{feff}{}").unwrap_err();
    assert_eq!(
        error.to_string(),
        "invalid JSON: starts with a byte-order mark"
    );
}

#[test]
fn a_fault_in_the_encoding_is_named_with_its_place() {
    let error = RawJson::parse(&b"\"ab\xff\""[..]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "invalid JSON: invalid UTF-8 after byte 3"
    );
}

#[test]
fn a_fault_in_the_syntax_is_named_with_its_place() {
    let error = RawJson::parse("{\n\"a\" 1}").unwrap_err().to_string();
    assert!(error.contains("line 2 column 5"), "{error}");
}

#[test]
fn equality_and_hash_go_by_the_text_alone() {
    fn hash(raw: &RawJson) -> u64 {
        let mut hasher = DefaultHasher::new();
        raw.hash(&mut hasher);
        hasher.finish()
    }
    let document = RawJson::parse("[null, 1.0, 1]").unwrap();
    let first = Pointer::parse("/0").unwrap().resolve(&document).unwrap();
    assert_eq!(first, RawJson::null());
    assert_eq!(hash(&first), hash(&RawJson::null()));
    let second = Pointer::parse("/1").unwrap().resolve(&document).unwrap();
    let third = Pointer::parse("/2").unwrap().resolve(&document).unwrap();
    assert_ne!(second, third);
}

#[test]
fn constants_are_what_they_say() {
    assert_eq!(RawJson::null().as_str(), "null");
    assert!(RawJson::null().is_null());
    assert!(RawJson::parse(" null ").unwrap().is_null());
    assert!(!RawJson::string("null").is_null());
    assert_eq!(RawJson::from_bool(true).as_str(), "true");
    assert_eq!(RawJson::from_bool(false).as_str(), "false");
    assert_eq!(RawJson::null().to_bytes(), "null");
}

#[test]
fn debug_shows_the_start_of_a_long_text_only() {
    assert_eq!(
        format!("{:?}", RawJson::parse("[1]").unwrap()),
        "RawJson([1])"
    );
    let long = RawJson::string(&"é".repeat(100));
    assert_eq!(
        format!("{long:?}"),
        format!("RawJson(\"{}… 202 bytes)", "é".repeat(63))
    );
}

#[test]
fn raw_json_can_go_to_other_threads() {
    fn shared<T: Send + Sync + 'static>() {}
    shared::<RawJson>();
}

#[test]
fn a_detached_slice_does_not_share_the_document() {
    let document = RawJson::parse("[\"abc\", 2]").unwrap();
    let slice = Pointer::parse("/0").unwrap().resolve(&document).unwrap();
    let inside = document.as_bytes().as_ptr_range();
    assert!(inside.contains(&slice.as_bytes().as_ptr()));
    let detached = slice.detached();
    assert!(!inside.contains(&detached.as_bytes().as_ptr()));
    assert_eq!(detached, slice);
}

#[test]
fn depth_has_no_limit_and_needs_no_stack() {
    on_small_stack(|| {
        let deep = format!("{}1{}", "[{\"a\":".repeat(50_000), "}]".repeat(50_000));
        assert_eq!(RawJson::parse(deep.as_str()).unwrap().as_str(), deep);
        assert!(RawJson::parse(&deep[..deep.len() - 1]).is_err());
    });
}
