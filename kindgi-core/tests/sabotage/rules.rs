//! Judging rules with one fault.

use std::{sync::atomic::Ordering, time::Duration};

use async_trait::async_trait;
use kindgi_core::{
    model::{JudgeClass, JudgingRule, PageSize, Position, ProjectId, RuleId, Sample, TenantId},
    store::{
        Applied, ClassAt, EnabledRules, JudgeClassStore, JudgingRuleStore, Keyset, ListedRule,
        RuleAppended, RuleStopped, Slice, StoreResult, Write,
    },
};

use super::{Fault, Faulty};

impl Faulty {
    fn change_rule(&self, rule: &mut JudgingRule) {
        match self.fault {
            Fault::RuleNameTrimmed => rule.name = rule.name.as_str().trim().parse().unwrap(),
            Fault::SampleInHalf => {
                let share = f64::from(rule.sample.get() as f32);
                rule.sample = Sample::new(share).unwrap_or(rule.sample);
            }
            _ => {}
        }
    }

    fn change_rule_id(&self, id: &RuleId) -> RuleId {
        match self.fault {
            Fault::RuleIdsComposed => {
                let composed = id.as_str().replace("e\u{301}", "\u{e9}");
                composed.parse().unwrap()
            }
            _ => id.clone(),
        }
    }

    /// The project to look in.
    async fn change_project(
        &self,
        tenant: &TenantId,
        project: &ProjectId,
        id: &RuleId,
    ) -> StoreResult<ProjectId> {
        if self.is(Fault::RuleProjectIgnoredById) {
            for other in self.note(|noted| noted.projects.clone()) {
                if self.store.rule(tenant, &other, id).await?.is_some() {
                    return Ok(other);
                }
            }
        }
        Ok(project.clone())
    }

    /// Lets those who take a run look at the rules before these change.
    async fn until_a_take_looked(&self) {
        if self.is(Fault::RulesRevisionRaces) {
            let patience = Duration::from_millis(20);
            self.until_others_did(&self.counts.take_checks, patience)
                .await;
        }
    }

    /// Takes a version that the store inside refused.
    fn take_anyway(&self, next: &JudgingRule) -> Applied<RuleAppended> {
        let key = (next.tenant.clone(), next.id.clone());
        self.note(|noted| noted.versions.entry(key).or_default().push(next.clone()));
        Applied::Done(RuleAppended::Ok(Box::new(next.clone())))
    }

    fn taken(&self, tenant: &TenantId, id: &RuleId) -> Vec<JudgingRule> {
        let key = (tenant.clone(), id.clone());
        self.note(|noted| noted.versions.get(&key).cloned().unwrap_or_default())
    }

    /// The newest of a rule's versions come first.
    fn change_versions(&self, tenant: &TenantId, id: &RuleId, rows: &mut [JudgingRule]) {
        let key = (tenant.clone(), id.clone());
        let half = self.note(|noted| noted.half_stopped.contains(&key));
        if half || self.is(Fault::StopLeavesOldVersions) {
            for old in rows.iter_mut().skip(1) {
                old.unregistered_at = None;
            }
        }
        if self.is(Fault::StopBeforeItBegan) {
            let at = self.note(|noted| noted.rules_stopped.get(&key).copied());
            for version in rows {
                version.unregistered_at = at;
            }
        }
    }
}

