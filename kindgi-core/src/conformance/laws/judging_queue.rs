//! Laws of an item of the judging queue.

use crate::{
    conformance::{
        Backend, Report,
        call::{Answer, Ask, Call},
        lab::Lab,
        report::{ensure, ensure_eq},
        scene::{Scene, at},
        scene_queue::{bea, moved, taken},
    },
    model::{ClassProgress, ItemState, QueueItem},
    store::{EnabledRules, ItemMoved, Taken},
};

const THREADS: usize = 3;
const TIMES: usize = 40;

/// Records a judgment by somebody, under a class or none.
pub(super) fn judge(
    scene: &Scene<'_>,
    (id, run): (&str, &str),
    by: &str,
    class: Option<&str>,
    now: i64,
) -> Result<(), Report> {
    let mut new = scene.judgment(id, run, now)?;
    new.judgment.asserted_by.id = by.parse()?;
    new.judgment.class = class.map(str::parse).transpose()?;
    scene.recorded(new, Some(scene.copy(run, "1")?)).map(drop)
}

pub(super) fn remove(scene: &Scene<'_>, id: &str) -> Result<(), Report> {
    scene
        .ask(&scene.call(50, Ask::Remove(id.parse()?)))
        .map(drop)
}

fn progress(of: &[(Option<&str>, u64)]) -> Result<Vec<ClassProgress>, Report> {
    let one = |(class, judgments): &(Option<&str>, u64)| {
        Ok(ClassProgress {
            class: class.map(str::parse).transpose()?,
            judgments: *judgments,
        })
    };
    of.iter().map(one).collect()
}

/// An item is erased if its run was; else dismissed if it was dismissed and not reopened since;
/// else judged if every rule that took it has a live judgment it wants; else open. So it is
/// whatever happened in which order: before it was queued or after, removed or superseded, judged
/// while it was dismissed, by a clock that went back. A judged item is closed when its last
/// missing judgment was recorded, and keeps that time as long as it stays judged. Stopped rules
/// and retired classes change nothing.
///
/// From [`rules::queue_state`](crate::rules::queue_state).
pub fn an_item_is_where_its_facts_put_it(backend: &impl Backend) -> Result<(), Report> {
    Lab::hold("an_item_is_where_its_facts_put_it", backend, |lab| {
        judged_after_it_was_queued(&Scene::new(lab)?)?;
        judged_before_it_was_queued(&Scene::new(lab)?)?;
        dismissed_and_reopened(&Scene::new(lab)?)?;
        wanted_by_what_changes_later(&Scene::new(lab)?)
    })
}

/// One rule wants any judgment, one a class's.
fn two_rules(scene: &Scene<'_>, run: &str, now: i64) -> Result<QueueItem, Report> {
    scene.create_class("expert")?;
    let any = scene.create_rule("any", None, None)?;
    let expert = scene.create_rule("expert", Some("expert"), None)?;
    scene.open_item(run, &[&any, &expert], now)
}

fn judged_after_it_was_queued(scene: &Scene<'_>) -> Result<(), Report> {
    let mut item = two_rules(scene, "run", 10)?;
    ensure_eq("the item that is queued", &scene.queued("run", 10)?, &item)?;
    scene.expect_item("that was queued", &item)?;
    judge(scene, ("a", "run"), "ada", None, 20)?;
    item.progress = progress(&[(None, 1)])?;
    scene.expect_item("of which one of two rules has what it wants", &item)?;
    judge(scene, ("b", "run"), "bob", Some("expert"), 30)?;
    item.progress = progress(&[(None, 1), (Some("expert"), 1)])?;
    item.state = ItemState::Judged;
    item.closed_at = Some(at(30));
    scene.expect_item("that has all that is wanted", &item)?;
    let dismiss = scene.ask(&scene.dismiss("run", None, 31)?)?;
    let judged = Some(&ItemMoved::Not(ItemState::Judged));
    ensure_eq("dismissing a judged item", &moved(&dismiss), &judged)?;

    // Superseded and judged again: it stays closed since then.
    judge(scene, ("c", "run"), "bob", Some("expert"), 40)?;
    scene.expect_item("whose judgment was superseded by one like it", &item)?;
    judge(scene, ("d", "run"), "eve", Some("expert"), 41)?;
    remove(scene, "c")?;
    scene.expect_item("of whose judgments one of two was removed", &item)?;
    remove(scene, "d")?;
    item.progress = progress(&[(None, 1)])?;
    item.state = ItemState::Open;
    item.closed_at = None;
    scene.expect_item("whose wanted judgment was removed", &item)?;
    // Of another class, then of none: neither is what is wanted.
    judge(scene, ("e", "run"), "eve", Some("other"), 42)?;
    item.progress = progress(&[(None, 1), (Some("other"), 1)])?;
    scene.expect_item("with a judgment of another class", &item)?;
    judge(scene, ("f", "run"), "eve", Some("expert"), 43)?;
    judge(scene, ("g", "run"), "eve", None, 44)?;
    item.progress = progress(&[(None, 2)])?;
    scene.expect_item("whose wanted judgment was superseded by one of none", &item)
}

