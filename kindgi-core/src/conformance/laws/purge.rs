//! Laws of purging.

use std::num::NonZeroU16;

use crate::{
    Timestamp,
    conformance::{
        Backend, Report,
        call::{Answer, Ask, Call},
        lab::Lab,
        report::{ensure, ensure_eq},
        scene::{Scene, at, position},
    },
    model::{EndedRun, ItemState, JudgingRule, ProjectId, QueueItem, Subject},
    rules::results::Counted,
    store::{
        Applied, Candidate, Keyset, PurgePart, PurgePosition, Purged, QueueFilter, Recorded, Taken,
    },
};

const TIMES: usize = 40;

/// How many steps a purge of few rows may take.
const MAX_STEPS: usize = 1_000;

fn project() -> Result<ProjectId, Report> {
    Ok("project".parse()?)
}

/// A step of a purge.
fn step(
    scene: &Scene<'_>,
    before: Timestamp,
    from: Option<PurgePosition>,
    limit: u16,
) -> Result<Purged, Report> {
    let limit = NonZeroU16::new(limit).unwrap_or(NonZeroU16::MIN);
    let ask = Ask::Purge {
        before,
        from,
        limit,
    };
    match scene.ask(&scene.call(1_000, ask))? {
        Answer::Purged(purged) => Ok(purged),
        _ => Err(Report::new("another answer than was asked for")),
    }
}

/// The rows that a purge to its end removed, by steps of this size.
fn purge(scene: &Scene<'_>, before: Timestamp, limit: u16) -> Result<u64, Report> {
    let (mut from, mut removed) = (None, 0);
    for _ in 0..MAX_STEPS {
        let done = step(scene, before, from, limit)?;
        ensure(done.removed <= u64::from(limit), || {
            format!("a step of {limit} removed more: {done:?}")
        })?;
        removed += done.removed;
        from = done.next;
        if from.is_none() {
            return Ok(removed);
        }
    }
    Err(endless())
}

fn run(id: &str, ended_at: i64) -> Result<EndedRun, Report> {
    let subject = Subject::Agent {
        id: "agent".parse()?,
        version: "1".parse()?,
    };
    Ok(EndedRun::new(
        id.parse()?,
        project()?,
        subject,
        at(ended_at),
    ))
}

/// Creates the one rule of the project and gives it as it takes runs, from revision 1.
fn rule(scene: &Scene<'_>) -> Result<JudgingRule, Report> {
    let rule = scene.rule("rule", 1, 0)?;
    scene.ask(&scene.append(&rule))?;
    Ok(rule)
}

fn take(scene: &Scene<'_>, rule: &JudgingRule, run: EndedRun, now: i64) -> Result<Taken, Report> {
    let ask = Ask::Take {
        run: Box::new(run),
        rules: 1,
        candidates: vec![Candidate::from(rule)],
    };
    match scene.ask(&scene.call(now, ask))? {
        Answer::Taken(taken) => Ok(taken),
        _ => Err(Report::new("another answer than was asked for")),
    }
}

fn is_there(scene: &Scene<'_>, id: &str) -> Result<bool, Report> {
    let call = Call::reading(&scene.tenant, Ask::Judgment(id.parse()?));
    Ok(scene.ask(&call)? != Answer::Judgment(None))
}

fn item(scene: &Scene<'_>, run: &str) -> Result<Option<QueueItem>, Report> {
    let call = Call::reading(&scene.tenant, Ask::QueueItem(project()?, run.parse()?));
    match scene.ask(&call)? {
        Answer::QueueItem(item) => Ok(item.map(|item| *item)),
        _ => Err(Report::new("another answer than was asked for")),
    }
}

/// How many items are in a state.
fn total(scene: &Scene<'_>, state: Option<ItemState>) -> Result<u64, Report> {
    let filter = QueueFilter {
        state,
        ..QueueFilter::default()
    };
    let none: Option<Keyset> = None;
    let ask = Ask::Queue(project()?, Box::new(filter), none);
    match scene.ask(&Call::reading(&scene.tenant, ask))? {
        Answer::Queue(slice) => Ok(slice.total),
        _ => Err(Report::new("another answer than was asked for")),
    }
}

fn counted(scene: &Scene<'_>) -> Result<Vec<Counted>, Report> {
    let ask = Ask::RuleResults(project()?, "rule".parse()?, None);
    match scene.ask(&Call::reading(&scene.tenant, ask))? {
        Answer::RuleResults(Some(results)) => Ok(results.counted),
        answer => Err(Report::new(format!("the rule is gone: {answer:?}"))),
    }
}

fn next(part: PurgePart, after: Option<(i64, &str)>) -> Option<PurgePosition> {
    let after = after.map(|(millis, id)| position(at(millis), id));
    Some(PurgePosition { part, after })
}

