//! Laws of erasure.

use super::judgments::is_bare;
use crate::{
    conformance::{
        Backend, Report,
        call::{Answer, Ask, Call},
        lab::Lab,
        report::{ensure, ensure_eq},
        scene::{Scene, at, first, of_run, operation, recorded},
    },
    json::RawJson,
    model::{Args, CorrectedCall, Correction, ItemState, Readable, RunContext, Segment},
    store::{Applied, ItemMoved, NewJudgment, Recorded},
};

const TIMES: usize = 60;

/// A run that was erased takes no judgment any more, whether or not it was judged before; and
/// when it is erased while others judge it, nothing of its content can be read afterwards.
pub fn an_erased_run_takes_no_judgment(backend: &impl Backend) -> Result<(), Report> {
    Lab::hold("an_erased_run_takes_no_judgment", backend, |lab| {
        let scene = Scene::new(lab)?;
        let refused = Answer::Recorded(Applied::Done(Recorded::RunErased));
        scene.recorded(
            scene.judgment("a", "judged", 0)?,
            Some(scene.copy("judged", "1")?),
        )?;
        for (run, id) in [("judged", "b"), ("never judged", "c")] {
            let erase = scene.call(1, Ask::EraseRun(run.parse()?));
            let is_erased = Call::reading(&scene.tenant, Ask::IsErased(run.parse()?));
            scene.expect(&is_erased, &Answer::IsErased(false))?;
            scene.expect(&erase, &Answer::Erased)?;
            scene.expect(&is_erased, &Answer::IsErased(true))?;
            scene.expect(&erase, &Answer::Erased)?;
            let copy = Some(scene.copy(run, "2")?);
            scene.expect(&scene.record(scene.judgment(id, run, 2)?, copy), &refused)?;
            scene.expect(&scene.record(scene.judgment(id, run, 2)?, None), &refused)?;
            let read = Call::reading(&scene.tenant, Ask::Judgment(id.parse()?));
            scene.expect(&read, &Answer::Judgment(None))?;
        }
        scene.recorded(
            scene.judgment("d", "other", 3)?,
            Some(scene.copy("other", "3")?),
        )?;
        race(lab)
    })
}

/// One thread erases the run, one judges it.
fn race(lab: &Lab) -> Result<(), Report> {
    let scenes: Vec<Scene<'_>> = (0..TIMES)
        .map(|_| Scene::new(lab))
        .collect::<Result<_, _>>()?;
    let answers = lab.race(2, TIMES, |handle, time, thread| {
        let scene = scenes
            .get(time)
            .ok_or_else(|| Report::new("no such scene"))?;
        let calls = match thread {
            0 => vec![scene.call(1, Ask::EraseRun("run".parse()?))],
            _ => vec![
                rich(scene, "a", Some(operation(1, 1, at(99))))?,
                rich(scene, "b", None)?,
            ],
        };
        let ask = |call: &Call| handle.block_on(call.ask(&*lab.store));
        calls.iter().map(ask).collect::<Result<Vec<_>, Report>>()
    })?;
    for (scene, answers) in scenes.iter().zip(answers) {
        let answers = answers.into_iter().collect::<Result<Vec<_>, _>>()?;
        for (id, answer) in ["a", "b"].into_iter().zip(answers.iter().skip(1).flatten()) {
            if recorded(answer).is_some() {
                let it = scene.read(id)?;
                ensure(is_bare(&it), || format!("erased, but readable: {it:#?}"))?;
            } else {
                let refused = Answer::Recorded(Applied::Done(Recorded::RunErased));
                ensure_eq(
                    "the answer to judging a run that is erased",
                    answer,
                    &refused,
                )?;
            }
        }
        let again = scene.ask(&rich(scene, "a", Some(operation(1, 1, at(99))))?)?;
        let bare = recorded(&again).is_none_or(|judgment| judgment.reason.is_none());
        ensure(bare, || {
            format!("erased, but an operation's outcome tells: {again:#?}")
        })?;
    }
    Ok(())
}

