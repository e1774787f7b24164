//! The schemas of SQLite and PostgreSQL say the same.

use std::collections::{BTreeMap, BTreeSet};

use sqlx::{AssertSqlSafe, Row as _, SqlitePool};

use super::support::{builder, open, query, url};

/// What a schema says, in words of no database.
#[derive(Debug, Default, PartialEq, Eq)]
struct Said {
    /// By table and column: integer or text, and whether it may be NULL.
    columns: BTreeMap<(String, String), (String, bool)>,
    /// By name: the table, whether it is unique, its columns, and of which rows it is.
    indexes: BTreeMap<String, (String, bool, Vec<String>, String)>,
    checks: BTreeSet<(String, String)>,
}

/// A condition without what databases add to it or leave out.
fn plain(condition: &str) -> String {
    let condition = condition.replace("::text", "");
    condition.replace(['(', ')'], "")
}

/// The columns and expressions of an index, from its first bracket on.
fn indexed(definition: &str) -> Vec<String> {
    let (mut depth, mut all) = (0, vec![String::new()]);
    for char in definition.chars().skip_while(|char| *char != '(') {
        match char {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        match char {
            ',' if depth == 1 => all.push(String::new()),
            _ => all.last_mut().unwrap().push(char),
        }
        if depth == 0 {
            break;
        }
    }
    let all = all.iter().map(|one| plain(one.trim()));
    all.collect()
}

async fn of_sqlite(pool: &SqlitePool) -> Said {
    let mut said = Said::default();
    let fetch = |sql: String| sqlx::query(AssertSqlSafe(sql)).fetch_all(pool);
    let tables = "SELECT name, sql FROM sqlite_master WHERE type = 'table'";
    for row in fetch(tables.to_owned()).await.unwrap() {
        let (table, create): (String, String) = (row.get(0), row.get(1));
        let columns = format!("SELECT name, type, \"notnull\" FROM pragma_table_info('{table}')");
        for row in fetch(columns).await.unwrap() {
            let (name, kind, not_null): (String, String, bool) =
                (row.get(0), row.get(1), row.get(2));
            let column = (table.clone(), name);
            let kind = kind.to_lowercase().replace("bigint", "integer");
            said.columns.insert(column, (kind, !not_null));
        }
        for line in create.lines().map(str::trim) {
            if let Some(check) = line.strip_prefix("CHECK ") {
                let check = plain(check.trim_end_matches(','));
                said.checks.insert((table.clone(), check));
            }
        }
    }
    let indexes = "SELECT m.name, m.tbl_name, m.sql, l.\"unique\" FROM sqlite_master m \
                   JOIN pragma_index_list(m.tbl_name) l ON l.name = m.name \
                   WHERE m.type = 'index'";
    for row in fetch(indexes.to_owned()).await.unwrap() {
        let (name, table): (String, String) = (row.get(0), row.get(1));
        let (create, unique): (String, bool) = (row.get(2), row.get(3));
        let columns = indexed(create.split_once(&table).unwrap().1);
        let which = create
            .split_once(" WHERE ")
            .or(create.split_once("\n    WHERE "));
        let which = which.map_or(String::new(), |(_, which)| plain(which.trim()));
        said.indexes.insert(name, (table, unique, columns, which));
    }
    said
}

fn of_postgres(url: &str) -> Said {
    let mut said = Said::default();
    let text = |cell: &Option<String>| cell.clone().unwrap_or_default();
    for row in query(
        url,
        "SELECT table_name, column_name, data_type, is_nullable FROM information_schema.columns \
         WHERE table_schema = 'public'",
    ) {
        let kind = match row[2].as_deref() {
            Some("bigint") => "integer",
            Some(other) => other,
            None => "",
        };
        let nullable = row[3].as_deref() == Some("YES");
        let column = (text(&row[0]), text(&row[1]));
        said.columns.insert(column, (kind.to_owned(), nullable));
    }
    for row in query(
        url,
        "SELECT i.relname, t.relname, x.indisunique, \
         pg_get_indexdef(x.indexrelid), \
         pg_get_expr(x.indpred, x.indrelid) FROM pg_index x \
         JOIN pg_class i ON i.oid = x.indexrelid JOIN pg_class t ON t.oid = x.indrelid \
         WHERE t.relnamespace = 'public'::regnamespace",
    ) {
        let columns = indexed(text(&row[3]).split_once(" USING btree").unwrap().1);
        let unique = row[2].as_deref() == Some("t");
        let index = (text(&row[1]), unique, columns, plain(&text(&row[4])));
        said.indexes.insert(text(&row[0]), index);
    }
    for row in query(
        url,
        "SELECT t.relname, pg_get_constraintdef(c.oid) FROM pg_constraint c \
         JOIN pg_class t ON t.oid = c.conrelid \
         WHERE c.contype = 'c' AND t.relnamespace = 'public'::regnamespace",
    ) {
        let check = text(&row[1]);
        let check = plain(check.strip_prefix("CHECK ").unwrap());
        said.checks.insert((text(&row[0]), check));
    }
    said
}

#[tokio::test]
async fn sqlite_and_postgres_have_the_same_tables_columns_indexes_and_checks() {
    let folder = tempfile::tempdir().unwrap();
    let file = format!("sqlite:{}", folder.path().join("test.db").display());
    builder().connect(&file).await.unwrap();
    let sqlite = of_sqlite(&SqlitePool::connect(&file).await.unwrap()).await;
    let url = url();
    open(&url).await;
    let postgres = of_postgres(&url);
    assert!(sqlite.columns.len() > 100 && sqlite.indexes.len() > 40 && sqlite.checks.len() > 5);
    assert_eq!(sqlite.columns, postgres.columns);
    assert_eq!(sqlite.indexes, postgres.indexes);
    assert_eq!(sqlite.checks, postgres.checks);
}

#[tokio::test]
async fn every_text_compares_bytewise() {
    let url = url();
    open(&url).await;
    let others = query(
        &url,
        "SELECT table_name, column_name, collation_name FROM information_schema.columns \
         WHERE table_schema = 'public' AND data_type = 'text' \
         AND collation_name IS DISTINCT FROM 'C'",
    );
    // The names of the schema's steps are for people.
    let names = ["kindgi_schema", "name"].map(|name| Some(name.to_owned()));
    let names = names.into_iter().chain([None]).collect::<Vec<_>>();
    assert_eq!(others, [names]);
}
