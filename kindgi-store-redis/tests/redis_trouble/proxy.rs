//! A proxy before Redis that cuts links at scripts, at bytes that a test chooses. All else, as what
//! a client says when it connects, passes.

use std::{
    collections::VecDeque,
    io::{self, BufRead, BufReader, Read as _, Write as _},
    net::{Ipv4Addr, TcpListener, TcpStream},
    sync::{Arc, Mutex},
    thread,
};

/// What befalls the command of a script.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It is answered.
    Passes,
    /// The link is cut when so many of its bytes have reached the server.
    Lost(usize),
    /// The server takes it, and the link is cut when so many bytes of the answer have reached the
    /// client.
    Cut(usize),
    /// The link is cut, and the command reaches the server [later](Proxy::deliver).
    Late,
}

/// How many bytes a command and its answer have.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lengths {
    pub(crate) command: usize,
    pub(crate) answer: usize,
}

#[derive(Default)]
struct Plan {
    fates: VecDeque<Fate>,
    answered: Vec<Lengths>,
    late: Vec<(Line, Vec<u8>)>,
}

pub(crate) struct Proxy {
    port: u16,
    plan: Arc<Mutex<Plan>>,
}

impl Proxy {
    /// Listens, for as long as the process lives.
    pub(crate) fn start(server: u16) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let plan = Arc::<Mutex<Plan>>::default();
        let of_lines = Arc::clone(&plan);
        thread::spawn(move || {
            for client in listener.incoming() {
                let (client, plan) = (client.unwrap(), Arc::clone(&of_lines));
                let server = TcpStream::connect((Ipv4Addr::LOCALHOST, server)).unwrap();
                // What fails is a link that is gone, which both ends see.
                thread::spawn(move || serve(&mut Line::new(client), Line::new(server), &plan));
            }
        });
        Self { port, plan }
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    /// The next scripts meet these, and those after them pass.
    pub(crate) fn fates(&self, fates: &[Fate]) {
        let mut plan = self.plan.lock().unwrap();
        assert_eq!(plan.fates, [], "too few scripts came");
        plan.fates.extend(fates);
        plan.answered.clear();
    }

    /// How long the scripts since then and their answers were. All fates must have been met.
    pub(crate) fn answered(&self) -> Vec<Lengths> {
        let mut plan = self.plan.lock().unwrap();
        assert_eq!(plan.fates, [], "too few scripts came");
        std::mem::take(&mut plan.answered)
    }

    /// How many scripts were answered since then.
    pub(crate) fn answered_so_far(&self) -> usize {
        self.plan.lock().unwrap().answered.len()
    }

    /// Has the server take what is late. What it answers, of which nobody hears.
    pub(crate) fn deliver(&self) -> String {
        let (mut server, command) = self.plan.lock().unwrap().late.remove(0);
        server.write(&command).unwrap();
        let answer = server.read().unwrap();
        assert!(!answer.starts_with(b"-"), "{answer:?}");
        String::from_utf8(answer).unwrap()
    }
}

/// One command after the other, each with its answer, until one end is gone or the link is cut.
fn serve(client: &mut Line, mut server: Line, plan: &Mutex<Plan>) -> io::Result<()> {
    loop {
        let command = client.read()?;
        let is_script = command.windows(6).take(16).any(|part| part == b"\r\nEVAL");
        let fate = is_script.then(|| plan.lock().unwrap().fates.pop_front());
        match fate.flatten().unwrap_or(Fate::Passes) {
            Fate::Passes => {
                server.write(&command)?;
                let answer = server.read()?;
                if is_script {
                    let (command, answer) = (command.len(), answer.len());
                    let lengths = Lengths { command, answer };
                    plan.lock().unwrap().answered.push(lengths);
                }
                client.write(&answer)?;
            }
            Fate::Lost(bytes) => {
                assert!(bytes < command.len(), "all of it would reach the server");
                return server.write(&command[..bytes]);
            }
            Fate::Cut(bytes) => {
                server.write(&command)?;
                let answer = server.read()?;
                assert!(bytes < answer.len(), "all of it would reach the client");
                return client.write(&answer[..bytes]);
            }
            Fate::Late => {
                plan.lock().unwrap().late.push((server, command));
                return Ok(());
            }
        }
    }
}

/// One end of a link.
struct Line(BufReader<TcpStream>);

impl Line {
    fn new(stream: TcpStream) -> Self {
        stream.set_nodelay(true).unwrap();
        Self(BufReader::new(stream))
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.0.get_mut().write_all(bytes)
    }

    /// A whole command or answer (<https://redis.io/docs/latest/develop/reference/protocol-spec/>).
    fn read(&mut self) -> io::Result<Vec<u8>> {
        let mut all = Vec::new();
        let mut left = 1;
        while left > 0 {
            let from = all.len();
            if self.0.read_until(b'\n', &mut all)? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            let number = || {
                std::str::from_utf8(&all[from + 1..])
                    .ok()?
                    .trim_end()
                    .parse()
                    .ok()
            };
            match (all[from], number()) {
                (b'*', Some(parts)) => left += Ord::max(parts, 0),
                (b'$', Some(length @ 0..)) => {
                    let text = all.len();
                    all.resize(text + usize::try_from(length).unwrap() + 2, 0);
                    self.0.read_exact(&mut all[text..])?;
                }
                _ => {}
            }
            left -= 1;
        }
        Ok::<_, io::Error>(all)
    }
}
