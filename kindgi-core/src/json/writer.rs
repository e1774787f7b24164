//! Compact JSON for answers.

use std::fmt::Write;

use super::raw::RawJson;
use super::string::push_quoted;

/// Whole doubles below this are written without a fraction, as every integer there is exact.
const TWO_POW_53: f64 = 9_007_199_254_740_992.0;

/// Writes compact JSON, with raw values spliced in unchanged.
///
/// Members stand in the order they are written in, and nobody checks that their names differ. A value without a
/// name in an object, a name in an array or a second value at the top don't compile.
///
/// ```
/// use kindgi_core::json::{RawJson, Writer};
///
/// let value = RawJson::parse("1.10")?;
/// let text = Writer::object(|o| {
///     o.str("id", "x");
///     o.opt_str("reason", None);
///     o.raw("itemValue", &value);
///     o.array("data", |a| {
///         a.object(|o| o.bool("restricted", true));
///         a.f64(2.0);
///     });
/// });
/// assert_eq!(text, r#"{"id":"x","itemValue":1.10,"data":[{"restricted":true},2]}"#);
/// # Ok::<(), kindgi_core::json::InvalidJson>(())
/// ```
///
/// ```compile_fail
/// kindgi_core::json::Writer::object(|o| o.bool(true));
/// ```
#[derive(Debug)]
pub struct Writer(());

impl Writer {
    /// An object with the members that the closure writes.
    #[must_use]
    pub fn object(members: impl FnOnce(&mut ObjectWriter<'_>)) -> String {
        let mut out = String::new();
        write_object(&mut out, members);
        out
    }

    /// An array with the items that the closure writes.
    #[must_use]
    pub fn array(items: impl FnOnce(&mut ArrayWriter<'_>)) -> String {
        let mut out = String::new();
        write_array(&mut out, items);
        out
    }
}

/// Writes the members of one object.
#[derive(Debug)]
pub struct ObjectWriter<'a> {
    out: &'a mut String,
    empty: bool,
}

impl ObjectWriter<'_> {
    /// A member that is a string.
    pub fn str(&mut self, key: &str, value: &str) {
        push_quoted(self.member(key), value);
    }

    /// A member that is a string, or no member.
    pub fn opt_str(&mut self, key: &str, value: Option<&str>) {
        if let Some(value) = value {
            self.str(key, value);
        }
    }

    /// A member that is a whole number.
    pub fn u64(&mut self, key: &str, value: u64) {
        push_display(self.member(key), value);
    }

    /// A member that is a whole number, or no member.
    pub fn opt_u64(&mut self, key: &str, value: Option<u64>) {
        if let Some(value) = value {
            self.u64(key, value);
        }
    }

    /// A member that is a number: the shortest text that reads back as the same double, without a fraction when it
    /// is whole and below 2^53 in magnitude (`2`, and `0` for `-0.0`). JSON has no infinities and no NaN: they are
    /// written as `null`.
    pub fn f64(&mut self, key: &str, value: f64) {
        push_f64(self.member(key), value);
    }

    /// A member that is `true` or `false`.
    pub fn bool(&mut self, key: &str, value: bool) {
        push_display(self.member(key), value);
    }

    /// A member that is `null`.
    pub fn null(&mut self, key: &str) {
        self.member(key).push_str("null");
    }

    /// A member with this value, as it is.
    pub fn raw(&mut self, key: &str, value: &RawJson) {
        self.member(key).push_str(value.as_str());
    }

    /// A member with this value, as it is, or no member.
    pub fn opt_raw(&mut self, key: &str, value: Option<&RawJson>) {
        if let Some(value) = value {
            self.raw(key, value);
        }
    }

    /// A member that is an object with the members that the closure writes.
    pub fn object(&mut self, key: &str, members: impl FnOnce(&mut ObjectWriter<'_>)) {
        write_object(self.member(key), members);
    }

    /// A member that is an array with the items that the closure writes.
    pub fn array(&mut self, key: &str, items: impl FnOnce(&mut ArrayWriter<'_>)) {
        write_array(self.member(key), items);
    }

    /// Writes all that comes before a member's value.
    fn member(&mut self, key: &str) -> &mut String {
        if !self.empty {
            self.out.push(',');
        }
        self.empty = false;
        push_quoted(self.out, key);
        self.out.push(':');
        self.out
    }
}

/// Writes the items of one array.
#[derive(Debug)]
pub struct ArrayWriter<'a> {
    out: &'a mut String,
    empty: bool,
}

impl ArrayWriter<'_> {
    /// An item that is a string.
    pub fn str(&mut self, value: &str) {
        push_quoted(self.item(), value);
    }

    /// An item that is a whole number.
    pub fn u64(&mut self, value: u64) {
        push_display(self.item(), value);
    }

    /// An item that is a number, written as by [`ObjectWriter::f64`].
    pub fn f64(&mut self, value: f64) {
        push_f64(self.item(), value);
    }

    /// An item that is `true` or `false`.
    pub fn bool(&mut self, value: bool) {
        push_display(self.item(), value);
    }

    /// An item that is `null`.
    pub fn null(&mut self) {
        self.item().push_str("null");
    }

    /// An item with this value, as it is.
    pub fn raw(&mut self, value: &RawJson) {
        self.item().push_str(value.as_str());
    }

    /// An item that is an object with the members that the closure writes.
    pub fn object(&mut self, members: impl FnOnce(&mut ObjectWriter<'_>)) {
        write_object(self.item(), members);
    }

    /// An item that is an array with the items that the closure writes.
    pub fn array(&mut self, items: impl FnOnce(&mut ArrayWriter<'_>)) {
        write_array(self.item(), items);
    }

    /// Writes all that comes before an item.
    fn item(&mut self) -> &mut String {
        if !self.empty {
            self.out.push(',');
        }
        self.empty = false;
        self.out
    }
}

fn write_object(out: &mut String, members: impl FnOnce(&mut ObjectWriter<'_>)) {
    out.push('{');
    members(&mut ObjectWriter { out, empty: true });
    out.push('}');
}

fn write_array(out: &mut String, items: impl FnOnce(&mut ArrayWriter<'_>)) {
    out.push('[');
    items(&mut ArrayWriter { out, empty: true });
    out.push(']');
}

fn push_display(out: &mut String, value: impl std::fmt::Display) {
    // Writing to a `String` cannot fail.
    let _ = write!(out, "{value}");
}

fn push_f64(out: &mut String, value: f64) {
    if !value.is_finite() {
        out.push_str("null");
    } else if value == 0.0 {
        out.push('0');
    } else if value.abs() < TWO_POW_53 {
        // Shortest, and without a fraction where there is none; but a tiny one gets no exponent.
        if value.abs() < 1e-5 {
            let _ = write!(out, "{value:e}");
        } else {
            push_display(out, value);
        }
    } else {
        let _ = write!(out, "{value:?}");
    }
}
