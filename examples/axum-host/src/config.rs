//! What the environment says: a few variables, each checked, each with a default.
//!
//! A real host has a configuration of its own; nothing of the API asks for one.

use std::{env, fmt, num::NonZeroU32, str::FromStr};

use kindgi_store_redis::redis::IntoConnectionInfo as _;

/// The most runs that are made at the start: about 3 GB of them.
const MAX_RUNS: u32 = 1_000_000;
/// The most requests that a rate limit may speak of.
const MAX_RATE: NonZeroU32 = match NonZeroU32::new(1_000_000) {
    Some(max) => max,
    None => NonZeroU32::MAX,
};

/// How the demo host is started.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Config {
    /// `PORT`: where to listen on 127.0.0.1; 0 is any free port. 8080 unless set.
    pub port: u16,
    /// `DATABASE_URL`: where judgments are stored. `sqlite:kindgi-demo.db`, a file in the working
    /// directory, unless set.
    pub database: Database,
    /// `REDIS_URL`: where idempotency keys and the rate limit are, wherever judgments are. Beside
    /// the judgments and in memory unless set.
    pub redis: Option<String>,
    /// `RATE_LIMIT`, `RATE_BURST`: how many requests to the API each caller may make. As many as
    /// they like unless set.
    pub rate_limit: Option<RateLimit>,
    /// `MOUNT`: the path that the API is mounted at, such as `/kindgi`; at the root unless set.
    pub mount: Option<String>,
    /// `RUNS`: how many runs there are at the start, besides the special ones. 1000 unless set.
    pub runs: u32,
    /// `SEED_QUEUE`: how many of those runs are put into the judging queue at the start, by a rule
    /// that wants a class of its own. 0 unless set: then there is no such rule.
    pub seed_queue: u32,
}

/// Where judgments are stored.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Database {
    /// In memory: gone when the process ends.
    Memory,
    /// A database by its URL, `sqlite:…` or `postgres:…`.
    Sql(String),
}

/// How many requests each caller may make.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateLimit {
    /// `RATE_LIMIT`: a second, again and again.
    pub per_second: NonZeroU32,
    /// `RATE_BURST`: at once, after a time without any. As many as in a second unless set.
    pub burst: NonZeroU32,
}

/// A SQLite file in the working directory.
impl Default for Database {
    fn default() -> Self {
        Self::Sql("sqlite:kindgi-demo.db".to_owned())
    }
}

impl Default for Config {
    fn default() -> Self {
        Self {
            port: 8080,
            database: Database::default(),
            redis: None,
            rate_limit: None,
            mount: None,
            runs: 1000,
            seed_queue: 0,
        }
    }
}

impl Config {
    /// Reads the process's environment.
    ///
    /// # Errors
    ///
    /// [`InvalidConfig`] names the first variable that has no valid value.
    pub fn from_env() -> Result<Self, InvalidConfig> {
        let defaults = Self::default();
        Ok(Self {
            port: number("PORT", defaults.port, u16::MAX)?,
            database: match read("DATABASE_URL")? {
                Some(url) => database(&url)?,
                None => defaults.database,
            },
            redis: read("REDIS_URL")?.map(redis).transpose()?,
            rate_limit: rate_limit()?,
            mount: match read("MOUNT")? {
                Some(path) if !path.is_empty() => Some(mount(path)?),
                _ => defaults.mount,
            },
            runs: number("RUNS", defaults.runs, MAX_RUNS)?,
            seed_queue: number("SEED_QUEUE", defaults.seed_queue, MAX_RUNS)?,
        })
    }
}

/// A variable of the environment without a valid value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidConfig {
    variable: &'static str,
    message: String,
}

impl InvalidConfig {
    fn new(variable: &'static str, message: impl Into<String>) -> Self {
        let message = message.into();
        Self { variable, message }
    }

    /// Which variable.
    pub fn variable(&self) -> &'static str {
        self.variable
    }
}

impl fmt::Display for InvalidConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.variable, self.message)
    }
}

