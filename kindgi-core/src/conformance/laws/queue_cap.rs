//! The law of how many open items a rule may have.

use super::judging_queue::{judge, remove};
use crate::{
    conformance::{
        Backend, Report,
        call::{Answer, Ask, Call},
        lab::Lab,
        report::{ensure, ensure_eq},
        scene::{Scene, first},
    },
    model::{ItemState, TakenBy},
    store::{Applied, Candidate, QueueFilter, Taken},
};

const THREADS: usize = 3;
const TIMES: usize = 40;

/// A rule never takes a run when it has as many open items as it may have, and always does else:
/// also when many are told at once. Items that any version took count while they are open;
/// closing one frees its place, and reopening takes it back, whatever the cap says. A run that is
/// judged already needs no place. Each rule decides for itself.
///
/// From [`take`](crate::store::JudgingQueueStore::take), step 5.
pub fn a_cap_is_exact_under_concurrency(backend: &impl Backend) -> Result<(), Report> {
    Lab::hold("a_cap_is_exact_under_concurrency", backend, |lab| {
        one_after_the_other(&Scene::new(lab)?)?;
        each_for_itself(&Scene::new(lab)?)?;
        let scenes: Vec<Scene<'_>> = (0..TIMES)
            .map(|_| Scene::new(lab))
            .collect::<Result<_, _>>()?;
        for scene in &scenes {
            scene.create_rule("rule", None, Some(CAP))?;
        }
        let answers = lab.race(THREADS, TIMES, |handle, time, thread| {
            let scene = scenes
                .get(time)
                .ok_or_else(|| Report::new("no such scene"))?;
            handle.block_on(tell_some(scene, thread))
        })?;
        for (scene, answers) in scenes.iter().zip(answers) {
            let answers = answers.into_iter().collect::<Result<Vec<_>, Report>>()?;
            let mut queued: Vec<String> = answers.into_iter().flatten().collect();
            queued.sort();
            let filter = QueueFilter::default();
            let page = scene.queue("project", &filter, Some(first(100)))?;
            let mut items: Vec<String> = page
                .slice
                .rows
                .iter()
                .map(|item| item.run.to_string())
                .collect();
            items.sort();
            ensure_eq("the items of a rule with a cap", &items, &queued)?;
            let count = u32::try_from(items.len()).unwrap_or_default();
            ensure_eq("how many items a rule took at once", &count, &CAP)?;
            let counted = scene.results("rule", None)?.counted;
            let skipped: u64 = counted.iter().map(|group| group.skipped_by_cap).sum();
            let all = (THREADS * EACH) as u64;
            ensure_eq("how many it skipped", &skipped, &(all - u64::from(CAP)))?;
        }
        Ok(())
    })
}

/// How many open items the rule may have, and how many runs each thread tells it.
const CAP: u32 = 2;
const EACH: usize = 3;

/// Tells some runs; gives those that were queued.
async fn tell_some(scene: &Scene<'_>, thread: usize) -> Result<Vec<String>, Report> {
    let store = &*scene.lab.store;
    let enabled = Call::reading(&scene.tenant, Ask::EnabledRules("project".parse()?));
    let Answer::EnabledRules(rules) = enabled.ask(store).await? else {
        return Err(Report::new("another answer than was asked for"));
    };
    let mut queued = Vec::new();
    for number in 0..EACH {
        let run = format!("run{thread}.{number}");
        let tell = scene.tell(scene.ended(&run)?, &rules, 0);
        match tell.ask(store).await? {
            Answer::Taken(Taken::Queued(_)) => queued.push(run),
            Answer::Taken(Taken::AllSkipped) => {}
            answer => return Err(Report::new(format!("{answer:?} to\n  {tell}"))),
        }
    }
    Ok(queued)
}

fn one_after_the_other(scene: &Scene<'_>) -> Result<(), Report> {
    let rule = scene.create_rule("rule", None, Some(2))?;
    let is = |run: &str, takes: bool| {
        let told = scene.told(run, 1)?;
        let took = match told {
            Taken::Queued(_) => true,
            Taken::AllSkipped => false,
            _ => return Err(Report::new(format!("{told:?} of the run {run:?}"))),
        };
        ensure_eq(&format!("whether the rule takes {run:?}"), &took, &takes)
    };
    judge(scene, ("before", "judged"), "ada", None, 0)?;
    is("judged", true)?;
    is("a", true)?;
    is("b", true)?;
    is("c", false)?;
    // A later version counts what the one before took.
    let mut next = rule;
    next.version = 2;
    scene.ask(&scene.append(&next))?;
    is("d", false)?;
    scene.moved(&scene.dismiss("a", None, 2)?)?;
    is("e", true)?;
    is("f", false)?;
    judge(scene, ("judgment", "b"), "ada", None, 2)?;
    is("g", true)?;
    // More than it may have, since none of these is taken anew.
    scene.moved(&scene.reopen("a", 3)?)?;
    remove(scene, "judgment")?;
    is("h", false)?;
    for run in ["a", "b"] {
        scene.moved(&scene.dismiss(run, None, 4)?)?;
        is(&format!("{run} closed"), false)?;
    }
    scene.ask(&scene.call(5, Ask::EraseRun("e".parse()?)))?;
    is("i", true)?;
    next.version = 3;
    next.max_open = None;
    scene.ask(&scene.append(&next))?;
    for number in 0..3 {
        is(&format!("without a cap {number}"), true)?;
    }
    Ok(())
}

/// A run that one rule skips and another takes is an item of the latter alone.
fn each_for_itself(scene: &Scene<'_>) -> Result<(), Report> {
    let capped = scene.create_rule("a", Some("expert"), Some(1))?;
    let other = scene.create_rule("b", None, Some(3))?;
    let first = scene.open_item("first", &[&capped, &other], 0)?;
    ensure_eq("the first item", &scene.queued("first", 0)?, &first)?;
    let second = scene.open_item("second", &[&other], 1)?;
    ensure_eq("the second item", &scene.queued("second", 1)?, &second)?;
    scene.expect_item("that one of two rules took", &second)?;
    judge(scene, ("judgment", "second"), "ada", None, 2)?;
    let state = scene.item("second")?.map(|item| item.state);
    ensure_eq("its state when judged", &state, &Some(ItemState::Judged))?;
    // Whatever their order when they are handed over.
    let mut rules = scene.enabled()?;
    rules.rules.reverse();
    scene.moved(&scene.dismiss("first", None, 3)?)?;
    let call = scene.tell(scene.ended("third")?, &rules, 3);
    let third = scene.open_item("third", &[&capped, &other], 3)?;
    scene.expect(&call, &Answer::Taken(Taken::Queued(Box::new(third))))?;
    let by = Candidate::from(&capped);
    let taken_by = TakenBy {
        rule: by.rule,
        version: by.version,
        wants: by.wants,
    };
    let by = scene
        .item("third")?
        .and_then(|item| item.taken_by.first().cloned());
    ensure_eq("the first of its rules", &by, &Some(taken_by))?;
    ensure(
        matches!(
            scene.ask(&scene.dismiss("third", None, 4)?)?,
            Answer::Dismissed(Applied::Done(_))
        ),
        || "it should have been dismissed".to_owned(),
    )
}
