//! How often a caller may ask: what a rate limiter promises, and one for a single node.

use std::{
    collections::HashMap,
    hash::Hash,
    num::NonZeroU32,
    ops::Add,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU32, Ordering},
    },
    time::{Duration, Instant},
};

use async_trait::async_trait;
use governor::{
    Quota, RateLimiter as Governor,
    clock::{self, Reference},
    middleware::NoOpMiddleware,
    nanos::Nanos,
    state::{StateStore, keyed::ShrinkableKeyedStateStore},
};

use crate::{
    clock::{Clock, Timestamp},
    model::{Principal, PrincipalId, PrincipalKind, TenantId},
    store::StoreResult,
};

/// Decides whether a caller's request is let through.
///
/// A caller is a tenant, a kind of principal and its id. Others' requests never count for them.
#[async_trait]
pub trait RateLimiter: Send + Sync + 'static {
    /// Counts a request of a caller, unless it is limited.
    async fn check(&self, who: &Principal) -> StoreResult<RateDecision>;
}

#[async_trait]
impl<T: RateLimiter + ?Sized> RateLimiter for Arc<T> {
    async fn check(&self, who: &Principal) -> StoreResult<RateDecision> {
        (**self).check(who).await
    }
}

/// What a rate limiter decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RateDecision {
    /// The request goes through.
    Allowed,
    /// It doesn't.
    Limited {
        /// When one goes through again, if there are none of this caller meanwhile.
        retry_after: Duration,
    },
}

/// The most callers whose requests are counted at once, unless said.
const MAX_CALLERS: usize = 100_000;

/// How many requests are counted between two times of forgetting callers who are quiet.
const TIDY_EVERY: u32 = 4_096;

/// A rate limiter of one node, in memory: a burst, then so many a second, for each caller.
///
/// Its memory is bounded: it keeps two generations of callers. Those who have been quiet for long
/// enough to have their whole burst again are forgotten now and then; if there are still too many,
/// the newer generation becomes the older one, and the older one is forgotten. So whoever is
/// forgotten made no request while as many others did as one generation holds, and gets a burst
/// anew and no more. No task runs in the background.
///
/// ```
/// use std::num::NonZeroU32;
/// use kindgi_core::rate_limit::LocalRateLimiter;
///
/// let ten_a_second = NonZeroU32::new(10).unwrap();
/// let limiter = LocalRateLimiter::per_second(ten_a_second).burst(NonZeroU32::new(50).unwrap());
/// ```
pub struct LocalRateLimiter {
    limiter: Governor<Caller, Generations<Caller>, Ticks, NoOpMiddleware<Tick>>,
    quota: Quota,
    counted: AtomicU32,
    ticks: Ticks,
    max_callers: usize,
}

type Caller = (TenantId, PrincipalKind, PrincipalId);

impl LocalRateLimiter {
    /// So many requests a second, and as many at once.
    pub fn per_second(requests: NonZeroU32) -> Self {
        let began = Instant::now();
        let ticks = Ticks(Arc::new(move || began.elapsed()));
        Self::with(Quota::per_second(requests), MAX_CALLERS, ticks)
    }

    fn with(quota: Quota, max_callers: usize, ticks: Ticks) -> Self {
        Self {
            limiter: Governor::new(quota, Generations::new(max_callers), ticks.clone()),
            quota,
            counted: AtomicU32::new(0),
            ticks,
            max_callers,
        }
    }

    /// How many requests may come at once, after a time without any.
    #[must_use]
    pub fn burst(self, requests: NonZeroU32) -> Self {
        let quota = self.quota.allow_burst(requests);
        Self::with(quota, self.max_callers, self.ticks)
    }

    /// How many callers are remembered in each of the two generations: 100 000 unless said, at
    /// least 1.
    #[must_use]
    pub fn max_callers(self, callers: usize) -> Self {
        Self::with(self.quota, callers.max(1), self.ticks)
    }

    /// Goes by this clock; one that goes back stands still.
    #[must_use]
    pub fn clock(self, clock: impl Clock) -> Self {
        let began = clock.now();
        let ticks = Ticks(Arc::new(move || since(began, clock.now())));
        Self::with(self.quota, self.max_callers, ticks)
    }

