//! The lists, and their filters.

use kindgi_core::{
    BoxError, StoreError, Timestamp,
    model::{ClassScope, ItemState, Readable, Segment, Verdict},
    store::{ClassFilter, JudgedRunFilter, JudgmentFilter, Keyset, QueueFilter, Store},
};

use crate::seed::{Size, run_of};

/// The project whose queue and rules are listed: it has two of five runs.
pub(crate) const LARGE: &str = "project-0";
/// The one project that is readable, where it is one: it has one of ten runs.
const ONE: &str = "project-3";

/// A list with its filters.
#[derive(Clone, Debug)]
pub(crate) enum List {
    Judgments(JudgmentFilter, Readable),
    Queue(QueueFilter),
    Runs(JudgedRunFilter),
    Classes(ClassFilter, Readable),
    Rules,
}

/// A list to be measured.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    pub(crate) list: List,
    /// Its filters in words.
    pub(crate) filters: String,
    /// Whether it is by one filter at most, alone or with one project.
    pub(crate) is_single: bool,
}

impl List {
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Judgments(..) => "judgments",
            Self::Queue(_) => "queue",
            Self::Runs(_) => "judged runs",
            Self::Classes(..) => "classes",
            Self::Rules => "rules",
        }
    }

    /// How many rows a page has, by the store.
    pub(crate) async fn page(&self, store: &dyn Store, keyset: &Keyset) -> Result<usize, BoxError> {
        let (tenant, large) = ("acme".parse()?, LARGE.parse()?);
        Ok(match self {
            Self::Judgments(filter, readable) => {
                let page = store.judgments(&tenant, filter, readable, keyset).await?;
                page.rows.len()
            }
            Self::Queue(filter) => {
                let page = store.queue(&tenant, &large, filter, Some(keyset)).await?;
                page.slice.rows.len()
            }
            Self::Runs(filter) => {
                let page = store.judged_runs(&tenant, filter, keyset).await?;
                page.rows.len()
            }
            Self::Classes(filter, readable) => {
                let page = store.classes(&tenant, filter, readable, keyset).await?;
                page.rows.len()
            }
            Self::Rules => store.rules(&tenant, &large, keyset).await?.rows.len(),
        })
    }

    /// How many a queue's list has on all pages, by the store; `None` for the other lists, which
    /// don't say it.
    pub(crate) async fn total(&self, store: &dyn Store) -> Result<Option<u64>, BoxError> {
        let Self::Queue(filter) = self else {
            return Ok(None);
        };
        let (tenant, large) = ("acme".parse()?, LARGE.parse()?);
        let slice = store.queue(&tenant, &large, filter, None).await?;
        Ok(Some(slice.total))
    }
}

/// The lists by one filter at most, alone and with one project, and then by several.
pub(crate) fn cases(size: Size) -> Result<Vec<Case>, BoxError> {
    let mut cases = Vec::new();
    judgments(&mut cases)?;
    queue(&mut cases, size)?;
    runs(&mut cases, size)?;
    let of = |scope, readable: &Readable| List::Classes(ClassFilter { scope }, readable.clone());
    let one = Readable::Only([ONE.parse()?].into());
    let project = ClassScope::Project(ONE.parse()?);
    let agent = ClassScope::Agent(ONE.parse()?, "agent.a0".parse()?);
    for (filters, scope) in [
        ("none", None),
        ("scope: tenant", Some(ClassScope::Tenant)),
        ("scope: project", Some(project)),
        ("scope: agent", Some(agent)),
    ] {
        push(&mut cases, true, filters, of(scope.clone(), &Readable::All));
        push(&mut cases, true, &with_project(filters), of(scope, &one));
    }
    push(&mut cases, true, "none", List::Rules);
    Ok(cases)
}

fn push(cases: &mut Vec<Case>, is_single: bool, filters: &str, list: List) {
    cases.push(Case {
        list,
        filters: filters.to_owned(),
        is_single,
    });
}

fn with_project(filters: &str) -> String {
    match filters {
        "none" => "project".to_owned(),
        filters => format!("{filters}, project"),
    }
}

fn judgments(cases: &mut Vec<Case>) -> Result<(), BoxError> {
    let run = run_of(3).ok_or("no run of the project")?.parse()?;
    let none = JudgmentFilter::default;
    let class = |class: &str| Ok::<_, BoxError>(Some(class.parse()?));
    let person = |person: &str| Ok::<_, BoxError>(Some(person.parse()?));
    let by_run = JudgmentFilter {
        run: Some(run),
        ..none()
    };
    let by_class = JudgmentFilter {
        class: class("class.c0")?,
        ..none()
    };
    let by_person = JudgmentFilter {
        participant: person("person.p0")?,
        ..none()
    };
    let by_agent = JudgmentFilter {
        agent: Some("agent.a0".parse()?),
        ..none()
    };
    let by_version = JudgmentFilter {
        agent_version: Some("1.0".parse()?),
        ..by_agent.clone()
    };
    let by_flow = JudgmentFilter {
        flow: Some("flow.f0".parse()?),
        ..none()
    };
    let by_no = JudgmentFilter {
        verdict: Some(Verdict::No),
        ..none()
    };
    let singles = [
        ("none", none()),
        ("run", by_run),
        ("class, common", by_class.clone()),
        (
            "class, rare",
            JudgmentFilter {
                class: class("class.c9")?,
                ..none()
            },
        ),
        ("participant, common", by_person.clone()),
        (
            "participant, rare",
            JudgmentFilter {
                participant: person("person.p9")?,
                ..none()
            },
        ),
        ("agent", by_agent.clone()),
        ("agent and version", by_version),
        ("flow", by_flow.clone()),
        ("verdict", by_no.clone()),
    ];
    let one = Readable::Only([ONE.parse()?].into());
    for (filters, filter) in singles {
        push(
            cases,
            true,
            filters,
            List::Judgments(filter.clone(), Readable::All),
        );
        push(
            cases,
            true,
            &with_project(filters),
            List::Judgments(filter, one.clone()),
        );
    }
    let with_class = |filter: &JudgmentFilter| JudgmentFilter {
        class: by_class.class.clone(),
        ..filter.clone()
    };
    let with_no = |filter: &JudgmentFilter| JudgmentFilter {
        verdict: by_no.verdict,
        ..filter.clone()
    };
    let person_and_agent = JudgmentFilter {
        agent: by_agent.agent.clone(),
        ..by_person.clone()
    };
    for (filters, filter) in [
        ("participant, class", with_class(&by_person)),
        ("participant, agent", person_and_agent),
        ("participant, verdict", with_no(&by_person)),
        ("class, agent", with_class(&by_agent)),
        ("class, flow", with_class(&by_flow)),
        ("class, verdict", with_no(&by_class)),
        ("agent, verdict", with_no(&by_agent)),
    ] {
        push(
            cases,
            false,
            filters,
            List::Judgments(filter, Readable::All),
        );
    }
    let two = Readable::Only([ONE.parse()?, "project-9".parse()?].into());
    for (filters, filter) in [("two projects", none()), ("class, two projects", by_class)] {
        push(cases, false, filters, List::Judgments(filter, two.clone()));
    }
    Ok(())
}

