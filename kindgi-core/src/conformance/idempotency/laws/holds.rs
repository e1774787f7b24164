//! Laws of who holds a key, and until when.

use std::num::NonZeroU16;

use super::{FORGOTTEN, KEPT, Key, LONG, NOT_HELD, answer, in_flight};
use crate::{
    conformance::{
        Report,
        idempotency::{
            KeyBackend,
            bench::{Bench, ask},
            call::{Answer, Call},
            generate::about,
        },
        report::{ensure, ensure_eq},
    },
    idempotency::{Begun, Outcome},
};

const THREADS: usize = 8;
const ROUNDS: usize = 40;

/// Of requests that claim a free key at once, one holds it and the others are told to wait; so it
/// is again once its hold has lapsed; and once it has completed, all are given the same answer.
pub fn one_request_at_a_time_holds_a_key_under_concurrency(
    backend: &impl KeyBackend,
) -> Result<(), Report> {
    let law = "one_request_at_a_time_holds_a_key_under_concurrency";
    Bench::hold(law, backend, |bench| {
        let keys = (0..ROUNDS).map(|_| Key::new(bench));
        let keys = keys.collect::<Result<Vec<_>, _>>()?;
        one_holds(bench, &keys, 10)?;
        bench.advance(10);
        let holders = one_holds(bench, &keys, LONG)?;
        for (key, holder) in keys.iter().zip(&holders) {
            let outcome = Outcome::Answer(answer(&holder.to_string()));
            bench.expect(&key.complete(*holder, &outcome, &[], LONG), &KEPT)?;
        }
        for (answers, holder) in claimed_at_once(bench, &keys, 10)?.iter().zip(holders) {
            let kept = Begun::Replay(answer(&holder.to_string()));
            ensure(answers.iter().all(|answer| *answer == kept), || {
                format!("the claims of a key that {holder} completed: {answers:?}")
            })?;
        }
        Ok(())
    })
}

/// Claims each key on all threads at once; gives who holds it.
fn one_holds(bench: &Bench<'_>, keys: &[Key], hold: i64) -> Result<Vec<u8>, Report> {
    let rounds = claimed_at_once(bench, keys, hold)?.into_iter();
    let holder = |answers: Vec<Begun>| {
        let told = |begun| answers.iter().filter(|answer| **answer == begun).count();
        let one = told(Begun::Run) == 1 && told(in_flight(hold)) == THREADS - 1;
        ensure(one, || format!("the claims of a free key: {answers:?}"))?;
        let holder = (0..).zip(&answers).find(|(_, begun)| **begun == Begun::Run);
        Ok(holder.map_or(0, |(thread, _)| thread))
    };
    rounds.map(holder).collect()
}

fn claimed_at_once(bench: &Bench<'_>, keys: &[Key], hold: i64) -> Result<Vec<Vec<Begun>>, Report> {
    let store = &*bench.lab.store;
    let rounds = bench
        .lab
        .race(THREADS, keys.len(), |handle, round, thread| {
            let by = u8::try_from(thread).unwrap_or(u8::MAX);
            let claim = keys.get(round).map(|key| key.begin(by, hold));
            let claim = claim.ok_or_else(|| Report::new("the suite has no key"))?;
            handle.block_on(ask(store, &claim))
        })?;
    let begun = |answer: Result<Answer, Report>| match answer? {
        Answer::Begun(begun) => Ok(begun),
        other => Err(Report::new(format!("the suite asked otherwise: {other:?}"))),
    };
    let rounds = rounds.into_iter();
    rounds
        .map(|answers| answers.into_iter().map(begun).collect())
        .collect()
}

