//! The law that tenants never meet.

use crate::conformance::{
    Backend, Report, call::Call, command::Command, generate, lab::Lab, model::Model, resolve,
    runner,
};

/// What two tenants do, by the same ids, keys, names and operations in turns, comes to what each
/// would come to alone.
pub fn tenants_never_meet(backend: &impl Backend) -> Result<(), Report> {
    Lab::hold("tenants_never_meet", backend, |lab| {
        lab.property(112, &generate::sequence(), |commands, _| {
            let tenants = [lab.tenant()?, lab.tenant()?];
            let of = |tenant| {
                let its = |command: &Command| Command {
                    tenant,
                    ..command.clone()
                };
                let its: Vec<Command> = commands.iter().map(its).collect();
                let calls = resolve::calls(&tenants, &its, its.len())?;
                let mut calls: Vec<Call> = calls.into_iter().flatten().collect();
                // The second one reads first: it must find nothing yet.
                let readings = resolve::readings(&calls);
                if tenant == 1 {
                    calls.splice(0..0, readings.clone());
                }
                calls.extend(readings);
                Ok::<Vec<Call>, Report>(calls)
            };
            let (first, second) = (of(0)?, of(1)?);
            let mut models = [Model::default(), Model::default()];
            let [of_first, of_second] = &mut models;
            let mut second = second.chunks(2);
            for call in &first {
                runner::answers_equal(lab, std::slice::from_ref(call), of_first)?;
                runner::answers_equal(lab, second.next().unwrap_or_default(), of_second)?;
            }
            second.try_for_each(|calls| runner::answers_equal(lab, calls, of_second))
        })
        .map_err(|report| report.with_context("another tenant did the same in turns"))
    })
}
