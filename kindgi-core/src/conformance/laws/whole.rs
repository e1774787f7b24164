//! Laws of all aggregates together.

use crate::conformance::{Backend, Report, generate, lab::Lab, runner};

/// In any sequence of calls, each answer is the one that the reference model gives; and so is all
/// that can be read in the end.
pub fn answers_equal_the_model(backend: &impl Backend) -> Result<(), Report> {
    Lab::hold("answers_equal_the_model", backend, |lab| {
        lab.property(320, &generate::sequence(), |commands, _| {
            runner::sequence(lab, commands)
        })
    })
}

/// When threads call at once, their answers, and all that can be read afterwards, are those of
/// some order of the calls that keeps each thread's own.
pub fn concurrent_rounds_equal_some_order(backend: &impl Backend) -> Result<(), Report> {
    Lab::hold("concurrent_rounds_equal_some_order", backend, |lab| {
        lab.property(240, &generate::round(), |round, shrinking| {
            runner::round(lab, round, shrinking)
        })
    })
}
