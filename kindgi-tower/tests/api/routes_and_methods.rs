//! Paths match as they are sent; HEAD is GET; everything else is 404 or 405.

use http::Method;

use crate::common::{App, queue, rule, rules};

/// A path, and its methods.
const PATHS: &[(&str, &str)] = &[
    ("/v1/judgments", "GET, HEAD, POST"),
    ("/v1/judgments/x", "GET, HEAD"),
    ("/v1/judgments/x/unregister", "POST"),
    ("/v1/judge-classes", "GET, HEAD, POST"),
    ("/v1/judge-classes/x", "GET, HEAD, PATCH"),
    ("/v1/judge-classes/x/unregister", "POST"),
    ("/v1/projects/p1/judging-rules", "GET, HEAD, POST"),
    ("/v1/projects/p1/judging-rules/x", "GET, HEAD, PATCH"),
    ("/v1/projects/p1/judging-rules/x/unregister", "POST"),
    ("/v1/projects/p1/judging-rules/x/versions", "GET, HEAD"),
    ("/v1/projects/p1/judging-rules/x/results", "GET, HEAD"),
    ("/v1/projects/p1/judging-rules/preview", "GET, HEAD"),
    ("/v1/projects/p1/judging-rules/preview/results", "GET, HEAD"),
    ("/v1/projects/p1/judging-queue", "GET, HEAD"),
    ("/v1/projects/p1/judging-queue/x/dismiss", "POST"),
    ("/v1/projects/p1/judging-queue/x/reopen", "POST"),
];

#[tokio::test]
async fn a_known_path_with_another_method_is_405_and_says_which_it_has() {
    let app = App::new();
    let methods = [
        "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "LIST",
    ];
    for (path, allow) in PATHS {
        for name in methods {
            let method = Method::from_bytes(name.as_bytes()).unwrap();
            let answer = app.call(method, "judge", path, "").await;
            let allowed = allow.split(", ").any(|allowed| allowed == name);
            assert_eq!(answer.status != 405, allowed, "{name} {path}");
            if !allowed {
                assert_eq!(answer.header("allow"), Some(*allow), "{name} {path}");
            }
        }
    }
}

#[tokio::test]
async fn methods_compare_exactly() {
    let app = App::new();
    let get = Method::from_bytes(b"get").unwrap();
    app.call(get, "judge", "/v1/judgments", "")
        .await
        .refused("method-not-allowed");
}

#[tokio::test]
async fn an_unknown_path_a_trailing_slash_and_an_empty_segment_are_404() {
    let app = App::new();
    app.judge("judge", "run-1", "k").await;
    for path in [
        "/",
        "/v1",
        "/v1/",
        "/v1/judgment",
        "/V1/judgments",
        "/v1/Judgments",
        "/v1/judgments/",
        "/v1//judgments",
        "//v1/judgments",
        "/v1/judgments//",
        "/v1/judgments//unregister",
        "/v1/judgments/x/",
        "/v1/judgments/x/unregister/",
        "/v1/judgments/x//unregister",
        "/v1/judgments/x/y",
        "/v1/judgments/x/unregister/y",
        "/v1/judge-classes/",
        "/v1/judge-classes//unregister",
        "/v1/projects",
        "/v1/projects/p1",
        "/v1/projects//judging-rules",
        "/v1/projects/judging-rules",
        "/v1/projects//judging-rules/x",
        "/v1/projects//judging-rules/x/versions",
        "/v1/projects/p1/judging-rules/",
        "/v1/projects/p1/judging-rules//",
        "/v1/projects/p1/judging-rules//versions",
        "/v1/projects/p1/judging-rules//unregister",
        "/v1/projects/p1/judging-rules/x/",
        "/v1/projects/p1/judging-rules/x/versions/",
        "/v1/projects/p1/judging-rules/x/versions/1",
        "/v1/projects/p1/judging-rules/x/results/",
        "/v1/projects/p1/judging-rules//results",
        "/v1/projects//judging-rules/x/results",
        "/v1/projects//judging-rules/preview",
        "/v1/projects/p1/judging-rules//preview",
        "/v1/projects/p1/judging-rules/preview/",
        "/v1/projects/judging-rules/preview",
        "/v1/projects/judging-queue",
        "/v1/projects//judging-queue",
        "/v1/projects//judging-queue/",
        "/v1/projects//judging-queue/x/dismiss",
        "/v1/projects//judging-queue/x/reopen",
        "/v1/projects/p1//judging-queue",
        "/v1/projects/p1/judging-queue/",
        "/v1/projects/p1/judging-queue/x",
        "/v1/projects/p1/judging-queue//dismiss",
        "/v1/projects/p1/judging-queue//reopen",
        "/v1/projects/p1/judging-queue/dismiss",
        "/v1/projects/p1/judging-queue/x/",
        "/v1/projects/p1/judging-queue/x/dismiss/",
        "/v1/projects/p1/judging-queue/x/y/dismiss",
        "/v1/projects/p1/judging-queue/x/Dismiss",
        "/v1/projects/p1/judging-queue/x%2Fdismiss",
        "/v1/projects/p1/judging%2Dqueue",
        "/v1/projects/p1//judging-rules",
        "/v1/projects/p1%2Fjudging-rules",
        "/v1/judgments%2Fx",
        "/v1%2Fjudgments",
        "/v1/%6Audgments",
        "/v1/./judgments",
        "/v1/judgments/../judge-classes",
        "/{judgmentId}",
        "*",
    ] {
        for method in [Method::GET, Method::POST] {
            let answer = app.call(method, "judge", path, "").await;
            assert_eq!((answer.code().as_str(), path), ("not-found", path));
            // No redirects.
            assert_eq!(answer.header("location"), None);
        }
        app.head("judge", path).await.is(404);
    }
}

