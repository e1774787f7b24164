//! The reference for judging rules: all versions of all tenants' rules, in the order they came.

use crate::{
    Timestamp,
    model::{JudgingRule, PageSize, ProjectId, RuleId, TenantId},
    store::{Keyset, ListedRule, RuleAppended, RuleStopped, Slice},
};

#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Rules(Vec<JudgingRule>);

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
        self.0.push(next.clone());
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
                let all = self.0.iter_mut();
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
        let versions = self.0.iter().filter(|it| is_of(it, tenant, project));
        let versions = versions.filter(|it| it.id == *id);
        versions.max_by_key(|it| it.version).cloned()
    }

    pub(super) fn live(
        &self,
        tenant: &TenantId,
        project: &ProjectId,
        keyset: &Keyset,
    ) -> Slice<ListedRule> {
        let firsts = self.0.iter().filter(|it| it.version == 1);
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
        let versions = self.0.iter().filter(|it| is_of(it, tenant, project));
        let versions = versions.filter(|it| it.id == *id);
        let mut rows: Vec<JudgingRule> = versions
            .filter(|it| before.is_none_or(|before| it.version < before))
            .cloned()
            .collect();
        rows.sort_by_key(|it| std::cmp::Reverse(it.version));
        Some(first_of(rows, limit))
    }
}

fn is_of(rule: &JudgingRule, tenant: &TenantId, project: &ProjectId) -> bool {
    rule.tenant == *tenant && rule.project == *project
}

fn first_of<T>(mut rows: Vec<T>, limit: PageSize) -> Slice<T> {
    let limit = usize::from(limit.get());
    let more = rows.len() > limit;
    rows.truncate(limit);
    Slice { rows, more }
}
