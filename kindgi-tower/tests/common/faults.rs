//! Trouble on purpose: at any method of the host's or the store's.

use std::{
    collections::HashMap,
    num::NonZeroU16,
    panic::resume_unwind,
    sync::{Arc, Mutex},
};

use async_trait::async_trait;
use kindgi_core::{
    HostError, MemoryStore, StoreError, Timestamp,
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
use tokio::sync::Semaphore;

/// What happens at a method instead of what should.
#[derive(Clone)]
pub(crate) enum Trouble {
    Fails,
    Busy,
    TooLarge,
    Panics,
    /// Nothing, but later.
    Waits(Gate),
}

/// Where calls wait until a test lets them through.
#[derive(Clone)]
pub(crate) struct Gate(Arc<(Semaphore, Semaphore)>);

impl Gate {
    pub(crate) fn closed() -> Self {
        Self(Arc::new((Semaphore::new(0), Semaphore::new(0))))
    }

    async fn pass(&self) {
        let (arrived, open) = &*self.0;
        arrived.add_permits(1);
        open.acquire().await.unwrap().forget();
    }

    /// Waits until one more call has come to the gate.
    pub(crate) async fn arrival(&self) {
        self.0.0.acquire().await.unwrap().forget();
    }

    /// Whether a call has come that nobody waited for.
    pub(crate) fn has_arrival(&self) -> bool {
        self.0.0.available_permits() > 0
    }

    /// Lets one call through.
    pub(crate) fn let_through(&self) {
        self.0.1.add_permits(1);
    }
}

/// Which methods have trouble, and how often each was called.
#[derive(Clone, Default)]
pub(crate) struct Faults(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    troubles: HashMap<&'static str, Trouble>,
    calls: HashMap<&'static str, usize>,
}

impl Faults {
    pub(crate) fn set(&self, method: &'static str, trouble: Trouble) {
        self.0.lock().unwrap().troubles.insert(method, trouble);
    }

    pub(crate) fn clear(&self) {
        self.0.lock().unwrap().troubles.clear();
    }

    pub(crate) fn calls(&self, method: &str) -> usize {
        self.0
            .lock()
            .unwrap()
            .calls
            .get(method)
            .copied()
            .unwrap_or(0)
    }

    async fn meet(&self, method: &'static str) -> Result<(), Trouble> {
        let trouble = {
            let mut state = self.0.lock().unwrap();
            *state.calls.entry(method).or_default() += 1;
            state.troubles.get(method).cloned()
        };
        match trouble {
            None => Ok(()),
            Some(Trouble::Waits(gate)) => {
                gate.pass().await;
                Ok(())
            }
            // Without the hook's message on the test's output.
            Some(Trouble::Panics) => resume_unwind(Box::new("on purpose")),
            Some(trouble) => Err(trouble),
        }
    }

    pub(crate) async fn host(&self, method: &'static str) -> Result<(), HostError> {
        self.meet(method).await.map_err(|trouble| match trouble {
            Trouble::Busy => HostError::busy("secret of the host"),
            _ => HostError::new("secret of the host"),
        })
    }

    pub(crate) async fn store(&self, method: &'static str) -> StoreResult<()> {
        self.meet(method).await.map_err(|trouble| match trouble {
            Trouble::Busy => StoreError::busy("secret of the store"),
            Trouble::TooLarge => StoreError::too_large("secret of the store"),
            _ => StoreError::other("secret of the store"),
        })
    }
}

/// The store in memory, with trouble.
pub(crate) struct FaultyStore {
    inner: MemoryStore,
    faults: Faults,
}

impl FaultyStore {
    pub(crate) fn new(inner: MemoryStore, faults: Faults) -> Self {
        Self { inner, faults }
    }
}

#[async_trait]
impl JudgmentStore for FaultyStore {
    async fn record(
        &self,
        write: Write<'_>,
        new: &NewJudgment,
        copy: Option<&RunCopy>,
        class: Option<ClassAt<'_>>,
    ) -> StoreResult<Applied<Recorded>> {
        self.faults.store("record").await?;
        let recorded = self.inner.record(write, new, copy, class).await?;
        // After it took effect.
        self.faults.store("recorded").await?;
        Ok(recorded)
    }

    async fn remove(
        &self,
        write: Write<'_>,
        id: &JudgmentId,
    ) -> StoreResult<Applied<JudgmentRemoved>> {
        self.faults.store("remove").await?;
        self.inner.remove(write, id).await
    }

    async fn judgment(
        &self,
        tenant: &TenantId,
        id: &JudgmentId,
    ) -> StoreResult<Option<JudgmentWithCopies>> {
        self.faults.store("judgment").await?;
        self.inner.judgment(tenant, id).await
    }

    async fn judgments(
        &self,
        tenant: &TenantId,
        filter: &JudgmentFilter,
        readable: &Readable,
        keyset: &Keyset,
    ) -> StoreResult<Slice<Judgment>> {
        self.faults.store("judgments").await?;
        self.inner.judgments(tenant, filter, readable, keyset).await
    }
}

#[async_trait]
impl JudgeClassStore for FaultyStore {
    async fn create_class(
        &self,
        write: Write<'_>,
        class: &JudgeClass,
    ) -> StoreResult<Applied<ClassCreated>> {
        self.faults.store("create_class").await?;
        self.inner.create_class(write, class).await
    }

    async fn replace_class(
        &self,
        write: Write<'_>,
        at: u64,
        next: &JudgeClass,
    ) -> StoreResult<Applied<ClassReplaced>> {
        self.faults.store("replace_class").await?;
        self.inner.replace_class(write, at, next).await
    }

    async fn class(
        &self,
        tenant: &TenantId,
        id: &JudgeClassId,
    ) -> StoreResult<Option<Revised<JudgeClass>>> {
        self.faults.store("class").await?;
        self.inner.class(tenant, id).await
    }

    async fn classes(
        &self,
        tenant: &TenantId,
        filter: &ClassFilter,
        readable: &Readable,
        keyset: &Keyset,
    ) -> StoreResult<Slice<JudgeClass>> {
        self.faults.store("classes").await?;
        self.inner.classes(tenant, filter, readable, keyset).await
    }
}

#[async_trait]
impl JudgingRuleStore for FaultyStore {
    async fn append_rule_version(
        &self,
        write: Write<'_>,
        next: &JudgingRule,
        class: Option<ClassAt<'_>>,
    ) -> StoreResult<Applied<RuleAppended>> {
        self.faults.store("append_rule_version").await?;
        self.inner.append_rule_version(write, next, class).await
    }

    async fn stop_rule(
        &self,
        write: Write<'_>,
        project: &ProjectId,
        id: &RuleId,
    ) -> StoreResult<Applied<RuleStopped>> {
        self.faults.store("stop_rule").await?;
        self.inner.stop_rule(write, project, id).await
    }

    async fn rule(
        &self,
        tenant: &TenantId,
        project: &ProjectId,
        id: &RuleId,
    ) -> StoreResult<Option<JudgingRule>> {
        self.faults.store("rule").await?;
        self.inner.rule(tenant, project, id).await
    }

    async fn rules(
        &self,
        tenant: &TenantId,
        project: &ProjectId,
        keyset: &Keyset,
    ) -> StoreResult<Slice<ListedRule>> {
        self.faults.store("rules").await?;
        self.inner.rules(tenant, project, keyset).await
    }

    async fn rule_versions(
        &self,
        tenant: &TenantId,
        project: &ProjectId,
        id: &RuleId,
        before: Option<u32>,
        limit: PageSize,
    ) -> StoreResult<Option<Slice<JudgingRule>>> {
        self.faults.store("rule_versions").await?;
        let inner = &self.inner;
        inner
            .rule_versions(tenant, project, id, before, limit)
            .await
    }

    async fn enabled_rules(
        &self,
        tenant: &TenantId,
        project: &ProjectId,
    ) -> StoreResult<EnabledRules> {
        self.faults.store("enabled_rules").await?;
        self.inner.enabled_rules(tenant, project).await
    }

    async fn wanted_classes(
        &self,
        tenant: &TenantId,
        project: &ProjectId,
    ) -> StoreResult<Vec<JudgeClass>> {
        self.faults.store("wanted_classes").await?;
        self.inner.wanted_classes(tenant, project).await
    }
}

#[async_trait]
impl JudgingQueueStore for FaultyStore {
    async fn take(
        &self,
        write: Write<'_>,
        run: &EndedRun,
        rules: u64,
        candidates: &[Candidate],
    ) -> StoreResult<Taken> {
        self.faults.store("take").await?;
        self.inner.take(write, run, rules, candidates).await
    }

    async fn dismiss(
        &self,
        write: Write<'_>,
        project: &ProjectId,
        run: &RunId,
        by: &PrincipalRef,
        reason: Option<&DismissReason>,
    ) -> StoreResult<Applied<ItemMoved>> {
        self.faults.store("dismiss").await?;
        self.inner.dismiss(write, project, run, by, reason).await
    }

    async fn reopen(
        &self,
        write: Write<'_>,
        project: &ProjectId,
        run: &RunId,
        by: &PrincipalRef,
    ) -> StoreResult<Applied<ItemMoved>> {
        self.faults.store("reopen").await?;
        self.inner.reopen(write, project, run, by).await
    }

    async fn queue_item(
        &self,
        tenant: &TenantId,
        project: &ProjectId,
        run: &RunId,
    ) -> StoreResult<Option<QueueItem>> {
        self.faults.store("queue_item").await?;
        self.inner.queue_item(tenant, project, run).await
    }

    async fn queue(
        &self,
        tenant: &TenantId,
        project: &ProjectId,
        filter: &QueueFilter,
        keyset: Option<&Keyset>,
    ) -> StoreResult<QueueSlice> {
        self.faults.store("queue").await?;
        self.inner.queue(tenant, project, filter, keyset).await
    }

    async fn rule_results(
        &self,
        tenant: &TenantId,
        project: &ProjectId,
        rule: &RuleId,
        since: Option<Timestamp>,
    ) -> StoreResult<Option<RuleResults>> {
        self.faults.store("rule_results").await?;
        self.inner.rule_results(tenant, project, rule, since).await
    }
}

#[async_trait]
impl Lifecycle for FaultyStore {
    async fn erase_run(&self, write: Write<'_>, run: &RunId) -> StoreResult<()> {
        self.faults.store("erase_run").await?;
        self.inner.erase_run(write, run).await
    }

    async fn is_erased(&self, tenant: &TenantId, run: &RunId) -> StoreResult<bool> {
        self.faults.store("is_erased").await?;
        self.inner.is_erased(tenant, run).await
    }

    async fn erase_participant(
        &self,
        write: Write<'_>,
        participant: &ParticipantId,
        pseudonym: &ParticipantId,
    ) -> StoreResult<u64> {
        self.faults.store("erase_participant").await?;
        let inner = &self.inner;
        inner.erase_participant(write, participant, pseudonym).await
    }

    async fn purge(
        &self,
        write: Write<'_>,
        before: Timestamp,
        from: Option<&PurgePosition>,
        limit: NonZeroU16,
    ) -> StoreResult<Purged> {
        self.faults.store("purge").await?;
        self.inner.purge(write, before, from, limit).await
    }

    async fn judged_runs(
        &self,
        tenant: &TenantId,
        filter: &JudgedRunFilter,
        keyset: &Keyset,
    ) -> StoreResult<Slice<JudgedRun>> {
        self.faults.store("judged_runs").await?;
        self.inner.judged_runs(tenant, filter, keyset).await
    }
}

#[async_trait]
impl OperationStore for FaultyStore {
    async fn receipt(
        &self,
        tenant: &TenantId,
        now: Timestamp,
        operation: Operation<'_>,
    ) -> StoreResult<Option<KnownOperation>> {
        self.faults.store("receipt").await?;
        self.inner.receipt(tenant, now, operation).await
    }

    async fn keep(&self, write: Write<'_>, receipt: &Receipt) -> StoreResult<Applied<Receipt>> {
        self.faults.store("keep").await?;
        self.inner.keep(write, receipt).await
    }
}
