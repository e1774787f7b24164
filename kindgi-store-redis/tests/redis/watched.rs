//! A connection that notes what is sent over it, and breaks when it is told to.

use std::{
    collections::VecDeque,
    io,
    sync::{Arc, Mutex},
};

use redis::{Cmd, Pipeline, RedisFuture, Value, aio::ConnectionLike};

/// What befalls a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It is sent, and answered.
    Answered,
    /// The link breaks before the server has it.
    NeverSent,
    /// The link breaks when the server has done it.
    AnswerLost,
    /// The server isn't there.
    NoServer,
    /// The answer isn't in time, though the server has done it.
    TooLate,
}

#[derive(Clone)]
pub(crate) struct Watched<C> {
    connection: C,
    notes: Arc<Mutex<Notes>>,
}

#[derive(Default)]
struct Notes {
    sent: Vec<Vec<Vec<u8>>>,
    fates: VecDeque<Fate>,
}

impl<C> Watched<C> {
    pub(crate) fn new(connection: C) -> Self {
        let notes = Arc::default();
        Self { connection, notes }
    }

    /// The next commands meet these.
    pub(crate) fn fates(&self, fates: &[Fate]) {
        self.notes.lock().unwrap().fates = fates.iter().copied().collect();
    }

    /// The commands that were sent since this was asked last, each in its parts.
    pub(crate) fn sent(&self) -> Vec<Vec<Vec<u8>>> {
        let mut notes = self.notes.lock().unwrap();
        assert!(notes.fates.is_empty(), "too few commands were sent");
        std::mem::take(&mut notes.sent)
    }
}

/// The keys of a script's command.
pub(crate) fn keys_of(command: &[Vec<u8>]) -> Vec<String> {
    let text = |part: &Vec<u8>| String::from_utf8(part.clone()).unwrap();
    let count: usize = text(&command[2]).parse().unwrap();
    command[3..3 + count].iter().map(text).collect()
}

fn broken(kind: io::ErrorKind) -> redis::RedisError {
    io::Error::from(kind).into()
}

impl<C: ConnectionLike + Send> ConnectionLike for Watched<C> {
    fn req_packed_command<'a>(&'a mut self, cmd: &'a Cmd) -> RedisFuture<'a, Value> {
        let fate = {
            let mut notes = self.notes.lock().unwrap();
            let parts = cmd.args_iter().map(|part| match part {
                redis::Arg::Simple(part) => part.to_vec(),
                _ => Vec::new(),
            });
            notes.sent.push(parts.collect());
            notes.fates.pop_front().unwrap_or(Fate::Answered)
        };
        Box::pin(async move {
            match fate {
                Fate::Answered => self.connection.req_packed_command(cmd).await,
                Fate::NeverSent => Err(broken(io::ErrorKind::BrokenPipe)),
                Fate::NoServer => Err(broken(io::ErrorKind::ConnectionRefused)),
                Fate::AnswerLost | Fate::TooLate => {
                    self.connection.req_packed_command(cmd).await?;
                    Err(broken(match fate {
                        Fate::TooLate => io::ErrorKind::TimedOut,
                        _ => io::ErrorKind::UnexpectedEof,
                    }))
                }
            }
        })
    }

    fn req_packed_commands<'a>(
        &'a mut self,
        _: &'a Pipeline,
        _: usize,
        _: usize,
    ) -> RedisFuture<'a, Vec<Value>> {
        panic!("no pipeline is sent")
    }

    fn get_db(&self) -> i64 {
        self.connection.get_db()
    }
}
