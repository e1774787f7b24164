//! What the service takes is what the document says: each body has all that its schema names, and
//! each limit is the service's own.

use std::collections::BTreeSet;

use http::Method;
use serde_json::{Value, json};

use crate::{
    common::{App, queue, rule, rules},
    document,
    facts::resolved,
    schema::{Checker, documented},
};

/// A body that the service takes, with everything that may be in it but for what excludes the
/// rest of it.
struct Body {
    operation: &'static str,
    method: Method,
    path: String,
    json: Value,
}

async fn bodies(app: &App) -> Vec<Body> {
    let body = |operation, method, path: &str, json| Body {
        operation,
        method,
        path: path.to_owned(),
        json,
    };
    let class = app.class(r#"{"kind":"tenant"}"#, "mine", "").await;
    let changed = app.class(r#"{"kind":"tenant"}"#, "to change", "").await;
    let made = app
        .post("admin", &rules("p1"), &rule("r", ""))
        .await
        .is(201);
    app.queued("p1", &["q"]).await;
    let assertable_by = json!({
        "minReviewerRole": "standard", "principalKinds": ["user"], "principalIds": ["admin"],
    });
    let when = json!({
        "agentIds": ["a"], "versions": ["1"], "status": ["completed"], "includeDryRuns": true,
    });
    let flows = json!({ "flowIds": ["f"] });
    let rule_of = |when| {
        json!({
            "name": "n", "when": when, "sample": 0.5, "maxOpen": 5, "judgeClassId": class,
            "enabled": true,
        })
    };
    let changed = format!("/v1/judge-classes/{changed}");
    let rule = format!("{}/{}", rules("p1"), made.text("/ruleId"));
    let (create, update) = (
        "projects.judgingRules.create",
        "projects.judgingRules.update",
    );
    let class_of = |scope| {
        json!({
            "scope": scope, "name": "a name", "weight": 1, "description": "d",
            "assertableBy": assertable_by,
        })
    };
    let create_class = |scope| {
        body(
            "judgeClasses.create",
            Method::POST,
            "/v1/judge-classes",
            class_of(scope),
        )
    };
    vec![
        body(
            "judgments.create",
            Method::POST,
            "/v1/judgments",
            json!({
                "runId": "run-1", "item": { "key": "k", "pointer": "", "rank": 1 }, "verdict": "yes",
                "reason": "r", "judgeClassId": class, "participantId": "p",
                "correction": { "calls": [{ "tool": "t", "args": { "a": 1 } }], "notCalled": ["u"] },
            }),
        ),
        create_class(json!({ "kind": "agent", "projectId": "p1", "agentId": "a" })),
        create_class(json!({ "kind": "project", "projectId": "p1" })),
        create_class(json!({ "kind": "tenant" })),
        body(
            "judgeClasses.update",
            Method::PATCH,
            &changed,
            json!({
                "weight": 1, "description": "d", "assertableBy": assertable_by,
            }),
        ),
        body(create, Method::POST, &rules("p1"), rule_of(when.clone())),
        body(create, Method::POST, &rules("p1"), rule_of(flows.clone())),
        body(update, Method::PATCH, &rule, rule_of(when)),
        body(update, Method::PATCH, &rule, rule_of(flows)),
        body(
            "projects.judgingQueue.dismiss",
            Method::POST,
            &format!("{}/q/dismiss", queue("p1")),
            json!({ "reason": "r" }),
        ),
    ]
}

fn schema_of<'d>(document: &'d Value, operation: &str) -> &'d Value {
    let paths = document["paths"].as_object().unwrap().values();
    let mut operations = paths.flat_map(|path| path.as_object().unwrap().values());
    let found = operations.find(|o| o["operationId"] == operation).unwrap();
    &found["requestBody"]["content"]["application/json"]["schema"]
}

#[tokio::test]
async fn the_service_takes_each_field_that_a_body_may_have() {
    let document = document();
    let app = App::new();
    let mut checker = Checker::new(&document);
    let mut all = BTreeSet::new();
    for body in bodies(&app).await {
        let schema = schema_of(&document, body.operation);
        checker.check(body.operation, schema, &body.json).unwrap();
        documented(&document, body.operation, schema, &mut all);
        let answer = app
            .call(body.method, "admin", &body.path, &body.json.to_string())
            .await;
        assert!(
            answer.status.is_success(),
            "{}: {}",
            body.operation,
            answer.body
        );
    }
    assert_eq!(checker.seen, all);
    let paths = document["paths"].as_object().unwrap().values();
    let operations = paths.flat_map(|path| path.as_object().unwrap().values());
    let with_body = operations.filter(|operation| operation.get("requestBody").is_some());
    assert_eq!(with_body.count(), 6);
}

