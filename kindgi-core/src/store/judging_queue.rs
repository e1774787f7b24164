//! What a backend promises for the judging queue.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use async_trait::async_trait;

use super::{Applied, Keyset, Slice, StoreResult, Write};
use crate::{
    clock::Timestamp,
    model::{
        AgentId, DismissReason, EndedRun, ItemState, JudgeClassId, JudgingRule, MaxOpen,
        PrincipalRef, ProjectId, QueueItem, RuleId, RunId, TenantId, Weight,
    },
    rules::results::Counted,
};

/// The queues of a tenant's projects.
///
/// How an item moves is said in [`rules::queue_state`](crate::rules::queue_state), whose functions
/// a backend may use. Items also move in
/// [`record`](super::JudgmentStore::record), [`remove`](super::JudgmentStore::remove),
/// [`erase_run`](super::Lifecycle::erase_run) and [`purge`](super::Lifecycle::purge), each in the
/// same step as the rest.
#[async_trait]
pub trait JudgingQueueStore: Send + Sync + 'static {
    /// Tells the rules of a run that ended: each candidate takes it or skips it, once and for
    /// all.
    ///
    /// In this order, in one step:
    ///
    /// 1. the run was erased: [`Taken::RunErased`];
    /// 2. a rule took or skipped it before: [`Taken::Known`];
    /// 3. it ended before what was [purged](super::Lifecycle::purge) of the tenant:
    ///    [`Taken::BeforePurge`];
    /// 4. the project's rules aren't at revision `rules` any more, see
    ///    [`enabled_rules`](super::JudgingRuleStore::enabled_rules): [`Taken::RulesChanged`];
    /// 5. each candidate takes the run, unless it has as many open items as it may have: then it
    ///    is kept that this version of the rule skipped this run, and when. The open items of a
    ///    rule are those that any version of it took;
    /// 6. if one took it, the run is [queued](crate::rules::queue_state::queued) with those that
    ///    did, at `now`.
    ///
    /// `candidates` are the rules at that revision that match the run and sampled it, at least
    /// one. The write's operation is not used: telling a run again changes nothing by itself.
    async fn take(
        &self,
        write: Write<'_>,
        run: &EndedRun,
        rules: u64,
        candidates: &[Candidate],
    ) -> StoreResult<Taken>;

    /// [Dismisses](crate::rules::queue_state::dismissed) an open item of the project.
    async fn dismiss(
        &self,
        write: Write<'_>,
        project: &ProjectId,
        run: &RunId,
        by: &PrincipalRef,
        reason: Option<&DismissReason>,
    ) -> StoreResult<Applied<ItemMoved>>;

    /// [Reopens](crate::rules::queue_state::reopened) a dismissed item of the project, whatever
    /// its rules' caps say.
    async fn reopen(
        &self,
        write: Write<'_>,
        project: &ProjectId,
        run: &RunId,
        by: &PrincipalRef,
    ) -> StoreResult<Applied<ItemMoved>>;

    /// A run's item, if it has one in the project.
    async fn queue_item(
        &self,
        tenant: &TenantId,
        project: &ProjectId,
        run: &RunId,
    ) -> StoreResult<Option<QueueItem>>;

    /// The items of a project that match, oldest first: `added_at`, then the run's id, both
    /// ascending, the id compared bytewise; and how many there are on all pages together. Without
    /// a keyset, only how many.
    ///
    /// Under a state alone, or without any filter, neither a page nor the number may take longer
    /// the more items are in other states.
    async fn queue(
        &self,
        tenant: &TenantId,
        project: &ProjectId,
        filter: &QueueFilter,
        keyset: Option<&Keyset>,
    ) -> StoreResult<QueueSlice>;

    /// What came of a rule's runs that were told since an instant (that one included), or ever:
    /// for each of its versions and each agent version, in the order of
    /// [`Counted::place`]. `None` if there is no such rule in the project.
    async fn rule_results(
        &self,
        tenant: &TenantId,
        project: &ProjectId,
        rule: &RuleId,
        since: Option<Timestamp>,
    ) -> StoreResult<Option<RuleResults>>;
}

/// A rule that matches a run and sampled it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// The rule.
    pub rule: RuleId,
    /// Its latest version.
    pub version: u32,
    /// How many open items it may have.
    pub max_open: Option<MaxOpen>,
    /// Whose judgment it wants; `None` for anyone's.
    pub wants: Option<JudgeClassId>,
}

impl From<&JudgingRule> for Candidate {
    fn from(rule: &JudgingRule) -> Self {
        Self {
            rule: rule.id.clone(),
            version: rule.version,
            max_open: rule.max_open,
            wants: rule.class.clone(),
        }
    }
}

