//! The laws on what is in memory.

use std::{num::NonZeroU32, sync::Arc};

use kindgi_core::conformance::archive::House;
use kindgi_mutants::{LocalRateLimiter, MemoryIdempotency, MemoryStore};
use kindgi_mutants_suite::{Made, all_hold};

fn main() {
    all_hold(Made {
        house: || House::of(MemoryStore::new()),
        keys: |clock| Arc::new(MemoryIdempotency::with_clock(clock)),
        limiter: |[per_second, burst, callers], clock| {
            let times = |n| NonZeroU32::new(n).unwrap();
            let limiter = LocalRateLimiter::per_second(times(per_second));
            let limiter = limiter.burst(times(burst)).max_callers(callers as usize);
            Arc::new(limiter.clock(clock))
        },
    });
}
