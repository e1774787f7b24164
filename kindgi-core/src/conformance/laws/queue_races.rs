//! Laws of what meets in the queue.

use std::{
    sync::{
        Arc, Barrier,
        atomic::{AtomicUsize, Ordering},
        mpsc::{self, RecvTimeoutError},
    },
    thread,
    time::Duration,
};

use tokio::time::timeout;

use super::judgments::is_bare;
use crate::{
    conformance::{
        Backend, Report,
        call::{Answer, Ask, Call},
        lab::Lab,
        report::{ensure, ensure_eq},
        scene::{Scene, at, first, operation, recorded},
        scene_queue::moved,
    },
    model::{ItemState, QueueItem, Readable},
    store::{
        Applied, ClassReplaced, EnabledRules, ItemMoved, JudgmentFilter, QueueFilter, Recorded,
        Taken,
    },
};

const TIMES: usize = 40;

/// How long nothing at all may be answered.
const PATIENCE: Duration = Duration::from_secs(20);

/// Rules that the runs share, how many runs end at once, and how often.
const RULES: usize = 4;
const RUNS: usize = 6;
const ROUNDS: usize = 12;
const THREADS: usize = 4;

/// Who tells runs of shared rules at once, in any order of the runs and of the rules, is
/// answered: nobody waits for another forever. Nothing is lost: each run is queued with all its
/// rules, once.
///
/// From [`take`](crate::store::JudgingQueueStore::take) and [`crate::store`], "atomic".
pub fn runs_that_end_at_once_are_all_answered(backend: &impl Backend) -> Result<(), Report> {
    Lab::hold("runs_that_end_at_once_are_all_answered", backend, |lab| {
        for _ in 0..ROUNDS {
            let scene = Scene::new(lab)?;
            for number in 0..RULES {
                scene.create_rule(&format!("rule{number}"), None, None)?;
            }
            let rules = scene.enabled()?;
            let lists = (0..THREADS).map(|thread| list(&scene, &rules, thread));
            let lists = lists.collect::<Result<Vec<_>, Report>>()?;
            let mut queued = 0;
            for answer in all_answered(lab, lists)? {
                match answer {
                    Answer::Taken(Taken::Queued(item)) => {
                        ensure_eq("how many rules took a run", &item.taken_by.len(), &RULES)?;
                        queued += 1;
                    }
                    Answer::Taken(Taken::Known) => {}
                    answer => return Err(Report::new(format!("{answer:?} to telling a run"))),
                }
            }
            ensure_eq("how many runs were queued", &queued, &RUNS)?;
            let total = scene.queue("project", &QueueFilter::default(), None)?.total;
            ensure_eq("how many items there are", &total, &(RUNS as u64))?;
        }
        Ok(())
    })
}

/// The calls of one thread: every other one goes through runs and rules from their end.
fn list(scene: &Scene<'_>, rules: &EnabledRules, thread: usize) -> Result<Vec<Call>, Report> {
    let mut rules = rules.clone();
    let mut runs: Vec<String> = (0..RUNS).map(|number| format!("run{number}")).collect();
    if thread.is_multiple_of(2) {
        rules.rules.reverse();
        runs.reverse();
    }
    let tell = |run: &String| Ok(scene.tell(scene.ended(run)?, &rules, 0));
    runs.iter().map(tell).collect()
}

