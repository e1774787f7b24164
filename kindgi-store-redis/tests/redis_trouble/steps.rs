//! Each step, what it does when nothing is the matter, and whether it did that.

use std::{num::NonZeroU16, sync::Arc, time::Duration};

use kindgi_core::{
    ManualClock,
    idempotency::{IdempotencyStore, Token},
    rate_limit::RateLimiter,
    store::StoreResult,
};
use kindgi_store_redis::{Connection, RedisIdempotencyStore, RedisRateLimiter};

use super::{
    made::{LONG, begin, caller, complete, key, release, run, tenant},
    state::State,
    support::{direct, manager, prefix},
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    Claim,
    Renewal,
    Answer,
    /// An answer about what was forgotten meanwhile.
    ForgottenAnswer,
    Release,
    Erasure,
    Purge,
    Count,
}

impl Step {
    pub(crate) const ALL: [Self; 8] = [
        Self::Claim,
        Self::Renewal,
        Self::Answer,
        Self::ForgottenAnswer,
        Self::Release,
        Self::Erasure,
        Self::Purge,
        Self::Count,
    ];

    /// What it finds.
    async fn prepare<C: Connection>(self, bench: &Bench<C>) {
        let keys = &bench.keys;
        match self {
            Self::Claim | Self::Count => {}
            Self::Renewal | Self::Answer | Self::Release => {
                begin(keys, 1, 1, LONG).await.unwrap();
            }
            Self::ForgottenAnswer => {
                begin(keys, 1, 1, LONG).await.unwrap();
                keys.forget(&tenant(), &run("a")).await.unwrap();
            }
            // One that is kept, and one that may come to be.
            Self::Erasure => {
                begin(keys, 1, 1, LONG).await.unwrap();
                complete(keys, 1, 1, &[run("a"), run("b")]).await.unwrap();
                begin(keys, 2, 1, LONG).await.unwrap();
            }
            Self::Purge => {
                for number in 0..3 {
                    begin(keys, number, 1, Duration::from_secs(1))
                        .await
                        .unwrap();
                }
                begin(keys, 3, 1, LONG).await.unwrap();
            }
        }
    }

    /// Takes it; gives what it answers.
    pub(crate) async fn take<C: Connection>(self, bench: &Bench<C>) -> StoreResult<String> {
        let keys = &bench.keys;
        let token = Token([1; 16]);
        Ok(match self {
            Self::Claim => format!("{:?}", begin(keys, 1, 1, LONG).await?),
            Self::Renewal => keys.renew(&key(1), &token, 2 * LONG).await?.to_string(),
            Self::Answer | Self::ForgottenAnswer => {
                format!("{:?}", complete(keys, 1, 1, &[run("a")]).await?)
            }
            Self::Release => release(keys, 1, 1).await?.to_string(),
            Self::Erasure => format!("{:?}", keys.forget(&tenant(), &run("a")).await?),
            Self::Purge => keys.purge(NonZeroU16::MAX).await?.to_string(),
            Self::Count => format!("{:?}", bench.limiter.check(&caller("a")).await?),
        })
    }

    /// What it answers when it is taken for the first time.
    pub(crate) fn answer(self) -> &'static str {
        match self {
            Self::Claim => "Run",
            Self::Renewal | Self::Release => "true",
            Self::Answer => "Kept",
            Self::ForgottenAnswer => "Forgotten",
            Self::Erasure => "()",
            Self::Purge => "3",
            Self::Count => "Allowed",
        }
    }

    /// What the store's own second try answers when the first was taken.
    pub(crate) fn answer_again(self) -> &'static str {
        match self {
            // Those of the first aren't counted any more.
            Self::Purge => "0",
            other => other.answer(),
        }
    }

    /// What a caller is answered who, not knowing, calls again after it was taken.
    pub(crate) fn answer_to_another_call(self) -> &'static str {
        match self {
            Self::Answer | Self::ForgottenAnswer => "NotHeld",
            Self::Release => "false",
            other => other.answer_again(),
        }
    }
}

/// Both stores, by one connection.
pub(crate) struct Bench<C> {
    pub(crate) keys: RedisIdempotencyStore<C>,
    pub(crate) limiter: RedisRateLimiter<C>,
}

impl<C: Connection> Bench<C> {
    pub(crate) fn new(connection: C, prefix: &str, clock: &Arc<ManualClock>) -> Self {
        let keys = RedisIdempotencyStore::new(connection.clone()).prefix(prefix);
        let limiter = RedisRateLimiter::per_second(connection, 3.try_into().unwrap());
        Self {
            keys: keys.clock(Arc::clone(clock)),
            limiter: limiter.prefix(prefix).clock(Arc::clone(clock)),
        }
    }
}

/// A step that is about to be taken, on keys of its own.
pub(crate) struct Trial {
    pub(crate) step: Step,
    pub(crate) prefix: String,
    pub(crate) clock: Arc<ManualClock>,
    port: u16,
    before: State,
    after: State,
}

impl Trial {
    /// Takes the step once where nothing is the matter, to know what it does.
    pub(crate) async fn new(step: Step, port: u16) -> Self {
        let connection = manager(port).await;
        let (prefix, undisturbed) = (prefix(), prefix());
        Self::between(step, port, connection, [prefix, undisturbed]).await
    }

    /// The same on keys whose names begin so.
    pub(crate) async fn between<C: Connection>(
        step: Step,
        port: u16,
        connection: C,
        [prefix, undisturbed]: [String; 2],
    ) -> Self {
        let clock = Arc::new(ManualClock::default());
        let bench = Bench::new(connection.clone(), &prefix, &clock);
        step.prepare(&bench).await;
        let bench = Bench::new(connection, &undisturbed, &clock);
        step.prepare(&bench).await;
        clock.advance_millis(1000);
        let mut server = direct(port);
        let before = State::of(&mut server, &undisturbed);
        assert_eq!(State::of(&mut server, &prefix), before, "{step:?}");
        assert_eq!(step.take(&bench).await.unwrap(), step.answer());
        let after = State::of(&mut server, &undisturbed);
        assert_ne!(before, after, "{step:?} does nothing");
        Self {
            step,
            prefix,
            clock,
            port,
            before,
            after,
        }
    }

    pub(crate) fn bench<C: Connection>(&self, connection: C) -> Bench<C> {
        Bench::new(connection, &self.prefix, &self.clock)
    }

    pub(crate) fn state(&self) -> State {
        State::of(&mut direct(self.port), &self.prefix)
    }

    /// It was taken, once.
    #[track_caller]
    pub(crate) fn assert_taken(&self, how: impl std::fmt::Debug) {
        assert_eq!(self.state(), self.after, "{:?}, {how:?}", self.step);
    }

    /// Nothing of it was taken.
    #[track_caller]
    pub(crate) fn assert_untouched(&self, how: impl std::fmt::Debug) {
        assert_eq!(self.state(), self.before, "{:?}, {how:?}", self.step);
    }
}
