//! Laws of judging rules.

use crate::{
    conformance::{
        Backend, Report,
        call::{Answer, Ask, Call},
        lab::Lab,
        report::{ensure, ensure_eq},
        scene::{Scene, at, first},
    },
    model::{JudgingRule, ProjectId},
    store::{Applied, ClassReplaced, RuleAppended, RuleStopped},
};

const THREADS: usize = 3;
const TIMES: usize = 40;

/// How many versions each thread writes, and how often it may be told to decide again.
const VERSIONS: usize = 5;
const MAX_STALE: usize = 1_000;

fn done(outcome: RuleAppended) -> Answer {
    Answer::RuleAppended(Applied::Done(outcome))
}

fn ok(rule: &JudgingRule) -> Answer {
    done(RuleAppended::Ok(Box::new(rule.clone())))
}

fn stopped(outcome: RuleStopped) -> Answer {
    Answer::RuleStopped(Applied::Done(outcome))
}

/// All versions of a rule that is there, newest first.
fn versions(scene: &Scene<'_>, id: &str) -> Result<Vec<JudgingRule>, Report> {
    Ok(scene.versions(id, None, first(100).limit)?.rows)
}

/// A rule's versions are 1, 2, 3, … without gap or repeat: only the one after the latest is
/// stored, and of those who append it at once one does, while the others are told to decide
/// again. What was acknowledged is there as it was written, and never before its predecessor.
pub fn rule_versions_are_consecutive_under_concurrency(
    backend: &impl Backend,
) -> Result<(), Report> {
    let law = "rule_versions_are_consecutive_under_concurrency";
    Lab::hold(law, backend, |lab| {
        one_after_the_other(&Scene::new(lab)?)?;
        let scenes: Vec<Scene<'_>> = (0..TIMES)
            .map(|_| Scene::new(lab))
            .collect::<Result<_, _>>()?;
        for scene in &scenes {
            scene.expect(
                &scene.append(&scene.rule("rule", 1, 0)?),
                &ok(&scene.rule("rule", 1, 0)?),
            )?;
        }
        let written = lab.race(THREADS, TIMES, |handle, time, thread| {
            let scene = scenes
                .get(time)
                .ok_or_else(|| Report::new("no such scene"))?;
            handle.block_on(append_some(scene, thread))
        })?;
        for (scene, written) in scenes.iter().zip(written) {
            let written = written.into_iter().collect::<Result<Vec<_>, Report>>()?;
            let mut written: Vec<JudgingRule> = written.into_iter().flatten().collect();
            written.push(scene.rule("rule", 1, 0)?);
            let stored = versions(scene, "rule")?;
            let numbers: Vec<u32> = stored.iter().rev().map(|rule| rule.version).collect();
            let should_be = (1..).take(1 + THREADS * VERSIONS).collect();
            ensure_eq("the versions of a rule", &numbers, &should_be)?;
            written.sort_by_key(|rule| std::cmp::Reverse(rule.version));
            ensure_eq("the versions that were acknowledged", &stored, &written)?;
            let times: Vec<_> = stored.iter().rev().map(|rule| rule.created_at).collect();
            ensure(times.is_sorted(), || {
                format!("a version is before the one before it: {times:?}")
            })?;
        }
        Ok(())
    })
}

/// Only the version after the latest is stored, by whatever clock.
fn one_after_the_other(scene: &Scene<'_>) -> Result<(), Report> {
    let first = scene.rule("rule", 1, 5)?;
    scene.expect(&scene.append(&first), &ok(&first))?;
    let again = scene.append(&scene.rule("rule", 3, 6)?);
    scene.expect(&again, &done(RuleAppended::Stale))?;
    // Its clock went back.
    let mut second = scene.rule("rule", 2, 3)?;
    let append = scene.append(&second);
    second.created_at = at(5);
    scene.expect(&append, &ok(&second))?;
    for version in [2, 4] {
        let stale = scene.append(&scene.rule("rule", version, 7)?);
        scene.expect(&stale, &done(RuleAppended::Stale))?;
    }
    ensure_eq("the latest version", &scene.latest("rule")?, &second)?;
    let stored = versions(scene, "rule")?;
    ensure_eq("the versions", &stored, &vec![second, first])
}

