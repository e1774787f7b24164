//! Laws of judgments.

use std::collections::BTreeSet;

use crate::{
    conformance::{
        Backend, Report,
        call::{Answer, Ask},
        lab::Lab,
        report::{ensure, ensure_eq},
        scene::{Scene, at, first, recorded},
    },
    json::RawJson,
    model::{JudgmentWithCopies, Readable},
    store::{Applied, JudgmentFilter, JudgmentRemoved, Recorded},
};

const THREADS: usize = 3;
const EACH: usize = 3;
const TIMES: usize = 40;

/// Threads that judge the same item for the same author leave exactly one live judgment, and each
/// other one leads to it by an unbroken chain in which each ends when the next begins.
pub fn one_live_judgment_per_key_under_concurrency(backend: &impl Backend) -> Result<(), Report> {
    Lab::hold(
        "one_live_judgment_per_key_under_concurrency",
        backend,
        |lab| {
            let scenes: Vec<Scene<'_>> = (0..TIMES)
                .map(|_| Scene::new(lab))
                .collect::<Result<_, _>>()?;
            let answers = race_to_judge(lab, &scenes, r#""the same""#)?;
            for (scene, answers) in scenes.iter().zip(answers) {
                let first_ones = answers.iter().filter(|answer| {
                    matches!(
                        answer,
                        Answer::Recorded(Applied::Done(Recorded::Ok {
                            superseded: None,
                            ..
                        }))
                    )
                });
                ensure_eq("judgments that superseded none", &first_ones.count(), &1)?;
                let filter = JudgmentFilter::default();
                let live = scene.live(&filter, &Readable::All, first(100))?.rows;
                ensure(live.len() == 1, || {
                    format!("one should live, but these do:\n{live:#?}")
                })?;
                let mut begins = BTreeSet::new();
                let mut led_to = BTreeSet::new();
                for id in ids() {
                    let judgment = scene.read(&id)?.judgment;
                    begins.insert(id);
                    let Some(next) = judgment.superseded_by else {
                        ensure(judgment.is_live(), || {
                            format!("{:?} ended, but nothing superseded it", judgment.id)
                        })?;
                        continue;
                    };
                    let next = scene.read(next.as_str())?.judgment;
                    ensure_eq(
                        &format!(
                            "the end of {:?}, which {:?} superseded",
                            judgment.id, next.id
                        ),
                        &judgment.unregistered_at,
                        &Some(next.created_at),
                    )?;
                    ensure(led_to.insert(next.id.to_string()), || {
                        format!("{:?} superseded two judgments", next.id)
                    })?;
                }
                // Every one but one is led to, by one each, and one leads nowhere: a chain.
                ensure_eq("links of the chain", &led_to.len(), &(begins.len() - 1))?;
            }
            Ok(())
        },
    )
}

/// The first judgment's copy of a run stays as it was, whatever copies later ones bring, also
/// when several bring the first at once; without any, a judgment is refused.
pub fn a_copy_never_changes_after_the_first(backend: &impl Backend) -> Result<(), Report> {
    Lab::hold("a_copy_never_changes_after_the_first", backend, |lab| {
        let scene = Scene::new(lab)?;
        let without = scene.record(scene.judgment("none", "run", 0)?, None);
        scene.expect(
            &without,
            &Answer::Recorded(Applied::Done(Recorded::NeedsCopy)),
        )?;
        let kept = scene.copy("run", "1.0")?;
        scene.recorded(scene.judgment("first", "run", 0)?, Some(kept.clone()))?;
        let other = scene.copy("run", "1.00")?;
        scene.recorded(scene.judgment("second", "run", 1)?, Some(other))?;
        scene.recorded(scene.judgment("third", "run", 2)?, None)?;
        for id in ["first", "second", "third"] {
            ensure_eq(
                &format!("the copy that {id:?} shows"),
                &scene.read(id)?.run,
                &kept,
            )?;
        }

        let scenes: Vec<Scene<'_>> = (0..TIMES)
            .map(|_| Scene::new(lab))
            .collect::<Result<_, _>>()?;
        race_to_judge(lab, &scenes, "")?;
        for scene in &scenes {
            let all = ids()
                .map(|id| scene.read(&id))
                .collect::<Result<Vec<_>, _>>()?;
            let outputs: BTreeSet<&str> = all.iter().map(|one| one.run.output.as_str()).collect();
            ensure(outputs.len() == 1, || {
                format!("several copies are shown: {outputs:?}")
            })?;
        }
        Ok(())
    })
}

/// A clock that goes back doesn't put a judgment before the one it supersedes, nor its end before
/// its beginning.
pub fn a_successor_is_never_before_its_predecessor(backend: &impl Backend) -> Result<(), Report> {
    Lab::hold(
        "a_successor_is_never_before_its_predecessor",
        backend,
        |lab| {
            let scene = Scene::new(lab)?;
            let copy = scene.copy("run", "1")?;
            for (id, now, created) in [("a", 10, 10), ("b", 3, 10), ("c", -5, 10), ("d", 11, 11)] {
                let judgment =
                    scene.recorded(scene.judgment(id, "run", now)?, Some(copy.clone()))?;
                let what = format!("when {id:?} was recorded, at {now}, by the answer");
                ensure_eq(&what, &judgment.created_at, &at(created))?;
                let stored = scene.read(id)?.judgment;
                ensure_eq(&format!("{id:?} as it is read"), &stored, &judgment)?;
            }
            for (id, ended) in [("a", 10), ("b", 10), ("c", 11)] {
                let judgment = scene.read(id)?.judgment;
                ensure_eq(
                    &format!("the end of {id:?}"),
                    &judgment.unregistered_at,
                    &Some(at(ended)),
                )?;
            }
            let remove = scene.call(2, Ask::Remove("d".parse()?));
            scene.expect(
                &remove,
                &Answer::Removed(Applied::Done(JudgmentRemoved::Ok)),
            )?;
            let judgment = scene.read("d")?.judgment;
            ensure_eq(
                "the end of \"d\", removed at 2",
                &judgment.unregistered_at,
                &Some(at(11)),
            )?;
            // The chain ended: a new one starts at its own time.
            let judgment = scene.recorded(scene.judgment("e", "run", 4)?, None)?;
            ensure_eq("when \"e\" was recorded", &judgment.created_at, &at(4))
        },
    )
}

/// A judgment that was removed or superseded stays so; judging again starts anew.
pub fn what_was_removed_never_revives(backend: &impl Backend) -> Result<(), Report> {
    Lab::hold("what_was_removed_never_revives", backend, |lab| {
        let scene = Scene::new(lab)?;
        let copy = scene.copy("run", "1")?;
        let removed = |outcome| Answer::Removed(Applied::Done(outcome));
        let remove = |id: &str| Ok::<_, Report>(scene.call(9, Ask::Remove(id.parse()?)));
        scene.recorded(scene.judgment("a", "run", 0)?, Some(copy))?;
        scene.recorded(scene.judgment("b", "run", 1)?, None)?;
        scene.expect(&remove("a")?, &removed(JudgmentRemoved::NotLive))?;
        scene.expect(&remove("nothing")?, &removed(JudgmentRemoved::NotLive))?;
        scene.expect(&remove("b")?, &removed(JudgmentRemoved::Ok))?;
        scene.expect(&remove("b")?, &removed(JudgmentRemoved::NotLive))?;
        let before = [scene.read("a")?, scene.read("b")?];
        let filter = JudgmentFilter::default();
        let live = scene.live(&filter, &Readable::All, first(9))?.rows;
        ensure(live.is_empty(), || {
            format!("removed and superseded, but listed: {live:#?}")
        })?;

        let new = scene.judgment("c", "run", 10)?;
        let anew = Recorded::Ok {
            judgment: Box::new(new.judgment.clone()),
            superseded: None,
        };
        scene.expect(
            &scene.record(new, None),
            &Answer::Recorded(Applied::Done(anew)),
        )?;
        ensure_eq(
            "what ended before",
            &[scene.read("a")?, scene.read("b")?],
            &before,
        )
    })
}

fn ids() -> impl Iterator<Item = String> {
    (0..THREADS * EACH).map(|number| format!("j{number}"))
}

/// In each scene, threads judge the same item at once. Each brings a copy, with this output or,
/// if that is empty, one of its own.
fn race_to_judge(
    lab: &Lab,
    scenes: &[Scene<'_>],
    output: &str,
) -> Result<Vec<Vec<Answer>>, Report> {
    let answers = lab.race(THREADS, scenes.len(), |handle, time, thread| {
        let mut answers = Vec::new();
        for (number, id) in ids().enumerate().skip(thread * EACH).take(EACH) {
            let scene = scenes
                .get(time)
                .ok_or_else(|| Report::new("no such scene"))?;
            let own = number.to_string();
            let copy = scene.copy("run", if output.is_empty() { &own } else { output })?;
            let new = scene.judgment(&id, "run", i64::from(number % 2 == 0))?;
            let call = scene.record(new, Some(copy));
            let answer = handle.block_on(call.ask(&*lab.store))?;
            ensure(recorded(&answer).is_some(), || {
                format!("refused: {answer:?}, to\n  {call}")
            })?;
            answers.push(answer);
        }
        Ok::<_, Report>(answers)
    })?;
    let flat = |answers: Vec<Result<Vec<Answer>, Report>>| {
        let answers = answers.into_iter().collect::<Result<Vec<_>, _>>()?;
        Ok(answers.into_iter().flatten().collect())
    };
    answers.into_iter().map(flat).collect()
}

/// Whether nothing of the content is left.
pub(super) fn is_bare(it: &JudgmentWithCopies) -> bool {
    let copy = &it.run;
    copy.input == RawJson::null()
        && copy.output == RawJson::null()
        && copy.context.is_none()
        && copy.segments.is_none()
        && it.item_value.is_none()
        && it.judgment.reason.is_none()
        && it.judgment.correction.is_none()
}