/// A purge removes what is older than its instant and nothing else, oldest first, by steps of any
/// size that say where to go on: judgments, a run's copy with its last one, runs that were told
/// with their items, and retired classes that nothing names.
pub fn a_purge_removes_what_is_older_and_nothing_else(
    backend: &impl Backend,
) -> Result<(), Report> {
    let law = "a_purge_removes_what_is_older_and_nothing_else";
    Lab::hold(law, backend, |lab| {
        steps(&Scene::new(lab)?)?;
        for limit in [1, 2, 100] {
            older(&Scene::new(lab)?, &Scene::new(lab)?, limit)?;
            classes(&Scene::new(lab)?, limit)?;
        }
        Ok(())
    })
}

/// What each step does, and where it says to go on.
fn steps(scene: &Scene<'_>) -> Result<(), Report> {
    for (id, now) in [("a", 1), ("b", 1), ("c", 2), ("young", 5)] {
        let new = scene.judgment(id, id, now)?;
        scene.recorded(new, Some(scene.copy(id, "1")?))?;
    }
    use PurgePart::{Classes, Judgments};
    let mut from = None;
    for (removed, then) in [
        (0, next(Judgments, None)),
        (2, next(Judgments, Some((1, "b")))),
        (1, next(Classes, None)),
        (0, None),
    ] {
        let done = step(scene, at(5), from, 2)?;
        let should_be = Purged {
            removed,
            next: then,
        };
        ensure_eq("what a step of 2 did", &done, &should_be)?;
        from = done.next;
    }
    // Where as many rows are left as a step takes, it can't know that these are the last.
    let done = step(scene, at(9), next(Judgments, None), 1)?;
    let should_be = Purged {
        removed: 1,
        next: next(Judgments, Some((5, "young"))),
    };
    ensure_eq("what a step of 1 did", &done, &should_be)?;
    let done = step(scene, at(9), done.next, 1)?;
    let should_be = Purged {
        removed: 0,
        next: next(Classes, None),
    };
    ensure_eq("what a step that found nothing did", &done, &should_be)
}