/// A change to a body's value, and whether the schema still takes it.
struct Change {
    value: Value,
    fits: bool,
    /// The member at fault, where the change is to what an object has.
    member: Option<&'static str>,
}

fn fits(value: Value) -> Change {
    Change {
        value,
        fits: true,
        member: None,
    }
}

fn breaks(value: Value) -> Change {
    Change {
        value,
        fits: false,
        member: None,
    }
}

/// One change to each side of each limit that the schema has for the value.
fn changes(schema: &Value, value: &Value) -> Vec<Change> {
    let bound = |name: &str| schema[name].as_u64();
    let times = |n: u64| match value {
        Value::Array(items) => json!(vec![items[0].clone(); n as usize]),
        Value::Object(_) => (0..n).map(|n| (format!("a{n}"), json!(n))).collect(),
        // Each a code point of more than one byte.
        _ => json!("é".repeat(n as usize)),
    };
    let mut changes = Vec::new();
    for name in ["maxLength", "maxItems", "maxProperties"] {
        changes.extend(
            bound(name)
                .into_iter()
                .flat_map(|n| [fits(times(n)), breaks(times(n + 1))]),
        );
    }
    for name in ["minLength", "minItems", "minProperties"] {
        changes.extend(bound(name).map(|n| breaks(times(n - 1))));
    }
    changes.extend(
        bound("minimum")
            .into_iter()
            .flat_map(|n| [fits(json!(n)), breaks(json!(n as i64 - 1))]),
    );
    changes.extend(
        bound("maximum")
            .into_iter()
            .flat_map(|n| [fits(json!(n)), breaks(json!(n + 1))]),
    );
    changes.extend(
        bound("exclusiveMinimum")
            .into_iter()
            .flat_map(|n| [breaks(json!(n)), fits(json!(n as f64 + 1e-9))]),
    );
    if schema["type"] == "integer" {
        changes.push(breaks(json!(1.5)));
    }
    if schema.get("enum").is_some() || schema.get("const").is_some() {
        changes.push(breaks(json!("another")));
    }
    let pattern = schema["pattern"].as_str().unwrap_or_default();
    let is_free = schema["type"] == "string" && schema.get("enum").is_none();
    if is_free && schema.get("const").is_none() && !pattern.starts_with("^(/") {
        for (text, excluded) in [("a\0b", r"\u0000"), ("\u{3000}\t ", r"\u3000")] {
            let value = json!(text);
            changes.push(Change {
                value,
                fits: !pattern.contains(excluded),
                member: None,
            });
        }
    }
    // Nothing has two of these types.
    let other = if value.is_string() {
        json!(7)
    } else {
        json!("7")
    };
    changes.push(breaks(other));
    changes
}

/// Every value of a body with its schema, and where it is.
fn places<'d>(
    document: &'d Value,
    schema: &'d Value,
    value: &Value,
    at: String,
    all: &mut Vec<(String, &'d Value)>,
) {
    let mut schema = resolved(document, schema);
    for key in ["anyOf", "oneOf"] {
        let variants = schema[key].as_array().into_iter().flatten();
        let mut fitting = variants.filter(|v| Checker::new(document).check("", v, value).is_ok());
        if let Some(variant) = fitting.next() {
            schema = resolved(document, variant);
        }
    }
    all.push((at.clone(), schema));
    match value {
        Value::Object(members) => {
            for (name, value) in members {
                if let Some(schema) = schema["properties"].get(name) {
                    places(document, schema, value, format!("{at}/{name}"), all);
                }
            }
        }
        Value::Array(items) => {
            for (index, value) in items.iter().enumerate() {
                places(
                    document,
                    &schema["items"],
                    value,
                    format!("{at}/{index}"),
                    all,
                );
            }
        }
        _ => {}
    }
}

/// An unknown member more, and each required one less.
fn members(schema: &Value, value: &Value) -> Vec<Change> {
    let Value::Object(members) = value else {
        return Vec::new();
    };
    let mut changes = Vec::new();
    if schema["additionalProperties"] == false {
        let mut more = members.clone();
        more.insert("unknown".into(), json!(1));
        changes.push(Change {
            value: more.into(),
            fits: false,
            member: Some("unknown"),
        });
    }
    for name in schema["required"].as_array().into_iter().flatten() {
        let mut less = members.clone();
        less.remove(name.as_str().unwrap());
        let name: &'static str = name.as_str().unwrap().to_owned().leak();
        changes.push(Change {
            value: less.into(),
            fits: false,
            member: Some(name),
        });
    }
    changes
}