#[async_trait]
impl JudgingRuleStore for Faulty {
    async fn append_rule_version(
        &self,
        write: Write<'_>,
        next: &JudgingRule,
        class: Option<ClassAt<'_>>,
    ) -> StoreResult<Applied<RuleAppended>> {
        let _writing = self.begin();
        self.until_a_take_looked().await;
        let (tenant, mut class) = (write.tenant, class);
        self.note(|noted| {
            noted.tenants.push(tenant.clone());
            noted.projects.insert(next.project.clone());
        });
        let key = write
            .operation
            .map(|operation| (tenant.clone(), *operation.id));
        if let (Fault::RuleRefusalKept, Some(key)) = (self.fault, &key)
            && let Some(kept) = self.note(|noted| noted.rule_answers.get(key).cloned())
        {
            return Ok(Applied::Replayed(kept));
        }
        let was_live = self
            .store
            .rule(tenant, &next.project, &next.id)
            .await?
            .is_some_and(|rule| rule.unregistered_at.is_none());
        let was_at = match class {
            None => true,
            Some(class) => {
                let found = self.store.class(tenant, class.id).await?;
                found.is_some_and(|found| found.revision == class.revision)
            }
        };
        let races = [Fault::RuleVersionRaces, Fault::StopRaces];
        let mut crowded = false;
        if races.contains(&self.fault) {
            for _ in 0..8 {
                crowded |= self.is_crowded().await;
            }
        }
        match self.fault {
            Fault::RuleClassUnchecked => class = None,
            Fault::RuleClassRaces if was_at && class.is_some() => {
                // Whoever changes the class meanwhile looks for the version afterwards.
                self.class_checks.fetch_add(1, Ordering::SeqCst);
                self.until_others_did(&self.rule_reads, Duration::from_millis(50))
                    .await;
                class = None;
            }
            Fault::RuleClassCheckedFirst if !was_at && write.operation.is_none() => {
                return Ok(Applied::Done(RuleAppended::ClassChanged));
            }
            _ => {}
        }
        let mut changed = next.clone();
        self.change_rule(&mut changed);
        let operation = self.operation(&write).await;
        let operation = operation.filter(|_| !self.is(Fault::RuleOperationForgotten));
        let inner = Write { operation, ..write };
        let mut applied = self
            .store
            .append_rule_version(inner, &changed, class)
            .await?;
        let stale = applied == Applied::Done(RuleAppended::Stale);
        let not_live = applied == Applied::Done(RuleAppended::NotLive);
        match (self.fault, &mut applied) {
            (Fault::RuleVersionUnchecked, _) if stale => return Ok(self.take_anyway(next)),
            (Fault::RuleVersionRaces, _) if stale && crowded => return Ok(self.take_anyway(next)),
            (Fault::StopRaces, _) if not_live && was_live => return Ok(self.take_anyway(next)),
            (Fault::StoppedRuleTakesVersions, _) if not_live => {
                let found = self.store.rule(tenant, &next.project, &next.id).await?;
                if found.is_some() {
                    return Ok(self.take_anyway(next));
                }
            }
            (Fault::RuleVersionNumberedAnew, _) if stale => {
                let found = self.store.rule(tenant, &next.project, &next.id).await?;
                changed.version = found.map_or(1, |rule| rule.version + 1);
                return self.store.append_rule_version(inner, &changed, class).await;
            }
            (Fault::RuleVersionNotMoved, Applied::Done(RuleAppended::Ok(rule))) => {
                rule.created_at = next.created_at;
            }
            (Fault::RuleListedInAStepOfItsOwn, Applied::Done(RuleAppended::Ok(rule)))
                if rule.version == 1 =>
            {
                let key = (tenant.clone(), rule.id.clone());
                self.note(|noted| noted.unlisted.insert(key.clone()));
                tokio::task::yield_now().await;
                self.note(|noted| noted.unlisted.remove(&key));
            }
            (Fault::RuleRefusalKept, Applied::Done(refusal))
                if !matches!(refusal, RuleAppended::Ok(_)) =>
            {
                self.note(|noted| key.map(|key| noted.rule_answers.insert(key, refusal.clone())));
            }
            _ => {}
        }
        Ok(applied)
    }

    async fn stop_rule(
        &self,
        write: Write<'_>,
        project: &ProjectId,
        id: &RuleId,
    ) -> StoreResult<Applied<RuleStopped>> {
        let _writing = self.begin();
        self.until_a_take_looked().await;
        let operation = self.operation(&write).await;
        let inner = Write { operation, ..write };
        let project = self.change_project(write.tenant, project, id).await?;
        let id = &self.change_rule_id(id);
        let applied = self.store.stop_rule(inner, &project, id).await?;
        if applied == Applied::Done(RuleStopped::Ok) {
            let of_project = (write.tenant.clone(), project.clone());
            self.note(|noted| *noted.stops.entry(of_project).or_default() += 1);
            let key = (write.tenant.clone(), id.clone());
            let half = self.is(Fault::StopInTwoSteps);
            self.note(|noted| {
                noted.rules_stopped.insert(key.clone(), write.now);
                half.then(|| noted.half_stopped.insert(key.clone()));
            });
            if half {
                tokio::task::yield_now().await;
                self.note(|noted| noted.half_stopped.remove(&key));
            }
        }
        Ok(applied)
    }

    async fn rule(
        &self,
        tenant: &TenantId,
        project: &ProjectId,
        id: &RuleId,
    ) -> StoreResult<Option<JudgingRule>> {
        let id = &self.change_rule_id(id);
        let project = &self.change_project(tenant, project, id).await?;
        let mut found = self.store.rule(tenant, project, id).await?;
        self.rule_reads.fetch_add(1, Ordering::SeqCst);
        if found.is_none() && self.is(Fault::RuleTenantIgnoredById) {
            for other in self.note(|noted| noted.tenants.clone()) {
                found = found.or(self.store.rule(&other, project, id).await?);
            }
        }
        let taken = self.taken(tenant, id);
        let latest = found.into_iter().chain(taken);
        Ok(latest.max_by_key(|rule| rule.version))
    }