/// Then its closing may be before its beginning.
fn judged_before_it_was_queued(scene: &Scene<'_>) -> Result<(), Report> {
    let mut item = two_rules(scene, "run", 10)?;
    judge(scene, ("a", "run"), "ada", Some("expert"), 4)?;
    judge(scene, ("b", "run"), "bob", Some("expert"), 6)?;
    judge(scene, ("c", "run"), "eve", None, 5)?;
    item.progress = progress(&[(None, 1), (Some("expert"), 2)])?;
    item.state = ItemState::Judged;
    item.closed_at = Some(at(4));
    ensure_eq("the item of a judged run", &scene.queued("run", 10)?, &item)?;
    scene.expect_item("of a run that was judged before", &item)?;
    remove(scene, "a")?;
    item.progress = progress(&[(None, 1), (Some("expert"), 1)])?;
    scene.expect_item("whose first judgment was removed", &item)?;
    let any = scene.queued("judged later", 11)?;
    ensure_eq("the state of another item", &any.state, &ItemState::Open)
}

fn dismissed_and_reopened(scene: &Scene<'_>) -> Result<(), Report> {
    let mut item = two_rules(scene, "run", 10)?;
    let missing = Some(ItemMoved::Missing);
    let answer = scene.ask(&scene.dismiss("run", None, 9)?)?;
    ensure_eq(
        "dismissing what isn't there",
        &moved(&answer),
        &missing.as_ref(),
    )?;
    scene.queued("run", 10)?;
    let elsewhere = Ask::Dismiss {
        project: "elsewhere".parse()?,
        run: "run".parse()?,
        by: bea()?,
        reason: None,
    };
    let answer = scene.ask(&scene.call(11, elsewhere))?;
    ensure_eq(
        "dismissing it elsewhere",
        &moved(&answer),
        &missing.as_ref(),
    )?;
    let not = |call: Call, state| {
        let answer = scene.ask(&call)?;
        let what = format!("the answer to\n  {call}");
        ensure_eq(&what, &moved(&answer), &Some(&ItemMoved::Not(state)))
    };
    not(scene.reopen("run", 11)?, ItemState::Open)?;

    // By a clock that went back: it ends no sooner than it began.
    item.state = ItemState::Dismissed;
    item.closed_at = Some(at(10));
    item.closed_by = Some(bea()?);
    item.reason = Some("no need".parse()?);
    let dismissed = scene.moved(&scene.dismiss("run", Some("no need"), 3)?)?;
    ensure_eq("the item that was dismissed", &dismissed, &item)?;
    not(scene.dismiss("run", None, 12)?, ItemState::Dismissed)?;
    judge(scene, ("a", "run"), "ada", Some("expert"), 20)?;
    item.progress = progress(&[(Some("expert"), 1)])?;
    scene.expect_item("that was judged after it was dismissed", &item)?;
    item.state = ItemState::Judged;
    item.closed_at = Some(at(20));
    item.reason = None;
    let reopened = scene.moved(&scene.reopen("run", 30)?)?;
    ensure_eq("the item that was judged when reopened", &reopened, &item)?;
    scene.expect_item("that was reopened when it was judged", &item)?;
    not(scene.reopen("run", 31)?, ItemState::Judged)?;
    remove(scene, "a")?;
    item.progress = Vec::new();
    item.state = ItemState::Open;
    item.closed_at = None;
    scene.expect_item("that is open again", &item)?;
    let dismissed = scene.moved(&scene.dismiss("run", None, 40)?)?;
    ensure_eq("when it was closed", &dismissed.closed_at, &Some(at(40)))?;
    scene.moved(&scene.reopen("run", 41)?)?;
    scene.expect_item("that was dismissed and reopened", &item)
}

