//! Laws of projects and organisations.

use crate::{
    conformance::{
        Report,
        host::{HostUnderTest, TenantSamples, asking::Asking, samples::twins},
        report::{ensure, ensure_eq},
    },
    model::{OrgId, ProjectId, TenantId},
};

/// The directory knows the projects that a tenant has, and no others: none that is gone, none of
/// an id that differs by little, none of another tenant.
pub fn the_directory_knows_the_projects_there_are(host: &impl HostUnderTest) -> Result<(), Report> {
    let law = "the_directory_knows_the_projects_there_are";
    Asking::hold(law, host, |asking| {
        let Some(directory) = asking.host.directory.as_deref() else {
            return Ok(());
        };
        // Twice, since a directory may remember what it was asked.
        for _ in 0..2 {
            let knows = |of: &TenantId, project: &ProjectId, should_be: bool| {
                let is = asking.exists(directory, of, project)?;
                let what = format!("whether {of} has the project {project:?}");
                ensure_eq(&what, &is, &should_be)
            };
            for own in &asking.host.tenants {
                for project in &own.projects {
                    knows(&own.tenant, project, true)?;
                }
                for project in &own.no_projects() {
                    knows(&own.tenant, project, false)?;
                }
            }
            for (own, other) in asking.pairs() {
                for project in other.projects.difference(&own.projects) {
                    knows(&own.tenant, project, false)?;
                }
            }
        }
        Ok(())
    })
}

/// An organisation has projects, all of them known to the directory and none another tenant's; the
/// same each time; and none for a tenant whose it isn't, nor by an id that differs by little.
pub fn an_organisation_has_projects_of_its_tenant(host: &impl HostUnderTest) -> Result<(), Report> {
    let law = "an_organisation_has_projects_of_its_tenant";
    Asking::hold(law, host, |asking| {
        let Some(directory) = asking.host.directory.as_deref() else {
            return Ok(());
        };
        for own in &asking.host.tenants {
            let tenant = &own.tenant;
            for org in &own.orgs {
                let projects = asking.projects_of(directory, tenant, org)?;
                ensure(!projects.is_empty(), || {
                    format!("the organisation {org:?} of {tenant} has no projects")
                })?;
                for project in &projects {
                    let exists = asking.exists(directory, tenant, project)?;
                    ensure(exists, || {
                        format!("{org:?} of {tenant} has {project:?}, which isn't there")
                    })?;
                }
                let again = asking.projects_of(directory, tenant, org)?;
                ensure_eq("an organisation's projects, asked again", &again, &projects)?;
            }
            for twin in twins(&own.orgs, OrgId::as_str) {
                has_none(asking, own, &twin.parse()?)?;
            }
        }
        for (own, other) in asking.pairs() {
            for org in &own.orgs {
                let projects = asking.projects_of(directory, &own.tenant, org)?;
                let mut foreign = other.projects.difference(&own.projects);
                let leaked = foreign.find(|project| projects.contains(project));
                ensure(leaked.is_none(), || {
                    format!(
                        "{org:?} of {} has {leaked:?} of {}",
                        own.tenant, other.tenant
                    )
                })?;
            }
            for org in other.orgs.difference(&own.orgs) {
                has_none(asking, own, org)?;
            }
        }
        Ok(())
    })
}

fn has_none(asking: &Asking<'_>, own: &TenantSamples, org: &OrgId) -> Result<(), Report> {
    let Some(directory) = asking.host.directory.as_deref() else {
        return Ok(());
    };
    let projects = asking.projects_of(directory, &own.tenant, org)?;
    ensure(projects.is_empty(), || {
        let tenant = &own.tenant;
        format!("{tenant} hasn't the organisation {org:?}, but it has {projects:?}")
    })
}