/// Erasure clears a run's copy, and its judgments' item values, reasons and corrections: of those
/// that live and those that don't, and in the outcomes of operations. Verdicts stay, live ones
/// live and listed; other runs stay as they are. Its item of the queue says no more what ran, nor
/// why it was dismissed, and the rule's results name no version of its agent.
pub fn nothing_of_an_erased_run_can_be_read(backend: &impl Backend) -> Result<(), Report> {
    Lab::hold("nothing_of_an_erased_run_can_be_read", backend, |lab| {
        let scene = Scene::new(lab)?;
        let kept = operation(1, 1, at(99));
        let mut ids = Vec::new();
        for (id, op) in [("old", None), ("live", Some(kept))] {
            let answer = scene.ask(&rich(&scene, id, op)?)?;
            ensure(recorded(&answer).is_some(), || {
                format!("refused: {answer:?}")
            })?;
            ids.push(id);
        }
        let other = scene.judgment("other", "other", 0)?;
        scene.recorded(other, Some(scene.copy("other", "1")?))?;
        let before = scene.read("live")?.judgment;
        let other = scene.read("other")?;
        scene.expect(
            &scene.call(5, Ask::EraseRun("run".parse()?)),
            &Answer::Erased,
        )?;

        for id in ids {
            let it = scene.read(id)?;
            ensure(is_bare(&it), || format!("erased, but readable: {it:#?}"))?;
        }
        let mut cleared = before;
        cleared.reason = None;
        cleared.correction = None;
        ensure_eq("the live judgment", &scene.read("live")?.judgment, &cleared)?;
        let listed = scene
            .live(&of_run(&"run".parse()?), &Readable::All, first(9))?
            .rows;
        ensure_eq(
            "the live judgments of the run",
            &listed,
            &vec![cleared.clone()],
        )?;
        ensure_eq("another run's judgment", &scene.read("other")?, &other)?;
        let replayed = Applied::Replayed(Recorded::Ok {
            judgment: Box::new(cleared),
            superseded: Some("old".parse()?),
        });
        scene.expect(
            &rich(&scene, "live", Some(kept))?,
            &Answer::Recorded(replayed),
        )?;
        nothing_of_its_item(&Scene::new(lab)?)
    })
}

/// Dismissed, reopened and dismissed again, each as an operation.
fn nothing_of_its_item(scene: &Scene<'_>) -> Result<(), Report> {
    scene.create_rule("rule", None, None)?;
    for run in ["other", "run"] {
        scene.queued(run, 0)?;
    }
    let dismiss = |run: &str, why: &str, id| {
        let call = scene.dismiss(run, Some(why), i64::from(id))?;
        let operation = Some(operation(id, 1, at(99)));
        Ok::<Call, Report>(Call { operation, ..call })
    };
    let other = scene.moved(&dismiss("other", "kept", 1)?)?;
    let first = dismiss("run", "secret", 2)?;
    let mut then = scene.moved(&first)?;
    scene.moved(&scene.reopen("run", 3)?)?;
    let mut item = scene.moved(&dismiss("run", "another secret", 4)?)?;
    scene.expect(
        &scene.call(5, Ask::EraseRun("run".parse()?)),
        &Answer::Erased,
    )?;
    item.state = ItemState::Erased;
    item.agent = None;
    item.reason = None;
    scene.expect_item("whose run was erased", &item)?;
    scene.expect_item("of another run", &other)?;
    then.reason = None;
    let replayed = Applied::Replayed(ItemMoved::Ok(Box::new(then)));
    scene.expect(&first, &Answer::Dismissed(replayed))?;
    let counted = scene.results("rule", None)?.counted;
    let versions: Vec<_> = counted.into_iter().map(|it| it.agent_version).collect();
    let should_be = vec![Some("1".parse()?), None];
    ensure_eq("the agent versions in the results", &versions, &should_be)
}

/// The call that records a judgment with all that can be erased.
fn rich(
    scene: &Scene<'_>,
    id: &str,
    operation: Option<crate::conformance::call::OwnedOperation>,
) -> Result<Call, Report> {
    let NewJudgment {
        mut judgment,
        item_value,
    } = scene.judgment(id, "run", 0)?;
    let args = Args::new(RawJson::parse(r#"{"secret":1}"#)?)?;
    let call = CorrectedCall {
        tool: "tool".parse()?,
        args,
    };
    judgment.correction = Some(Correction::new(vec![call], vec!["other".parse()?])?);
    let mut copy = scene.copy("run", r#""secret""#)?;
    let context = RunContext::parse(&RawJson::parse(r#"{"retrieved":"secret"}"#)?);
    copy.context = Some(context.map_err(|e| Report::new(e.to_string()))?);
    copy.segments = Some(vec![Segment::new("company", "secret")?]);
    let call = scene.record(
        NewJudgment {
            judgment,
            item_value,
        },
        Some(copy),
    );
    Ok(Call { operation, ..call })
}
