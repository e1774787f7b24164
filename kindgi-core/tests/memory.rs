//! What is in memory keeps every law of every suite. This target is the suites and nothing else:
//! `scripts/mutants` counts what they notice by themselves.
#![allow(clippy::unwrap_used)]

mod stores {
    use std::sync::Arc;

    use kindgi_core::{
        BoxError, MemoryStore,
        conformance::{self, Backend},
        store::Store,
    };

    struct Memory;

    impl Backend for Memory {
        type Guard = ();

        async fn build(&self) -> Result<((), Arc<dyn Store>), BoxError> {
            Ok(((), Arc::new(MemoryStore::new())))
        }

        async fn reopen(
            &self,
            _: &mut (),
            store: Arc<dyn Store>,
        ) -> Result<Arc<dyn Store>, BoxError> {
            Ok(store)
        }
    }

    conformance::laws!(Memory);
}

mod keys {
    use std::sync::Arc;

    use kindgi_core::{
        BoxError, ManualClock,
        conformance::{self, idempotency::KeyBackend},
        idempotency::{IdempotencyStore, MemoryIdempotency},
    };

    struct Memory;

    impl KeyBackend for Memory {
        type Guard = ();

        async fn build(
            &self,
            clock: Arc<ManualClock>,
        ) -> Result<((), Arc<dyn IdempotencyStore>), BoxError> {
            Ok(((), Arc::new(MemoryIdempotency::with_clock(clock))))
        }
    }

    conformance::idempotency::laws!(Memory);
}

mod archives {
    use kindgi_core::{
        BoxError, MemoryStore,
        conformance::{
            self,
            archive::{ArchiveBackend, House},
        },
    };

    struct Memory;

    impl ArchiveBackend for Memory {
        type Guard = ();

        async fn build(&self) -> Result<((), House), BoxError> {
            Ok(((), House::of(MemoryStore::new())))
        }
    }

    conformance::archive::laws!(Memory);
}

mod limiters {
    use std::{num::NonZeroU32, sync::Arc, time::Duration};

    use kindgi_core::{
        BoxError, ManualClock,
        conformance::{
            self,
            rate_limit::{Limit, LimitBackend},
        },
        rate_limit::{LocalRateLimiter, RateLimiter},
    };

    /// So many a second, a burst, and how many callers are remembered.
    struct Local {
        per_second: u32,
        burst: u32,
        callers: usize,
    }

    fn times(n: u32) -> NonZeroU32 {
        NonZeroU32::new(n).unwrap()
    }

    impl LimitBackend for Local {
        type Guard = ();

        async fn build(
            &self,
            clock: Arc<ManualClock>,
        ) -> Result<((), Arc<dyn RateLimiter>), BoxError> {
            let limiter = LocalRateLimiter::per_second(times(self.per_second))
                .burst(times(self.burst))
                .max_callers(self.callers);
            Ok(((), Arc::new(limiter.clock(clock))))
        }

        fn limit(&self) -> Limit {
            let limit = Limit::new(times(self.per_second), Duration::from_secs(1));
            limit.burst(times(self.burst))
        }

        fn callers(&self) -> usize {
            self.callers
        }
    }

    conformance::rate_limit::laws!(Local {
        per_second: 3,
        burst: 5,
        callers: 100,
    });

    mod one_at_a_time {
        use super::{Local, conformance};

        conformance::rate_limit::laws!(Local {
            per_second: 1,
            burst: 1,
            callers: 64,
        });
    }

    mod many_a_millisecond {
        use super::{Local, conformance};

        conformance::rate_limit::laws!(Local {
            per_second: 7_000,
            burst: 40,
            callers: 1_000,
        });
    }
}
