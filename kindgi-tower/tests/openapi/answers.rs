//! What the service answers is what the document says, and all of what it says is answered.

use std::collections::BTreeSet;

use http::Method;
use kindgi_core::model::Segment;
use serde_json::Value;

use crate::{
    common::{Answer, App, OUTPUT, agent_scope, finished, id, project_scope, queue, rule, rules},
    document,
    schema::{Checker, documented},
};

/// Everything that a run's context may hold.
const CONTEXT: &str = r#"{
    "history": [{"role": "user"}], "historyTruncated": true, "retrieved": [1], "recalled": null,
    "sessionApproval": {"approved": true, "rationale": "fine"},
    "flow": {
        "calls": [{"runId": "r", "nodeId": "n", "scope": "s", "toolId": "t", "arguments": {},
                   "result": 1, "fromEvent": true}],
        "steps": [{"runId": "r", "nodeId": "n", "scope": "s", "agentId": "a", "agentVersion": "1",
                   "retrieved": 1, "recalled": 2}],
        "truncated": true
    },
    "toolEnv": {"t": {"KEY": "value"}}
}"#;

/// Calls an app, and checks each answer against the document.
struct Story<'d> {
    app: App,
    document: &'d Value,
    checker: Checker<'d>,
    answered: BTreeSet<String>,
}

impl<'d> Story<'d> {
    async fn call(&mut self, method: Method, token: &str, path: &str, body: &str) -> Answer {
        let answer = self.app.call(method.clone(), token, path, body).await;
        let operation = self.operation(&method, path);
        let id = operation["operationId"].as_str().unwrap();
        let status = answer.status.as_u16().to_string();
        let response = &operation["responses"][&status];
        assert!(response.is_object(), "{id}: {status} isn't documented");
        if let Some(codes) = response["x-error-codes"].as_array() {
            let code = Value::from(answer.code());
            assert!(codes.contains(&code), "{id}: {code} isn't documented");
        }
        for (header, _) in response["headers"].as_object().unwrap() {
            let sometimes = ["X-Idempotent-Replay", "Retry-After"].contains(&header.as_str());
            assert!(
                sometimes || answer.header(header).is_some(),
                "{id}: no {header}"
            );
        }
        let value: Value = serde_json::from_str(&answer.body).unwrap();
        let schema = &response["content"]["application/json"]["schema"];
        let checked = self.checker.check(id, schema, &value);
        checked.unwrap_or_else(|fault| panic!("{id} {status}: {fault}"));
        if answer.status.is_success() {
            self.answered.insert(id.to_owned());
        }
        answer
    }

    /// The operation of a path: of those that fit, the one with the fewest parameters.
    fn operation(&self, method: &Method, path: &str) -> &'d Value {
        let path: Vec<_> = path.split('?').next().unwrap().split('/').collect();
        let fits = |template: &str| {
            let template: Vec<_> = template.split('/').collect();
            let alike = |(t, p): (&&str, &&str)| t.starts_with('{') || t == p;
            template.len() == path.len() && template.iter().zip(&path).all(alike)
        };
        let paths = self.document["paths"].as_object().unwrap().iter();
        let fitting = paths.filter(|(template, _)| fits(template));
        let (_, found) = fitting
            .min_by_key(|(template, _)| template.matches('{').count())
            .unwrap();
        &found[method.as_str().to_ascii_lowercase()]
    }

    async fn get(&mut self, path: &str) -> Answer {
        self.call(Method::GET, "admin", path, "").await
    }

    async fn post(&mut self, path: &str, body: &str) -> Answer {
        self.call(Method::POST, "admin", path, body).await
    }

    async fn patch(&mut self, path: &str, body: &str) -> Answer {
        self.call(Method::PATCH, "admin", path, body).await
    }
}

