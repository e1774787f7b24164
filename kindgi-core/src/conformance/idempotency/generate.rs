//! Generated commands: few keys, bodies, tokens and things, so that they meet.

use std::num::NonZeroU16;

use bytes::Bytes;
use proptest::{
    collection::vec,
    prelude::{Just, Strategy, any},
    prop_oneof,
};

use super::{
    bench::Bench,
    call::{Call, token},
};
use crate::{
    conformance::{Report, lab::Case},
    idempotency::{About, KeptAnswer, Outcome},
    model::TenantId,
    store::OperationId,
};

/// The first two are one tenant's, the third another's.
const KEYS: u8 = 3;
const TOKENS: u8 = 3;
const LENGTH: usize = 24;

/// A call without a case's keys and tenants.
#[derive(Clone, Debug)]
pub(super) enum Command {
    Begin(u8, bool, u8, i64),
    Renew(u8, u8, i64),
    Complete(u8, u8, u8, Vec<u8>, i64),
    Release(u8, u8),
    Forget(bool, u8),
    Purge(u8),
    Advance(i64),
}

impl Case for Vec<Command> {
    fn fewer(&self) -> Vec<Self> {
        let without = |index| {
            let mut fewer = self.clone();
            fewer.remove(index);
            fewer
        };
        (0..self.len()).map(without).collect()
    }
}

/// A sequence of commands.
pub(super) fn sequence() -> impl Strategy<Value = Vec<Command>> {
    vec(command(), 1..=LENGTH)
}

/// What is done before a call is dropped, which one, and what is done after it. The clock stands
/// still, since a dropped call may take effect later.
pub(super) fn dropped() -> impl Strategy<Value = Dropped> {
    let commands = || vec(command(), 0..=LENGTH / 3);
    let is_call = |command: &Command| !matches!(command, Command::Advance(_));
    let dropped = command().prop_filter("a call", is_call);
    (commands(), dropped, commands()).prop_map(move |(mut before, dropped, mut after)| {
        before.retain(is_call);
        after.retain(is_call);
        Dropped {
            before,
            dropped,
            after,
        }
    })
}

/// Calls with several effects, and what tells of each.
pub(super) fn stories() -> [Dropped; 3] {
    use Command::{Begin, Complete, Forget, Release};
    let begin = |key| Begin(key, false, 0, 1000);
    let complete = |key| Complete(key, 0, 1, vec![1, 0], 1000);
    [
        Dropped {
            before: vec![begin(0)],
            dropped: complete(0),
            after: vec![Forget(false, 0)],
        },
        // One answer is kept, another is about to be.
        Dropped {
            before: vec![begin(0), begin(1), complete(1)],
            dropped: Forget(false, 0),
            after: vec![complete(0)],
        },
        // What was forgotten concerns no later claim.
        Dropped {
            before: vec![begin(0), Forget(false, 0)],
            dropped: Release(0, 0),
            after: vec![begin(0), complete(0)],
        },
    ]
}

#[derive(Clone, Debug)]
pub(super) struct Dropped {
    pub(super) before: Vec<Command>,
    pub(super) dropped: Command,
    pub(super) after: Vec<Command>,
}

impl Case for Dropped {
    fn fewer(&self) -> Vec<Self> {
        let before = self.before.fewer().into_iter().map(|before| Self {
            before,
            ..self.clone()
        });
        let after = self.after.fewer().into_iter().map(|after| Self {
            after,
            ..self.clone()
        });
        before.chain(after).collect()
    }
}

