//! Laws of operations, which take effect at most once while they are kept.

use crate::{
    conformance::{
        Backend, Report,
        call::{Answer, Ask, Call},
        lab::Lab,
        report::{ensure, ensure_eq},
        scene::{Scene, at, first, operation, recorded},
        scene_queue::moved,
    },
    model::{ItemState, JudgeClass, Readable, Weight},
    store::{
        Applied, ClassCreated, ClassFilter, ClassReplaced, ItemMoved, JudgmentFilter,
        JudgmentRemoved, Recorded, RuleAppended, RuleStopped,
    },
};

const THREADS: usize = 3;
const TIMES: usize = 40;

/// The calls of all kinds that take effect, each as its own operation, in an order in which they
/// do. There is a run in the queue by then.
pub(super) fn one_of_each(scene: &Scene<'_>) -> Result<Vec<Call>, Report> {
    scene.create_rule("of the queue", None, None)?;
    scene.queued("queued", 0)?;
    let class = scene.class("class", "name", 0)?;
    let next = JudgeClass {
        weight: Weight::new(2.0).ok_or_else(|| Report::new("2 is a weight"))?,
        ..class.clone()
    };
    let copy = scene.copy("run", "1")?;
    let mut calls = vec![
        scene.record(scene.judgment("a", "run", 0)?, Some(copy.clone())),
        scene.record(scene.judgment("b", "run", 0)?, Some(copy)),
        scene.call(0, Ask::Remove("b".parse()?)),
        scene.call(0, Ask::CreateClass(Box::new(class))),
        scene.call(0, Ask::ReplaceClass(1, Box::new(next))),
        scene.append(&scene.rule("rule", 1, 0)?),
        scene.append(&scene.rule("rule", 2, 0)?),
        scene.stop("rule", 0)?,
        scene.dismiss("queued", Some("because"), 1)?,
        scene.reopen("queued", 2)?,
    ];
    for (call, id) in calls.iter_mut().zip(0..) {
        call.operation = Some(operation(id, 1, at(100)));
    }
    Ok(calls)
}

/// What is done once is replayed, as it was, for the same body and refused for another; nothing
/// changes then. So it is for every kind of transition, after later changes, and when threads
/// bring the same operation at once. An id that one kind of transition used isn't another's.
pub fn a_kept_operation_takes_effect_once(backend: &impl Backend) -> Result<(), Report> {
    Lab::hold("a_kept_operation_takes_effect_once", backend, |lab| {
        let scene = Scene::new(lab)?;
        let calls = one_of_each(&scene)?;
        let answers = calls
            .iter()
            .map(|call| scene.ask(call))
            .collect::<Result<Vec<_>, _>>()?;
        let before = everything(&scene)?;
        for (call, answer) in calls.iter().zip(&answers) {
            let again = as_replayed(answer).ok_or_else(|| refused(call, answer))?;
            scene.expect(call, &again)?;
            // By a later write's clock, and an earlier one's.
            for now in [99, -9] {
                scene.expect(
                    &Call {
                        now: at(now),
                        ..call.clone()
                    },
                    &again,
                )?;
            }
            let mut other = call.clone();
            other.operation = other
                .operation
                .map(|o| operation(o.id.0[0], 2, o.keep_until));
            scene.expect(&other, &as_other_body(answer))?;
        }
        for (call, answer) in calls.iter().zip(&answers) {
            for used in calls.iter().filter(|used| kind(used) != kind(call)) {
                let mixed = Call {
                    operation: used.operation,
                    ..call.clone()
                };
                scene.expect(&mixed, &as_other_body(answer))?;
            }
        }
        ensure_eq(
            "what can be read after replays",
            &everything(&scene)?,
            &before,
        )?;
        race(lab)?;
        race_to_dismiss(lab)
    })
}