async fn classes(story: &mut Story<'_>) -> String {
    const LIST: &str = "/v1/judge-classes";
    let restricted = r#""description":"experts","assertableBy":{
        "principalKinds":["user"],"principalIds":["admin"]}"#;
    let scope = agent_scope("p1", "acme.matcher");
    let body = format!(r#"{{"scope":{scope},"name":"expert","weight":1.5,{restricted}}}"#);
    let class = story.post(LIST, &body).await.is(201).text("/id");
    story
        .post(LIST, &body)
        .await
        .refused("judge-class-name-taken");
    let body = format!(
        r#"{{"scope":{},"name":"other","weight":0}}"#,
        project_scope("p1")
    );
    let other = story.post(LIST, &body).await.is(201).text("/id");
    story.get(&format!("{LIST}?limit=1")).await.is(200);
    story.call(Method::GET, "reader", LIST, "").await.is(200);
    let path = format!("{LIST}/{other}");
    story
        .patch(&path, r#"{"assertableBy":{"minReviewerRole":"senior"}}"#)
        .await
        .is(200);
    story
        .patch(&path, r#"{"weights":2}"#)
        .await
        .refused("unknown-field");
    story.post(&format!("{path}/unregister"), "").await.is(200);
    story.get(&path).await.is(200);
    class
}

async fn judgments(story: &mut Story<'_>, class: &str) {
    const LIST: &str = "/v1/judgments";
    story.app.host.context(Some(CONTEXT));
    let segment = Segment {
        key: id("team"),
        value: id("blue"),
    };
    let run = finished("run-all", "p1", OUTPUT).with_segments(vec![segment]);
    story.app.run(run.with_replay_of(id("run-1")));
    let body = format!(
        r#"{{"runId":"run-all","item":{{"key":"k","pointer":"","rank":3}},"verdict":"no",
            "reason":"wrong","judgeClassId":"{class}","participantId":"p",
            "correction":{{"calls":[{{"tool":"t","args":{{"a":1}}}}],"notCalled":["u"]}}}}"#
    );
    let first = story.post(LIST, &body).await.is(201).text("/id");
    let second = story.post(LIST, &body).await.is(201).text("/id");
    for id in [&first, &second] {
        story.get(&format!("{LIST}/{id}")).await.is(200);
    }
    let other = body.replace(r#""key":"k""#, r#""key":"l""#);
    story.post(LIST, &other).await.is(201);
    story
        .get(&format!("{LIST}?limit=1&verdict=no"))
        .await
        .is(200);
    story
        .get(&format!("{LIST}?scopeKind=org"))
        .await
        .refused("scope-invalid");
    story
        .post(&format!("{LIST}/{second}/unregister"), "")
        .await
        .is(200);
    story.get(&format!("{LIST}/{second}")).await.is(200);
    story
        .get(&format!("{LIST}/none"))
        .await
        .refused("judgment-not-found");
    story
        .post(LIST, &body.replace("run-all", "none"))
        .await
        .refused("run-not-found");
    story
        .call(Method::POST, "reader", LIST, &body)
        .await
        .refused("permission-denied");
    story
        .call(Method::GET, "", LIST, "")
        .await
        .refused("auth-missing");
    let long = " ".repeat((1 << 20) + 1);
    story.post(LIST, &long).await.refused("request-too-large");
    story.app.erase("run-all").await;
    story.get(&format!("{LIST}/{first}")).await.is(200);
    story.post(LIST, &body).await.refused("run-erased");
}

async fn queued(story: &mut Story<'_>, class: &str) {
    let list = rules("p1");
    let more = format!(r#""sample":1,"maxOpen":3,"judgeClassId":"{class}","enabled":true"#);
    let when = r#"{"agentIds":["acme.matcher"],"versions":["1.2.0"],"status":["completed"],"includeDryRuns":true}"#;
    let body = rule("wide", &more).replace(r#""when":{}"#, &format!(r#""when":{when}"#));
    let id = story.post(&list, &body).await.is(201).text("/ruleId");
    story.post(&list, &rule("any", "")).await.is(201);
    let flows = r#""when":{"flowIds":["acme.flow"]}"#;
    let flows = rule("flows", "").replace(r#""when":{}"#, flows);
    let flows = story.post(&list, &flows).await.is(201).text("/ruleId");
    story.app.queued("p1", &["q1", "q2", "q3"]).await;
    let judged = format!(
        r#"{{"runId":"q1","item":{{"key":"k"}},"verdict":"yes","judgeClassId":"{class}"}}"#
    );
    story.post("/v1/judgments", &judged).await.is(201);
    let unclassified = r#"{"runId":"q1","item":{"key":"l"},"verdict":"yes"}"#;
    story.post("/v1/judgments", unclassified).await.is(201);
    let place = queue("p1");
    let dismiss = format!("{place}/q2/dismiss");
    story.post(&dismiss, r#"{"reason":"dull"}"#).await.is(200);
    story
        .post(&dismiss, "")
        .await
        .refused("judging-item-not-open");
    story.post(&format!("{place}/q3/dismiss"), "").await.is(200);
    story.post(&format!("{place}/q3/reopen"), "").await.is(200);
    story.get(&format!("{place}?limit=1")).await.is(200);
    story.get(&place).await.is(200);
    story.app.erase("q3").await;
    story.get(&place).await.is(200);

    let path = format!("{list}/{id}");
    story
        .get(&format!("{path}/results?since=2000-01-01T00:00:00Z"))
        .await
        .is(200);
    story
        .get(&format!("{list}/preview?last=10&ruleId={id}"))
        .await
        .is(200);
    story.patch(&path, r#"{"name":"wider"}"#).await.is(200);
    story.get(&format!("{path}/versions?limit=1")).await.is(200);
    story.get(&format!("{list}?limit=1")).await.is(200);
    story.post(&format!("{path}/unregister"), "").await.is(200);
    story.post(&format!("{path}/unregister"), "").await.is(200);
    story.get(&path).await.is(200);
    story.get(&format!("{list}/{flows}")).await.is(200);
}

#[tokio::test]
async fn the_service_answers_what_the_document_says_and_all_of_it() {
    let document = document();
    let mut story = Story {
        app: App::new(),
        document: &document,
        checker: Checker::new(&document),
        answered: BTreeSet::new(),
    };
    let class = classes(&mut story).await;
    queued(&mut story, &class).await;
    judgments(&mut story, &class).await;

    let mut operations = BTreeSet::new();
    let mut all = BTreeSet::new();
    for (path, methods) in document["paths"].as_object().unwrap() {
        for operation in methods.as_object().unwrap().values() {
            // The document's own answer is the document.
            if path == "/v1/openapi.json" {
                continue;
            }
            let id = operation["operationId"].as_str().unwrap();
            operations.insert(id.to_owned());
            for response in operation["responses"].as_object().unwrap().values() {
                let schema = &response["content"]["application/json"]["schema"];
                documented(&document, id, schema, &mut all);
            }
        }
    }
    assert_eq!(story.answered, operations);
    let mut never: BTreeSet<_> = all.difference(&story.checker.seen).cloned().collect();
    for none in [
        // Of an answer that is withheld, which none of these operations has.
        "WireError.error.details.status",
        "WireError.error.details.at",
        // A judgment without its copies is a live one, just made or listed.
        "Judgment.unregisteredAt",
        "Judgment.supersededBy",
    ] {
        assert!(never.remove(none), "{none}");
    }
    assert_eq!(never, BTreeSet::new(), "documented, but never answered");
}
