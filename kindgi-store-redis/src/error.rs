//! Errors: what became of a script, as far as is known.

use std::{error, fmt};

use kindgi_core::StoreError;
use redis::{ErrorKind, RedisError, ServerErrorKind};

/// Why a script has no answer.
#[derive(Debug)]
pub(crate) struct Trouble {
    kind: Kind,
    what: &'static str,
    source: Option<RedisError>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// The script didn't run; later it may.
    NotNow,
    /// The script didn't run, and won't until somebody does something.
    Refused,
    /// The link broke, or an answer wasn't in time. The script ran or didn't.
    Unknown { is_broken: bool },
    /// Something is wrong with what is stored, or with this code.
    Broken,
}

impl Trouble {
    /// What is stored can't be read back as what it should be.
    pub(crate) fn corrupt() -> Self {
        Self {
            kind: Kind::Broken,
            what: "the server holds what this code didn't write",
            source: None,
        }
    }

    /// Whether the script may have run and its answer got lost: a script that knows itself when it
    /// comes again may be sent once more.
    pub(crate) fn is_broken_link(&self) -> bool {
        self.kind == Kind::Unknown { is_broken: true }
    }

    /// Whether the server doesn't want to do it.
    pub(crate) fn is_refusal(&self) -> bool {
        self.source.is_some() && matches!(self.kind, Kind::Refused | Kind::Broken)
    }

    /// The same trouble of a second try: nobody knows what became of the first.
    pub(crate) fn after_broken_link(self) -> Self {
        match self.kind {
            Kind::Broken => self,
            Kind::NotNow | Kind::Refused | Kind::Unknown { .. } => Self {
                kind: Kind::Unknown { is_broken: false },
                what: BROKEN,
                source: self.source,
            },
        }
    }
}

const BROKEN: &str = "the connection broke; it isn't known whether it took effect";

impl From<RedisError> for Trouble {
    fn from(e: RedisError) -> Self {
        let (kind, what) = match e.kind() {
            ErrorKind::Server(ServerErrorKind::NoScript) => (
                Kind::NotNow,
                "the server lost its scripts; nothing was written",
            ),
            ErrorKind::Server(_) | ErrorKind::Extension => of_server(&e),
            _ if e.is_connection_refusal() => {
                (Kind::NotNow, "no server answers; nothing was written")
            }
            _ if e.is_timeout() => (
                Kind::Unknown { is_broken: false },
                "no answer in time; it isn't known whether it took effect",
            ),
            // A broken answer leaves a connection that is of no more use.
            ErrorKind::Io | ErrorKind::Parse | ErrorKind::ClusterConnectionNotFound => {
                (Kind::Unknown { is_broken: true }, BROKEN)
            }
            ErrorKind::AuthenticationFailed => (
                Kind::Refused,
                "the server lets nobody in with these credentials; nothing was written",
            ),
            _ => (Kind::Broken, "the server could not be asked"),
        };
        Self {
            kind,
            what,
            source: Some(e),
        }
    }
}

/// An error that the server told.
fn of_server(e: &RedisError) -> (Kind, &'static str) {
    let code = e.code().unwrap_or_default();
    let kinds = |code| {
        REFUSALS
            .iter()
            .find(|(refusal, ..)| *refusal == code)
            .map(|(_, kind, what)| (*kind, *what))
    };
    let text = e.detail().unwrap_or_default();
    if code == "ERR" && text.starts_with(LONG_OF_NOBODY) {
        return (Kind::Refused, ACCESS);
    }
    let known = kinds(code).or_else(|| {
        // Older servers tell the error of a command in a script within a text.
        let words = text.split_whitespace();
        words
            .filter_map(|word| word.strip_prefix('-'))
            .find_map(kinds)
    });
    known.unwrap_or((Kind::Broken, "the server refused a script"))
}

/// What a server that wants a password tells of a command that is longer than one that gives it. It
/// doesn't read the command, and closes the connection.
const LONG_OF_NOBODY: &str = "Protocol error: unauthenticated ";

const ACCESS: &str = "the server doesn't let this connection do it; nothing was written";

