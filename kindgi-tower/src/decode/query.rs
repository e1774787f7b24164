//! Query strings: every parameter known, once, and not empty.

use kindgi_core::{
    json::Number,
    model::{InvalidText, PageRequest, PageSize, Position},
};
use percent_encoding::percent_decode_str;

use crate::{cursor::Binding, refusal::Refusal};

/// A query's parameters, decoded.
#[derive(Debug)]
pub(crate) struct Query(Vec<(String, String)>);

impl Query {
    /// Decodes `name=value` pairs in which `+` is a blank and `%xx` a byte of UTF-8. A parameter
    /// that isn't `known`, is repeated, or has no value is refused: a misspelled filter never
    /// silently widens a list.
    pub(crate) fn parse(query: Option<&str>, known: &[&str]) -> Result<Self, Refusal> {
        let mut params: Vec<(String, String)> = Vec::new();
        for pair in query
            .unwrap_or_default()
            .split('&')
            .filter(|pair| !pair.is_empty())
        {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let name = decode(name)
                .ok_or_else(|| Refusal::bad_input("", "a parameter's name isn't UTF-8"))?;
            let fault = |message| Err(Refusal::bad_input(name.clone(), message));
            if !known.contains(&name.as_str()) {
                return fault("isn't a known parameter");
            }
            if params.iter().any(|(earlier, _)| *earlier == name) {
                return fault("must not be repeated");
            }
            match decode(value) {
                None => return fault("isn't UTF-8"),
                Some(value) if value.is_empty() => return fault("must not be empty"),
                Some(value) => params.push((name, value)),
            }
        }
        Ok(Self(params))
    }

    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        let (_, value) = self.0.iter().find(|(own, _)| own == name)?;
        Some(value)
    }

    /// A validated text.
    pub(crate) fn text<'q, T>(&'q self, name: &str) -> Result<Option<T>, Refusal>
    where
        T: TryFrom<&'q str, Error = InvalidText>,
    {
        let text = self.get(name).map(T::try_from).transpose();
        text.map_err(|e| Refusal::bad_input(name, e.to_string()))
    }

    /// One of some names.
    pub(crate) fn name<T>(
        &self,
        name: &str,
        from_name: impl FnOnce(&str) -> Option<T>,
        must: &'static str,
    ) -> Result<Option<T>, Refusal> {
        let Some(value) = self.get(name) else {
            return Ok(None);
        };
        match from_name(value) {
            Some(value) => Ok(Some(value)),
            None => Err(Refusal::bad_input(name, must)),
        }
    }

    /// Everything that narrows the list: all but `cursor` and `limit`.
    pub(crate) fn filters(&self) -> impl Iterator<Item = (&str, &str)> {
        let narrows = |name: &str| !matches!(name, "cursor" | "limit");
        let pairs = self
            .0
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str()));
        pairs.filter(move |(name, _)| narrows(name))
    }

    /// `limit` and `cursor`.
    pub(crate) fn page(&self, binding: &Binding) -> Result<PageRequest, Refusal> {
        let size = self.size()?;
        let after = self.after(binding)?;
        Ok(PageRequest { after, size })
    }

    /// `limit`.
    pub(crate) fn size(&self) -> Result<PageSize, Refusal> {
        let Some(limit) = self.get("limit") else {
            return Ok(PageSize::default());
        };
        Number::parse(limit)
            .and_then(|number| number.to_u64_exact())
            .and_then(|limit| PageSize::new(u16::try_from(limit).ok()?))
            .ok_or_else(|| Refusal::bad_input("limit", "must be a whole number from 1 to 100"))
    }

    /// `cursor`.
    pub(crate) fn after(&self, binding: &Binding) -> Result<Option<Position>, Refusal> {
        let Some(cursor) = self.get("cursor") else {
            return Ok(None);
        };
        let after = binding.read(cursor).ok_or_else(|| {
            let message = "isn't a cursor of this list, these filters and this caller; \
                           start again without it";
            Refusal::bad_input("cursor", message)
        })?;
        Ok(Some(after))
    }
}

fn decode(text: &str) -> Option<String> {
    let text = text.replace('+', " ");
    Some(percent_decode_str(&text).decode_utf8().ok()?.into_owned())
}
