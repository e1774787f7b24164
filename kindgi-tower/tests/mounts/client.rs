//! An HTTP/1.1 client that sends exactly what it is told, over a socket of its own each time.

use std::{
    collections::BTreeMap,
    io::{Read, Write},
    net::{SocketAddr, TcpStream},
    time::Duration,
};

/// How long a server may be silent until it counts as hung. Nothing waits for it otherwise.
const HUNG: Duration = Duration::from_secs(30);

/// A request's body, as it goes over the wire.
pub(crate) enum Body<'a> {
    None,
    /// With `Content-Length`.
    Sized(&'a str),
    /// In chunks, complete.
    Chunked(&'a [&'a str]),
    /// In chunks, of which the last never comes.
    Unending(&'a [&'a str]),
    /// With a `Content-Length` of which this is all that ever comes.
    CutOff(u64, &'a str),
}

/// What came back: all of it but what the HTTP server adds of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Answer {
    pub(crate) request: String,
    pub(crate) status: u16,
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) body: String,
}

impl Answer {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(String::as_str)
    }
}

/// Sends a request and reads until the server closes the connection.
pub(crate) fn send(
    address: SocketAddr,
    method: &str,
    target: &str,
    headers: &[(&str, &str)],
    body: &Body<'_>,
) -> Answer {
    let mut head =
        format!("{method} {target} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n");
    for (name, value) in headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    match body {
        Body::None => {}
        Body::Sized(text) => head.push_str(&format!("Content-Length: {}\r\n", text.len())),
        Body::CutOff(length, _) => head.push_str(&format!("Content-Length: {length}\r\n")),
        Body::Chunked(_) | Body::Unending(_) => head.push_str("Transfer-Encoding: chunked\r\n"),
    }
    head.push_str("\r\n");

    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_nodelay(true).unwrap();
    stream.set_read_timeout(Some(HUNG)).unwrap();
    stream.write_all(head.as_bytes()).unwrap();
    match body {
        Body::None => {}
        Body::Sized(text) | Body::CutOff(_, text) => stream.write_all(text.as_bytes()).unwrap(),
        Body::Chunked(chunks) | Body::Unending(chunks) => {
            for chunk in *chunks {
                let chunk = format!("{:x}\r\n{chunk}\r\n", chunk.len());
                stream.write_all(chunk.as_bytes()).unwrap();
            }
        }
    }
    if matches!(body, Body::Chunked(_)) {
        stream.write_all(b"0\r\n\r\n").unwrap();
    }
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    parse(method, &String::from_utf8(answer).unwrap())
}

/// Only answers with a known length are understood: those of the service always have one.
fn parse(method: &str, answer: &str) -> Answer {
    let (head, body) = answer.split_once("\r\n\r\n").expect("a whole head");
    let mut lines = head.split("\r\n");
    let status = lines
        .next()
        .and_then(|line| line.split(' ').nth(1))
        .expect("a status line");
    let mut headers = BTreeMap::new();
    for line in lines {
        let (name, value) = line.split_once(": ").expect("a header");
        let name = name.to_ascii_lowercase();
        if !matches!(name.as_str(), "date" | "connection") {
            let earlier = headers.insert(name, value.to_owned());
            assert_eq!(earlier, None, "a header came twice: {line}");
        }
    }
    let length = headers
        .get("content-length")
        .expect("a length")
        .parse::<usize>()
        .unwrap();
    let expected = if method == "HEAD" { 0 } else { length };
    assert_eq!(
        body.len(),
        expected,
        "the body is as long as was said: {answer}"
    );
    Answer {
        request: String::new(),
        status: status.parse().unwrap(),
        headers,
        body: body.to_owned(),
    }
}
