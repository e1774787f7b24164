//! A rate limiter, and what may be wrong with it.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Condvar, Mutex},
    time::Duration,
};

use async_trait::async_trait;
use kindgi_core::{
    BoxError, Clock, ManualClock,
    conformance::rate_limit::{Limit, LimitBackend},
    model::Principal,
    rate_limit::{RateDecision, RateLimiter},
    store::StoreResult,
};

use crate::times;

const BURST: i128 = 5;
/// 3 a second.
const ONE: i128 = 1_000_000_000 / 3;
const MILLI: i128 = 1_000_000;
/// How many callers are remembered where that is bounded.
const CALLERS: usize = 64;
/// How long a race waits for others to come.
const PATIENCE: Duration = Duration::from_millis(200);

/// What is wrong.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Fault {
    None,
    Burst(i128),
    RefusalHasNoTime,
    RetryInMinutes,
    RetryLater(i128),
    RetryInSeconds,
    RetryIsForAWholeBurst,
    RetryIsForOneFromNow,
    NextOneLate,
    RefusalBeginsAnew,
    RefusalCounts,
    KeyWithoutTenant,
    KeyWithoutKind,
    KeyWithoutId,
    KeyWithRole,
    KeyJoined(&'static str),
    KeyFolded,
    KeyTrimmed,
    KeyCut,
    Races,
    QuietSavesUp,
    GivesBackOne,
    FixedWindow,
    ForgetsTheFirst,
    ForgetsTheRefused,
    ForgetsAll,
    FullLetsThrough,
    FullRefuses,
    ClockBackFrees,
    ClockBackCountsAsPassed,
    EachRequestIsATick,
    DroppedCountsTwice,
    DroppedRefusalCounts,
    DroppedKeepsOthersOut,
}

/// A limiter with a fault.
pub(crate) struct Broken(pub(crate) Fault);

impl LimitBackend for Broken {
    type Guard = ();

    async fn build(&self, clock: Arc<ManualClock>) -> Result<((), Arc<dyn RateLimiter>), BoxError> {
        let limiter = Limiter {
            fault: self.0,
            clock,
            state: Mutex::default(),
            came: Condvar::new(),
        };
        Ok(((), Arc::new(limiter)))
    }

    fn limit(&self) -> Limit {
        Limit::new(times(3), Duration::from_secs(1)).burst(times(5))
    }

    fn callers(&self) -> usize {
        CALLERS
    }
}

struct Limiter {
    fault: Fault,
    clock: Arc<ManualClock>,
    state: Mutex<State>,
    came: Condvar,
}

#[derive(Default)]
struct State {
    callers: BTreeMap<String, Caller>,
    /// Counts requests.
    requests: u64,
    /// How many requests have looked at their caller, and write it later.
    late: usize,
    /// Whom a check is on its way for.
    asking: BTreeSet<String>,
}

/// All is in nanoseconds.
#[derive(Clone, Copy)]
struct Caller {
    /// When they have their whole burst again.
    whole_at: i128,
    /// When they came last.
    seen: i128,
    /// For a fixed window: which one, and how many went through in it.
    window: (i128, i128),
    first: u64,
    last: u64,
}

impl Limiter {
    fn has(&self, fault: Fault) -> bool {
        self.fault == fault
    }

    fn key(&self, who: &Principal) -> String {
        let (tenant, kind, id) = (who.tenant.as_str(), who.kind, who.id.as_str());
        match self.fault {
            Fault::KeyWithoutTenant => format!("{:?}", (kind, id)),
            Fault::KeyWithoutKind => format!("{:?}", (tenant, id)),
            Fault::KeyWithoutId => format!("{:?}", (tenant, kind)),
            Fault::KeyWithRole => format!("{:?}", (tenant, kind, id, who.reviewer_role)),
            Fault::KeyJoined(by) => [kind.as_str(), tenant, id].join(by),
            Fault::KeyFolded => format!("{:?}", (tenant, kind, id.to_lowercase())),
            Fault::KeyTrimmed => format!("{:?}", (tenant, kind, id.trim())),
            Fault::KeyCut => {
                let id: String = id.chars().take(255).collect();
                format!("{:?}", (tenant, kind, id))
            }
            _ => format!("{:?}", (tenant, kind, id)),
        }
    }

    /// Makes room for a new caller, where room is bounded; says what to decide if there is none.
    fn make_room(&self, state: &mut State, key: &str) -> Option<RateDecision> {
        if state.callers.contains_key(key) || state.callers.len() < CALLERS + 2 {
            return None;
        }
        let by = |of: fn(&Caller) -> u64| {
            let least = state.callers.iter().min_by_key(|(_, caller)| of(caller));
            least.map(|(key, _)| key.clone())
        };
        let goes = match self.fault {
            Fault::ForgetsTheFirst => by(|caller| caller.first),
            Fault::ForgetsTheRefused => by(|caller| caller.last),
            Fault::ForgetsAll => {
                state.callers.clear();
                None
            }
            Fault::FullLetsThrough => return Some(RateDecision::Allowed),
            Fault::FullRefuses => return Some(limited(ONE)),
            _ => None,
        };
        if let Some(goes) = goes {
            state.callers.remove(&goes);
        }
        None
    }

    fn now(&self, state: &State) -> i128 {
        let now = i128::from(self.clock.now().as_unix_millis()) * MILLI;
        match self.fault {
            Fault::EachRequestIsATick => now + i128::from(state.requests) * ONE / 10,
            _ => now,
        }
    }

