//! What writes exclude each other from.

/// What a write must be alone with, from before its first look to its commit.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Lock {
    /// The schema.
    Schema,
    /// All that is kept of one tenant, but for idempotency keys.
    Tenant(String),
    /// The same of all tenants.
    Tenants,
    /// One idempotency key.
    Key(String),
    /// All idempotency keys.
    Keys,
}

/// How a name is locked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hold {
    /// With others of this kind.
    Shared,
    /// Alone.
    Alone,
}

impl Lock {
    /// The names to lock, in this order: every write takes the wider one first, so that none waits
    /// in a circle.
    pub(crate) fn names(&self) -> Vec<(String, Hold)> {
        let name = |name: &str, hold| (name.to_owned(), hold);
        match self {
            Self::Schema => vec![name("schema", Hold::Alone)],
            Self::Tenants => vec![name("tenants", Hold::Alone)],
            Self::Tenant(tenant) => vec![
                name("tenants", Hold::Shared),
                (format!("tenant {tenant}"), Hold::Alone),
            ],
            Self::Keys => vec![name("keys", Hold::Alone)],
            Self::Key(key) => vec![
                name("keys", Hold::Shared),
                (format!("key {key}"), Hold::Alone),
            ],
        }
    }
}
