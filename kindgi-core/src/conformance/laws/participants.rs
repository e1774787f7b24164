//! Laws of erasing a participant.

use crate::{
    conformance::{
        Backend, Report,
        call::{Answer, Ask, Call, OwnedOperation},
        lab::Lab,
        report::{ensure, ensure_eq},
        scene::{Scene, at, first, operation, recorded},
    },
    json::RawJson,
    model::{Args, CorrectedCall, Correction, Judgment, ParticipantId, Readable},
    store::{Applied, JudgmentFilter, NewJudgment, Recorded},
};

const TIMES: usize = 60;
const WHO: &str = "p-1";
const PSEUDONYM: &str = "somebody";

/// The call that records a judgment on a participant's behalf, with words of theirs.
fn theirs(
    scene: &Scene<'_>,
    id: &str,
    run: &str,
    who: Option<&str>,
    operation: Option<OwnedOperation>,
) -> Result<Call, Report> {
    let NewJudgment {
        mut judgment,
        item_value,
    } = scene.judgment(id, run, 0)?;
    let call = CorrectedCall {
        tool: "tool".parse()?,
        args: Args::new(RawJson::parse(r#"{"secret":1}"#)?)?,
    };
    judgment.correction = Some(Correction::new(vec![call], Vec::new())?);
    judgment.participant = who.map(str::parse).transpose()?;
    let copy = Some(scene.copy(run, "1")?);
    let new = NewJudgment {
        judgment,
        item_value,
    };
    Ok(Call {
        operation,
        ..scene.record(new, copy)
    })
}

fn erase(scene: &Scene<'_>) -> Result<Call, Report> {
    let ask = Ask::EraseParticipant {
        participant: WHO.parse()?,
        pseudonym: PSEUDONYM.parse()?,
    };
    Ok(scene.call(1, ask))
}

/// The same judgment, once its participant is erased.
fn cleared(judgment: &Judgment) -> Result<Judgment, Report> {
    Ok(Judgment {
        reason: None,
        correction: None,
        participant: Some(PSEUDONYM.parse()?),
        ..judgment.clone()
    })
}

fn on_behalf_of(who: &str) -> Result<JudgmentFilter, Report> {
    let participant: ParticipantId = who.parse()?;
    Ok(JudgmentFilter {
        participant: Some(participant),
        ..JudgmentFilter::default()
    })
}

/// Erasing a participant clears the reasons and corrections of the judgments on their behalf, of
/// those that live and those that don't, and in the outcomes of operations, and puts a pseudonym in
/// their id's place. Verdicts stay, live ones live and listed, also among each other; nobody else's
/// change, and who comes later under the same id is somebody new.
pub fn nothing_of_an_erased_participant_can_be_read(backend: &impl Backend) -> Result<(), Report> {
    let law = "nothing_of_an_erased_participant_can_be_read";
    Lab::hold(law, backend, |lab| {
        let (scene, other) = (Scene::new(lab)?, Scene::new(lab)?);
        let kept = operation(1, 1, at(99));
        let calls = [
            theirs(&scene, "old", "a", Some(WHO), None)?,
            theirs(&scene, "live", "a", Some(WHO), Some(kept))?,
            theirs(&scene, "elsewhere", "b", Some(WHO), None)?,
            theirs(&scene, "another's", "a", Some("p-2"), None)?,
            theirs(&scene, "nobody's", "a", None, None)?,
            theirs(&other, "live", "a", Some(WHO), None)?,
        ];
        for call in &calls {
            let answer = scene.ask(call)?;
            ensure(recorded(&answer).is_some(), || {
                format!("refused: {answer:?}, to\n  {call}")
            })?;
        }
        let before = |id| Ok::<_, Report>(scene.read(id)?.judgment);
        let ids = ["old", "live", "elsewhere"];
        let theirs_before = ids.map(before).into_iter().collect::<Result<Vec<_>, _>>()?;
        let others = ["another's", "nobody's"];
        let others_before = others
            .map(before)
            .into_iter()
            .collect::<Result<Vec<_>, _>>()?;
        let in_another_tenant = other.read("live")?;

        scene.expect(&erase(&scene)?, &Answer::ParticipantErased(3))?;
        scene.expect(&erase(&scene)?, &Answer::ParticipantErased(0))?;
        for judgment in &theirs_before {
            let after = scene.read(judgment.id.as_str())?.judgment;
            ensure_eq(
                "an erased participant's judgment",
                &after,
                &cleared(judgment)?,
            )?;
        }
        for judgment in &others_before {
            let after = scene.read(judgment.id.as_str())?.judgment;
            ensure_eq("somebody else's judgment", &after, judgment)?;
        }
        ensure_eq(
            "the judgment of another tenant's participant of the same id",
            &other.read("live")?,
            &in_another_tenant,
        )?;
        let found = scene.live(&on_behalf_of(WHO)?, &Readable::All, first(9))?;
        ensure(found.rows.is_empty(), || {
            format!("erased, but found by their id: {found:#?}")
        })?;
        let found = scene.live(&on_behalf_of(PSEUDONYM)?, &Readable::All, first(9))?;
        let live: Vec<&str> = found.rows.iter().map(|row| row.id.as_str()).collect();
        ensure_eq(
            "what is found by the pseudonym",
            &live,
            &vec!["live", "elsewhere"],
        )?;

        let replayed = Applied::Replayed(Recorded::Ok {
            judgment: Box::new(cleared(&theirs_before[1])?),
            superseded: Some("old".parse()?),
        });
        scene.expect(
            &theirs(&scene, "live", "a", Some(WHO), Some(kept))?,
            &Answer::Recorded(replayed),
        )?;
        superseded(&scene, "new", WHO, None)?;
        superseded(&scene, "theirs", PSEUDONYM, Some("live"))?;
        race(lab)
    })
}

/// A judgment recorded now must supersede this one, or none.
fn superseded(
    scene: &Scene<'_>,
    id: &str,
    who: &str,
    predecessor: Option<&str>,
) -> Result<(), Report> {
    let answer = scene.ask(&theirs(scene, id, "a", Some(who), None)?)?;
    let Answer::Recorded(Applied::Done(Recorded::Ok { superseded, .. })) = &answer else {
        return Err(Report::new(format!("refused: {answer:?}")));
    };
    let is = superseded.as_ref().map(|id| id.as_str());
    ensure_eq(
        &format!("what {id:?} superseded, on behalf of {who:?}"),
        &is,
        &predecessor,
    )
}

/// One thread erases the participant while another judges on their behalf: each judgment is
/// wholly of before or wholly of after.
fn race(lab: &Lab) -> Result<(), Report> {
    let scenes: Vec<Scene<'_>> = (0..TIMES)
        .map(|_| Scene::new(lab))
        .collect::<Result<_, _>>()?;
    let answers = lab.race(2, TIMES, |handle, time, thread| {
        let scene = scenes
            .get(time)
            .ok_or_else(|| Report::new("no such scene"))?;
        let calls = match thread {
            0 => vec![erase(scene)?],
            _ => vec![
                theirs(scene, "a", "a", Some(WHO), None)?,
                theirs(scene, "b", "b", Some(WHO), None)?,
            ],
        };
        let ask = |call: &Call| handle.block_on(call.ask(&*lab.store));
        calls.iter().map(ask).collect::<Result<Vec<_>, Report>>()
    })?;
    for (scene, answers) in scenes.iter().zip(answers) {
        let answers = answers.into_iter().collect::<Result<Vec<_>, _>>()?;
        let mut changed = 0;
        for answer in answers.iter().skip(1).flatten() {
            let Some(then) = recorded(answer) else {
                return Err(Report::new(format!("refused: {answer:?}")));
            };
            let now = scene.read(then.id.as_str())?.judgment;
            let was_erased = now == cleared(then)?;
            changed += u64::from(was_erased);
            ensure(was_erased || now == *then, || {
                format!("half erased: {now:#?}")
            })?;
        }
        let erased = answers.first().and_then(|answers| answers.first());
        ensure_eq(
            "the answer to who erases a participant",
            &erased,
            &Some(&Answer::ParticipantErased(changed)),
        )?;
    }
    Ok(())
}
