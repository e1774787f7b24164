//! Strict decoding: every refusal points at the field.
//!
//! A body's faults are reported in the API's order: syntax (with depth and lone surrogate
//! escapes), repeated keys, unknown fields, values. So decoding never stops at the first bad
//! value: a [`Decoder`] collects what it finds, and [`Decoder::finish`] says the first in order.

pub(crate) mod judge_classes;
pub(crate) mod judging_queue;
pub(crate) mod judging_rules;
pub(crate) mod judgments;
pub(crate) mod params;
pub(crate) mod query;
mod time;

use bytes::Bytes;
use kindgi_core::{
    json::{Kind, Node, Number, Pointer, RawJson, Text},
    model::InvalidText,
};

use crate::refusal::Refusal;

/// How deep a request's body may nest.
const MAX_DEPTH: usize = 128;

/// A body as a tree: JSON in UTF-8 without a byte-order mark, not too deep, without lone
/// surrogate escapes or repeated keys.
pub(crate) fn body(bytes: Bytes) -> Result<Node, Refusal> {
    let raw = RawJson::parse(bytes).map_err(|e| Refusal::bad_input("", e.to_string()))?;
    let node = Node::parse(&raw, MAX_DEPTH).map_err(|e| Refusal::bad_input("", e.to_string()))?;
    if let Some(at) = node.first_lone_surrogate() {
        return Err(Refusal::bad_input(
            at.as_str(),
            "must not contain a lone surrogate escape",
        ));
    }
    if let Some(at) = node.first_duplicate_key() {
        return Err(Refusal::bad_input(at.as_str(), "must not be repeated"));
    }
    Ok(node)
}

/// The body of an operation that takes none: nothing, or an object without fields.
pub(crate) fn empty(bytes: Bytes) -> Result<(), Refusal> {
    if bytes.is_empty() {
        return Ok(());
    }
    let node = body(bytes)?;
    let mut decoder = Decoder::default();
    let fields = decoder.object(&Value::root(&node), &[]);
    decoder.finish(fields.map(drop))
}

/// A value and where it is.
pub(crate) struct Value<'n> {
    node: &'n Node,
    at: Pointer,
}

impl<'n> Value<'n> {
    pub(crate) fn root(node: &'n Node) -> Self {
        let at = Pointer::root();
        Self { node, at }
    }

    /// A string member's content, for what else depends on it; nothing is noted.
    pub(crate) fn peek(&self, name: &str) -> Option<&'n str> {
        let Kind::Object(members) = self.node.kind() else {
            return None;
        };
        match members
            .iter()
            .find(|(key, _)| key.as_str() == Ok(name))?
            .1
            .kind()
        {
            Kind::String(text) => text.as_str().ok(),
            _ => None,
        }
    }

    pub(crate) fn raw(&self) -> RawJson {
        self.node.raw()
    }
}

/// An object's members, of which every one is known.
pub(crate) struct Fields<'n> {
    members: &'n [(Text, Node)],
    at: Pointer,
}

impl<'n> Fields<'n> {
    pub(crate) fn get(&self, name: &str) -> Option<Value<'n>> {
        let (_, node) = self
            .members
            .iter()
            .find(|(key, _)| key.as_str() == Ok(name))?;
        let at = self.at.child(name);
        Some(Value { node, at })
    }
}

/// Reads values, and collects faults. A method gives `None` where it noted one.
#[derive(Default)]
pub(crate) struct Decoder {
    unknown: Vec<Pointer>,
    fault: Option<(Pointer, String)>,
}

impl Decoder {
    /// What was decoded, or the first fault in order.
    pub(crate) fn finish<T>(self, decoded: Option<T>) -> Result<T, Refusal> {
        if !self.unknown.is_empty() {
            return Err(Refusal::unknown_fields(&self.unknown));
        }
        match (self.fault, decoded) {
            (None, Some(decoded)) => Ok(decoded),
            (Some((at, message)), _) => Err(Refusal::bad_input(at.as_str(), message)),
            (None, None) => Err(Refusal::internal()),
        }
    }

    /// Notes a fault; the first one stays.
    pub(crate) fn fault<T>(&mut self, at: &Pointer, message: impl ToString) -> Option<T> {
        self.fault
            .get_or_insert_with(|| (at.clone(), message.to_string()));
        None
    }

