//! What a run was asked and what it answered, where nothing else is said: made up from the run's
//! id, so that the same run always has the same.
//!
//! A real host has what its agents were really given and what they really said.

use kindgi_core::{json::RawJson, model::RunId};

/// How many matches an output has.
const MATCHES: u64 = 10;

const COURTS: [&str; 4] = [
    "Court of Appeal",
    "District Court",
    "High Court",
    "Labour Court",
];
const MATTERS: [&str; 5] = [
    "late delivery",
    "rent reduction",
    "unpaid overtime",
    "a faulty repair",
    "a cancelled journey",
];
const PARTIES: [&str; 4] = ["a carrier", "a landlord", "an employer", "a garage"];

/// What a run was given: an object with a question.
pub fn default_input(run: &RunId) -> RawJson {
    let matter = Dice::of(run).pick(&MATTERS);
    RawJson::object(|o| {
        o.str(
            "question",
            &format!("Which cases on {matter} are like this one?"),
        );
        o.u64("limit", MATCHES);
    })
}

/// What a run answered: an object of about 2 KB with ten matches, best first.
pub fn default_output(run: &RunId) -> RawJson {
    let mut dice = Dice::of(run);
    let matter = dice.pick(&MATTERS);
    RawJson::object(|o| {
        o.array("matches", |matches| {
            for rank in 0..MATCHES {
                let case = dice.below(90_000) + 10_000;
                let year = dice.below(30) + 1996;
                let court = dice.pick(&COURTS);
                let party = dice.pick(&PARTIES);
                let score = 97 - 6 * rank - dice.below(6);
                let days = dice.below(400) + 7;
                matches.object(|o| {
                    o.str("caseId", &format!("case-{case}"));
                    o.str("title", &format!("On {matter}, {year}"));
                    o.f64("score", hundredths(score));
                    o.str("court", court);
                    o.u64("year", year);
                    let summary = format!(
                        "A claim against {party} over {matter}, decided after {days} days."
                    );
                    o.str("summary", &summary);
                });
            }
        });
    })
}

fn hundredths(n: u64) -> f64 {
    u32::try_from(n).map_or(1.0, |n| f64::from(n) / 100.0)
}

/// Numbers that look random and depend on nothing but the run's id: FNV-1a to begin with, then
/// xorshift.
struct Dice(u64);

impl Dice {
    fn of(run: &RunId) -> Self {
        let hash = |state: u64, byte| (state ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        let state = run.as_str().bytes().fold(0xcbf2_9ce4_8422_2325, hash);
        // Zero is the one state that xorshift never leaves.
        Self(state.max(1))
    }

    fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        // The high bits are the better mixed ones.
        (self.0 >> 20) % end.max(1)
    }

    fn pick(&mut self, from: &[&'static str]) -> &'static str {
        let index = usize::try_from(self.below(from.len() as u64)).unwrap_or(0);
        from.get(index).copied().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_output_depends_on_its_run_alone_and_has_about_two_kilobytes() {
        let outputs: std::collections::BTreeSet<String> = (0..1000)
            .map(|n| {
                let run: RunId = format!("run-{n}").parse().unwrap();
                let output = default_output(&run);
                assert_eq!(output, default_output(&run));
                let size = output.as_str().len();
                assert!((1700..2300).contains(&size), "{size}");
                output.to_string()
            })
            .collect();
        assert_eq!(outputs.len(), 1000, "no two runs have the same output");
    }
}
