//! What a backend promises for judging rules.

use std::sync::Arc;

use async_trait::async_trait;

use super::{Applied, ClassAt, Keyset, Slice, StoreResult, Write};
use crate::{
    clock::Timestamp,
    model::{JudgeClass, JudgingRule, PageSize, ProjectId, RuleId, TenantId},
};

/// Judging rules and their versions, which are numbered from 1.
#[async_trait]
pub trait JudgingRuleStore: Send + Sync + 'static {
    /// Appends a version to a rule, or creates the rule.
    ///
    /// In this order, in one step:
    ///
    /// 1. the operation is known: [`Applied::Replayed`] or [`Applied::OtherBody`];
    /// 2. `next` is version 1: it creates the rule, which has an id that no other of its tenant
    ///    has. Else the rule lives in its project, or [`RuleAppended::NotLive`], and its latest
    ///    version is the one before `next`'s, or [`RuleAppended::Stale`];
    /// 3. `class` is given and isn't at that revision: [`RuleAppended::ClassChanged`];
    /// 4. the version is stored. Its `created_at` is moved up to that of the version before if it
    ///    would be before it. The revision of the project's rules moves;
    /// 5. the operation is kept, with its outcome.
    ///
    /// So versions are 1, 2, 3, … without gap or repeat, whoever writes at once.
    async fn append_rule_version(
        &self,
        write: Write<'_>,
        next: &JudgingRule,
        class: Option<ClassAt<'_>>,
    ) -> StoreResult<Applied<RuleAppended>>;

    /// Stops a live rule: all its versions get `unregistered_at` (`now`, or the latest version's
    /// `created_at` if that is later), and it is never listed again. The revision of the project's
    /// rules moves.
    async fn stop_rule(
        &self,
        write: Write<'_>,
        project: &ProjectId,
        id: &RuleId,
    ) -> StoreResult<Applied<RuleStopped>>;

    /// A rule's latest version, live or stopped.
    async fn rule(
        &self,
        tenant: &TenantId,
        project: &ProjectId,
        id: &RuleId,
    ) -> StoreResult<Option<JudgingRule>>;

    /// The latest versions of the project's live rules, oldest first: version 1's `created_at`,
    /// then the rule's id, both ascending, the id compared bytewise.
    async fn rules(
        &self,
        tenant: &TenantId,
        project: &ProjectId,
        keyset: &Keyset,
    ) -> StoreResult<Slice<ListedRule>>;

    /// A rule's versions before a version (all, if none is given), newest first; `None` if there
    /// is no such rule in the project.
    async fn rule_versions(
        &self,
        tenant: &TenantId,
        project: &ProjectId,
        id: &RuleId,
        before: Option<u32>,
        limit: PageSize,
    ) -> StoreResult<Option<Slice<JudgingRule>>>;

    /// The rules that take a project's runs as they end, and the revision of the project's rules.
    async fn enabled_rules(
        &self,
        tenant: &TenantId,
        project: &ProjectId,
    ) -> StoreResult<EnabledRules>;

    /// The live classes that any version of any of the project's rules wants, stopped rules'
    /// too, by their ids, compared bytewise: whose judgment an item of the queue may want.
    async fn wanted_classes(
        &self,
        tenant: &TenantId,
        project: &ProjectId,
    ) -> StoreResult<Vec<JudgeClass>>;
}

/// The rules that a project's runs are told to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EnabledRules {
    /// 0 at first, and 1 more with each time that a rule of the project is created, changed or
    /// stopped.
    pub revision: u64,
    /// The latest versions of the live rules that are enabled, by their ids, compared bytewise.
    pub rules: Vec<JudgingRule>,
}

/// A rule in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedRule {
    /// Its latest version.
    pub latest: JudgingRule,
    /// When its first version was written, which the list is ordered by.
    pub first_created_at: Timestamp,
}

/// What became of appending a version to a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RuleAppended {
    /// It is stored, and is the latest.
    Ok(Box<JudgingRule>),
    /// The rule has a later version: decide again.
    Stale,
    /// There is no such rule in the project, or it is stopped.
    NotLive,
    /// The judge class isn't at the given revision any more: decide again.
    ClassChanged,
}

/// What became of stopping a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RuleStopped {
    /// It lived, and takes no more runs.
    Ok,
    /// There is no such rule in the project, or it was stopped before.
    NotLive,
}

#[async_trait]
impl<T: JudgingRuleStore + ?Sized> JudgingRuleStore for Arc<T> {
    async fn append_rule_version(
        &self,
        write: Write<'_>,
        next: &JudgingRule,
        class: Option<ClassAt<'_>>,
    ) -> StoreResult<Applied<RuleAppended>> {
        (**self).append_rule_version(write, next, class).await
    }

    async fn stop_rule(
        &self,
        write: Write<'_>,
        project: &ProjectId,
        id: &RuleId,
    ) -> StoreResult<Applied<RuleStopped>> {
        (**self).stop_rule(write, project, id).await
    }

    async fn rule(
        &self,
        tenant: &TenantId,
        project: &ProjectId,
        id: &RuleId,
    ) -> StoreResult<Option<JudgingRule>> {
        (**self).rule(tenant, project, id).await
    }

    async fn rules(
        &self,
        tenant: &TenantId,
        project: &ProjectId,
        keyset: &Keyset,
    ) -> StoreResult<Slice<ListedRule>> {
        (**self).rules(tenant, project, keyset).await
    }

    async fn rule_versions(
        &self,
        tenant: &TenantId,
        project: &ProjectId,
        id: &RuleId,
        before: Option<u32>,
        limit: PageSize,
    ) -> StoreResult<Option<Slice<JudgingRule>>> {
        (**self)
            .rule_versions(tenant, project, id, before, limit)
            .await
    }

    async fn enabled_rules(
        &self,
        tenant: &TenantId,
        project: &ProjectId,
    ) -> StoreResult<EnabledRules> {
        (**self).enabled_rules(tenant, project).await
    }

    async fn wanted_classes(
        &self,
        tenant: &TenantId,
        project: &ProjectId,
    ) -> StoreResult<Vec<JudgeClass>> {
        (**self).wanted_classes(tenant, project).await
    }
}
