//! Two processes on one file: this test starts itself as their program.

use std::process::{Child, Command};

use crate::support::{Folder, STEPS, assert_unbroken_chains, live, number, record};

/// What says to a process of this test that it is one of those below: the file's URL.
const FILE: &str = "KINDGI_TEST_FILE";
/// Its name.
const NAME: &str = "KINDGI_TEST_NAME";
const WRITES: usize = 100;

fn start(folder: &Folder, name: &str) -> Child {
    let this = std::env::current_exe().unwrap();
    let mut command = Command::new(this);
    command.args(["--exact", "processes::a_process_that_writes"]);
    command
        .env(FILE, folder.url())
        .env(NAME, name)
        .spawn()
        .unwrap()
}

/// The program of the processes. Started as one of all tests it has no file, and writes to one
/// of its own.
#[tokio::test]
async fn a_process_that_writes() {
    let own = Folder::new();
    let url = std::env::var(FILE).unwrap_or_else(|_| own.url());
    let name = std::env::var(NAME).unwrap_or_default();
    let store = crate::support::builder().connect(&url).await.unwrap();
    for n in 0..WRITES {
        record(&store, &format!("{name}-{n}"), "run", &format!("{}", n % 3)).await;
    }
}

#[tokio::test]
async fn two_processes_start_at_once_on_an_empty_file_and_keep_every_invariant() {
    let folder = Folder::new();
    let mut processes = [start(&folder, "one"), start(&folder, "two")];
    for process in &mut processes {
        assert!(process.wait().unwrap().success());
    }
    let pool = folder.pool().await;
    let rows = number(&pool, "SELECT COUNT(*) FROM kindgi_judgments").await;
    assert_eq!(rows, 2 * WRITES as i64);
    assert_eq!(
        number(&pool, "SELECT COUNT(*) FROM kindgi_schema").await,
        STEPS
    );
    assert_eq!(live(&folder.store().await).await.len(), 3);
    assert_unbroken_chains(&pool).await;
}

#[tokio::test]
async fn a_process_that_is_killed_leaves_whole_judgments_and_no_lock() {
    let folder = Folder::new();
    let store = folder.store().await;
    let mut process = start(&folder, "killed");
    // Killed once it has written some, at whatever it does then.
    while live(&store).await.is_empty() {}
    process.kill().unwrap();
    process.wait().unwrap();
    for key in ["0", "1", "2"] {
        record(&store, &format!("after-{key}"), "run", key).await;
    }
    assert_unbroken_chains(&folder.pool().await).await;
}
