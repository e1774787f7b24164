//! Results add up.

use kindgi_core::{
    model::{ItemState, JudgeClassId, Verdict},
    rules::results::{Became, ClassCount, Group, Told, count, groups, yes_share},
};
use proptest::{collection::vec, option, prelude::*, sample::select};

fn weight(class: &JudgeClassId) -> f64 {
    match class.as_str() {
        "expert" => 3.0,
        "user" => 0.5,
        _ => 0.0,
    }
}

fn class() -> impl Strategy<Value = Option<JudgeClassId>> {
    option::of(select(vec!["expert", "user", "nothing"]).prop_map(|class| class.parse().unwrap()))
}

fn became() -> impl Strategy<Value = Became> {
    let judgment = (class(), select(Verdict::ALL.to_vec()));
    let taken = (select(ItemState::ALL.to_vec()), vec(judgment, 0..4));
    prop_oneof![
        3 => taken.prop_map(|(state, judgments)| Became::Taken { state, judgments }),
        1 => Just(Became::Skipped),
    ]
}

/// Each run told once, to versions 1 to 3 of a rule.
fn told() -> impl Strategy<Value = Vec<Told>> {
    let version = option::of(select(vec!["1.2.0", "1.10.0"]));
    vec((1..4u32, version, became()), 0..20).prop_map(|told| {
        let told = told.into_iter();
        told.map(|(rule_version, version, became)| Told {
            rule_version,
            agent_version: version.map(|version| version.parse().unwrap()),
            became,
        })
        .collect()
    })
}

fn sum(groups: &[Group], of: fn(&Group) -> u64) -> u64 {
    groups.iter().map(of).sum()
}

proptest! {
    #[test]
    fn every_run_that_matched_and_was_sampled_is_added_or_skipped(told in told()) {
        let groups = groups(count(&told), weight);
        prop_assert_eq!(sum(&groups, |g| g.added + g.skipped_by_cap), told.len() as u64);
        let skipped = told.iter().filter(|told| matches!(told.became, Became::Skipped));
        prop_assert_eq!(sum(&groups, |g| g.skipped_by_cap), skipped.count() as u64);
        for group in &groups {
            prop_assert_eq!(group.added, group.open + group.judged + group.dismissed + group.erased);
            prop_assert!(group.runs_with_judgments <= group.added);
            let by_class: u64 = group.by_class.iter().map(|class| class.judgments).sum();
            prop_assert_eq!(group.judgments, by_class);
        }
    }

    #[test]
    fn groups_are_ordered_and_each_is_there_once(told in told()) {
        let groups = groups(count(&told), weight);
        for (a, b) in groups.iter().zip(groups.iter().skip(1)) {
            let key = |g: &Group| (g.agent_version.is_none(), g.agent_version.clone());
            let later = a.rule_version > b.rule_version
                || (a.rule_version == b.rule_version && key(a) < key(b));
            prop_assert!(later, "{:?} before {:?}", a, b);
        }
        for group in &groups {
            let classes: Vec<_> = group.by_class.iter().map(|class| class.class.clone()).collect();
            prop_assert!(classes.is_sorted());
        }
    }

    #[test]
    fn the_share_is_that_of_the_weights_and_never_nan(told in told()) {
        for group in groups(count(&told), weight) {
            let of = |class: &ClassCount, n: u64| class.class.as_ref().map_or(1.0, weight) * n as f64;
            let all: f64 = group.by_class.iter().map(|class| of(class, class.judgments)).sum();
            let yes: f64 = group.by_class.iter().map(|class| of(class, class.yes)).sum();
            match group.yes_share {
                None => prop_assert_eq!(all, 0.0),
                Some(share) => prop_assert!((share - yes / all).abs() < 1e-12),
            }
        }
    }

    #[test]
    fn a_share_is_between_0_and_1_whatever_the_weights(
        counts in vec((0..1000u64, 0..1000u64, any::<f64>()), 0..4),
    ) {
        let classes: Vec<ClassCount> = counts.iter().enumerate().map(|(n, (yes, no, _))| ClassCount {
            class: Some(n.to_string().parse().unwrap()),
            judgments: yes + no,
            yes: *yes,
        }).collect();
        let weight = |class: &JudgeClassId| {
            let n: usize = class.as_str().parse().unwrap();
            let weight = counts[n].2.abs();
            if weight.is_finite() { weight } else { f64::MAX }
        };
        if let Some(share) = yes_share(&classes, weight) {
            prop_assert!((0.0..=1.0).contains(&share), "{share}");
        }
    }
}

#[test]
fn nothing_told_has_no_results() {
    assert!(groups(count(&[]), weight).is_empty());
}