/// Appends versions as a caller does: reads, decides, and again if others were faster; up to the
/// rule's end.
async fn append_some(scene: &Scene<'_>, thread: usize) -> Result<Vec<JudgingRule>, Report> {
    let store = &*scene.lab.store;
    let latest = Call::reading(
        &scene.tenant,
        Ask::Rule("project".parse()?, "rule".parse()?),
    );
    let mut written = Vec::new();
    for _ in 0..MAX_STALE {
        if written.len() == VERSIONS {
            return Ok(written);
        }
        let Answer::Rule(Some(latest)) = latest.ask(store).await? else {
            return Err(Report::new("the rule is gone"));
        };
        let now = i64::try_from(thread).unwrap_or_default();
        let mut next = scene.rule("rule", latest.version.saturating_add(1), now)?;
        next.name = format!("{} of thread {thread}", written.len()).parse()?;
        match scene.append(&next).ask(store).await? {
            Answer::RuleAppended(Applied::Done(RuleAppended::Ok(stored))) => {
                // It may be moved up in time, and no more than that.
                let may_be = JudgingRule {
                    created_at: next.created_at.max(stored.created_at),
                    ..next
                };
                ensure_eq("the version that was acknowledged", &*stored, &may_be)?;
                written.push(*stored);
            }
            Answer::RuleAppended(Applied::Done(RuleAppended::Stale)) => {
                tokio::task::yield_now().await;
            }
            Answer::RuleAppended(Applied::Done(RuleAppended::NotLive)) => return Ok(written),
            answer => return Err(Report::new(format!("{answer:?} to version {next:?}"))),
        }
    }
    Err(Report::new(format!(
        "a thread was told {MAX_STALE} times that its version is stale"
    )))
}

/// A stopped rule takes no version, whatever it says and whoever stops it at once; it isn't
/// stopped again nor listed, but read with all its versions, which ended at one instant.
pub fn a_stopped_rule_takes_no_version(backend: &impl Backend) -> Result<(), Report> {
    Lab::hold("a_stopped_rule_takes_no_version", backend, |lab| {
        let scene = Scene::new(lab)?;
        let missing = scene.append(&scene.rule("rule", 2, 0)?);
        scene.expect(&missing, &done(RuleAppended::NotLive))?;
        scene.expect(&scene.stop("rule", 0)?, &stopped(RuleStopped::NotLive))?;
        let mut all = Vec::new();
        for (version, now) in [(1, 5), (2, 6)] {
            let rule = scene.rule("rule", version, now)?;
            scene.expect(&scene.append(&rule), &ok(&rule))?;
            all.insert(0, rule);
        }
        let elsewhere: ProjectId = "elsewhere".parse()?;
        let mut of_another = scene.rule("rule", 3, 6)?;
        of_another.project = elsewhere.clone();
        let of_another = scene.append(&of_another);
        scene.expect(&of_another, &done(RuleAppended::NotLive))?;
        let of_another = scene.call(6, Ask::StopRule(elsewhere, "rule".parse()?));
        scene.expect(&of_another, &stopped(RuleStopped::NotLive))?;
        ensure_eq(
            "a rule that nobody stopped",
            &versions(&scene, "rule")?,
            &all,
        )?;

        // By a clock that went back: it ends no sooner than it began.
        scene.expect(&scene.stop("rule", 1)?, &stopped(RuleStopped::Ok))?;
        scene.expect(&scene.stop("rule", 9)?, &stopped(RuleStopped::NotLive))?;
        for version in [2, 3, 4] {
            let late = scene.append(&scene.rule("rule", version, 9)?);
            scene.expect(&late, &done(RuleAppended::NotLive))?;
        }
        for rule in &mut all {
            rule.unregistered_at = Some(at(6));
        }
        ensure_eq(
            "a stopped rule's versions",
            &versions(&scene, "rule")?,
            &all,
        )?;
        ensure_eq(
            "a stopped rule",
            &Some(scene.latest("rule")?),
            &all.first().cloned(),
        )?;
        let live = scene.live_rules("project", first(9))?.rows;
        ensure(live.is_empty(), || {
            format!("it is stopped, but listed: {live:?}")
        })?;
        stop_races(lab)
    })
}

