//! Laws of what is forgotten.

use super::{FORGOTTEN, KEPT, Key, LONG, answer};
use crate::{
    conformance::{
        Report,
        idempotency::{
            KeyBackend,
            bench::{Bench, ask},
            call::{Answer, Call},
            generate::about,
        },
        report::ensure,
    },
    idempotency::{About, Begun, Completed, Outcome},
};

const ROUNDS: usize = 40;

/// Every answer about a thing is gone once that is forgotten, whatever else it is about; all others
/// stay.
pub fn what_was_forgotten_is_not_replayed(backend: &impl KeyBackend) -> Result<(), Report> {
    Bench::hold("what_was_forgotten_is_not_replayed", backend, |bench| {
        let [run, participant, other] = things()?;
        let kept = answer("kept");
        for forgotten in [&run, &participant] {
            let key = Key::new(bench)?;
            let about: [&[&About]; 6] = [
                &[&run],
                &[&participant],
                &[&other],
                &[],
                &[&other, &run, &participant],
                &[&participant, &other, &run],
            ];
            let keys: Vec<_> = about
                .into_iter()
                .map(|about| about.iter().copied().cloned().collect::<Vec<About>>())
                .map(|about| (key.another(bench), about))
                .collect();
            for (key, about) in &keys {
                key.kept(bench, &kept, about)?;
            }
            bench.expect(&key.forget(forgotten), &Answer::Forgotten)?;
            for (key, about) in &keys {
                let begun = match about.contains(forgotten) {
                    true => Begun::Run,
                    false => Begun::Replay(kept.clone()),
                };
                bench.begins(&key.begin(1, LONG), begun)?;
            }
        }
        Ok(())
    })
}

/// Who held a key when a thing was forgotten can't keep an answer about it, and leaves the key
/// free; who claims it later can.
pub fn what_was_begun_before_it_was_forgotten_is_not_kept(
    backend: &impl KeyBackend,
) -> Result<(), Report> {
    let law = "what_was_begun_before_it_was_forgotten_is_not_kept";
    Bench::hold(law, backend, |bench| {
        let [run, participant, other] = things()?;
        let kept = answer("kept");
        let outcome = Outcome::Answer(kept.clone());
        for (about, barred) in [
            (vec![run.clone()], true),
            (vec![other.clone(), run.clone()], true),
            (vec![participant, other], false),
            (vec![], false),
        ] {
            let key = Key::new(bench)?;
            bench.begins(&key.begin(0, 10), Begun::Run)?;
            bench.expect(&key.forget(&run), &Answer::Forgotten)?;
            bench.expect(&key.forget(&run), &Answer::Forgotten)?;
            // It is over only when the hold is.
            bench.advance(9);
            bench.expect(&key.renew(0, LONG), &Answer::Renewed(true))?;
            bench.advance(LONG - 1);
            let complete = |by| key.complete(by, &outcome, &about, LONG);
            bench.expect(&complete(0), if barred { &FORGOTTEN } else { &KEPT })?;
            if barred {
                bench.begins(&key.begin(1, 10), Begun::Run)?;
                bench.expect(&complete(1), &KEPT)?;
            }
            bench.begins(&key.begin(2, 10), Begun::Replay(kept.clone()))?;
        }
        // Of several things each counts.
        let other = about(2)?;
        for thing in [&run, &other] {
            let key = Key::new(bench)?;
            bench.begins(&key.begin(0, LONG), Begun::Run)?;
            for forgotten in [&run, &other] {
                bench.expect(&key.forget(forgotten), &Answer::Forgotten)?;
            }
            let complete = key.complete(0, &outcome, std::slice::from_ref(thing), LONG);
            bench.expect(&complete, &FORGOTTEN)?;
        }
        // Free again in another way.
        for released in [false, true] {
            let key = Key::new(bench)?;
            bench.begins(&key.begin(0, 10), Begun::Run)?;
            bench.expect(&key.forget(&run), &Answer::Forgotten)?;
            match released {
                true => bench.expect(&key.release(0), &Answer::Released(true))?,
                false => bench.advance(10),
            }
            bench.begins(&key.begin(1, 10), Begun::Run)?;
            let complete = key.complete(1, &outcome, std::slice::from_ref(&run), LONG);
            bench.expect(&complete, &KEPT)?;
        }
        forgotten_at_once(bench, &run, &outcome)
    })
}

/// When a thing is forgotten while an answer about it is to be kept, none is left.
fn forgotten_at_once(bench: &Bench<'_>, thing: &About, outcome: &Outcome) -> Result<(), Report> {
    let keys = (0..ROUNDS).map(|_| Key::new(bench));
    let keys = keys.collect::<Result<Vec<_>, _>>()?;
    for key in &keys {
        bench.begins(&key.begin(0, LONG), Begun::Run)?;
    }
    let store = &*bench.lab.store;
    let rounds = bench.lab.race(2, ROUNDS, |handle, round, thread| {
        let key = keys.get(round);
        let key = key.ok_or_else(|| Report::new("the suite has no key"))?;
        let call: Call = match thread {
            0 => key.complete(0, outcome, std::slice::from_ref(thing), LONG),
            _ => key.forget(thing),
        };
        handle.block_on(ask(store, &call))
    })?;
    for (key, answers) in keys.iter().zip(rounds) {
        for answer in answers {
            let answer = answer?;
            let lost = answer == Answer::Completed(Completed::NotHeld);
            ensure(!lost, || "a hold was lost".to_owned())?;
        }
        bench.begins(&key.begin(1, LONG), Begun::Run)?;
    }
    Ok(())
}

/// What one tenant forgets concerns no other's answers and holds.
pub fn tenants_never_meet(backend: &impl KeyBackend) -> Result<(), Report> {
    Bench::hold("tenants_never_meet", backend, |bench| {
        for thing in things()? {
            let about = std::slice::from_ref(&thing);
            let kept = answer("kept");
            let outcome = Outcome::Answer(kept.clone());
            let (one, two) = (Key::new(bench)?, Key::new(bench)?);
            let (one_held, two_held) = (one.another(bench), two.another(bench));
            for key in [&one, &two] {
                key.kept(bench, &kept, about)?;
            }
            for key in [&one_held, &two_held] {
                bench.begins(&key.begin(0, LONG), Begun::Run)?;
            }
            bench.expect(&one.forget(&thing), &Answer::Forgotten)?;
            bench.begins(&one.begin(1, LONG), Begun::Run)?;
            bench.begins(&two.begin(1, LONG), Begun::Replay(kept))?;
            let complete = |key: &Key| key.complete(0, &outcome, about, LONG);
            bench.expect(&complete(&one_held), &FORGOTTEN)?;
            bench.expect(&complete(&two_held), &KEPT)?;
        }
        Ok(())
    })
}

/// A run, a participant of the same name, and another run.
fn things() -> Result<[About; 3], Report> {
    Ok([about(0)?, about(1)?, about(2)?])
}
