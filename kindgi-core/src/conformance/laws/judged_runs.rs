//! Laws of the judged runs.

use crate::{
    conformance::{
        Backend, Report,
        call::{Answer, Ask, Call},
        lab::Lab,
        report::{ensure, ensure_eq},
        scene::{Scene, at, position},
    },
    json::RawJson,
    model::{Judgment, PageSize, RunContext, RunCopy, Segment, Subject},
    store::{JudgedRun, JudgedRunFilter, Keyset, Slice},
};

fn judged(
    scene: &Scene<'_>,
    filter: &JudgedRunFilter,
    keyset: Keyset,
) -> Result<Slice<JudgedRun>, Report> {
    let ask = Ask::JudgedRuns(filter.clone(), keyset);
    match scene.ask(&Call::reading(&scene.tenant, ask))? {
        Answer::JudgedRuns(slice) => Ok(slice),
        _ => Err(Report::new("another answer than was asked for")),
    }
}

/// Walks the list to its end by pages of this size.
fn walk(scene: &Scene<'_>, filter: &JudgedRunFilter, size: u16) -> Result<Vec<JudgedRun>, Report> {
    let limit = PageSize::new(size).unwrap_or_default();
    let (mut after, mut rows) = (None, Vec::<JudgedRun>::new());
    let place = |run: &JudgedRun| position(run.copy.captured_at, run.copy.run.as_str());
    loop {
        let is_first = after.is_none();
        let page = judged(scene, filter, Keyset { after, limit })?;
        ensure(is_first || !page.rows.is_empty(), || {
            "nothing follows, where more was said to".into()
        })?;
        let full = page.rows.len() == usize::from(size);
        ensure(full || !page.more, || {
            format!("a page of {size} isn't full, but more follow: {page:#?}")
        })?;
        for row in page.rows {
            let (this, last) = (place(&row), rows.last().map(place));
            ensure(last.as_ref().is_none_or(|last| this < *last), || {
                format!("by pages of {size}, {this:?} comes after {last:?}")
            })?;
            rows.push(row);
        }
        after = rows.last().map(place);
        if !page.more {
            return Ok(rows);
        }
        ensure(after.is_some(), || "an empty page, but more follow".into())?;
    }
}

/// Runs with something of each kind that a filter tells apart.
struct Runs<'a> {
    scene: &'a Scene<'a>,
    all: Vec<JudgedRun>,
}

impl Runs<'_> {
    /// Judges a run whose copy was taken at an instant.
    fn judge(
        &mut self,
        run: &str,
        captured_at: i64,
        change: impl FnOnce(&mut RunCopy, &mut Judgment) -> Result<(), Report>,
    ) -> Result<(), Report> {
        let mut new = self.scene.judgment(&format!("of {run}"), run, 0)?;
        let mut copy = self.scene.copy(run, r#"{"x":1.10}"#)?;
        copy.captured_at = at(captured_at);
        change(&mut copy, &mut new.judgment)?;
        new.judgment.subject = copy.subject.clone();
        let judgment = self.scene.recorded(new, Some(copy.clone()))?;
        self.all.push(JudgedRun {
            project: judgment.project.clone(),
            copy,
            judgments: vec![judgment],
        });
        Ok(())
    }

    /// The runs that match, in the list's order.
    fn matching(&self, filter: &JudgedRunFilter) -> Vec<JudgedRun> {
        let mut rows: Vec<_> = self.all.iter().filter(|run| filter.matches(run)).collect();
        rows.sort_by_key(|run| (run.copy.captured_at, run.copy.run.as_str().to_owned()));
        rows.into_iter().rev().cloned().collect()
    }
}

fn agent(id: &str, version: &str) -> Result<Subject, Report> {
    Ok(Subject::Agent {
        id: id.parse()?,
        version: version.parse()?,
    })
}

fn path(segments: &[(&str, &str)]) -> Result<Vec<Segment>, Report> {
    let segments = segments.iter().map(|(key, value)| Segment::new(key, value));
    Ok(segments.collect::<Result<_, _>>()?)
}

