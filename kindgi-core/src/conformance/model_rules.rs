//! The reference for judging rules: all versions of all tenants' rules, in the order they came.

use crate::{
    Timestamp,
    model::{JudgeClassId, JudgingRule, PageSize, ProjectId, RuleId, TenantId},
    store::{EnabledRules, Keyset, ListedRule, RuleAppended, RuleStopped, Slice},
};

#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Rules {
    versions: Vec<JudgingRule>,
    /// Whose rules changed, each time.
    changes: Vec<(TenantId, ProjectId)>,
}

impl Rules {
    /// Appends; `class_changed` says that a class is given and isn't at its revision.
    pub(super) fn append(&mut self, next: &JudgingRule, class_changed: bool) -> RuleAppended {
        let mut next = next.clone();
        if next.version > 1 {
            let Some(latest) = self.latest(&next.tenant, &next.project, &next.id) else {
                return RuleAppended::NotLive;
            };
            if latest.unregistered_at.is_some() {
                return RuleAppended::NotLive;
            }
            if latest.version + 1 != next.version {
                return RuleAppended::Stale;
            }
            next.created_at = next.created_at.max(latest.created_at);
        }
        if class_changed {
            return RuleAppended::ClassChanged;
        }
        self.versions.push(next.clone());
        self.changes
            .push((next.tenant.clone(), next.project.clone()));
        RuleAppended::Ok(Box::new(next))
    }

    pub(super) fn stop(
        &mut self,
        tenant: &TenantId,
        project: &ProjectId,
        id: &RuleId,
        now: Timestamp,
    ) -> RuleStopped {
        match self.latest(tenant, project, id) {
            Some(latest) if latest.unregistered_at.is_none() => {
                self.changes.push((tenant.clone(), project.clone()));
                let all = self.versions.iter_mut();
                for version in all.filter(|it| is_of(it, tenant, project) && it.id == *id) {
                    version.unregistered_at = Some(now.max(latest.created_at));
                }
                RuleStopped::Ok
            }
            _ => RuleStopped::NotLive,
        }
    }

    pub(super) fn latest(
        &self,
        tenant: &TenantId,
        project: &ProjectId,
        id: &RuleId,
    ) -> Option<JudgingRule> {
        let versions = self.versions.iter().filter(|it| is_of(it, tenant, project));
        let versions = versions.filter(|it| it.id == *id);
        versions.max_by_key(|it| it.version).cloned()
    }

    pub(super) fn live(
        &self,
        tenant: &TenantId,
        project: &ProjectId,
        keyset: &Keyset,
    ) -> Slice<ListedRule> {
        let firsts = self.versions.iter().filter(|it| it.version == 1);
        let listed = firsts.filter_map(|first| {
            let latest = self.latest(tenant, project, &first.id)?;
            let its = is_of(first, tenant, project) && latest.unregistered_at.is_none();
            its.then_some(ListedRule {
                latest,
                first_created_at: first.created_at,
            })
        });
        let mut rows: Vec<ListedRule> = listed.collect();
        let place = |row: &ListedRule| (row.first_created_at, row.latest.id.to_string());
        rows.sort_by_key(place);
        if let Some(after) = &keyset.after {
            rows.retain(|row| place(row) > (after.at, after.id.to_string()));
        }
        first_of(rows, keyset.limit)
    }

    pub(super) fn versions_before(
        &self,
        tenant: &TenantId,
        project: &ProjectId,
        id: &RuleId,
        before: Option<u32>,
        limit: PageSize,
    ) -> Option<Slice<JudgingRule>> {
        self.latest(tenant, project, id)?;
        let versions = self.versions.iter().filter(|it| is_of(it, tenant, project));
        let versions = versions.filter(|it| it.id == *id);
        let mut rows: Vec<JudgingRule> = versions
            .filter(|it| before.is_none_or(|before| it.version < before))
            .cloned()
            .collect();
        rows.sort_by_key(|it| std::cmp::Reverse(it.version));
        Some(first_of(rows, limit))
    }

    pub(super) fn revision(&self, tenant: &TenantId, project: &ProjectId) -> u64 {
        let changes = self.changes.iter();
        let its = changes.filter(|(of, changed)| of == tenant && changed == project);
        its.count() as u64
    }

    pub(super) fn enabled(&self, tenant: &TenantId, project: &ProjectId) -> EnabledRules {
        let firsts = self.versions.iter().filter(|it| it.version == 1);
        let its = firsts.filter(|first| is_of(first, tenant, project));
        let latest = its.filter_map(|first| self.latest(tenant, project, &first.id));
        let mut rules: Vec<JudgingRule> = latest
            .filter(|rule| rule.enabled && rule.unregistered_at.is_none())
            .collect();
        rules.sort_by_key(|rule| rule.id.to_string());
        EnabledRules {
            revision: self.revision(tenant, project),
            rules,
        }
    }

    /// Whether a version of a rule names the class: of this project's, or of any.
    pub(super) fn name(
        &self,
        tenant: &TenantId,
        project: Option<&ProjectId>,
        class: &JudgeClassId,
    ) -> bool {
        let mut versions = self.versions.iter();
        versions.any(|it| {
            it.tenant == *tenant
                && project.is_none_or(|project| it.project == *project)
                && it.class.as_ref() == Some(class)
        })
    }
}

fn is_of(rule: &JudgingRule, tenant: &TenantId, project: &ProjectId) -> bool {
    rule.tenant == *tenant && rule.project == *project
}

pub(super) fn first_of<T>(mut rows: Vec<T>, limit: PageSize) -> Slice<T> {
    let limit = usize::from(limit.get());
    let more = rows.len() > limit;
    rows.truncate(limit);
    Slice { rows, more }
}
