//! Laws of receipts: what is kept of operations, seen from outside.

use super::operations::{everything, one_of_each, refused};
use crate::{
    conformance::{
        Backend, Report,
        call::{Answer, Ask, Call, OwnedOperation},
        lab::Lab,
        model_operations::{is_alike, receipt_of, replay},
        report::{ensure, ensure_eq},
        scene::{Scene, at, operation},
    },
    store::{
        Applied, ClassCreated, ClassReplaced, ItemMoved, JudgmentRemoved, KnownOperation, Receipt,
        Recorded, RuleAppended, RuleStopped,
    },
};

const THREADS: usize = 3;
const TIMES: usize = 40;

/// When the operations of these laws end.
const END: i64 = 100;

/// The receipt of an operation is its outcome, for every kind of transition, whatever changed
/// since, up to its instant and not at it; of another body it says that. There is none before, none
/// of what was refused and none for another tenant. Asking changes nothing. What is erased is gone
/// from it.
pub fn a_receipt_is_what_an_operation_came_to(backend: &impl Backend) -> Result<(), Report> {
    Lab::hold("a_receipt_is_what_an_operation_came_to", backend, |lab| {
        let scene = Scene::new(lab)?;
        let other = Scene::new(lab)?;
        let calls = one_of_each(&scene)?;
        let mut receipts = Vec::new();
        for call in &calls {
            let operation = of(call)?;
            is_kept(&scene, operation, 0, None)?;
            let answer = scene.ask(call)?;
            let receipt = receipt_of(&answer).ok_or_else(|| refused(call, &answer))?;
            is_kept(&other, operation, 0, None)?;
            receipts.push((operation, receipt));
        }
        // Twice, as asking at its end forgets nothing.
        for _ in 0..2 {
            receipts.iter().try_for_each(|(operation, receipt)| {
                is_kept_to_its_end(&scene, *operation, receipt)
            })?;
        }
        let remove = Call {
            operation: Some(operation(99, 1, at(END))),
            ..scene.call(0, Ask::Remove("nothing".parse()?))
        };
        scene.ask(&remove)?;
        is_kept(&scene, of(&remove)?, 0, None)?;

        for run in ["run", "queued"] {
            scene.ask(&scene.call(1, Ask::EraseRun(run.parse()?)))?;
        }
        for (operation, mut receipt) in receipts {
            match &mut receipt {
                Receipt::Recorded(Recorded::Ok { judgment, .. }) => judgment.reason = None,
                Receipt::Dismissed(ItemMoved::Ok(item)) => item.reason = None,
                _ => {}
            }
            is_kept_to_its_end(&scene, operation, &receipt)?;
        }
        Ok(())
    })
}

/// The operation of a call that has one.
fn of(call: &Call) -> Result<OwnedOperation, Report> {
    let operation = call.operation;
    operation.ok_or_else(|| Report::new("the suite made a call without an operation"))
}

/// Fails the law unless this is the receipt at that time.
fn is_kept(
    scene: &Scene<'_>,
    operation: OwnedOperation,
    now: i64,
    should_be: Option<KnownOperation>,
) -> Result<(), Report> {
    let ask = scene.call(now, Ask::Receipt(operation));
    scene.expect(&ask, &Answer::Receipt(should_be))
}

/// Fails the law unless this is the receipt until the operation ends, and for its body alone.
fn is_kept_to_its_end(
    scene: &Scene<'_>,
    by: OwnedOperation,
    receipt: &Receipt,
) -> Result<(), Report> {
    let other = operation(by.id.0[0], 2, by.keep_until);
    for now in [-9, 0, END - 1] {
        is_kept(scene, by, now, Some(KnownOperation::Done(receipt.clone())))?;
        is_kept(scene, other, now, Some(KnownOperation::OtherBody))?;
    }
    for now in [END, 10 * END] {
        is_kept(scene, by, now, None)?;
        is_kept(scene, other, now, None)?;
    }
    Ok(())
}

/// What may be kept of an operation that found everything as it was to be.
struct Unchanged {
    receipt: Receipt,
    /// Another of its kind.
    later: Receipt,
    /// A transition of its kind that would change something.
    call: Call,
}

