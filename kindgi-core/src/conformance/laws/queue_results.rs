//! The law of a rule's results.

use super::judging_queue::{judge, remove};
use crate::{
    conformance::{
        Backend, Report,
        call::{Answer, Ask, Call},
        lab::Lab,
        report::ensure_eq,
        scene::Scene,
    },
    model::{JudgeClass, JudgingRule, MaxOpen, Subject, Verdict, Weight},
    rules::results::{ClassCount, Counted},
    store::{EnabledRules, RuleResults, Taken},
};

/// What came of each version of a rule and each agent version: the runs it took by where they are
/// now, those that it skipped, and the live judgments of those that it took, by class. A run that
/// another rule took, or another version, isn't in; an erased one and a flow's count under no
/// agent version, which comes last. What was told at the instant that is asked about is in. The
/// weights are the current ones, of retired classes, too.
///
/// From [`rule_results`](crate::store::JudgingQueueStore::rule_results).
pub fn results_add_up(backend: &impl Backend) -> Result<(), Report> {
    Lab::hold("results_add_up", backend, |lab| {
        let scene = Scene::new(lab)?;
        let missing = Ask::RuleResults("project".parse()?, "rule".parse()?, None);
        let missing = Call::reading(&scene.tenant, missing);
        scene.expect(&missing, &Answer::RuleResults(None))?;
        let rule = scene.create_rule("rule", None, Some(4))?;
        let nothing = RuleResults {
            counted: Vec::new(),
            weights: [].into(),
        };
        ensure_eq(
            "the results before the first run",
            &scene.results("rule", None)?,
            &nothing,
        )?;
        let elsewhere = Ask::RuleResults("elsewhere".parse()?, "rule".parse()?, None);
        let elsewhere = Call::reading(&scene.tenant, elsewhere);
        scene.expect(&elsewhere, &Answer::RuleResults(None))?;
        fill(&scene, &rule)?;
        for (since, parts) in [
            (None, [true; 3]),
            (Some(5), [true, true, false]),
            (Some(6), [true, false, false]),
        ] {
            let what = format!("the results since {since:?}");
            let counted = scene.results("rule", since)?.counted;
            let should_be = groups(parts)?;
            ensure_eq(&what, &counted, &should_be)?;
        }
        let weights = scene.results("rule", None)?.weights;
        let weights: Vec<(String, f64)> = weights
            .iter()
            .map(|(class, weight)| (class.to_string(), weight.get()))
            .collect();
        let should_be = vec![("expert".to_owned(), 4.0), ("retired".to_owned(), 0.5)];
        ensure_eq("the current weights", &weights, &should_be)?;
        let other = scene.results("other", None)?.counted;
        let told: u64 = other
            .iter()
            .map(|group| group.states.iter().sum::<u64>())
            .sum();
        ensure_eq("how many runs another rule took", &told, &1)?;
        stopped(&scene)
    })
}

/// A stopped rule's results stay.
fn stopped(scene: &Scene<'_>) -> Result<(), Report> {
    let before = scene.results("rule", None)?;
    scene.ask(&scene.stop("rule", 50)?)?;
    ensure_eq(
        "the results of a stopped rule",
        &scene.results("rule", None)?,
        &before,
    )
}

