//! Laws of lists.

use std::{collections::BTreeSet, fmt::Debug};

use crate::{
    conformance::{
        Backend, Report,
        call::{Answer, Ask, Call},
        lab::Lab,
        report::{ensure, ensure_eq},
        scene::{Scene, first, position},
    },
    model::{AgentId, ClassScope, JudgeClass, Judgment, Position, ProjectId, Readable, Verdict},
    store::{ClassFilter, JudgmentFilter, Keyset, NewJudgment, Slice},
};

pub(super) const ROWS: usize = 23;
pub(super) const SIZES: [u16; 8] = [1, 2, 3, 11, 22, 23, 24, 100];

/// Ids whose order isn't that in which they are made, nor a dictionary's.
pub(super) fn id(number: usize) -> String {
    let head = ["b", "B", "\u{e9}", "a", "\u{ff5a}", "\u{1d11e}", "Z", "~"];
    let head = head.get(number % head.len()).copied().unwrap_or_default();
    format!("{head}{number}")
}

fn judgment_place(judgment: &Judgment) -> Position {
    position(judgment.created_at, judgment.id.as_str())
}

fn class_place(class: &JudgeClass) -> Position {
    position(class.created_at, class.id.as_str())
}

/// Reads a list that is newest first: see [`walk_by`].
fn walk<T>(
    size: u16,
    alone: bool,
    place: impl Fn(&T) -> Position,
    page: impl Fn(Keyset) -> Result<Slice<T>, Report>,
    between: impl FnMut() -> Result<(), Report>,
) -> Result<Vec<Position>, Report> {
    let page = |after| {
        let limit = first(size).limit;
        page(Keyset { after, limit })
    };
    let follows = |last: &Position, this: &Position| this < last;
    walk_by(size, alone, (place, follows), page, between)
}

/// Reads page by page up to the end, and does something between. `alone` is while nobody writes:
/// then a page that follows is never empty. A row's place comes with what may follow it.
pub(super) fn walk_by<T, P: Clone + Debug>(
    size: u16,
    alone: bool,
    (place, follows): (impl Fn(&T) -> P, impl Fn(&P, &P) -> bool),
    page: impl Fn(Option<P>) -> Result<Slice<T>, Report>,
    mut between: impl FnMut() -> Result<(), Report>,
) -> Result<Vec<P>, Report> {
    let mut places: Vec<P> = Vec::new();
    loop {
        let after = places.last().cloned();
        let Slice { rows, more } = page(after.clone())?;
        let told = || format!("{} rows on a page of {size}; more: {more}", rows.len());
        ensure(rows.len() <= usize::from(size), told)?;
        ensure(!more || rows.len() == usize::from(size), told)?;
        ensure(!alone || after.is_none() || !rows.is_empty(), || {
            format!("by pages of {size}, one said that more follow, and the next is empty")
        })?;
        for row in &rows {
            let this = place(row);
            let in_order = places.last().is_none_or(|last| follows(last, &this));
            ensure(in_order, || {
                format!(
                    "by pages of {size}, {this:?} comes after {:?}",
                    places.last()
                )
            })?;
            places.push(this);
        }
        if !more {
            return Ok(places);
        }
        between()?;
    }
}

/// A judgment with a key of its own, many of them at one instant.
fn judgment(scene: &Scene<'_>, number: usize) -> Result<NewJudgment, Report> {
    let run = format!("run{}", number % 2);
    let now = i64::try_from(number % 3).unwrap_or_default();
    let mut new = scene.judgment(&id(number), &run, now)?;
    new.judgment.item.key = number.to_string().parse()?;
    new.judgment.verdict = if number.is_multiple_of(3) {
        Verdict::Yes
    } else {
        Verdict::No
    };
    Ok(new)
}

fn record(scene: &Scene<'_>, number: usize) -> Result<Judgment, Report> {
    let new = judgment(scene, number)?;
    let copy = scene.copy(new.judgment.run.as_str(), "1")?;
    scene.recorded(new, Some(copy))
}

fn remove(scene: &Scene<'_>, number: usize) -> Result<(), Report> {
    scene
        .ask(&scene.call(9, Ask::Remove(id(number).parse()?)))
        .map(drop)
}

fn newest_first(places: impl Iterator<Item = Position>) -> Vec<Position> {
    let mut places: Vec<Position> = places.collect();
    places.sort_by(|a, b| b.cmp(a));
    places
}

