//! One level of a document that may be large and deep.

use super::raw::RawJson;
use super::scan::{Scanner, TokenKind};
use super::string::Text;

impl RawJson {
    /// The members of an object in order, duplicates included; `None` if the value is no object.
    ///
    /// One pass over the text; nothing below the first level is looked into.
    #[must_use]
    pub fn members(&self) -> Option<Vec<(Text, RawJson)>> {
        let mut members = Vec::new();
        let mut name = None;
        self.level(TokenKind::OpenObject, |part| match part {
            Part::Key(key) => name = Some(key),
            Part::Value(value) => members.extend(name.take().map(|name| (name, value))),
        })?;
        Some(members)
    }

    /// The items of an array in order; `None` if the value is no array.
    ///
    /// One pass over the text; nothing below the first level is looked into.
    #[must_use]
    pub fn items(&self) -> Option<Vec<RawJson>> {
        let mut items = Vec::new();
        self.level(TokenKind::OpenArray, |part| {
            if let Part::Value(value) = part {
                items.push(value);
            }
        })?;
        Some(items)
    }

    /// The content of a string, or the news that no `str` can hold it; `None` if the value is no string.
    #[must_use]
    pub fn as_text(&self) -> Option<Text> {
        let token = Scanner::new(self.as_str()).next()?;
        let is_string = token.kind == TokenKind::String;
        is_string.then(|| Text::unescape(token.body(self.as_str())))
    }

    /// `true` or `false`; `None` if the value is neither.
    #[must_use]
    pub fn as_bool(&self) -> Option<bool> {
        match self.as_str() {
            "true" => Some(true),
            "false" => Some(false),
            _ => None,
        }
    }

    fn level(&self, container: TokenKind, mut each: impl FnMut(Part)) -> Option<()> {
        let source = self.as_str();
        let mut tokens = Scanner::new(source);
        if tokens.next()?.kind != container {
            return None;
        }
        // How many containers are open below this level, and where the outermost of them began.
        let mut open = 0usize;
        let mut start = 0;
        for token in tokens {
            match token.kind {
                TokenKind::OpenObject | TokenKind::OpenArray => {
                    if open == 0 {
                        start = token.start;
                    }
                    open += 1;
                }
                TokenKind::Close if open == 0 => break,
                TokenKind::Close => {
                    open -= 1;
                    if open == 0 {
                        each(Part::Value(self.slice(start..token.end)));
                    }
                }
                _ if open > 0 => {}
                TokenKind::Key => each(Part::Key(Text::unescape(token.body(source)))),
                _ => each(Part::Value(self.slice(token.range()))),
            }
        }
        Some(())
    }
}

enum Part {
    Key(Text),
    Value(RawJson),
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> RawJson {
        RawJson::parse(text).unwrap()
    }

    #[test]
    fn a_level_is_read_without_what_lies_below_it() {
        let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
        let text = format!(r#" {{ "a" : 1.10 , "b":{{"a":[2]}},"\u0061" : {deep},"c":"x" }} "#);
        let members = parse(&text).members().unwrap();
        let names: Vec<&str> = members.iter().map(|(name, _)| name.lossy()).collect();
        assert_eq!(names, ["a", "b", "a", "c"]);
        let values: Vec<&str> = members.iter().map(|(_, value)| value.as_str()).collect();
        assert_eq!(values, ["1.10", r#"{"a":[2]}"#, deep.as_str(), r#""x""#]);
        let items = parse("[ 1 ,[2,[3]], {} ,\"\"]").items().unwrap();
        let items: Vec<&str> = items.iter().map(RawJson::as_str).collect();
        assert_eq!(items, ["1", "[2,[3]]", "{}", "\"\""]);
    }

    #[test]
    fn another_kind_of_value_has_no_such_level() {
        assert_eq!(parse("[]").members(), None);
        assert_eq!(parse("{}").items(), None);
        assert_eq!(parse("\"[]\"").items(), None);
        assert_eq!(parse("null").as_text(), None);
        assert_eq!(parse("1").as_bool(), None);
        assert_eq!(parse("[]").items(), Some(Vec::new()));
        assert_eq!(parse("{}").members().map(|m| m.len()), Some(0));
    }
}