/// Two versions of a rule take, or skip, runs of two agent versions and of a flow.
fn fill(scene: &Scene<'_>, rule: &JudgingRule) -> Result<(), Report> {
    let mut classes = Vec::new();
    for id in ["expert", "retired", "unused"] {
        let class = scene.class(id, id, 0)?;
        scene.ask(&scene.call(0, Ask::CreateClass(Box::new(class.clone()))))?;
        classes.push(class);
    }
    let of_rule = |rule: &JudgingRule| {
        let revision = scene.enabled()?.revision;
        let rules = vec![rule.clone()];
        Ok::<_, Report>(EnabledRules { revision, rules })
    };
    let tell = |run: &str, version: &str, rule: &JudgingRule, now| {
        let mut ended = scene.ended(run)?;
        let version = version.parse()?;
        ended.subject = match run.starts_with("flow") {
            true => Subject::Flow {
                id: "flow".parse()?,
                version,
            },
            false => Subject::Agent {
                id: "agent".parse()?,
                version,
            },
        };
        scene.ask(&scene.tell(ended, &of_rule(rule)?, now))
    };
    // At 4, 5 and 6, by version 1: four, and the fifth is one too many.
    for (run, version, now) in [
        ("erased", "1", 4),
        ("judged", "1", 4),
        ("dismissed", "1", 5),
        ("flow", "1", 5),
        ("open", "2", 6),
    ] {
        tell(run, version, rule, now)?;
        if run == "judged" {
            judge(scene, ("a", run), "ada", Some("expert"), 7)?;
        }
    }
    tell("skipped", "2", rule, 6)?;
    // Told again by chance, or to another rule.
    tell("skipped", "2", rule, 6)?;
    let other = scene.create_rule("other", None, None)?;
    tell("another rule's", "1", &other, 6)?;
    judge(scene, ("b", "another rule's"), "ada", None, 7)?;
    judge(scene, ("c", "nobody's"), "ada", None, 7)?;
    judge(scene, ("d", "skipped"), "ada", None, 7)?;
    let mut next = rule.clone();
    next.version = 2;
    next.max_open = MaxOpen::new(9);
    scene.ask(&scene.append(&next))?;
    tell("later", "1", &next, 6)?;

    // What people say of them.
    let mut no = scene.judgment("e", "judged", 8)?;
    no.judgment.asserted_by.id = "bob".parse()?;
    no.judgment.class = Some("expert".parse()?);
    no.judgment.verdict = Verdict::No;
    scene.recorded(no, None)?;
    judge(scene, ("f", "judged"), "eve", Some("retired"), 8)?;
    judge(scene, ("g", "judged"), "dan", None, 8)?;
    judge(scene, ("h", "judged"), "joe", Some("unused"), 8)?;
    remove(scene, "h")?;
    judge(scene, ("i", "erased"), "ada", Some("expert"), 8)?;
    scene.ask(&scene.dismiss("dismissed", None, 8)?)?;
    judge(scene, ("j", "dismissed"), "ada", None, 8)?;
    scene.ask(&scene.call(9, Ask::EraseRun("erased".parse()?)))?;
    let weighs = |class: &JudgeClass, weight| {
        let weight = Weight::new(weight).ok_or_else(|| Report::new("not a weight"))?;
        let next = JudgeClass {
            weight,
            ..class.clone()
        };
        Ok::<_, Report>(next)
    };
    let [expert, retired, ..] = classes.as_slice() else {
        return Err(Report::new("no classes"));
    };
    let next = Box::new(weighs(expert, 4.0)?);
    scene.ask(&scene.call(9, Ask::ReplaceClass(1, next)))?;
    let next = Box::new(Scene::retired(&weighs(retired, 0.5)?, 9));
    scene.ask(&scene.call(9, Ask::ReplaceClass(1, next)))?;
    let known = scene.told("skipped", 20)?;
    ensure_eq("telling it again", &known, &Taken::Known)
}

/// The results of what was told at 6, at 5 and at 4, or of some of that.
fn groups([at_6, at_5, at_4]: [bool; 3]) -> Result<Vec<Counted>, Report> {
    let count = |class: Option<&str>, judgments, yes| {
        Ok::<_, Report>(ClassCount {
            class: class.map(str::parse).transpose()?,
            judgments,
            yes,
        })
    };
    let group = |rule_version, agent_version: Option<&str>| {
        let agent_version = agent_version.map(str::parse).transpose()?;
        Ok::<_, Report>(Counted::nothing(rule_version, agent_version))
    };
    let mut all = Vec::new();
    // The newest version, with one open item.
    let mut later = group(2, Some("1"))?;
    later.states = [1, 0, 0, 0];
    all.push((at_6, later));
    let mut first = group(1, Some("1"))?;
    if at_4 {
        first.states = [0, 1, 1, 0];
        first.runs_with_judgments = 2;
        first.by_class = vec![
            count(None, 2, 2)?,
            count(Some("expert"), 2, 1)?,
            count(Some("retired"), 1, 1)?,
        ];
    } else {
        first.states = [0, 0, 1, 0];
        first.runs_with_judgments = 1;
        first.by_class = vec![count(None, 1, 1)?];
    }
    all.push((at_5 || at_4, first));
    let mut second = group(1, Some("2"))?;
    second.states = [1, 0, 0, 0];
    second.skipped_by_cap = 1;
    all.push((at_6, second));
    // A flow's, and the erased one.
    let mut none = group(1, None)?;
    none.states = [1, 0, 0, u64::from(at_4)];
    if at_4 {
        none.runs_with_judgments = 1;
        none.by_class = vec![count(Some("expert"), 1, 1)?];
    }
    all.push((at_5, none));
    Ok(all
        .into_iter()
        .filter(|(shown, _)| *shown)
        .map(|(_, group)| group)
        .collect())
}