/// It was taken by the rule as it was then.
fn wanted_by_what_changes_later(scene: &Scene<'_>) -> Result<(), Report> {
    let mut item = two_rules(scene, "run", 10)?;
    scene.queued("run", 10)?;
    let next = scene.rule("expert", 2, 11)?;
    scene.ask(&scene.append(&next))?;
    scene.ask(&scene.stop("any", 12)?)?;
    let retired = Box::new(Scene::retired(&scene.class("expert", "expert", 0)?, 12));
    scene.ask(&scene.call(12, Ask::ReplaceClass(1, retired)))?;
    scene.expect_item("whose rules changed", &item)?;
    judge(scene, ("a", "run"), "ada", None, 13)?;
    item.progress = progress(&[(None, 1)])?;
    scene.expect_item("that a later version would have closed", &item)?;
    judge(scene, ("b", "run"), "bob", Some("expert"), 14)?;
    item.progress = progress(&[(None, 1), (Some("expert"), 1)])?;
    item.state = ItemState::Judged;
    item.closed_at = Some(at(14));
    scene.expect_item("that has what its rules wanted then", &item)
}

/// Tells what each of some threads does at once, many times over.
fn race<'a>(
    lab: &'a Lab,
    prepare: impl Fn(&Scene<'_>) -> Result<(), Report>,
    call: impl Fn(&Scene<'_>, usize) -> Result<Call, Report> + Sync,
) -> Result<Vec<(Scene<'a>, Vec<Answer>)>, Report> {
    let scenes: Vec<Scene<'_>> = (0..TIMES)
        .map(|_| Scene::new(lab))
        .collect::<Result<_, _>>()?;
    let mut calls = Vec::new();
    for scene in &scenes {
        prepare(scene)?;
        let each = (0..THREADS).map(|thread| call(scene, thread));
        calls.push(each.collect::<Result<Vec<Call>, Report>>()?);
    }
    let answers = lab.race(THREADS, TIMES, |handle, time, thread| {
        let call = calls.get(time).and_then(|calls| calls.get(thread));
        let call = call.ok_or_else(|| Report::new("no such call"))?;
        handle.block_on(call.ask(&*lab.store))
    })?;
    let each = scenes.into_iter().zip(answers).map(|(scene, answers)| {
        let answers = answers.into_iter().collect::<Result<Vec<_>, Report>>()?;
        Ok((scene, answers))
    });
    each.collect()
}

/// A run is told once: of those who tell it at once, one has it queued, and the others learn that
/// it was told, whoever its rules are by then. A run that was skipped stays skipped, though its
/// rule has room again.
///
/// From [`take`](crate::store::JudgingQueueStore::take), steps 2 and 5.
pub fn a_run_is_told_once(backend: &impl Backend) -> Result<(), Report> {
    Lab::hold("a_run_is_told_once", backend, |lab| {
        let scene = Scene::new(lab)?;
        scene.create_rule("rule", None, Some(1))?;
        let item = scene.queued("first", 0)?;
        for (now, should_be) in [(1, Taken::AllSkipped), (2, Taken::Known)] {
            ensure_eq(
                "telling a skipped run",
                &scene.told("skipped", now)?,
                &should_be,
            )?;
        }
        ensure_eq(
            "telling a run again",
            &scene.told("first", 3)?,
            &Taken::Known,
        )?;
        scene.moved(&scene.dismiss("first", None, 4)?)?;
        for run in ["first", "skipped"] {
            let told = scene.told(run, 5)?;
            ensure_eq("telling a run when there is room", &told, &Taken::Known)?;
        }
        ensure_eq("the item of a skipped run", &scene.item("skipped")?, &None)?;
        let kept = scene.item("first")?.map(|item| item.added_at);
        ensure_eq("when it was queued", &kept, &Some(item.added_at))?;
        // At whatever revision, and by whatever rules.
        scene.create_rule("another", None, None)?;
        let known = scene.told("skipped", 6)?;
        ensure_eq(
            "telling a skipped run to another rule",
            &known,
            &Taken::Known,
        )?;

        for full in [false, true] {
            told_at_once(lab, full)?;
        }
        Ok(())
    })
}

fn told_at_once(lab: &Lab, full: bool) -> Result<(), Report> {
    let prepare = |scene: &Scene<'_>| {
        scene.create_rule("rule", None, Some(1))?;
        if full {
            scene.queued("first", 0)?;
        }
        Ok(())
    };
    let tell = |scene: &Scene<'_>, thread| {
        let now = i64::try_from(thread).unwrap_or_default();
        Ok(scene.tell(scene.ended("run")?, &scene.enabled()?, now))
    };
    for (scene, answers) in race(lab, prepare, tell)? {
        let told = || format!("one should have told the run: {answers:#?}");
        let all: Vec<Taken> = answers
            .iter()
            .cloned()
            .map(taken)
            .collect::<Result<_, _>>()?;
        let known = all.iter().filter(|it| **it == Taken::Known).count();
        ensure(known == THREADS - 1, told)?;
        let item = scene.item("run")?;
        let told_by = all.iter().find(|it| **it != Taken::Known);
        let should_be = match (told_by, full) {
            (Some(Taken::Queued(item)), false) => Some((**item).clone()),
            (Some(Taken::AllSkipped), true) => None,
            _ => return Err(Report::new(told())),
        };
        ensure_eq("the item of a run that was told at once", &item, &should_be)?;
    }
    Ok(())
}

