//! PostgreSQL.

mod wire;

use std::{
    fs,
    net::{Ipv4Addr, SocketAddr},
    path::{Path, PathBuf},
    sync::{
        OnceLock,
        atomic::{AtomicU64, Ordering},
    },
};

use wire::Connection;

use crate::{
    Error,
    child::{self, Den},
    find::Search,
};

/// Who may do everything, without a password.
const USER: &str = "kindgi";
/// The database that every server has.
const DATABASE: &str = "postgres";

const SEARCH: Search = Search {
    server: "PostgreSQL",
    programs: &["postgres", "initdb"],
    variable: "KINDGI_POSTGRES_BIN",
    folders: &[
        "/usr/lib/postgresql/*/bin",
        "/opt/homebrew/opt/postgresql*/bin",
        "/usr/local/opt/postgresql*/bin",
        "/Applications/Postgres.app/Contents/Versions/*/bin",
    ],
    install: "Debian: `apt-get install postgresql`, macOS: `brew install postgresql`",
};

/// What tests want unless they say otherwise: nothing here survives a crash of the machine.
const SETTINGS: [(&str, &str); 2] = [("fsync", "off"), ("max_connections", "200")];

/// The folder of PostgreSQL's programs: the variable `KINDGI_POSTGRES_BIN`, or the first on `PATH`
/// or in the usual folders.
///
/// # Errors
///
/// [`Error::Missing`] where it isn't installed, [`Error::Failed`] where the variable is wrong.
pub fn programs() -> Result<PathBuf, Error> {
    SEARCH.run()
}

/// A PostgreSQL server of our own. It ends, and its folder goes, when this is dropped or when the
/// process ends, even by SIGKILL.
///
/// Nearly all methods panic when something is wrong, with the server's log: no test can go on then.
#[derive(Debug)]
pub struct Postgres {
    den: Den,
    programs: PathBuf,
    settings: Vec<String>,
    port: u16,
    databases: AtomicU64,
}

