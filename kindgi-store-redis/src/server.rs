//! What a host should know of its server before it relies on it.

use std::{collections::BTreeSet, fmt};

use kindgi_core::store::StoreResult;
use redis::{RedisResult, Value};

use crate::{error::Trouble, script::Connection};

/// What a server that is short of memory does.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Eviction {
    /// It refuses to write more (`noeviction`): a request is then answered with an error. So it
    /// should be.
    Never,
    /// It drops what expires by itself (`volatile-…`): callers of the rate limit, who get a burst
    /// anew. Idempotency keys never expire by themselves, and stay.
    Expiring {
        /// Its `maxmemory-policy`.
        policy: String,
    },
    /// It drops anything (`allkeys-…`), idempotency keys included, and all of a store's at once: a
    /// retry finds no answer any more, and what was to be forgotten may not be found. The receipts
    /// of the engine's own operations still keep a second effect away; a host's own routes behind
    /// an `IdempotencyLayer` have none.
    Anything {
        /// Its `maxmemory-policy`.
        policy: String,
    },
    /// It didn't tell.
    Unknown,
}

impl Eviction {
    fn of(policy: &str) -> Self {
        let policy = policy.to_owned();
        match &*policy {
            "noeviction" => Self::Never,
            _ if policy.starts_with("volatile-") => Self::Expiring { policy },
            _ => Self::Anything { policy },
        }
    }

    /// Whether a host should do something about it.
    pub fn is_worrying(&self) -> bool {
        *self != Self::Never
    }
}

/// In a sentence, with what to do.
impl fmt::Display for Eviction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Never => f.write_str("Redis evicts nothing"),
            Self::Expiring { policy } => write!(
                f,
                "Redis's maxmemory-policy is {policy}: when memory is short, callers of the rate \
                 limit are forgotten and get a burst anew; set it to noeviction"
            ),
            Self::Anything { policy } => write!(
                f,
                "Redis's maxmemory-policy is {policy}: when memory is short, idempotency keys are \
                 lost, all at once; set it to noeviction"
            ),
            Self::Unknown => f.write_str(
                "Redis doesn't tell its maxmemory-policy: make sure that it is noeviction, or \
                 idempotency keys may be lost when memory is short",
            ),
        }
    }
}

/// Looks at what the server does when it is short of memory. A host calls it as it starts, and tells
/// its operator of what [is worrying](Eviction::is_worrying); with the feature `tracing`, that is
/// also told as a warning.
///
/// It asks by `INFO memory`, all nodes of a cluster, and where that isn't allowed by `CONFIG GET`,
/// one of them. Of several answers the worst is given.
///
/// # Errors
///
/// Where the server can't be asked at all.
pub async fn eviction<C: Connection>(connection: &C) -> StoreResult<Eviction> {
    let mut policies = asked(connection, &["INFO", "memory"]).await?;
    if policies.is_empty() {
        policies = asked(connection, &["CONFIG", "GET", POLICY]).await?;
    }
    let all: Vec<Eviction> = policies.iter().map(|policy| Eviction::of(policy)).collect();
    let worst = |worst: fn(&Eviction) -> bool| all.iter().find(|eviction| worst(eviction));
    let eviction = worst(|eviction| matches!(eviction, Eviction::Anything { .. }))
        .or_else(|| worst(Eviction::is_worrying))
        .or(all.first());
    let eviction = eviction.cloned().unwrap_or(Eviction::Unknown);
    #[cfg(feature = "tracing")]
    if eviction.is_worrying() {
        tracing::warn!("{eviction}");
    }
    Ok(eviction)
}

const POLICY: &str = "maxmemory-policy";

/// The policies that a command's answer tells; none where the server refuses it.
async fn asked<C: Connection>(connection: &C, parts: &[&str]) -> Result<BTreeSet<String>, Trouble> {
    let mut connection = connection.clone();
    let mut command = redis::Cmd::new();
    command.arg(parts);
    let mut policies = BTreeSet::new();
    let answer: RedisResult<Value> = command.query_async(&mut connection).await;
    match answer.map_err(Trouble::from) {
        Ok(answer) => find(&answer, &mut policies),
        Err(trouble) if trouble.is_refusal() => {}
        Err(trouble) => return Err(trouble),
    }
    Ok(policies)
}

/// Looks through an answer of any shape: a cluster's has one for each node.
fn find(answer: &Value, policies: &mut BTreeSet<String>) {
    match answer {
        Value::Array(all) | Value::Set(all) => {
            for pair in all.windows(2) {
                if let [name, value] = pair {
                    find_pair(name, value, policies);
                }
            }
            all.iter().for_each(|value| find(value, policies));
        }
        Value::Map(all) => {
            for (name, value) in all {
                find_pair(name, value, policies);
                find(value, policies);
            }
        }
        other => {
            let text = text(other);
            let lines = text.lines();
            let told = lines.filter_map(|line| line.strip_prefix("maxmemory_policy:"));
            policies.extend(told.map(|policy| policy.trim().to_owned()));
        }
    }
}

fn find_pair(name: &Value, value: &Value, policies: &mut BTreeSet<String>) {
    if text(name) == POLICY {
        policies.insert(text(value));
    }
}

fn text(value: &Value) -> String {
    match value {
        Value::BulkString(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        Value::SimpleString(text) | Value::VerbatimString { text, .. } => text.clone(),
        _ => String::new(),
    }
}