/// Makes each thread's calls, all threads at once. Where nothing is answered any more, the threads
/// are left alone: they can't be ended.
fn all_answered(lab: &Lab, lists: Vec<Vec<Call>>) -> Result<Vec<Answer>, Report> {
    let wanted: usize = lists.iter().map(Vec::len).sum();
    let barrier = Arc::new(Barrier::new(lists.len()));
    let made = Arc::new(AtomicUsize::new(0));
    let (sender, answers) = mpsc::channel();
    for calls in lists {
        let (store, handle) = (Arc::clone(&lab.store), lab.handle());
        let (barrier, sender, made) = (Arc::clone(&barrier), sender.clone(), Arc::clone(&made));
        thread::spawn(move || {
            barrier.wait();
            for call in calls {
                made.fetch_add(1, Ordering::SeqCst);
                // An end for the thread, too, where what it waits for can be dropped.
                let ask = async { timeout(2 * PATIENCE, call.ask(&*store)).await };
                let Ok(answer) = handle.block_on(ask) else {
                    return;
                };
                if sender.send(answer).is_err() {
                    return;
                }
            }
        });
    }
    drop(sender);
    let mut all = Vec::new();
    while all.len() < wanted {
        match answers.recv_timeout(PATIENCE) {
            Ok(answer) => all.push(answer?),
            Err(RecvTimeoutError::Disconnected) => return Err(Report::new("the store panicked")),
            Err(RecvTimeoutError::Timeout) => {
                let begun = made.load(Ordering::SeqCst);
                return Err(Report::new(format!(
                    "{} of {begun} calls that threads made at once were answered, and then none \
                     for {PATIENCE:?}: they wait for one another",
                    all.len()
                )));
            }
        }
    }
    Ok(all)
}

/// A scene, and what each thread was answered there.
type Raced<'a> = (Scene<'a>, Vec<Vec<Answer>>);

/// Asks what each thread is to ask, all at once, many times over.
fn race<'a>(
    lab: &'a Lab,
    prepare: impl Fn(&Scene<'_>) -> Result<Vec<Vec<Call>>, Report>,
) -> Result<Vec<Raced<'a>>, Report> {
    let mut scenes = Vec::new();
    let mut all = Vec::new();
    for _ in 0..TIMES {
        let scene = Scene::new(lab)?;
        all.push(prepare(&scene)?);
        scenes.push(scene);
    }
    let threads = all.first().map_or(0, Vec::len);
    let answers = lab.race(threads, TIMES, |handle, time, thread| {
        let calls = all.get(time).and_then(|calls| calls.get(thread));
        let ask = |call: &Call| handle.block_on(call.ask(&*lab.store));
        let answers = calls.into_iter().flatten().map(ask);
        answers.collect::<Result<Vec<_>, Report>>()
    })?;
    let each = scenes.into_iter().zip(answers).map(|(scene, answers)| {
        let answers = answers.into_iter().collect::<Result<Vec<_>, Report>>()?;
        Ok((scene, answers))
    });
    each.collect()
}

/// While a class is retired, others record under it, tell a run to a rule that wants it, and
/// dismiss the item: each of these happens wholly, before or after it. A judgment is recorded
/// while the class is as it was looked at, or not at all; and closes the item, retired or not.
///
/// From [`record`](crate::store::JudgmentStore::record), steps 3 and 8,
/// [`rules::queue_state`](crate::rules::queue_state) and
/// [`wanted_classes`](crate::store::JudgingRuleStore::wanted_classes).
pub fn what_races_with_retiring_a_class_is_whole(backend: &impl Backend) -> Result<(), Report> {
    Lab::hold(
        "what_races_with_retiring_a_class_is_whole",
        backend,
        |lab| {
            let prepare = |scene: &Scene<'_>| {
                scene.create_class("class")?;
                scene.create_rule("rule", Some("class"), None)?;
                scene.queued("old", 0)?;
                let rules = scene.enabled()?;
                let retired = Box::new(Scene::retired(&scene.class("class", "class", 0)?, 1));
                let judgment = Ask::Judgment("judgment".parse()?);
                let record = |id: &str, run: &str| {
                    let mut new = scene.judgment(id, run, 1)?;
                    new.judgment.class = Some("class".parse()?);
                    let mut call = scene.record(new, Some(scene.copy(run, "1")?));
                    if let Ask::Record { class, .. } = &mut call.ask {
                        *class = Some(("class".parse()?, 1));
                    }
                    Ok::<_, Report>(call)
                };
                Ok(vec![
                    vec![
                        scene.call(1, Ask::ReplaceClass(1, retired)),
                        Call::reading(&scene.tenant, judgment),
                    ],
                    vec![record("judgment", "old")?, record("another", "new")?],
                    vec![
                        scene.tell(scene.ended("new")?, &rules, 2),
                        scene.dismiss("old", None, 3)?,
                    ],
                ])
            };
            for (scene, answers) in race(lab, prepare)? {
                retired(&scene, &answers).map_err(|report| {
                    report.with_context(format!("when a class was retired meanwhile: {answers:#?}"))
                })?;
            }
            Ok(())
        },
    )
}

