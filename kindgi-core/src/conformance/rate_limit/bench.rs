//! Where a law of rate limiters is tried: a clock, and callers that nobody was before.

use std::{sync::Arc, time::Duration};

use tokio::runtime::Handle;

use super::{Limit, LimitBackend};
use crate::{
    ManualClock,
    conformance::{
        Report,
        dropped::AtMost,
        lab::Lab,
        report::{ensure, ensure_eq},
    },
    model::Principal,
    rate_limit::{RateDecision, RateLimiter},
};

/// How often a limiter may be busy in a row.
const MAX_BUSY: usize = 1000;

const NANOS_PER_MILLI: u128 = 1_000_000;

/// What a law of rate limiters works with.
pub(super) struct Bench<'l> {
    pub(super) lab: &'l Lab<dyn RateLimiter>,
    clock: Arc<ManualClock>,
    limit: Limit,
}

impl Bench<'_> {
    /// Builds the limiter and tries a law on it.
    pub(super) fn hold(
        law: &'static str,
        backend: &impl LimitBackend,
        holds: impl FnOnce(&Bench<'_>) -> Result<(), Report>,
    ) -> Result<(), Report> {
        let clock = Arc::new(ManualClock::default());
        let build = || backend.build(Arc::clone(&clock));
        Lab::hold_on(law, build, |lab| {
            holds(&Bench {
                lab,
                clock: Arc::clone(&clock),
                limit: backend.limit(),
            })
        })
    }

    pub(super) fn burst(&self) -> u32 {
        self.limit.burst.get()
    }

    pub(super) fn advance(&self, millis: i64) {
        self.clock.advance_millis(millis);
    }

    /// How long it takes until a caller has their whole burst again, in whole milliseconds.
    pub(super) fn whole(&self) -> i64 {
        let whole = self.limit.per.as_nanos() * u128::from(self.burst());
        let whole = whole.div_ceil(u128::from(self.limit.requests.get()));
        millis_of(whole)
    }

    /// The most requests that may go through within so many milliseconds, both ends included.
    pub(super) fn most_within(&self, millis: i64) -> u128 {
        let nanos = u128::try_from(millis).unwrap_or(0) * NANOS_PER_MILLI;
        let refilled = nanos * u128::from(self.limit.requests.get());
        u128::from(self.burst()) + refilled / self.limit.per.as_nanos().max(1)
    }

    /// A caller of a new tenant.
    pub(super) fn caller(&self) -> Result<Principal, Report> {
        Ok(Principal::user(self.lab.tenant()?, "ada".parse()?))
    }

    /// So many of them.
    pub(super) fn callers(&self, count: usize) -> Result<Vec<Principal>, Report> {
        (0..count).map(|_| self.caller()).collect()
    }

    /// Polls a check so often and drops it. What it decided, if it was done by then.
    pub(super) fn dropped(&self, who: &Principal, polls: usize) -> Option<RateDecision> {
        let check = AtMost::new(polls, self.lab.store.check(who));
        // A limiter's own trouble may have either outcome, as a drop may.
        self.lab.block_on(check).and_then(Result::ok)
    }

    pub(super) fn ask(&self, who: &Principal) -> Result<RateDecision, Report> {
        self.lab.block_on(ask(&*self.lab.store, who))
    }

    /// How many of so many requests go through.
    pub(super) fn through(&self, who: &Principal, requests: u32) -> Result<u32, Report> {
        let mut through = 0;
        for _ in 0..requests {
            through += u32::from(self.ask(who)? == RateDecision::Allowed);
        }
        Ok(through)
    }

    /// So many requests of a caller must go through, of so many.
    pub(super) fn expect(
        &self,
        what: &str,
        who: &Principal,
        (through, requests): (u32, u32),
    ) -> Result<(), Report> {
        let is = self.through(who, requests)?;
        ensure_eq(
            &format!("how many of {requests} requests of {what} go through"),
            &is,
            &through,
        )
    }

    /// A request must be refused; gives when to come again.
    pub(super) fn refused(&self, what: &str, who: &Principal) -> Result<Duration, Report> {
        match self.ask(who)? {
            RateDecision::Limited { retry_after } => {
                ensure(retry_after > Duration::ZERO, || {
                    format!("{what} is refused, but may come again at once")
                })?;
                Ok(retry_after)
            }
            RateDecision::Allowed => Err(Report::new(format!("{what} goes through"))),
        }
    }

    /// Asks until a request is refused; gives when to come again.
    pub(super) fn drain(&self, who: &Principal) -> Result<Duration, Report> {
        for _ in 0..=self.burst() {
            if let RateDecision::Limited { retry_after } = self.ask(who)? {
                return Ok(retry_after);
            }
        }
        Err(Report::new(format!(
            "{} requests went through at once",
            u64::from(self.burst()) + 1
        )))
    }
}

/// The first whole millisecond at which so much time has passed.
pub(super) fn ceil(time: Duration) -> i64 {
    millis_of(time.as_nanos())
}

fn millis_of(nanos: u128) -> i64 {
    i64::try_from(nanos.div_ceil(NANOS_PER_MILLI)).unwrap_or(i64::MAX)
}

/// How many of so many requests go through, asked on a thread of the law's own.
pub(super) fn through_on(
    handle: &Handle,
    limiter: &dyn RateLimiter,
    who: &Principal,
    requests: u32,
) -> Result<u32, Report> {
    let mut through = 0;
    for _ in 0..requests {
        through += u32::from(handle.block_on(ask(limiter, who))? == RateDecision::Allowed);
    }
    Ok(through)
}

/// Asks a limiter; again, if it is busy.
async fn ask(limiter: &dyn RateLimiter, who: &Principal) -> Result<RateDecision, Report> {
    for _ in 0..MAX_BUSY {
        match limiter.check(who).await {
            Err(e) if e.is_busy() => tokio::task::yield_now().await,
            decision => return Ok(decision?),
        }
    }
    Err(Report::new(format!(
        "the limiter was busy {MAX_BUSY} times in a row for {who:?}"
    )))
}
