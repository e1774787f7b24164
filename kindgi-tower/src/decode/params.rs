//! Parameters of the path.

use std::borrow::Cow;

use kindgi_core::model::InvalidText;
use percent_encoding::percent_decode_str;

use crate::refusal::Refusal;

/// A parameter of the path as a validated text. `%2F` in it is a `/` of the text.
pub(crate) fn path<T>(params: &[(String, String)], name: &str) -> Result<T, Refusal>
where
    T: for<'t> TryFrom<&'t str, Error = InvalidText>,
{
    let Some((_, raw)) = params.iter().find(|(own, _)| own == name) else {
        return Err(Refusal::internal());
    };
    let Ok(text) = percent_decode_str(raw).decode_utf8() else {
        return Err(Refusal::bad_input(name, "isn't UTF-8"));
    };
    T::try_from(&text).map_err(|e| Refusal::bad_input(name, e.to_string()))
}

/// A parameter of the path, decoded. Bytes that aren't UTF-8 are replaced: for comparing alone.
pub(crate) fn decoded(raw: &str) -> Cow<'_, str> {
    percent_decode_str(raw).decode_utf8_lossy()
}
