//! As much of Redis's protocol (RESP2) as it takes to see that a server is there and to tell it
//! something, so that no client needs to be installed.

use std::{
    io::{self, BufRead, BufReader, Read, Write},
    net::{SocketAddr, TcpStream},
};

use super::Reply;
use crate::child::PATIENCE;

/// How deep lists may be within lists.
const MAX_DEPTH: u8 = 16;

#[derive(Debug)]
pub(super) struct Connection {
    stream: BufReader<TcpStream>,
}

impl Connection {
    pub(super) fn open(address: SocketAddr) -> io::Result<Self> {
        let stream = TcpStream::connect(address)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        let stream = BufReader::new(stream);
        Ok(Self { stream })
    }

    /// Sends a command and reads its reply; an error of the server's is one of these, too.
    pub(super) fn command(&mut self, parts: &[&str]) -> io::Result<Reply> {
        let mut command = format!("*{}\r\n", parts.len()).into_bytes();
        for part in parts {
            command.extend_from_slice(format!("${}\r\n{part}\r\n", part.len()).as_bytes());
        }
        self.stream.get_mut().write_all(&command)?;
        self.reply(MAX_DEPTH)
    }

    fn reply(&mut self, depth: u8) -> io::Result<Reply> {
        let mut line = String::new();
        self.stream.read_line(&mut line)?;
        let line = line.strip_suffix("\r\n").ok_or_else(ended)?;
        let (kind, rest) = line.split_at_checked(1).ok_or_else(unknown)?;
        let number = || rest.parse::<i64>().map_err(io::Error::other);
        match kind {
            "+" => Ok(Reply::Text(rest.to_owned())),
            "-" => Err(io::Error::other(rest.to_owned())),
            ":" => Ok(Reply::Int(number()?)),
            "$" => match usize::try_from(number()?) {
                Err(_) => Ok(Reply::Nothing),
                Ok(length) => {
                    let mut text = vec![0; length + 2];
                    self.stream.read_exact(&mut text)?;
                    text.truncate(length);
                    Ok(Reply::Text(String::from_utf8_lossy(&text).into_owned()))
                }
            },
            "*" => match usize::try_from(number()?) {
                Err(_) => Ok(Reply::Nothing),
                Ok(length) => {
                    let depth = depth.checked_sub(1).ok_or_else(unknown)?;
                    let all = (0..length).map(|_| self.reply(depth));
                    Ok(Reply::List(all.collect::<io::Result<_>>()?))
                }
            },
            _ => Err(unknown()),
        }
    }
}

fn ended() -> io::Error {
    io::Error::new(io::ErrorKind::UnexpectedEof, "the connection ended")
}

fn unknown() -> io::Error {
    io::Error::other("no reply that is known")
}
