//! Statements and rows, without a database's name: whole numbers and texts are all there is.

use kindgi_core::json::{Kind, Node, RawJson};

use crate::error::DbError;

/// A value in a statement or a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Cell {
    Null,
    Int(i64),
    Text(String),
}

impl From<i64> for Cell {
    fn from(value: i64) -> Self {
        Self::Int(value)
    }
}

impl From<bool> for Cell {
    fn from(value: bool) -> Self {
        Self::Int(value.into())
    }
}

impl From<&str> for Cell {
    fn from(value: &str) -> Self {
        Self::Text(value.to_owned())
    }
}

impl From<String> for Cell {
    fn from(value: String) -> Self {
        Self::Text(value)
    }
}

impl<T: Into<Cell>> From<Option<T>> for Cell {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

/// A statement with its arguments. Every `?` is an argument, and the text has no other.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sql {
    pub(crate) text: String,
    pub(crate) args: Vec<Cell>,
}

impl Sql {
    pub(crate) fn new(text: impl Into<String>) -> Self {
        let text = text.into();
        let args = Vec::new();
        Self { text, args }
    }

    /// Adds an argument for the next `?` that has none.
    pub(crate) fn bind(mut self, value: impl Into<Cell>) -> Self {
        self.args.push(value.into());
        self
    }

    /// Adds arguments in order.
    pub(crate) fn bind_all(mut self, values: impl IntoIterator<Item = Cell>) -> Self {
        self.args.extend(values);
        self
    }

    /// Adds text.
    pub(crate) fn push(mut self, text: &str) -> Self {
        self.text.push_str(text);
        self
    }

    /// Adds a part of a statement with its arguments.
    pub(crate) fn push_sql(self, part: Sql) -> Self {
        self.push(&part.text).bind_all(part.args)
    }

    /// Adds ` AND column = ?` if there is a value.
    pub(crate) fn and_is(self, column: &str, value: Option<impl Into<Cell>>) -> Self {
        match value {
            Some(value) => self.push(" AND ").push(column).push(" = ?").bind(value),
            None => self,
        }
    }
}

/// A row, read from its first cell to its last.
#[derive(Clone, Debug)]
pub(crate) struct Row(std::vec::IntoIter<Cell>);

impl Row {
    pub(crate) fn new(cells: Vec<Cell>) -> Self {
        Self(cells.into_iter())
    }

    /// Passes cells over.
    pub(crate) fn skip(&mut self, cells: usize) {
        self.0.by_ref().take(cells).for_each(drop);
    }

    /// Whether all cells were read.
    pub(crate) fn is_over(&self) -> bool {
        self.0.as_slice().is_empty()
    }

    pub(crate) fn opt_int(&mut self) -> Result<Option<i64>, DbError> {
        match self.0.next() {
            Some(Cell::Int(value)) => Ok(Some(value)),
            Some(Cell::Null) => Ok(None),
            _ => Err(DbError::corrupt("a value other than a number")),
        }
    }

    pub(crate) fn int(&mut self) -> Result<i64, DbError> {
        self.opt_int()?
            .ok_or_else(|| DbError::corrupt("no number where one must be"))
    }

    pub(crate) fn opt_text(&mut self) -> Result<Option<String>, DbError> {
        match self.0.next() {
            Some(Cell::Text(value)) => Ok(Some(value)),
            Some(Cell::Null) => Ok(None),
            _ => Err(DbError::corrupt("a value other than a text")),
        }
    }

    pub(crate) fn text(&mut self) -> Result<String, DbError> {
        self.opt_text()?
            .ok_or_else(|| DbError::corrupt("no text where one must be"))
    }
}

/// Cells as a JSON array, to be kept in one text.
pub(crate) fn to_json(cells: &[Cell]) -> String {
    RawJson::array(|a| {
        for cell in cells {
            match cell {
                Cell::Null => a.raw(&RawJson::null()),
                // As text, since a JSON number may be taken for a double.
                Cell::Int(value) => a.object(|o| o.str("int", &value.to_string())),
                Cell::Text(value) => a.str(value),
            }
        }
    })
    .as_str()
    .to_owned()
}

/// From what [`to_json`] wrote.
pub(crate) fn from_json(text: String) -> Result<Vec<Cell>, DbError> {
    let corrupt = || DbError::corrupt("a kept outcome");
    let json = RawJson::parse(text).map_err(|_| corrupt())?;
    let node = Node::parse(&json, 2).map_err(|_| corrupt())?;
    let Kind::Array(cells) = node.kind() else {
        return Err(corrupt());
    };
    let text = |node: &Node| match node.kind() {
        Kind::String(text) => text.as_str().map(str::to_owned).map_err(|_| corrupt()),
        _ => Err(corrupt()),
    };
    let cell = |node: &Node| match node.kind() {
        Kind::Null => Ok(Cell::Null),
        Kind::Object(members) => {
            let (_, int) = members.first().ok_or_else(corrupt)?;
            text(int)?.parse().map(Cell::Int).map_err(|_| corrupt())
        }
        _ => text(node).map(Cell::Text),
    };
    cells.iter().map(cell).collect()
}
