//! A store of one's own: a wrapper that is itself a store, and counts the calls to the one inside.
//!
//! A whole backend keeps the promises of [`kindgi_core::store`] on a database; a wrapper adds one
//! thing to a backend that does, such as metrics, logs or a cache, and must keep its promises.
//! Either is held to them by the same suite: see `tests/conformance.rs`.
//!
//! ```
//! use kindgi_core::{MemoryStore, store::Store};
//! use own_backend::{Call, Counted};
//!
//! let store = Counted::new(MemoryStore::new());
//! let calls = store.calls();
//! let _plug_it_in: &dyn Store = &store;
//! assert_eq!(calls.of(Call::Record).started, 0);
//! ```

use std::{
    num::NonZeroU16,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use async_trait::async_trait;
use kindgi_core::{
    Timestamp,
    model::{
        DismissReason, EndedRun, JudgeClass, JudgeClassId, JudgingRule, Judgment, JudgmentId,
        JudgmentWithCopies, PageSize, ParticipantId, PrincipalRef, ProjectId, QueueItem, Readable,
        RuleId, RunCopy, RunId, TenantId,
    },
    store::{
        Applied, Candidate, ClassAt, ClassCreated, ClassFilter, ClassReplaced, EnabledRules,
        ItemMoved, JudgeClassStore, JudgedRun, JudgedRunFilter, JudgingQueueStore,
        JudgingRuleStore, JudgmentFilter, JudgmentRemoved, JudgmentStore, Keyset, KnownOperation,
        Lifecycle, ListedRule, NewJudgment, Operation, OperationStore, PurgePosition, Purged,
        QueueFilter, QueueSlice, Receipt, Recorded, Revised, RuleAppended, RuleResults,
        RuleStopped, Slice, StoreResult, Taken, Write,
    },
};

/// A store's methods.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Call {
    /// [`JudgmentStore::record`]
    Record,
    /// [`JudgmentStore::remove`]
    Remove,
    /// [`JudgmentStore::judgment`]
    Judgment,
    /// [`JudgmentStore::judgments`]
    Judgments,
    /// [`JudgeClassStore::create_class`]
    CreateClass,
    /// [`JudgeClassStore::replace_class`]
    ReplaceClass,
    /// [`JudgeClassStore::class`]
    Class,
    /// [`JudgeClassStore::classes`]
    Classes,
    /// [`JudgingRuleStore::append_rule_version`]
    AppendRuleVersion,
    /// [`JudgingRuleStore::stop_rule`]
    StopRule,
    /// [`JudgingRuleStore::rule`]
    Rule,
    /// [`JudgingRuleStore::rules`]
    Rules,
    /// [`JudgingRuleStore::rule_versions`]
    RuleVersions,
    /// [`JudgingRuleStore::enabled_rules`]
    EnabledRules,
    /// [`JudgingRuleStore::wanted_classes`]
    WantedClasses,
    /// [`JudgingQueueStore::take`]
    Take,
    /// [`JudgingQueueStore::dismiss`]
    Dismiss,
    /// [`JudgingQueueStore::reopen`]
    Reopen,
    /// [`JudgingQueueStore::queue_item`]
    QueueItem,
    /// [`JudgingQueueStore::queue`]
    Queue,
    /// [`JudgingQueueStore::rule_results`]
    RuleResults,
    /// [`OperationStore::receipt`]
    Receipt,
    /// [`OperationStore::keep`]
    Keep,
    /// [`Lifecycle::erase_run`]
    EraseRun,
    /// [`Lifecycle::is_erased`]
    IsErased,
    /// [`Lifecycle::erase_participant`]
    EraseParticipant,
    /// [`Lifecycle::purge`]
    Purge,
    /// [`Lifecycle::judged_runs`]
    JudgedRuns,
}

/// How many calls of a method there were.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// Begun, also those that were dropped before their end.
    pub started: u64,
    /// Ended with a [`StoreError`](kindgi_core::StoreError): the store's trouble, not a refusal.
    pub failed: u64,
}

/// The calls so far. Clones share them. A real host would hand them to its metrics.
#[derive(Clone, Debug, Default)]
pub struct Calls(Arc<[Counter; Call::JudgedRuns as usize + 1]>);

#[derive(Debug, Default)]
struct Counter {
    started: AtomicU64,
    failed: AtomicU64,
}

impl Calls {
    /// Those of one method.
    pub fn of(&self, call: Call) -> Count {
        let counter = self.counter(call);
        Count {
            started: counter.map_or(0, |c| c.started.load(Ordering::Relaxed)),
            failed: counter.map_or(0, |c| c.failed.load(Ordering::Relaxed)),
        }
    }

    fn counter(&self, call: Call) -> Option<&Counter> {
        self.0.get(call as usize)
    }
}

