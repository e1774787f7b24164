//! A store of keys, and what may be wrong with it.

use std::{
    collections::{BTreeMap, BTreeSet},
    num::NonZeroU16,
    sync::{
        Arc, Mutex, MutexGuard,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use async_trait::async_trait;
use bytes::Bytes;
use kindgi_core::{
    BoxError, Clock, ManualClock, Timestamp,
    conformance::idempotency::KeyBackend,
    idempotency::{About, Begun, Claim, Completed, IdempotencyStore, KeptAnswer, Outcome, Token},
    model::TenantId,
    store::{OperationId, StoreResult},
};

/// How long a race waits for others to come.
const PATIENCE: Duration = Duration::from_millis(200);

/// What is wrong.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Fault {
    None,
    BodyIgnored,
    BodyOfHoldIgnored,
    LapsedHoldCounts,
    BeginRaces,
    CompleteUnfenced,
    ReleaseUnfenced,
    RenewUnfenced,
    RenewShortens,
    RenewForgetsBars,
    ReleaseFreesAnswers,
    OwnClaimInFlight,
    ClaimAgainForgetsBars,
    ClaimAgainRenewsNothing,
    EndsLate(i64),
    AnswerEndsWithItsHold,
    DeadlinesInSeconds,
    ForgetKeepsAnswers,
    ForgetTakesAll,
    FirstThingOnly,
    KindOfThingIgnored,
    ForgetBarsNothing,
    ForgetBarsForGood,
    ForgetForAllTenants,
    BarredKeyStaysHeld,
    CompleteRacesForget,
    HeadersSorted,
    HeaderRepeatsDropped,
    HeaderNamesLowered,
    HeaderValuesAsText,
    HeaderValuesTrimmed,
    BodyAsText,
    BodyToItsFirstNul,
    BodyTo64KiB,
    StatusOk,
    WithheldIsFree,
    WithheldAsEmptyAnswer,
    WithheldAtNow,
    CompleteInTwoSteps,
    AboutInAStepOfItsOwn,
    ForgetInTwoSteps,
    PurgeTakesHolds,
    PurgeTakesAnswers,
    PurgeTakesBars,
    PurgeLimitIgnored,
    PurgeNeverEnds,
    PurgeByTheFirstEnd,
}

/// A store with a fault.
pub(crate) struct Broken(pub(crate) Fault);

impl KeyBackend for Broken {
    type Guard = ();

    async fn build(
        &self,
        clock: Arc<ManualClock>,
    ) -> Result<((), Arc<dyn IdempotencyStore>), BoxError> {
        let keys = Keys {
            fault: self.0,
            clock,
            records: Mutex::default(),
            begins: AtomicUsize::new(0),
            forgets: AtomicUsize::new(0),
            late: AtomicUsize::new(0),
        };
        Ok(((), Arc::new(keys)))
    }
}

struct Keys {
    fault: Fault,
    clock: Arc<ManualClock>,
    records: Mutex<BTreeMap<OperationId, Record>>,
    begins: AtomicUsize,
    forgets: AtomicUsize,
    /// How many completions have looked at their key, and write it later.
    late: AtomicUsize,
}

#[derive(Clone)]
struct Record {
    tenant: TenantId,
    body: [u8; 32],
    first_end: Timestamp,
    ends_at: Timestamp,
    barred: BTreeSet<About>,
    state: State,
}

#[derive(Clone)]
enum State {
    Held(Token),
    Done(Outcome, Timestamp, Vec<About>),
}

impl Keys {
    fn has(&self, fault: Fault) -> bool {
        self.fault == fault
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<OperationId, Record>> {
        self.records.lock().unwrap()
    }

    fn after(&self, duration: Duration) -> Timestamp {
        let millis = i64::try_from(duration.as_millis()).unwrap();
        let late = match self.fault {
            Fault::EndsLate(late) => late,
            _ => 0,
        };
        let end = self.clock.now().saturating_add_millis(millis + late);
        match self.fault {
            Fault::DeadlinesInSeconds => {
                end.saturating_add_millis(-end.as_unix_millis().rem_euclid(1000))
            }
            _ => end,
        }
    }

    fn counts(&self, record: &Record) -> bool {
        let held = matches!(record.state, State::Held(_));
        record.ends_at > self.clock.now() || (held && self.has(Fault::LapsedHoldCounts))
    }

    fn is_held(&self, record: &Record, by: &Token, unfenced: Fault) -> bool {
        self.counts(record)
            && match &record.state {
                State::Held(holder) => holder == by || self.has(unfenced),
                State::Done(..) => false,
            }
    }

    /// Waits until others counted further, but not for ever: there may be nobody.
    async fn until_others_did(&self, count: &AtomicUsize, before: usize) {
        let began = Instant::now();
        while count.load(Ordering::SeqCst) == before && began.elapsed() < PATIENCE {
            tokio::task::yield_now().await;
            std::thread::yield_now();
        }
    }

    /// What stands against holding a key, if anything.
    fn standing(&self, record: &Record, claim: &Claim<'_>) -> Option<Begun> {
        let is_held = matches!(record.state, State::Held(_));
        let ignored =
            self.has(Fault::BodyIgnored) || (is_held && self.has(Fault::BodyOfHoldIgnored));
        if record.body != *claim.body && !ignored {
            return Some(Begun::OtherBody);
        }
        let now = self.clock.now();
        match &record.state {
            State::Held(by) if by == claim.token && !self.has(Fault::OwnClaimInFlight) => None,
            State::Held(_) => {
                let left = record.ends_at.as_unix_millis() - now.as_unix_millis();
                let retry_after = Duration::from_millis(left.try_into().unwrap_or(0));
                Some(Begun::InFlight { retry_after })
            }
            State::Done(Outcome::Answer(answer), ..) => Some(Begun::Replay(answer.clone())),
            State::Done(Outcome::Withheld { status }, at, _) => match self.fault {
                Fault::WithheldIsFree => None,
                Fault::WithheldAsEmptyAnswer => Some(Begun::Replay(KeptAnswer {
                    status: *status,
                    headers: Vec::new(),
                    body: Bytes::new(),
                })),
                Fault::WithheldAtNow => Some(Begun::Withheld {
                    status: *status,
                    at: now,
                }),
                _ => Some(Begun::Withheld {
                    status: *status,
                    at: *at,
                }),
            },
        }
    }

    fn hold(&self, claim: &Claim<'_>, before: Option<Record>) -> Record {
        let ends_at = self.after(claim.hold);
        let mut held = Record {
            tenant: claim.tenant.clone(),
            body: *claim.body,
            first_end: ends_at,
            ends_at,
            barred: BTreeSet::new(),
            state: State::Held(*claim.token),
        };
        let Some(before) = before else {
            return held;
        };
        held.first_end = before.first_end;
        let again = self.counts(&before) && matches!(before.state, State::Held(_));
        if again {
            held.ends_at = ends_at.max(before.ends_at);
            if self.has(Fault::ClaimAgainRenewsNothing) {
                held.ends_at = before.ends_at;
            }
        }
        let bars = again && !self.has(Fault::ClaimAgainForgetsBars);
        if bars || self.has(Fault::ForgetBarsForGood) {
            held.barred = before.barred;
        }
        held
    }

    fn kept(&self, outcome: &Outcome) -> Outcome {
        let Outcome::Answer(answer) = outcome else {
            return outcome.clone();
        };
        let mut kept = answer.clone();
        let as_text = |bytes: &Bytes| Bytes::from(String::from_utf8_lossy(bytes).into_owned());
        match self.fault {
            Fault::HeadersSorted => kept.headers.sort(),
            Fault::HeaderRepeatsDropped => {
                let mut names = BTreeSet::new();
                kept.headers.retain(|(name, _)| names.insert(name.clone()));
            }
            Fault::HeaderNamesLowered => {
                let names = kept.headers.iter_mut();
                names.for_each(|(name, _)| name.make_ascii_lowercase());
            }
            Fault::HeaderValuesAsText => {
                let values = kept.headers.iter_mut();
                values.for_each(|(_, value)| *value = as_text(value));
            }
            Fault::HeaderValuesTrimmed => {
                let values = kept.headers.iter_mut();
                values.for_each(|(_, value)| *value = value.slice_ref(value.trim_ascii()));
            }
            Fault::BodyAsText => kept.body = as_text(&kept.body),
            Fault::BodyToItsFirstNul => {
                let end = kept.body.iter().position(|byte| *byte == 0);
                kept.body.truncate(end.unwrap_or(kept.body.len()));
            }
            Fault::BodyTo64KiB => kept.body.truncate(1 << 16),
            Fault::StatusOk => kept.status = 200,
            _ => {}
        }
        Outcome::Answer(kept)
    }

    fn is_of(&self, about: &[About], thing: &About) -> bool {
        let name = |about: &About| match about {
            About::Run(run) => run.to_string(),
            About::Participant(participant) => participant.to_string(),
        };
        match self.fault {
            Fault::FirstThingOnly => about.first() == Some(thing),
            Fault::KindOfThingIgnored => about.iter().any(|about| name(about) == name(thing)),
            Fault::ForgetTakesAll => true,
            _ => about.contains(thing),
        }
    }
}

#[async_trait]
impl IdempotencyStore for Keys {
    async fn begin(&self, claim: Claim<'_>) -> StoreResult<Begun> {
        let begun_before = self.begins.load(Ordering::SeqCst);
        let look = |records: &BTreeMap<OperationId, Record>| {
            let record = records.get(claim.key).filter(|record| self.counts(record));
            record.and_then(|record| self.standing(record, &claim))
        };
        if self.has(Fault::BeginRaces) {
            let stands = look(&self.lock());
            if let Some(stands) = stands {
                return Ok(stands);
            }
            self.begins.fetch_add(1, Ordering::SeqCst);
            // Until somebody else looked, too; the first of them waits for another to come.
            self.until_others_did(&self.begins, begun_before + 1).await;
        }
        let mut records = self.lock();
        if !self.has(Fault::BeginRaces)
            && let Some(stands) = look(&records)
        {
            return Ok(stands);
        }
        let held = self.hold(&claim, records.get(claim.key).cloned());
        records.insert(*claim.key, held);
        Ok(Begun::Run)
    }

    async fn renew(&self, key: &OperationId, token: &Token, hold: Duration) -> StoreResult<bool> {
        let mut records = self.lock();
        let record = records.get_mut(key);
        let Some(record) = record.filter(|it| self.is_held(it, token, Fault::RenewUnfenced)) else {
            return Ok(false);
        };
        let end = self.after(hold);
        record.ends_at = match self.fault {
            Fault::RenewShortens => end,
            _ => end.max(record.ends_at),
        };
        if self.has(Fault::RenewForgetsBars) {
            record.barred.clear();
        }
        Ok(true)
    }

    async fn complete(
        &self,
        key: &OperationId,
        token: &Token,
        outcome: &Outcome,
        about: &[About],
        keep: Duration,
    ) -> StoreResult<Completed> {
        let forgets = self.forgets.load(Ordering::SeqCst);
        let done = |mut record: Record| {
            if !self.has(Fault::AnswerEndsWithItsHold) {
                record.ends_at = self.after(keep);
            }
            let of = match self.fault {
                Fault::AboutInAStepOfItsOwn => Vec::new(),
                _ => about.to_vec(),
            };
            record.state = State::Done(self.kept(outcome), self.clock.now(), of);
            record
        };
        let late = {
            let mut records = self.lock();
            let held = records
                .get(key)
                .filter(|it| self.is_held(it, token, Fault::CompleteUnfenced));
            let Some(held) = held.cloned() else {
                return Ok(Completed::NotHeld);
            };
            if held.barred.iter().any(|barred| self.is_of(about, barred)) {
                if !self.has(Fault::BarredKeyStaysHeld) && !self.has(Fault::ForgetBarsForGood) {
                    records.remove(key);
                }
                return Ok(Completed::Forgotten);
            }
            match self.fault {
                Fault::CompleteInTwoSteps => {
                    records.remove(key);
                    Some(held)
                }
                Fault::CompleteRacesForget => Some(held),
                _ => {
                    records.insert(*key, done(held));
                    None
                }
            }
        };
        if let Some(held) = late {
            self.late.fetch_add(1, Ordering::SeqCst);
            match self.fault {
                Fault::CompleteRacesForget => self.until_others_did(&self.forgets, forgets).await,
                _ => tokio::task::yield_now().await,
            }
            self.lock().insert(*key, done(held));
            self.late.fetch_sub(1, Ordering::SeqCst);
        }
        if self.has(Fault::AboutInAStepOfItsOwn) {
            tokio::task::yield_now().await;
            if let Some(Record {
                state: State::Done(_, _, of),
                ..
            }) = self.lock().get_mut(key)
            {
                *of = about.to_vec();
            }
        }
        Ok(Completed::Kept)
    }

    async fn release(&self, key: &OperationId, token: &Token) -> StoreResult<bool> {
        let mut records = self.lock();
        let free = records.get(key).is_some_and(|record| {
            let is_done = matches!(record.state, State::Done(..));
            self.is_held(record, token, Fault::ReleaseUnfenced)
                || (is_done && self.has(Fault::ReleaseFreesAnswers))
        });
        if free && !self.has(Fault::ForgetBarsForGood) {
            records.remove(key);
        } else if free && let Some(record) = records.get_mut(key) {
            record.ends_at = self.clock.now();
        }
        Ok(free)
    }

    async fn forget(&self, tenant: &TenantId, about: &About) -> StoreResult<()> {
        if self.has(Fault::CompleteRacesForget) {
            // Until somebody has looked and not yet written, if anybody will.
            let began = Instant::now();
            while self.late.load(Ordering::SeqCst) == 0 && began.elapsed() < PATIENCE / 2 {
                tokio::task::yield_now().await;
                std::thread::yield_now();
            }
        }
        let its =
            |record: &Record| record.tenant == *tenant || self.has(Fault::ForgetForAllTenants);
        {
            let mut records = self.lock();
            if !self.has(Fault::ForgetBarsNothing) {
                for record in records.values_mut().filter(|record| its(record)) {
                    record.barred.insert(about.clone());
                }
            }
        }
        if self.has(Fault::ForgetInTwoSteps) {
            tokio::task::yield_now().await;
        }
        self.lock().retain(|_, record| match &record.state {
            State::Done(_, _, of) if !self.has(Fault::ForgetKeepsAnswers) => {
                !(its(record) && self.is_of(of, about))
            }
            _ => true,
        });
        self.forgets.fetch_add(1, Ordering::SeqCst);
        Ok(())
    }

    async fn purge(&self, limit: NonZeroU16) -> StoreResult<u64> {
        let (mut records, now) = (self.lock(), self.clock.now());
        if self.has(Fault::PurgeTakesBars) {
            records.values_mut().for_each(|it| it.barred.clear());
        }
        let ended = |record: &Record| match (&record.state, self.fault) {
            (State::Held(_), Fault::PurgeTakesHolds) => true,
            (State::Done(..), Fault::PurgeTakesAnswers) => true,
            (_, Fault::PurgeByTheFirstEnd) => record.first_end <= now,
            _ => !self.counts(record),
        };
        let ended = records.iter().filter(|(_, record)| ended(record));
        let limit = match self.fault {
            Fault::PurgeLimitIgnored => usize::MAX,
            _ => limit.get().into(),
        };
        let ended: Vec<OperationId> = ended.map(|(key, _)| *key).take(limit).collect();
        for key in &ended {
            records.remove(key);
        }
        Ok(match self.fault {
            Fault::PurgeNeverEnds => 1,
            _ => ended.len() as u64,
        })
    }
}