#[tokio::test]
async fn an_id_is_decoded_once_and_an_encoded_slash_belongs_to_it() {
    let app = App::new();
    for id in [
        "a%2Fb",
        "a%2funregister",
        "%2F",
        "%25",
        "%",
        "%zz",
        "a+b",
        "%E2%82%AC",
        "%c3%a9",
        ".",
        "..",
    ] {
        let path = format!("/v1/judgments/{id}");
        app.get("judge", &path).await.refused("judgment-not-found");
        app.post("judge", &format!("{path}/unregister"), "")
            .await
            .refused("judgment-not-found");
        let path = format!("{}/{id}", rules("p1"));
        for path in [
            path.clone(),
            format!("{path}/versions"),
            format!("{path}/results"),
        ] {
            let answer = app.get("judge", &path).await;
            answer.refused("judging-rule-not-found");
        }
        for path in [rules(id), format!("{}/preview", rules(id)), queue(id)] {
            let answer = app.get("admin", &path).await;
            answer.refused("project-not-found");
        }
        for how in ["dismiss", "reopen"] {
            let path = format!("{}/{id}/{how}", queue("p1"));
            let answer = app.post("admin", &path, "").await;
            answer.refused("judging-item-not-found");
            let path = format!("{}/x/{how}", queue(id));
            let answer = app.post("admin", &path, "").await;
            answer.refused("project-not-found");
        }
    }
}

#[tokio::test]
async fn a_rule_reads_by_its_ids_however_those_are_encoded() {
    let app = App::new();
    let rule = app.rule("p%2F%C3%A9", "n", "").await;
    let rule = rule.rsplit('/').next().unwrap();
    let encoded: String = rule.bytes().map(|b| format!("%{b:02X}")).collect();
    for project in ["p%2f%c3%a9", "%70%2F%C3%A9", "p%2Fé"] {
        for id in [rule, &encoded] {
            let path = format!("{}/{id}", rules(project));
            let answer = app.get("admin", &path).await.is(200);
            assert_eq!(answer.text("/ruleId"), rule);
            assert_eq!(answer.text("/projectId"), "p/é");
        }
    }
    // Text compares exactly.
    let answer = app
        .get("admin", &format!("{}/{rule}", rules("p%2F%65")))
        .await;
    answer.refused("judging-rule-not-found");
}

#[tokio::test]
async fn a_judgment_reads_by_its_id_however_that_is_encoded() {
    let app = App::new();
    let id = app.judge("judge", "run-1", "k").await;
    let encoded: String = id.bytes().map(|b| format!("%{b:02X}")).collect();
    let answer = app
        .get("judge", &format!("/v1/judgments/{encoded}"))
        .await
        .is(200);
    assert_eq!(answer.text("/id"), id);
    // Text compares exactly.
    app.get("judge", &format!("/v1/judgments/{id}%20"))
        .await
        .refused("judgment-not-found");
    app.get(
        "judge",
        &format!("/v1/judgments/{}", id.to_uppercase() + "A"),
    )
    .await
    .refused("judgment-not-found");
}

