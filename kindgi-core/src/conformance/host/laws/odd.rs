//! The law of ids that are odd, or near another.

use std::collections::BTreeSet;

use super::permissions::{agrees, all_in};
use crate::{
    conformance::{
        Report,
        host::{HostUnderTest, TenantSamples, asking::Asking, samples::twins},
        report::{ensure, ensure_eq},
    },
    model::{PrincipalId, RunId, TenantId},
};

/// Ids are opaque and compared exactly: whatever the text and however long, the host answers; and
/// an id that differs by little (in case, by a blank, by how an accent is composed, by the last of
/// 256 code points) is no other's. So it is with runs, tenants and principals.
pub fn odd_ids_are_answered_and_never_mixed_up(host: &impl HostUnderTest) -> Result<(), Report> {
    Asking::hold("odd_ids_are_answered_and_never_mixed_up", host, |asking| {
        let named: BTreeSet<_> = asking
            .host
            .tenants
            .iter()
            .map(|of| of.tenant.clone())
            .collect();
        for own in &asking.host.tenants {
            for twin in twins(&own.runs, RunId::as_str) {
                let run = asking.run(&own.tenant, &twin.parse()?)?;
                ensure(run.is_none(), || {
                    format!("the run {twin:?} isn't there, but gives\n  {run:?}")
                })?;
            }
            let tenant = BTreeSet::from([own.tenant.clone()]);
            for twin in twins(&tenant, TenantId::as_str) {
                let twin = twin.parse()?;
                if !named.contains(&twin) {
                    has_nothing_of(asking, &twin, own)?;
                }
            }
            principals(asking, own)?;
        }
        Ok(())
    })
}

/// A tenant whose id differs by little has nothing of the other.
fn has_nothing_of(
    asking: &Asking<'_>,
    tenant: &TenantId,
    other: &TenantSamples,
) -> Result<(), Report> {
    for id in &other.runs {
        let run = asking.run(tenant, id)?;
        ensure(run.is_none(), || {
            format!("the tenant {tenant:?}, which isn't there, has the run\n  {run:?}")
        })?;
    }
    if let Some(directory) = asking.host.directory.as_deref() {
        for project in &other.projects {
            let has = asking.exists(directory, tenant, project)?;
            let what = format!("whether {tenant:?}, which isn't there, has {project:?}");
            ensure_eq(&what, &has, &false)?;
        }
    }
    Ok(())
}

/// Whoever calls, and whatever they call for, there is an answer, and what may be read agrees.
fn principals(asking: &Asking<'_>, own: &TenantSamples) -> Result<(), Report> {
    let ids: BTreeSet<PrincipalId> = own.principals.iter().map(|who| who.id.clone()).collect();
    let Some(somebody) = own.principals.first() else {
        return Ok(());
    };
    for twin in twins(&ids, PrincipalId::as_str) {
        let mut who = somebody.clone();
        who.id = twin.parse()?;
        agrees(asking, &who, &own.projects)?;
    }
    let runs = twins(&own.runs, RunId::as_str);
    let runs = runs.iter().map(|id| id.parse());
    let runs = runs.collect::<Result<BTreeSet<RunId>, _>>()?;
    let gone = own.no_projects();
    for who in &own.principals {
        for project in own.projects.iter().chain(gone.iter().take(1)) {
            for what in all_in(project, &runs) {
                asking.allows(who, what)?;
            }
        }
        let none = BTreeSet::new();
        for project in &gone {
            for what in all_in(project, &none) {
                asking.allows(who, what)?;
            }
        }
    }
    Ok(())
}
