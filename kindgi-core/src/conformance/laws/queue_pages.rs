//! Laws of the list of a queue.

use std::{cell::RefCell, collections::BTreeSet};

use super::{
    judging_queue::judge,
    pages::{ROWS, SIZES, id, stayed, walk_by},
};
use crate::{
    conformance::{
        Backend, Report,
        call::{Answer, Ask, Call},
        lab::Lab,
        model_queue::is_wanted,
        report::{ensure, ensure_eq},
        scene::{Scene, at, first, position},
    },
    model::{EndedRun, ItemState, Position, QueueItem, Subject},
    store::{Keyset, QueueFilter, QueueSlice, Slice},
};

const RULES: [&str; 3] = ["any", "of a", "of b"];

fn place(item: &QueueItem) -> Position {
    position(item.added_at, item.run.as_str())
}

/// Reads a queue page by page, oldest first.
fn walk(
    size: u16,
    alone: bool,
    page: impl Fn(Keyset) -> Result<QueueSlice, Report>,
    between: impl FnMut() -> Result<(), Report>,
) -> Result<Vec<Position>, Report> {
    let page = |after| {
        let limit = first(size).limit;
        page(Keyset { after, limit }).map(|page| page.slice)
    };
    let follows = |last: &Position, this: &Position| this > last;
    walk_by(size, alone, (place, follows), page, between)
}

/// The call that tells a run, many of them at one instant: of two agents, or a flow; to one rule,
/// or two.
fn tell(scene: &Scene<'_>, number: usize) -> Result<Call, Report> {
    let version = "1".parse()?;
    let subject = match number % 4 {
        0 => Subject::Flow {
            id: "agent".parse()?,
            version,
        },
        _ => Subject::Agent {
            id: format!("agent{}", number % 2).parse()?,
            version,
        },
    };
    let ended = EndedRun::new(id(number).parse()?, "project".parse()?, subject, at(0));
    let mut rules = scene.enabled()?;
    let of = |rule: usize| RULES.get(rule % RULES.len()).copied().unwrap_or_default();
    let by = [of(number), of(number / 2)];
    rules.rules.retain(|rule| by.contains(&rule.id.as_str()));
    let now = i64::try_from(number % 3).unwrap_or_default();
    Ok(scene.tell(ended, &rules, now))
}

fn create_rules(scene: &Scene<'_>) -> Result<(), Report> {
    for (rule, wants) in RULES.into_iter().zip([None, Some("a"), Some("b")]) {
        scene.create_rule(rule, wants, None)?;
    }
    Ok(())
}

/// Items in every state, and a queue of another project.
fn fill(scene: &Scene<'_>) -> Result<Vec<QueueItem>, Report> {
    create_rules(scene)?;
    for number in 0..ROWS {
        scene.ask(&tell(scene, number)?)?;
        let run = &id(number);
        let now = i64::try_from(number % 5).unwrap_or_default();
        match number % 6 {
            1 => {
                for (author, class) in [("a", Some("a")), ("b", Some("b")), ("c", None)] {
                    let id = format!("{author}{number}");
                    judge(scene, (&id, run), author, class, now)?;
                }
            }
            2 => scene.moved(&scene.dismiss(run, None, now)?).map(drop)?,
            3 => scene
                .ask(&scene.call(now, Ask::EraseRun(run.parse()?)))
                .map(drop)?,
            _ => {}
        }
    }
    let mut rule = scene.rule("elsewhere", 1, 0)?;
    rule.project = "elsewhere".parse()?;
    scene.ask(&scene.append(&rule))?;
    let mut run = scene.ended("elsewhere")?;
    run.project = "elsewhere".parse()?;
    let enabled = Call::reading(&scene.tenant, Ask::EnabledRules("elsewhere".parse()?));
    let Answer::EnabledRules(rules) = scene.ask(&enabled)? else {
        return Err(Report::new("another answer than was asked for"));
    };
    scene.ask(&scene.tell(run, &rules, 0))?;
    let items = (0..ROWS).map(|number| scene.item(&id(number)));
    let items = items.collect::<Result<Vec<_>, Report>>()?;
    let mut items: Vec<QueueItem> = items.into_iter().flatten().collect();
    items.sort_by_key(place);
    ensure_eq("how many items were queued", &items.len(), &ROWS)?;
    Ok(items)
}

