//! Judging rules and their versions.

use std::collections::{BTreeSet, HashMap};

use async_trait::async_trait;

use super::{Live, MemoryStore, Tenant, place};
use crate::{
    Timestamp,
    model::{
        JudgeClass, JudgeClassId, JudgingRule, PageSize, Position, ProjectId, RuleId, TenantId,
    },
    store::{
        Applied, ClassAt, EnabledRules, JudgingRuleStore, Keyset, ListedRule, RuleAppended,
        RuleStopped, Slice, StoreResult, Write,
    },
};

/// The rules of a tenant: all their versions, oldest first.
#[derive(Debug, Default)]
pub(super) struct Rules {
    pub(super) versions: HashMap<RuleId, Vec<JudgingRule>>,
    pub(super) live: HashMap<ProjectId, Live<RuleId>>,
    /// How often the rules of a project changed.
    pub(super) revisions: HashMap<ProjectId, u64>,
}

pub(super) fn place_of(first: &JudgingRule) -> Position {
    place(first.created_at, first.id.as_str())
}

impl Rules {
    /// A rule's versions, if it is of this project.
    fn of(&self, project: &ProjectId, id: &RuleId) -> Option<&[JudgingRule]> {
        let versions = self.versions.get(id)?;
        versions.first().filter(|first| first.project == *project)?;
        Some(versions)
    }

    /// The revision of a project's rules.
    pub(super) fn revision(&self, project: &ProjectId) -> u64 {
        self.revisions.get(project).copied().unwrap_or_default()
    }

    /// Whether a version of a rule names a class.
    pub(super) fn name(&self, class: &JudgeClassId) -> bool {
        self.wanted(self.versions.values()).contains(class)
    }

    /// The classes that versions of rules want.
    fn wanted<'a>(
        &self,
        rules: impl Iterator<Item = &'a Vec<JudgingRule>>,
    ) -> BTreeSet<&'a JudgeClassId> {
        let versions = rules.flatten();
        versions
            .filter_map(|version| version.class.as_ref())
            .collect()
    }

    fn enabled(&self, project: &ProjectId) -> EnabledRules {
        let live = self.live.get(project).into_iter().flat_map(Live::values);
        let latest = live.filter_map(|id| self.latest(project, id));
        let mut rules: Vec<_> = latest.filter(|rule| rule.enabled).cloned().collect();
        rules.sort_by(|a, b| a.id.cmp(&b.id));
        EnabledRules {
            revision: self.revision(project),
            rules,
        }
    }

    pub(super) fn latest(&self, project: &ProjectId, id: &RuleId) -> Option<&JudgingRule> {
        self.of(project, id)?.last()
    }

    /// Why a version can't be appended.
    fn refuses(&self, next: &JudgingRule) -> Option<RuleAppended> {
        if next.version == 1 {
            return None;
        }
        match self.latest(&next.project, &next.id) {
            Some(latest) if latest.unregistered_at.is_some() => Some(RuleAppended::NotLive),
            Some(latest) if latest.version.checked_add(1) != Some(next.version) => {
                Some(RuleAppended::Stale)
            }
            Some(_) => None,
            None => Some(RuleAppended::NotLive),
        }
    }

    fn append(&mut self, next: &JudgingRule) -> RuleAppended {
        let mut next = next.clone();
        *self.revisions.entry(next.project.clone()).or_default() += 1;
        let versions = self.versions.entry(next.id.clone()).or_default();
        match versions.last() {
            Some(latest) => next.created_at = next.created_at.max(latest.created_at),
            None => {
                let live = self.live.entry(next.project.clone()).or_default();
                live.insert(place_of(&next), next.id.clone());
            }
        }
        versions.push(next.clone());
        RuleAppended::Ok(Box::new(next))
    }

    fn stop(&mut self, project: &ProjectId, id: &RuleId, now: Timestamp) -> RuleStopped {
        let live = self
            .latest(project, id)
            .filter(|rule| rule.unregistered_at.is_none());
        let Some(at) = live.map(|latest| now.max(latest.created_at)) else {
            return RuleStopped::NotLive;
        };
        *self.revisions.entry(project.clone()).or_default() += 1;
        let versions = self
            .versions
            .get_mut(id)
            .map(Vec::as_mut_slice)
            .unwrap_or_default();
        for version in &mut *versions {
            version.unregistered_at = Some(at);
        }
        if let (Some(first), Some(live)) = (versions.first(), self.live.get_mut(project)) {
            live.remove(&place_of(first));
        }
        RuleStopped::Ok
    }

    fn list(&self, project: &ProjectId, keyset: &Keyset) -> Option<Slice<ListedRule>> {
        use std::ops::Bound::{Excluded, Unbounded};

        let live = self.live.get(project)?;
        let mut newer = match &keyset.after {
            None => live.range::<Position, _>(..),
            Some(after) => live.range::<Position, _>((Excluded(after), Unbounded)),
        };
        let limit = usize::from(keyset.limit.get());
        let listed = |(place, id): (&Position, &RuleId)| {
            Some(ListedRule {
                latest: self.versions.get(id)?.last()?.clone(),
                first_created_at: place.at,
            })
        };
        let rows = newer.by_ref().take(limit).filter_map(listed).collect();
        let more = newer.next().is_some();
        Some(Slice { rows, more })
    }

    fn versions(
        &self,
        project: &ProjectId,
        id: &RuleId,
        before: Option<u32>,
        limit: PageSize,
    ) -> Option<Slice<JudgingRule>> {
        let versions = self.of(project, id)?.iter().rev();
        let mut older = versions.filter(|rule| before.is_none_or(|before| rule.version < before));
        let rows = older
            .by_ref()
            .take(usize::from(limit.get()))
            .cloned()
            .collect();
        let more = older.next().is_some();
        Some(Slice { rows, more })
    }
}

