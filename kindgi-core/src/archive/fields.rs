//! The members of a line's objects, each taken once.

use std::{fmt::Display, str::FromStr};

use super::{InvalidLine, document};
use crate::{clock::Timestamp, json::RawJson, model::InvalidText};

/// An object's members that weren't taken yet.
pub(super) struct Fields {
    path: String,
    members: Vec<(String, RawJson)>,
}

/// A member's value, or an item's.
pub(super) struct Field {
    path: String,
    value: RawJson,
}

fn below(path: &str, name: impl Display) -> String {
    match path {
        "" => name.to_string(),
        path => format!("{path}.{name}"),
    }
}

impl Fields {
    /// Those of a whole line.
    pub(super) fn of_line(line: &str) -> Result<Self, InvalidLine> {
        let value = RawJson::parse(line).map_err(|e| InvalidLine {
            field: String::new(),
            message: format!("is no JSON: {e}"),
        })?;
        let path = String::new();
        Field { path, value }.fields()
    }

    /// A member that must be there.
    pub(super) fn required(&mut self, name: &str) -> Result<Field, InvalidLine> {
        let found = self.optional(name);
        found.ok_or_else(|| InvalidLine {
            field: below(&self.path, name),
            message: "is missing".to_owned(),
        })
    }

    /// A member that may be left out.
    pub(super) fn optional(&mut self, name: &str) -> Option<Field> {
        let place = self.members.iter().position(|(other, _)| other == name)?;
        let (_, value) = self.members.swap_remove(place);
        let path = below(&self.path, name);
        Some(Field { path, value })
    }

    /// A text that must be there.
    pub(super) fn parse<T: FromStr<Err: Display>>(&mut self, name: &str) -> Result<T, InvalidLine> {
        self.required(name)?.parse()
    }

    /// A text that may be left out.
    pub(super) fn opt_parse<T: FromStr<Err: Display>>(
        &mut self,
        name: &str,
    ) -> Result<Option<T>, InvalidLine> {
        self.optional(name).map(|field| field.parse()).transpose()
    }

    /// A time that must be there.
    pub(super) fn time(&mut self, name: &str) -> Result<Timestamp, InvalidLine> {
        self.required(name)?.time()
    }

    /// A time that may be left out.
    pub(super) fn opt_time(&mut self, name: &str) -> Result<Option<Timestamp>, InvalidLine> {
        self.optional(name).map(|field| field.time()).transpose()
    }

    /// Refuses what wasn't taken, which is what isn't known and what is there twice.
    pub(super) fn end(self) -> Result<(), InvalidLine> {
        match self.members.first() {
            None => Ok(()),
            Some((name, _)) => Err(InvalidLine {
                field: below(&self.path, name),
                message: "is not known here, or is there twice".to_owned(),
            }),
        }
    }
}

impl Field {
    /// What is wrong with it.
    pub(super) fn must(&self, must: impl Display) -> InvalidLine {
        InvalidLine {
            field: self.path.clone(),
            message: format!("must {must}"),
        }
    }

    pub(super) fn text(&self) -> Result<String, InvalidLine> {
        let text = self.value.as_text();
        let text = text.ok_or_else(|| self.must("be a string"))?;
        let text = text.as_str();
        let text = text.map_err(|_| self.must("have no half of a surrogate pair"))?;
        Ok(text.to_owned())
    }

    pub(super) fn parse<T: FromStr<Err: Display>>(&self) -> Result<T, InvalidLine> {
        self.text()?.parse().map_err(|e: T::Err| InvalidLine {
            field: self.path.clone(),
            message: e.to_string(),
        })
    }

    /// One of some names.
    pub(super) fn name<T>(&self, from_name: impl Fn(&str) -> Option<T>) -> Result<T, InvalidLine> {
        from_name(&self.text()?).ok_or_else(|| self.must("be one of the names that are known"))
    }

    /// A number, in the way that it is written here.
    pub(super) fn number<T: FromStr>(&self) -> Result<T, InvalidLine> {
        let number = self.value.as_str().parse();
        number.map_err(|_| self.must("be a number of its kind"))
    }

    pub(super) fn truth(&self) -> Result<bool, InvalidLine> {
        let truth = self.value.as_bool();
        truth.ok_or_else(|| self.must("be true or false"))
    }

    pub(super) fn time(&self) -> Result<Timestamp, InvalidLine> {
        let time = Timestamp::from_unix_millis(self.number()?);
        time.ok_or_else(|| self.must("be a time between the years 0 and 9999"))
    }

    /// The document in a string.
    pub(super) fn document(&self) -> Result<RawJson, InvalidLine> {
        let text = self.text()?;
        document(&text).ok_or_else(|| self.must("be the text of a JSON value, and nothing else"))
    }

    /// What the model reads from its own JSON.
    pub(super) fn json<T>(
        &self,
        read: impl Fn(&RawJson) -> Result<T, InvalidText>,
    ) -> Result<T, InvalidLine> {
        // Not a slice of the line, which would be kept with it.
        read(&self.value.detached()).map_err(|e| InvalidLine {
            field: self.path.clone(),
            message: e.to_string(),
        })
    }

    pub(super) fn items<T>(
        &self,
        item: impl Fn(Self) -> Result<T, InvalidLine>,
    ) -> Result<Vec<T>, InvalidLine> {
        let values = self.value.items();
        let values = values.ok_or_else(|| self.must("be an array"))?;
        let items = values.into_iter().enumerate().map(|(place, value)| {
            let path = below(&self.path, place);
            item(Self { path, value })
        });
        items.collect()
    }

    pub(super) fn fields(&self) -> Result<Fields, InvalidLine> {
        let members = self.value.members();
        let members = members.ok_or_else(|| self.must("be an object"))?;
        let mut fields = Fields {
            path: self.path.clone(),
            members: Vec::with_capacity(members.len()),
        };
        for (name, value) in members {
            fields.members.push((name.lossy().to_owned(), value));
        }
        Ok(fields)
    }
}
