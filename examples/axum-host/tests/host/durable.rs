//! What was acknowledged is there after the process.

use std::fs;

use crate::process::{Host, command};

fn folder() -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let url = format!("sqlite:{}", folder.path().join("judgments.db").display());
    (folder, url)
}

fn ids(host: &Host) -> String {
    host.get("/v1/judgments", "test-token").expect(200).body
}

#[cfg(unix)]
#[test]
fn a_restart_and_a_kill_keep_what_was_acknowledged() {
    let (_folder, url) = folder();
    let start = || Host::start(&[("DATABASE_URL", &url)]);
    let host = start();
    host.judge("run-1", "/matches/0", "judge-token").expect(201);
    let before = ids(&host);
    assert!(before.contains("item /matches/0"), "{before}");
    host.signal("TERM");
    assert_eq!(host.wait().code(), Some(0));

    let host = start();
    assert_eq!(ids(&host), before);
    host.judge("run-2", "/matches/0", "judge-token").expect(201);
    let before = ids(&host);
    host.signal("KILL");
    host.wait();

    let host = start();
    assert_eq!(ids(&host), before);
    assert_eq!(before.matches("item /matches/0").count(), 2, "{before}");
}

#[test]
fn without_a_url_it_is_a_file_in_the_working_directory() {
    let folder = tempfile::tempdir().unwrap();
    // A port that is taken ends the host after it has opened its database.
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let mut command = command(&[("PORT", &port), ("RUNS", "0")]);
    let output = command.current_dir(folder.path()).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let header = fs::read(folder.path().join("kindgi-demo.db")).unwrap();
    assert!(header.starts_with(b"SQLite format 3\0"));
}

#[cfg(unix)]
#[test]
fn two_hosts_on_one_file_see_each_others_judgments_and_supersede_them() {
    let (_folder, url) = folder();
    let hosts = [(); 2].map(|()| Host::start(&[("DATABASE_URL", &url)]));
    for _ in 0..10 {
        for host in &hosts {
            host.judge("run-1", "/matches/0", "judge-token").expect(201);
        }
    }
    let [one, two] = hosts.each_ref().map(ids);
    assert_eq!(one, two);
    assert_eq!(one.matches("item /matches/0").count(), 1, "{one}");
}
