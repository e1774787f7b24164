//! What the laws of texts say of the judging queue.

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
        EndedRun, ItemState, MAX_DISMISS_REASON_CHARS, Principal, PrincipalRef, QueueItem, RuleId,
        Subject, TakenBy,
    },
    store::{Applied, Candidate, EnabledRules, ItemMoved, Keyset, QueueFilter, Taken},
};

/// Runs, and what is filtered by, that differ by little are others.
pub(super) fn items_compare(lab: &Lab, count: u8) -> Result<(), Report> {
    let scene = Scene::new(lab)?;
    for number in 0..count {
        let mut rule = scene.rule(&near("rule", number), 1, 0)?;
        rule.class = Some(near("class", number).parse()?);
        scene.ask(&scene.append(&rule))?;
    }
    let enabled = scene.enabled()?;
    for number in 0..count {
        let run = near("run", number);
        let mut ended = scene.ended(&run)?;
        ended.subject = Subject::Agent {
            id: near("agent", number).parse()?,
            version: near("v", number).parse()?,
        };
        let id: RuleId = near("rule", number).parse()?;
        let rules = enabled.rules.iter().filter(|rule| rule.id == id);
        let rules = EnabledRules {
            revision: enabled.revision,
            rules: rules.cloned().collect(),
        };
        let answer = scene.ask(&scene.tell(ended, &rules, 0))?;
        let queued = match answer {
            Answer::Taken(Taken::Queued(item)) => Some(item.run.to_string()),
            _ => None,
        };
        ensure_eq("the run that was queued", &queued, &Some(run))?;
    }
    // One is dismissed, and the others are open.
    scene.moved(&scene.dismiss(&near("run", 1), None, 1)?)?;
    for number in 0..count {
        let run = near("run", number);
        let state = scene.item(&run)?.map(|item| item.state);
        let should_be = match number {
            1 => ItemState::Dismissed,
            _ => ItemState::Open,
        };
        ensure_eq(&format!("the state of {run:?}"), &state, &Some(should_be))?;
        let none = QueueFilter::default;
        let class = || near("class", number).parse();
        let filters = [
            QueueFilter {
                agent: Some(near("agent", number).parse()?),
                ..none()
            },
            QueueFilter {
                rule: Some(near("rule", number).parse()?),
                ..none()
            },
            QueueFilter {
                wants: Some(class()?),
                ..none()
            },
            QueueFilter {
                wants_any_or: Some([class()?].into()),
                ..none()
            },
        ];
        for filter in filters {
            let page = scene.queue("project", &filter, Some(first(100)))?;
            let found: Vec<String> = page
                .slice
                .rows
                .iter()
                .map(|item| item.run.to_string())
                .collect();
            ensure_eq(
                &format!("the items by {filter:?}"),
                &found,
                &vec![run.clone()],
            )?;
            ensure_eq(&format!("how many by {filter:?}"), &page.total, &1)?;
        }
        let counted = scene.results(&near("rule", number), None)?.counted;
        let versions: Vec<_> = counted
            .iter()
            .map(|group| group.agent_version.clone())
            .collect();
        let should_be = vec![Some(near("v", number).parse()?)];
        ensure_eq("the agent version in the results", &versions, &should_be)?;
    }
    projects_compare(&Scene::new(lab)?, count)
}

/// Queues of projects that differ by little are others.
fn projects_compare(scene: &Scene<'_>, count: u8) -> Result<(), Report> {
    for number in 0..count {
        let mut rule = scene.rule(&format!("rule{number}"), 1, 0)?;
        rule.project = near("p", number).parse()?;
        scene.ask(&scene.append(&rule))?;
        let mut ended = scene.ended(&format!("run{number}"))?;
        ended.project = rule.project.clone();
        let ask = Ask::EnabledRules(rule.project.clone());
        let revision = match scene.ask(&Call::reading(&scene.tenant, ask))? {
            Answer::EnabledRules(rules) => {
                ensure_eq("the rules of a project", &rules.rules, &vec![rule.clone()])?;
                rules.revision
            }
            answer => return Err(Report::new(format!("not rules: {answer:?}"))),
        };
        let rules = EnabledRules {
            revision,
            rules: vec![rule],
        };
        scene.ask(&scene.tell(ended, &rules, 0))?;
    }
    for number in 0..count {
        let page = scene.queue(&near("p", number), &QueueFilter::default(), Some(first(9)))?;
        let found: Vec<String> = page
            .slice
            .rows
            .iter()
            .map(|item| item.run.to_string())
            .collect();
        ensure_eq(
            "the queue of a project",
            &found,
            &vec![format!("run{number}")],
        )?;
    }
    Ok(())
}