/// Page by page, of whatever size, a list yields every row that matches once, newest first and by
/// the bytes of the id among those of one instant; and says rightly whether more follow.
pub fn walking_a_list_yields_every_row_once_in_order(backend: &impl Backend) -> Result<(), Report> {
    Lab::hold(
        "walking_a_list_yields_every_row_once_in_order",
        backend,
        |lab| {
            let scene = Scene::new(lab)?;
            let mut judgments = Vec::new();
            let mut classes = Vec::new();
            for number in 0..ROWS {
                judgments.push(record(&scene, number)?);
                let now = i64::try_from(number % 3).unwrap_or_default();
                let mut class = scene.class(&id(number), &number.to_string(), now)?;
                if number % 2 == 1 {
                    class.scope = ClassScope::Project("p".parse()?);
                }
                scene.ask(&scene.call(now, Ask::CreateClass(Box::new(class.clone()))))?;
                classes.push(class);
            }
            let all = JudgmentFilter::default();
            let run = JudgmentFilter {
                run: Some("run1".parse()?),
                ..all.clone()
            };
            let verdict = JudgmentFilter {
                verdict: Some(Verdict::No),
                ..all.clone()
            };
            let both = JudgmentFilter {
                verdict: Some(Verdict::No),
                ..run.clone()
            };
            for (size, filter) in SIZES
                .iter()
                .flat_map(|size| [&all, &run, &verdict, &both].map(|it| (*size, it)))
            {
                let page = |keyset| scene.live(filter, &Readable::All, keyset);
                let places = walk(size, true, judgment_place, page, || Ok(()))?;
                let matching = judgments.iter().filter(|judgment| {
                    filter.run.as_ref().is_none_or(|run| *run == judgment.run)
                        && filter
                            .verdict
                            .is_none_or(|verdict| verdict == judgment.verdict)
                });
                let what = format!("judgments by pages of {size}, with {filter:?}");
                ensure_eq(&what, &places, &newest_first(matching.map(judgment_place)))?;
            }
            for (size, scope) in SIZES
                .iter()
                .flat_map(|size| [None, Some(ClassScope::Tenant)].map(|scope| (*size, scope)))
            {
                let filter = ClassFilter {
                    scope: scope.clone(),
                };
                let page = |keyset| scene.live_classes(&filter, &Readable::All, keyset);
                let places = walk(size, true, class_place, page, || Ok(()))?;
                let matching = classes
                    .iter()
                    .filter(|it| scope.as_ref().is_none_or(|scope| *scope == it.scope));
                let what = format!("classes by pages of {size}, with {filter:?}");
                ensure_eq(&what, &places, &newest_first(matching.map(class_place)))?;
            }
            Ok(())
        },
    )
}

/// While rows come and go between the pages, also the very row that a page ended with, those that
/// were there all the time are yielded once, in order; and none is yielded twice.
pub fn walking_a_list_while_others_write_skips_and_repeats_nothing(
    backend: &impl Backend,
) -> Result<(), Report> {
    let law = "walking_a_list_while_others_write_skips_and_repeats_nothing";
    Lab::hold(law, backend, |lab| {
        for size in [1, 2, 5] {
            let scene = Scene::new(lab)?;
            for number in 0..ROWS {
                record(&scene, number)?;
            }
            let mut gone = BTreeSet::new();
            let mut next = ROWS;
            let last = std::cell::RefCell::new(None);
            let page = |keyset: Keyset| {
                let page = scene.live(&JudgmentFilter::default(), &Readable::All, keyset)?;
                last.replace(page.rows.last().map(|row| row.id.to_string()));
                Ok(page)
            };
            let places = walk(size, false, judgment_place, page, || {
                record(&scene, next)?;
                next += 1;
                if next.is_multiple_of(2) {
                    let last = last.borrow().clone();
                    let number = (0..next).find(|number| Some(id(*number)) == last);
                    for number in number.into_iter().chain([next * 7 % ROWS]) {
                        remove(&scene, number)?;
                        gone.insert(id(number));
                    }
                }
                Ok(())
            })?;
            stayed(&places, (0..ROWS).map(id).filter(|id| !gone.contains(id)))?;
        }
        at_once(lab)
    })
}