fn unchanged(scene: &Scene<'_>) -> Result<Vec<Unchanged>, Report> {
    let rule = |version| {
        let rule = Box::new(scene.rule("rule", version, 0)?);
        Ok::<_, Report>(Receipt::RuleAppended(RuleAppended::Ok(rule)))
    };
    let class = |id: &str| Ok::<_, Report>(Box::new(scene.class(id, id, 0)?));
    let stopped = |receipt, later| {
        Ok::<_, Report>(Unchanged {
            receipt: Receipt::RuleStopped(receipt),
            later: Receipt::RuleStopped(later),
            call: scene.stop("rule", 0)?,
        })
    };
    let removed = |receipt, later| {
        Ok::<_, Report>(Unchanged {
            receipt: Receipt::JudgmentRemoved(receipt),
            later: Receipt::JudgmentRemoved(later),
            call: scene.call(0, Ask::Remove("a".parse()?)),
        })
    };
    let retired = Box::new(Scene::retired(&*class("class")?, 1));
    Ok(vec![
        Unchanged {
            receipt: rule(1)?,
            later: rule(7)?,
            call: scene.append(&scene.rule("rule", 2, 0)?),
        },
        Unchanged {
            receipt: Receipt::ClassCreated(ClassCreated::Ok(class("class")?)),
            later: Receipt::ClassCreated(ClassCreated::Ok(class("another")?)),
            call: scene.call(0, Ask::CreateClass(class("new")?)),
        },
        Unchanged {
            receipt: Receipt::ClassReplaced(ClassReplaced::Ok(class("class")?)),
            later: Receipt::ClassReplaced(ClassReplaced::Ok(class("another")?)),
            call: scene.call(0, Ask::ReplaceClass(1, retired)),
        },
        stopped(RuleStopped::NotLive, RuleStopped::Ok)?,
        stopped(RuleStopped::Ok, RuleStopped::NotLive)?,
        removed(JudgmentRemoved::NotLive, JudgmentRemoved::Ok)?,
        removed(JudgmentRemoved::Ok, JudgmentRemoved::NotLive)?,
    ])
}

/// An operation that changed nothing is kept as one that did. From then on that receipt, and no
/// later one, is the answer for the same body and kind of transition, whether it is to be kept
/// again or to be done; nothing changes then. Without an operation nothing is kept. Where threads
/// come at once, one of them is first.
pub fn what_changed_nothing_is_kept_once(backend: &impl Backend) -> Result<(), Report> {
    Lab::hold("what_changed_nothing_is_kept_once", backend, |lab| {
        let scene = Scene::new(lab)?;
        scene.ask(&scene.append(&scene.rule("rule", 1, 0)?))?;
        scene.create_class("class")?;
        let copy = scene.copy("run", "1")?;
        scene.recorded(scene.judgment("a", "run", 0)?, Some(copy))?;
        let before = everything(&scene)?;
        let all = unchanged(&scene)?;
        for (id, unchanged) in (1..).zip(&all) {
            let Unchanged {
                receipt,
                later,
                call,
            } = unchanged;
            let by = operation(id, 1, at(END));
            let done = Answer::Kept(Applied::Done(receipt.clone()));
            let replayed = Answer::Kept(Applied::Replayed(receipt.clone()));
            scene.expect(&keep(&scene, None, 0, receipt), &done)?;
            is_kept(&scene, by, 0, None)?;
            scene.expect(&keep(&scene, Some(by), 0, receipt), &done)?;
            for now in [-9, 0, END - 1] {
                scene.expect(&keep(&scene, Some(by), now, receipt), &replayed)?;
                scene.expect(&keep(&scene, Some(by), now, later), &replayed)?;
            }
            let again = Call {
                operation: Some(by),
                ..call.clone()
            };
            scene.expect(&again, &replay(&again, Some(receipt.clone())))?;
            let other_body = Answer::Kept(Applied::OtherBody);
            let other = Some(operation(id, 2, at(END)));
            scene.expect(&keep(&scene, other, 0, receipt), &other_body)?;
            for mixed in all.iter().map(|unchanged| &unchanged.receipt) {
                if !is_alike(mixed, receipt) {
                    scene.expect(&keep(&scene, Some(by), 0, mixed), &other_body)?;
                }
            }
            is_kept_to_its_end(&scene, by, receipt)?;
        }
        let after = everything(&scene)?;
        ensure_eq("what can be read after keeping", &after, &before)?;
        stopped_before(&scene)?;
        // From its end on it is another operation.
        for (id, Unchanged { later, .. }) in (1..).zip(&all) {
            let by = Some(operation(id, 2, at(2 * END)));
            let done = Answer::Kept(Applied::Done(later.clone()));
            scene.expect(&keep(&scene, by, END, later), &done)?;
        }
        race_to_keep(lab)?;
        race_to_stop(lab)
    })
}

