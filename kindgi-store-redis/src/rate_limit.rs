//! A rate limit that all nodes share. Each request of a caller is one script, and so one round trip.

use std::{fmt, num::NonZeroU32, time::Duration};

use async_trait::async_trait;
use kindgi_core::{
    Clock,
    idempotency::Token,
    model::Principal,
    rate_limit::{RateDecision, RateLimiter},
    store::StoreResult,
};
use redis::Value;

use crate::{
    clock::StoreClock,
    error::Trouble,
    keys,
    script::{Connection, LazyScript, Script},
};

static COUNT: LazyScript = LazyScript::new(|| Script::new(include_str!("lua/rate_limit.lua")));

/// A rate limiter on Redis: a burst, then so many requests a second, for each caller, on all nodes
/// together that use the same server, [prefix](Self::prefix) and rate.
///
/// It is exact to the microsecond, by the server's clock. While that goes back, whoever has
/// requested something waits for it to come up again. Callers who have their whole burst again are
/// forgotten, by Redis itself.
///
/// Nodes with different rates, as while a new one is brought out, count for themselves; those with
/// different bursts count together.
#[derive(Clone)]
pub struct RedisRateLimiter<C> {
    connection: C,
    requests: NonZeroU32,
    burst: NonZeroU32,
    names: String,
    clock: StoreClock,
}

impl<C: Connection> RedisRateLimiter<C> {
    /// So many requests a second, and as many at once, by this connection, which isn't used before a
    /// request comes.
    pub fn per_second(connection: C, requests: NonZeroU32) -> Self {
        Self {
            connection,
            requests,
            burst: requests,
            names: keys::of_limit(keys::PREFIX, requests.get()),
            clock: StoreClock::default(),
        }
    }

    /// How many requests may come at once, after a time without any.
    #[must_use]
    pub fn burst(self, requests: NonZeroU32) -> Self {
        Self {
            burst: requests,
            ..self
        }
    }

    /// What the names of all that is stored begin with: `kindgi`, unless said. What is not a letter
    /// or digit of ASCII, nor one of `-_.:`, is written as `%` and two digits for each of its bytes.
    #[must_use]
    pub fn prefix(self, prefix: &str) -> Self {
        Self {
            names: keys::of_limit(prefix, self.requests.get()),
            ..self
        }
    }

    /// For tests: goes by this clock, and not by the server's; then nobody is forgotten.
    #[doc(hidden)]
    #[must_use]
    pub fn clock(self, clock: impl Clock) -> Self {
        Self {
            clock: StoreClock::given(clock),
            ..self
        }
    }
}

#[async_trait]
impl<C: Connection> RateLimiter for RedisRateLimiter<C> {
    async fn check(&self, who: &Principal) -> StoreResult<RateDecision> {
        let [seconds, micros] = self.clock.micros();
        let (rate, burst) = (self.requests.to_string(), self.burst.to_string());
        let arguments: [&[u8]; 5] = [
            seconds.as_bytes(),
            micros.as_bytes(),
            rate.as_bytes(),
            burst.as_bytes(),
            &Token::random().0,
        ];
        let name = keys::caller(&self.names, who);
        match COUNT.run(&self.connection, &[&name], &arguments).await? {
            Value::Int(0) => Ok(RateDecision::Allowed),
            Value::Int(micros) => {
                let micros = micros.try_into().map_err(|_| Trouble::corrupt())?;
                let retry_after = Duration::from_micros(micros);
                Ok(RateDecision::Limited { retry_after })
            }
            _ => Err(Trouble::corrupt().into()),
        }
    }
}

impl<C> fmt::Debug for RedisRateLimiter<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RedisRateLimiter")
            .field("names", &self.names)
            .field("per_second", &self.requests)
            .field("burst", &self.burst)
            .finish_non_exhaustive()
    }
}
