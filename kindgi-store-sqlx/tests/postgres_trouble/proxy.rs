//! A proxy before PostgreSQL that cuts one connection, once, at a message that a test chooses.
//!
//! The messages of the protocol are a byte for the kind and four for the length, but for the first
//! one, which has no kind
//! (<https://www.postgresql.org/docs/current/protocol-message-formats.html>).

use std::{
    io::{self, Read as _, Write as _},
    net::{Ipv4Addr, Shutdown, TcpListener, TcpStream},
    sync::{Arc, Mutex},
    thread,
};

use kindgi_test_servers::Postgres;

use super::support::name_of;

/// How a connection is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum How {
    /// The client's message doesn't reach the server.
    Lost,
    /// The client's message reaches the server, whose answer doesn't reach the client.
    Unanswered,
    /// Half of the server's message reaches the client.
    Halved,
}

/// What was going on when a connection was cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum During {
    Commit,
    Other,
}

#[derive(Default)]
struct Plan {
    /// How, and before how many messages more.
    cut: Option<(How, usize)>,
    /// What was cut.
    happened: Option<During>,
}

pub(crate) struct Proxy {
    port: u16,
    plan: Arc<Mutex<Plan>>,
}

/// One client's connection to the server.
struct Line {
    client: TcpStream,
    server: TcpStream,
    plan: Arc<Mutex<Plan>>,
    /// A commit was sent, and isn't answered.
    committing: Mutex<bool>,
    /// Nothing more reaches the client. Held while something does: an answer may come before the
    /// thread that asked goes on to cut the connection.
    muted: Mutex<bool>,
}

impl Proxy {
    /// Listens, for as long as the process lives.
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let plan = Arc::<Mutex<Plan>>::default();
        let of_lines = Arc::clone(&plan);
        thread::spawn(move || {
            for client in listener.incoming() {
                Line::begin(client.unwrap(), Arc::clone(&of_lines));
            }
        });
        Self { port, plan }
    }

    /// The URL of a database of this process's server, through the proxy.
    pub(crate) fn url(&self, direct: &str) -> String {
        let name = name_of(direct);
        format!(
            "postgres://kindgi@127.0.0.1:{}/{name}?sslmode=disable",
            self.port
        )
    }

    /// Cuts at the nth message from now on, the first being 1.
    pub(crate) fn cut(&self, how: How, nth: usize) {
        let cut = Some((how, nth - 1));
        let happened = None;
        *self.plan.lock().unwrap() = Plan { cut, happened };
    }

    /// Cuts no more. What was cut, if so many messages came.
    pub(crate) fn cut_no_more(&self) -> Option<During> {
        std::mem::take(&mut *self.plan.lock().unwrap()).happened
    }
}

impl Line {
    fn begin(client: TcpStream, plan: Arc<Mutex<Plan>>) {
        let server = TcpStream::connect((Ipv4Addr::LOCALHOST, Postgres::shared().port())).unwrap();
        client.set_nodelay(true).unwrap();
        server.set_nodelay(true).unwrap();
        let line = Arc::new(Self {
            client,
            server,
            plan,
            committing: Mutex::new(false),
            muted: Mutex::new(false),
        });
        let back = Arc::clone(&line);
        thread::spawn(move || {
            let _ = line.ask();
            let _ = line.server.shutdown(Shutdown::Write);
        });
        thread::spawn(move || {
            let _ = back.answer();
            let _ = back.client.shutdown(Shutdown::Both);
            // Unread, it would make the server's end of the connection break.
            let _ = io::copy(&mut &back.server, &mut io::sink());
        });
    }

    /// Whether the cut is due at this message.
    fn is_due(&self, of_client: bool) -> Option<How> {
        let mut plan = self.plan.lock().unwrap();
        let (how, left) = plan.cut.as_mut()?;
        if of_client == (*how == How::Halved) {
            return None;
        }
        if *left > 0 {
            *left -= 1;
            return None;
        }
        let how = *how;
        plan.cut = None;
        plan.happened = Some(match *self.committing.lock().unwrap() {
            true => During::Commit,
            false => During::Other,
        });
        Some(how)
    }

    /// Hands on what the client says.
    fn ask(&self) -> io::Result<()> {
        let mut message = message(&self.client, 0)?;
        loop {
            if message.starts_with(b"Q") && message[5..].starts_with(b"COMMIT") {
                *self.committing.lock().unwrap() = true;
            }
            let due = self.is_due(true);
            if due.is_some() {
                *self.muted.lock().unwrap() = true;
            }
            if due != Some(How::Lost) {
                (&self.server).write_all(&message)?;
            }
            if due.is_some() {
                return self.client.shutdown(Shutdown::Both);
            }
            message = self::message(&self.client, 1)?;
        }
    }

    /// Hands on what the server says.
    fn answer(&self) -> io::Result<()> {
        loop {
            let message = message(&self.server, 1)?;
            let muted = self.muted.lock().unwrap();
            if *muted {
                return Ok(());
            }
            if self.is_due(false).is_some() {
                return (&self.client).write_all(&message[..message.len() / 2]);
            }
            if message.starts_with(b"Z") {
                *self.committing.lock().unwrap() = false;
            }
            (&self.client).write_all(&message)?;
        }
    }
}

/// Reads one message, of a kind that so many bytes say.
fn message(mut from: &TcpStream, kind: usize) -> io::Result<Vec<u8>> {
    let mut message = vec![0; kind + 4];
    from.read_exact(&mut message)?;
    let length: [u8; 4] = message[kind..].try_into().unwrap();
    let length = usize::try_from(u32::from_be_bytes(length)).unwrap();
    let mut rest = vec![0; length - 4];
    from.read_exact(&mut rest)?;
    message.extend(rest);
    Ok(message)
}