/// One thread stops the rule, sooner or later, while the others append.
fn stop_races(lab: &Lab) -> Result<(), Report> {
    let scenes: Vec<Scene<'_>> = (0..TIMES)
        .map(|_| Scene::new(lab))
        .collect::<Result<_, _>>()?;
    for scene in &scenes {
        scene.ask(&scene.append(&scene.rule("rule", 1, 0)?))?;
    }
    let written = lab.race(THREADS, TIMES, |handle, time, thread| {
        let scene = scenes
            .get(time)
            .ok_or_else(|| Report::new("no such scene"))?;
        if thread > 0 {
            return handle.block_on(append_some(scene, thread));
        }
        let found = Call::reading(
            &scene.tenant,
            Ask::Rule("project".parse()?, "rule".parse()?),
        );
        for _ in 0..time % 8 {
            handle.block_on(found.ask(&*lab.store))?;
        }
        let stop = scene.stop("rule", 1)?;
        let answer = handle.block_on(stop.ask(&*lab.store))?;
        ensure_eq(
            "the answer to who stops",
            &answer,
            &stopped(RuleStopped::Ok),
        )?;
        Ok(vec![scene.rule("rule", 1, 0)?])
    })?;
    for (scene, written) in scenes.iter().zip(written) {
        let written = written.into_iter().collect::<Result<Vec<_>, Report>>()?;
        let mut written: Vec<JudgingRule> = written.into_iter().flatten().collect();
        written.sort_by_key(|rule| std::cmp::Reverse(rule.version));
        let end = written.first().map(|latest| latest.created_at.max(at(1)));
        for rule in &mut written {
            rule.unregistered_at = end;
        }
        let stored = versions(scene, "rule")?;
        let what = "the versions of a rule that was stopped while others appended";
        ensure_eq(what, &stored, &written)?;
        let live = scene.live_rules("project", first(9))?.rows;
        ensure(live.is_empty(), || {
            format!("it is stopped, but listed: {live:?}")
        })?;
    }
    Ok(())
}

/// A version is stored only while its class is at the revision that was looked at; that a rule is
/// stopped, or has a later version, is told first. Nothing is stored then.
pub fn a_version_naming_a_changed_class_is_noticed(backend: &impl Backend) -> Result<(), Report> {
    let law = "a_version_naming_a_changed_class_is_noticed";
    Lab::hold(law, backend, |lab| {
        let scene = Scene::new(lab)?;
        let class = scene.class("class", "name", 0)?;
        let append = |rule: &JudgingRule, revision| naming(&scene, rule, revision);
        let changed = done(RuleAppended::ClassChanged);
        let one = JudgingRule {
            class: Some("class".parse()?),
            ..scene.rule("rule", 1, 0)?
        };
        let two = JudgingRule {
            version: 2,
            ..one.clone()
        };
        scene.expect(&append(&one, 1)?, &changed)?;
        let found = Call::reading(
            &scene.tenant,
            Ask::Rule("project".parse()?, "rule".parse()?),
        );
        scene.expect(&found, &Answer::Rule(None))?;
        scene.ask(&scene.call(0, Ask::CreateClass(Box::new(class.clone()))))?;
        scene.expect(&append(&one, 2)?, &changed)?;
        scene.expect(&append(&one, 1)?, &ok(&one))?;
        let replace = scene.call(0, Ask::ReplaceClass(1, Box::new(class.clone())));
        scene.ask(&replace)?;
        for revision in [1, 3, 0] {
            scene.expect(&append(&two, revision)?, &changed)?;
        }
        let three = JudgingRule {
            version: 3,
            ..one.clone()
        };
        scene.expect(&append(&three, 1)?, &done(RuleAppended::Stale))?;
        let stored = versions(&scene, "rule")?;
        ensure_eq("the versions", &stored, &vec![one.clone()])?;
        scene.expect(&append(&two, 2)?, &ok(&two))?;
        let retired = Box::new(Scene::retired(&class, 0));
        scene.ask(&scene.call(0, Ask::ReplaceClass(2, retired)))?;
        scene.expect(&append(&three, 2)?, &changed)?;
        // A version that isn't said to rest on the class isn't held to it.
        scene.expect(&scene.append(&three), &ok(&three))?;
        scene.ask(&scene.stop("rule", 0)?)?;
        let four = JudgingRule { version: 4, ..one };
        scene.expect(&append(&four, 1)?, &done(RuleAppended::NotLive))?;
        class_races(lab)
    })
}