/// A store that counts the calls to another.
#[derive(Clone, Debug)]
pub struct Counted<S> {
    inner: S,
    calls: Calls,
}

impl<S> Counted<S> {
    /// Counts the calls to this store.
    pub fn new(inner: S) -> Self {
        let calls = Calls::default();
        Self { inner, calls }
    }

    /// The calls so far, and to come.
    pub fn calls(&self) -> Calls {
        self.calls.clone()
    }

    /// Nothing is kept across the await but the count itself, so a dropped future leaves nothing
    /// behind: the inner store's promise stays whole.
    async fn count<T>(
        &self,
        call: Call,
        result: impl Future<Output = StoreResult<T>>,
    ) -> StoreResult<T> {
        let counter = self.calls.counter(call);
        if let Some(counter) = counter {
            counter.started.fetch_add(1, Ordering::Relaxed);
        }
        let result = result.await;
        if let (Some(counter), Err(_)) = (counter, &result) {
            counter.failed.fetch_add(1, Ordering::Relaxed);
        }
        result
    }
}

#[async_trait]
impl<S: JudgmentStore> JudgmentStore for Counted<S> {
    async fn record(
        &self,
        write: Write<'_>,
        new: &NewJudgment,
        copy: Option<&RunCopy>,
        class: Option<ClassAt<'_>>,
    ) -> StoreResult<Applied<Recorded>> {
        self.count(Call::Record, self.inner.record(write, new, copy, class))
            .await
    }

    async fn remove(
        &self,
        write: Write<'_>,
        id: &JudgmentId,
    ) -> StoreResult<Applied<JudgmentRemoved>> {
        self.count(Call::Remove, self.inner.remove(write, id)).await
    }

    async fn judgment(
        &self,
        tenant: &TenantId,
        id: &JudgmentId,
    ) -> StoreResult<Option<JudgmentWithCopies>> {
        self.count(Call::Judgment, self.inner.judgment(tenant, id))
            .await
    }

    async fn judgments(
        &self,
        tenant: &TenantId,
        filter: &JudgmentFilter,
        readable: &Readable,
        keyset: &Keyset,
    ) -> StoreResult<Slice<Judgment>> {
        self.count(
            Call::Judgments,
            self.inner.judgments(tenant, filter, readable, keyset),
        )
        .await
    }
}

#[async_trait]
impl<S: JudgeClassStore> JudgeClassStore for Counted<S> {
    async fn create_class(
        &self,
        write: Write<'_>,
        class: &JudgeClass,
    ) -> StoreResult<Applied<ClassCreated>> {
        self.count(Call::CreateClass, self.inner.create_class(write, class))
            .await
    }

    async fn replace_class(
        &self,
        write: Write<'_>,
        at: u64,
        next: &JudgeClass,
    ) -> StoreResult<Applied<ClassReplaced>> {
        self.count(
            Call::ReplaceClass,
            self.inner.replace_class(write, at, next),
        )
        .await
    }

    async fn class(
        &self,
        tenant: &TenantId,
        id: &JudgeClassId,
    ) -> StoreResult<Option<Revised<JudgeClass>>> {
        self.count(Call::Class, self.inner.class(tenant, id)).await
    }

    async fn classes(
        &self,
        tenant: &TenantId,
        filter: &ClassFilter,
        readable: &Readable,
        keyset: &Keyset,
    ) -> StoreResult<Slice<JudgeClass>> {
        self.count(
            Call::Classes,
            self.inner.classes(tenant, filter, readable, keyset),
        )
        .await
    }
}

#[async_trait]
impl<S: JudgingRuleStore> JudgingRuleStore for Counted<S> {
    async fn append_rule_version(
        &self,
        write: Write<'_>,
        next: &JudgingRule,
        class: Option<ClassAt<'_>>,
    ) -> StoreResult<Applied<RuleAppended>> {
        self.count(
            Call::AppendRuleVersion,
            self.inner.append_rule_version(write, next, class),
        )
        .await
    }

    async fn stop_rule(
        &self,
        write: Write<'_>,
        project: &ProjectId,
        id: &RuleId,
    ) -> StoreResult<Applied<RuleStopped>> {
        self.count(Call::StopRule, self.inner.stop_rule(write, project, id))
            .await
    }

    async fn rule(
        &self,
        tenant: &TenantId,
        project: &ProjectId,
        id: &RuleId,
    ) -> StoreResult<Option<JudgingRule>> {
        self.count(Call::Rule, self.inner.rule(tenant, project, id))
            .await
    }

    async fn rules(
        &self,
        tenant: &TenantId,
        project: &ProjectId,
        keyset: &Keyset,
    ) -> StoreResult<Slice<ListedRule>> {
        self.count(Call::Rules, self.inner.rules(tenant, project, keyset))
            .await
    }