    /// How many callers are remembered.
    pub fn callers(&self) -> usize {
        self.limiter.len()
    }

    fn decide(&self, caller: &Caller) -> RateDecision {
        // Now and then, by whoever comes.
        if self.counted.fetch_add(1, Ordering::Relaxed) % TIDY_EVERY == TIDY_EVERY - 1 {
            self.limiter.retain_recent();
            self.limiter.shrink_to_fit();
        }
        match self.limiter.check_key(caller) {
            Ok(()) => RateDecision::Allowed,
            Err(until) => RateDecision::Limited {
                retry_after: until.wait_time_from(clock::Clock::now(&self.ticks)),
            },
        }
    }
}

#[async_trait]
impl RateLimiter for LocalRateLimiter {
    async fn check(&self, who: &Principal) -> StoreResult<RateDecision> {
        Ok(self.decide(&(who.tenant.clone(), who.kind, who.id.clone())))
    }
}

impl std::fmt::Debug for LocalRateLimiter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LocalRateLimiter")
            .field("quota", &self.quota)
            .field("max_callers", &self.max_callers)
            .finish_non_exhaustive()
    }
}

fn since(began: Timestamp, now: Timestamp) -> Duration {
    let millis = now.as_unix_millis() - began.as_unix_millis();
    Duration::from_millis(u64::try_from(millis).unwrap_or(0))
}

/// How long it has been since the limiter was made.
#[derive(Clone)]
struct Ticks(Arc<dyn Fn() -> Duration + Send + Sync>);

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Tick(Nanos);

impl clock::Clock for Ticks {
    type Instant = Tick;

    fn now(&self) -> Tick {
        Tick((self.0)().into())
    }
}

impl Add<Nanos> for Tick {
    type Output = Self;

    fn add(self, other: Nanos) -> Self {
        Self(self.0.as_u64().saturating_add(other.as_u64()).into())
    }
}

impl Reference for Tick {
    fn duration_since(&self, earlier: Self) -> Nanos {
        self.0.saturating_sub(earlier.0)
    }

    fn saturating_sub(&self, duration: Nanos) -> Self {
        Self(self.0.saturating_sub(duration))
    }
}

/// The state of each caller, in two generations.
struct Generations<K> {
    max: usize,
    both: Mutex<[HashMap<K, Nanos>; 2]>,
}

impl<K> Generations<K> {
    fn new(max: usize) -> Self {
        let both = Mutex::new([HashMap::new(), HashMap::new()]);
        Self { max, both }
    }

    /// No step panics halfway, so a poisoned lock still guards whole data.
    fn lock(&self) -> MutexGuard<'_, [HashMap<K, Nanos>; 2]> {
        self.both.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<K: Hash + Eq + Clone> StateStore for Generations<K> {
    type Key = K;

    fn measure_and_replace<T, F, E>(&self, key: &K, f: F) -> Result<T, E>
    where
        F: Fn(Option<Nanos>) -> Result<(T, Nanos), E>,
    {
        let mut both = self.lock();
        let [newer, older] = &mut *both;
        if let Some(state) = newer.get_mut(key) {
            let (outcome, next) = f(Some(*state))?;
            *state = next;
            return Ok(outcome);
        }
        let before = older.remove(key);
        let measured = f(before);
        let next = match &measured {
            Ok((_, next)) => Some(*next),
            // Whoever is refused has been here, too, and must not be forgotten for it.
            Err(_) => before,
        };
        if let Some(next) = next {
            if newer.len() >= self.max {
                *older = std::mem::take(newer);
            }
            newer.insert(key.clone(), next);
        }
        measured.map(|(outcome, _)| outcome)
    }
}

impl<K: Hash + Eq + Clone> ShrinkableKeyedStateStore<K> for Generations<K> {
    fn retain_recent(&self, drop_below: Nanos) {
        for generation in &mut *self.lock() {
            generation.retain(|_, state| *state > drop_below);
        }
    }

    fn shrink_to_fit(&self) {
        for generation in &mut *self.lock() {
            generation.shrink_to_fit();
        }
    }

    fn len(&self) -> usize {
        self.lock().iter().map(HashMap::len).sum()
    }

    fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