/// Rows of before, at and after the instant.
fn older(scene: &Scene<'_>, other: &Scene<'_>, limit: u16) -> Result<(), Report> {
    let rule = rule(scene)?;
    // One run is judged early and late, so its copy stays; the chain is cut.
    for (id, run, now) in [
        ("first", "chain", 1),
        ("second", "chain", 6),
        ("dead", "dead", 2),
        ("lone", "lone", 3),
        ("exact", "exact", 5),
    ] {
        let new = scene.judgment(id, run, now)?;
        scene.recorded(new, Some(scene.copy(run, r#"{"of":"old"}"#)?))?;
    }
    scene.ask(&scene.call(7, Ask::Remove("dead".parse()?)))?;
    for (id, ended_at, told_at) in [
        ("told", 1, 2),
        ("told late", 1, 6),
        ("ended late", 6, 2),
        ("lone", 2, 2),
    ] {
        let taken = take(scene, &rule, run(id, ended_at)?, told_at)?;
        ensure(matches!(taken, Taken::Queued(_)), || format!("{taken:?}"))?;
    }
    let theirs = other.judgment("first", "chain", 1)?;
    other.recorded(theirs, Some(other.copy("chain", "1")?))?;

    let removed = purge(scene, at(5), limit)?;
    // Three judgments, two tellings.
    ensure_eq(&format!("what a purge by {limit} removed"), &removed, &5)?;
    for (id, stays) in [
        ("first", false),
        ("second", true),
        ("dead", false),
        ("lone", false),
        ("exact", true),
    ] {
        ensure_eq(
            &format!("whether {id:?} is there"),
            &is_there(scene, id)?,
            &stays,
        )?;
    }
    ensure(is_there(other, "first")?, || {
        "a purge removed another tenant's judgment".into()
    })?;
    let copy = scene.read("second")?.run;
    ensure_eq(
        "the copy that stays",
        &copy,
        &scene.copy("chain", r#"{"of":"old"}"#)?,
    )?;
    for (id, stays) in [
        ("told", false),
        ("told late", true),
        ("ended late", true),
        ("lone", false),
    ] {
        let there = item(scene, id)?.is_some();
        ensure_eq(
            &format!("whether the item of {id:?} is there"),
            &there,
            &stays,
        )?;
    }
    ensure_eq("how many items there are", &total(scene, None)?, &2)?;
    let added: Vec<u64> = counted(scene)?
        .iter()
        .map(|group| group.states.iter().sum())
        .collect();
    ensure_eq("how many runs the rule added", &added, &vec![2])?;
    ensure_eq(
        "what a second purge removes",
        &purge(scene, at(5), limit)?,
        &0,
    )?;

    // The copies went with the last judgments.
    for run in ["dead", "lone"] {
        let again = scene.judgment(&format!("again {run}"), run, 8)?;
        let call = scene.record(again.clone(), None);
        scene.expect(&call, &Answer::Recorded(Applied::Done(Recorded::NeedsCopy)))?;
        scene.recorded(again, Some(scene.copy(run, r#"{"of":"new"}"#)?))?;
    }
    Ok(())
}

/// Retired classes go, unless a judgment or a rule names them.
fn classes(scene: &Scene<'_>, limit: u16) -> Result<(), Report> {
    for id in ["live", "late", "judged", "wanted", "a", "b"] {
        let class = scene.class(id, id, 0)?;
        scene.ask(&scene.call(0, Ask::CreateClass(Box::new(class.clone()))))?;
        let retired_at = match id {
            "live" => continue,
            "late" => 5,
            _ => 1,
        };
        let retired = Box::new(Scene::retired(&class, retired_at));
        scene.ask(&scene.call(retired_at, Ask::ReplaceClass(1, retired)))?;
    }
    let mut new = scene.judgment("judgment", "run", 9)?;
    new.judgment.class = Some("judged".parse()?);
    scene.recorded(new, Some(scene.copy("run", "1")?))?;
    let mut rule = scene.rule("rule", 1, 0)?;
    rule.class = Some("wanted".parse()?);
    scene.ask(&scene.append(&rule))?;
    rule.version = 2;
    rule.class = None;
    scene.ask(&scene.append(&rule))?;

    ensure_eq(
        "the classes that a purge removed",
        &purge(scene, at(5), limit)?,
        &2,
    )?;
    for (id, stays) in [
        ("live", true),
        ("late", true),
        ("judged", true),
        ("wanted", true),
        ("a", false),
        ("b", false),
    ] {
        let call = Call::reading(&scene.tenant, Ask::Class(id.parse()?));
        let there = scene.ask(&call)? != Answer::Class(None);
        ensure_eq(
            &format!("whether the class {id:?} is there"),
            &there,
            &stays,
        )?;
    }
    // The judgment that named it goes in the first part, the class in the last.
    ensure_eq(
        "what a later purge removes",
        &purge(scene, at(10), limit)?,
        &3,
    )
}

/// What a purge removes moves the items that stay: a run whose wanted judgment is gone waits again,
/// and a rule has room again where an open item is gone. No item opens that the purge is to remove.
pub fn a_purge_moves_the_items_that_stay(backend: &impl Backend) -> Result<(), Report> {
    Lab::hold("a_purge_moves_the_items_that_stay", backend, |lab| {
        none_opens_on_its_way_out(&Scene::new(lab)?)?;
        let scene = Scene::new(lab)?;
        let mut rule = rule(&scene)?;
        rule.max_open = crate::model::MaxOpen::new(2);
        let new = scene.judgment("early", "judged", 1)?;
        scene.recorded(new, Some(scene.copy("judged", "1")?))?;
        for (id, now) in [("waits", 2), ("judged", 6), ("waits, too", 6)] {
            let taken = take(&scene, &rule, run(id, 1)?, now)?;
            ensure(matches!(taken, Taken::Queued(_)), || format!("{taken:?}"))?;
        }
        let full = take(&scene, &rule, run("full", 6)?, 6)?;
        ensure_eq(
            "the answer to one more than the cap",
            &full,
            &Taken::AllSkipped,
        )?;
        let state = |run| Ok::<_, Report>(item(&scene, run)?.map(|item| item.state));
        ensure_eq(
            "the judged run",
            &state("judged")?,
            &Some(ItemState::Judged),
        )?;

        purge(&scene, at(5), 1)?;
        ensure_eq("the run that waited", &state("waits")?, &None)?;
        ensure_eq(
            "the run whose judgment is gone",
            &state("judged")?,
            &Some(ItemState::Open),
        )?;
        let progress = item(&scene, "judged")?.map(|item| item.progress);
        ensure_eq("its progress", &progress, &Some(Vec::new()))?;
        ensure_eq("how many wait", &total(&scene, Some(ItemState::Open))?, &2)?;
        ensure_eq(
            "how many are judged",
            &total(&scene, Some(ItemState::Judged))?,
            &0,
        )?;
        let full = take(&scene, &rule, run("still full", 6)?, 7)?;
        ensure_eq(
            "the answer to one more than the cap",
            &full,
            &Taken::AllSkipped,
        )?;
        // The open one that is purged makes room for one.
        purge(&scene, at(7), 100)?;
        for (id, room) in [("one", true), ("two", true), ("three", false)] {
            let taken = take(&scene, &rule, run(id, 8)?, 8)?;
            ensure_eq(
                &format!("whether the rule has room for {id:?}"),
                &matches!(taken, Taken::Queued(_)),
                &room,
            )?;
        }
        Ok(())
    })
}

/// Judged runs are purged step by step, and between the steps the rule has room for others.
fn none_opens_on_its_way_out(scene: &Scene<'_>) -> Result<(), Report> {
    let mut rule = rule(scene)?;
    rule.max_open = crate::model::MaxOpen::new(1);
    for (n, id) in ["a", "b", "c"].into_iter().enumerate() {
        let now = i64::try_from(n).unwrap_or_default();
        take(scene, &rule, run(id, now)?, now)?;
        let new = scene.judgment(id, id, now)?;
        scene.recorded(new, Some(scene.copy(id, "1")?))?;
    }
    let mut from = None;
    for _ in 0..MAX_STEPS {
        let done = step(scene, at(5), from, 1)?;
        let open = total(scene, Some(ItemState::Open))?;
        ensure_eq(
            "how many judged runs wait after a step of a purge",
            &open,
            &0,
        )?;
        from = done.next;
        if from.is_none() {
            return Ok(());
        }
    }
    Err(endless())
}

fn endless() -> Report {
    Report::new(format!(
        "a purge of few rows took more than {MAX_STEPS} steps"
    ))
}

/// A run that ended before what was purged is never told any more: it may have been queued and
/// purged. Also a purge that is older than another one doesn't bring it back.
pub fn a_run_of_before_a_purge_is_never_taken(backend: &impl Backend) -> Result<(), Report> {
    Lab::hold("a_run_of_before_a_purge_is_never_taken", backend, |lab| {
        let (scene, other) = (Scene::new(lab)?, Scene::new(lab)?);
        let rules = [rule(&scene)?, rule(&other)?];
        take(&scene, &rules[0], run("taken", 1)?, 2)?;
        take(&scene, &rules[0], run("stays", 1)?, 7)?;
        purge(&scene, at(5), 100)?;
        step(&scene, at(3), None, 1)?;
        for id in ["taken", "never told"] {
            let taken = take(&scene, &rules[0], run(id, 4)?, 9)?;
            ensure_eq(
                &format!("the answer to telling {id:?} after a purge"),
                &taken,
                &Taken::BeforePurge,
            )?;
            ensure(item(&scene, id)?.is_none(), || format!("{id:?} is queued"))?;
        }
        let known = take(&scene, &rules[0], run("stays", 1)?, 9)?;
        ensure_eq("the answer to telling what stayed", &known, &Taken::Known)?;
        for (scene, rule, ended_at) in [(&scene, &rules[0], 5), (&other, &rules[1], 1)] {
            let taken = take(scene, rule, run("young", ended_at)?, 9)?;
            ensure(matches!(taken, Taken::Queued(_)), || format!("{taken:?}"))?;
        }
        races(lab)
    })
}

/// One thread purges while another tells a run: whatever comes first, it is queued or it isn't
/// told, and in the end it is gone.
fn races(lab: &Lab) -> Result<(), Report> {
    let scenes: Vec<Scene<'_>> = (0..TIMES)
        .map(|_| Scene::new(lab))
        .collect::<Result<_, _>>()?;
    let rules = scenes.iter().map(rule).collect::<Result<Vec<_>, _>>()?;
    let answers = lab.race(2, TIMES, |handle, time, thread| {
        let (scene, rule) = (scenes.get(time), rules.get(time));
        let (Some(scene), Some(rule)) = (scene, rule) else {
            return Err(Report::new("no such scene"));
        };
        let ask = match thread {
            0 => Ask::Purge {
                before: at(5),
                from: None,
                limit: NonZeroU16::MAX,
            },
            _ => Ask::Take {
                run: Box::new(run("run", 1)?),
                rules: 1,
                candidates: vec![Candidate::from(rule)],
            },
        };
        let call = scene.call(2, ask);
        handle.block_on(call.ask(&*lab.store))
    })?;
    for (scene, answers) in scenes.iter().zip(answers) {
        let answers = answers.into_iter().collect::<Result<Vec<_>, _>>()?;
        let told = || format!("when one purges and another tells a run: {answers:#?}");
        let queued = match answers.as_slice() {
            [_, Answer::Taken(Taken::Queued(_))] => 1,
            [_, Answer::Taken(Taken::BeforePurge)] => 0,
            _ => return Err(Report::new(told())),
        };
        let purged = Answer::Purged(Purged {
            removed: queued,
            next: next(PurgePart::Judgments, None),
        });
        ensure(answers.first() == Some(&purged), told)?;
        ensure(item(scene, "run")?.is_none(), told)?;
    }
    Ok(())
}
