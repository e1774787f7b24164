//! As much of an HTTP/1.1 client as the tests need: one request for each connection.

use std::{
    io::{Read as _, Write as _},
    net::{SocketAddr, TcpStream},
    time::Duration,
};

use kindgi_core::json::{Pointer, RawJson};

/// So that a host that hangs fails the test instead of hanging it.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// An answer, its body as the text it came as.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    head: String,
    pub(crate) body: String,
}

impl Answer {
    /// The value at this pointer of the body, as it is written there.
    pub(crate) fn find(&self, pointer: &str) -> Option<String> {
        let body = RawJson::parse(self.body.as_str()).expect(&self.body);
        let found = Pointer::parse(pointer).unwrap().resolve(&body)?;
        Some(found.to_string())
    }

    /// The string at this pointer of the body.
    pub(crate) fn text(&self, pointer: &str) -> String {
        let found = self.find(pointer);
        let found = found.unwrap_or_else(|| panic!("no {pointer} in {}", self.body));
        let text = RawJson::parse(found).unwrap().as_text();
        text.expect("a string").as_str().unwrap().to_owned()
    }

    /// How many items the array at this pointer of the body has.
    pub(crate) fn count(&self, pointer: &str) -> usize {
        let found = self.find(pointer);
        let found = found.unwrap_or_else(|| panic!("no {pointer} in {}", self.body));
        RawJson::parse(found)
            .unwrap()
            .items()
            .expect("an array")
            .len()
    }

    /// The value of a header.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().skip(1).find_map(|line| {
            let (key, value) = line.split_once(':')?;
            key.eq_ignore_ascii_case(name).then(|| value.trim())
        })
    }

    /// Asserts the status, and shows the answer where it is another.
    #[track_caller]
    pub(crate) fn expect(self, status: u16) -> Self {
        assert_eq!(self.status, status, "{}", self.body);
        self
    }

    /// Asserts an error.
    #[track_caller]
    pub(crate) fn expect_error(self, status: u16, code: &str) -> Self {
        let answer = self.expect(status);
        assert_eq!(answer.text("/error/code"), code, "{}", answer.body);
        answer
    }
}

/// Sends one request and reads the whole answer.
pub(crate) fn send(
    to: SocketAddr,
    method: &str,
    target: &str,
    headers: &[(&str, &str)],
    body: &str,
) -> Answer {
    try_send(to, method, target, headers, body).expect("a whole answer")
}

/// The same; nothing if the host is gone before the whole answer is there.
pub(crate) fn try_send(
    to: SocketAddr,
    method: &str,
    target: &str,
    headers: &[(&str, &str)],
    body: &str,
) -> Option<Answer> {
    let mut request = format!("{method} {target} HTTP/1.1\r\nHost: {to}\r\nConnection: close\r\n");
    for (name, value) in headers {
        request.push_str(&format!("{name}: {value}\r\n"));
    }
    request.push_str(&format!("Content-Length: {}\r\n\r\n{body}", body.len()));

    let mut stream = TcpStream::connect(to).ok()?;
    stream.set_read_timeout(Some(PATIENCE)).ok()?;
    stream.write_all(request.as_bytes()).ok()?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).ok()?;
    let (head, body) = answer.split_once("\r\n\r\n")?;
    let status = head.split(' ').nth(1).expect("a status line");
    let answer = Answer {
        status: status.parse().unwrap(),
        head: head.to_owned(),
        body: body.to_owned(),
    };
    // Else the body would have to be put together from chunks.
    let length = answer.header("content-length").expect("a length");
    (length == answer.body.len().to_string()).then_some(answer)
}
