//! What was acknowledged is there after the process.

use std::fs;
#[cfg(unix)]
use std::{
    io::{Read as _, Write as _},
    net::{SocketAddr, TcpStream},
    sync::mpsc,
    thread,
};

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

#[cfg(unix)]
#[test]
fn a_kill_in_the_midst_of_writes_loses_nothing_that_was_acknowledged() {
    let (_folder, url) = folder();
    let host = Host::start(&[("DATABASE_URL", &url)]);
    let address = host.address;
    let (acknowledged, answers) = mpsc::channel();
    let writers: Vec<_> = (0..6)
        .map(|writer| {
            let acknowledged = acknowledged.clone();
            // Until the host is gone.
            thread::spawn(move || {
                for n in 0.. {
                    let Some(id) = judge_until_gone(address, &format!("{writer}-{n}")) else {
                        return;
                    };
                    acknowledged.send(id).unwrap();
                }
            })
        })
        .collect();
    drop(acknowledged);
    let mut ids: Vec<String> = answers.iter().take(60).collect();
    host.signal("KILL");
    host.wait();
    ids.extend(answers);
    writers
        .into_iter()
        .for_each(|writer| writer.join().unwrap());

    let host = Host::start(&[("DATABASE_URL", &url)]);
    assert!(ids.len() >= 60);
    for id in &ids {
        host.get(&format!("/v1/judgments/{id}"), "judge-token")
            .expect(200);
    }
}

/// Judges an item of its own; the judgment's id, or nothing once the host is gone.
#[cfg(unix)]
fn judge_until_gone(address: SocketAddr, key: &str) -> Option<String> {
    let body = format!(r#"{{"runId":"run-1","item":{{"key":"{key}"}},"verdict":"no"}}"#);
    let request = format!(
        "POST /v1/judgments HTTP/1.1\r\nHost: host\r\nAuthorization: Bearer judge-token\r\n\
         Content-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    );
    let mut stream = TcpStream::connect(address).ok()?;
    stream.write_all(request.as_bytes()).ok()?;
    let mut answer = String::new();
    // An answer counts once all of it is there, as its length says.
    stream.read_to_string(&mut answer).ok()?;
    let (head, body) = answer.split_once("\r\n\r\n")?;
    let length = format!("content-length: {}\r\n", body.len());
    let whole = head.starts_with("HTTP/1.1 201") && format!("{head}\r\n").contains(&length);
    let (_, rest) = body.split_once(r#""id":""#).filter(|_| whole)?;
    Some(rest.split_once('"')?.0.to_owned())
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