/// Threads bring the same dismissal at once, each by a clock of its own.
fn race_to_dismiss(lab: &Lab) -> Result<(), Report> {
    let mut scenes = Vec::new();
    for _ in 0..TIMES {
        let scene = Scene::new(lab)?;
        scene.create_rule("rule", None, None)?;
        scene.queued("run", 0)?;
        scenes.push(scene);
    }
    let answers = lab.race(THREADS, TIMES, |handle, time, thread| {
        let scene = scenes
            .get(time)
            .ok_or_else(|| Report::new("no such scene"))?;
        let now = i64::try_from(thread).unwrap_or_default();
        let mut call = scene.dismiss("run", None, now)?;
        call.operation = Some(operation(1, 1, at(100)));
        handle.block_on(call.ask(&*lab.store))
    })?;
    for (scene, answers) in scenes.iter().zip(answers) {
        let answers = answers.into_iter().collect::<Result<Vec<_>, _>>()?;
        let told = || format!("of one operation's threads, one should act: {answers:#?}");
        let done = |it: &&Answer| matches!(it, Answer::Dismissed(Applied::Done(_)));
        ensure(answers.iter().filter(done).count() == 1, told)?;
        let item = scene.item("run")?.map(|item| ItemMoved::Ok(Box::new(item)));
        let same = answers.iter().all(|it| moved(it) == item.as_ref());
        ensure(same, told)?;
    }
    Ok(())
}

/// Threads bring the same operation at once, each with an id of its own for the new row.
fn race(lab: &Lab) -> Result<(), Report> {
    let scenes: Vec<Scene<'_>> = (0..TIMES)
        .map(|_| Scene::new(lab))
        .collect::<Result<_, _>>()?;
    let answers = lab.race(THREADS, TIMES, |handle, time, thread| {
        let scene = scenes
            .get(time)
            .ok_or_else(|| Report::new("no such scene"))?;
        let new = scene.judgment(&format!("j{thread}"), "run", 0)?;
        let mut call = scene.record(new, Some(scene.copy("run", "1")?));
        call.operation = Some(operation(1, 1, at(100)));
        handle.block_on(call.ask(&*lab.store))
    })?;
    for (scene, answers) in scenes.iter().zip(answers) {
        let answers = answers.into_iter().collect::<Result<Vec<_>, _>>()?;
        let told = || format!("of one operation's threads, one should act: {answers:#?}");
        let done = answers
            .iter()
            .filter(|it| matches!(it, Answer::Recorded(Applied::Done(_))))
            .count();
        let mut ids: Vec<_> = answers
            .iter()
            .filter_map(recorded)
            .map(|judgment| judgment.id.clone())
            .collect();
        let all = ids.len() == THREADS;
        ids.dedup();
        ensure(done == 1 && all && ids.len() == 1, told)?;
        let live = scene
            .live(&JudgmentFilter::default(), &Readable::All, first(9))?
            .rows;
        let live: Vec<_> = live.into_iter().map(|judgment| judgment.id).collect();
        ensure_eq("the live judgments of one operation", &live, &ids)?;
    }
    Ok(())
}

/// An operation that was refused is tried anew: what stood in its way may be gone.
pub fn a_refusal_is_never_kept(backend: &impl Backend) -> Result<(), Report> {
    Lab::hold("a_refusal_is_never_kept", backend, |lab| {
        let scene = Scene::new(lab)?;
        let with = |call: Call, id| Call {
            operation: Some(operation(id, 1, at(100))),
            ..call
        };
        let done = |outcome| Answer::Recorded(Applied::Done(outcome));
        let new = scene.judgment("a", "run", 0)?;
        let without = with(scene.record(new.clone(), None), 1);
        scene.expect(&without, &done(Recorded::NeedsCopy))?;
        scene.expect(&without, &done(Recorded::NeedsCopy))?;

        let stale = with(scene.record(new.clone(), Some(scene.copy("run", "1")?)), 1);
        let mut stale = stale;
        if let Ask::Record { class, .. } = &mut stale.ask {
            *class = Some(("class".parse()?, 1));
        }
        scene.expect(&stale, &done(Recorded::ClassChanged))?;
        let ok = Recorded::Ok {
            judgment: Box::new(new.judgment.clone()),
            superseded: None,
        };
        let right = with(scene.record(new, Some(scene.copy("run", "1")?)), 1);
        scene.expect(&right, &done(ok))?;

        let remove = with(scene.call(0, Ask::Remove("b".parse()?)), 2);
        let removed = |outcome| Answer::Removed(Applied::Done(outcome));
        scene.expect(&remove, &removed(JudgmentRemoved::NotLive))?;
        scene.recorded(scene.judgment("b", "run", 0)?, None)?;
        scene.expect(&remove, &removed(JudgmentRemoved::Ok))?;

        let first = scene.class("c1", "name", 0)?;
        let second = scene.class("c2", "name", 0)?;
        let created = |outcome| Answer::ClassCreated(Applied::Done(outcome));
        let replaced = |outcome| Answer::ClassReplaced(Applied::Done(outcome));
        let retire = |at| {
            let next = Box::new(Scene::retired(&first, 1));
            with(scene.call(1, Ask::ReplaceClass(at, next)), 4)
        };
        scene.expect(&retire(1), &replaced(ClassReplaced::NotLive))?;
        let create = scene.call(0, Ask::CreateClass(Box::new(first.clone())));
        scene.expect(&create, &created(ClassCreated::Ok(Box::new(first.clone()))))?;
        let create = with(scene.call(0, Ask::CreateClass(Box::new(second.clone()))), 3);
        scene.expect(&create, &created(ClassCreated::NameTaken))?;
        scene.expect(&retire(2), &replaced(ClassReplaced::Stale))?;
        let retired = ClassReplaced::Ok(Box::new(Scene::retired(&first, 1)));
        scene.expect(&retire(1), &replaced(retired))?;
        scene.expect(&create, &created(ClassCreated::Ok(Box::new(second))))?;
        no_refusal_of_rules(&scene)?;
        no_refusal_of_items(&Scene::new(lab)?)
    })
}

