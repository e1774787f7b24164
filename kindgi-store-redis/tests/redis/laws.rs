//! Every law of idempotency keys and of rate limits, on one server and on a cluster.

use std::{num::NonZeroU32, sync::Arc, time::Duration};

use kindgi_core::{
    BoxError, ManualClock,
    conformance::{
        idempotency::KeyBackend,
        rate_limit::{Limit, LimitBackend},
    },
    idempotency::IdempotencyStore,
    rate_limit::RateLimiter,
};
use kindgi_store_redis::{Connection, RedisIdempotencyStore, RedisRateLimiter};

use super::support::{self, prefix};

fn keys<C: Connection>(connection: C, clock: Arc<ManualClock>) -> Arc<dyn IdempotencyStore> {
    let store = RedisIdempotencyStore::new(connection);
    Arc::new(store.prefix(&prefix()).clock(clock))
}

/// So many requests a second, and so many at once.
struct Rate(u32, u32);

impl Rate {
    fn both(&self) -> [NonZeroU32; 2] {
        [self.0, self.1].map(|number| NonZeroU32::new(number).unwrap())
    }

    fn limiter<C: Connection>(
        &self,
        connection: C,
        clock: Arc<ManualClock>,
    ) -> Arc<dyn RateLimiter> {
        let [requests, burst] = self.both();
        let limiter = RedisRateLimiter::per_second(connection, requests).burst(burst);
        Arc::new(limiter.prefix(&prefix()).clock(clock))
    }

    fn limit(&self) -> Limit {
        let [requests, burst] = self.both();
        Limit::new(requests, Duration::from_secs(1)).burst(burst)
    }
}

macro_rules! laws {
    ($name:ident, $connection:path) => {
        mod $name {
            use kindgi_core::conformance;

            use super::*;

            struct Keys;

            impl KeyBackend for Keys {
                type Guard = ();

                async fn build(
                    &self,
                    clock: Arc<ManualClock>,
                ) -> Result<((), Arc<dyn IdempotencyStore>), BoxError> {
                    Ok(((), keys($connection().await?, clock)))
                }
            }

            struct Limited(Rate);

            impl LimitBackend for Limited {
                type Guard = ();

                async fn build(
                    &self,
                    clock: Arc<ManualClock>,
                ) -> Result<((), Arc<dyn RateLimiter>), BoxError> {
                    Ok(((), self.0.limiter($connection().await?, clock)))
                }

                fn limit(&self) -> Limit {
                    self.0.limit()
                }

                fn callers(&self) -> usize {
                    64
                }
            }

            mod keys {
                use super::*;

                conformance::idempotency::laws!(Keys);
            }

            mod ten_a_second {
                use super::*;

                conformance::rate_limit::laws!(Limited(Rate(10, 10)));
            }

            // A request doesn't take a whole number of microseconds.
            mod seven_a_second {
                use super::*;

                conformance::rate_limit::laws!(Limited(Rate(7, 3)));
            }

            mod one_a_second {
                use super::*;

                conformance::rate_limit::laws!(Limited(Rate(1, 20)));
            }

            // A request takes less than a microsecond.
            mod very_many_a_second {
                use super::*;

                conformance::rate_limit::laws!(Limited(Rate(4_000_000_007, 5)));
            }
        }
    };
}

laws!(one_server, support::alone);
laws!(a_cluster, support::cluster);