/// An item comes back as it went in, in all ways that it can be read.
pub(super) fn item_is_kept(scene: &Scene<'_>, number: u8, text: &str) -> Result<(), Report> {
    let long: String = text
        .chars()
        .cycle()
        .take(MAX_DISMISS_REASON_CHARS - 1)
        .collect();
    let reason = format!("{long}.");
    let mut rule = scene.rule(&format!("{number}"), 1, 0)?;
    rule.project = text.parse()?;
    rule.class = Some(text.parse()?);
    scene.ask(&scene.append(&rule))?;
    let subject = Subject::Agent {
        id: text.parse()?,
        version: text.parse()?,
    };
    let mut ended = EndedRun::new(text.parse()?, text.parse()?, subject, at(0));
    ended.flow = Some(text.parse()?);
    let ask = Ask::EnabledRules(rule.project.clone());
    let rules = match scene.ask(&Call::reading(&scene.tenant, ask))? {
        Answer::EnabledRules(rules) => rules.revision,
        answer => return Err(Report::new(format!("not rules: {answer:?}"))),
    };
    let by = PrincipalRef::from(&Principal::service(scene.tenant.clone(), text.parse()?));
    let mut item = QueueItem {
        run: ended.id.clone(),
        project: ended.project.clone(),
        agent: Some((text.parse()?, text.parse()?)),
        flow: text.parse()?,
        completed_at: at(0),
        added_at: at(1),
        taken_by: vec![TakenBy {
            rule: rule.id.clone(),
            version: 1,
            wants: rule.class.clone(),
        }],
        progress: Vec::new(),
        state: ItemState::Open,
        closed_at: None,
        closed_by: None,
        reason: None,
    };
    let take = Ask::Take {
        run: Box::new(ended),
        rules,
        candidates: vec![Candidate::from(&rule)],
    };
    let queued = Answer::Taken(Taken::Queued(Box::new(item.clone())));
    scene.expect(&scene.call(1, take), &queued)?;
    read(scene, &item)?;
    let mut dismiss = scene.call(
        2,
        Ask::Dismiss {
            project: item.project.clone(),
            run: item.run.clone(),
            by: by.clone(),
            reason: Some(reason.parse()?),
        },
    );
    dismiss.operation = Some(operation(200_u8.saturating_add(number), 1, at(100)));
    item.state = ItemState::Dismissed;
    item.closed_at = Some(at(2));
    item.closed_by = Some(by);
    item.reason = Some(reason.parse()?);
    let ok = ItemMoved::Ok(Box::new(item.clone()));
    scene.expect(&dismiss, &Answer::Dismissed(Applied::Done(ok.clone())))?;
    scene.expect(&dismiss, &Answer::Dismissed(Applied::Replayed(ok)))?;
    read(scene, &item)
}

fn read(scene: &Scene<'_>, item: &QueueItem) -> Result<(), Report> {
    let ask = Ask::QueueItem(item.project.clone(), item.run.clone());
    let found = Answer::QueueItem(Some(Box::new(item.clone())));
    scene.expect(&Call::reading(&scene.tenant, ask), &found)?;
    let all: Keyset = first(9);
    let page = scene.queue(item.project.as_str(), &QueueFilter::default(), Some(all))?;
    ensure_eq(
        "the queue of its project",
        &page.slice.rows,
        &vec![item.clone()],
    )
}
