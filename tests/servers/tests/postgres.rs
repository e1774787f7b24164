//! What tests may rely on. All names have `postgres`, since all need it.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::{
    collections::HashSet,
    fs,
    io::{BufRead, BufReader},
    path::PathBuf,
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use kindgi_test_servers::{Error, Postgres};

#[test]
fn postgres_has_the_settings_of_tests_unless_told_otherwise() {
    let usual = Postgres::shared();
    let show = |server: &Postgres, name| server.query("postgres", &format!("SHOW {name}"));
    let is = |value: &str| vec![vec![Some(value.to_owned())]];
    assert_eq!(show(usual, "fsync"), is("off"));
    assert_eq!(show(usual, "max_connections"), is("200"));
    assert_eq!(show(usual, "server_encoding"), is("UTF8"));
    assert_eq!(show(usual, "lc_collate"), is("C"));
    assert_eq!(show(usual, "listen_addresses"), is("127.0.0.1"));

    let other = Postgres::start_with(&[("fsync", "on"), ("deadlock_timeout", "7ms")]);
    assert_eq!(show(&other, "fsync"), is("on"));
    assert_eq!(show(&other, "deadlock_timeout"), is("7ms"));
    assert_eq!(show(&other, "max_connections"), is("200"));
    assert_ne!(other.port(), usual.port());
    assert_ne!(other.folder(), usual.folder());
}

#[test]
fn fresh_postgres_databases_are_empty_and_each_ones_own() {
    let server = Postgres::shared();
    let urls: Vec<String> = thread::scope(|scope| {
        let all: Vec<_> = (0..8)
            .map(|_| scope.spawn(|| server.fresh_database()))
            .collect();
        all.into_iter().map(|one| one.join().unwrap()).collect()
    });
    assert_eq!(urls.iter().collect::<HashSet<_>>().len(), urls.len());
    for url in urls {
        let (_, database) = url.rsplit_once('/').unwrap();
        assert_eq!(url, server.url(database));
        server.query(database, "CREATE TABLE mine (n INT)");
        server.query(database, "INSERT INTO mine VALUES (1), (NULL)");
        assert_eq!(
            server.query(database, "SELECT n, 'é' FROM mine"),
            [
                [Some("1".to_owned()), Some("é".to_owned())],
                [None, Some("é".to_owned())]
            ]
        );
    }
}

#[test]
fn postgres_comes_back_with_its_data_on_its_port() {
    let mut server = Postgres::start();
    let (url, pid) = (server.fresh_database(), server.pid().unwrap());
    let database = url.rsplit_once('/').unwrap().1.to_owned();
    server.query(&database, "CREATE TABLE kept AS SELECT 'yes' AS there");
    let all = processes(&server);
    server.stop();
    server.stop();
    assert_eq!(server.pid(), None);
    assert!(all.iter().all(|&pid| !is_running(pid)));
    server.start_again();
    server.start_again();
    assert_ne!(server.pid(), Some(pid));
    assert_eq!(server.url(&database), url);
    assert_eq!(
        server.query(&database, "SELECT there FROM kept"),
        [[Some("yes".to_owned())]]
    );
    // Names go on, too.
    assert_ne!(server.fresh_database(), url);
}

#[test]
fn postgres_that_was_killed_comes_back_with_what_was_committed() {
    let mut server = Postgres::start();
    server.query("postgres", "CREATE TABLE kept AS SELECT 1 AS n");
    for _ in 0..2 {
        let pid = server.pid().unwrap();
        server.kill();
        assert!(!is_running(pid));
        server.start_again();
        let rows = server.query("postgres", "SELECT n FROM kept");
        assert_eq!(rows, [[Some("1".to_owned())]]);
    }
}

#[test]
fn postgres_that_does_not_start_says_why_and_leaves_nothing() {
    let error = Postgres::try_start(&[("no_such_setting", "1")]).unwrap_err();
    let Error::Failed(text) = &error else {
        panic!("{error:?}")
    };
    assert!(text.contains("no_such_setting"), "{text}");
}

#[test]
fn a_postgres_that_is_dropped_leaves_nothing() {
    let server = Postgres::start();
    let (folder, all) = (server.folder().to_owned(), processes(&server));
    assert!(folder.exists() && all.iter().all(|&pid| is_running(pid)));
    drop(server);
    assert!(!folder.exists());
    assert!(all.iter().all(|&pid| !is_running(pid)));
}

#[test]
fn a_process_that_is_killed_leaves_no_postgres() {
    let mut held = Held::start();
    held.process.kill().unwrap();
    held.process.wait().unwrap();
    held.leaves_nothing();
}

#[test]
fn a_process_that_exits_without_destructors_leaves_no_postgres() {
    let mut held = Held::start();
    drop(held.process.stdin.take());
    assert!(held.process.wait().unwrap().success());
    held.leaves_nothing();
}

#[test]
fn a_missing_postgres_is_told_at_once_and_loudly() {
    let output = Command::new(env!("CARGO_BIN_EXE_test-postgres"))
        .env("KINDGI_POSTGRES_BIN", "/nowhere")
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("KINDGI_POSTGRES_BIN is /nowhere"), "{said}");
}

/// A process that has started a server.
struct Held {
    process: Child,
    pid: u32,
    folder: PathBuf,
}

impl Held {
    fn start() -> Self {
        let mut process = Command::new(env!("CARGO_BIN_EXE_test-postgres"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(process.stdout.take().unwrap()).lines();
        let mut line = || lines.next().unwrap().unwrap();
        let (pid, folder) = (line().parse().unwrap(), PathBuf::from(line()));
        assert!(is_running(pid) && folder.exists());
        Self {
            process,
            pid,
            folder,
        }
    }

    fn leaves_nothing(&self) {
        let start = Instant::now();
        while is_running(self.pid) || self.folder.exists() {
            assert!(
                start.elapsed() < Duration::from_mins(1),
                "process {} or folder {} is still there",
                self.pid,
                self.folder.display()
            );
            thread::sleep(Duration::from_millis(20));
        }
    }
}

/// The server's processes.
fn processes(server: &Postgres) -> Vec<u32> {
    let rows = server.query("postgres", "SELECT pid FROM pg_stat_activity");
    let others = rows
        .into_iter()
        .map(|row| row[0].as_ref().unwrap().parse().unwrap());
    // The one that answered has ended, or is about to.
    let mut all: Vec<u32> = others.filter(|&pid| is_running(pid)).collect();
    all.push(server.pid().unwrap());
    all
}

fn is_running(pid: u32) -> bool {
    // Somebody else's child may stay a zombie, which runs no more.
    if let Ok(stat) = fs::read_to_string(format!("/proc/{pid}/stat")) {
        return !stat
            .rsplit_once(") ")
            .is_some_and(|(_, rest)| rest.starts_with('Z'));
    }
    Command::new("/bin/sh")
        .args(["-c", r#"kill -0 "$1""#, "sh", &pid.to_string()])
        .stderr(Stdio::null())
        .status()
        .unwrap()
        .success()
}
