//! The backends in memory, to be mutated: their files see here what they see in `kindgi-core`.

#![allow(dead_code, unused_imports)]

mod error {
    pub(crate) use kindgi_core::StoreError;
}

mod idempotency {
    pub(crate) use kindgi_core::idempotency::*;

    pub(crate) mod memory;
}

mod memory;
mod rate_limit;

mod store {
    pub(crate) use kindgi_core::store::*;

    pub(crate) mod archive {
        pub(crate) use kindgi_core::store::archive::*;

        pub(crate) fn hex(bytes: &[u8]) -> String {
            bytes.iter().map(|byte| format!("{byte:02x}")).collect()
        }

        pub(crate) fn unhex(text: &str) -> Option<[u8; 32]> {
            let byte = |at: usize| u8::from_str_radix(text.get(2 * at..2 * at + 2)?, 16).ok();
            let bytes: Option<Vec<u8>> = (0..32).map(byte).collect();
            bytes.filter(|_| text.len() == 64)?.try_into().ok()
        }
    }
}

pub(crate) use kindgi_core::{BoxError, Clock, SystemClock, Timestamp, clock, json, model, rules};

pub use crate::{
    idempotency::memory::MemoryIdempotency, memory::MemoryStore, rate_limit::LocalRateLimiter,
};

use kindgi_core::{model::Principal, rate_limit as core};

#[async_trait::async_trait]
impl core::RateLimiter for LocalRateLimiter {
    async fn check(&self, who: &Principal) -> store::StoreResult<core::RateDecision> {
        use rate_limit::{RateDecision, RateLimiter};
        Ok(match RateLimiter::check(self, who).await? {
            RateDecision::Allowed => core::RateDecision::Allowed,
            RateDecision::Limited { retry_after } => core::RateDecision::Limited { retry_after },
        })
    }
}
