//! Laws of futures that are dropped.

use crate::conformance::{
    Backend, Report,
    call::{Answer, Call},
    dropped::{AtMost, MAX_POLLS},
    generate,
    lab::Lab,
    model::Model,
    report::{difference, ensure},
    resolve, runner,
};

/// A call whose future is dropped at any await takes effect wholly, at once or while others
/// write, or not at all; and every later answer is one of what has taken effect by then.
pub fn a_dropped_future_leaves_all_or_nothing(backend: &impl Backend) -> Result<(), Report> {
    Lab::hold("a_dropped_future_leaves_all_or_nothing", backend, |lab| {
        lab.property(160, &generate::round(), |round, _| {
            let [first, rest @ ..] = round.threads.as_slice() else {
                return Ok(());
            };
            for polls in 1..MAX_POLLS {
                let commands: Vec<_> = round
                    .before
                    .iter()
                    .chain(first)
                    .chain(rest.iter().flatten())
                    .cloned()
                    .collect();
                let tenants = [lab.tenant()?, lab.tenant()?];
                let mut calls = resolve::calls(&tenants, &commands, round.before.len())?;
                let later = calls.split_off(round.before.len() + first.len());
                let dropped = calls.split_off(round.before.len());
                let [calls, dropped, mut later]: [Vec<Call>; 3] =
                    [calls, dropped, later].map(|calls| calls.into_iter().flatten().collect());
                let every = calls.iter().chain(&dropped).chain(&later).cloned();
                later.extend(resolve::readings(&every.collect::<Vec<_>>()));
                let mut model = Model::default();
                runner::answers_equal(lab, &calls, &mut model)?;
                let mut possible = Possible::new(model);
                let mut finished = true;
                for call in &dropped {
                    finished &= possible.drop_one(lab, call, polls)?;
                }
                possible
                    .answers_fit(lab, &later)
                    .map_err(|report| report.with_context(told(&dropped, polls)))?;
                if finished {
                    return Ok(());
                }
            }
            Ok(())
        })
    })
}

fn told(dropped: &[Call], polls: usize) -> String {
    let dropped = runner::list(&dropped.iter().collect::<Vec<_>>());
    format!("after these were dropped when they had been polled {polls} times:\n{dropped}")
}

/// All that may be the case, given what was dropped and what was answered since.
struct Possible {
    dropped: Vec<Call>,
    worlds: Vec<World>,
}

/// One way that things may be.
#[derive(Clone, PartialEq)]
struct World {
    model: Model,
    /// What was dropped and hasn't taken effect; it still may.
    pending: Vec<usize>,
}

impl Possible {
    fn new(model: Model) -> Self {
        let pending = Vec::new();
        Self {
            dropped: Vec::new(),
            worlds: vec![World { model, pending }],
        }
    }

    /// Polls a call so often and drops it. Whether it was done by then.
    fn drop_one(&mut self, lab: &Lab, call: &Call, polls: usize) -> Result<bool, Report> {
        match lab.block_on(AtMost::new(polls, call.ask_once(&*lab.store))) {
            Some(Ok(answer)) => self.answered(call, &answer).map(|()| true),
            // A store's own trouble may have any outcome, as a drop may.
            Some(Err(_)) | None => {
                let index = self.dropped.len();
                self.dropped.push(call.clone());
                self.worlds
                    .iter_mut()
                    .for_each(|world| world.pending.push(index));
                Ok(false)
            }
        }
    }

    /// Each of the store's answers must be that of a possible world.
    fn answers_fit(&mut self, lab: &Lab, calls: &[Call]) -> Result<(), Report> {
        for call in calls {
            if self
                .worlds
                .iter()
                .any(|world| world.model.leaves_open(call))
            {
                continue;
            }
            let answer = lab.block_on(call.ask(&*lab.store))?;
            self.answered(call, &answer)?;
        }
        Ok(())
    }

    /// Keeps the worlds in which this is the answer.
    fn answered(&mut self, call: &Call, is: &Answer) -> Result<(), Report> {
        let mut should_be = None;
        let mut fitting: Vec<World> = Vec::new();
        for mut world in self.with_what_took_effect() {
            let answer = world.model.answer(call);
            if answer == *is && !fitting.contains(&world) {
                fitting.push(world);
            }
            should_be.get_or_insert(answer);
        }
        let possible = !fitting.is_empty();
        self.worlds = fitting;
        ensure(possible, || {
            let should_be = should_be.as_ref().unwrap_or(is);
            format!(
                "no order of effects gives this answer:\n  {call}\n{}",
                difference(should_be, is)
            )
        })
    }

    /// The worlds, and those in which more of what is pending has taken effect, in any order.
    fn with_what_took_effect(&self) -> Vec<World> {
        let mut worlds = self.worlds.clone();
        let mut next = 0;
        while let Some(world) = worlds.get(next).cloned() {
            for index in &world.pending {
                let mut later = world.clone();
                later.pending.retain(|pending| pending != index);
                if let Some(call) = self.dropped.get(*index) {
                    later.model.answer(call);
                }
                if !worlds.contains(&later) {
                    worlds.push(later);
                }
            }
            next += 1;
        }
        worlds
    }
}
