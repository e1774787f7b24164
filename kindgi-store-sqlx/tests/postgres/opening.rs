//! Opening a store: the schema is brought up to date, where it should be, and nothing else is
//! touched.

use kindgi_core::store::{Applied, JudgmentStore, Recorded};
use kindgi_store_sqlx::{OpenErrorKind, SqlxStore};

use super::support::{self, builder, cell, fills, judgments_with_segments, query, tenant, url};

/// All tables that aren't the server's own, as `schema.table`.
fn tables(url: &str) -> Vec<String> {
    let rows = query(
        url,
        "SELECT schemaname || '.' || tablename FROM pg_tables \
         WHERE schemaname NOT IN ('pg_catalog', 'information_schema') ORDER BY 1",
    );
    rows.into_iter()
        .map(|row| row[0].clone().unwrap())
        .collect()
}

async fn record(store: &SqlxStore, id: &str) {
    let new = support::judgment(id, "run", id);
    let copy = support::copy(&new.judgment);
    let tenant = tenant();
    let recorded = store.record(support::write(&tenant), &new, Some(&copy), None);
    let recorded = recorded.await.unwrap();
    assert!(matches!(recorded, Applied::Done(Recorded::Ok { .. })));
}

async fn has(store: &SqlxStore, id: &str) -> bool {
    let found = store.judgment(&tenant(), &id.parse().unwrap()).await;
    found.unwrap().is_some()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nodes_that_start_at_once_on_an_empty_database_all_succeed() {
    for schema in [None, Some("ours")] {
        let url = url();
        let nodes: Vec<_> = (0..8)
            .map(|_| {
                let mut builder = builder();
                if let Some(schema) = schema {
                    builder = builder.schema(schema);
                }
                let url = url.clone();
                tokio::spawn(async move { builder.connect(&url).await })
            })
            .collect();
        let mut stores = Vec::new();
        for node in nodes {
            stores.push(node.await.unwrap().unwrap());
        }
        let table = format!("{}.kindgi_schema", schema.unwrap_or("public"));
        let steps = cell(
            &url,
            &format!("SELECT string_agg(version::text, ' ' ORDER BY version) FROM {table}"),
        );
        assert_eq!(steps, "1 2 3 4 5 6", "each step once");
        record(&stores[0], "a").await;
        assert!(has(&stores[7], "a").await);
    }
}

#[tokio::test]
async fn the_paths_of_runs_that_were_there_are_those_that_new_runs_get() {
    let url = url();
    let store = support::open(&url).await;
    for (new, copy) in judgments_with_segments() {
        let write = support::write(&new.judgment.tenant);
        store.record(write, &new, Some(&copy), None).await.unwrap();
    }
    let sql = "SELECT tenant, run, project, path, captured_at::text FROM kindgi_run_paths \
               ORDER BY run, path";
    let kept = query(&url, sql);
    assert!(kept.len() > 60);
    let migration = include_str!("../../migrations/postgres/0006_lists.sql");
    query(&url, "DELETE FROM kindgi_run_paths");
    query(&url, &fills(migration, "run_paths"));
    assert_eq!(query(&url, sql), kept);
}

/// Which `sqlite/against_memory` holds to the numbers that are kept.
#[test]
fn the_numbers_of_items_that_were_there_are_counted_as_on_sqlite() {
    let counts = |migration| fills(migration, "queue_counts");
    assert_eq!(
        counts(include_str!("../../migrations/postgres/0006_lists.sql")),
        counts(include_str!("../../migrations/sqlite/0006_lists.sql")),
    );
}

#[tokio::test]
async fn a_newer_schema_is_refused_and_nothing_is_touched() {
    let url = url();
    query(
        &url,
        "CREATE TABLE kindgi_schema (version BIGINT NOT NULL, name TEXT NOT NULL)",
    );
    query(&url, "INSERT INTO kindgi_schema VALUES (99, 'later')");
    let refused = builder().connect(&url).await.unwrap_err();
    assert_eq!(refused.kind(), OpenErrorKind::SchemaTooNew, "{refused}");
    assert!(refused.to_string().contains("version 99"), "{refused}");
    assert_eq!(tables(&url), ["public.kindgi_schema"]);
    assert_eq!(cell(&url, "SELECT COUNT(*) FROM kindgi_schema"), "1");
}

#[tokio::test]
async fn a_hosts_own_tables_stay() {
    let url = url();
    query(&url, "CREATE SCHEMA ours");
    query(&url, "CREATE TABLE ours.judgments AS SELECT 7 AS n");
    query(
        &url,
        "CREATE TABLE ours.kindgi_of_the_host AS SELECT 8 AS n",
    );
    let store = builder().schema("ours").connect(&url).await.unwrap();
    record(&store, "a").await;
    assert_eq!(cell(&url, "SELECT n FROM ours.judgments"), "7");
    assert_eq!(cell(&url, "SELECT n FROM ours.kindgi_of_the_host"), "8");
}

#[tokio::test]
async fn tables_are_in_the_schema_that_is_said_under_the_prefix_that_is_said() {
    let url = url();
    let store = builder().schema("ours").table_prefix("j_");
    let store = store.connect(&url).await.unwrap();
    record(&store, "a").await;
    let there = tables(&url);
    assert!(there.iter().all(|table| table.starts_with("ours.j_")));
    assert!(there.contains(&"ours.j_judgments".to_owned()));
    let indexes = query(
        &url,
        "SELECT DISTINCT left(c.relname, 2), n.nspname FROM pg_class c \
         JOIN pg_namespace n ON n.oid = c.relnamespace \
         WHERE c.relkind = 'i' AND n.nspname NOT LIKE 'pg_%'",
    );
    let ours = ["j_", "ours"].map(|name| Some(name.to_owned()));
    assert_eq!(indexes, [ours.to_vec()]);
    // Neither the connection nor the database stays in that schema.
    assert_eq!(cell(&url, "SHOW search_path"), "\"$user\", public");
}

#[tokio::test]
async fn stores_of_other_prefixes_and_schemas_do_not_meet() {
    let url = url();
    let builders = [
        builder(),
        builder().table_prefix("j_"),
        builder().schema("ours"),
        builder().schema("ours").table_prefix("j_"),
    ];
    let mut stores = Vec::new();
    for builder in builders {
        stores.push(builder.connect(&url).await.unwrap());
    }
    for (n, store) in stores.iter().enumerate() {
        record(store, &format!("id-{n}")).await;
    }
    for (n, store) in stores.iter().enumerate() {
        for other in 0..stores.len() {
            assert_eq!(has(store, &format!("id-{other}")).await, other == n);
        }
    }
}

#[tokio::test]
async fn without_a_schema_tables_are_in_the_first_of_the_search_path() {
    let url = url();
    query(&url, "CREATE SCHEMA theirs");
    let set = "SET search_path TO theirs, public";
    let name = support::name_of(&url);
    query(&url, &format!("ALTER DATABASE {name} {set}"));
    let store = support::open(&url).await;
    record(&store, "a").await;
    let there = tables(&url);
    assert!(!there.is_empty());
    assert!(
        there
            .iter()
            .all(|table| table.starts_with("theirs.kindgi_"))
    );
    // One that opens later finds them.
    assert!(has(&support::open(&url).await, "a").await);
}

#[tokio::test]
async fn names_that_need_care_are_refused_and_nothing_is_touched() {
    let url = url();
    let long = "a".repeat(33);
    for name in ["", "A", "1a", "a-b", "a b", "a\"b", "a;", "ä", &*long] {
        for builder in [builder().schema(name), builder().table_prefix(name)] {
            let refused = builder.connect(&url).await.unwrap_err();
            assert_eq!(refused.kind(), OpenErrorKind::Config, "{name}: {refused}");
        }
    }
    assert!(tables(&url).is_empty());
    assert_eq!(
        cell(
            &url,
            "SELECT COUNT(*) FROM pg_namespace \
             WHERE nspname NOT LIKE 'pg\\_%' AND nspname <> 'information_schema'"
        ),
        "1"
    );
    // A word of SQL's is no name that needs care, as longest names are.
    let longest = "a".repeat(32);
    for name in ["select", "_", &*longest] {
        let store = builder().schema(name).table_prefix(name);
        record(&store.connect(&url).await.unwrap(), "a").await;
    }
}

#[tokio::test]
async fn who_may_not_create_schemas_may_use_one_that_is_there() {
    let url = url();
    query(&url, "CREATE ROLE of_one_schema LOGIN");
    let theirs = url.replace("kindgi@", "of_one_schema@");
    let refused = builder().schema("ours").connect(&theirs).await;
    assert_eq!(refused.unwrap_err().kind(), OpenErrorKind::Database);
    query(&url, "CREATE SCHEMA ours");
    query(&url, "GRANT USAGE, CREATE ON SCHEMA ours TO of_one_schema");
    let store = builder().schema("ours").connect(&theirs).await.unwrap();
    record(&store, "a").await;
}
