//! Whether a value is as a schema says: the keywords that the document uses, but for `pattern`,
//! and closed, so that a property that isn't documented is a fault.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::facts::resolved;

/// Checks values, and remembers which properties it has seen.
pub(crate) struct Checker<'d> {
    document: &'d Value,
    /// `Schema.property`, or `Schema.property.property` where the schema in between has no name.
    pub(crate) seen: BTreeSet<String>,
}

impl<'d> Checker<'d> {
    pub(crate) fn new(document: &'d Value) -> Self {
        Self {
            document,
            seen: BTreeSet::new(),
        }
    }

    /// Checks a value; `name` is where it is, until a schema with a name is met.
    pub(crate) fn check(
        &mut self,
        name: &str,
        schema: &'d Value,
        value: &Value,
    ) -> Result<(), String> {
        let own = schema["$ref"].as_str().and_then(|at| at.rsplit('/').next());
        let name = own.unwrap_or(name);
        let schema = resolved(self.document, schema);
        let fault = |what: &str| Err(format!("{name}: {what}: {value}"));
        for key in ["anyOf", "oneOf"] {
            if let Some(variants) = schema[key].as_array() {
                let mut fits = variants.iter().map(|v| self.check(name, v, value).is_ok());
                if !fits.any(|fits| fits) {
                    return fault("fits no variant");
                }
            }
        }
        let types = schema.get("type").map(|types| {
            types
                .as_array()
                .cloned()
                .unwrap_or_else(|| vec![types.clone()])
        });
        if types.is_some_and(|types| !types.iter().any(|t| is_of(t.as_str().unwrap(), value))) {
            return fault("is of another type");
        }
        if schema.get("const").is_some_and(|only| only != value)
            || schema["enum"]
                .as_array()
                .is_some_and(|values| !values.contains(value))
        {
            return fault("is another value");
        }
        if schema["format"] == "date-time" && !is_time(value) {
            return fault("isn't a time");
        }
        if !within(schema, value) {
            return fault("is beyond the limits");
        }
        match value {
            Value::Object(members) if schema.get("properties").is_some() => {
                for property in schema["required"].as_array().into_iter().flatten() {
                    if !members.contains_key(property.as_str().unwrap()) {
                        return fault(&format!("{property} is missing"));
                    }
                }
                for (member, value) in members {
                    let place = format!("{name}.{member}");
                    match schema["properties"].get(member) {
                        Some(schema) => self.check(&place, schema, value)?,
                        None => return fault(&format!("{member} isn't documented")),
                    }
                    self.seen.insert(place);
                }
                Ok(())
            }
            Value::Array(items) if schema["type"] == "array" => {
                items.iter().try_for_each(|item| match schema.get("items") {
                    Some(schema) => self.check(name, schema, item),
                    None => fault("has items of no schema"),
                })
            }
            _ => Ok(()),
        }
    }
}

/// Every property that the schema documents, named as [`Checker`] names them.
pub(crate) fn documented(document: &Value, name: &str, schema: &Value, all: &mut BTreeSet<String>) {
    let own = schema["$ref"].as_str().and_then(|at| at.rsplit('/').next());
    let name = own.unwrap_or(name);
    let schema = resolved(document, schema);
    for (property, schema) in schema["properties"].as_object().into_iter().flatten() {
        let place = format!("{name}.{property}");
        documented(document, &place, schema, all);
        all.insert(place);
    }
    for key in ["anyOf", "oneOf"] {
        for schema in schema[key].as_array().into_iter().flatten() {
            documented(document, name, schema, all);
        }
    }
    if let Some(items) = schema.get("items") {
        documented(document, name, items, all);
    }
}

fn is_of(name: &str, value: &Value) -> bool {
    match name {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_u64() || value.is_i64(),
        "number" => value.is_number(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        _ => value.is_object(),
    }
}

/// `2026-01-31T00:00:00.000Z`
fn is_time(value: &Value) -> bool {
    let Some(text) = value.as_str() else {
        return false;
    };
    let shape: String = text
        .chars()
        .map(|c| if c.is_ascii_digit() { '0' } else { c })
        .collect();
    shape == "0000-00-00T00:00:00.000Z"
}

fn within(schema: &Value, value: &Value) -> bool {
    let (size, least, most) = match value {
        Value::String(text) => (text.chars().count() as f64, "minLength", "maxLength"),
        Value::Array(items) => (items.len() as f64, "minItems", "maxItems"),
        Value::Object(members) => (members.len() as f64, "minProperties", "maxProperties"),
        Value::Number(number) => (number.as_f64().unwrap(), "minimum", "maximum"),
        _ => return true,
    };
    let bound = |name: &str| schema[name].as_f64();
    bound(least).is_none_or(|least| size >= least)
        && bound(most).is_none_or(|most| size <= most)
        && bound("exclusiveMinimum").is_none_or(|least| !value.is_number() || size > least)
}