fn retired(scene: &Scene<'_>, answers: &[Vec<Answer>]) -> Result<(), Report> {
    let all: Vec<&Answer> = answers.iter().flatten().collect();
    let [
        replaced,
        Answer::Judgment(seen),
        first,
        second,
        taken,
        dismissed,
    ] = all.as_slice()
    else {
        return Err(Report::new("other answers than were asked for"));
    };
    let ok = matches!(
        replaced,
        Answer::ClassReplaced(Applied::Done(ClassReplaced::Ok(_)))
    );
    ensure(ok, || "nobody else changed the class".to_owned())?;
    let is_recorded = |answer: &Answer| match answer {
        Answer::Recorded(Applied::Done(Recorded::Ok { .. })) => Ok(true),
        Answer::Recorded(Applied::Done(Recorded::ClassChanged)) => Ok(false),
        _ => Err(Report::new("a judgment was refused for another reason")),
    };
    let (of_old, of_new) = (is_recorded(first)?, is_recorded(second)?);
    ensure(seen.is_some() == of_old, || {
        "a judgment came after its class had been retired".to_owned()
    })?;
    let is_queued = matches!(taken, Answer::Taken(Taken::Queued(_)));
    ensure(is_queued, || "the run should have been queued".to_owned())?;
    let was = |judged| {
        if judged {
            ItemState::Judged
        } else {
            ItemState::Open
        }
    };
    let state = |run: &str| Ok::<_, Report>(scene.item(run)?.map(|item| item.state));
    ensure_eq(
        "the state of the item that came",
        &state("new")?,
        &Some(was(of_new)),
    )?;
    let should_be = match moved(dismissed) {
        Some(ItemMoved::Ok(_)) => ItemState::Dismissed,
        Some(ItemMoved::Not(ItemState::Judged)) if of_old => ItemState::Judged,
        _ => return Err(Report::new("the item should have been open, or judged")),
    };
    ensure_eq(
        "the state of the item that was there",
        &state("old")?,
        &Some(should_be),
    )?;
    let wanted = Call::reading(&scene.tenant, Ask::WantedClasses("project".parse()?));
    scene.expect(&wanted, &Answer::WantedClasses(Vec::new()))
}

/// While a run is erased, others judge it, tell it, and dismiss its item with a reason: nothing of
/// what the run or people said is left in any reading, nor in the outcome of a kept operation. Its
/// item is erased, if it has one; no telling or judgment comes after.
///
/// From [`erase_run`](crate::store::Lifecycle::erase_run).
pub fn what_races_with_erasing_a_run_leaves_no_trace(backend: &impl Backend) -> Result<(), Report> {
    Lab::hold(
        "what_races_with_erasing_a_run_leaves_no_trace",
        backend,
        |lab| {
            let scene = Scene::new(lab)?;
            scene.create_rule("rule", None, None)?;
            let mut should_be = scene.queued("run", 0)?;
            scene.recorded(
                scene.judgment("a", "run", 1)?,
                Some(scene.copy("run", "1")?),
            )?;
            scene.queued("open", 0)?;
            scene.ask(&scene.call(5, Ask::EraseRun("run".parse()?)))?;
            should_be.state = ItemState::Erased;
            should_be.agent = None;
            should_be.closed_at = Some(at(1));
            scene.expect_item("that was judged when its run was erased", &should_be)?;
            scene.ask(&scene.call(9, Ask::Remove("a".parse()?)))?;
            scene.expect_item("whose judgment was removed after that", &should_be)?;
            scene.ask(&scene.call(-5, Ask::EraseRun("open".parse()?)))?;
            should_be.run = "open".parse()?;
            should_be.closed_at = Some(at(0));
            scene.expect_item("that was open when its run was erased", &should_be)?;
            scene.ask(&scene.call(9, Ask::EraseRun("open".parse()?)))?;
            scene.expect_item("whose run was erased twice", &should_be)?;
            for call in [scene.dismiss("open", None, 9)?, scene.reopen("open", 9)?] {
                let answer = scene.ask(&call)?;
                let not = Some(&ItemMoved::Not(ItemState::Erased));
                ensure_eq("moving an erased item", &moved(&answer), &not)?;
            }
            for queued in [false, true] {
                erased_at_once(lab, queued)?;
            }
            Ok(())
        },
    )
}

