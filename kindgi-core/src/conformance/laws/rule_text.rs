//! What the laws of texts say of judging rules.

use crate::{
    conformance::{
        Report,
        call::{Answer, Ask, Call},
        lab::Lab,
        report::ensure_eq,
        scene::{Scene, at, first, operation},
        texts::near,
    },
    model::{
        AgentId, JudgingRule, MAX_WHEN_ITEMS, Principal, ProjectId, RuleId, RuleWhen, Version,
        VersionMatch, WhenItems, WhenSubjects,
    },
    store::{Applied, RuleAppended},
};

/// Rules whose ids, or projects, differ by little are others.
pub(super) fn rules_compare(lab: &Lab, count: u8) -> Result<(), Report> {
    let scene = Scene::new(lab)?;
    let ids = (0..count).map(|number| (near("id", number), "project".to_owned()));
    let projects = (0..count).map(|number| (format!("r{number}"), near("p", number)));
    // One of each isn't there.
    let absent = |number: usize| number % usize::from(count) == 4;
    let all: Vec<(String, String)> = ids.chain(projects).collect();
    let made = all
        .iter()
        .enumerate()
        .filter(|(number, _)| !absent(*number));
    for (_, (id, project)) in made {
        for version in [1, 2] {
            let mut rule = scene.rule(id, version, 0)?;
            rule.project = project.parse()?;
            let ok = RuleAppended::Ok(Box::new(rule.clone()));
            let ok = Answer::RuleAppended(Applied::Done(ok));
            scene.expect(&scene.append(&rule), &ok)?;
        }
    }
    for (number, (id, project)) in all.iter().enumerate() {
        let (of, rule): (ProjectId, RuleId) = (project.parse()?, id.parse()?);
        let found = match scene.ask(&reading(&scene, Ask::Rule(of.clone(), rule.clone())))? {
            Answer::Rule(found) => found.map(|rule| rule.id.to_string()),
            _ => None,
        };
        let should_be = (!absent(number)).then(|| id.clone());
        ensure_eq("the rule of an id", &found, &should_be)?;
        let ask = Ask::RuleVersions(of, rule, None, first(9).limit);
        let found = match scene.ask(&reading(&scene, ask))? {
            Answer::RuleVersions(found) => found.map(|page| page.rows.len()),
            _ => None,
        };
        let should_be = (!absent(number)).then_some(2);
        ensure_eq("how many versions a rule has", &found, &should_be)?;
        if number >= usize::from(count) {
            let listed = scene.live_rules(project, first(9))?.rows;
            let listed: Vec<String> = listed.iter().map(|row| row.latest.id.to_string()).collect();
            let should_be: Vec<String> =
                (!absent(number)).then(|| id.clone()).into_iter().collect();
            ensure_eq(&format!("the rules of {project:?}"), &listed, &should_be)?;
        }
    }
    // One is stopped, and the others live.
    let (id, project) = (near("id", 1), "project");
    scene.ask(&scene.stop(&id, 1)?)?;
    let listed = scene.live_rules(project, first(100))?.rows;
    let mut live: Vec<String> = (0..count)
        .filter(|number| *number != 1 && !absent((*number).into()))
        .map(|number| near("id", number))
        .collect();
    live.sort();
    let listed: Vec<String> = listed.iter().map(|row| row.latest.id.to_string()).collect();
    ensure_eq("the rules that still live", &listed, &live)
}

/// A rule comes back as it went in, in all ways that it can be read.
pub(super) fn rule_is_kept(scene: &Scene<'_>, number: u8, text: &str) -> Result<(), Report> {
    let id: RuleId = text.parse()?;
    let agents = (0..MAX_WHEN_ITEMS).map(|number| {
        let head = number.to_string();
        let rest = text.chars().take(256 - head.chars().count());
        format!("{head}{}", rest.collect::<String>()).parse()
    });
    let agents = agents.collect::<Result<Vec<AgentId>, _>>()?;
    let mut rule = JudgingRule {
        id: id.clone(),
        project: text.parse()?,
        name: text.chars().take(200).collect::<String>().parse()?,
        when: RuleWhen {
            subjects: WhenSubjects::Agents(WhenItems::new(agents)?),
            versions: Some(WhenItems::new(vec![
                VersionMatch::Live,
                VersionMatch::from(text.parse::<Version>()?),
            ])?),
            says_completed: true,
            include_dry_runs: Some(false),
        },
        class: Some(text.parse()?),
        created_by: Some((&Principal::service(scene.tenant.clone(), text.parse()?)).into()),
        ..scene.rule("rule", 1, 0)?
    };
    for version in [1, 2] {
        rule.version = version;
        let mut append = scene.append(&rule);
        let own = 100_u8.saturating_add(number.saturating_mul(2));
        let own = own.saturating_add(u8::from(version == 2));
        append.operation = Some(operation(own, 1, at(100)));
        let ok = RuleAppended::Ok(Box::new(rule.clone()));
        scene.expect(&append, &Answer::RuleAppended(Applied::Done(ok.clone())))?;
        scene.expect(&append, &Answer::RuleAppended(Applied::Replayed(ok)))?;
        let found = reading(scene, Ask::Rule(rule.project.clone(), id.clone()));
        scene.expect(&found, &Answer::Rule(Some(Box::new(rule.clone()))))?;
        let listed = scene.live_rules(rule.project.as_str(), first(9))?.rows;
        let listed: Vec<_> = listed.into_iter().map(|row| row.latest).collect();
        ensure_eq("the rules of its project", &listed, &vec![rule.clone()])?;
        let limit = first(1).limit;
        let ask = Ask::RuleVersions(rule.project.clone(), id.clone(), None, limit);
        let found = match scene.ask(&reading(scene, ask))? {
            Answer::RuleVersions(page) => page.map(|page| page.rows),
            _ => None,
        };
        ensure_eq("its latest version", &found, &Some(vec![rule.clone()]))?;
    }
    Ok(())
}

fn reading(scene: &Scene<'_>, ask: Ask) -> Call {
    Call::reading(&scene.tenant, ask)
}
