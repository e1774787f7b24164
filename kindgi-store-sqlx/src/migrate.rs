//! The schema, brought up to date: embedded steps, under the database's write lock, in tables
//! with our prefix alone. A host's own tables and migrations are not touched.

use crate::{
    dialect::Dialect,
    drivers::{Connection, Database},
    error::{DbError, OpenError},
    lock::Lock,
    sql::Sql,
    store::write,
};

/// Applies what is missing. Two processes may do so at once, also on an empty database: the
/// second waits for the first, and finds nothing to do.
pub(crate) async fn migrate(
    database: &dyn Database,
    prefix: &str,
    schema: Option<&str>,
) -> Result<(), OpenError> {
    let dialect = database.dialect();
    let (prefix, schema) = (prefix.to_owned(), schema.map(str::to_owned));
    let applied = write(database, Lock::Schema, move |connection| {
        Box::pin(async move {
            if let Some(schema) = schema {
                enter(connection, &schema).await?;
            }
            apply(connection, dialect, &prefix).await
        })
    });
    match applied.await? {
        Applied::All => Ok(()),
        Applied::Newer(version) => Err(OpenError::too_new(format!(
            "the database's schema has version {version}, this code knows {}: update the code",
            dialect.migrations.len()
        ))),
    }
}

enum Applied {
    All,
    /// The database has a version that this code doesn't know. Nothing was touched.
    Newer(i64),
}

/// Goes into a schema, which is created where it isn't there, for this transaction.
async fn enter(connection: &mut dyn Connection, schema: &str) -> Result<(), DbError> {
    // Creating one that is there needs a right that a user of it may not have.
    let there = Sql::new("SELECT 1 FROM pg_namespace WHERE nspname = ?").bind(schema);
    if connection.fetch_first(&there).await?.is_none() {
        let create = format!("CREATE SCHEMA \"{schema}\"");
        connection.execute(&Sql::new(create)).await?;
    }
    let schema = schema.replace('"', "\"\"");
    let enter = format!("SET LOCAL search_path TO \"{schema}\"");
    connection.execute(&Sql::new(enter)).await?;
    Ok(())
}

async fn apply(
    connection: &mut dyn Connection,
    dialect: &Dialect,
    prefix: &str,
) -> Result<Applied, DbError> {
    let is_there = match dialect.has_table {
        Some(has_table) => {
            let has_table = Sql::new(has_table).bind(format!("{prefix}schema"));
            connection.fetch_first(&has_table).await?.is_some()
        }
        None => false,
    };
    if !is_there {
        let create =
            "CREATE TABLE IF NOT EXISTS {}schema (version BIGINT NOT NULL, name TEXT NOT NULL)";
        let create = Sql::new(create.replace("{}", prefix));
        connection.execute(&create).await?;
    }
    let newest = "SELECT MAX(version) FROM {}schema".replace("{}", prefix);
    let version = match connection.fetch_first(&Sql::new(newest)).await? {
        Some(mut row) => row.opt_int()?.unwrap_or(0),
        None => 0,
    };
    let Some(missing) = usize::try_from(version)
        .ok()
        .and_then(|n| dialect.migrations.get(n..))
    else {
        return Ok(Applied::Newer(version));
    };
    for (version, migration) in (version + 1..).zip(missing) {
        // No statement and no comment of ours has a semicolon at the end of a line but its own.
        for statement in migration.sql.replace("{}", prefix).split(";\n") {
            if !statement.trim().is_empty() {
                connection.execute(&Sql::new(statement)).await?;
            }
        }
        let note = "INSERT INTO {}schema (version, name) VALUES (?, ?)".replace("{}", prefix);
        let note = Sql::new(note).bind(version).bind(migration.name);
        connection.execute(&note).await?;
    }
    Ok(Applied::All)
}
