//! What tests may rely on. All names have `redis`, since all need it.
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

use kindgi_test_servers::{Error, Redis, RedisCluster, redis::Reply};

fn text(text: &str) -> Reply {
    Reply::Text(text.to_owned())
}

#[test]
fn redis_has_the_settings_of_tests_unless_told_otherwise() {
    let usual = Redis::shared();
    let show = |server: &Redis, name| {
        let reply = server.command(&["CONFIG", "GET", name]);
        reply.list().unwrap()[1].text().unwrap().to_owned()
    };
    assert_eq!(show(usual, "save"), "");
    assert_eq!(show(usual, "appendonly"), "no");
    assert_eq!(show(usual, "bind"), "127.0.0.1");
    assert_eq!(show(usual, "maxmemory-policy"), "noeviction");

    let other = Redis::start_with(&[("maxmemory-policy", "allkeys-lru"), ("save", "60 1")]);
    assert_eq!(show(&other, "maxmemory-policy"), "allkeys-lru");
    assert_eq!(show(&other, "save"), "60 1");
    assert_ne!(other.port(), usual.port());
    assert_ne!(other.folder(), usual.folder());
}

#[test]
fn redis_replies_are_read() {
    let server = Redis::shared();
    assert_eq!(server.command(&["SET", "a", "é\r\n"]), text("OK"));
    assert_eq!(server.command(&["GET", "a"]), text("é\r\n"));
    assert_eq!(server.command(&["GET", "b"]), Reply::Nothing);
    assert_eq!(server.command(&["STRLEN", "a"]), Reply::Int(4));
    let all = [text("é\r\n"), Reply::Nothing];
    assert_eq!(server.command(&["MGET", "a", "b"]), Reply::List(all.into()));
    let error = server.try_command(&["NO-SUCH"]).unwrap_err();
    assert!(error.to_string().contains("ERR unknown command"), "{error}");
}

#[test]
fn redis_comes_back_on_its_port_with_what_it_kept() {
    let mut keeping = Redis::start_with(&[("appendonly", "yes"), ("appendfsync", "always")]);
    let mut forgetting = Redis::start();
    for killed in [false, true] {
        for (server, after) in [(&mut keeping, text("1")), (&mut forgetting, Reply::Nothing)] {
            let (pid, url) = (server.pid().unwrap(), server.url());
            server.command(&["SET", "a", "1"]);
            if killed {
                server.kill();
            } else {
                server.stop();
                server.stop();
            }
            assert_eq!(server.pid(), None);
            assert!(!is_running(pid));
            server.start_again();
            server.start_again();
            assert_ne!(server.pid(), Some(pid));
            assert_eq!(server.url(), url);
            assert_eq!(server.command(&["GET", "a"]), after);
        }
    }
}

#[test]
fn redis_that_does_not_start_says_why_and_leaves_nothing() {
    let error = Redis::try_start(&[("no-such-setting", "1")]).unwrap_err();
    let Error::Failed(text) = &error else {
        panic!("{error:?}")
    };
    assert!(text.contains("no-such-setting"), "{text}");
}

#[test]
fn a_redis_that_is_dropped_leaves_nothing() {
    let server = Redis::start();
    let (folder, pid) = (server.folder().to_owned(), server.pid().unwrap());
    assert!(folder.exists() && is_running(pid));
    drop(server);
    assert!(!folder.exists() && !is_running(pid));
}

#[test]
fn a_process_that_is_killed_leaves_no_redis() {
    let mut held = Held::start();
    held.process.kill().unwrap();
    held.process.wait().unwrap();
    held.leaves_nothing();
}

#[test]
fn a_process_that_exits_without_destructors_leaves_no_redis() {
    let mut held = Held::start();
    drop(held.process.stdin.take());
    assert!(held.process.wait().unwrap().success());
    held.leaves_nothing();
}

#[test]
fn a_missing_redis_is_told_at_once_and_loudly() {
    let output = Command::new(env!("CARGO_BIN_EXE_test-redis"))
        .env("KINDGI_REDIS_BIN", "/nowhere")
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("KINDGI_REDIS_BIN is /nowhere"), "{said}");
}

#[test]
fn a_redis_cluster_has_each_slot_on_one_of_three_nodes() {
    let cluster = RedisCluster::start();
    let owners = cluster.nodes().iter().map(|node| {
        let count = (0..300).filter(|number| {
            let key = number.to_string();
            match node.try_command(&["SET", &key, &key]) {
                Ok(_) => true,
                Err(error) => {
                    assert!(error.to_string().contains("MOVED"), "{error}");
                    false
                }
            }
        });
        count.count()
    });
    let owners: Vec<usize> = owners.collect();
    assert_eq!(owners.iter().sum::<usize>(), 300);
    assert!(owners.iter().all(|count| *count > 50), "{owners:?}");
    assert_eq!(cluster.slot_of("{a}b"), cluster.slot_of("a"));
    assert_ne!(cluster.slot_of("ab"), cluster.slot_of("a"));
    assert_eq!(cluster.urls().iter().collect::<HashSet<_>>().len(), 3);
}

#[test]
fn a_redis_cluster_is_whole_again_after_a_node_was_killed() {
    let mut cluster = RedisCluster::start();
    let slot = usize::try_from(cluster.slot_of("a")).unwrap();
    let node = slot * 3 / 16_384;
    let port = cluster.nodes()[node].port();
    cluster.nodes_mut()[node].kill();
    cluster.nodes_mut()[node].start_again();
    cluster.wait();
    assert_eq!(cluster.nodes()[node].port(), port);
    assert_eq!(
        cluster.nodes()[node].command(&["SET", "a", "1"]),
        text("OK")
    );
}

/// A process that has started a server.
struct Held {
    process: Child,
    pid: u32,
    folder: PathBuf,
}

impl Held {
    fn start() -> Self {
        let mut process = Command::new(env!("CARGO_BIN_EXE_test-redis"))
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
