//! Laws of judge classes.

use crate::{
    conformance::{
        Backend, Report,
        call::{Answer, Ask, Call},
        lab::Lab,
        report::{ensure, ensure_eq},
        scene::{Scene, at, first},
    },
    model::{ClassScope, JudgeClass, Readable},
    store::{Applied, ClassCreated, ClassFilter, ClassReplaced, Recorded},
};

const THREADS: usize = 3;
const TIMES: usize = 40;

/// No two live classes of a scope have one name, whoever creates them at once; in another scope
/// the name is free.
pub fn a_live_class_name_is_unique_in_its_scope_under_concurrency(
    backend: &impl Backend,
) -> Result<(), Report> {
    let law = "a_live_class_name_is_unique_in_its_scope_under_concurrency";
    Lab::hold(law, backend, |lab| {
        let scene = Scene::new(lab)?;
        let mut project = scene.class("project", "name", 0)?;
        project.scope = ClassScope::Project("p".parse()?);
        let mut agent = scene.class("agent", "name", 0)?;
        agent.scope = ClassScope::Agent("p".parse()?, "a".parse()?);
        let mut other = scene.class("other", "name", 0)?;
        other.scope = ClassScope::Agent("p".parse()?, "b".parse()?);
        for class in [scene.class("tenant", "name", 0)?, project, agent, other] {
            let create = scene.call(0, Ask::CreateClass(Box::new(class.clone())));
            let ok = ClassCreated::Ok(Box::new(class.clone()));
            scene.expect(&create, &Answer::ClassCreated(Applied::Done(ok)))?;
            let again = JudgeClass {
                id: format!("{}2", class.id).parse()?,
                ..class
            };
            let again = scene.call(0, Ask::CreateClass(Box::new(again)));
            let taken = Answer::ClassCreated(Applied::Done(ClassCreated::NameTaken));
            scene.expect(&again, &taken)?;
        }

        let (scenes, answers) = race(lab, |scene, thread| {
            let class = scene.class(&format!("c{thread}"), "name", 0)?;
            Ok(scene.call(0, Ask::CreateClass(Box::new(class))))
        })?;
        for (scene, answers) in scenes.iter().zip(answers) {
            let ok = |it: &&Answer| {
                matches!(it, Answer::ClassCreated(Applied::Done(ClassCreated::Ok(_))))
            };
            ensure_eq(
                "classes created of one name",
                &answers.iter().filter(ok).count(),
                &1,
            )?;
            let live = scene
                .live_classes(&ClassFilter::default(), &Readable::All, first(9))?
                .rows;
            ensure(live.len() == 1, || {
                format!("one should live, but these do:\n{live:#?}")
            })?;
        }
        Ok(())
    })
}

/// A class is replaced, and judged under, at its revision alone: of those who replace it at once
/// one succeeds, and the others are told that it changed.
pub fn a_class_that_changed_is_noticed(backend: &impl Backend) -> Result<(), Report> {
    Lab::hold("a_class_that_changed_is_noticed", backend, |lab| {
        let scene = Scene::new(lab)?;
        let class = scene.class("class", "name", 0)?;
        scene.ask(&scene.call(0, Ask::CreateClass(Box::new(class.clone()))))?;
        let judge = |id: &str, revision| {
            let call = scene.record(scene.judgment(id, "run", 0)?, Some(scene.copy("run", "1")?));
            let mut call = call;
            if let Ask::Record { class, .. } = &mut call.ask {
                *class = Some(("class".parse()?, revision));
            }
            let recorded = match scene.ask(&call)? {
                Answer::Recorded(Applied::Done(Recorded::Ok { .. })) => true,
                Answer::Recorded(Applied::Done(Recorded::ClassChanged)) => false,
                answer => return Err(Report::new(format!("{answer:?} to\n  {call}"))),
            };
            let should_be = revision == 2;
            ensure_eq(
                &format!("whether a judgment is recorded by\n  {call}"),
                &recorded,
                &should_be,
            )
        };
        let replace = |revision, next: &JudgeClass| {
            scene.call(1, Ask::ReplaceClass(revision, Box::new(next.clone())))
        };
        let answer = |outcome| Answer::ClassReplaced(Applied::Done(outcome));
        let ok = |next: &JudgeClass| answer(ClassReplaced::Ok(Box::new(next.clone())));
        scene.expect(&replace(2, &class), &answer(ClassReplaced::Stale))?;
        scene.expect(&replace(0, &class), &answer(ClassReplaced::Stale))?;
        let next = JudgeClass {
            updated_at: at(1),
            ..class
        };
        scene.expect(&replace(1, &next), &ok(&next))?;
        scene.expect(&replace(1, &next), &answer(ClassReplaced::Stale))?;
        for (id, revision) in [("a", 1), ("b", 3), ("c", 2)] {
            judge(id, revision)?;
        }
        let retired = Scene::retired(&next, 2);
        scene.expect(&replace(2, &retired), &ok(&retired))?;
        scene.expect(&replace(3, &retired), &answer(ClassReplaced::NotLive))?;
        let stale = scene.record(scene.judgment("d", "run", 3)?, None);
        let mut stale = stale;
        if let Ask::Record { class, .. } = &mut stale.ask {
            *class = Some(("class".parse()?, 2));
        }
        scene.expect(
            &stale,
            &Answer::Recorded(Applied::Done(Recorded::ClassChanged)),
        )?;
        only_one_replaces(lab)
    })
}

