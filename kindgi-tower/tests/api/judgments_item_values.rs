//! `itemValue`: what the pointer resolves to, verbatim.

use crate::common::{App, OUTPUT, finished, judgment, quoted};

const ODD: &str =
    r#"{"a/b":1,"m~n":2,"":3,"é":{"x":null},"list":[[1,2],3], " ":4,"~1":5,"0":6,"\u0000":7}"#;
const VERBATIM: &str = r#"{"big":18446744073709551616,"exp":1e400,"tiny":1E-7,"dup":1,"dup":2,"esc":"\u00e9\u0000\ud83d","z":1,"a":1.10}"#;

fn at(run: &str, pointer: &str) -> String {
    judgment(run, "k", &format!("\"pointer\":{}", quoted(pointer)))
}

#[tokio::test]
async fn a_pointer_resolves_by_rfc_6901() {
    let app = App::new();
    app.run(finished("odd", "p1", ODD));
    for (pointer, value) in [
        ("", ODD),
        ("/a~1b", "1"),
        ("/m~0n", "2"),
        ("/", "3"),
        ("/é", r#"{"x":null}"#),
        ("/é/x", "null"),
        ("/list", "[[1,2],3]"),
        ("/list/0", "[1,2]"),
        ("/list/0/1", "2"),
        ("/list/1", "3"),
        ("/ ", "4"),
        ("/~01", "5"),
        ("/0", "6"),
    ] {
        let answer = app.record("judge", &at("odd", pointer)).await.is(201);
        assert_eq!(answer.text("/item/pointer"), pointer);
        let kept = app.judgment(&answer.text("/id")).await;
        assert_eq!(kept.shown("/itemValue"), value, "{pointer}");
    }
}

#[tokio::test]
async fn a_pointer_with_u_0000_is_refused_though_it_would_resolve() {
    let app = App::new();
    app.run(finished("odd", "p1", ODD));
    app.record("judge", &judgment("odd", "k", r#""pointer":"/\u0000""#))
        .await
        .refused_at("bad-input", "/item/pointer");
}

#[tokio::test]
async fn a_pointer_to_nothing_is_item_not_found() {
    let app = App::new();
    app.run(finished("odd", "p1", ODD));
    app.run(finished("text", "p1", "\"text\""));
    for pointer in [
        "/none",
        "/list/2",
        "/list/-",
        "/list/00",
        "/list/01",
        "/list/+1",
        "/list/1.0",
        "/list/ 1",
        "/list/",
        "/list/18446744073709551616",
        "/list/0/0/0",
        "/a",
        "/e\u{301}",
        "//",
        "/é/x/y",
        "/list/١",
    ] {
        let answer = app.record("judge", &at("odd", pointer)).await;
        answer.refused_at("item-not-found", "/item/pointer");
    }
    app.record("judge", &at("text", "/0"))
        .await
        .refused("item-not-found");
}

#[tokio::test]
async fn a_malformed_pointer_is_bad_input() {
    let app = App::new();
    for pointer in [
        "a",
        " /a",
        "#",
        "#/a",
        "/~",
        "/~2",
        "/a~",
        "/~~0",
        "matches/0",
    ] {
        let answer = app.record("judge", &at("run-1", pointer)).await;
        answer.refused_at("bad-input", "/item/pointer");
    }
}

#[tokio::test]
async fn a_pointer_may_be_as_long_as_the_body() {
    let app = App::new();
    let key = "k".repeat(100_000);
    app.run(finished("wide", "p1", &format!(r#"{{"{key}":1.0}}"#)));
    let depth = 50_000;
    let deep = format!("{}1.0{}", "[".repeat(depth), "]".repeat(depth));
    app.run(finished("deep", "p1", &deep));
    for (run, pointer) in [("wide", format!("/{key}")), ("deep", "/0".repeat(depth))] {
        let answer = app.record("judge", &at(run, &pointer)).await.is(201);
        let kept = app.judgment(&answer.text("/id")).await;
        assert_eq!(kept.text("/item/pointer"), pointer);
        assert_eq!(kept.shown("/itemValue"), "1.0");
        app.record("judge", &at(run, &format!("{pointer}/0")))
            .await
            .refused("item-not-found");
    }
}

#[tokio::test]
async fn without_a_pointer_there_is_no_item_value() {
    let app = App::new();
    let id = app.judge("judge", "run-1", "k").await;
    let kept = app.judgment(&id).await;
    assert_eq!(kept.raw("/itemValue"), None);
    assert_eq!(kept.raw("/item/pointer"), None);
}

#[tokio::test]
async fn null_is_a_value() {
    let app = App::new();
    let id = app
        .record("judge", &at("run-1", "/note"))
        .await
        .is(201)
        .text("/id");
    let kept = app.judgment(&id).await;
    assert!(
        kept.body.ends_with(r#","itemValue":null}"#),
        "{}",
        kept.body
    );
}

#[tokio::test]
async fn values_and_copies_are_kept_byte_for_byte() {
    let app = App::new();
    app.run(finished("verbatim", "p1", VERBATIM));
    for (pointer, value) in [
        ("", VERBATIM),
        ("/big", "18446744073709551616"),
        ("/exp", "1e400"),
        ("/tiny", "1E-7"),
        // Of repeated keys the pointer takes the last.
        ("/dup", "2"),
        ("/esc", r#""\u00e9\u0000\ud83d""#),
        ("/a", "1.10"),
    ] {
        let id = app
            .record("judge", &at("verbatim", pointer))
            .await
            .is(201)
            .text("/id");
        // On the raw text of the answer.
        let body = app.judgment(&id).await.body;
        assert!(
            body.contains(&format!(r#","output":{VERBATIM},"segments":"#)),
            "{body}"
        );
        assert!(
            body.ends_with(&format!(r#","itemValue":{value}}}"#)),
            "{body}"
        );
    }
}

#[tokio::test]
async fn a_value_is_the_one_when_it_was_judged() {
    let app = App::new();
    let first = app
        .record("judge", &at("run-1", "/matches/0/score"))
        .await
        .is(201)
        .text("/id");
    app.run(finished("run-1", "p1", &OUTPUT.replace("1.10", "7")));
    let second = app
        .record("judge", &at("run-1", "/matches/0/score"))
        .await
        .is(201)
        .text("/id");
    assert_eq!(app.judgment(&first).await.shown("/itemValue"), "1.10");
    assert_eq!(app.judgment(&second).await.shown("/itemValue"), "7");
    // The copy stays the first judgment's.
    assert_eq!(app.judgment(&second).await.shown("/run/output"), OUTPUT);
}