#[tokio::test]
async fn an_id_that_is_no_text_of_1_to_256_characters_is_bad_input() {
    let app = App::new();
    let long = "é".repeat(257);
    let long: String = long.bytes().map(|b| format!("%{b:02x}")).collect();
    for id in [
        "%00",
        "a%00b",
        "%ff",
        "%c3",
        "%ed%a0%80",
        "%20",
        "%09%0a",
        "%e2%80%83",
        long.as_str(),
    ] {
        for (root, name) in [
            ("judgments", "judgmentId"),
            ("judge-classes", "judgeClassId"),
        ] {
            let path = format!("/v1/{root}/{id}");
            app.get("judge", &path).await.refused_at("bad-input", name);
            app.post("judge", &format!("{path}/unregister"), "")
                .await
                .refused_at("bad-input", name);
        }
        for (root, name) in [
            (format!("{}/x", rules(id)), "projectId"),
            (format!("{}/{id}", rules("p1")), "ruleId"),
        ] {
            let (versions, results) = (format!("{root}/versions"), format!("{root}/results"));
            for path in [&root, &versions, &results] {
                app.get("admin", path).await.refused_at("bad-input", name);
            }
            let unregister = format!("{root}/unregister");
            let answer = app.post("admin", &unregister, "").await;
            answer.refused_at("bad-input", name);
            let answer = app.patch("admin", &root, "{}").await;
            answer.refused_at("bad-input", name);
        }
        for path in [rules(id), format!("{}/preview", rules(id)), queue(id)] {
            let answer = app.get("admin", &path).await;
            answer.refused_at("bad-input", "projectId");
        }
        for how in ["dismiss", "reopen"] {
            for (path, name) in [
                (format!("{}/{id}/{how}", queue("p1")), "runId"),
                (format!("{}/x/{how}", queue(id)), "projectId"),
            ] {
                let answer = app.post("admin", &path, "").await;
                answer.refused_at("bad-input", name);
            }
        }
        let answer = app.post("admin", &rules(id), &rule("n", "")).await;
        answer.refused_at("bad-input", "projectId");
    }
    let longest: String = "%c3%a9".repeat(256);
    app.get("judge", &format!("/v1/judgments/{longest}"))
        .await
        .refused("judgment-not-found");
}

#[tokio::test]
async fn head_answers_as_get_does_without_the_body() {
    let app = App::new();
    let rule = app.rule("p1", "n", "").await;
    let id = app.judge("judge", "run-1", "k").await;
    for path in [
        "/v1/judgments".to_owned(),
        "/v1/judgments?limit=0".to_owned(),
        format!("/v1/judgments/{id}"),
        "/v1/judgments/none".to_owned(),
        "/v1/judge-classes".to_owned(),
        "/v1/judge-classes/none".to_owned(),
        rules("p1"),
        rules("x"),
        rule.clone(),
        format!("{rule}/versions"),
        format!("{}/none/versions", rules("p1")),
        format!("{rule}/results"),
        format!("{}/none/results", rules("p1")),
        format!("{}/preview?last=5", rules("p1")),
        format!("{}/preview?last=0", rules("p1")),
        queue("p1"),
        format!("{}?limit=0", queue("p1")),
        format!("{}?forMe=maybe", queue("p1")),
        queue("x"),
        "/v1/none".to_owned(),
    ] {
        let get = app.get("judge", &path).await;
        let head = app.head("judge", &path).await;
        assert_eq!(head.status, get.status, "{path}");
        let length = head
            .header("content-length")
            .unwrap()
            .parse::<usize>()
            .unwrap();
        assert_eq!(length, get.body.len(), "{path}");
    }
    app.head("", "/v1/judgments").await.is(401);
    let unregister = app
        .head("judge", "/v1/judgments/x/unregister")
        .await
        .is(405);
    assert_eq!(unregister.header("allow"), Some("POST"));
}

#[tokio::test]
async fn the_mounts_prefix_is_taken_off_once_where_it_is_there() {
    for base in ["/kindgi", "kindgi", "/kindgi/", "//kindgi//"] {
        let app = App::with(|builder| builder.base_path(base));
        for path in ["/kindgi/v1/judgments", "/v1/judgments"] {
            app.get("judge", path).await.is(200);
        }
        for path in [
            "/kindgi",
            "/kindgi/",
            "/kindgix/v1/judgments",
            "/kindgiv1/judgments",
            "/kindgi/kindgi/v1/judgments",
            "/kindgi//v1/judgments",
            "//kindgi/v1/judgments",
            "/Kindgi/v1/judgments",
            "/kindgi/v1/judgments/",
        ] {
            app.get("judge", path).await.refused("not-found");
        }
    }
    let app = App::new();
    app.get("judge", "/kindgi/v1/judgments")
        .await
        .refused("not-found");
    let app = App::with(|builder| builder.base_path("/a/b"));
    app.get("judge", "/a/b/v1/judgments").await.is(200);
    app.get("judge", "/b/v1/judgments")
        .await
        .refused("not-found");
    let app = App::with(|builder| builder.base_path("/"));
    app.get("judge", "/v1/judgments").await.is(200);
}
