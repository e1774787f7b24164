//! What the server refuses: another connection, and writes.

use std::{fs, time::Duration};

use kindgi_core::StoreError;
use kindgi_store_sqlx::OpenErrorKind;
use kindgi_test_servers::Postgres;
use sqlx::postgres::PgPoolOptions;

use super::{
    invariants::assert_whole_on,
    support::{
        builder, cell, cell_on, execute, name_of, open, read, record, record_of, run, session,
        until, until_waiting, url,
    },
};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_takes_no_more_connections_is_busy() {
    let url = url();
    run(&url, "CREATE ROLE limited LOGIN CONNECTION LIMIT 1");
    run(
        &url,
        &format!("ALTER DATABASE {} OWNER TO limited", name_of(&url)),
    );
    let theirs = url.replace("://kindgi@", "://limited@");
    let options = PgPoolOptions::new().max_connections(3);
    let options = options.acquire_timeout(Duration::from_secs(2));
    let pool = options.connect(&theirs).await.unwrap();
    // While the only connection is on its way back, the pool would try another.
    let back = async || until("the connection is back", || pool.num_idle() == 1).await;
    back().await;
    let store = builder().postgres(pool.clone()).await.unwrap();
    back().await;
    record(&store, "a", "key").await.unwrap();
    back().await;

    let mut other = session(&url).await;
    execute(&mut other, "BEGIN").await;
    execute(&mut other, "LOCK TABLE kindgi_judgments IN SHARE MODE").await;
    let writer = store.clone();
    let write = tokio::spawn(async move { record(&writer, "b", "key").await });
    until_waiting(&url, 1).await;
    // The write has the only connection that there may be.
    let error = read(&store, "a").await.unwrap_err();
    assert!(error.is_busy(), "{error:?}");
    let tenant = "elsewhere".parse().unwrap();
    let error = record_of(&store, &tenant, "c", "key", None).await;
    assert!(error.unwrap_err().is_busy());
    let opened = builder().connect(&theirs).await.unwrap_err();
    assert_eq!(opened.kind(), OpenErrorKind::Database);
    let text = format!("{opened:?}");
    assert!(text.contains("too many connections"), "{text}");

    execute(&mut other, "ROLLBACK").await;
    write.await.unwrap().unwrap();
    back().await;
    assert!(read(&store, "b").await.unwrap());
    assert_eq!(cell(&url, "SELECT COUNT(*) FROM kindgi_judgments"), "2");
}

/// An error that is for who runs the server, and says which.
#[track_caller]
fn assert_says(error: &StoreError, what: &str) {
    assert!(!error.is_busy(), "waiting won't help: {error:?}");
    let text = format!("{error:?}");
    assert!(text.contains(what), "{text}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_role_that_may_only_read_reads_and_is_told_what_it_may_not() {
    let url = url();
    let owner = open(&url).await;
    record(&owner, "a", "key").await.unwrap();
    run(&url, "CREATE ROLE reader LOGIN");
    run(
        &url,
        "GRANT SELECT ON ALL TABLES IN SCHEMA public TO reader",
    );
    // It has nothing to migrate, but would make the table of versions.
    let theirs = url.replace("://kindgi@", "://reader@");
    match builder().connect(&theirs).await {
        Ok(store) => {
            assert!(read(&store, "a").await.unwrap());
            let error = record(&store, "b", "key").await.unwrap_err();
            assert_says(&error, "permission denied");
        }
        Err(error) => {
            let text = format!("{error:?}");
            assert!(text.contains("permission denied"), "{text}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_standby_is_read_and_a_write_there_is_told_why_it_fails() {
    let mut server = Postgres::start();
    let url = server.fresh_database();
    let store = open(&url).await;
    record(&store, "a", "key").await.unwrap();

    let signal = server.folder().join("data/standby.signal");
    server.stop();
    fs::write(&signal, "").unwrap();
    std::os::unix::fs::chown(&signal, owner(&signal.with_file_name("PG_VERSION")), None).unwrap();
    server.start_again();
    assert_eq!(cell_on(&server, &url, "SELECT pg_is_in_recovery()"), "t");
    assert!(read(&store, "a").await.unwrap());
    let error = record(&store, "b", "key").await.unwrap_err();
    assert_says(&error, "recovery");
    let opened = builder().connect(&url).await.unwrap_err();
    assert_eq!(opened.kind(), OpenErrorKind::Database);
    assert!(format!("{opened:?}").contains("recovery"), "{opened:?}");

    server.stop();
    fs::remove_file(&signal).unwrap();
    server.start_again();
    // The same store, without being opened again.
    record(&store, "b", "key").await.unwrap();
    let rows = "SELECT COUNT(*) FROM kindgi_judgments";
    assert_eq!(cell_on(&server, &url, rows), "2");
    assert_whole_on(&server, &url);
}

/// Whose a file is.
fn owner(path: &std::path::Path) -> Option<u32> {
    use std::os::unix::fs::MetadataExt as _;
    fs::metadata(path).ok().map(|found| found.uid())
}
