//! Opening a store beside others that open it, and with fewer rights than they have.

use kindgi_store_sqlx::OpenErrorKind;
use tokio::time::timeout;

use super::support::{
    PATIENCE, builder, cell, execute, name_of, open, read, record, run, session, until, url,
};

/// A role of this database's own, as which it is connected to by what is given beside its name.
fn role(url: &str, may: &str) -> (String, String) {
    let role = format!("role_of_{}", name_of(url));
    run(url, &format!("CREATE ROLE {role} LOGIN {may}"));
    let theirs = url.replace("kindgi@", &format!("{role}@"));
    assert_ne!(theirs, url);
    (role, theirs)
}

/// Another node holds the schema's table, as one that builds indexes does, for longer than the role
/// lets a statement wait or run.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn opening_waits_for_another_nodes_migration_whatever_limits_the_role_has() {
    let url = url();
    let store = open(&url).await;
    let (role, theirs) = role(&url, "SUPERUSER");
    for limit in ["lock_timeout", "statement_timeout"] {
        run(&url, &format!("ALTER ROLE {role} SET {limit} = '200ms'"));
    }
    let mut other = session(&url).await;
    execute(&mut other, "BEGIN").await;
    let hold = "LOCK TABLE kindgi_schema IN ACCESS EXCLUSIVE MODE";
    execute(&mut other, hold).await;
    // The second waits for the first.
    let opening = [0, 1].map(|_| {
        let theirs = theirs.clone();
        tokio::spawn(async move { builder().connect(&theirs).await })
    });
    let both_wait = "SELECT COUNT(*) FROM pg_stat_activity WHERE datname = current_database() \
                     AND wait_event_type = 'Lock' \
                     AND clock_timestamp() - query_start > interval '1 second'";
    until("both wait, or one gives up", || {
        cell(&url, both_wait) == "2" || opening.iter().any(|opening| opening.is_finished())
    })
    .await;
    execute(&mut other, "ROLLBACK").await;
    for opening in opening {
        let opened = timeout(PATIENCE, opening).await.expect("it waits in vain");
        let opened = opened.unwrap().unwrap();
        assert!(!read(&opened, "a").await.unwrap());
    }
    // The limits hold for all else.
    record(&store, "a", "key").await.unwrap();
    execute(&mut other, "BEGIN").await;
    let hold = "LOCK TABLE kindgi_judgments IN ACCESS EXCLUSIVE MODE";
    execute(&mut other, hold).await;
    let opened = builder().connect(&theirs).await.unwrap();
    let error = read(&opened, "a").await.unwrap_err();
    assert!(error.is_busy(), "{error:?}");
    let error = record(&opened, "b", "key").await.unwrap_err();
    assert!(error.is_busy(), "{error:?}");
    execute(&mut other, "ROLLBACK").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_may_not_create_tables_may_use_those_that_are_there() {
    for schema in ["public", "ours"] {
        let url = url();
        let (role, theirs) = role(&url, "");
        let of = |url: &str| {
            let url = url.to_owned();
            async move { builder().schema(schema).connect(&url).await }
        };
        run(&url, "REVOKE CREATE ON SCHEMA public FROM PUBLIC");
        let refused = of(&theirs).await.unwrap_err();
        assert_eq!(refused.kind(), OpenErrorKind::Database, "{refused}");
        of(&url).await.unwrap().close().await;
        run(&url, &format!("GRANT USAGE ON SCHEMA {schema} TO {role}"));
        let grant = "GRANT SELECT, INSERT, UPDATE, DELETE";
        let tables = format!("ALL TABLES IN SCHEMA {schema}");
        run(&url, &format!("{grant} ON {tables} TO {role}"));
        let stores = [
            of(&theirs).await.unwrap(),
            match schema {
                "public" => open(&theirs).await,
                _ => of(&theirs).await.unwrap(),
            },
        ];
        for (n, store) in stores.iter().enumerate() {
            let id = format!("id-{n}");
            record(store, &id, "key").await.unwrap();
            assert!(read(store, &id).await.unwrap());
        }
    }
}