/// Who has lost a hold, since it lapsed, was taken over or ended, can neither renew nor complete
/// nor release.
pub fn a_lost_hold_changes_nothing(backend: &impl KeyBackend) -> Result<(), Report> {
    Bench::hold("a_lost_hold_changes_nothing", backend, |bench| {
        let (late, first) = (answer("too late"), answer("first"));
        let (late, outcome) = (Outcome::Answer(late), Outcome::Answer(first.clone()));
        let changes_nothing = |key: &Key| {
            bench.expect(&key.renew(0, LONG), &Answer::Renewed(false))?;
            bench.expect(&key.complete(0, &late, &[], LONG), &NOT_HELD)?;
            bench.expect(&key.release(0), &Answer::Released(false))
        };
        let key = Key::new(bench)?;
        changes_nothing(&key)?;
        bench.begins(&key.begin(0, 10), Begun::Run)?;
        bench.advance(10);
        // Lapsed, and nobody came.
        changes_nothing(&key)?;
        bench.begins(&key.begin(1, LONG), Begun::Run)?;
        changes_nothing(&key)?;
        bench.begins(&key.begin(2, 10), in_flight(LONG))?;
        bench.expect(&key.complete(1, &outcome, &[], LONG), &KEPT)?;
        changes_nothing(&key)?;
        // Nor has the holder it any more.
        bench.expect(&key.complete(1, &late, &[], LONG), &NOT_HELD)?;
        bench.expect(&key.release(1), &Answer::Released(false))?;
        bench.expect(&key.renew(1, LONG), &Answer::Renewed(false))?;
        bench.begins(&key.begin(2, 10), Begun::Replay(first))?;

        let released = Key::new(bench)?;
        bench.begins(&released.begin(0, LONG), Begun::Run)?;
        bench.expect(&released.release(1), &Answer::Released(false))?;
        bench.expect(&released.release(0), &Answer::Released(true))?;
        changes_nothing(&released)?;
        bench.begins(&released.begin(1, LONG), Begun::Run)?;
        changes_nothing(&released)?;
        bench.expect(&released.renew(1, LONG), &Answer::Renewed(true))
    })
}

/// A claim that is made again with its token, since its answer was lost, holds the key as before,
/// and renews its hold; to others the key is held all along.
pub fn a_claim_made_again_is_recognised(backend: &impl KeyBackend) -> Result<(), Report> {
    Bench::hold("a_claim_made_again_is_recognised", backend, |bench| {
        let key = Key::new(bench)?;
        bench.begins(&key.begin(0, 10), Begun::Run)?;
        bench.advance(4);
        bench.begins(&key.begin(0, 10), Begun::Run)?;
        bench.begins(&key.begin(1, 10), in_flight(10))?;
        // Never for less than before.
        bench.begins(&key.begin(0, 3), Begun::Run)?;
        bench.begins(&key.begin(1, 10), in_flight(10))?;
        let mut another = key.begin(0, 10);
        if let Call::Begin { body, .. } = &mut another {
            *body = 1;
        }
        bench.begins(&another, Begun::OtherBody)?;
        bench.expect(&key.forget(&about(0)?), &Answer::Forgotten)?;
        bench.begins(&key.begin(0, 10), Begun::Run)?;
        let kept = answer("kept");
        let outcome = Outcome::Answer(kept.clone());
        // It began with the first claim.
        bench.expect(&key.complete(0, &outcome, &[about(0)?], LONG), &FORGOTTEN)?;
        bench.begins(&key.begin(0, 10), Begun::Run)?;
        bench.expect(&key.complete(0, &outcome, &[about(0)?], LONG), &KEPT)?;
        bench.begins(&key.begin(0, 10), Begun::Replay(kept))?;
        bench.begins(&another, Begun::OtherBody)
    })
}