    async fn rules(
        &self,
        tenant: &TenantId,
        project: &ProjectId,
        keyset: &Keyset,
    ) -> StoreResult<Slice<ListedRule>> {
        let mut inner = keyset.clone();
        if let Some(after) = &keyset.after {
            let id: RuleId = after.id.parse().unwrap();
            let row = self.store.rule(tenant, project, &id).await?;
            let lives = row.is_some_and(|rule| rule.unregistered_at.is_none());
            if self.is(Fault::CursorRuleMustLive) && !lives {
                let rows = Vec::new();
                return Ok(Slice { rows, more: false });
            }
            if self.is(Fault::RuleTiesSkipped) {
                inner.after = Some(Position {
                    at: after.at,
                    id: "\u{10ffff}".into(),
                });
            }
        }
        let mut page = self.store.rules(tenant, project, &inner).await?;
        if self.is(Fault::RulesOfAllProjects) {
            for other in self.note(|noted| noted.projects.clone()) {
                let others = self.store.rules(tenant, &other, &inner).await?.rows;
                page.rows.extend(others);
            }
            let place = |row: &ListedRule| (row.first_created_at, row.latest.id.clone());
            page.rows.sort_by_key(place);
            page.rows.dedup_by_key(|row| row.latest.id.clone());
            page.rows.truncate(keyset.limit.get().into());
        }
        let unlisted = self.note(|noted| noted.unlisted.clone());
        page.rows
            .retain(|row| !unlisted.contains(&(tenant.clone(), row.latest.id.clone())));
        let shown = match self.fault {
            Fault::StoppedRuleListed => {
                self.note(|noted| noted.rules_stopped.keys().cloned().collect())
            }
            _ => self.note(|noted| noted.half_stopped.clone()),
        };
        if !page.more {
            for (_, id) in shown.into_iter().filter(|(of, _)| of == tenant) {
                if let Some(latest) = self.store.rule(tenant, project, &id).await? {
                    let first_created_at = latest.created_at;
                    page.rows.push(ListedRule {
                        latest,
                        first_created_at,
                    });
                }
            }
        }
        match self.fault {
            Fault::RulesOrderedByLatest => page.rows.sort_by_key(|row| row.latest.created_at),
            Fault::RulesListedAsCreated => {
                for row in &mut page.rows {
                    let all = PageSize::new(100).unwrap();
                    let versions = self
                        .store
                        .rule_versions(tenant, project, &row.latest.id, Some(2), all)
                        .await?;
                    row.latest = versions.unwrap().rows.remove(0);
                }
            }
            _ => {}
        }
        self.change_page(&mut page, keyset.limit, |row| row.latest.id.as_str());
        Ok(page)
    }

    async fn rule_versions(
        &self,
        tenant: &TenantId,
        project: &ProjectId,
        id: &RuleId,
        before: Option<u32>,
        limit: PageSize,
    ) -> StoreResult<Option<Slice<JudgingRule>>> {
        let id = &self.change_rule_id(id);
        let project = &self.change_project(tenant, project, id).await?;
        let from = match before {
            Some(before) if self.is(Fault::VersionsFromBefore) => before.checked_add(1),
            _ => before,
        };
        let found = self
            .store
            .rule_versions(tenant, project, id, from, limit)
            .await?;
        let Some(mut page) = found else {
            return Ok(None);
        };
        let mut taken = self.taken(tenant, id);
        taken.retain(|rule| before.is_none_or(|before| rule.version < before));
        page.rows.extend(taken);
        page.rows
            .sort_by_key(|rule| std::cmp::Reverse(rule.version));
        self.change_versions(tenant, id, &mut page.rows);
        self.change_page(&mut page, limit, |rule| rule.id.as_str());
        Ok(Some(page))
    }

    async fn enabled_rules(
        &self,
        tenant: &TenantId,
        project: &ProjectId,
    ) -> StoreResult<EnabledRules> {
        let mut enabled = self.store.enabled_rules(tenant, project).await?;
        match self.fault {
            Fault::StopKeepsRevision => {
                let key = (tenant.clone(), project.clone());
                let stops = self.note(|noted| noted.stops.get(&key).copied());
                enabled.revision -= stops.unwrap_or_default();
            }
            Fault::DisabledRulesTold => {
                let all = Keyset {
                    after: None,
                    limit: PageSize::new(100).unwrap(),
                };
                let listed = self.store.rules(tenant, project, &all).await?.rows;
                enabled.rules = listed.into_iter().map(|row| row.latest).collect();
                enabled.rules.sort_by_key(|rule| rule.id.clone());
            }
            _ => {}
        }
        Ok(enabled)
    }

    async fn wanted_classes(
        &self,
        tenant: &TenantId,
        project: &ProjectId,
    ) -> StoreResult<Vec<JudgeClass>> {
        let mut wanted = self.store.wanted_classes(tenant, project).await?;
        if self.is(Fault::WantedClassesRetiredToo) {
            for id in self.note(|noted| noted.retired.clone()) {
                let class = self.store.class(tenant, &id).await?;
                wanted.extend(class.map(|class| class.value));
            }
        }
        Ok(wanted)
    }
}
