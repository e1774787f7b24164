//! An item's state is the function of facts, after any history.

use std::collections::BTreeMap;

use kindgi_core::{
    Timestamp,
    model::{
        ClassProgress, EndedRun, ItemState, JudgeClassId, PrincipalRef, QueueItem, Subject, TakenBy,
    },
    rules::queue_state::{LiveJudgments, dismissed, erased, judged_at, queued, reopened, settled},
};
use proptest::{collection::vec, option, prelude::*, sample::select};

/// What may happen to a run.
#[derive(Clone, Debug)]
enum Event {
    /// Somebody judges it under a class, or none.
    Judge(Option<JudgeClassId>),
    /// One of its judgments is removed, counted from the oldest.
    Remove(usize),
    Dismiss,
    Reopen,
    Erase,
}

/// What is known of a run: the class and the time of each live judgment, and what else happened.
#[derive(Clone, Debug, Default)]
struct Facts {
    live: Vec<(Option<JudgeClassId>, Timestamp)>,
    dismissed: bool,
    erased: bool,
}

impl Facts {
    fn live(&self) -> Vec<LiveJudgments> {
        let mut by_class: BTreeMap<_, Vec<Timestamp>> = BTreeMap::new();
        for (class, at) in &self.live {
            by_class.entry(class.clone()).or_default().push(*at);
        }
        let live = by_class.into_iter().map(|(class, at)| LiveJudgments {
            class,
            judgments: at.len() as u64,
            first_at: at.into_iter().min().unwrap(),
        });
        live.collect()
    }

    fn state(&self, wants: &[Option<JudgeClassId>]) -> ItemState {
        let met = |want: &Option<JudgeClassId>| {
            let mut live = self.live.iter();
            live.any(|(class, _)| want.is_none() || class == want)
        };
        match self {
            Self { erased: true, .. } => ItemState::Erased,
            Self {
                dismissed: true, ..
            } => ItemState::Dismissed,
            _ if wants.iter().all(met) => ItemState::Judged,
            _ => ItemState::Open,
        }
    }
}

fn at(millis: i64) -> Timestamp {
    Timestamp::UNIX_EPOCH.saturating_add_millis(millis)
}

fn somebody() -> PrincipalRef {
    "user:ada".parse().unwrap()
}

fn class() -> impl Strategy<Value = Option<JudgeClassId>> {
    option::of(select(vec!["expert", "user"]).prop_map(|class| class.parse().unwrap()))
}

fn event() -> impl Strategy<Value = Event> {
    prop_oneof![
        4 => class().prop_map(Event::Judge),
        3 => (0..4usize).prop_map(Event::Remove),
        2 => Just(Event::Dismiss),
        2 => Just(Event::Reopen),
        1 => Just(Event::Erase),
    ]
}

fn taken_by(wants: &[Option<JudgeClassId>]) -> Vec<TakenBy> {
    let rules = wants.iter().enumerate().rev();
    let by = rules.map(|(n, wants)| TakenBy {
        rule: format!("rule-{n}").parse().unwrap(),
        version: 1,
        wants: wants.clone(),
    });
    by.collect()
}

fn run() -> EndedRun {
    let subject = Subject::Agent {
        id: "agent".parse().unwrap(),
        version: "1".parse().unwrap(),
    };
    EndedRun::new(
        "run".parse().unwrap(),
        "project".parse().unwrap(),
        subject,
        at(-5),
    )
}

/// The item after an event that happened at an instant; `None` where it refuses.
fn happens(
    item: &QueueItem,
    facts: &mut Facts,
    event: &Event,
    now: Timestamp,
) -> Option<QueueItem> {
    match event {
        Event::Judge(class) => facts.live.push((class.clone(), now)),
        Event::Remove(n) if *n < facts.live.len() => {
            facts.live.remove(*n);
        }
        Event::Remove(_) => {}
        Event::Dismiss => {
            let moved = dismissed(item.clone(), &somebody(), None, now)?;
            facts.dismissed = true;
            return Some(moved);
        }
        Event::Reopen => {
            let moved = reopened(item.clone(), &somebody(), &facts.live())?;
            facts.dismissed = false;
            return Some(moved);
        }
        Event::Erase => {
            facts.erased = true;
            return Some(erased(item.clone(), now));
        }
    }
    Some(settled(item.clone(), &facts.live()))
}

