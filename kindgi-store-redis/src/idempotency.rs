//! Idempotency keys. Each step is one script, and so one round trip.

use std::{fmt, num::NonZeroU16, sync::Arc, time::Duration};

use async_trait::async_trait;
use kindgi_core::{
    Clock, Timestamp,
    idempotency::{About, Begun, Claim, Completed, IdempotencyStore, Outcome, Token},
    model::TenantId,
    store::{OperationId, StoreResult},
};
use redis::Value;

use crate::{
    clock::StoreClock,
    codec,
    error::Trouble,
    keys,
    script::{Connection, LazyScript, Script},
};

/// The scripts, each with what all share before it.
macro_rules! step {
    ($name:literal) => {
        LazyScript::new(|| {
            Script::new(concat!(
                include_str!("lua/keys.lua"),
                include_str!(concat!("lua/", $name, ".lua"))
            ))
        })
    };
}

static BEGIN: LazyScript = step!("begin");
static RENEW: LazyScript = step!("renew");
static COMPLETE: LazyScript = step!("complete");
static RELEASE: LazyScript = step!("release");
static FORGET: LazyScript = step!("forget");
static PURGE: LazyScript = step!("purge");

/// How many records a script of a purge drops at most, so that it doesn't keep the server from
/// others for long.
const PURGED_AT_ONCE: u16 = 200;

/// The most milliseconds that a script is told, which is beyond the last instant there is.
const FOR_EVER: u128 = 1 << 50;

/// Idempotency keys on Redis, shared by all that use the same server and [prefix](Self::prefix).
/// Clones share them, too.
#[derive(Clone)]
pub struct RedisIdempotencyStore<C> {
    connection: C,
    names: Arc<[String; 3]>,
    clock: StoreClock,
}

impl<C: Connection> RedisIdempotencyStore<C> {
    /// Keys by this connection, which isn't used before they are.
    pub fn new(connection: C) -> Self {
        Self {
            connection,
            names: Arc::new(keys::of_keys(keys::PREFIX)),
            clock: StoreClock::default(),
        }
    }

    /// What the names of all that is stored begin with: `kindgi`, unless said. Stores with different
    /// prefixes have nothing to do with each other. What is not a letter or digit of ASCII, nor one
    /// of `-_.:`, is written as `%` and two digits for each of its bytes.
    #[must_use]
    pub fn prefix(self, prefix: &str) -> Self {
        Self {
            names: Arc::new(keys::of_keys(prefix)),
            ..self
        }
    }

    /// For tests: goes by this clock, and not by the server's.
    #[doc(hidden)]
    #[must_use]
    pub fn clock(self, clock: impl Clock) -> Self {
        Self {
            clock: StoreClock::given(clock),
            ..self
        }
    }

    async fn run(&self, script: &Script, arguments: &[&[u8]]) -> Result<Value, Trouble> {
        let now = self.clock.millis();
        let mut all = vec![now.as_bytes()];
        all.extend_from_slice(arguments);
        let [records, ends, index] = &*self.names;
        let keys = [&**records, &**ends, &**index];
        script.run(&self.connection, &keys, &all).await
    }
}

#[async_trait]
impl<C: Connection> IdempotencyStore for RedisIdempotencyStore<C> {
    async fn begin(&self, claim: Claim<'_>) -> StoreResult<Begun> {
        let (tenant, hold) = (keys::tenant(claim.tenant), millis(claim.hold));
        let arguments: [&[u8]; 5] = [
            &claim.key.0,
            &tenant,
            claim.body,
            &claim.token.0,
            hold.as_bytes(),
        ];
        let begun = self.run(&BEGIN, &arguments).await?;
        Ok(begun_of(begun).ok_or_else(Trouble::corrupt)?)
    }

    async fn renew(&self, key: &OperationId, token: &Token, hold: Duration) -> StoreResult<bool> {
        let hold = millis(hold);
        let arguments: [&[u8]; 3] = [&key.0, &token.0, hold.as_bytes()];
        Ok(yes_or_no(&self.run(&RENEW, &arguments).await?)?)
    }

