//! Redis, alone and as a cluster.

mod cluster;
mod wire;

use std::{
    net::{Ipv4Addr, SocketAddr},
    path::{Path, PathBuf},
    sync::OnceLock,
};

pub use cluster::RedisCluster;
use wire::Connection;

use crate::{
    Error,
    child::{self, Den},
    find::Search,
};

const SEARCH: Search = Search {
    server: "Redis",
    programs: &["redis-server"],
    variable: "KINDGI_REDIS_BIN",
    folders: &[
        "/usr/bin",
        "/usr/local/bin",
        "/opt/homebrew/bin",
        "/opt/homebrew/opt/redis*/bin",
        "/usr/local/opt/redis*/bin",
    ],
    install: "Debian: `apt-get install redis-server`, macOS: `brew install redis`",
};

/// What tests want unless they say otherwise: nothing is kept on disk.
const SETTINGS: [(&str, &str); 2] = [("save", ""), ("appendonly", "no")];

/// The folder of Redis's programs: the variable `KINDGI_REDIS_BIN`, or the first on `PATH` or in the
/// usual folders.
///
/// # Errors
///
/// [`Error::Missing`] where it isn't installed, [`Error::Failed`] where the variable is wrong.
pub fn programs() -> Result<PathBuf, Error> {
    SEARCH.run()
}

/// A Redis server of our own. It ends, and its folder goes, when this is dropped or when the process
/// ends, even by SIGKILL.
///
/// It keeps nothing on disk, so that a restart begins with nothing, unless it is started with the
/// setting `("appendonly", "yes")`.
///
/// Nearly all methods panic when something is wrong, with the server's log: no test can go on then.
#[derive(Debug)]
pub struct Redis {
    den: Den,
    programs: PathBuf,
    settings: Vec<(String, String)>,
    port: u16,
    /// Where the nodes of a cluster talk to each other.
    bus_port: Option<u16>,
}

/// What a server replies to a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    /// There is nothing.
    Nothing,
    /// A number.
    Int(i64),
    /// A text; what isn't UTF-8 of it is replaced.
    Text(String),
    /// Several.
    List(Vec<Reply>),
}

impl Reply {
    /// The text, if it is one.
    #[must_use]
    pub fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The number, if it is one.
    #[must_use]
    pub fn int(&self) -> Option<i64> {
        match self {
            Self::Int(number) => Some(*number),
            _ => None,
        }
    }

    /// All of them, if they are several.
    #[must_use]
    pub fn list(&self) -> Option<&[Self]> {
        match self {
            Self::List(all) => Some(all),
            _ => None,
        }
    }
}

