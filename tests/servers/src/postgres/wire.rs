//! As much of PostgreSQL's protocol as it takes to see that a server is there and to tell it
//! something, so that no client needs to be installed.

use std::{
    io::{self, Read, Write},
    net::{SocketAddr, TcpStream},
};

use super::USER;
use crate::child::PATIENCE;

/// Version 3.0 of the protocol.
const VERSION: u32 = 0x0003_0000;

#[derive(Debug)]
pub(super) struct Connection {
    stream: TcpStream,
}

impl Connection {
    pub(super) fn open(address: SocketAddr, database: &str) -> io::Result<Self> {
        let stream = TcpStream::connect(address)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        let mut connection = Self { stream };
        let mut body = VERSION.to_be_bytes().to_vec();
        for text in ["user", USER, "database", database] {
            body.extend_from_slice(text.as_bytes());
            body.push(0);
        }
        body.push(0);
        connection.send(None, &body)?;
        connection.answer()?;
        Ok(connection)
    }

    pub(super) fn query(&mut self, sql: &str) -> io::Result<Vec<Vec<Option<String>>>> {
        let mut body = sql.as_bytes().to_vec();
        body.push(0);
        self.send(Some(b'Q'), &body)?;
        self.answer()
    }

    fn send(&mut self, kind: Option<u8>, body: &[u8]) -> io::Result<()> {
        let length = u32::try_from(body.len() + 4).map_err(io::Error::other)?;
        let mut message: Vec<u8> = kind.into_iter().collect();
        message.extend_from_slice(&length.to_be_bytes());
        message.extend_from_slice(body);
        self.stream.write_all(&message)
    }

    /// Reads until the server is ready for more; an error that it tells comes after that.
    fn answer(&mut self) -> io::Result<Vec<Vec<Option<String>>>> {
        let mut rows = Vec::new();
        let mut error = None;
        loop {
            let (kind, body) = match self.receive() {
                Ok(message) => message,
                // Having told why, a server may hang up.
                Err(failed) => return Err(error.unwrap_or(failed)),
            };
            match kind {
                b'D' => rows.push(row(&mut &body[..])?),
                b'E' => error = Some(io::Error::other(told(&body))),
                b'R' if body != [0; 4] => {
                    return Err(io::Error::other("the server wants a password"));
                }
                b'Z' => return error.map_or(Ok(rows), Err),
                _ => {}
            }
        }
    }

    fn receive(&mut self) -> io::Result<(u8, Vec<u8>)> {
        let mut kind = [0];
        self.stream.read_exact(&mut kind)?;
        let length = four(&mut self.stream)?;
        let length = length.checked_sub(4).ok_or(io::ErrorKind::InvalidData)?;
        let mut body = Vec::new();
        (&self.stream)
            .take(u64::from(length))
            .read_to_end(&mut body)?;
        if u64::try_from(body.len()).ok() != Some(u64::from(length)) {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        Ok((kind[0], body))
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        // Says goodbye; whoever doesn't hear it sees the connection close.
        let _ = self.send(Some(b'X'), &[]);
    }
}

fn four(from: &mut impl Read) -> io::Result<u32> {
    let mut bytes = [0; 4];
    from.read_exact(&mut bytes)?;
    Ok(u32::from_be_bytes(bytes))
}

fn row(body: &mut &[u8]) -> io::Result<Vec<Option<String>>> {
    let mut count = [0; 2];
    body.read_exact(&mut count)?;
    let mut cells = Vec::new();
    for _ in 0..u16::from_be_bytes(count) {
        let length = four(body)?;
        // A NULL has the length -1.
        if length == u32::MAX {
            cells.push(None);
            continue;
        }
        let length = usize::try_from(length).map_err(io::Error::other)?;
        let (cell, rest) = body
            .split_at_checked(length)
            .ok_or(io::ErrorKind::InvalidData)?;
        cells.push(Some(String::from_utf8_lossy(cell).into_owned()));
        *body = rest;
    }
    Ok(cells)
}

/// The code and the text among an error's fields.
fn told(body: &[u8]) -> String {
    let fields = body.split(|&byte| byte == 0);
    fields
        .filter_map(|field| match field.split_first() {
            Some((b'C' | b'M', text)) => Some(String::from_utf8_lossy(text)),
            _ => None,
        })
        .collect::<Vec<_>>()
        .join(" ")
}