proptest! {
    #[test]
    fn the_state_is_the_function_of_facts_after_any_history(
        wants in vec(class(), 1..4),
        before in vec(class(), 0..3),
        history in vec(event(), 0..20),
    ) {
        let live = before.into_iter().zip(0..).map(|(class, n)| (class, at(n))).collect();
        let mut facts = Facts { live, ..Facts::default() };
        let mut item = queued(&run(), taken_by(&wants), &facts.live(), at(10));
        prop_assert_eq!(item.state, facts.state(&wants));
        for (event, now) in history.iter().zip(20..) {
            let was = facts.state(&wants);
            match happens(&item, &mut facts, event, at(now)) {
                Some(moved) => item = moved,
                None => {
                    let from = match event {
                        Event::Dismiss => ItemState::Open,
                        _ => ItemState::Dismissed,
                    };
                    prop_assert_ne!(was, from);
                }
            }
            prop_assert_eq!(item.state, facts.state(&wants), "after {:?}", event);
            prop_assert_eq!(item.closed_at.is_some(), item.state != ItemState::Open);
            let shown: u64 = item.progress.iter().map(|under| under.judgments).sum();
            let live = facts.live.len() as u64;
            prop_assert_eq!(shown, if facts.erased { 0 } else { live });
            prop_assert_eq!(item.agent.is_none(), facts.erased);
            if was == ItemState::Judged && item.state == ItemState::Judged {
                continue;
            }
            if item.state == ItemState::Judged {
                let wants = item.taken_by.iter().map(|by| by.wants.as_ref());
                prop_assert_eq!(item.closed_at, judged_at(wants, &facts.live()));
            }
        }
    }

    #[test]
    fn an_item_that_stays_judged_keeps_the_time_it_was_closed_at(
        wants in vec(class(), 1..4),
        more in vec(class(), 1..5),
    ) {
        let live = [None, Some("expert"), Some("user")]
            .map(|class| (class.map(|class| class.parse().unwrap()), at(3)))
            .to_vec();
        let mut facts = Facts { live, ..Facts::default() };
        let mut item = queued(&run(), taken_by(&wants), &facts.live(), at(10));
        prop_assert_eq!(item.closed_at, Some(at(3)));
        for (class, now) in more.into_iter().zip(20..) {
            // Each replaces the one of the same class.
            facts.live.retain(|(other, _)| *other != class);
            facts.live.push((class, at(now)));
            item = settled(item, &facts.live());
            prop_assert_eq!(item.state, ItemState::Judged);
            prop_assert_eq!(item.closed_at, Some(at(3)));
        }
    }
}

#[test]
fn removing_the_wanted_judgment_opens_the_item_again() {
    let expert: Option<JudgeClassId> = Some("expert".parse().unwrap());
    let wants = [expert.clone(), None];
    let mut item = queued(&run(), taken_by(&wants), &[], at(10));
    let live = |class: &Option<JudgeClassId>, judgments, first| LiveJudgments {
        class: class.clone(),
        judgments,
        first_at: at(first),
    };
    for (live, state, closed_at) in [
        (vec![], ItemState::Open, None),
        (vec![live(&None, 1, 11)], ItemState::Open, None),
        (
            vec![live(&None, 1, 11), live(&expert, 2, 12)],
            ItemState::Judged,
            Some(at(12)),
        ),
        (vec![live(&None, 1, 11)], ItemState::Open, None),
        (vec![live(&expert, 1, 14)], ItemState::Judged, Some(at(14))),
    ] {
        item = settled(item, &live);
        assert_eq!((item.state, item.closed_at), (state, closed_at), "{live:?}");
    }
}

#[test]
fn rules_and_classes_are_shown_in_the_order_of_their_ids() {
    let wants = ["user", "expert"].map(|class| Some(class.parse().unwrap()));
    let live = [Some("user"), None, Some("expert")].map(|class| LiveJudgments {
        class: class.map(|class| class.parse().unwrap()),
        judgments: 1,
        first_at: at(1),
    });
    let item = queued(&run(), taken_by(&wants), &live, at(10));
    let rules: Vec<_> = item.taken_by.iter().map(|by| by.rule.as_str()).collect();
    assert_eq!(rules, ["rule-0", "rule-1"]);
    let classes: Vec<_> = item.wanted_classes().into_iter().cloned().collect();
    assert_eq!(
        classes,
        ["expert", "user"].map(|class| class.parse().unwrap())
    );
    let under = |class: Option<&str>| ClassProgress {
        class: class.map(|class| class.parse().unwrap()),
        judgments: 1,
    };
    assert_eq!(
        item.progress,
        [under(None), under(Some("expert")), under(Some("user"))]
    );
}

#[test]
fn a_clock_that_went_back_closes_nothing_before_it_was_queued() {
    let item = queued(&run(), taken_by(&[None]), &[], at(10));
    let closed = dismissed(item.clone(), &somebody(), None, at(3)).unwrap();
    assert_eq!(closed.closed_at, Some(at(10)));
    assert_eq!(erased(item, at(3)).closed_at, Some(at(10)));
    // An item that was closed keeps its time.
    let late = dismissed(closed.clone(), &somebody(), None, at(99));
    assert_eq!(late, None);
    assert_eq!(erased(closed, at(99)).closed_at, Some(at(10)));
}
