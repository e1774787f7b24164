//! The law that what was written stays.

use std::num::NonZeroU16;

use crate::{
    conformance::{
        Backend, Report,
        call::{Answer, Ask, Call},
        command::Command,
        generate,
        lab::{Reopening, property},
        model::Model,
        report::ensure_eq,
        resolve, runner,
        scene::{Scene, at},
    },
    store::{Applied, Recorded, Taken},
};

/// What was written is there when the store is opened again, all of it and in effect: whatever is
/// done then, and all that can be read in the end after it was opened once more, is what it would
/// have been without.
pub fn what_was_written_is_there_when_opened_again(backend: &impl Backend) -> Result<(), Report> {
    let law = "what_was_written_is_there_when_opened_again";
    let store = Reopening::new(backend);
    let cases = || {
        property(48, &generate::sequence(), |commands, _| {
            goes_on(&store, commands)
        })
    };
    let held = what_is_over_stays_over(&store).and_then(|()| cases());
    store.close();
    let again = |report: Report| report.with_context("the store was opened again");
    held.map_err(|report| again(report).of_law(law))
}

/// What is done in between, and all that can be read in the end, are the model's.
fn goes_on(store: &Reopening<'_, impl Backend>, commands: &[Command]) -> Result<(), Report> {
    let tenants = store.opened(|lab| Ok([lab.tenant()?, lab.tenant()?]))?;
    let calls = resolve::calls(&tenants, commands, commands.len())?;
    let calls: Vec<Call> = calls.into_iter().flatten().collect();
    let readings = resolve::readings(&calls);
    // More of it before than after: there is to be something to lose.
    let (before, after) = calls.split_at(calls.len() * 2 / 3);
    let mut model = Model::default();
    for calls in [before, after, &readings] {
        store.opened(|lab| runner::answers_equal(lab, calls, &mut model))?;
        store.reopen()?;
    }
    Ok(())
}

/// What can't be read, and is only met: that there was a purge, and that a run is erased which
/// nobody judged.
fn what_is_over_stays_over(store: &Reopening<'_, impl Backend>) -> Result<(), Report> {
    let tenant = store.opened(|lab| {
        let scene = Scene::new(lab)?;
        scene.create_rule("rule", None, None)?;
        let purge = Ask::Purge {
            before: at(1),
            from: None,
            limit: NonZeroU16::MAX,
        };
        scene.ask(&scene.call(1, purge))?;
        scene.ask(&scene.call(1, Ask::EraseRun("erased".parse()?)))?;
        Ok(scene.tenant)
    })?;
    store.reopen()?;
    store.opened(|lab| {
        let scene = Scene { lab, tenant };
        let what = "telling a run that ended before a purge";
        ensure_eq(what, &scene.told("old", 2)?, &Taken::BeforePurge)?;
        let copy = Some(scene.copy("erased", "1")?);
        let record = scene.record(scene.judgment("a", "erased", 2)?, copy);
        let refused = Answer::Recorded(Applied::Done(Recorded::RunErased));
        scene.expect(&record, &refused)
    })
}
