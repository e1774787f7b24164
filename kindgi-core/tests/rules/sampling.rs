//! Sampling: stable, nested, and as large as it says.

use kindgi_core::{
    model::{RuleId, RunId, Sample},
    rules::sampling::takes,
};
use proptest::prelude::*;

fn ids() -> impl Strategy<Value = (RuleId, RunId)> {
    (".{1,8}x", ".{1,8}x").prop_filter_map("an id", |(rule, run)| {
        Some((rule.parse().ok()?, run.parse().ok()?))
    })
}

/// Doubles between 0 and 1 of every magnitude.
fn sample() -> impl Strategy<Value = Sample> {
    prop_oneof![
        (0.0..=1.0f64),
        (0u64..=1.0f64.to_bits()).prop_map(f64::from_bits),
    ]
    .prop_filter_map("a sample", Sample::new)
}

proptest! {
    #[test]
    fn raising_the_sample_keeps_what_it_took((rule, run) in ids(), a in sample(), b in sample()) {
        let (low, high) = if a <= b { (a, b) } else { (b, a) };
        prop_assert!(!takes(low, &rule, &run) || takes(high, &rule, &run));
    }

    #[test]
    fn all_takes_every_run((rule, run) in ids()) {
        prop_assert!(takes(Sample::ALL, &rule, &run));
    }
}

#[test]
fn it_takes_about_the_share_it_says() {
    let rule = "rule".parse().unwrap();
    for share in [0.1, 0.5, 0.9] {
        let sample = Sample::new(share).unwrap();
        let runs = (0..10_000).map(|n| format!("run-{n}").parse().unwrap());
        let taken = runs.filter(|run| takes(sample, &rule, run)).count();
        // Always the same runs, so this is no matter of chance: five standard deviations.
        let error = (taken as f64 - share * 10_000.0).abs();
        assert!(
            error < 5.0 * (share * (1.0 - share) * 10_000.0).sqrt(),
            "{share}: {taken}"
        );
    }
}

#[test]
fn what_is_no_share_is_refused() {
    for share in [0.0, -0.0, -0.1, 1.0 + f64::EPSILON, f64::NAN, f64::INFINITY] {
        assert_eq!(Sample::new(share), None, "{share}");
    }
}