/// Each part of a filter alone, and some together.
fn filters() -> Result<Vec<QueueFilter>, Report> {
    let none = QueueFilter::default();
    let with = |set: &dyn Fn(&mut QueueFilter) -> Result<(), Report>| {
        let mut filter = QueueFilter::default();
        set(&mut filter).map(|()| filter)
    };
    let mut all = vec![none];
    for state in ItemState::ALL {
        let state = Some(state);
        all.push(with(&|it| {
            it.state = state;
            Ok(())
        })?);
        all.push(with(&|it| {
            (it.state, it.rule) = (state, Some("of a".parse()?));
            Ok(())
        })?);
    }
    for text in ["a", "b", "c"] {
        all.push(with(&|it| {
            it.wants = Some(text.parse()?);
            Ok(())
        })?);
        all.push(with(&|it| {
            it.wants_any_or = Some(BTreeSet::from([text.parse()?]));
            Ok(())
        })?);
        all.push(with(&|it| {
            it.rule = Some(format!("of {text}").parse()?);
            Ok(())
        })?);
    }
    for millis in 0..6 {
        all.push(with(&|it| {
            it.added_after = Some(at(millis));
            Ok(())
        })?);
        all.push(with(&|it| {
            it.closed_after = Some(at(millis));
            Ok(())
        })?);
    }
    all.push(with(&|it| {
        it.agent = Some("agent1".parse()?);
        Ok(())
    })?);
    all.push(with(&|it| {
        it.agent = Some("agent".parse()?);
        Ok(())
    })?);
    all.push(with(&|it| {
        it.wants_any_or = Some(BTreeSet::new());
        Ok(())
    })?);
    all.push(with(&|it| {
        it.wants_any_or = Some(BTreeSet::from(["a".parse()?, "b".parse()?]));
        it.agent = Some("agent1".parse()?);
        it.added_after = Some(at(1));
        Ok(())
    })?);
    Ok(all)
}

/// Page by page, of whatever size and under every filter, a project's items are yielded once
/// each, oldest first, by the bytes of the run's id among those of one instant; each page says
/// rightly whether more follow, and how many there are before it and after it together. Without a
/// keyset that is all it says.
///
/// From [`queue`](crate::store::JudgingQueueStore::queue).
pub fn walking_the_queue_yields_every_item_once_in_order(
    backend: &impl Backend,
) -> Result<(), Report> {
    let law = "walking_the_queue_yields_every_item_once_in_order";
    Lab::hold(law, backend, |lab| {
        let scene = Scene::new(lab)?;
        let nothing = scene.queue("project", &QueueFilter::default(), Some(first(9)))?;
        ensure_eq(
            "how many items there are before the first",
            &nothing.total,
            &0,
        )?;
        let items = fill(&scene)?;
        for filter in filters()? {
            let matching: Vec<QueueItem> = items
                .iter()
                .filter(|it| is_wanted(&filter, it))
                .cloned()
                .collect();
            let places: Vec<Position> = matching.iter().map(place).collect();
            let total = places.len() as u64;
            let only_total = scene.queue("project", &filter, None)?;
            let should_be = QueueSlice {
                slice: Slice {
                    rows: Vec::new(),
                    more: false,
                },
                total,
            };
            ensure_eq(
                &format!("how many there are with {filter:?}"),
                &only_total,
                &should_be,
            )?;
            let page = scene.queue("project", &filter, Some(first(100)))?;
            ensure_eq(
                &format!("the items with {filter:?}"),
                &page.slice.rows,
                &matching,
            )?;
            for size in SIZES {
                let page = |keyset: Keyset| {
                    let page = scene.queue("project", &filter, Some(keyset.clone()))?;
                    let what = format!("how many there are with {filter:?}, {keyset:?}");
                    ensure_eq(&what, &page.total, &total).map(|()| page)
                };
                let seen = walk(size, true, page, || Ok(()))?;
                ensure_eq(
                    &format!("by pages of {size}, with {filter:?}"),
                    &seen,
                    &places,
                )?;
            }
        }
        Ok(())
    })
}

