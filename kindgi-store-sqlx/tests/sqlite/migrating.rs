//! The schema: made, left alone, refused.

use kindgi_core::store::{JudgingRuleStore, JudgmentStore, Write};
use kindgi_store_sqlx::{OpenErrorKind, SqlxStore};
use sqlx::{AssertSqlSafe, SqlitePool};

use crate::support::{
    Folder, STEPS, append_rule, at, builder, fills, judgments_with_segments, live, number, record,
};

#[tokio::test]
async fn opening_again_changes_nothing() {
    let folder = Folder::new();
    record(&folder.store().await, "a", "run", "key").await;
    let pool = folder.pool().await;
    let schema = "SELECT COUNT(*) FROM sqlite_master";
    let before = number(&pool, schema).await;
    let store = folder.store().await;
    assert_eq!(number(&pool, schema).await, before);
    assert_eq!(
        number(&pool, "SELECT COUNT(*) FROM kindgi_schema").await,
        STEPS
    );
    assert_eq!(live(&store).await, ["a"]);
}

/// Every table and index, and which steps made them.
async fn schema(pool: &SqlitePool) -> Vec<(String, String)> {
    let sql = "SELECT name, coalesce(sql, '') FROM sqlite_master \
               UNION ALL SELECT name, CAST(version AS TEXT) FROM kindgi_schema ORDER BY 1";
    sqlx::query_as(sql).fetch_all(pool).await.unwrap()
}

#[tokio::test]
async fn a_file_of_the_first_version_is_brought_up_to_date_and_keeps_its_rows() {
    let (first, new) = (Folder::new(), Folder::new());
    record(&new.store().await, "a", "run", "key").await;
    let pool = first.pool().await;
    let step = include_str!("../../migrations/sqlite/0001_judgments.sql");
    let step = step.replace("{}", "kindgi_");
    let new_file = new.file();
    let first_version = format!(
        "CREATE TABLE kindgi_schema (version BIGINT NOT NULL, name TEXT NOT NULL); \
         INSERT INTO kindgi_schema VALUES (1, '0001_judgments'); \
         {step} \
         ATTACH '{}' AS new; \
         INSERT INTO kindgi_judgments SELECT * FROM new.kindgi_judgments; \
         INSERT INTO kindgi_runs SELECT tenant, run, erased, subject_kind, subject_id, version, \
         input, output, context, segments, captured_at FROM new.kindgi_runs; \
         DETACH new;",
        new_file.display()
    );
    let mut connection = pool.acquire().await.unwrap();
    let made = sqlx::raw_sql(AssertSqlSafe(first_version));
    made.execute(&mut *connection).await.unwrap();
    drop(connection);
    assert_ne!(schema(&pool).await, schema(&new.pool().await).await);

    let store = first.store().await;
    assert_eq!(schema(&pool).await, schema(&new.pool().await).await);
    assert_eq!(live(&store).await, ["a"]);
    let superseded = record(&store, "b", "run", "key").await;
    assert_eq!(superseded, Some("a".parse().unwrap()));
    let rule = append_rule(&store, "rule", 1).await;
    let kept = store.rule(&rule.tenant, &rule.project, &rule.id).await;
    assert_eq!(kept.unwrap(), Some(rule));
}

#[tokio::test]
async fn the_paths_of_runs_that_were_there_are_those_that_new_runs_get() {
    let folder = Folder::new();
    let store = folder.store().await;
    for (new, copy) in judgments_with_segments() {
        let write = Write {
            tenant: &new.judgment.tenant,
            now: at(0),
            operation: None,
        };
        store.record(write, &new, Some(&copy), None).await.unwrap();
    }
    let pool = folder.pool().await;
    let paths = || async {
        let sql = "SELECT tenant, run, project, path, captured_at FROM kindgi_run_paths \
                   ORDER BY run, path";
        let rows = sqlx::query_as::<_, (String, String, String, String, i64)>(sql);
        rows.fetch_all(&pool).await.unwrap()
    };
    let kept = paths().await;
    assert!(kept.len() > 60);
    assert!(kept.iter().all(|row| row.3.chars().count() <= 100));
    let migration = include_str!("../../migrations/sqlite/0006_lists.sql");
    for sql in [
        "DELETE FROM kindgi_run_paths",
        &fills(migration, "run_paths"),
    ] {
        sqlx::query(AssertSqlSafe(sql))
            .execute(&pool)
            .await
            .unwrap();
    }
    assert_eq!(paths().await, kept);
}

#[tokio::test]
async fn a_schema_newer_than_the_code_is_refused_and_not_touched() {
    let folder = Folder::new();
    folder.store().await;
    let pool = folder.pool().await;
    let newer = "INSERT INTO kindgi_schema (version, name) VALUES (99, '0099_later')";
    sqlx::query(newer).execute(&pool).await.unwrap();
    let refused = builder().connect(&folder.url()).await.unwrap_err();
    assert_eq!(refused.kind(), OpenErrorKind::SchemaTooNew);
    assert!(refused.to_string().contains("99"), "{refused}");
    assert_eq!(
        number(&pool, "SELECT MAX(version) FROM kindgi_schema").await,
        99
    );
}

#[tokio::test]
async fn a_hosts_tables_and_migrations_are_not_touched() {
    let folder = Folder::new();
    let pool = folder.pool().await;
    for own in [
        "CREATE TABLE judgments (id TEXT)",
        "INSERT INTO judgments VALUES ('the host''s')",
        "CREATE TABLE _sqlx_migrations (version BIGINT)",
    ] {
        sqlx::query(own).execute(&pool).await.unwrap();
    }
    let store = folder.store().await;
    record(&store, "a", "run", "key").await;
    assert_eq!(number(&pool, "SELECT COUNT(*) FROM judgments").await, 1);
    assert_eq!(
        number(&pool, "SELECT COUNT(*) FROM _sqlx_migrations").await,
        0
    );
    let others = "SELECT COUNT(*) FROM sqlite_master WHERE name NOT LIKE 'kindgi\\_%' ESCAPE '\\' \
                  AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'";
    assert_eq!(number(&pool, others).await, 2);
}

#[tokio::test]
async fn two_prefixes_are_two_stores_in_one_file() {
    let folder = Folder::new();
    let one = folder.store().await;
    let two = builder()
        .table_prefix("other_")
        .connect(&folder.url())
        .await
        .unwrap();
    record(&one, "a", "run", "key").await;
    assert_eq!(live(&one).await, ["a"]);
    assert!(live(&two).await.is_empty());
}

#[tokio::test]
async fn what_can_not_be_used_is_refused_with_a_reason() {
    let folder = Folder::new();
    let url = folder.url();
    let wide = "x".repeat(33);
    for prefix in ["", "1a", "A", "a b", "a;--", "é", &*wide] {
        let refused = builder()
            .table_prefix(prefix)
            .connect(&url)
            .await
            .unwrap_err();
        assert_eq!(refused.kind(), OpenErrorKind::Config, "{prefix:?}");
        assert!(refused.to_string().contains("prefix"), "{refused}");
    }
    for url in [
        "",
        "mysql://x",
        "sqlite::memory:",
        "sqlite:x?mode=memory",
        "sqlite:x?mode=what",
    ] {
        let refused = SqlxStore::builder().connect(url).await.unwrap_err();
        assert_eq!(refused.kind(), OpenErrorKind::Config, "{url:?}");
    }
    let nowhere = SqlxStore::builder()
        .connect("sqlite:/no/such/folder/x.db")
        .await
        .unwrap_err();
    assert_eq!(nowhere.kind(), OpenErrorKind::Database);
}