/// The call that appends a version while its class is at this revision.
fn naming(scene: &Scene<'_>, rule: &JudgingRule, revision: u64) -> Result<Call, Report> {
    let mut call = scene.append(rule);
    if let Ask::AppendRule { class, .. } = &mut call.ask {
        *class = Some(("class".parse()?, revision));
    }
    Ok(call)
}

/// One thread changes the class and then looks for the version that another appends at once: if
/// it isn't there by then, it never is.
fn class_races(lab: &Lab) -> Result<(), Report> {
    let scenes: Vec<Scene<'_>> = (0..TIMES)
        .map(|_| Scene::new(lab))
        .collect::<Result<_, _>>()?;
    for scene in &scenes {
        let class = scene.class("class", "name", 0)?;
        scene.ask(&scene.call(0, Ask::CreateClass(Box::new(class))))?;
        scene.ask(&scene.append(&scene.rule("rule", 1, 0)?))?;
    }
    let answers = lab.race(2, TIMES, |handle, time, thread| {
        let scene = scenes
            .get(time)
            .ok_or_else(|| Report::new("no such scene"))?;
        let calls = if thread == 0 {
            let class = Box::new(scene.class("class", "name", 0)?);
            let found = Ask::Rule("project".parse()?, "rule".parse()?);
            vec![
                scene.call(0, Ask::ReplaceClass(1, class)),
                Call::reading(&scene.tenant, found),
            ]
        } else {
            let next = JudgingRule {
                class: Some("class".parse()?),
                ..scene.rule("rule", 2, 0)?
            };
            vec![naming(scene, &next, 1)?]
        };
        let mut answers = Vec::new();
        for call in &calls {
            answers.push(handle.block_on(call.ask(&*lab.store))?);
        }
        Ok(answers)
    })?;
    for (scene, answers) in scenes.iter().zip(answers) {
        let answers = answers.into_iter().collect::<Result<Vec<_>, Report>>()?;
        let told = || format!("when one changes a class and another names it: {answers:#?}");
        let all: Vec<&Answer> = answers.iter().flatten().collect();
        let [replaced, Answer::Rule(Some(seen)), appended] = all.as_slice() else {
            return Err(Report::new(told()));
        };
        let changes = matches!(
            replaced,
            Answer::ClassReplaced(Applied::Done(ClassReplaced::Ok(_)))
        );
        let appends = matches!(
            appended,
            Answer::RuleAppended(Applied::Done(RuleAppended::Ok(_)))
        );
        let refuses = **appended == done(RuleAppended::ClassChanged);
        ensure(changes && (appends || refuses), told)?;
        let latest = scene.latest("rule")?.version;
        ensure_eq("the latest version", &latest, &(1 + u32::from(appends)))?;
        ensure(seen.version == latest, || {
            format!("a version came after its class had changed: {}", told())
        })?;
    }
    Ok(())
}
