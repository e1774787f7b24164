//! Laws of who may do what.

use std::collections::BTreeSet;

use crate::{
    conformance::{
        Report,
        host::{HostUnderTest, asking::Asking},
        report::{ensure, ensure_eq},
    },
    host::Permission,
    model::{Principal, ProjectId, Readable, RunId},
};

/// Whether a principal may read a project agrees with which projects they may read: of those that
/// are there, those that aren't, and those of other tenants. Else lists show what can't be read, or
/// hide what can.
///
/// Where all may be read, a project that is gone may be, too, since what was judged in it is still
/// listed. Only whether "all" takes another tenant's project for one of one's own is left open.
pub fn what_may_be_read_agrees_with_what_is_listed(
    host: &impl HostUnderTest,
) -> Result<(), Report> {
    let law = "what_may_be_read_agrees_with_what_is_listed";
    Asking::hold(law, host, |asking| {
        for own in &asking.host.tenants {
            let mut projects = own.no_projects();
            projects.extend(own.projects.iter().cloned());
            for who in &own.principals {
                agrees(asking, who, &projects)?;
            }
        }
        for (own, other) in asking.pairs() {
            let foreign = other.projects.difference(&own.projects).cloned().collect();
            for who in &own.principals {
                if asking.readable(who)? != Readable::All {
                    agrees(asking, who, &foreign)?;
                }
            }
        }
        Ok(())
    })
}

/// Each answer for one of these, and for one that is listed, is the list's.
pub(super) fn agrees(
    asking: &Asking<'_>,
    who: &Principal,
    projects: &BTreeSet<ProjectId>,
) -> Result<(), Report> {
    let listed = asking.readable(who)?;
    let mut projects: BTreeSet<&ProjectId> = projects.iter().collect();
    if let Readable::Only(own) = &listed {
        projects.extend(own);
    }
    for project in projects {
        let may = asking.allows(who, Permission::Read { project })?;
        let lists = listed.contains(project);
        ensure(may == lists, || {
            let (may, lists) = (said(may), said(lists));
            format!(
                "{who:?}\n  may{may} read the project {project:?}\n  which is{lists} among \
                 those they may read: {listed:?}"
            )
        })?;
    }
    ensure_eq(
        "the readable projects, asked again",
        &asking.readable(who)?,
        &listed,
    )
}

fn said(yes: bool) -> &'static str {
    if yes { "" } else { " not" }
}

/// Nobody may read, judge in, write in or administer a project of another tenant.
///
/// A project's id counts within a tenant, so that whoever may read all of their tenant may be
/// allowed to read one of that id; but their tenant then hasn't such a project.
pub fn nobody_may_do_anything_in_another_tenant(host: &impl HostUnderTest) -> Result<(), Report> {
    Asking::hold("nobody_may_do_anything_in_another_tenant", host, |asking| {
        for (own, other) in asking.pairs() {
            let foreign: BTreeSet<_> = other.projects.difference(&own.projects).cloned().collect();
            for who in &own.principals {
                match asking.readable(who)? {
                    Readable::All => {
                        if let Some(directory) = asking.host.directory.as_deref() {
                            for project in &foreign {
                                let has = asking.exists(directory, &own.tenant, project)?;
                                let what = format!(
                                    "whether {}, all of which {who:?} may read, has {project:?}",
                                    own.tenant
                                );
                                ensure_eq(&what, &has, &false)?;
                            }
                        }
                    }
                    Readable::Only(listed) => {
                        ensure(listed.is_disjoint(&foreign), || {
                            format!("{who:?} may read projects of another tenant: {listed:?}")
                        })?;
                        may_nothing(asking, who, &foreign, &other.runs)?;
                    }
                }
            }
        }
        Ok(())
    })
}

/// Who may do nothing may do nothing: neither read nor list, judge, write or administer anything.
pub fn a_stranger_may_do_nothing(host: &impl HostUnderTest) -> Result<(), Report> {
    Asking::hold("a_stranger_may_do_nothing", host, |asking| {
        for who in &asking.host.strangers {
            let listed = asking.readable(who)?;
            ensure(listed.is_empty(), || {
                format!("the stranger {who:?} may read {listed:?}")
            })?;
            for of in &asking.host.tenants {
                may_nothing(asking, who, &of.projects, &of.runs)?;
            }
            let may = asking.allows(who, Permission::AdminTenant)?;
            ensure_eq(
                &format!("whether the stranger {who:?} is an admin"),
                &may,
                &false,
            )?;
        }
        Ok(())
    })
}

/// None of what can be done in a project is allowed in any of these.
fn may_nothing(
    asking: &Asking<'_>,
    who: &Principal,
    projects: &BTreeSet<ProjectId>,
    runs: &BTreeSet<RunId>,
) -> Result<(), Report> {
    for project in projects {
        for what in all_in(project, runs) {
            let may = asking.allows(who, what)?;
            ensure(!may, || format!("{who:?} is allowed {what:?}"))?;
        }
    }
    Ok(())
}

/// Everything that can be done in a project.
pub(super) fn all_in<'a>(
    project: &'a ProjectId,
    runs: &'a BTreeSet<RunId>,
) -> impl Iterator<Item = Permission<'a>> {
    let in_project = [
        Permission::Read { project },
        Permission::Write { project },
        Permission::Admin { project },
    ];
    let judge = move |run| Permission::Judge { project, run };
    in_project.into_iter().chain(runs.iter().map(judge))
}