    fn before(&self, state: &State, key: &str, now: i128) -> Caller {
        let new = Caller {
            whole_at: now,
            seen: now,
            window: (0, 0),
            first: state.requests,
            last: state.requests,
        };
        let mut caller = *state.callers.get(key).unwrap_or(&new);
        if caller.whole_at < now && !self.has(Fault::QuietSavesUp) {
            caller.whole_at = now;
            if self.has(Fault::GivesBackOne) && caller.first != new.first {
                caller.whole_at -= ONE;
            }
        }
        if now < caller.seen {
            match self.fault {
                Fault::ClockBackFrees => caller.whole_at = now,
                Fault::ClockBackCountsAsPassed => caller.whole_at -= 2 * (caller.seen - now),
                _ => {}
            }
        }
        caller.seen = now;
        caller
    }

    /// Decides, and what is then known of the caller.
    fn decide(&self, before: Caller, now: i128) -> (RateDecision, Caller) {
        if self.has(Fault::FixedWindow) {
            return in_a_window(before, now);
        }
        let burst = match self.fault {
            Fault::Burst(more) => BURST + more,
            _ => BURST,
        };
        let mut after = before;
        let wait = before.whole_at + ONE - burst * ONE - now;
        let late = self.has(Fault::NextOneLate) && wait == 0 && before.whole_at > now;
        if wait <= 0 && !late {
            after.whole_at += ONE;
            return (RateDecision::Allowed, after);
        }
        match self.fault {
            Fault::RefusalBeginsAnew => after.whole_at = now + burst * ONE,
            Fault::RefusalCounts => after.whole_at += ONE,
            _ => {}
        }
        let told = match self.fault {
            Fault::RefusalHasNoTime => 0,
            Fault::RetryInMinutes => wait * 60,
            Fault::RetryLater(millis) => wait + millis * MILLI,
            Fault::RetryInSeconds => (wait / (1_000 * MILLI) + 1) * 1_000 * MILLI,
            Fault::RetryIsForAWholeBurst => before.whole_at - now,
            Fault::RetryIsForOneFromNow => ONE,
            _ => wait,
        };
        (limited(told), after)
    }

    /// Decides in two steps, and lets others in between.
    async fn decide_in_steps(&self, key: &str) -> RateDecision {
        let began = {
            let mut state = self.state.lock().unwrap();
            let now = self.now(&state);
            let before = self.before(&state, key, now);
            let (decision, after) = self.decide(before, now);
            let more = match decision {
                RateDecision::Allowed if self.has(Fault::DroppedCountsTwice) => ONE,
                RateDecision::Limited { .. } if self.has(Fault::DroppedRefusalCounts) => ONE,
                _ => 0,
            };
            let apart = self.has(Fault::DroppedKeepsOthersOut);
            if apart && !state.asking.insert(key.to_owned()) {
                return limited(ONE);
            }
            let whole_at = after.whole_at + more;
            let reserved = Caller { whole_at, ..after };
            state.callers.insert(key.to_owned(), reserved);
            (decision, after)
        };
        tokio::task::yield_now().await;
        let (decision, after) = began;
        let mut state = self.state.lock().unwrap();
        state.callers.insert(key.to_owned(), after);
        state.asking.remove(key);
        decision
    }

    /// Looks, waits until others did as well, and writes then.
    fn decide_late(&self, key: &str) -> RateDecision {
        let mut state = self.state.lock().unwrap();
        let now = self.now(&state);
        let before = self.before(&state, key, now);
        state.late += 1;
        self.came.notify_all();
        let met = |state: &mut State| state.late < 2;
        let (mut state, _) = self.came.wait_timeout_while(state, PATIENCE, met).unwrap();
        let (decision, after) = self.decide(before, now);
        state.callers.insert(key.to_owned(), after);
        decision
    }
}

fn in_a_window(mut caller: Caller, now: i128) -> (RateDecision, Caller) {
    let length = BURST * ONE;
    let window = now.div_euclid(length);
    if caller.window.0 != window {
        caller.window = (window, 0);
    }
    if caller.window.1 < BURST {
        caller.window.1 += 1;
        return (RateDecision::Allowed, caller);
    }
    (limited((window + 1) * length - now), caller)
}

fn limited(nanos: i128) -> RateDecision {
    let nanos = u64::try_from(nanos.max(0)).unwrap();
    RateDecision::Limited {
        retry_after: Duration::from_nanos(nanos),
    }
}

#[async_trait]
impl RateLimiter for Limiter {
    async fn check(&self, who: &Principal) -> StoreResult<RateDecision> {
        let key = self.key(who);
        if self.has(Fault::Races) {
            return Ok(self.decide_late(&key));
        }
        let in_steps = [
            Fault::DroppedCountsTwice,
            Fault::DroppedRefusalCounts,
            Fault::DroppedKeepsOthersOut,
        ];
        if in_steps.contains(&self.fault) {
            return Ok(self.decide_in_steps(&key).await);
        }
        let mut state = self.state.lock().unwrap();
        state.requests += 1;
        if let Some(decision) = self.make_room(&mut state, &key) {
            return Ok(decision);
        }
        let now = self.now(&state);
        let before = self.before(&state, &key, now);
        let (decision, mut after) = self.decide(before, now);
        if decision == RateDecision::Allowed || !self.has(Fault::ForgetsTheRefused) {
            after.last = state.requests;
        }
        state.callers.insert(key, after);
        Ok(decision)
    }
}