/// Rules that changed meanwhile are noticed: their revision moves when a rule of the project is
/// created, changed or stopped, and not otherwise; a run is told at the current revision alone,
/// and nothing is kept of it else. So it is when others change the rules at once.
///
/// From [`take`](crate::store::JudgingQueueStore::take), step 4, and
/// [`enabled_rules`](crate::store::JudgingRuleStore::enabled_rules).
pub fn rules_that_changed_are_noticed(backend: &impl Backend) -> Result<(), Report> {
    Lab::hold("rules_that_changed_are_noticed", backend, |lab| {
        let scene = Scene::new(lab)?;
        let none = EnabledRules::default();
        ensure_eq("the rules before the first", &scene.enabled()?, &none)?;
        let mut revisions = vec![0];
        let mut moved = |scene: &Scene<'_>, what: &str, should_be: &[&str]| {
            let EnabledRules { revision, rules } = scene.enabled()?;
            let ids: Vec<&str> = rules.iter().map(|rule| rule.id.as_str()).collect();
            ensure_eq(
                &format!("the enabled rules after {what}"),
                &ids.as_slice(),
                &should_be,
            )?;
            ensure(!revisions.contains(&revision), || {
                format!("after {what} the rules are at a revision that they had: {revision}")
            })?;
            revisions.push(revision);
            Ok::<_, Report>(())
        };
        let rule = scene.create_rule("b", None, None)?;
        let first = scene.enabled()?;
        moved(&scene, "creating one", &["b"])?;
        scene.create_rule("a", None, None)?;
        moved(&scene, "creating another", &["a", "b"])?;
        let mut next = scene.rule("b", 2, 0)?;
        next.enabled = false;
        scene.ask(&scene.append(&next))?;
        moved(&scene, "disabling one", &["a"])?;
        scene.ask(&scene.append(&scene.rule("b", 3, 0)?))?;
        moved(&scene, "enabling it again", &["a", "b"])?;
        scene.ask(&scene.stop("a", 0)?)?;
        moved(&scene, "stopping one", &["b"])?;

        let before = scene.enabled()?;
        scene.ask(&scene.append(&scene.rule("b", 5, 0)?))?;
        scene.ask(&scene.stop("a", 0)?)?;
        let mut elsewhere = scene.rule("elsewhere", 1, 0)?;
        elsewhere.project = "elsewhere".parse()?;
        scene.ask(&scene.append(&elsewhere))?;
        ensure_eq("the rules when nothing changed", &scene.enabled()?, &before)?;

        let stale = scene.tell(scene.ended("run")?, &first, 1);
        scene.expect(&stale, &Answer::Taken(Taken::RulesChanged))?;
        scene.expect(&stale, &Answer::Taken(Taken::RulesChanged))?;
        ensure_eq("the item that wasn't queued", &scene.item("run")?, &None)?;
        let by = |item: QueueItem| {
            item.taken_by
                .iter()
                .map(|by| by.version)
                .collect::<Vec<_>>()
        };
        ensure_eq("who took it then", &by(scene.queued("run", 2)?), &vec![3])?;
        ensure_eq("the rule's id", &rule.id, &next.id)?;
        rules_change_at_once(lab)
    })
}

