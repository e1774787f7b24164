//! What no law can ask of every store of keys, and the one in memory promises.
#![allow(clippy::unwrap_used)]

use std::{num::NonZeroU16, sync::Arc, time::Duration};

use kindgi_core::{
    ManualClock,
    idempotency::{Begun, Claim, IdempotencyStore, MemoryIdempotency, Token},
    store::OperationId,
};

/// A purge removes what ended, so much at most, and says how much; what hasn't ended stays.
#[tokio::test]
async fn a_purge_counts_what_it_removes() {
    let clock = Arc::new(ManualClock::default());
    let keys = MemoryIdempotency::with_clock(Arc::clone(&clock));
    let tenant = "acme".parse().unwrap();
    for number in 0..6 {
        let seconds = if number == 5 { 60 } else { 1 };
        let claim = Claim {
            tenant: &tenant,
            key: &OperationId([number; 32]),
            body: &[0; 32],
            token: &Token::random(),
            hold: Duration::from_secs(seconds),
        };
        assert!(matches!(keys.begin(claim).await.unwrap(), Begun::Run));
    }
    let two = NonZeroU16::new(2).unwrap();
    assert_eq!(keys.purge(two).await.unwrap(), 0);
    clock.advance_millis(1_000);
    let mut removed = Vec::new();
    for _ in 0..4 {
        removed.push(keys.purge(two).await.unwrap());
    }
    assert_eq!(removed, [2, 2, 1, 0]);
}
