//! The host stops cleanly when it is told to.
#![cfg(unix)]

use std::{
    io::{Read as _, Write as _},
    net::TcpStream,
    thread,
    time::Instant,
};

use crate::{client::PATIENCE, process::Host};

#[test]
fn a_signal_ends_it_with_status_0() {
    for signal in ["TERM", "INT"] {
        let host = Host::start(&[]);
        host.get("/health", "").expect(200);
        host.signal(signal);
        let status = host.wait();
        assert_eq!(status.code(), Some(0), "{signal}: {status:?}");
    }
}

#[test]
fn connections_that_wait_for_nothing_do_not_keep_it() {
    let host = Host::start(&[]);
    let silent = TcpStream::connect(host.address).unwrap();
    let mut idle = TcpStream::connect(host.address).unwrap();
    idle.write_all(b"GET /health HTTP/1.1\r\nHost: host\r\n\r\n")
        .unwrap();
    let mut answer = [0; 12];
    idle.read_exact(&mut answer).unwrap();
    assert_eq!(&answer, b"HTTP/1.1 200");
    host.signal("TERM");
    let status = host.wait();
    assert_eq!(status.code(), Some(0), "{status:?}");
    drop((silent, idle));
}

#[test]
fn a_request_that_has_begun_is_answered_before_it_ends() {
    let host = Host::start(&[]);
    let mut busy = TcpStream::connect(host.address).unwrap();
    let body = r#"{"runId":"run-1","item":{"key":"k"},"verdict":"yes"}"#;
    let head = format!(
        "POST /v1/judgments HTTP/1.1\r\nHost: host\r\nAuthorization: Bearer test-token\r\n\
         Expect: 100-continue\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    busy.write_all(head.as_bytes()).unwrap();
    // The host asks for the body, so it has begun with the request.
    let mut goes_on = [0; 25];
    busy.read_exact(&mut goes_on).unwrap();
    assert_eq!(&goes_on, b"HTTP/1.1 100 Continue\r\n\r\n");
    host.signal("TERM");
    // No new connection is taken once the signal has arrived.
    let begin = Instant::now();
    while TcpStream::connect(host.address).is_ok() {
        assert!(begin.elapsed() < PATIENCE, "it still takes connections");
        thread::yield_now();
    }
    busy.write_all(body.as_bytes()).unwrap();
    let mut answer = String::new();
    busy.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 201 Created\r\n"), "{answer}");
    let status = host.wait();
    assert_eq!(status.code(), Some(0), "{status:?}");
}
