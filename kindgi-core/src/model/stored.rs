//! Reading back what the model's own `to_json` wrote.

use super::text::InvalidText;
use crate::json::RawJson;

/// A member that must be there.
pub(super) fn member(object: &RawJson, name: &'static str) -> Result<RawJson, InvalidText> {
    optional(object, name)?.ok_or(InvalidText::shape("must have all its members"))
}

/// A member that may be absent.
pub(super) fn optional(
    object: &RawJson,
    name: &'static str,
) -> Result<Option<RawJson>, InvalidText> {
    let members = object
        .members()
        .ok_or(InvalidText::shape("must be an object"))?;
    let found = members
        .into_iter()
        .find(|(key, _)| key.as_str() == Ok(name));
    Ok(found.map(|(_, value)| value))
}

/// An array's items.
pub(super) fn items(array: &RawJson) -> Result<Vec<RawJson>, InvalidText> {
    array.items().ok_or(InvalidText::shape("must be an array"))
}

/// A string as a validated text.
pub(super) fn string<T>(value: &RawJson) -> Result<T, InvalidText>
where
    T: for<'t> TryFrom<&'t str, Error = InvalidText>,
{
    let text = value
        .as_text()
        .ok_or(InvalidText::shape("must be a string"))?;
    let text = text
        .as_str()
        .map_err(|_| InvalidText::shape("must be characters"))?;
    T::try_from(text)
}

/// A string that is one of some names.
pub(super) fn name<T>(
    value: &RawJson,
    from_name: impl Fn(&str) -> Option<T>,
) -> Result<T, InvalidText> {
    let text = value.as_text();
    let named = text.as_ref().and_then(|text| from_name(text.lossy()));
    named.ok_or(InvalidText::shape("must be one of the API's names"))
}
