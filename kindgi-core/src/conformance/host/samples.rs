//! What a host names of a tenant, and what is near it and isn't there.

use std::collections::BTreeSet;

use super::Host;
use crate::{
    conformance::{Report, report::ensure, texts::near},
    model::{OrgId, Principal, ProjectId, RunId, TenantId},
};

/// Some of what a tenant has.
///
/// It needs a principal, a project and a run. The more kinds of each, the better: a principal for
/// each set of permissions, runs that completed, failed and are still running. All must stay as
/// they are while a law is tried. The suite takes ids that differ from these by little, such as in
/// case or by a blank at the end, for ids of nothing; where there is something of such an id, it
/// must be named, too.
#[derive(Clone, Debug)]
pub struct TenantSamples {
    pub(super) tenant: TenantId,
    pub(super) principals: Vec<Principal>,
    pub(super) projects: BTreeSet<ProjectId>,
    pub(super) orgs: BTreeSet<OrgId>,
    pub(super) runs: BTreeSet<RunId>,
    pub(super) gone: BTreeSet<ProjectId>,
}

impl TenantSamples {
    /// A tenant of which nothing is named yet.
    pub fn new(tenant: TenantId) -> Self {
        Self {
            tenant,
            principals: Vec::new(),
            projects: BTreeSet::new(),
            orgs: BTreeSet::new(),
            runs: BTreeSet::new(),
            gone: BTreeSet::new(),
        }
    }

    /// Some who belong to it.
    #[must_use]
    pub fn principals(mut self, principals: impl IntoIterator<Item = Principal>) -> Self {
        self.principals.extend(principals);
        self
    }

    /// Projects that it has, those of the named runs among them.
    #[must_use]
    pub fn projects(mut self, projects: impl IntoIterator<Item = ProjectId>) -> Self {
        self.projects.extend(projects);
        self
    }

    /// Projects that it hasn't: such as some that were deleted. There are always a few more that
    /// the suite makes up.
    #[must_use]
    pub fn gone_projects(mut self, projects: impl IntoIterator<Item = ProjectId>) -> Self {
        self.gone.extend(projects);
        self
    }

    /// Organisations that have projects.
    #[must_use]
    pub fn orgs(mut self, orgs: impl IntoIterator<Item = OrgId>) -> Self {
        self.orgs.extend(orgs);
        self
    }

    /// Runs that it has.
    #[must_use]
    pub fn runs(mut self, runs: impl IntoIterator<Item = RunId>) -> Self {
        self.runs.extend(runs);
        self
    }

    /// Projects that the tenant hasn't: those named, and some made up.
    pub(super) fn no_projects(&self) -> BTreeSet<ProjectId> {
        let near = twins(&self.projects, ProjectId::as_str);
        let made_up = near.into_iter().filter_map(|id| id.parse().ok());
        self.gone.iter().cloned().chain(made_up).collect()
    }
}

impl Host {
    /// Whether enough is named for the laws to say something.
    pub(super) fn names_enough(&self) -> Result<(), Report> {
        let tenants: BTreeSet<&TenantId> = self.tenants.iter().map(|of| &of.tenant).collect();
        ensure(
            tenants.len() > 1 && tenants.len() == self.tenants.len(),
            || "a host must name two tenants, each once".to_owned(),
        )?;
        for of in &self.tenants {
            let tenant = &of.tenant;
            let enough =
                !of.principals.is_empty() && !of.projects.is_empty() && !of.runs.is_empty();
            ensure(enough, || {
                format!("the tenant {tenant} must name a principal, a project and a run")
            })?;
            ensure(
                of.principals.iter().all(|who| who.tenant == *tenant),
                || format!("the principals of the tenant {tenant} must belong to it"),
            )?;
            ensure(of.gone.is_disjoint(&of.projects), || {
                format!("a project of the tenant {tenant} must be there or gone, not both")
            })?;
        }
        Ok(())
    }
}

/// Texts that differ by little from these, and odd ones, none of them one of these.
pub(super) fn twins<T>(of: &BTreeSet<T>, text: impl Fn(&T) -> &str) -> BTreeSet<String> {
    let own: BTreeSet<String> = of.iter().map(|id| text(id).to_owned()).collect();
    let mut all: BTreeSet<String> = ODD.iter().map(|odd| (*odd).to_owned()).collect();
    for id in &own {
        all.extend((0..8).map(|number| near(id, number)));
        all.insert(id.to_lowercase());
        all.insert(id.trim().to_owned());
        all.insert(format!(" {id}"));
        all.insert(format!("{id}\n"));
        all.insert(format!("{id}/"));
        all.insert(format!("{id}%"));
        all.insert(id.replace('e', "\u{435}"));
        all.insert(id.replace('\u{e9}', "e\u{301}"));
        all.insert(id.replace("e\u{301}", "\u{e9}"));
        // Its first and its last 255 code points, and so on down.
        let chars: Vec<char> = id.chars().collect();
        all.extend(chars.split_last().map(|(_, rest)| rest.iter().collect()));
        all.extend(chars.split_first().map(|(_, rest)| rest.iter().collect()));
    }
    all.extend(["x", "\u{1d11e}"].map(|fill| fill.repeat(256)));
    all.retain(|text| !own.contains(text) && text.parse::<RunId>().is_ok());
    all
}

/// Texts that mean something to a language in which a careless host asks on.
const ODD: [&str; 20] = [
    "%",
    "_",
    "*",
    "?",
    "..",
    "../..",
    "/",
    "\\",
    "'",
    "' OR '1'='1",
    "\"; --",
    "${id}",
    "{}",
    "a\r\nb",
    "\u{1}",
    "\u{7f}",
    "\u{feff}a",
    "\u{202e}a",
    "null",
    "0",
];
