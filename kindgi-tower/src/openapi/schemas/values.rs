//! Texts, numbers and times, each with the limits that the service holds it to.

use std::borrow::Cow;

use kindgi_core::{
    engine::MAX_PREVIEW,
    model::{
        MAX_DISMISS_REASON_CHARS, MAX_ID_CHARS, MAX_INTEGER, MAX_REASON_CHARS, MAX_WHEN_ITEMS,
        PageSize,
    },
};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

/// White space as Rust and Unicode have it (`White_Space`), for a pattern's character class.
pub(super) const WHITE: &str =
    r"\u0009-\u000d\u0020\u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000";

/// A type without values, that stands for a schema which is written where it is used.
macro_rules! value {
    ($($(#[$doc:meta])* $name:ident = $schema:expr;)*) => {$(
        $(#[$doc])*
        pub(in crate::openapi) struct $name;

        impl JsonSchema for $name {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                $schema
            }
        }
    )*};
}

value! {
    /// An id of a caller's or the host's.
    Id = named(MAX_ID_CHARS);
    /// An id, a name or another text in an answer.
    Text = json_schema!({ "type": "string" });
    /// A judge class's name.
    ClassName = named(100);
    /// A judging rule's name.
    RuleName = named(200);
    /// A tool's name.
    ToolName = named(200);
    /// A text of any length.
    FreeText = json_schema!({ "type": "string", "pattern": NO_NUL });
    /// Why a verdict is as it is.
    Reason = free(MAX_REASON_CHARS);
    /// Why an item was dismissed.
    DismissReason = free(MAX_DISMISS_REASON_CHARS);
    /// An item's key. Of the keys that begin with `kindgi:` there is only one.
    ItemKey = json_schema!({
        "type": "string",
        "minLength": 1,
        "maxLength": MAX_ID_CHARS,
        "pattern": format!(r"^(?!kindgi:(?!correction$)){}", &not_blank()[1..]),
    });
    /// A JSON Pointer (RFC 6901), without U+0000.
    Pointer = json_schema!({ "type": "string", "pattern": r"^(/([^/~\u0000]|~[01])*)*$" });
    /// An item's place.
    Rank = json_schema!({ "type": "integer", "minimum": 0, "maximum": MAX_INTEGER });
    /// A finite number that isn't negative.
    Weight = json_schema!({ "type": "number", "minimum": 0 });
    /// A share of runs.
    Sample = json_schema!({ "type": "number", "exclusiveMinimum": 0, "maximum": 1 });
    /// How many open items a rule may have.
    MaxOpen = json_schema!({ "type": "integer", "minimum": 1, "maximum": 10_000 });
    /// A rule's version.
    VersionNumber = json_schema!({ "type": "integer", "minimum": 1 });
    /// How many.
    Count = json_schema!({ "type": "integer", "minimum": 0 });
    /// A number.
    AnyNumber = json_schema!({ "type": "number" });
    /// An instant (RFC 3339).
    Time = json_schema!({ "type": "string", "format": "date-time" });
    /// Always `true`.
    True = json_schema!({ "type": "boolean", "const": true });
    /// Any JSON.
    Anything = json_schema!(true);
    /// An object with any members.
    AnyObject = json_schema!({ "type": "object" });
    /// An object of objects of texts.
    ToolEnv = json_schema!({
        "type": "object",
        "additionalProperties": { "type": "object", "additionalProperties": { "type": "string" } },
    });
    /// The key of a run's segment.
    SegmentKey = json_schema!({ "type": "string", "pattern": "^[a-z][a-z0-9_-]{0,63}$" });
    /// The value of a run's segment.
    SegmentValue = named(256);

    /// `true` or `false`.
    Flag = json_schema!({ "type": "boolean" });
    /// A page's size.
    Limit = limit(1);
    /// A page's size, where no rows may be asked for.
    QueueLimit = limit(0);
    /// A cursor. What is in it is the service's own business.
    Cursor = json_schema!({ "type": "string", "minLength": 1 });
    /// A share of runs in a query.
    PreviewSample = json_schema!({
        "type": "number", "exclusiveMinimum": 0, "maximum": 1, "default": 1,
    });
    /// How many runs a preview looks at.
    Last = json_schema!({
        "type": "integer", "minimum": 1, "maximum": MAX_PREVIEW, "default": 100,
    });
    /// Texts with commas between them.
    Names = json_schema!({ "type": "string", "minLength": 1, "pattern": names() });
    /// Statuses with commas between them.
    Statuses = json_schema!({
        "type": "string", "minLength": 1, "pattern": "^completed(,completed)*$",
    });
    /// An idempotency key.
    IdempotencyKey = json_schema!({
        "type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[!-~]+$",
    });
    /// A number of seconds.
    Seconds = json_schema!({ "type": "integer", "minimum": 0 });
}

/// No U+0000.
const NO_NUL: &str = r"^[^\u0000]*$";

/// Not only white space, and no U+0000.
fn not_blank() -> String {
    format!(r"^[^\u0000]*[^\u0000{WHITE}][^\u0000]*$")
}

fn named(most: usize) -> Schema {
    json_schema!({
        "type": "string", "minLength": 1, "maxLength": most, "pattern": not_blank(),
    })
}

fn free(most: usize) -> Schema {
    json_schema!({ "type": "string", "maxLength": most, "pattern": NO_NUL })
}

fn limit(least: u16) -> Schema {
    let default = PageSize::default().get();
    json_schema!({
        "type": "integer", "minimum": least, "maximum": PageSize::MAX, "default": default,
    })
}

/// 1 to 50 texts like ids, none of which can have a comma.
fn names() -> String {
    let one = format!(r"(?![{WHITE}]*(,|$))[^,\u0000]{{1,{MAX_ID_CHARS}}}");
    format!("^{one}(,{one}){{0,{}}}$", MAX_WHEN_ITEMS - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The ranges that [`WHITE`] lists.
    fn listed() -> Vec<(u32, u32)> {
        let range = |range: &str| {
            let mut ends = range.split("-");
            let end = |text: Option<&str>| u32::from_str_radix(text?.strip_prefix(r"\u")?, 16).ok();
            let first = end(ends.next()).unwrap();
            (first, end(ends.next()).unwrap_or(first))
        };
        let one = WHITE.replace(r"\u", r",\u").replace(r"-,", "-");
        one.trim_matches(',').split(',').map(range).collect()
    }

    #[test]
    fn white_space_in_patterns_is_the_models() {
        let listed = listed();
        for c in char::MIN..=char::MAX {
            let code = u32::from(c);
            let is = listed
                .iter()
                .any(|(first, last)| (*first..=*last).contains(&code));
            assert_eq!(is, c.is_whitespace(), "{code:04x}");
        }
    }
}