/// One thread changes the rule and then looks for the item of a run that another tells at once:
/// if it isn't there by then, it never is.
fn rules_change_at_once(lab: &Lab) -> Result<(), Report> {
    let scenes: Vec<Scene<'_>> = (0..TIMES)
        .map(|_| Scene::new(lab))
        .collect::<Result<_, _>>()?;
    let mut rules = Vec::new();
    for scene in &scenes {
        scene.create_rule("rule", None, None)?;
        rules.push(scene.enabled()?);
    }
    let answers = lab.race(2, TIMES, |handle, time, thread| {
        let (Some(scene), Some(rules)) = (scenes.get(time), rules.get(time)) else {
            return Err(Report::new("no such scene"));
        };
        let change = match time % 2 {
            0 => scene.append(&scene.rule("rule", 2, 1)?),
            _ => scene.stop("rule", 1)?,
        };
        let calls = match thread {
            0 => vec![change, scene.read_item(&"run".parse()?)?],
            _ => vec![scene.tell(scene.ended("run")?, rules, 1)],
        };
        let ask = |call: &Call| handle.block_on(call.ask(&*lab.store));
        calls.iter().map(ask).collect::<Result<Vec<_>, Report>>()
    })?;
    for (scene, answers) in scenes.iter().zip(answers) {
        let answers = answers.into_iter().collect::<Result<Vec<_>, Report>>()?;
        let told = || format!("when one changes a rule and another tells it a run: {answers:#?}");
        let all: Vec<&Answer> = answers.iter().flatten().collect();
        let [_, Answer::QueueItem(seen), Answer::Taken(taken)] = all.as_slice() else {
            return Err(Report::new(told()));
        };
        let item = scene.item("run")?;
        match taken {
            Taken::Queued(queued) => {
                ensure_eq("the item", &item.as_ref(), &Some(&**queued))?;
                ensure(seen.is_some(), || {
                    format!("the run was taken after the rule had changed: {}", told())
                })?;
            }
            Taken::RulesChanged => ensure(item.is_none(), told)?,
            _ => return Err(Report::new(told())),
        }
    }
    Ok(())
}

/// Of those who dismiss an item at once one does, and the others are told that it is dismissed;
/// and so of those who reopen it. What the one said is kept.
///
/// From [`dismiss`](crate::store::JudgingQueueStore::dismiss) and
/// [`reopen`](crate::store::JudgingQueueStore::reopen).
pub fn moving_an_item_is_decided_once_under_concurrency(
    backend: &impl Backend,
) -> Result<(), Report> {
    let law = "moving_an_item_is_decided_once_under_concurrency";
    Lab::hold(law, backend, |lab| {
        for reopens in [false, true] {
            let prepare = |scene: &Scene<'_>| {
                scene.create_rule("rule", None, None)?;
                scene.queued("run", 0)?;
                if reopens {
                    scene.moved(&scene.dismiss("run", None, 0)?)?;
                }
                Ok(())
            };
            let call = |scene: &Scene<'_>, thread: usize| {
                let (project, run) = ("project".parse()?, "run".parse()?);
                let by = format!("user:{thread}").parse()?;
                let reason = Some(format!("reason {thread}").parse()?);
                let ask = match reopens {
                    true => Ask::Reopen { project, run, by },
                    false => Ask::Dismiss {
                        project,
                        run,
                        by,
                        reason,
                    },
                };
                Ok(scene.call(i64::try_from(thread).unwrap_or_default(), ask))
            };
            let now_in = match reopens {
                true => ItemState::Open,
                false => ItemState::Dismissed,
            };
            for (scene, answers) in race(lab, prepare, call)? {
                let told = || format!("one should have moved the item: {answers:#?}");
                let ok = |it: &&ItemMoved| matches!(it, ItemMoved::Ok(_));
                let all: Vec<&ItemMoved> = answers.iter().filter_map(moved).collect();
                let others = all.iter().filter(|it| ***it == ItemMoved::Not(now_in));
                ensure(others.count() == THREADS - 1, told)?;
                let Some(ItemMoved::Ok(item)) = all.into_iter().find(ok) else {
                    return Err(Report::new(told()));
                };
                scene.expect_item("that one of some moved", item)?;
            }
        }
        Ok(())
    })
}