impl std::error::Error for InvalidConfig {}

fn read(variable: &'static str) -> Result<Option<String>, InvalidConfig> {
    match env::var(variable) {
        Ok(value) => Ok(Some(value)),
        Err(env::VarError::NotPresent) => Ok(None),
        Err(env::VarError::NotUnicode(_)) => {
            Err(InvalidConfig::new(variable, "is not valid Unicode"))
        }
    }
}

fn number<N>(variable: &'static str, default: N, max: N) -> Result<N, InvalidConfig>
where
    N: FromStr + PartialOrd + fmt::Display,
{
    let number = number_if_set(variable, 0, max)?;
    Ok(number.unwrap_or(default))
}

/// A number, which the type keeps from being less than `min`.
fn number_if_set<N>(variable: &'static str, min: u8, max: N) -> Result<Option<N>, InvalidConfig>
where
    N: FromStr + PartialOrd + fmt::Display,
{
    let Some(text) = read(variable)? else {
        return Ok(None);
    };
    match text.parse() {
        Ok(number) if number <= max => Ok(Some(number)),
        _ => Err(InvalidConfig::new(
            variable,
            format!("{text:?} is not a whole number from {min} to {max}"),
        )),
    }
}

fn rate_limit() -> Result<Option<RateLimit>, InvalidConfig> {
    let per_second = number_if_set("RATE_LIMIT", 1, MAX_RATE)?;
    let burst = number_if_set("RATE_BURST", 1, MAX_RATE)?;
    match (per_second, burst) {
        (Some(per_second), burst) => Ok(Some(RateLimit {
            per_second,
            burst: burst.unwrap_or(per_second),
        })),
        (None, Some(_)) => Err(InvalidConfig::new(
            "RATE_BURST",
            "needs a `RATE_LIMIT`, too",
        )),
        (None, None) => Ok(None),
    }
}

/// What redis's client takes for a URL, without TLS. It may hold a password, so nothing of it is
/// repeated.
fn redis(url: String) -> Result<String, InvalidConfig> {
    if url.starts_with("redis://") && url.as_str().into_connection_info().is_ok() {
        return Ok(url);
    }
    let message = "is no URL of a Redis server; supported: `redis://HOST`, also with `USER:PASSWORD@` \
                   before, and `:PORT` and the number of a database, `/0`, behind it";
    Err(InvalidConfig::new("REDIS_URL", message))
}

pub(crate) fn database(url: &str) -> Result<Database, InvalidConfig> {
    // A database's URL may hold a password, so only its scheme is repeated.
    match url.split_once(':') {
        Some(("memory", "")) => Ok(Database::Memory),
        Some(("sqlite" | "postgres" | "postgresql", rest)) if !rest.is_empty() => {
            Ok(Database::Sql(url.to_owned()))
        }
        other => {
            let scheme = other.map_or("it", |(scheme, _)| scheme);
            let message = format!(
                "{scheme:?} is not supported; supported: `memory:`, `sqlite:FILE`, `postgres:URL`"
            );
            Err(InvalidConfig::new("DATABASE_URL", message))
        }
    }
}

/// A path that `nest_service` takes, and that none of the host's own routes has.
fn mount(path: String) -> Result<String, InvalidConfig> {
    let refuse = |message: &str| {
        let message = format!("{path:?} {message}");
        Err(InvalidConfig::new("MOUNT", message))
    };
    let Some(rest) = path.strip_prefix('/') else {
        return refuse("must begin with `/`, such as `/kindgi`");
    };
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_' | '~');
    if rest
        .split('/')
        .any(|segment| segment.is_empty() || !segment.chars().all(plain))
    {
        return refuse(
            "must be segments of letters, digits and `-._~`, without a `/` at its end; \
             unset it to mount at the root",
        );
    }
    if matches!(rest.split('/').next(), Some("health" | "demo")) {
        return refuse("is where the host's own routes are");
    }
    Ok(path)
}
