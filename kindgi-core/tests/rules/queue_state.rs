//! An item's state is the function of facts, after any history.

use kindgi_core::{
    model::{ItemState, JudgeClassId},
    rules::queue_state::{Facts, state},
};
use proptest::{collection::vec, option, prelude::*, sample::select};

fn class() -> impl Strategy<Value = Option<JudgeClassId>> {
    option::of(select(vec!["expert", "user"]).prop_map(|class| class.parse().unwrap()))
}

fn is(
    erased: bool,
    dismissed: bool,
    wants: &[Option<JudgeClassId>],
    live: &[Option<JudgeClassId>],
) -> ItemState {
    state(Facts {
        erased,
        dismissed,
        wants,
        live,
    })
}

proptest! {
    #[test]
    fn erased_wins_over_dismissed_and_dismissed_over_judged(
        wants in vec(class(), 1..4),
        live in vec(class(), 0..4),
    ) {
        for dismissed in [false, true] {
            prop_assert_eq!(is(true, dismissed, &wants, &live), ItemState::Erased);
        }
        prop_assert_eq!(is(false, true, &wants, &live), ItemState::Dismissed);
        let judged = wants.iter().all(|want| match want {
            None => !live.is_empty(),
            Some(class) => live.iter().any(|live| live.as_ref() == Some(class)),
        });
        let expected = if judged { ItemState::Judged } else { ItemState::Open };
        prop_assert_eq!(is(false, false, &wants, &live), expected);
    }

    #[test]
    fn the_order_and_the_number_of_equal_judgments_and_wants_do_not_matter(
        mut wants in vec(class(), 1..4),
        mut live in vec(class(), 0..4),
    ) {
        let before = is(false, false, &wants, &live);
        wants.extend_from_within(..);
        wants.reverse();
        live.extend_from_within(..);
        live.reverse();
        prop_assert_eq!(is(false, false, &wants, &live), before);
    }

    #[test]
    fn another_judgment_never_opens_an_item_and_removing_one_never_closes_it(
        wants in vec(class(), 1..4),
        live in vec(class(), 0..4),
        more in class(),
    ) {
        let before = is(false, false, &wants, &live);
        let mut then = live;
        then.push(more);
        let after = is(false, false, &wants, &then);
        prop_assert!(before != ItemState::Judged || after == ItemState::Judged);
    }
}

#[test]
fn removing_the_wanted_judgment_opens_the_item_again() {
    let expert: Option<JudgeClassId> = Some("expert".parse().unwrap());
    let wants = [expert.clone(), None];
    assert_eq!(is(false, false, &wants, &[]), ItemState::Open);
    assert_eq!(is(false, false, &wants, &[None]), ItemState::Open);
    assert_eq!(
        is(false, false, &wants, &[None, expert.clone()]),
        ItemState::Judged
    );
    assert_eq!(is(false, false, &wants, &[None]), ItemState::Open);
    assert_eq!(is(false, false, &wants, &[expert]), ItemState::Judged);
}