/// Walking the judged runs to their end, by pages of any size, yields every run that matches once,
/// newest first, ties by the run's id, each with its copy as it was taken and all its live
/// judgments. Replays, erased runs and runs without a live judgment are none.
pub fn walking_judged_runs_yields_every_run_once_in_order(
    backend: &impl Backend,
) -> Result<(), Report> {
    let law = "walking_judged_runs_yields_every_run_once_in_order";
    Lab::hold(law, backend, |lab| {
        let (scene, other) = (Scene::new(lab)?, Scene::new(lab)?);
        let mut runs = Runs {
            scene: &scene,
            all: Vec::new(),
        };
        for (run, at) in [("b", 5), ("a", 5), ("B", 5), ("c", 9), ("old", 1), ("é", 5)] {
            runs.judge(run, at, |_, _| Ok(()))?;
        }
        runs.judge("elsewhere", 5, |_, judgment| {
            judgment.project = "elsewhere".parse()?;
            Ok(())
        })?;
        for (run, subject) in [
            ("of version 2", agent("agent", "2")?),
            ("of another agent", agent("Agent", "1")?),
            (
                "of a flow",
                Subject::Flow {
                    id: "agent".parse()?,
                    version: "1".parse()?,
                },
            ),
        ] {
            runs.judge(run, 5, |copy, _| {
                copy.subject = subject;
                Ok(())
            })?;
        }
        let paths: [&[(&str, &str)]; 4] = [
            &[("company", "acme")],
            &[("company", "acme"), ("role", "x")],
            &[("company", "acme 2")],
            &[("role", "x"), ("company", "acme")],
        ];
        for (n, segments) in paths.iter().enumerate() {
            runs.judge(&format!("in segment {n}"), 6, |copy, _| {
                copy.segments = Some(path(segments)?);
                Ok(())
            })?;
        }
        runs.judge("of which somebody told a replay", 5, |copy, _| {
            let context = RawJson::parse(r#"{"retrieved":{"replayOf":"x"}}"#)?;
            let context = RunContext::parse(&context);
            copy.context = Some(context.map_err(|e| Report::new(e.to_string()))?);
            Ok(())
        })?;
        more_judgments(&scene, &mut runs)?;
        none_of_these(&scene, &other)?;

        let filters = filters()?;
        for filter in &filters {
            let should_be = runs.matching(filter);
            for size in [1, 2, 3, 100] {
                let rows = walk(&scene, filter, size)?;
                let what = format!("judged runs by pages of {size}, filtered by {filter:?}");
                ensure_eq(&what, &rows, &should_be)?;
            }
        }
        Ok(())
    })
}

/// A run with several live judgments shows them newest first, and none that was removed.
fn more_judgments(scene: &Scene<'_>, runs: &mut Runs<'_>) -> Result<(), Report> {
    let mut live = Vec::new();
    for (id, at, key) in [("early", 3, "x"), ("late", 8, "y"), ("gone", 9, "z")] {
        let mut new = scene.judgment(id, "a", at)?;
        new.judgment.item.key = key.parse()?;
        live.insert(0, scene.recorded(new, None)?);
    }
    live.remove(0);
    let gone = scene.call(10, Ask::Remove("gone".parse()?));
    scene.ask(&gone)?;
    let of_a = runs.all.iter_mut().find(|run| run.copy.run.as_str() == "a");
    if let Some(run) = of_a {
        live.append(&mut run.judgments);
        run.judgments = live;
    }
    Ok(())
}

/// Runs that are no judged runs, or another tenant's.
fn none_of_these(scene: &Scene<'_>, other: &Scene<'_>) -> Result<(), Report> {
    let mut replay = scene.copy("a replay", "1")?;
    let context = RawJson::parse(r#"{"retrieved":{"replayOf":"x"},"replayOf":"a"}"#)?;
    let context = RunContext::parse(&context);
    replay.context = Some(context.map_err(|e| Report::new(e.to_string()))?);
    let of_replay = scene.judgment("of a replay", "a replay", 0)?;
    scene.recorded(of_replay, Some(replay))?;
    for run in ["erased", "removed"] {
        let new = scene.judgment(&format!("of {run}"), run, 0)?;
        scene.recorded(new, Some(scene.copy(run, "1")?))?;
    }
    let erase = scene.call(1, Ask::EraseRun("erased".parse()?));
    scene.expect(&erase, &Answer::Erased)?;
    scene.ask(&scene.call(1, Ask::Remove("of removed".parse()?)))?;
    let theirs = other.judgment("theirs", "theirs", 0)?;
    other.recorded(theirs, Some(other.copy("theirs", "1")?))?;
    Ok(())
}

fn filters() -> Result<Vec<JudgedRunFilter>, Report> {
    let all = JudgedRunFilter::default;
    let in_path = |segments: &[(&str, &str)]| {
        Ok::<_, Report>(JudgedRunFilter {
            segments: path(segments)?,
            ..all()
        })
    };
    Ok(vec![
        all(),
        JudgedRunFilter {
            project: Some("elsewhere".parse()?),
            ..all()
        },
        JudgedRunFilter {
            agent: Some("agent".parse()?),
            ..all()
        },
        JudgedRunFilter {
            agent: Some("agent".parse()?),
            agent_version: Some("2".parse()?),
            ..all()
        },
        JudgedRunFilter {
            flow: Some("agent".parse()?),
            ..all()
        },
        JudgedRunFilter {
            since: Some(at(5)),
            until: Some(at(9)),
            ..all()
        },
        JudgedRunFilter {
            until: Some(at(5)),
            ..all()
        },
        in_path(&[("company", "acme")])?,
        in_path(&[("company", "acme"), ("role", "x")])?,
        in_path(&[("role", "x")])?,
        JudgedRunFilter {
            agent: Some("agent".parse()?),
            flow: Some("agent".parse()?),
            ..all()
        },
        JudgedRunFilter {
            project: Some("project".parse()?),
            agent: Some("agent".parse()?),
            since: Some(at(6)),
            segments: path(&[("company", "acme")])?,
            ..all()
        },
    ])
}