/// A hold and an answer count up to their instant and not at it; a renewal begins from when it is
/// made, and never shortens.
pub fn a_deadline_is_exact_to_the_millisecond(backend: &impl KeyBackend) -> Result<(), Report> {
    Bench::hold("a_deadline_is_exact_to_the_millisecond", backend, |bench| {
        for length in [1, 2, 30_000, 86_400_000] {
            let key = Key::new(bench)?;
            let kept = answer("kept");
            let outcome = Outcome::Answer(kept.clone());
            bench.begins(&key.begin(0, length), Begun::Run)?;
            bench.advance(length - 1);
            bench.begins(&key.begin(1, length), in_flight(1))?;
            bench.advance(1);
            bench.begins(&key.begin(1, length), Begun::Run)?;

            bench.advance(length - 1);
            bench.expect(&key.renew(1, length), &Answer::Renewed(true))?;
            bench.begins(&key.begin(2, 1), in_flight(length))?;
            bench.expect(&key.renew(1, 1), &Answer::Renewed(true))?;
            bench.begins(&key.begin(2, 1), in_flight(length))?;
            bench.advance(length);
            bench.expect(&key.renew(1, length), &Answer::Renewed(false))?;
            bench.expect(&key.complete(1, &outcome, &[], length), &NOT_HELD)?;
            bench.expect(&key.release(1), &Answer::Released(false))?;

            bench.begins(&key.begin(2, length), Begun::Run)?;
            bench.advance(length - 1);
            bench.expect(&key.complete(2, &outcome, &[], length), &KEPT)?;
            bench.advance(length - 1);
            bench.begins(&key.begin(3, length), Begun::Replay(kept))?;
            bench.advance(1);
            bench.begins(&key.begin(3, length), Begun::Run)?;
            bench.advance(length - 1);
            bench.expect(&key.release(3), &Answer::Released(true))?;
        }
        Ok(())
    })
}

/// Purging removes no more than it is told at once, comes to an end, and takes neither a hold nor
/// an answer nor what was forgotten before its time.
pub fn a_purge_removes_only_what_ended(backend: &impl KeyBackend) -> Result<(), Report> {
    Bench::hold("a_purge_removes_only_what_ended", backend, |bench| {
        let (run, kept) = (about(0)?, answer("kept"));
        let outcome = Outcome::Answer(kept.clone());
        let (barred, held, done) = (Key::new(bench)?, Key::new(bench)?, Key::new(bench)?);
        let again = done.another(bench);
        bench.begins(&barred.begin(0, 21), Begun::Run)?;
        bench.expect(&barred.forget(&run), &Answer::Forgotten)?;
        let all = (0..24).map(|_| Key::new(bench));
        let mut ending = all.collect::<Result<Vec<_>, _>>()?;
        // A key that is used again has a later end than at first.
        ending.push(again);
        for (number, key) in ending.iter().enumerate() {
            bench.begins(&key.begin(0, 20), Begun::Run)?;
            if number % 2 == 0 {
                let complete = key.complete(0, &outcome, std::slice::from_ref(&run), 20);
                bench.expect(&complete, &KEPT)?;
            }
        }
        bench.begins(&held.begin(0, 21), Begun::Run)?;
        bench.begins(&done.begin(0, 5), Begun::Run)?;
        bench.expect(&done.complete(0, &outcome, &[], 21), &KEPT)?;
        purge_all(bench)?;
        for key in &ending {
            let begun = bench.ask(&key.begin(1, 20))?;
            ensure(begun != Answer::Begun(Begun::Run), || {
                "a purge removed a key before its end".to_owned()
            })?;
        }
        bench.advance(20);
        let again = ending
            .pop()
            .ok_or_else(|| Report::new("the suite has no key"))?;
        again.kept(bench, &kept, &[])?;
        purge_all(bench)?;
        bench.begins(&again.begin(1, 20), Begun::Replay(kept.clone()))?;
        bench.begins(&done.begin(1, 20), Begun::Replay(kept))?;
        bench.begins(&held.begin(1, 20), in_flight(1))?;
        bench.expect(&held.complete(0, &outcome, &[], LONG), &KEPT)?;
        bench.expect(&barred.complete(0, &outcome, &[run], LONG), &FORGOTTEN)?;
        for key in &ending {
            bench.begins(&key.begin(1, 20), Begun::Run)?;
        }
        Ok(())
    })
}

/// Purges in small steps until nothing has ended.
fn purge_all(bench: &Bench<'_>) -> Result<(), Report> {
    let limit = NonZeroU16::MIN.saturating_add(6);
    for _ in 0..100 {
        let removed = bench.lab.block_on(bench.lab.store.purge(limit))?;
        ensure(removed <= u64::from(limit.get()), || {
            format!("a purge of up to {limit} records removed {removed}")
        })?;
        if removed == 0 {
            return Ok(());
        }
    }
    ensure_eq("whether purging comes to an end", &false, &true)
}