fn only_one_replaces(lab: &Lab) -> Result<(), Report> {
    let (scenes, answers) = race(lab, |scene, thread| {
        let mut next = scene.class("class", "name", 0)?;
        next.description = Some(thread.to_string().parse()?);
        Ok(scene.call(1, Ask::ReplaceClass(1, Box::new(next))))
    })?;
    for (scene, answers) in scenes.iter().zip(answers) {
        let of = |it: &Answer| match it {
            Answer::ClassReplaced(Applied::Done(ClassReplaced::Ok(next))) => Some(next.clone()),
            _ => None,
        };
        let replaced: Vec<_> = answers.iter().filter_map(of).collect();
        let stale = Answer::ClassReplaced(Applied::Done(ClassReplaced::Stale));
        let stale = answers.iter().filter(|it| **it == stale).count();
        ensure(replaced.len() == 1 && stale == THREADS - 1, || {
            format!("of those who replace a class at once, one should succeed: {answers:#?}")
        })?;
        let found = scene.ask(&Call::reading(&scene.tenant, Ask::Class("class".parse()?)))?;
        let Answer::Class(Some(found)) = found else {
            return Err(Report::new("the class is gone"));
        };
        ensure_eq("the revision after one change", &found.revision, &2)?;
        ensure(replaced.iter().all(|it| **it == found.value), || {
            format!("{replaced:?} succeeded, but this is stored: {found:?}")
        })?;
    }
    Ok(())
}

/// A retired class is listed no more, can still be read, and leaves its name to another.
pub fn a_retired_class_frees_its_name(backend: &impl Backend) -> Result<(), Report> {
    Lab::hold("a_retired_class_frees_its_name", backend, |lab| {
        let scene = Scene::new(lab)?;
        let old = scene.class("old", "name", 0)?;
        scene.ask(&scene.call(0, Ask::CreateClass(Box::new(old.clone()))))?;
        let old = Scene::retired(&old, 1);
        let retire = scene.call(1, Ask::ReplaceClass(1, Box::new(old.clone())));
        let ok = ClassReplaced::Ok(Box::new(old.clone()));
        scene.expect(&retire, &Answer::ClassReplaced(Applied::Done(ok)))?;
        for (id, now) in [("new", 1), ("newer", 2)] {
            let class = scene.class(id, "name", now)?;
            let create = scene.call(now, Ask::CreateClass(Box::new(class.clone())));
            let ok = ClassCreated::Ok(Box::new(class.clone()));
            scene.expect(&create, &Answer::ClassCreated(Applied::Done(ok)))?;
            let live = scene
                .live_classes(&ClassFilter::default(), &Readable::All, first(9))?
                .rows;
            ensure_eq("the live classes", &live, &vec![class.clone()])?;
            let next = Box::new(Scene::retired(&class, now));
            scene.ask(&scene.call(now, Ask::ReplaceClass(1, next)))?;
        }
        let found = scene.ask(&Call::reading(&scene.tenant, Ask::Class("old".parse()?)))?;
        let is = match found {
            Answer::Class(Some(found)) => Some((found.revision, found.value)),
            _ => None,
        };
        ensure_eq("the retired class", &is, &Some((2, old)))
    })
}

/// Threads make one call each at once, many times over, in scenes where `class` is at revision 1
/// if they are to replace it.
fn race<'a>(
    lab: &'a Lab,
    call: impl Fn(&Scene<'_>, usize) -> Result<Call, Report> + Sync,
) -> Result<(Vec<Scene<'a>>, Vec<Vec<Answer>>), Report> {
    let scenes: Vec<Scene<'_>> = (0..TIMES)
        .map(|_| Scene::new(lab))
        .collect::<Result<_, _>>()?;
    for scene in &scenes {
        if matches!(call(scene, 0)?.ask, Ask::ReplaceClass(..)) {
            let class = scene.class("class", "name", 0)?;
            scene.ask(&scene.call(0, Ask::CreateClass(Box::new(class))))?;
        }
    }
    let answers = lab.race(THREADS, TIMES, |handle, time, thread| {
        let scene = scenes
            .get(time)
            .ok_or_else(|| Report::new("no such scene"))?;
        handle.block_on(call(scene, thread)?.ask(&*lab.store))
    })?;
    let all = |answers: Vec<Result<Answer, Report>>| answers.into_iter().collect();
    let answers = answers
        .into_iter()
        .map(all)
        .collect::<Result<Vec<_>, Report>>()?;
    Ok((scenes, answers))
}
