//! Laws of all methods together.

use crate::conformance::{
    Report,
    idempotency::{
        KeyBackend,
        bench::Bench,
        generate::{self, Cast},
        model::Model,
    },
};

/// In any sequence of calls and pauses, each answer is the one that the reference model gives; and
/// so is what is kept and held in the end.
pub fn answers_equal_the_model(backend: &impl KeyBackend) -> Result<(), Report> {
    Bench::hold("answers_equal_the_model", backend, |bench| {
        bench
            .lab
            .property(400, &generate::sequence(), |commands, _| {
                let cast = Cast::new(bench)?;
                let mut calls = cast.calls(commands)?;
                calls.extend(cast.readings());
                bench.answers_equal(&calls, &mut Model::default())
            })
    })
}