/// The same of items: each moves once it is where it can.
fn no_refusal_of_items(scene: &Scene<'_>) -> Result<(), Report> {
    let with = |call: Call, id| Call {
        operation: Some(operation(id, 1, at(100))),
        ..call
    };
    let refused = |call: &Call, should_be: ItemMoved| {
        let answer = scene.ask(call)?;
        let what = format!("the answer to\n  {call}");
        ensure_eq(&what, &moved(&answer), &Some(&should_be))
    };
    let dismiss = with(scene.dismiss("run", None, 1)?, 1);
    let reopen = with(scene.reopen("run", 2)?, 2);
    scene.create_rule("rule", None, None)?;
    for call in [&dismiss, &reopen] {
        refused(call, ItemMoved::Missing)?;
    }
    scene.queued("run", 0)?;
    refused(&reopen, ItemMoved::Not(ItemState::Open))?;
    let another = with(scene.dismiss("run", None, 1)?, 3);
    scene.moved(&another)?;
    refused(&dismiss, ItemMoved::Not(ItemState::Dismissed))?;
    scene.moved(&reopen)?;
    let dismissed = scene.moved(&dismiss)?;
    ensure_eq("where it is", &dismissed.state, &ItemState::Dismissed)
}

/// The same of rules: what stood in the way of a version is gone each time.
fn no_refusal_of_rules(scene: &Scene<'_>) -> Result<(), Report> {
    let with = |mut call: Call, id, revision| {
        call.operation = Some(operation(id, 1, at(100)));
        if let Ask::AppendRule { class, .. } = &mut call.ask {
            *class = Some(("of rules".parse()?, revision));
        }
        Ok::<Call, Report>(call)
    };
    let done = |outcome| Answer::RuleAppended(Applied::Done(outcome));
    let stopped = |outcome| Answer::RuleStopped(Applied::Done(outcome));
    let stop = with(scene.stop("rule", 1)?, 9, 1)?;
    scene.expect(&stop, &stopped(RuleStopped::NotLive))?;
    let third = scene.rule("rule", 3, 0)?;
    let third = |revision| with(scene.append(&third), 5, revision);
    scene.expect(&third(1)?, &done(RuleAppended::NotLive))?;
    scene.ask(&scene.append(&scene.rule("rule", 1, 0)?))?;
    scene.expect(&third(1)?, &done(RuleAppended::Stale))?;
    scene.ask(&scene.append(&scene.rule("rule", 2, 0)?))?;
    scene.expect(&third(1)?, &done(RuleAppended::ClassChanged))?;
    let class = scene.class("of rules", "of rules", 0)?;
    scene.ask(&scene.call(0, Ask::CreateClass(Box::new(class))))?;
    let ok = RuleAppended::Ok(Box::new(scene.rule("rule", 3, 0)?));
    scene.expect(&third(1)?, &done(ok))?;
    scene.expect(&stop, &stopped(RuleStopped::Ok))
}