#[tokio::test]
async fn each_limit_of_a_body_is_the_services_own() {
    let document = document();
    let app = App::new();
    let mut tried = 0;
    for body in bodies(&app).await {
        let mut all = Vec::new();
        let schema = schema_of(&document, body.operation);
        places(&document, schema, &body.json, String::new(), &mut all);
        for (at, schema) in all {
            let value = body.json.pointer(&at).unwrap();
            for change in changes(schema, value)
                .into_iter()
                .chain(members(schema, value))
            {
                let mut json = body.json.clone();
                *json.pointer_mut(&at).unwrap() = change.value;
                let json = json.to_string();
                let answer = app
                    .call(body.method.clone(), "admin", &body.path, &json)
                    .await;
                let what = format!("{} at {at:?}: {json}\n{}", body.operation, answer.body);
                let at = change
                    .member
                    .map_or(at.clone(), |member| format!("{at}/{member}"));
                let is_fault = answer.status == 400
                    && ["bad-input", "unknown-field"].contains(&&*answer.code())
                    && answer.field().as_deref() == Some(&*at);
                // A kind decides which other fields there are, and so which are unknown.
                let is_kind = at == "/scope/kind" && answer.status == 400;
                assert_eq!(!change.fits, is_fault || is_kind, "{what}");
                tried += 1;
            }
        }
    }
    assert!(tried > 300, "{tried}");
}

#[tokio::test]
async fn each_limit_of_a_query_is_the_services_own() {
    let document = document();
    let app = App::new();
    let made = app
        .post("admin", &rules("p1"), &rule("r", ""))
        .await
        .is(201);
    let mut tried = 0;
    for (path, methods) in document["paths"].as_object().unwrap() {
        let path = path
            .replace("{projectId}", "p1")
            .replace("{ruleId}", &made.text("/ruleId"));
        let parameters = methods["get"]["parameters"]
            .as_array()
            .into_iter()
            .flatten();
        for parameter in parameters.filter(|parameter| parameter["in"] == "query") {
            let name = parameter["name"].as_str().unwrap();
            let schema = resolved(&document, &parameter["schema"]);
            let others = others(&path, name);
            for (value, fits) in values(schema) {
                let value: String = value.bytes().map(|byte| format!("%{byte:02x}")).collect();
                let answer = app
                    .get("admin", &format!("{path}?{others}{name}={value}"))
                    .await;
                let is_fault = answer.status == 400 && answer.field().as_deref() == Some(name);
                assert_eq!(!fits, is_fault, "{path} {name}={value}: {}", answer.body);
                tried += 1;
            }
        }
    }
    assert!(tried > 100, "{tried}");
}

/// The parameters that this one needs.
fn others(path: &str, name: &str) -> &'static str {
    match (path, name) {
        ("/v1/judgments", "scopeId") | ("/v1/judge-classes", "projectId") => "scopeKind=project&",
        ("/v1/judgments", "agentVersion") => "agentId=a&",
        ("/v1/judge-classes", "agentId") => "scopeKind=agent&projectId=p1&",
        _ => "",
    }
}

/// Values in a query, and whether the schema takes them.
fn values(schema: &Value) -> Vec<(String, bool)> {
    let text = |value: &Value| value.as_str().map_or(value.to_string(), str::to_owned);
    let mut values: Vec<(String, bool)> = vec![(String::new(), false)];
    for value in schema["enum"].as_array().into_iter().flatten() {
        values.push((text(value), true));
    }
    if schema["type"] == "boolean" {
        values.extend([
            ("true".into(), true),
            ("false".into(), true),
            ("1".into(), false),
        ]);
    }
    if schema["format"] == "date-time" {
        values.extend([
            ("2026-01-31T00:00:00+02:00".into(), true),
            ("2026-01-31".into(), false),
        ]);
    }
    let is_number = matches!(schema["type"].as_str(), Some("integer" | "number"));
    if is_number || schema.get("maxLength").is_some() || schema.get("enum").is_some() {
        let example = if is_number { json!(1) } else { json!("x") };
        let changes = changes(schema, &example);
        values.extend(
            changes
                .into_iter()
                .filter(|c| c.value != json!(7))
                .map(|c| (text(&c.value), c.fits)),
        );
    }
    // A number is no other type in a query.
    values.retain(|(value, _)| !(is_number && value == "7"));
    // Only the lists of names have neither.
    let is_names = schema["type"] == "string"
        && ["enum", "format", "maxLength"]
            .iter()
            .all(|key| schema.get(*key).is_none());
    match schema["pattern"].as_str() {
        Some(pattern) if pattern.starts_with("^completed") => {
            values.extend([
                ("completed,completed".into(), true),
                ("failed".into(), false),
                ("completed,".into(), false),
            ]);
        }
        Some(_) if is_names => {
            let longest = "é".repeat(256);
            values.extend([
                (vec!["x"; 50].join(","), true),
                (vec!["x"; 51].join(","), false),
                (format!("{longest},{longest}"), true),
                (format!("{longest}x,x"), false),
                ("x,,x".into(), false),
                ("x, ,x".into(), false),
                ("x\0".into(), false),
            ]);
        }
        _ => {}
    }
    values
}