    /// An object; members that aren't `known` are noted.
    pub(crate) fn object<'n>(&mut self, value: &Value<'n>, known: &[&str]) -> Option<Fields<'n>> {
        let Kind::Object(members) = value.node.kind() else {
            return self.fault(&value.at, "must be an object");
        };
        for (key, _) in members {
            if !known.iter().any(|name| key.as_str() == Ok(name)) {
                self.unknown.push(value.at.child(key.lossy()));
            }
        }
        let at = value.at.clone();
        Some(Fields { members, at })
    }

    /// A member that must be there.
    pub(crate) fn required<'n>(&mut self, fields: &Fields<'n>, name: &str) -> Option<Value<'n>> {
        let value = fields.get(name);
        if value.is_none() {
            return self.fault(&fields.at.child(name), "is missing");
        }
        value
    }

    /// A member that may be absent. The outer `None` is a fault, the inner one an absence.
    pub(crate) fn optional<'n, T>(
        &mut self,
        fields: &Fields<'n>,
        name: &str,
        decode: impl FnOnce(&mut Self, &Value<'n>) -> Option<T>,
    ) -> Option<Option<T>> {
        match fields.get(name) {
            None => Some(None),
            Some(value) => decode(self, &value).map(Some),
        }
    }

    /// A string's content.
    pub(crate) fn string<'n>(&mut self, value: &Value<'n>) -> Option<&'n str> {
        match value.node.kind() {
            Kind::String(text) => text.as_str().ok(),
            _ => self.fault(&value.at, "must be a string"),
        }
    }

    /// A validated text.
    pub(crate) fn text<'n, T>(&mut self, value: &Value<'n>) -> Option<T>
    where
        T: TryFrom<&'n str, Error = InvalidText>,
    {
        let text = self.string(value)?;
        self.valid(&value.at, T::try_from(text))
    }

    /// A validated text, or none for an empty one.
    pub(crate) fn text_unless_empty<'n, T>(&mut self, value: &Value<'n>) -> Option<Option<T>>
    where
        T: TryFrom<&'n str, Error = InvalidText>,
    {
        match self.string(value)? {
            "" => Some(None),
            _ => self.text(value).map(Some),
        }
    }

    /// One of some names.
    pub(crate) fn name<T>(
        &mut self,
        value: &Value<'_>,
        from_name: impl FnOnce(&str) -> Option<T>,
        must: &'static str,
    ) -> Option<T> {
        let named = self.string(value).and_then(from_name);
        if named.is_none() {
            return self.fault(&value.at, must);
        }
        named
    }

    /// A number.
    pub(crate) fn number<'n>(&mut self, value: &Value<'n>) -> Option<&'n Number> {
        match value.node.kind() {
            Kind::Number(number) => Some(number),
            _ => self.fault(&value.at, "must be a number"),
        }
    }

    /// `true` or `false`.
    pub(crate) fn bool(&mut self, value: &Value<'_>) -> Option<bool> {
        match value.node.kind() {
            Kind::Bool(is) => Some(*is),
            _ => self.fault(&value.at, "must be true or false"),
        }
    }

    /// A value, or `null` for none.
    pub(crate) fn nullable<'n, T>(
        &mut self,
        value: &Value<'n>,
        decode: impl FnOnce(&mut Self, &Value<'n>) -> Option<T>,
    ) -> Option<Option<T>> {
        match value.node.kind() {
            Kind::Null => Some(None),
            _ => decode(self, value).map(Some),
        }
    }

    /// The items of an array of so many.
    pub(crate) fn list<'n, T>(
        &mut self,
        value: &Value<'n>,
        length: std::ops::RangeInclusive<usize>,
        mut decode: impl FnMut(&mut Self, &Value<'n>) -> Option<T>,
    ) -> Option<Vec<T>> {
        let Kind::Array(nodes) = value.node.kind() else {
            return self.fault(&value.at, "must be an array");
        };
        let mut items = Vec::with_capacity(nodes.len());
        for (index, node) in nodes.iter().enumerate() {
            let at = value.at.child_index(index);
            items.extend(decode(self, &Value { node, at }));
        }
        if !length.contains(&nodes.len()) {
            let (least, most) = (length.start(), length.end());
            let message = match *most {
                usize::MAX => format!("must have at least {least} items"),
                _ => format!("must have {least} to {most} items"),
            };
            return self.fault(&value.at, message);
        }
        // A faulty item is noted; the shorter list goes nowhere.
        Some(items)
    }

    /// What a constructor of the model gives.
    pub(crate) fn valid<T>(&mut self, at: &Pointer, made: Result<T, InvalidText>) -> Option<T> {
        match made {
            Ok(made) => Some(made),
            Err(e) => self.fault(at, e),
        }
    }
}