fn erased_at_once(lab: &Lab, queued: bool) -> Result<(), Report> {
    let prepare = |scene: &Scene<'_>| {
        let rule = scene.create_rule("rule", None, None)?;
        if queued {
            scene.queued("run", 0)?;
        }
        let rules = EnabledRules {
            revision: scene.enabled()?.revision,
            rules: vec![rule],
        };
        let new = scene.judgment("a", "run", 2)?;
        Ok(vec![
            vec![scene.call(1, Ask::EraseRun("run".parse()?))],
            vec![scene.tell(scene.ended("run")?, &rules, 2), dismiss(scene)?],
            vec![scene.record(new, Some(scene.copy("run", "1")?))],
        ])
    };
    for (scene, answers) in race(lab, prepare)? {
        nothing_is_left(&scene, &answers, queued).map_err(|report| {
            report.with_context(format!("when the run was erased meanwhile: {answers:#?}"))
        })?;
    }
    Ok(())
}

/// As an operation that is kept.
fn dismiss(scene: &Scene<'_>) -> Result<Call, Report> {
    let call = scene.dismiss("run", Some("secret"), 3)?;
    Ok(Call {
        operation: Some(operation(1, 1, at(99))),
        ..call
    })
}

fn nothing_is_left(scene: &Scene<'_>, answers: &[Vec<Answer>], queued: bool) -> Result<(), Report> {
    let all: Vec<&Answer> = answers.iter().flatten().collect();
    let [_, Answer::Taken(taken), _, judged] = all.as_slice() else {
        return Err(Report::new("other answers than were asked for"));
    };
    let has_item = match taken {
        Taken::Queued(_) if !queued => true,
        Taken::Known if queued => true,
        Taken::RunErased => queued,
        _ => return Err(Report::new("the run should have been told, or erased")),
    };
    let item = scene.item("run")?;
    ensure_eq("whether the run has an item", &item.is_some(), &has_item)?;
    let is_blank = |item: &QueueItem| {
        item.agent.is_none() && item.reason.is_none() && item.progress.is_empty()
    };
    let page = scene.queue("project", &QueueFilter::default(), Some(first(9)))?;
    for item in item.iter().chain(&page.slice.rows) {
        ensure_eq("the state of the item", &item.state, &ItemState::Erased)?;
        ensure(is_blank(item) && item.closed_at.is_some(), || {
            format!("erased, but readable: {item:#?}")
        })?;
    }
    ensure_eq(
        "how many items there are",
        &page.total,
        &u64::from(has_item),
    )?;
    if recorded(judged).is_some() {
        let it = scene.read("a")?;
        ensure(is_bare(&it), || format!("erased, but readable: {it:#?}"))?;
    }
    let counted = scene.results("rule", None)?.counted;
    for group in &counted {
        ensure_eq(
            "the agent's version in the results",
            &group.agent_version,
            &None,
        )?;
    }
    ensure_eq("what was counted", &counted.len(), &usize::from(has_item))?;

    // Nothing comes later.
    let again = scene.ask(&dismiss(scene)?)?;
    let told = match moved(&again) {
        Some(ItemMoved::Ok(item)) => item.reason.clone(),
        _ => None,
    };
    ensure_eq("the reason in the outcome of an operation", &told, &None)?;
    ensure_eq(
        "telling it again",
        &scene.told("run", 9)?,
        &Taken::RunErased,
    )?;
    let late = scene.record(scene.judgment("b", "run", 9)?, None);
    scene.expect(&late, &Answer::Recorded(Applied::Done(Recorded::RunErased)))?;
    let live = scene
        .live(&JudgmentFilter::default(), &Readable::All, first(9))?
        .rows;
    let reasons: Vec<_> = live.iter().filter_map(|it| it.reason.clone()).collect();
    ensure(reasons.is_empty(), || {
        format!("erased, but listed: {reasons:?}")
    })
}