/// An operation is kept up to its instant and not at it, by the clock of the write that comes
/// then; from there on its id is a new operation's, with another body too.
pub fn an_operation_ends_at_its_instant(backend: &impl Backend) -> Result<(), Report> {
    Lab::hold("an_operation_ends_at_its_instant", backend, |lab| {
        let scene = Scene::new(lab)?;
        let copy = scene.copy("run", "1")?;
        let call = |id: &str, now, body, until| {
            let call = scene.record(scene.judgment(id, "run", now)?, Some(copy.clone()));
            Ok::<_, Report>(Call {
                operation: Some(operation(1, body, at(until))),
                ..call
            })
        };
        let done = |id: &str, call: Call| {
            let answer = scene.ask(&call)?;
            let is = recorded(&answer).map(|judgment| judgment.id.to_string());
            let done = matches!(answer, Answer::Recorded(Applied::Done(_)));
            ensure(done && is.as_deref() == Some(id), || {
                refused(&call, &answer).to_string()
            })
        };
        done("a", call("a", 0, 1, 50)?)?;
        let replayed = scene.ask(&call("b", 49, 1, 500)?)?;
        let is = recorded(&replayed).map(|judgment| judgment.id.to_string());
        ensure_eq(
            "the judgment replayed one millisecond before",
            &is,
            &Some("a".to_owned()),
        )?;
        done("c", call("c", 50, 2, 60)?)?;
        let other = Answer::Recorded(Applied::OtherBody);
        scene.expect(&call("d", 59, 1, 500)?, &other)?;
        done("e", call("e", 1_000, 1, 1_001)?)
    })
}

/// All that can be read of what [`one_of_each`] wrote.
pub(super) fn everything(scene: &Scene<'_>) -> Result<Vec<Answer>, Report> {
    [
        Ask::Judgment("a".parse()?),
        Ask::Judgment("b".parse()?),
        Ask::Judgments(JudgmentFilter::default(), Readable::All, first(9)),
        Ask::Class("class".parse()?),
        Ask::Classes(ClassFilter::default(), Readable::All, first(9)),
        Ask::Rule("project".parse()?, "rule".parse()?),
        Ask::Rules("project".parse()?, first(9)),
        Ask::RuleVersions("project".parse()?, "rule".parse()?, None, first(9).limit),
        Ask::EnabledRules("project".parse()?),
        Ask::Queue("project".parse()?, Box::default(), Some(first(9))),
    ]
    .into_iter()
    .map(|ask| scene.ask(&Call::reading(&scene.tenant, ask)))
    .collect()
}

fn kind(call: &Call) -> std::mem::Discriminant<Ask> {
    std::mem::discriminant(&call.ask)
}

pub(super) fn refused(call: &Call, answer: &Answer) -> Report {
    Report::new(format!(
        "should have been done, but the answer was {answer:?}, to\n  {call}"
    ))
}

/// The answer to the same again; `None` unless it was done.
fn as_replayed(answer: &Answer) -> Option<Answer> {
    use Applied::{Done, Replayed};
    Some(match answer.clone() {
        Answer::Recorded(Done(it @ Recorded::Ok { .. })) => Answer::Recorded(Replayed(it)),
        Answer::Removed(Done(it @ JudgmentRemoved::Ok)) => Answer::Removed(Replayed(it)),
        Answer::ClassCreated(Done(it @ ClassCreated::Ok(_))) => Answer::ClassCreated(Replayed(it)),
        Answer::ClassReplaced(Done(it @ ClassReplaced::Ok(_))) => {
            Answer::ClassReplaced(Replayed(it))
        }
        Answer::RuleAppended(Done(it @ RuleAppended::Ok(_))) => Answer::RuleAppended(Replayed(it)),
        Answer::RuleStopped(Done(it @ RuleStopped::Ok)) => Answer::RuleStopped(Replayed(it)),
        Answer::Dismissed(Done(it @ ItemMoved::Ok(_))) => Answer::Dismissed(Replayed(it)),
        Answer::Reopened(Done(it @ ItemMoved::Ok(_))) => Answer::Reopened(Replayed(it)),
        _ => return None,
    })
}

/// The answer to another body.
fn as_other_body(answer: &Answer) -> Answer {
    match answer {
        Answer::Removed(_) => Answer::Removed(Applied::OtherBody),
        Answer::ClassCreated(_) => Answer::ClassCreated(Applied::OtherBody),
        Answer::ClassReplaced(_) => Answer::ClassReplaced(Applied::OtherBody),
        Answer::RuleAppended(_) => Answer::RuleAppended(Applied::OtherBody),
        Answer::RuleStopped(_) => Answer::RuleStopped(Applied::OtherBody),
        Answer::Dismissed(_) => Answer::Dismissed(Applied::OtherBody),
        Answer::Reopened(_) => Answer::Reopened(Applied::OtherBody),
        _ => Answer::Recorded(Applied::OtherBody),
    }
}