fn keep(scene: &Scene<'_>, by: Option<OwnedOperation>, now: i64, receipt: &Receipt) -> Call {
    Call {
        operation: by,
        ..scene.call(now, Ask::Keep(Box::new(receipt.clone())))
    }
}

/// What is to be kept of an operation that did something is what it did.
fn stopped_before(scene: &Scene<'_>) -> Result<(), Report> {
    let by = Some(operation(99, 1, at(END)));
    let stop = Call {
        operation: by,
        ..scene.stop("rule", 0)?
    };
    let stopped = Answer::RuleStopped(Applied::Done(RuleStopped::Ok));
    scene.expect(&stop, &stopped)?;
    let unchanged = Receipt::RuleStopped(RuleStopped::NotLive);
    let did = Answer::Kept(Applied::Replayed(Receipt::RuleStopped(RuleStopped::Ok)));
    scene.expect(&keep(scene, by, 0, &unchanged), &did)
}

/// Threads keep a receipt of the same operation at once, each another.
fn race_to_keep(lab: &Lab) -> Result<(), Report> {
    let scenes = scenes(lab)?;
    let by = operation(1, 1, at(END));
    let answers = lab.race(THREADS, TIMES, |handle, time, thread| {
        let scene = scene_of(&scenes, time)?;
        let version = u32::try_from(thread + 1).unwrap_or_default();
        let rule = Box::new(scene.rule("rule", version, 0)?);
        let receipt = Receipt::RuleAppended(RuleAppended::Ok(rule));
        let keep = keep(scene, Some(by), 0, &receipt);
        handle.block_on(keep.ask(&*lab.store))
    })?;
    for (scene, answers) in scenes.iter().zip(answers) {
        let answers = answers.into_iter().collect::<Result<Vec<_>, _>>()?;
        let first = first(&answers)?;
        let kept = |answer: &Answer| match answer {
            Answer::Kept(Applied::Done(it) | Applied::Replayed(it)) => *it == first,
            _ => false,
        };
        ensure(answers.iter().all(kept), || told(&answers))?;
        is_kept(scene, by, 0, Some(KnownOperation::Done(first)))?;
    }
    Ok(())
}

/// One thread keeps that there was nothing to stop, and the others stop it, as one operation.
fn race_to_stop(lab: &Lab) -> Result<(), Report> {
    let scenes = scenes(lab)?;
    for scene in &scenes {
        scene.ask(&scene.append(&scene.rule("rule", 1, 0)?))?;
    }
    let by = operation(1, 1, at(END));
    let answers = lab.race(THREADS, TIMES, |handle, time, thread| {
        let scene = scene_of(&scenes, time)?;
        let unchanged = Receipt::RuleStopped(RuleStopped::NotLive);
        let call = match thread {
            0 => keep(scene, Some(by), 0, &unchanged),
            _ => Call {
                operation: Some(by),
                ..scene.stop("rule", 0)?
            },
        };
        handle.block_on(call.ask(&*lab.store))
    })?;
    for (scene, answers) in scenes.iter().zip(answers) {
        let answers = answers.into_iter().collect::<Result<Vec<_>, _>>()?;
        let first = first(&answers)?;
        let same = |answer: &Answer| match answer {
            Answer::Kept(Applied::Done(it) | Applied::Replayed(it)) => *it == first,
            Answer::RuleStopped(Applied::Done(it) | Applied::Replayed(it)) => {
                Receipt::RuleStopped(*it) == first
            }
            _ => false,
        };
        ensure(answers.iter().all(same), || told(&answers))?;
        let lives = scene.latest("rule")?.unregistered_at.is_none();
        let stopped = first == Receipt::RuleStopped(RuleStopped::Ok);
        ensure(lives != stopped, || told(&answers))?;
    }
    Ok(())
}

fn scenes(lab: &Lab) -> Result<Vec<Scene<'_>>, Report> {
    (0..TIMES).map(|_| Scene::new(lab)).collect()
}

fn scene_of<'s, 'l>(scenes: &'s [Scene<'l>], time: usize) -> Result<&'s Scene<'l>, Report> {
    let scene = scenes.get(time);
    scene.ok_or_else(|| Report::new("the suite has no such scene"))
}

/// The receipt of the one that was done.
fn first(answers: &[Answer]) -> Result<Receipt, Report> {
    let mut done = answers.iter().filter_map(receipt_of);
    match (done.next(), done.next()) {
        (Some(first), None) => Ok(first),
        _ => Err(Report::new(told(answers))),
    }
}

fn told(answers: &[Answer]) -> String {
    format!("of one operation's threads, one should be first: {answers:#?}")
}
