//! Which of the runs that match a sample takes.

use sha2::{Digest, Sha256};

use crate::model::{RuleId, RunId, Sample};

/// Whether a rule's sample takes a run: always the same for the same rule and run, in all
/// versions of the rule, so that raising the sample keeps what it took.
///
/// The first 8 bytes, big-endian, of SHA-256 over the rule's id, a line feed and the run's id are
/// a fraction of 2^64; the run is taken if that is below the sample, compared exactly.
pub fn takes(sample: Sample, rule: &RuleId, run: &RunId) -> bool {
    is_below(point(rule, run), sample)
}

fn point(rule: &RuleId, run: &RunId) -> u64 {
    let mut hash = Sha256::new();
    hash.update(rule.as_str());
    hash.update(b"\n");
    hash.update(run.as_str());
    let hash = hash.finalize();
    u64::from_be_bytes(hash.first_chunk().copied().unwrap_or_default())
}

/// Whether `point / 2^64 < sample`.
fn is_below(point: u64, sample: Sample) -> bool {
    // Multiplying a double by a power of two only moves its exponent, so nothing is rounded; and
    // a whole number is below another number exactly if it is below that one rounded up.
    let bound = (sample.get() * 2f64.powi(64)).ceil();
    u128::from(point) < bound as u128
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_comparison_is_exact_at_its_ends() {
        let least = Sample::new(f64::from_bits(1)).unwrap();
        let half = Sample::new(0.5).unwrap();
        let below_one = Sample::new(1.0 - f64::EPSILON / 2.0).unwrap();
        let step = Sample::new(2f64.powi(-64)).unwrap();
        let above_step = Sample::new(2f64.powi(-64) * 1.5).unwrap();
        for (point, sample, taken) in [
            (u64::MAX, Sample::ALL, true),
            (u64::MAX, below_one, false),
            ((1 << 63) - 1, half, true),
            (1 << 63, half, false),
            (u64::MAX - 2048, below_one, true),
            (u64::MAX - 2047, below_one, false),
            (0, least, true),
            (1, least, false),
            (0, step, true),
            (1, step, false),
            (1, above_step, true),
            (2, above_step, false),
        ] {
            assert_eq!(
                is_below(point, sample),
                taken,
                "{point} / 2^64 < {sample:?}"
            );
        }
    }

    #[test]
    fn the_point_is_the_head_of_the_hash() {
        // printf 'rule-1\nrun-1' | sha256sum
        let (rule, run) = ("rule-1".parse().unwrap(), "run-1".parse().unwrap());
        assert_eq!(format!("{:016x}", point(&rule, &run)), "e63a262a895ea0f7");
    }
}
