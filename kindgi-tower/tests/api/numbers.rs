//! Numbers: whole ones in any spelling up to 2^53 − 1, weights, and documents digit for digit.

use crate::common::{App, class, finished, judgment};

const TENANT_SCOPE: &str = r#"{"kind":"tenant"}"#;

#[tokio::test]
async fn a_whole_number_may_be_written_in_any_way() {
    let app = App::new();
    for (written, is) in [
        ("0", "0"),
        ("-0", "0"),
        ("-0.0e5", "0"),
        ("2", "2"),
        ("2.0", "2"),
        ("2e0", "2"),
        ("0.1e1", "1"),
        ("20e-1", "2"),
        ("2E+2", "200"),
        ("0e999999999999999999999", "0"),
        ("9007199254740991", "9007199254740991"),
        ("9007199254740991.000", "9007199254740991"),
        ("9.007199254740991e15", "9007199254740991"),
    ] {
        let body = judgment("run-1", "k", &format!("\"rank\":{written}"));
        let answer = app.record("judge", &body).await.is(201);
        assert_eq!(answer.shown("/item/rank"), is, "{written}");
    }
}

#[tokio::test]
async fn a_rank_that_is_no_whole_number_or_beyond_2_to_the_53_is_bad_input() {
    let app = App::new();
    for wrong in [
        "-1",
        "0.5",
        "1e-1",
        "2.00000000000000000000000000001",
        "9007199254740992",
        "9007199254740993",
        "1e16",
        "1e400",
        "18446744073709551616",
        "18446744073709551617",
        "1e999999999999999999999",
        "1e-999999999999999999999",
        "\"1\"",
        "true",
        "[]",
        "{}",
    ] {
        let body = judgment("run-1", "k", &format!("\"rank\":{wrong}"));
        app.record("judge", &body)
            .await
            .refused_at("bad-input", "/item/rank");
    }
}

#[tokio::test]
async fn a_weight_is_a_finite_number_that_isnt_negative() {
    let app = App::new();
    for (at, (written, is)) in [
        ("0", "0"),
        ("-0", "0"),
        ("-0.0", "0"),
        ("1", "1"),
        ("2.0", "2"),
        ("0.1e1", "1"),
        ("1.10", "1.1"),
        ("0.1", "0.1"),
        ("1e-400", "0"),
        ("1e-05", "0.00001"),
        ("1.7976931348623157e308", "1.7976931348623157e308"),
        ("9007199254740993", "9007199254740992"),
    ]
    .into_iter()
    .enumerate()
    {
        let body = class(TENANT_SCOPE, &at.to_string(), "")
            .replace("\"weight\":2", &format!("\"weight\":{written}"));
        let answer = app.post("admin", "/v1/judge-classes", &body).await.is(201);
        let weight: f64 = answer.shown("/weight").parse().unwrap();
        assert_eq!(weight, is.parse::<f64>().unwrap(), "{written}");
        assert!(!answer.shown("/weight").starts_with('-'), "{written}");
    }
    for wrong in ["-1", "-1e-300", "1e400", "1.8e308", "\"1\"", "null", "[]"] {
        let body =
            class(TENANT_SCOPE, "n", "").replace("\"weight\":2", &format!("\"weight\":{wrong}"));
        app.post("admin", "/v1/judge-classes", &body)
            .await
            .refused_at("bad-input", "/weight");
    }
}

#[tokio::test]
async fn numbers_inside_documents_are_kept_digit_for_digit() {
    let app = App::new();
    let number = "[1.10,1e400,1E-7,18446744073709551616,-0,-0.0,1e+2,0.30000000000000000000000001]";
    app.run(finished("run-n", "p1", number));
    let args = format!(r#"{{"a":{number}}}"#);
    let body = format!(
        r#"{{"runId":"run-n","item":{{"key":"k","pointer":""}},"verdict":"yes","correction":{{"calls":[{{"tool":"t","args":{args}}}],"notCalled":[]}}}}"#
    );
    let answer = app.record("judge", &body).await.is(201);
    assert_eq!(answer.shown("/correction/calls/0/args"), args);
    let kept = app.judgment(&answer.text("/id")).await;
    assert_eq!(kept.shown("/correction/calls/0/args"), args);
    assert_eq!(kept.shown("/itemValue"), number);
    assert_eq!(kept.shown("/run/output"), number);
    let listed = app.get("judge", "/v1/judgments").await.is(200);
    assert_eq!(listed.shown("/data/0/correction/calls/0/args"), args);
}
