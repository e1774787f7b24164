//! What differs between databases, beside their drivers and their migrations.

/// A database's ways.
#[derive(Debug)]
pub(crate) struct Dialect {
    /// Its name, as its folder of migrations has it.
    pub(crate) name: &'static str,
    /// What stands before a column that no index is to be chosen for. Before the columns of the
    /// one table that a join compares the other's with, it says which is looked at first.
    pub(crate) unindexed: &'static str,
    /// What the database's clock shows, in milliseconds since the Unix epoch, as an expression. None
    /// where its clock is the process's own.
    pub(crate) now: Option<&'static str>,
    /// The statement that says whether a table is there, where to create one if it isn't asks for a
    /// right that a user of it may not have.
    pub(crate) has_table: Option<&'static str>,
    /// The migrations, oldest first, with `{}` for the table prefix.
    pub(crate) migrations: &'static [Migration],
}

/// A step of the schema.
#[derive(Debug)]
pub(crate) struct Migration {
    pub(crate) name: &'static str,
    pub(crate) sql: &'static str,
}