/// While items come, and are closed and opened between the pages, also the very item that a page
/// ended with, those that match all the time are yielded once, in order; and none is yielded
/// twice. So it is when another thread writes.
///
/// From [`queue`](crate::store::JudgingQueueStore::queue).
pub fn walking_the_queue_while_others_write_skips_and_repeats_nothing(
    backend: &impl Backend,
) -> Result<(), Report> {
    let law = "walking_the_queue_while_others_write_skips_and_repeats_nothing";
    Lab::hold(law, backend, |lab| {
        let open = QueueFilter {
            state: Some(ItemState::Open),
            ..QueueFilter::default()
        };
        for size in [1, 2, 5] {
            let scene = Scene::new(lab)?;
            create_rules(&scene)?;
            for number in 0..ROWS {
                scene.ask(&tell(&scene, number)?)?;
            }
            let (mut gone, mut next) = (BTreeSet::new(), ROWS);
            let last = RefCell::new(None);
            let page = |keyset| {
                let page = scene.queue("project", &open, Some(keyset))?;
                last.replace(page.slice.rows.last().map(|row| row.run.to_string()));
                Ok(page)
            };
            let places = walk(size, false, page, || {
                scene.ask(&tell(&scene, next)?)?;
                next += 1;
                let last = last.borrow().clone();
                for run in last.into_iter().chain([id(next * 7 % ROWS)]) {
                    if next.is_multiple_of(2) {
                        scene.ask(&scene.dismiss(&run, None, 9)?)?;
                        gone.insert(run);
                    } else {
                        scene.ask(&scene.reopen(&run, 9)?)?;
                    }
                }
                Ok(())
            })?;
            stayed(&places, (0..ROWS).map(id).filter(|id| !gone.contains(id)))?;
        }
        at_once(lab, &open)
    })
}

/// One thread walks, another one writes.
fn at_once(lab: &Lab, open: &QueueFilter) -> Result<(), Report> {
    let times = 8;
    let mut scenes = Vec::new();
    for _ in 0..times {
        let scene = Scene::new(lab)?;
        create_rules(&scene)?;
        for number in 0..ROWS {
            scene.ask(&tell(&scene, number)?)?;
        }
        let later = (ROWS..2 * ROWS).map(|number| tell(&scene, number));
        let later = later.collect::<Result<Vec<Call>, Report>>()?;
        scenes.push((scene, later));
    }
    let stays = |number: usize| !number.is_multiple_of(4);
    let walks = lab.race(2, times, |handle, time, thread| {
        let (scene, later) = scenes
            .get(time)
            .ok_or_else(|| Report::new("no such scene"))?;
        let ask = |call: &Call| handle.block_on(call.ask(&*lab.store));
        if thread == 0 {
            let page = |keyset| {
                let filter = Box::new(open.clone());
                let reading = Ask::Queue("project".parse()?, filter, Some(keyset));
                match ask(&Call::reading(&scene.tenant, reading))? {
                    Answer::Queue(page) => Ok(page),
                    answer => Err(Report::new(format!("not a queue: {answer:?}"))),
                }
            };
            return walk(2, false, page, || Ok(()));
        }
        for (number, tell) in later.iter().enumerate() {
            ask(tell)?;
            if !stays(number) {
                ask(&scene.dismiss(&id(number), None, 9)?)?;
            }
        }
        Ok(Vec::new())
    })?;
    for ((scene, _), walks) in scenes.iter().zip(walks) {
        let mut walks = walks.into_iter();
        let places = walks.next().unwrap_or(Ok(Vec::new()))?;
        walks.try_for_each(|writer| writer.map(drop))?;
        stayed(&places, (0..ROWS).filter(|number| stays(*number)).map(id))?;
        let total = scene.queue("project", open, None)?.total;
        let closed = (0..ROWS).filter(|number| !stays(*number)).count();
        let all = 2 * ROWS - closed;
        ensure(total == all as u64, || {
            format!("{all} items are open, but the queue counts {total}")
        })?;
    }
    Ok(())
}
