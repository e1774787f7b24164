//! A judgment's fields: their limits, and what is answered.

use kindgi_core::model::{Principal, Run, Subject};

use crate::common::{App, TENANT, finished, id, judgment, quoted, raw};

/// A valid body with one of its texts replaced.
fn body(field: &str, text: &str) -> String {
    let text = quoted(text);
    match field {
        "/runId" => format!(r#"{{"runId":{text},"item":{{"key":"k"}},"verdict":"yes"}}"#),
        "/item/key" => format!(r#"{{"runId":"run-1","item":{{"key":{text}}},"verdict":"yes"}}"#),
        _ => format!(
            r#"{{"runId":"run-1","item":{{"key":"k"}},"verdict":"yes","{}":{text}}}"#,
            &field[1..]
        ),
    }
}

#[tokio::test]
async fn a_judgment_is_answered_with_all_its_fields_and_nothing_else() {
    let app = App::new();
    let answer = app
        .record("judge", &judgment("run-1", "k", ""))
        .await
        .is(201);
    let id = answer.text("/id");
    let least = format!(
        r#"{{"id":"{id}","tenantId":"acme","projectId":"p1","runId":"run-1","subject":{{"kind":"agent","id":"acme.matcher","version":"1.2.0"}},"item":{{"key":"k"}},"verdict":"yes","assertedBy":{{"kind":"user","id":"judge"}},"createdAt":"2026-01-01T00:00:00.000Z"}}"#
    );
    assert_eq!(answer.body, least);

    let class = app
        .class(
            r#"{"kind":"tenant"}"#,
            "n",
            r#""assertableBy":{"principalKinds":["user"]}"#,
        )
        .await;
    let all = format!(
        r#"{{"correction":{{"notCalled":["x"],"calls":[{{"args":{{ "a" : 1.0 }},"tool":"t"}}]}},"participantId":"p","judgeClassId":"{class}","reason":"because","verdict":"no","item":{{"rank":3,"pointer":"","key":"all"}},"runId":"run-1"}}"#
    );
    let answer = app.record("judge", &all).await.is(201);
    let id = answer.text("/id");
    let most = format!(
        r#"{{"id":"{id}","tenantId":"acme","projectId":"p1","runId":"run-1","subject":{{"kind":"agent","id":"acme.matcher","version":"1.2.0"}},"item":{{"key":"all","pointer":"","rank":3}},"verdict":"no","reason":"because","correction":{{"calls":[{{"tool":"t","args":{{"a":1.0}}}}],"notCalled":["x"]}},"judgeClassId":"{class}","restricted":true,"assertedBy":{{"kind":"user","id":"judge"}},"participantId":"p","createdAt":"2026-01-01T00:00:00.000Z"}}"#
    );
    assert_eq!(answer.body, most);
    // Lists and the fetched one say the same.
    assert_eq!(
        app.get("judge", "/v1/judgments?limit=1")
            .await
            .shown("/data/0"),
        most
    );
    let kept = app.judgment(&id).await;
    assert!(
        kept.body.starts_with(&most[..most.len() - 1]),
        "{}",
        kept.body
    );
}

#[tokio::test]
async fn asserted_by_is_the_caller_always() {
    let app = App::new();
    app.person(
        "svc-token",
        Principal::service(id(TENANT), id("svc-1")),
        "read:p1 judge:p1",
    );
    let answer = app
        .record("svc-token", &judgment("run-1", "k", ""))
        .await
        .is(201);
    assert_eq!(
        answer.shown("/assertedBy"),
        r#"{"kind":"service","id":"svc-1"}"#
    );
    let named =
        judgment("run-1", "k", "").replacen('{', r#"{"assertedBy":{"kind":"user","id":"x"},"#, 1);
    app.record("judge", &named)
        .await
        .refused_at("unknown-field", "/assertedBy");
    let for_someone = app
        .record("judge", &body("/participantId", "end-user-7"))
        .await
        .is(201);
    assert_eq!(for_someone.text("/assertedBy/id"), "judge");
    assert_eq!(for_someone.text("/participantId"), "end-user-7");
}

#[tokio::test]
async fn ids_and_keys_have_1_to_256_code_points() {
    let app = App::new();
    for letter in ["a", "é", "🔥"] {
        let (longest, too_long) = (letter.repeat(256), letter.repeat(257));
        app.run(finished(&longest, "p1", "1"));
        for (field, code) in [
            ("/runId", None),
            ("/item/key", None),
            ("/participantId", None),
            ("/judgeClassId", Some("judge-class-not-applicable")),
        ] {
            let answer = app.record("judge", &body(field, &longest)).await;
            match code {
                Some(code) => drop(answer.refused(code)),
                None => assert_eq!(answer.is(201).text(field), longest),
            }
            app.record("judge", &body(field, &too_long))
                .await
                .refused_at("bad-input", field);
        }
    }
}

#[tokio::test]
async fn ids_and_keys_are_never_blank_nor_hold_u_0000() {
    let app = App::new();
    for field in ["/runId", "/item/key", "/participantId", "/judgeClassId"] {
        for wrong in [
            "",
            " ",
            "\t\r\n",
            "\u{a0}",
            "\u{3000}\u{2003}",
            "\0",
            "a\0b",
        ] {
            app.record("judge", &body(field, wrong))
                .await
                .refused_at("bad-input", field);
        }
    }
    app.record("judge", &body("/reason", "so\0"))
        .await
        .refused_at("bad-input", "/reason");
}

#[tokio::test]
async fn texts_are_neither_trimmed_nor_normalised() {
    let app = App::new();
    for text in [
        " k ",
        "k ",
        "K",
        "é",
        "e\u{301}",
        "\u{200b}",
        "\u{feff}k",
        "\"\\\u{7}\u{7f}/",
        "🔥",
    ] {
        for field in ["/item/key", "/participantId", "/reason"] {
            let answer = app.record("judge", &body(field, text)).await.is(201);
            assert_eq!(answer.text(field), text);
        }
    }
    // So each was a judgment of its own, but for the reasons.
    assert_eq!(
        app.ids("judge", "/v1/judgments?limit=100").await.len(),
        9 + 9 + 1
    );
    app.run(finished("run ", "p1", "1"));
    app.record("judge", &body("/runId", "run"))
        .await
        .refused("run-not-found");
}

#[tokio::test]
async fn a_reason_has_at_most_4000_code_points() {
    let app = App::new();
    for letter in ["a", "🔥"] {
        let longest = letter.repeat(4000);
        let answer = app
            .record("judge", &body("/reason", &longest))
            .await
            .is(201);
        assert_eq!(answer.text("/reason"), longest);
        let too_long = letter.repeat(4001);
        app.record("judge", &body("/reason", &too_long))
            .await
            .refused_at("bad-input", "/reason");
    }
}

#[tokio::test]
async fn an_empty_reason_is_an_absent_one() {
    let app = App::new();
    let answer = app.record("judge", &body("/reason", "")).await.is(201);
    assert_eq!(answer.raw("/reason"), None);
    assert_eq!(app.judgment(&answer.text("/id")).await.raw("/reason"), None);
    let blank = app.record("judge", &body("/reason", " ")).await.is(201);
    assert_eq!(blank.text("/reason"), " ");
}

#[tokio::test]
async fn a_verdict_is_yes_or_no_and_nothing_else() {
    let app = App::new();
    for verdict in ["yes", "no"] {
        let body = judgment("run-1", "k", "").replace("\"yes\"", &quoted(verdict));
        assert_eq!(
            app.record("judge", &body).await.is(201).text("/verdict"),
            verdict
        );
    }
    for wrong in [
        "\"Yes\"",
        "\"\"",
        "\"yes \"",
        "true",
        "1",
        "[\"yes\"]",
        "null",
    ] {
        let body = judgment("run-1", "k", "").replace("\"yes\"", wrong);
        app.record("judge", &body)
            .await
            .refused_at("bad-input", "/verdict");
    }
}

#[tokio::test]
async fn a_wrong_type_is_bad_input_where_it_is() {
    let app = App::new();
    for (body, field) in [
        (
            r#"{"runId":1,"item":{"key":"k"},"verdict":"yes"}"#,
            "/runId",
        ),
        (r#"{"runId":"run-1","item":[],"verdict":"yes"}"#, "/item"),
        (r#"{"runId":"run-1","item":"k","verdict":"yes"}"#, "/item"),
        (
            r#"{"runId":"run-1","item":{"key":{}},"verdict":"yes"}"#,
            "/item/key",
        ),
        (
            r#"{"runId":"run-1","item":{"key":"k","pointer":0},"verdict":"yes"}"#,
            "/item/pointer",
        ),
        (
            r#"{"runId":"run-1","item":{"key":"k","rank":"1"},"verdict":"yes"}"#,
            "/item/rank",
        ),
        (
            r#"{"runId":"run-1","item":{"key":"k"},"verdict":"yes","reason":1}"#,
            "/reason",
        ),
        (
            r#"{"runId":"run-1","item":{"key":"k"},"verdict":"yes","judgeClassId":false}"#,
            "/judgeClassId",
        ),
        (
            r#"{"runId":"run-1","item":{"key":"k"},"verdict":"yes","participantId":7}"#,
            "/participantId",
        ),
        (
            r#"{"runId":"run-1","item":{"key":"k"},"verdict":"yes","correction":[]}"#,
            "/correction",
        ),
    ] {
        app.record("judge", body)
            .await
            .refused_at("bad-input", field);
    }
}

#[tokio::test]
async fn a_flows_run_is_judged_as_a_flow_at_its_version() {
    let app = App::new();
    let subject = Subject::Flow {
        id: id("acme.flow"),
        version: id("2.0.0"),
    };
    app.run(Run::new(id("run-f"), id("p1"), subject).completed_with(raw("1")));
    let answer = app
        .record("judge", &judgment("run-f", "k", ""))
        .await
        .is(201);
    let subject = r#"{"kind":"flow","id":"acme.flow","version":"2.0.0"}"#;
    assert_eq!(answer.shown("/subject"), subject);
    assert_eq!(
        app.judgment(&answer.text("/id"))
            .await
            .shown("/run/subject"),
        subject
    );
}