impl Redis {
    /// The server that all tests of one process share, started when it is first asked for.
    #[track_caller]
    pub fn shared() -> &'static Self {
        static SHARED: OnceLock<Redis> = OnceLock::new();
        SHARED.get_or_init(Self::start)
    }

    /// Starts a server.
    #[must_use]
    #[track_caller]
    pub fn start() -> Self {
        Self::start_with(&[])
    }

    /// Starts a server with these of its settings, such as `("maxmemory", "10mb")`.
    #[must_use]
    #[track_caller]
    pub fn start_with(settings: &[(&str, &str)]) -> Self {
        or_panic(Self::try_start(settings))
    }

    /// Like [`start_with`](Self::start_with), but doesn't panic.
    ///
    /// # Errors
    ///
    /// [`Error::Missing`] where Redis isn't installed, [`Error::Failed`] with the server's log where
    /// it doesn't start.
    pub fn try_start(settings: &[(&str, &str)]) -> Result<Self, Error> {
        Self::try_start_on(child::free_ports().map(|port| (port, None)), settings)
    }

    /// Tries one port after the other: any may be another's by the time the server is there.
    fn try_start_on(
        ports: impl Iterator<Item = (u16, Option<u16>)>,
        settings: &[(&str, &str)],
    ) -> Result<Self, Error> {
        let mut server = Self {
            den: Den::new("kindgi-redis-", &["redis", "nobody"], "KILL")?,
            programs: programs()?,
            settings: SETTINGS
                .iter()
                .chain(settings)
                .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
                .collect(),
            port: 0,
            bus_port: None,
        };
        for (port, bus_port) in ports.take(20) {
            (server.port, server.bus_port) = (port, bus_port);
            if server.launch()? {
                return Ok(server);
            }
        }
        Err(server.failed("every port that was tried is taken"))
    }

    /// Starts the server and waits until it answers. `false` means that a port is taken.
    fn launch(&mut self) -> Result<bool, Error> {
        let ours = [
            ("bind", "127.0.0.1".to_owned()),
            ("port", self.port.to_string()),
            ("dir", self.den.path().to_string_lossy().into_owned()),
            ("logfile", String::new()),
            ("daemonize", "no".to_owned()),
        ];
        let of_node = self.bus_port.map(|port| {
            [
                ("cluster-enabled", "yes".to_owned()),
                ("cluster-port", port.to_string()),
            ]
        });
        let said = self.settings.iter();
        let said = said.map(|(name, value)| (&**name, value.clone()));
        // The last of two equal names counts.
        let all = said.chain(ours).chain(of_node.into_iter().flatten());
        let arguments = all.flat_map(|(name, value)| [format!("--{name}"), value]);
        let arguments: Vec<String> = arguments.collect();
        self.den
            .start(&self.programs.join("redis-server"), arguments)?;
        let started = child::until("Redis to answer", || {
            if let Some(status) = self.den.ended()? {
                return if self.den.log().contains("Address already in use") {
                    Ok(Some(false))
                } else {
                    Err(self.failed(&format!("redis-server ended early: {status}")))
                };
            }
            Ok(self.answers().then_some(true))
        });
        started.map_err(|error| match error {
            Error::Failed(text) if self.den.pid().is_some() => self.failed(&text),
            other => other,
        })
    }

    /// Whether it is our server that answers on the port, and it has read what it keeps.
    fn answers(&self) -> bool {
        // Until it says so, whoever else has the port may never answer.
        if !self.den.log().contains("Ready to accept connections") {
            return false;
        }
        let Ok(Reply::Text(info)) = self.ask(&["INFO"]) else {
            return false;
        };
        let ours = self.den.pid().map(|pid| format!("process_id:{pid}"));
        let has = |line: &str| info.lines().any(|other| other.trim_end() == line);
        ours.is_some_and(|ours| has(&ours)) && has("loading:0")
    }

    /// Stops the server as its administrator would. Nothing happens where it is stopped already.
    #[track_caller]
    pub fn stop(&mut self) {
        or_panic(self.den.stop("TERM"));
    }

    /// Kills the server, as a crash would: it has no time for anything.
    #[track_caller]
    pub fn kill(&mut self) {
        or_panic(self.den.stop("KILL"));
    }

    /// Starts the server again after [`stop`](Self::stop) or [`kill`](Self::kill), or after it ended
    /// by itself, on the same port, with what it kept on disk. Nothing happens where it runs.
    #[track_caller]
    pub fn start_again(&mut self) {
        let running = or_panic(self.den.ended()).is_none() && self.pid().is_some();
        if !running {
            // Whoever has taken the port meanwhile may leave again.
            or_panic(child::until("the port to be free", || {
                Ok(self.launch()?.then_some(()))
            }));
        }
    }

    /// The server's process id, while it isn't stopped.
    #[must_use]
    pub fn pid(&self) -> Option<u32> {
        self.den.pid()
    }

    /// The server's port on 127.0.0.1.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The folder that has all of the server's data.
    #[must_use]
    pub fn folder(&self) -> &Path {
        self.den.path()
    }

    /// The server's URL.
    #[must_use]
    pub fn url(&self) -> String {
        format!("redis://127.0.0.1:{}/", self.port)
    }

    /// What the server replies to a command, on a connection of its own.
    #[track_caller]
    pub fn command(&self, parts: &[&str]) -> Reply {
        or_panic(self.try_command(parts))
    }

    /// Like [`command`](Self::command), but doesn't panic.
    ///
    /// # Errors
    ///
    /// [`Error::Failed`] with what the server said, or with its log where it couldn't be asked.
    pub fn try_command(&self, parts: &[&str]) -> Result<Reply, Error> {
        self.ask(parts)
            .map_err(|error| self.failed(&format!("{}: {error}", parts.join(" "))))
    }

    fn ask(&self, parts: &[&str]) -> std::io::Result<Reply> {
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, self.port));
        Connection::open(address)?.command(parts)
    }

    fn failed(&self, what: &str) -> Error {
        Error::Failed(format!("{what}\nRedis's log:\n{}", self.den.log()))
    }
}

#[allow(
    clippy::panic,
    reason = "a test without its server can only fail, and must do so loudly"
)]
#[track_caller]
fn or_panic<T>(result: Result<T, Error>) -> T {
    match result {
        Ok(value) => value,
        Err(error) => panic!("{error}"),
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn a_taken_port_is_left_to_its_owner_and_another_is_tried() {
        let owner = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let taken = (owner.local_addr().unwrap().port(), None);
        let free = (child::free_ports().next().unwrap(), None);
        let server = Redis::try_start_on([taken, free].into_iter(), &[]).unwrap();
        assert_eq!(server.port(), free.0);
        let error = Redis::try_start_on([taken, taken].into_iter(), &[]).unwrap_err();
        let said = error.to_string();
        assert!(said.contains("Address already in use"), "{said}");
    }

    #[test]
    fn a_taken_bus_port_is_left_to_its_owner_and_another_is_tried() {
        let owner = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let taken = owner.local_addr().unwrap().port();
        let mut ports = child::free_ports();
        let mut free = || ports.next().unwrap();
        let both = [(free(), Some(taken)), (free(), Some(free()))];
        let server = Redis::try_start_on(both.into_iter(), &[]).unwrap();
        assert_eq!((server.port, server.bus_port), both[1]);
    }

    #[test]
    fn another_servers_port_is_never_taken_for_ours() {
        let other = (Redis::shared().port(), None);
        let free = (child::free_ports().next().unwrap(), None);
        let server = Redis::try_start_on([other, free].into_iter(), &[]).unwrap();
        assert_eq!(server.port(), free.0);
    }
}
