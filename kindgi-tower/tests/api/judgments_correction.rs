//! Corrections: what the agent should have done, and where one may ride.

use crate::common::{Answer, App, quoted};

/// Records a correction on an item.
async fn record(app: &App, item: &str, calls: &str, not_called: &str) -> Answer {
    let correction = format!(r#"{{"calls":{calls},"notCalled":{not_called}}}"#);
    let body =
        format!(r#"{{"runId":"run-1","item":{item},"verdict":"no","correction":{correction}}}"#);
    app.record("judge", &body).await
}

const ITEM: &str = r#"{"key":"kindgi:correction","pointer":""}"#;

fn call(tool: &str, args: &str) -> String {
    format!(r#"[{{"tool":{},"args":{args}}}]"#, quoted(tool))
}

#[tokio::test]
async fn a_correction_rides_on_the_reserved_key_or_on_any_other() {
    let app = App::new();
    for item in [
        ITEM,
        r#"{"key":"k","pointer":""}"#,
        r#"{"key":"Kindgi:x","pointer":""}"#,
    ] {
        let answer = record(&app, item, &call("t", "{}"), r#"["u"]"#)
            .await
            .is(201);
        let expected = r#"{"calls":[{"tool":"t","args":{}}],"notCalled":["u"]}"#;
        assert_eq!(answer.shown("/correction"), expected);
        assert_eq!(
            app.judgment(&answer.text("/id")).await.shown("/correction"),
            expected
        );
    }
    record(&app, ITEM, "[]", "[]").await.is(201);
}

#[tokio::test]
async fn keys_beginning_with_kindgi_are_reserved() {
    let app = App::new();
    for key in [
        "kindgi:x",
        "kindgi:",
        "kindgi:correction ",
        "kindgi:Correction",
    ] {
        let item = format!(r#"{{"key":"{key}","pointer":""}}"#);
        record(&app, &item, "[]", "[]")
            .await
            .refused_at("bad-input", "/item/key");
        let body = format!(r#"{{"runId":"run-1","item":{item},"verdict":"yes"}}"#);
        app.record("judge", &body)
            .await
            .refused_at("bad-input", "/item/key");
    }
    let body = format!(r#"{{"runId":"run-1","item":{ITEM},"verdict":"yes"}}"#);
    app.record("judge", &body)
        .await
        .refused_at("bad-input", "/item/key");
    for key in ["kindgi", "KINDGI:x", " kindgi:x", "kindgi：x"] {
        app.judge("judge", "run-1", key).await;
    }
}

#[tokio::test]
async fn a_correction_needs_the_pointer_to_the_whole_output() {
    let app = App::new();
    for item in [
        r#"{"key":"kindgi:correction"}"#,
        r#"{"key":"kindgi:correction","pointer":"/matches"}"#,
        r#"{"key":"k"}"#,
        r#"{"key":"k","pointer":"/"}"#,
    ] {
        record(&app, item, "[]", "[]")
            .await
            .refused_at("bad-input", "/item/pointer");
    }
}

#[tokio::test]
async fn there_are_at_most_50_calls_and_50_tools_not_called() {
    let app = App::new();
    let calls = |n: usize| format!("[{}]", vec![r#"{"tool":"t","args":{}}"#; n].join(","));
    let tools = |n: usize| format!("[{}]", vec!["\"t\""; n].join(","));
    record(&app, ITEM, &calls(50), &tools(50)).await.is(201);
    record(&app, ITEM, &calls(51), &tools(50))
        .await
        .refused_at("bad-input", "/correction/calls");
    record(&app, ITEM, &calls(50), &tools(51))
        .await
        .refused_at("bad-input", "/correction/notCalled");
}

#[tokio::test]
async fn a_tool_has_1_to_200_code_points_and_is_never_blank() {
    let app = App::new();
    let longest = "🔥".repeat(200);
    record(
        &app,
        ITEM,
        &call(&longest, "{}"),
        &format!("[{}]", quoted(&longest)),
    )
    .await
    .is(201);
    let too_long = "a".repeat(201);
    for wrong in ["", " ", "\0", "a\0", &too_long] {
        let answer = record(&app, ITEM, &call(wrong, "{}"), "[]").await;
        answer.refused_at("bad-input", "/correction/calls/0/tool");
        let answer = record(&app, ITEM, "[]", &format!("[\"t\",{}]", quoted(wrong))).await;
        answer.refused_at("bad-input", "/correction/notCalled/1");
    }
    for wrong in ["1", "null", "{}", "[]"] {
        let answer = record(&app, ITEM, "[]", &format!("[{wrong}]")).await;
        answer.refused_at("bad-input", "/correction/notCalled/0");
    }
}

#[tokio::test]
async fn args_are_an_object_of_at_most_100_properties() {
    let app = App::new();
    let args = |n: usize| {
        let members: Vec<String> = (0..n).map(|n| format!("\"{n}\":0")).collect();
        format!("{{{}}}", members.join(","))
    };
    record(&app, ITEM, &call("t", &args(100)), "[]")
        .await
        .is(201);
    for wrong in [args(101).as_str(), "[]", "null", "\"{}\"", "1"] {
        let answer = record(&app, ITEM, &call("t", wrong), "[]").await;
        answer.refused_at("bad-input", "/correction/calls/0/args");
    }
}

#[tokio::test]
async fn args_come_back_to_the_digit_and_in_their_order_without_white_space() {
    let app = App::new();
    let args = r#"{ "b" : 1.10, "a":[ 1e400 , "x\u0020y" ],"n" : {} }"#;
    let answer = record(&app, ITEM, &call("t", args), "[]").await.is(201);
    assert_eq!(
        answer.shown("/correction/calls/0/args"),
        r#"{"b":1.10,"a":[1e400,"x\u0020y"],"n":{}}"#
    );
}

#[tokio::test]
async fn args_have_at_most_4000_characters_in_canonical_form() {
    let app = App::new();
    // {"a":"…"} are eight characters besides the text.
    let of = |text: String| format!(r#"{{"a":"{text}"}}"#);
    let digits = |n: usize| format!(r#"{{"a":1.{}}}"#, "0".repeat(n));
    for (fits, args) in [
        (true, of("x".repeat(3992))),
        (false, of("x".repeat(3993))),
        (true, of("🔥".repeat(3992))),
        (false, of("🔥".repeat(3993))),
        // White space and needless escapes don't count.
        (
            true,
            format!("{{  \"a\" :\t\"{}\"  }}", r"\u0078".repeat(3992)),
        ),
        (
            false,
            format!("{{  \"a\" :\t\"{}\"  }}", r"\u0078".repeat(3993)),
        ),
        // Numbers count as they were sent: {"a":1.…} are eight characters besides the zeros.
        (true, digits(3992)),
        (false, digits(3993)),
    ] {
        let answer = record(&app, ITEM, &call("t", &args), "[]").await;
        match fits {
            true => {
                let spaces = [' ', '\t'];
                let kept = answer.is(201).shown("/correction/calls/0/args");
                assert_eq!(kept, args.replace(spaces, ""));
            }
            false => drop(answer.refused_at("bad-input", "/correction/calls/0/args")),
        }
    }
}

#[tokio::test]
async fn a_correction_has_nothing_but_its_fields() {
    let app = App::new();
    for (calls, field) in [
        (r#"[{"tool":"t","args":{},"x":1}]"#, "/correction/calls/0/x"),
        (
            r#"[{"tool":"t","args":{}},{"tool":"","args":1,"y/z":1}]"#,
            "/correction/calls/1/y~1z",
        ),
    ] {
        record(&app, ITEM, calls, "[]")
            .await
            .refused_at("unknown-field", field);
    }
    let body = format!(
        r#"{{"runId":"run-1","item":{ITEM},"verdict":"no","correction":{{"calls":[],"notCalled":[],"note":""}}}}"#
    );
    app.record("judge", &body)
        .await
        .refused_at("unknown-field", "/correction/note");
    // What is inside the arguments is the caller's own.
    record(&app, ITEM, &call("t", r#"{"anything":{"tool":1}}"#), "[]")
        .await
        .is(201);
}

#[tokio::test]
async fn a_judgment_without_a_correction_supersedes_one_with() {
    let app = App::new();
    let item = r#"{"key":"k","pointer":""}"#;
    let with = record(&app, item, "[]", "[]").await.is(201).text("/id");
    let without = app.judge("judge", "run-1", "k").await;
    assert_eq!(app.judgment(&with).await.text("/supersededBy"), without);
    assert_eq!(app.judgment(&without).await.raw("/correction"), None);
    assert_eq!(
        app.judgment(&with).await.shown("/correction"),
        r#"{"calls":[],"notCalled":[]}"#
    );
}