/// What a server tells instead of running a script, or at a script's first write. Nothing was
/// written then: a script that has written something is no longer refused for any of these.
const REFUSALS: [(&str, Kind, &str); 15] = {
    use Kind::{NotNow, Refused};
    const FAILOVER: &str = "the server is a replica, or was made one; nothing was written";
    const CLUSTER: &str = "the cluster has no node for this just now; nothing was written";
    const NODE: &str = "the server is a node of a cluster, which the connection doesn't know; \
                        nothing was written";
    [
        (
            "BUSY",
            NotNow,
            "a script of somebody's keeps the server busy; nothing was written",
        ),
        (
            "LOADING",
            NotNow,
            "the server is reading its data; nothing was written",
        ),
        ("READONLY", NotNow, FAILOVER),
        ("MASTERDOWN", NotNow, FAILOVER),
        (
            "NOREPLICAS",
            NotNow,
            "the server has too few replicas to write; nothing was written",
        ),
        ("CLUSTERDOWN", NotNow, CLUSTER),
        ("TRYAGAIN", NotNow, CLUSTER),
        ("MOVED", Refused, NODE),
        ("ASK", Refused, NODE),
        ("CROSSSLOT", Refused, NODE),
        (
            "OOM",
            Refused,
            "the server has no memory left (`maxmemory`); nothing was written",
        ),
        (
            "MISCONF",
            Refused,
            "the server can't keep its data on disk; nothing was written",
        ),
        ("NOAUTH", Refused, ACCESS),
        ("WRONGPASS", Refused, ACCESS),
        ("NOPERM", Refused, ACCESS),
    ]
};

impl From<Trouble> for StoreError {
    fn from(trouble: Trouble) -> Self {
        match trouble.kind {
            Kind::NotNow => Self::busy(trouble),
            Kind::Refused | Kind::Unknown { .. } | Kind::Broken => Self::other(trouble),
        }
    }
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.what)?;
        match &self.source {
            Some(source) => write!(f, ": {source}"),
            None => Ok(()),
        }
    }
}

impl error::Error for Trouble {
    fn source(&self) -> Option<&(dyn error::Error + 'static)> {
        self.source.as_ref().and_then(error::Error::source)
    }
}

#[cfg(test)]
mod tests {
    use kindgi_core::StoreErrorKind::{Busy, Other};
    use redis::parse_redis_value;

    use super::*;

    fn told(line: &str) -> Trouble {
        let reply = parse_redis_value(format!("-{line}\r\n").as_bytes()).unwrap();
        reply.extract_error().unwrap_err().into()
    }

    #[test]
    fn what_a_server_tells_says_what_to_do() {
        for (line, kind, what) in [
            ("BUSY Redis is busy running a script.", Busy, "busy"),
            (
                "LOADING Redis is loading the dataset in memory",
                Busy,
                "reading",
            ),
            (
                "READONLY You can't write against a read only replica.",
                Busy,
                "replica",
            ),
            ("MASTERDOWN Link with MASTER is down", Busy, "replica"),
            (
                "NOREPLICAS Not enough good replicas to write.",
                Busy,
                "too few replicas",
            ),
            ("CLUSTERDOWN The cluster is down", Busy, "cluster"),
            (
                "TRYAGAIN Multiple keys request during rehashing of slot",
                Busy,
                "cluster",
            ),
            ("MOVED 866 127.0.0.1:7002", Other, "node of a cluster"),
            (
                "CROSSSLOT Keys in request don't hash to the same slot",
                Other,
                "cluster",
            ),
            (
                "OOM command not allowed when used memory > 'maxmemory'.",
                Other,
                "memory",
            ),
            (
                "MISCONF Redis is configured to save RDB snapshots",
                Other,
                "disk",
            ),
            ("NOAUTH Authentication required.", Other, "connection"),
            (
                "ERR Protocol error: unauthenticated multibulk length",
                Other,
                "connection",
            ),
            (
                "ERR Protocol error: unauthenticated bulk length",
                Other,
                "connection",
            ),
            ("NOPERM this user has no permissions", Other, "connection"),
            // Within the text of an older server's.
            (
                "ERR Error running script (call to f_0): @user_script:1: @user_script: 1: -OOM \
                 command not allowed when used memory > 'maxmemory'.",
                Other,
                "memory",
            ),
            (
                "ERR Error running script (call to f_0): @user_script:1: -READONLY You can't \
                 write against a read only replica.",
                Busy,
                "replica",
            ),
        ] {
            let trouble = told(line);
            let said = trouble.to_string();
            assert!(!trouble.is_broken_link(), "{line}");
            assert!(
                said.contains(what) && said.contains("nothing was written"),
                "{said}"
            );
            assert_eq!(StoreError::from(trouble).kind(), kind, "{line}");
            // Of a second try it tells nothing of the first.
            let after = told(line).after_broken_link();
            assert!(after.to_string().contains("it isn't known"), "{after}");
            assert_eq!(StoreError::from(after).kind(), Other, "{line}");
        }
    }

    #[test]
    fn what_nobody_foresaw_is_not_said_to_be_harmless() {
        for line in [
            "ERR something",
            "ERR Protocol error: invalid bulk length",
            "WEIRD something -UNKNOWN",
            "ERR @script: 1: -ERR x",
        ] {
            let trouble = told(line);
            assert!(
                !trouble.to_string().contains("nothing was written"),
                "{trouble}"
            );
            assert!(!trouble.is_broken_link());
            assert_eq!(StoreError::from(trouble).kind(), Other);
        }
    }
}