fn command() -> impl Strategy<Value = Command> {
    // Mostly the first, so that one key has a story.
    let key = || prop_oneof![4 => Just(0), 1 => 1..KEYS];
    let by = || prop_oneof![2 => Just(0), 1 => 1..TOKENS];
    // So short that deadlines are met to the millisecond, and so long that they aren't.
    let time = || prop_oneof![3 => 1..4i64, 1 => Just(1000i64)];
    let about = || vec(0..4u8, 0..=2);
    prop_oneof![
        6 => (key(), proptest::bool::weighted(0.2), by(), time())
            .prop_map(|(key, other, by, hold)| Command::Begin(key, other, by, hold)),
        2 => (key(), by(), time()).prop_map(|(key, by, hold)| Command::Renew(key, by, hold)),
        4 => (key(), by(), any::<u8>(), about(), time())
            .prop_map(|(key, by, what, about, keep)| Command::Complete(key, by, what, about, keep)),
        1 => (key(), by()).prop_map(|(key, by)| Command::Release(key, by)),
        2 => (proptest::bool::weighted(0.2), 0..4u8).prop_map(|(tenant, about)| Command::Forget(tenant, about)),
        1 => (1..4u8).prop_map(Command::Purge),
        3 => prop_oneof![3 => 1..4i64, 1 => Just(2000i64)].prop_map(Command::Advance),
    ]
}

/// The keys and tenants of a case.
pub(super) struct Cast {
    tenants: [TenantId; 2],
    keys: [OperationId; KEYS as usize],
}

impl Cast {
    pub(super) fn new(bench: &Bench<'_>) -> Result<Self, Report> {
        let tenants = [bench.lab.tenant()?, bench.lab.tenant()?];
        let [first, second] = &tenants;
        let keys = [first, first, second].map(|tenant| bench.key_of(tenant));
        Ok(Self { tenants, keys })
    }

    fn tenant(&self, second: bool) -> TenantId {
        let [one, two] = &self.tenants;
        if second { two.clone() } else { one.clone() }
    }

    fn key(&self, key: u8) -> OperationId {
        let [one, two, three] = self.keys;
        match key {
            0 => one,
            1 => two,
            _ => three,
        }
    }

    pub(super) fn calls(&self, commands: &[Command]) -> Result<Vec<Call>, Report> {
        commands.iter().map(|command| self.call(command)).collect()
    }

    pub(super) fn call(&self, command: &Command) -> Result<Call, Report> {
        Ok(match *command {
            Command::Begin(key, other, by, hold) => Call::Begin {
                tenant: self.tenant(key == KEYS - 1),
                key: self.key(key),
                body: other.into(),
                token: token(by),
                hold,
            },
            Command::Renew(key, by, hold) => Call::Renew(self.key(key), token(by), hold),
            Command::Complete(key, by, what, ref of, keep) => Call::Complete {
                key: self.key(key),
                token: token(by),
                outcome: outcome(what),
                about: of.iter().map(|of| about(*of)).collect::<Result<_, _>>()?,
                keep,
            },
            Command::Release(key, by) => Call::Release(self.key(key), token(by)),
            Command::Forget(second, of) => Call::Forget(self.tenant(second), about(of)?),
            Command::Purge(limit) => {
                Call::Purge(NonZeroU16::new(limit.into()).unwrap_or(NonZeroU16::MIN))
            }
            Command::Advance(millis) => Call::Advance(millis),
        })
    }

    /// Claims of all keys, by a token that nobody else has: they tell what is kept and held.
    pub(super) fn readings(&self) -> Vec<Call> {
        let claim = |(number, key): (u8, &OperationId)| Call::Begin {
            tenant: self.tenant(number == KEYS - 1),
            key: *key,
            body: 0,
            token: token(u8::MAX),
            hold: 1,
        };
        (0..).zip(&self.keys).map(claim).collect()
    }
}

/// A run and a participant of the same name, and others.
pub(super) fn about(number: u8) -> Result<About, Report> {
    let name = if number < 2 { "one" } else { "two" };
    Ok(match number % 2 {
        0 => About::Run(name.parse()?),
        _ => About::Participant(name.parse()?),
    })
}

pub(super) fn outcome(number: u8) -> Outcome {
    let status = 200 + u16::from(number);
    if number.is_multiple_of(4) {
        return Outcome::Withheld { status };
    }
    let header = |n: u8| (format!("header-{}", n % 2), Bytes::from(vec![n, number]));
    Outcome::Answer(KeptAnswer {
        status,
        headers: (0..number % 3).map(header).collect(),
        body: Bytes::from(vec![number; usize::from(number % 5)]),
    })
}
