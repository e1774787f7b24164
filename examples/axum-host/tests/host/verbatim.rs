//! Copies and item values come back byte for byte.

use crate::process::Host;

const OUTPUT: &str = r#"{"big":18446744073709551616,"exp":1e400,"tiny":1E-7,"dup":1,"dup":2,"esc":"\u00e9\u0000\ud83d","z":1,"a":1.10}"#;

#[test]
fn a_judged_item_and_its_runs_output_are_the_text_they_were() {
    let host = Host::start(&[]);
    for (pointer, value) in [
        ("/big", "18446744073709551616"),
        ("/exp", "1e400"),
        ("/tiny", "1E-7"),
        ("/dup", "2"),
        ("/esc", r#""\u00e9\u0000\ud83d""#),
        ("/a", "1.10"),
        ("", OUTPUT),
    ] {
        let id = host
            .judge("run-verbatim", pointer, "test-token")
            .expect(201)
            .text("/id");
        let shown = host
            .get(&format!("/v1/judgments/{id}"), "test-token")
            .expect(200);
        assert_eq!(shown.find("/itemValue").as_deref(), Some(value));
        assert_eq!(shown.find("/run/output").as_deref(), Some(OUTPUT));
        // Once more on the bare text, whatever the reader above makes of it.
        let copy = format!(r#""output":{OUTPUT},"#);
        assert!(shown.body.contains(&copy), "{}", shown.body);
        let item = format!(r#""itemValue":{value}"#);
        let after = shown.body.split_once(&item).map(|(_, after)| after);
        let whole = after.is_some_and(|after| after.starts_with([',', '}']));
        assert!(whole, "{}", shown.body);
    }
}

#[test]
fn keys_that_a_pointer_escapes_are_found() {
    let host = Host::start(&[]);
    for (pointer, value) in [
        ("/a~1b", "1"),
        ("/m~0n", "2"),
        ("/", "3"),
        ("/é", r#"{"x":null}"#),
        ("/é/x", "null"),
        ("/list/0/1", "2"),
    ] {
        let id = host
            .judge("run-odd-keys", pointer, "test-token")
            .expect(201)
            .text("/id");
        let shown = host
            .get(&format!("/v1/judgments/{id}"), "test-token")
            .expect(200);
        assert_eq!(
            shown.find("/itemValue").as_deref(),
            Some(value),
            "{pointer}"
        );
    }
    for pointer in ["/a", "/list/00", "/list/-", "/list/2", "/é/y", "/é/x/0"] {
        let refused = host.judge("run-odd-keys", pointer, "test-token");
        refused.expect_error(400, "item-not-found");
    }
}