    async fn rule_versions(
        &self,
        tenant: &TenantId,
        project: &ProjectId,
        id: &RuleId,
        before: Option<u32>,
        limit: PageSize,
    ) -> StoreResult<Option<Slice<JudgingRule>>> {
        self.count(
            Call::RuleVersions,
            self.inner.rule_versions(tenant, project, id, before, limit),
        )
        .await
    }

    async fn enabled_rules(
        &self,
        tenant: &TenantId,
        project: &ProjectId,
    ) -> StoreResult<EnabledRules> {
        self.count(
            Call::EnabledRules,
            self.inner.enabled_rules(tenant, project),
        )
        .await
    }

    async fn wanted_classes(
        &self,
        tenant: &TenantId,
        project: &ProjectId,
    ) -> StoreResult<Vec<JudgeClass>> {
        self.count(
            Call::WantedClasses,
            self.inner.wanted_classes(tenant, project),
        )
        .await
    }
}

#[async_trait]
impl<S: JudgingQueueStore> JudgingQueueStore for Counted<S> {
    async fn take(
        &self,
        write: Write<'_>,
        run: &EndedRun,
        rules: u64,
        candidates: &[Candidate],
    ) -> StoreResult<Taken> {
        self.count(Call::Take, self.inner.take(write, run, rules, candidates))
            .await
    }

    async fn dismiss(
        &self,
        write: Write<'_>,
        project: &ProjectId,
        run: &RunId,
        by: &PrincipalRef,
        reason: Option<&DismissReason>,
    ) -> StoreResult<Applied<ItemMoved>> {
        self.count(
            Call::Dismiss,
            self.inner.dismiss(write, project, run, by, reason),
        )
        .await
    }

    async fn reopen(
        &self,
        write: Write<'_>,
        project: &ProjectId,
        run: &RunId,
        by: &PrincipalRef,
    ) -> StoreResult<Applied<ItemMoved>> {
        self.count(Call::Reopen, self.inner.reopen(write, project, run, by))
            .await
    }

    async fn queue_item(
        &self,
        tenant: &TenantId,
        project: &ProjectId,
        run: &RunId,
    ) -> StoreResult<Option<QueueItem>> {
        self.count(Call::QueueItem, self.inner.queue_item(tenant, project, run))
            .await
    }

    async fn queue(
        &self,
        tenant: &TenantId,
        project: &ProjectId,
        filter: &QueueFilter,
        keyset: Option<&Keyset>,
    ) -> StoreResult<QueueSlice> {
        self.count(
            Call::Queue,
            self.inner.queue(tenant, project, filter, keyset),
        )
        .await
    }

    async fn rule_results(
        &self,
        tenant: &TenantId,
        project: &ProjectId,
        rule: &RuleId,
        since: Option<Timestamp>,
    ) -> StoreResult<Option<RuleResults>> {
        self.count(
            Call::RuleResults,
            self.inner.rule_results(tenant, project, rule, since),
        )
        .await
    }
}

#[async_trait]
impl<S: OperationStore> OperationStore for Counted<S> {
    async fn receipt(
        &self,
        tenant: &TenantId,
        now: Timestamp,
        operation: Operation<'_>,
    ) -> StoreResult<Option<KnownOperation>> {
        self.count(Call::Receipt, self.inner.receipt(tenant, now, operation))
            .await
    }

    async fn keep(&self, write: Write<'_>, receipt: &Receipt) -> StoreResult<Applied<Receipt>> {
        self.count(Call::Keep, self.inner.keep(write, receipt))
            .await
    }
}

#[async_trait]
impl<S: Lifecycle> Lifecycle for Counted<S> {
    async fn erase_run(&self, write: Write<'_>, run: &RunId) -> StoreResult<()> {
        self.count(Call::EraseRun, self.inner.erase_run(write, run))
            .await
    }

    async fn is_erased(&self, tenant: &TenantId, run: &RunId) -> StoreResult<bool> {
        self.count(Call::IsErased, self.inner.is_erased(tenant, run))
            .await
    }

    async fn erase_participant(
        &self,
        write: Write<'_>,
        participant: &ParticipantId,
        pseudonym: &ParticipantId,
    ) -> StoreResult<u64> {
        self.count(
            Call::EraseParticipant,
            self.inner.erase_participant(write, participant, pseudonym),
        )
        .await
    }

    async fn purge(
        &self,
        write: Write<'_>,
        before: Timestamp,
        from: Option<&PurgePosition>,
        limit: NonZeroU16,
    ) -> StoreResult<Purged> {
        self.count(Call::Purge, self.inner.purge(write, before, from, limit))
            .await
    }

    async fn judged_runs(
        &self,
        tenant: &TenantId,
        filter: &JudgedRunFilter,
        keyset: &Keyset,
    ) -> StoreResult<Slice<JudgedRun>> {
        self.count(
            Call::JudgedRuns,
            self.inner.judged_runs(tenant, filter, keyset),
        )
        .await
    }
}