fn queue(cases: &mut Vec<Case>, size: Size) -> Result<(), BoxError> {
    let none = QueueFilter::default;
    let at = |hundredths| instant(size, hundredths);
    let of_state = |state| QueueFilter {
        state: Some(state),
        ..none()
    };
    let open = of_state(ItemState::Open);
    let rule = QueueFilter {
        rule: Some("rule-0-0".parse()?),
        ..none()
    };
    let wants = QueueFilter {
        wants: Some("class.c0".parse()?),
        ..none()
    };
    let agent = QueueFilter {
        agent: Some("agent.a0".parse()?),
        ..none()
    };
    let for_me = |classes: &[&str]| {
        let classes = classes.iter().map(|class| class.parse());
        let wants_any_or = Some(classes.collect::<Result<_, _>>()?);
        Ok::<_, BoxError>(QueueFilter {
            wants_any_or,
            ..none()
        })
    };
    let mine = for_me(&["class.c3"])?;
    for (filters, filter) in [
        ("none", none()),
        ("state: open", open.clone()),
        ("state: judged", of_state(ItemState::Judged)),
        ("rule", rule.clone()),
        ("wanted class", wants.clone()),
        ("agent", agent.clone()),
        (
            "added after",
            QueueFilter {
                added_after: at(20)?,
                ..none()
            },
        ),
        (
            "closed after, the last hundredth",
            QueueFilter {
                closed_after: at(99)?,
                ..none()
            },
        ),
        (
            "closed after, four fifths",
            QueueFilter {
                closed_after: at(20)?,
                ..none()
            },
        ),
        ("for one who may judge any", for_me(&[])?),
        ("for one who may judge a class", mine.clone()),
    ] {
        push(cases, true, filters, List::Queue(filter));
    }
    for (filters, filter) in [
        (
            "open, rule",
            QueueFilter {
                state: open.state,
                ..rule.clone()
            },
        ),
        (
            "open, wanted class",
            QueueFilter {
                state: open.state,
                ..wants.clone()
            },
        ),
        (
            "open, agent",
            QueueFilter {
                state: open.state,
                ..agent.clone()
            },
        ),
        (
            "open, for one who may judge a class",
            QueueFilter {
                state: open.state,
                ..mine
            },
        ),
        (
            "rule, agent",
            QueueFilter {
                agent: agent.agent,
                ..rule.clone()
            },
        ),
        (
            "rule, wanted class",
            QueueFilter {
                wants: wants.wants,
                ..rule
            },
        ),
    ] {
        push(cases, false, filters, List::Queue(filter));
    }
    Ok(())
}

fn runs(cases: &mut Vec<Case>, size: Size) -> Result<(), BoxError> {
    let (agent, flow) = (Some("agent.a0".parse()?), Some("flow.f0".parse()?));
    let (version, project) = (Some("1.0".parse()?), Some(ONE.parse()?));
    let company = vec![Segment::new("company", "c0")?];
    let (since, until) = (instant(size, 20)?, instant(size, 80)?);
    let by = |set: &dyn Fn(&mut JudgedRunFilter)| {
        let mut filter = JudgedRunFilter::default();
        set(&mut filter);
        filter
    };
    for (filters, mut filter) in [
        ("none", by(&|_| {})),
        ("agent", by(&|f| f.agent.clone_from(&agent))),
        (
            "agent and version",
            by(&|f| (f.agent, f.agent_version) = (agent.clone(), version.clone())),
        ),
        ("flow", by(&|f| f.flow.clone_from(&flow))),
        ("since", by(&|f| f.since = since)),
        ("until", by(&|f| f.until = until)),
        ("segments", by(&|f| f.segments.clone_from(&company))),
    ] {
        push(cases, true, filters, List::Runs(filter.clone()));
        filter.project.clone_from(&project);
        push(cases, true, &with_project(filters), List::Runs(filter));
    }
    let both = by(&|f| {
        f.agent.clone_from(&agent);
        f.segments.clone_from(&company);
    });
    push(cases, false, "agent, segments", List::Runs(both));
    Ok(())
}

fn instant(size: Size, hundredths: u64) -> Result<Option<Timestamp>, StoreError> {
    Ok(Timestamp::from_unix_millis(size.instant(hundredths)))
}
