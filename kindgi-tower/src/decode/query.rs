//! Query strings: every parameter known, once, and not empty.

use kindgi_core::{
    Timestamp,
    json::Number,
    model::{InvalidText, PageRequest, PageSize, Position, WhenItems},
};
use percent_encoding::percent_decode_str;

use super::time;
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

    /// 1 to 50 validated texts, separated by commas, so that none of them can have one.
    pub(crate) fn list<'q, T>(&'q self, name: &str) -> Result<Option<WhenItems<T>>, Refusal>
    where
        T: TryFrom<&'q str, Error = InvalidText> + PartialEq,
    {
        let made = self.get(name).map(|value| {
            let items: Result<_, _> = value.split(',').map(T::try_from).collect();
            items.and_then(WhenItems::new)
        });
        let made = made.transpose();
        made.map_err(|e| Refusal::bad_input(name, e.to_string()))
    }

    /// `true` or `false`.
    pub(crate) fn bool(&self, name: &str) -> Result<Option<bool>, Refusal> {
        let from_name = |name: &str| name.parse().ok();
        self.name(name, from_name, "must be true or false")
    }

    /// A number in JSON's syntax, as what is made of it.
    pub(crate) fn number<T>(
        &self,
        name: &str,
        make: impl FnOnce(&Number) -> Option<T>,
        must: &'static str,
    ) -> Result<Option<T>, Refusal> {
        self.name(name, |text| make(&Number::parse(text)?), must)
    }

    /// An instant.
    pub(crate) fn time(&self, name: &str) -> Result<Option<Timestamp>, Refusal> {
        let must = "must be a time as of RFC 3339, with an offset";
        self.name(name, time::instant, must)
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
        let make = |limit: &Number| PageSize::new(u16::try_from(limit.to_u64_exact()?).ok()?);
        let size = self.number("limit", make, "must be a whole number from 1 to 100")?;
        Ok(size.unwrap_or_default())
    }

    /// `limit` of a list that may be asked for no rows.
    pub(crate) fn size_or_none(&self) -> Result<Option<PageSize>, Refusal> {
        let make = |limit: &Number| match limit.to_u64_exact()? {
            0 => Some(None),
            limit => PageSize::new(u16::try_from(limit).ok()?).map(Some),
        };
        let size = self.number("limit", make, "must be a whole number from 0 to 100")?;
        Ok(size.unwrap_or_else(|| Some(PageSize::default())))
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
