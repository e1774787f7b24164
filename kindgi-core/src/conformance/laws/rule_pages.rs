//! Laws of the lists of judging rules and of their versions.

use std::{cell::RefCell, collections::BTreeSet};

use super::pages::{ROWS, SIZES, id, stayed, walk_by};
use crate::{
    conformance::{
        Backend, Report,
        lab::Lab,
        report::ensure_eq,
        scene::{Scene, first, position},
    },
    model::{JudgingRule, Position},
    store::{Keyset, ListedRule, Slice},
};

fn place(row: &ListedRule) -> Position {
    position(row.first_created_at, row.latest.id.as_str())
}

/// Creates a rule, many of them at one instant.
fn create(scene: &Scene<'_>, number: usize, project: &str) -> Result<JudgingRule, Report> {
    let now = i64::try_from(number % 3).unwrap_or_default();
    let mut rule = scene.rule(&id(number), 1, now)?;
    rule.project = project.parse()?;
    scene.ask(&scene.append(&rule))?;
    Ok(rule)
}

/// Reads a project's rules page by page, oldest first.
fn walk_rules(
    scene: &Scene<'_>,
    size: u16,
    alone: bool,
    project: &str,
    between: impl FnMut(&str) -> Result<(), Report>,
) -> Result<Vec<Position>, Report> {
    let (last, between) = (RefCell::new(String::new()), RefCell::new(between));
    let page = |after| {
        let limit = first(size).limit;
        let page = scene.live_rules(project, Keyset { after, limit })?;
        if let Some(row) = page.rows.last() {
            last.replace(row.latest.id.to_string());
        }
        Ok::<Slice<ListedRule>, Report>(page)
    };
    let follows = |last: &Position, this: &Position| this > last;
    walk_by(size, alone, (place, follows), page, || {
        (*between.borrow_mut())(&last.borrow())
    })
}

/// Page by page, of whatever size, a project's live rules are yielded once each with their latest
/// version, oldest first by version 1 and by the bytes of the id among those of one instant; a
/// rule's versions are, newest first; and each page says rightly whether more follow.
pub fn walking_rules_and_versions_yields_every_row_once_in_order(
    backend: &impl Backend,
) -> Result<(), Report> {
    let law = "walking_rules_and_versions_yields_every_row_once_in_order";
    Lab::hold(law, backend, |lab| {
        let scene = Scene::new(lab)?;
        let mut rules = Vec::new();
        for number in 0..ROWS {
            rules.push(create(&scene, number, "project")?);
        }
        for number in ROWS..ROWS + 2 {
            create(&scene, number, "other")?;
        }
        // A later version moves no rule, and a stopped one isn't there.
        for (number, first) in rules.iter().enumerate().step_by(4) {
            let next = scene.rule(
                first.id.as_str(),
                2,
                100 - i64::try_from(number).unwrap_or(0),
            )?;
            scene.ask(&scene.append(&next))?;
        }
        let mut stopped = Vec::new();
        for first in rules.iter().skip(1).step_by(5) {
            scene.ask(&scene.stop(first.id.as_str(), 9)?)?;
            stopped.push(first.id.clone());
        }
        let live = rules.iter().filter(|rule| !stopped.contains(&rule.id));
        let mut oldest_first: Vec<Position> = live
            .map(|rule| position(rule.created_at, rule.id.as_str()))
            .collect();
        oldest_first.sort();
        for size in SIZES {
            let places = walk_rules(&scene, size, true, "project", |_| Ok(()))?;
            ensure_eq(&format!("rules by pages of {size}"), &places, &oldest_first)?;
        }
        for row in scene.live_rules("project", first(100))?.rows {
            let latest = scene.latest(row.latest.id.as_str())?;
            ensure_eq("a rule in the list", &row.latest, &latest)?;
        }
        versions(&scene)
    })
}

/// The same of a rule's versions, also when it is stopped.
fn versions(scene: &Scene<'_>) -> Result<(), Report> {
    let mut all = Vec::new();
    for version in 1..=u32::try_from(ROWS).unwrap_or_default() {
        let rule = scene.rule("rule", version, 0)?;
        scene.ask(&scene.append(&rule))?;
        all.insert(0, rule);
    }
    for stopped in [false, true] {
        if stopped {
            scene.ask(&scene.stop("rule", 1)?)?;
            for rule in &mut all {
                rule.unregistered_at = Some(crate::conformance::scene::at(1));
            }
        }
        let page_all = scene.versions("rule", None, first(100).limit)?.rows;
        ensure_eq("a rule's versions", &page_all, &all)?;
        let numbers: Vec<u32> = all.iter().map(|rule| rule.version).collect();
        for size in SIZES {
            let page = |before| scene.versions("rule", before, first(size).limit);
            let number = |rule: &JudgingRule| rule.version;
            let follows = |last: &u32, this: &u32| this < last;
            let seen = walk_by(size, true, (number, follows), page, || Ok(()))?;
            ensure_eq(&format!("versions by pages of {size}"), &seen, &numbers)?;
        }
        for (before, count) in [(0, 0), (1, 0), (2, 1), (u32::MAX, ROWS)] {
            let page = scene.versions("rule", Some(before), first(100).limit)?;
            let what = format!("how many versions there are before {before}");
            ensure_eq(&what, &page.rows.len(), &count)?;
        }
    }
    Ok(())
}

/// While rules come, get versions and are stopped between the pages, also the very rule that a
/// page ended with, those that live all the time are yielded once, in order; and none is yielded
/// twice. So it is with a rule's versions.
pub fn walking_rules_while_others_write_skips_and_repeats_nothing(
    backend: &impl Backend,
) -> Result<(), Report> {
    let law = "walking_rules_while_others_write_skips_and_repeats_nothing";
    Lab::hold(law, backend, |lab| {
        for size in [1, 2, 5] {
            let scene = Scene::new(lab)?;
            for number in 0..ROWS {
                create(&scene, number, "project")?;
            }
            let mut gone = BTreeSet::new();
            let mut next = ROWS;
            let places = walk_rules(&scene, size, false, "project", |last| {
                create(&scene, next, "project")?;
                next += 1;
                if next.is_multiple_of(2) {
                    for id in [last.to_owned(), id(next * 7 % ROWS)] {
                        scene.ask(&scene.stop(&id, 9)?)?;
                        gone.insert(id);
                    }
                } else {
                    scene.ask(&scene.append(&scene.rule(last, 2, 99)?))?;
                }
                Ok(())
            })?;
            stayed(&places, (0..ROWS).map(id).filter(|id| !gone.contains(id)))?;
            versions_come(&scene, size)?;
        }
        Ok(())
    })
}

/// A walk back through the versions sees none that came since.
fn versions_come(scene: &Scene<'_>, size: u16) -> Result<(), Report> {
    let append = |version| scene.ask(&scene.append(&scene.rule("rule", version, 0)?));
    let mut next = 1;
    while next <= 11 {
        append(next)?;
        next += 1;
    }
    let page = |before| scene.versions("rule", before, first(size).limit);
    let number = |rule: &JudgingRule| rule.version;
    let follows = |last: &u32, this: &u32| this < last;
    let seen = walk_by(size, false, (number, follows), page, || {
        append(next)?;
        next += 1;
        Ok(())
    })?;
    let should_be: Vec<u32> = (1..=11).rev().collect();
    ensure_eq("the versions of a rule that gets more", &seen, &should_be)
}