impl Tenant {
    fn append_rule_version(
        &mut self,
        next: &JudgingRule,
        class: Option<ClassAt<'_>>,
    ) -> RuleAppended {
        if let Some(refused) = self.rules.refuses(next) {
            return refused;
        }
        if class.is_some_and(|class| !self.classes.is_at(class)) {
            return RuleAppended::ClassChanged;
        }
        self.rules.append(next)
    }
}

#[async_trait]
impl JudgingRuleStore for MemoryStore {
    async fn append_rule_version(
        &self,
        write: Write<'_>,
        next: &JudgingRule,
        class: Option<ClassAt<'_>>,
    ) -> StoreResult<Applied<RuleAppended>> {
        Ok(self.change(write.tenant, |tenant| {
            tenant.apply(write, |tenant| tenant.append_rule_version(next, class))
        }))
    }

    async fn stop_rule(
        &self,
        write: Write<'_>,
        project: &ProjectId,
        id: &RuleId,
    ) -> StoreResult<Applied<RuleStopped>> {
        Ok(self.change(write.tenant, |tenant| {
            tenant.apply(write, |tenant| tenant.rules.stop(project, id, write.now))
        }))
    }

    async fn rule(
        &self,
        tenant: &TenantId,
        project: &ProjectId,
        id: &RuleId,
    ) -> StoreResult<Option<JudgingRule>> {
        Ok(self.look(tenant, |tenant| tenant.rules.latest(project, id).cloned()))
    }

    async fn rules(
        &self,
        tenant: &TenantId,
        project: &ProjectId,
        keyset: &Keyset,
    ) -> StoreResult<Slice<ListedRule>> {
        let found = self.look(tenant, |tenant| tenant.rules.list(project, keyset));
        Ok(found.unwrap_or(Slice {
            rows: Vec::new(),
            more: false,
        }))
    }

    async fn rule_versions(
        &self,
        tenant: &TenantId,
        project: &ProjectId,
        id: &RuleId,
        before: Option<u32>,
        limit: PageSize,
    ) -> StoreResult<Option<Slice<JudgingRule>>> {
        Ok(self.look(tenant, |tenant| {
            tenant.rules.versions(project, id, before, limit)
        }))
    }

    async fn enabled_rules(
        &self,
        tenant: &TenantId,
        project: &ProjectId,
    ) -> StoreResult<EnabledRules> {
        Ok(self.look(tenant, |tenant| tenant.rules.enabled(project)))
    }

    async fn wanted_classes(
        &self,
        tenant: &TenantId,
        project: &ProjectId,
    ) -> StoreResult<Vec<JudgeClass>> {
        Ok(self.look(tenant, |tenant| {
            let rules = tenant.rules.versions.values();
            let here = rules.filter(|versions| {
                versions
                    .first()
                    .is_some_and(|first| first.project == *project)
            });
            let wanted = tenant.rules.wanted(here).into_iter();
            wanted
                .filter_map(|class| tenant.classes.live(class))
                .cloned()
                .collect()
        }))
    }
}