    async fn complete(
        &self,
        key: &OperationId,
        token: &Token,
        outcome: &Outcome,
        about: &[About],
        keep: Duration,
    ) -> StoreResult<Completed> {
        let (step, keep, answer) = (Token::random(), millis(keep), codec::write(outcome));
        let mut arguments: Vec<&[u8]> = vec![&key.0, &token.0, &step.0, keep.as_bytes(), &answer];
        let mut things: Vec<keys::Short> = about.iter().map(keys::thing).collect();
        things.sort_unstable();
        things.dedup();
        arguments.extend(things.iter().map(|thing| &thing[..]));
        match self.run(&COMPLETE, &arguments).await? {
            Value::BulkString(text) if text == b"kept" => Ok(Completed::Kept),
            Value::BulkString(text) if text == b"forgotten" => Ok(Completed::Forgotten),
            Value::BulkString(text) if text == b"lost" => Ok(Completed::NotHeld),
            _ => Err(Trouble::corrupt().into()),
        }
    }

    async fn release(&self, key: &OperationId, token: &Token) -> StoreResult<bool> {
        let step = Token::random();
        let arguments: [&[u8]; 3] = [&key.0, &token.0, &step.0];
        Ok(yes_or_no(&self.run(&RELEASE, &arguments).await?)?)
    }

    async fn forget(&self, tenant: &TenantId, about: &About) -> StoreResult<()> {
        let (tenant, thing) = (keys::tenant(tenant), keys::thing(about));
        self.run(&FORGET, &[&tenant, &thing]).await?;
        Ok(())
    }

    /// Drops them a few at a time, each few in one step, so that other steps come between.
    async fn purge(&self, limit: NonZeroU16) -> StoreResult<u64> {
        let (mut left, mut purged) = (limit.get(), 0);
        while left > 0 {
            let at_once = left.min(PURGED_AT_ONCE);
            let answer = self.run(&PURGE, &[at_once.to_string().as_bytes()]).await?;
            let Value::Int(dropped) = answer else {
                return Err(Trouble::corrupt().into());
            };
            let dropped = u16::try_from(dropped).map_err(|_| Trouble::corrupt())?;
            purged += u64::from(dropped);
            left = left.saturating_sub(dropped);
            if dropped < at_once {
                break;
            }
        }
        Ok(purged)
    }
}

fn millis(duration: Duration) -> String {
    duration.as_millis().min(FOR_EVER).to_string()
}

fn yes_or_no(answer: &Value) -> Result<bool, Trouble> {
    match answer {
        Value::Int(0) => Ok(false),
        Value::Int(1) => Ok(true),
        _ => Err(Trouble::corrupt()),
    }
}

/// What the script of a claim answered.
fn begun_of(answer: Value) -> Option<Begun> {
    let Value::Array(answer) = answer else {
        return None;
    };
    let mut parts = answer.into_iter();
    let Some(Value::BulkString(what)) = parts.next() else {
        return None;
    };
    match (&*what, parts.next(), parts.next()) {
        (b"run", None, None) => Some(Begun::Run),
        (b"other", None, None) => Some(Begun::OtherBody),
        (b"held", Some(Value::Int(left)), None) => Some(Begun::InFlight {
            retry_after: Duration::from_millis(left.try_into().ok()?),
        }),
        (b"kept", Some(Value::Int(at)), Some(Value::BulkString(answer))) => {
            Some(match codec::read(answer.into())? {
                Outcome::Answer(answer) => Begun::Replay(answer),
                Outcome::Withheld { status } => Begun::Withheld {
                    status,
                    at: Timestamp::from_unix_millis(at)?,
                },
            })
        }
        _ => None,
    }
}

impl<C> fmt::Debug for RedisIdempotencyStore<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RedisIdempotencyStore")
            .field("names", &self.names)
            .finish_non_exhaustive()
    }
}
