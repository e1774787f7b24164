//! The document has every fact of the API's contract, which the interoperability test keeps.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use crate::{
    document,
    facts::{Comparison, resolved},
};

fn contract() -> Value {
    serde_json::from_str(include_str!("../../../tests/interop/contract.json")).unwrap()
}

/// All that differs.
fn differences(contract: &Value, document: &Value) -> Vec<String> {
    let mut comparison = Comparison::new(contract, document);
    let it = &mut comparison;
    for key in ["openapi", "security", "x-error-codes"] {
        it.equal(key, &contract[key], &document[key]);
    }
    let schemes = |of: &Value| of["components"]["securitySchemes"].clone();
    it.equal("securitySchemes", schemes(contract), schemes(document));
    let (want, mut got) = (operations(contract), operations(document));
    // The contract says that there is one, but not what it says of itself.
    assert!(got.remove("get /v1/openapi.json").is_some());
    it.equal("operations", keys(&want), keys(&got));
    for (name, want) in &want {
        if let Some(got) = got.get(name) {
            operation(it, name, want, got);
        }
    }
    comparison.differences
}

fn operations(document: &Value) -> BTreeMap<String, &Value> {
    let paths = document["paths"].as_object().unwrap();
    let operations = paths.iter().flat_map(|(path, methods)| {
        let methods = methods.as_object().unwrap().iter();
        methods.map(move |(method, operation)| (format!("{method} {path}"), operation))
    });
    operations.collect()
}

fn operation<'d>(it: &mut Comparison<'d>, name: &str, want: &'d Value, got: &'d Value) {
    it.equal(
        &format!("{name}: operationId"),
        &want["operationId"],
        &got["operationId"],
    );
    let (wanted, given) = (parameters(want), parameters(got));
    it.equal(&format!("{name}: parameters"), keys(&wanted), keys(&given));
    for (key, want) in &wanted {
        if let Some(got) = given.get(key) {
            let at = format!("{name} {key}");
            it.equal(
                &format!("{at}: required"),
                &want["required"],
                &got["required"],
            );
            it.schemas(&at, &want["schema"], &got["schema"]);
        }
    }
    let at = format!("{name} body");
    let (wanted, given) = (&want["requestBody"], &got["requestBody"]);
    it.equal(
        &format!("{at}: required"),
        &wanted["required"],
        &given["required"],
    );
    content(it, &at, wanted, given);
    let (wanted, given) = (members(&want["responses"]), members(&got["responses"]));
    it.equal(&format!("{name}: statuses"), keys(&wanted), keys(&given));
    for (status, want) in &wanted {
        let Some(got) = given.get(status) else {
            continue;
        };
        let at = format!("{name} {status}");
        content(it, &at, want, got);
        let (wanted, given) = (members(&want["headers"]), members(&got["headers"]));
        it.equal(&format!("{at}: headers"), keys(&wanted), keys(&given));
        for (header, want) in &wanted {
            if let Some(got) = given.get(header) {
                let got = resolved(it.document, got);
                it.schemas(&format!("{at} {header}"), &want["schema"], &got["schema"]);
            }
        }
    }
}

fn content<'d>(it: &mut Comparison<'d>, at: &str, want: &'d Value, got: &'d Value) {
    let (wanted, given) = (members(&want["content"]), members(&got["content"]));
    it.equal(&format!("{at}: media types"), keys(&wanted), keys(&given));
    for (media_type, want) in &wanted {
        if let Some(got) = given.get(media_type) {
            it.schemas(at, &want["schema"], &got["schema"]);
        }
    }
}

fn parameters(operation: &Value) -> BTreeMap<String, &Value> {
    let parameters = operation["parameters"].as_array().unwrap().iter();
    let key = |p: &Value| format!("{} {}", p["in"], p["name"]);
    parameters
        .map(|parameter| (key(parameter), parameter))
        .collect()
}

fn members(value: &Value) -> BTreeMap<String, &Value> {
    let members = value.as_object().into_iter().flatten();
    members.map(|(name, value)| (name.clone(), value)).collect()
}

fn keys<'m>(map: &'m BTreeMap<String, &Value>) -> Vec<&'m str> {
    map.keys().map(String::as_str).collect()
}

#[test]
fn the_document_is_the_contract() {
    let (contract, document) = (contract(), document());
    assert_eq!(operations(&contract).len(), 20);
    let differences = differences(&contract, &document);
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

/// Every fact counts: with one of them changed in the contract, there is a difference. Every
/// fourth is tried.
#[test]
fn a_contract_with_another_fact_is_another() {
    let (mut contract, document) = (contract(), document());
    let mut facts = Vec::new();
    collect(&contract, String::new(), &mut facts);
    assert!(facts.len() > 700, "{}", facts.len());
    for at in facts.into_iter().step_by(4) {
        let fact = contract.pointer_mut(&at).unwrap();
        let own = fact.clone();
        *fact = match &own {
            Value::Bool(is) => json!(!is),
            Value::String(text) => json!(format!("{text}x")),
            Value::Number(number) => json!(number.as_f64().unwrap() + 1.0),
            _ => json!("another"),
        };
        let differ = !differences(&contract, &document).is_empty();
        assert!(differ, "{at} isn't compared");
        *contract.pointer_mut(&at).unwrap() = own;
    }
}

/// Where the facts are: the scalars, but for titles and descriptions. Of the operations, which are
/// alike, those on judgments.
fn collect(value: &Value, at: String, facts: &mut Vec<String>) {
    const ALIKE: [&str; 2] = ["/paths/~1v1~1projects", "/paths/~1v1~1judge-classes"];
    if at == "/info" || ALIKE.iter().any(|prefix| at.starts_with(prefix)) {
        return;
    }
    match value {
        Value::Object(members) => {
            for (name, value) in members
                .iter()
                .filter(|(name, _)| *name != "description" || at.ends_with("/properties"))
            {
                let name = name.replace('~', "~0").replace('/', "~1");
                collect(value, format!("{at}/{name}"), facts);
            }
        }
        Value::Array(items) => {
            for (index, value) in items.iter().enumerate() {
                collect(value, format!("{at}/{index}"), facts);
            }
        }
        _ => facts.push(at),
    }
}

#[test]
fn each_error_code_is_documented_where_its_status_is() {
    let document = document();
    let statuses = &document["x-error-codes"];
    let mut documented = BTreeSet::new();
    for (name, operation) in operations(&document) {
        for (status, response) in members(&operation["responses"]) {
            let codes = response["x-error-codes"].as_array();
            assert_eq!(codes.is_some(), status.as_str() >= "400", "{name} {status}");
            for code in codes
                .into_iter()
                .flatten()
                .map(|code| code.as_str().unwrap())
            {
                assert_eq!(statuses[code].to_string(), status, "{name} {code}");
                documented.insert(code);
            }
        }
    }
    // These two are answered where there is no operation.
    documented.extend(["not-found", "method-not-allowed"]);
    let all: BTreeSet<_> = statuses
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect();
    assert_eq!(documented, all);
}

#[test]
fn ids_tags_and_summaries_are_there_and_ids_are_unique() {
    let document = document();
    let operations = operations(&document);
    let ids: BTreeSet<_> = operations
        .values()
        .map(|o| o["operationId"].as_str().unwrap())
        .collect();
    assert_eq!(ids.len(), operations.len());
    let tags = document["tags"].as_array().unwrap();
    for (name, operation) in operations {
        assert!(!operation["summary"].as_str().unwrap().is_empty(), "{name}");
        assert!(
            tags.contains(&json!({ "name": operation["tags"][0] })),
            "{name}"
        );
    }
}
