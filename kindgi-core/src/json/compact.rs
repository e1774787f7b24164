//! The same text without white space between its tokens.

use super::raw::RawJson;
use super::scan::Scanner;

impl RawJson {
    /// The same value without the white space between its tokens. All else stays: number text, escapes, the order
    /// of keys and duplicate keys.
    ///
    /// ```
    /// use kindgi_core::json::RawJson;
    ///
    /// let raw = RawJson::parse(r#"{ "b" : 1.10 , "a" : [ "x y" ] }"#)?;
    /// assert_eq!(raw.compact().as_str(), r#"{"b":1.10,"a":["x y"]}"#);
    /// # Ok::<(), kindgi_core::json::InvalidJson>(())
    /// ```
    #[must_use]
    pub fn compact(&self) -> Self {
        let source = self.as_str();
        let mut compact = String::with_capacity(source.len());
        let mut end = 0;
        for token in Scanner::new(source) {
            // Between two tokens there are commas, colons and white space.
            let between = source.get(end..token.start).unwrap_or_default();
            compact.extend(between.chars().filter(|c| matches!(c, ',' | ':')));
            compact.push_str(token.text(source));
            end = token.end;
        }
        Self::trusted(compact)
    }
}