/// What became of telling the rules of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Taken {
    /// It is queued.
    Queued(Box<QueueItem>),
    /// Every candidate skipped it because of its cap; that is kept.
    AllSkipped,
    /// It was taken or skipped before; nothing changed.
    Known,
    /// Its content was erased; nothing changed.
    RunErased,
    /// It ended before what was purged, so that it may have been queued and purged; nothing
    /// changed.
    BeforePurge,
    /// The project's rules changed: decide again.
    RulesChanged,
}

/// What became of moving an item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ItemMoved {
    /// It moved.
    Ok(Box<QueueItem>),
    /// It can't from the state it is in.
    Not(ItemState),
    /// The run has no item in the project.
    Missing,
}

/// Which items. Every part that is set must hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QueueFilter {
    /// In this state.
    pub state: Option<ItemState>,
    /// Of this agent's own runs; an erased item shows none.
    pub agent: Option<AgentId>,
    /// Taken by any version of this rule.
    pub rule: Option<RuleId>,
    /// Wanting this class's judgment.
    pub wants: Option<JudgeClassId>,
    /// Wanting any judgment, or that of one of these classes.
    pub wants_any_or: Option<BTreeSet<JudgeClassId>>,
    /// Queued at that instant or later.
    pub added_after: Option<Timestamp>,
    /// Closed at that instant or later.
    pub closed_after: Option<Timestamp>,
}

impl QueueFilter {
    /// Whether an item matches.
    pub fn matches(&self, item: &QueueItem) -> bool {
        let agent = item.agent.as_ref().map(|(agent, _)| agent);
        let wanted = |classes: &BTreeSet<JudgeClassId>| {
            item.wants_any()
                || item
                    .wanted_classes()
                    .into_iter()
                    .any(|class| classes.contains(class))
        };
        self.state.is_none_or(|state| item.state == state)
            && self.agent.as_ref().is_none_or(|it| agent == Some(it))
            && self
                .rule
                .as_ref()
                .is_none_or(|rule| item.taken_by.iter().any(|by| by.rule == *rule))
            && self
                .wants
                .as_ref()
                .is_none_or(|class| item.wanted_classes().contains(class))
            && self.wants_any_or.as_ref().is_none_or(wanted)
            && self.added_after.is_none_or(|at| item.added_at >= at)
            && self
                .closed_after
                .is_none_or(|at| item.closed_at.is_some_and(|closed| closed >= at))
    }
}

/// Some items of a queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueueSlice {
    /// The items after the keyset's position.
    pub slice: Slice<QueueItem>,
    /// How many match, before that position and after it.
    pub total: u64,
}

/// What came of a rule's runs.
#[derive(Clone, Debug, PartialEq)]
pub struct RuleResults {
    /// What there is to count.
    pub counted: Vec<Counted>,
    /// The current weight of each class that is counted, retired or not.
    pub weights: BTreeMap<JudgeClassId, Weight>,
}

#[async_trait]
impl<T: JudgingQueueStore + ?Sized> JudgingQueueStore for Arc<T> {
    async fn take(
        &self,
        write: Write<'_>,
        run: &EndedRun,
        rules: u64,
        candidates: &[Candidate],
    ) -> StoreResult<Taken> {
        (**self).take(write, run, rules, candidates).await
    }

    async fn dismiss(
        &self,
        write: Write<'_>,
        project: &ProjectId,
        run: &RunId,
        by: &PrincipalRef,
        reason: Option<&DismissReason>,
    ) -> StoreResult<Applied<ItemMoved>> {
        (**self).dismiss(write, project, run, by, reason).await
    }

    async fn reopen(
        &self,
        write: Write<'_>,
        project: &ProjectId,
        run: &RunId,
        by: &PrincipalRef,
    ) -> StoreResult<Applied<ItemMoved>> {
        (**self).reopen(write, project, run, by).await
    }

    async fn queue_item(
        &self,
        tenant: &TenantId,
        project: &ProjectId,
        run: &RunId,
    ) -> StoreResult<Option<QueueItem>> {
        (**self).queue_item(tenant, project, run).await
    }

    async fn queue(
        &self,
        tenant: &TenantId,
        project: &ProjectId,
        filter: &QueueFilter,
        keyset: Option<&Keyset>,
    ) -> StoreResult<QueueSlice> {
        (**self).queue(tenant, project, filter, keyset).await
    }

    async fn rule_results(
        &self,
        tenant: &TenantId,
        project: &ProjectId,
        rule: &RuleId,
        since: Option<Timestamp>,
    ) -> StoreResult<Option<RuleResults>> {
        (**self).rule_results(tenant, project, rule, since).await
    }
}