impl Postgres {
    /// The server that all tests of one process share, started when it is first asked for.
    #[track_caller]
    pub fn shared() -> &'static Self {
        static SHARED: OnceLock<Postgres> = OnceLock::new();
        SHARED.get_or_init(Self::start)
    }

    /// Starts a server.
    #[must_use]
    #[track_caller]
    pub fn start() -> Self {
        Self::start_with(&[])
    }

    /// Starts a server with these of its settings, such as `("fsync", "on")`.
    #[must_use]
    #[track_caller]
    pub fn start_with(settings: &[(&str, &str)]) -> Self {
        or_panic(Self::try_start(settings))
    }

    /// Like [`start_with`](Self::start_with), but doesn't panic.
    ///
    /// # Errors
    ///
    /// [`Error::Missing`] where PostgreSQL isn't installed, [`Error::Failed`] with the server's log
    /// where it doesn't start.
    pub fn try_start(settings: &[(&str, &str)]) -> Result<Self, Error> {
        Self::try_start_on(child::free_ports(), settings)
    }

    /// Tries one port after the other: any may be another's by the time the server is there.
    fn try_start_on(
        ports: impl Iterator<Item = u16>,
        settings: &[(&str, &str)],
    ) -> Result<Self, Error> {
        let mut server = Self {
            den: Den::new("kindgi-postgres-", &["postgres", "nobody"], "QUIT")?,
            programs: programs()?,
            settings: SETTINGS
                .iter()
                .chain(settings)
                .map(|(name, value)| format!("{name}={value}"))
                .collect(),
            port: 0,
            databases: AtomicU64::new(0),
        };
        server.init()?;
        for port in ports.take(20) {
            server.port = port;
            if server.launch()? {
                return Ok(server);
            }
        }
        Err(server.failed("every port that was tried is taken"))
    }

    /// Makes the data folder.
    fn init(&mut self) -> Result<(), Error> {
        let data = self.data();
        self.den.start(
            &self.programs.join("initdb"),
            [
                "--auth=trust",
                "--encoding=UTF8",
                "--locale=C",
                "--no-sync",
                "--username",
                USER,
                "--pgdata",
                &data.to_string_lossy(),
            ],
        )?;
        if self.den.wait()?.success() {
            return Ok(());
        }
        Err(self.failed("initdb failed"))
    }

    /// Starts the server and waits until it accepts connections. `false` means that something is
    /// taken: the port, or the data, by what a killed server left running for a moment.
    fn launch(&mut self) -> Result<bool, Error> {
        let mut arguments = vec!["-D".to_owned(), self.data().to_string_lossy().into_owned()];
        let ours = [
            "listen_addresses=127.0.0.1".to_owned(),
            format!("port={}", self.port),
            // The folder's path may be too long for one.
            "unix_socket_directories=".to_owned(),
        ];
        // The last of two equal names counts.
        for setting in self.settings.iter().cloned().chain(ours) {
            arguments.extend(["-c".to_owned(), setting]);
        }
        self.den.start(&self.programs.join("postgres"), arguments)?;
        let started = child::until("PostgreSQL to accept connections", || {
            if let Some(status) = self.den.ended()? {
                let log = self.den.log();
                let taken = ["could not bind", "is still in use"];
                return if taken.iter().any(|text| log.contains(text)) {
                    Ok(Some(false))
                } else {
                    Err(self.failed(&format!("postgres ended early: {status}")))
                };
            }
            // Only the server's own file tells that it is ours which listens on that port.
            let ready = self.says_ready() && Connection::open(self.address(), DATABASE).is_ok();
            Ok(ready.then_some(true))
        });
        started.map_err(|error| match error {
            Error::Failed(text) if self.den.pid().is_some() => self.failed(&text),
            other => other,
        })
    }

    /// Whether the file that a running server keeps in its folder is this one's and says so.
    fn says_ready(&self) -> bool {
        let Ok(file) = fs::read_to_string(self.data().join("postmaster.pid")) else {
            return false;
        };
        let mut lines = file.lines();
        let pid = lines.next().and_then(|line| line.trim().parse().ok());
        pid.is_some() && pid == self.den.pid() && lines.any(|line| line.trim() == "ready")
    }

    /// Stops the server as its administrator would: connections are cut, what was committed stays.
    /// Nothing happens where it is stopped already.
    #[track_caller]
    pub fn stop(&mut self) {
        or_panic(self.den.stop("INT"));
    }

    /// Kills the server, as a crash would: it has no time for anything.
    #[track_caller]
    pub fn kill(&mut self) {
        or_panic(self.den.stop("KILL"));
    }

    /// Starts the server again after [`stop`](Self::stop) or [`kill`](Self::kill), or after it ended
    /// by itself, with the same data and on the same port. Nothing happens where it runs.
    #[track_caller]
    pub fn start_again(&mut self) {
        let running = or_panic(self.den.ended()).is_none() && self.pid().is_some();
        if !running {
            // Whoever has taken the port meanwhile may leave again.
            or_panic(child::until("the port and the data to be free", || {
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

    /// The URL of a database, which need not exist.
    #[must_use]
    pub fn url(&self, database: &str) -> String {
        format!("postgres://{USER}@127.0.0.1:{}/{database}", self.port)
    }

    /// The URL of a new, empty database.
    #[must_use]
    #[track_caller]
    pub fn fresh_database(&self) -> String {
        let name = format!("fresh_{}", self.databases.fetch_add(1, Ordering::Relaxed));
        self.query(DATABASE, &format!("CREATE DATABASE {name}"));
        self.url(&name)
    }

    /// What a statement answers, as text, on a connection of its own.
    #[track_caller]
    pub fn query(&self, database: &str, sql: &str) -> Vec<Vec<Option<String>>> {
        or_panic(
            Connection::open(self.address(), database)
                .and_then(|mut connection| connection.query(sql))
                .map_err(|error| self.failed(&format!("{sql}: {error}"))),
        )
    }

    fn address(&self) -> SocketAddr {
        (Ipv4Addr::LOCALHOST, self.port).into()
    }

    fn data(&self) -> PathBuf {
        self.den.path().join("data")
    }

    fn failed(&self, what: &str) -> Error {
        Error::Failed(format!("{what}\nPostgreSQL's log:\n{}", self.den.log()))
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
    use std::{
        net::{TcpListener, TcpStream},
        thread,
    };

    use super::*;

    #[test]
    fn a_taken_port_is_left_to_its_owner_and_another_is_tried() {
        let owner = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let taken = owner.local_addr().unwrap().port();
        let free = child::free_ports().next().unwrap();
        let server = Postgres::try_start_on([taken, free].into_iter(), &[]).unwrap();
        assert_eq!(server.port(), free);
        let error = Postgres::try_start_on([taken, taken].into_iter(), &[]).unwrap_err();
        assert!(
            error.to_string().contains("Address already in use"),
            "{error}"
        );
    }

    #[test]
    fn another_servers_port_is_never_taken_for_ours() {
        let other = Postgres::shared();
        let free = child::free_ports().next().unwrap();
        let ports = [other.port(), free];
        let server = Postgres::try_start_on(ports.into_iter(), &[]).unwrap();
        assert_eq!(server.port(), free);
    }

    #[test]
    fn stopping_cuts_connections_and_starting_again_waits_for_the_port() {
        let mut server = Postgres::start();
        let mut connection = Connection::open(server.address(), DATABASE).unwrap();
        connection.query("BEGIN").unwrap();
        server.stop();
        assert!(connection.query("COMMIT").is_err());
        assert!(!is_open(server.port()));
        let taken = TcpListener::bind((Ipv4Addr::LOCALHOST, server.port())).unwrap();
        assert!(!server.launch().unwrap());
        drop(taken);
        server.start_again();
        assert!(is_open(server.port()));
    }

    #[test]
    fn starting_again_waits_for_what_a_killed_server_left_running() {
        let mut server = Postgres::start();
        let mut connection = Connection::open(server.address(), DATABASE).unwrap();
        // Too busy to see at once that the server is gone.
        let busy = "SELECT count(*) FROM generate_series(1, 10000000)";
        let left = thread::spawn(move || connection.query(busy));
        let active = "SELECT 1 FROM pg_stat_activity WHERE state = 'active' AND query LIKE '%series%' \
                      AND pid <> pg_backend_pid()";
        child::until("the query to run", || {
            let rows = server.query(DATABASE, active);
            Ok((!rows.is_empty()).then_some(()))
        })
        .unwrap();
        server.kill();
        server.start_again();
        assert_eq!(server.query(DATABASE, "SELECT 1"), [[Some("1".to_owned())]]);
        let _ = left.join().unwrap();
    }

    fn is_open(port: u16) -> bool {
        TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_ok()
    }
}