/// One thread walks, another one writes.
fn at_once(lab: &Lab) -> Result<(), Report> {
    let times = 8;
    let scenes: Vec<Scene<'_>> = (0..times)
        .map(|_| Scene::new(lab))
        .collect::<Result<_, _>>()?;
    for scene in &scenes {
        for number in 0..ROWS {
            record(scene, number)?;
        }
    }
    let walks = lab.race(2, times, |handle, time, thread| {
        let scene = scenes
            .get(time)
            .ok_or_else(|| Report::new("no such scene"))?;
        let ask = |call: &Call| handle.block_on(call.ask(&*lab.store));
        if thread == 0 {
            let page = |keyset| {
                let ask_for = Ask::Judgments(JudgmentFilter::default(), Readable::All, keyset);
                match ask(&Call::reading(&scene.tenant, ask_for))? {
                    Answer::Judgments(slice) => Ok(slice),
                    answer => Err(Report::new(format!("not a list: {answer:?}"))),
                }
            };
            return walk(2, false, judgment_place, page, || Ok(()));
        }
        for number in 0..ROWS {
            let new = judgment(scene, ROWS + number)?;
            ask(&scene.record(new, None))?;
            if number.is_multiple_of(4) {
                ask(&scene.call(9, Ask::Remove(id(number).parse()?)))?;
            }
        }
        Ok(Vec::new())
    })?;
    for walks in walks {
        let mut walks = walks.into_iter();
        let places = walks.next().unwrap_or(Ok(Vec::new()))?;
        walks.try_for_each(|writer| writer.map(drop))?;
        stayed(
            &places,
            (0..ROWS).filter(|number| !number.is_multiple_of(4)).map(id),
        )?;
    }
    Ok(())
}

/// Rows that were there all the time must have been yielded.
pub(super) fn stayed(places: &[Position], ids: impl Iterator<Item = String>) -> Result<(), Report> {
    let seen: BTreeSet<&str> = places.iter().map(|place| &*place.id).collect();
    for id in ids {
        ensure(seen.contains(id.as_str()), || {
            format!("{id:?} was there all the time, but not yielded: {places:?}")
        })?;
    }
    Ok(())
}

/// A list shows what is of readable projects, and keeps pages full of that. The tenant's own
/// classes are shown to everyone who may read some project.
pub fn a_list_shows_readable_projects_alone(backend: &impl Backend) -> Result<(), Report> {
    Lab::hold("a_list_shows_readable_projects_alone", backend, |lab| {
        let scene = Scene::new(lab)?;
        let projects: [ProjectId; 3] = ["p0".parse()?, "p1".parse()?, "p2".parse()?];
        let agent: AgentId = "agent".parse()?;
        let mut judgments = Vec::new();
        let mut classes = Vec::new();
        for number in 0..12 {
            let Some(project) = projects.get(number % 3) else {
                continue;
            };
            let mut new = scene.judgment(&id(number), &format!("run{number}"), 0)?;
            new.judgment.project = project.clone();
            let copy = scene.copy(new.judgment.run.as_str(), "1")?;
            judgments.push(scene.recorded(new, Some(copy))?);
            let mut class = scene.class(&id(number), &number.to_string(), 0)?;
            class.scope = match number {
                0..4 => ClassScope::Tenant,
                4..8 => ClassScope::Project(project.clone()),
                _ => ClassScope::Agent(project.clone(), agent.clone()),
            };
            scene.ask(&scene.call(0, Ask::CreateClass(Box::new(class.clone()))))?;
            classes.push(class);
        }
        let some = |bits: usize| {
            let of = projects
                .iter()
                .enumerate()
                .filter(move |(bit, _)| bits >> bit & 1 == 1);
            of.map(|(_, project)| project.clone())
                .collect::<BTreeSet<_>>()
        };
        let unknown = BTreeSet::from(["elsewhere".parse()?]);
        for readable in (0..8).map(some).chain([unknown]) {
            let only = Readable::Only(readable.clone());
            for size in [1, 3, 100] {
                let page = |keyset| scene.live(&JudgmentFilter::default(), &only, keyset);
                let places = walk(size, true, judgment_place, page, || Ok(()))?;
                let seen = judgments.iter().filter(|it| readable.contains(&it.project));
                let what = format!("judgments for who may read {readable:?}");
                ensure_eq(&what, &places, &newest_first(seen.map(judgment_place)))?;

                let page = |keyset| scene.live_classes(&ClassFilter::default(), &only, keyset);
                let places = walk(size, true, class_place, page, || Ok(()))?;
                let seen = classes.iter().filter(|it| match &it.scope {
                    ClassScope::Tenant => !readable.is_empty(),
                    ClassScope::Project(of) | ClassScope::Agent(of, _) => readable.contains(of),
                });
                let what = format!("classes for who may read {readable:?}");
                ensure_eq(&what, &places, &newest_first(seen.map(class_place)))?;
            }
        }
        Ok(())
    })
}
