//! What a schema says, whatever its spelling.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

const BOUNDS: &[&str] = &[
    "minLength",
    "maxLength",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "minItems",
    "maxItems",
    "minProperties",
    "maxProperties",
    "default",
    "format",
    "pattern",
];

/// A schema's facts. `const` is an enumeration of one; `null` among the types or the variants is
/// `nullable`.
#[derive(Default)]
struct Facts<'d> {
    types: BTreeSet<&'d str>,
    nullable: bool,
    values: BTreeSet<String>,
    properties: BTreeMap<&'d str, &'d Value>,
    required: BTreeSet<&'d str>,
    items: Option<&'d Value>,
    variants: Vec<&'d Value>,
    /// Whether other properties may be there: `None` where it isn't said.
    others: Option<&'d Value>,
    bounds: BTreeMap<&'static str, String>,
}

/// A reference's target, or the schema itself.
pub(crate) fn resolved<'d>(document: &'d Value, schema: &'d Value) -> &'d Value {
    match schema.get("$ref").and_then(Value::as_str) {
        None => schema,
        Some(at) => {
            let target = at.strip_prefix('#').and_then(|at| document.pointer(at));
            target.map_or(&Value::Null, |target| resolved(document, target))
        }
    }
}

impl<'d> Facts<'d> {
    fn of(document: &'d Value, schema: &'d Value) -> Self {
        let schema = resolved(document, schema);
        let mut facts = Self::default();
        for key in ["anyOf", "oneOf"] {
            for variant in list(&schema[key]) {
                match resolved(document, variant)["type"] == "null" {
                    true => facts.nullable = true,
                    false => facts.variants.push(variant),
                }
            }
        }
        if let [only] = facts.variants[..] {
            return Self {
                nullable: facts.nullable,
                ..Self::of(document, only)
            };
        }
        let types = list(&schema["type"]).iter().chain(schema.get("type"));
        for name in types.filter_map(Value::as_str) {
            match name {
                "null" => facts.nullable = true,
                _ => drop(facts.types.insert(name)),
            }
        }
        let values = list(&schema["enum"]).iter().chain(schema.get("const"));
        facts.values = values.map(Value::to_string).collect();
        if let Some(properties) = schema["properties"].as_object() {
            facts.properties = properties
                .iter()
                .map(|(name, s)| (name.as_str(), s))
                .collect();
        }
        facts.required = list(&schema["required"])
            .iter()
            .filter_map(Value::as_str)
            .collect();
        facts.items = schema.get("items").filter(|items| !means_anything(items));
        facts.others = schema.get("additionalProperties");
        for bound in BOUNDS {
            if let Some(value) = schema.get(*bound) {
                facts.bounds.insert(*bound, value.to_string());
            }
        }
        facts
    }
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// Whether the schema takes any JSON.
fn means_anything(schema: &Value) -> bool {
    schema.as_bool() == Some(true) || schema.as_object().is_some_and(|members| members.is_empty())
}

/// Two documents, and what differs between them.
pub(crate) struct Comparison<'d> {
    pub(crate) contract: &'d Value,
    pub(crate) document: &'d Value,
    pub(crate) differences: Vec<String>,
    /// The references that were compared: once is enough.
    compared: BTreeSet<(&'d str, &'d str)>,
}

impl<'d> Comparison<'d> {
    pub(crate) fn new(contract: &'d Value, document: &'d Value) -> Self {
        Self {
            contract,
            document,
            differences: Vec::new(),
            compared: BTreeSet::new(),
        }
    }

    /// Notes a difference unless both are equal.
    pub(crate) fn equal<T: PartialEq + std::fmt::Debug>(&mut self, at: &str, want: T, got: T) {
        if want != got {
            self.differences
                .push(format!("{at}: {got:?}, not {want:?}"));
        }
    }

    /// Compares schemas. Ours may say more of what the contract leaves open, in requests' limits.
    pub(crate) fn schemas(&mut self, at: &str, want: &'d Value, got: &'d Value) {
        if let (Some(want), Some(got)) = (want["$ref"].as_str(), got["$ref"].as_str())
            && !self.compared.insert((want, got))
        {
            return;
        }
        let (want, got) = (
            Facts::of(self.contract, want),
            Facts::of(self.document, got),
        );
        self.equal(&format!("{at}: types"), &want.types, &got.types);
        self.equal(&format!("{at}: nullable"), want.nullable, got.nullable);
        self.equal(&format!("{at}: values"), &want.values, &got.values);
        self.equal(&format!("{at}: required"), &want.required, &got.required);
        self.equal(
            &format!("{at}: variants"),
            want.variants.len(),
            got.variants.len(),
        );
        self.equal(
            &format!("{at}: items"),
            want.items.is_some(),
            got.items.is_some(),
        );
        for (bound, want) in &want.bounds {
            self.equal(&format!("{at}: {bound}"), Some(want), got.bounds.get(bound));
        }
        self.properties(at, &want, &got);
        self.others(at, want.others, got.others);
        for (index, (want, got)) in want.variants.iter().zip(&got.variants).enumerate() {
            self.schemas(&format!("{at}<{index}>"), want, got);
        }
        if let (Some(want), Some(got)) = (want.items, got.items) {
            self.schemas(&format!("{at}[]"), want, got);
        }
    }

    fn properties(&mut self, at: &str, want: &Facts<'d>, got: &Facts<'d>) {
        // An object whose members the contract leaves open may name some.
        let is_open = want.properties.is_empty() && want.others != Some(&Value::Bool(false));
        for (name, got) in &got.properties {
            match want.properties.get(name) {
                Some(want) => self.schemas(&format!("{at}.{name}"), want, got),
                None if is_open => {}
                None => self
                    .differences
                    .push(format!("{at}.{name}: not in the contract")),
            }
        }
        for name in want
            .properties
            .keys()
            .filter(|name| !got.properties.contains_key(*name))
        {
            self.differences.push(format!("{at}.{name}: missing"));
        }
    }

    fn others(&mut self, at: &str, want: Option<&'d Value>, got: Option<&'d Value>) {
        match (want, got) {
            (Some(want @ Value::Object(_)), Some(got @ Value::Object(_))) => {
                self.schemas(&format!("{at}{{}}"), want, got);
            }
            _ => self.equal(&format!("{at}: other properties"), want, got),
        }
    }
}
