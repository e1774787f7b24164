//! The judging queue.

use std::collections::{BTreeMap, HashMap, HashSet};

use async_trait::async_trait;

use super::{Live, MemoryStore, Tenant, place};
use crate::{
    Timestamp,
    model::{
        DismissReason, EndedRun, ItemState, Position, PrincipalRef, ProjectId, QueueItem, RuleId,
        RunId, TakenBy, TenantId, Version, Weight,
    },
    rules::{
        queue_state::{dismissed, erased, queued, reopened, settled},
        results::{Became, Told, count},
    },
    store::{
        Applied, Candidate, ItemMoved, JudgingQueueStore, Keyset, QueueFilter, QueueSlice,
        RuleResults, Slice, StoreResult, Taken, Write,
    },
};

/// The queues of a tenant.
#[derive(Debug, Default)]
pub(super) struct Queue {
    pub(super) items: HashMap<RunId, QueueItem>,
    pub(super) told: HashMap<RunId, Telling>,
    /// The items of a project, all together and by state.
    lists: HashMap<(ProjectId, Option<ItemState>), Live<RunId>>,
    /// How many open items a rule took.
    open: HashMap<RuleId, u32>,
    /// Runs that ended before this were told, or never will be.
    pub(super) purged_before: Option<Timestamp>,
}

/// What is kept of telling the rules of a run, beside its item.
#[derive(Debug)]
pub(super) struct Telling {
    pub(super) at: Timestamp,
    pub(super) ended_at: Timestamp,
    pub(super) agent_version: Option<Version>,
    pub(super) skipped: Vec<(RuleId, u32)>,
}

fn place_of(item: &QueueItem) -> Position {
    place(item.added_at, item.run.as_str())
}

impl Queue {
    /// Puts an item where it belongs, in place of what was there of its run.
    pub(super) fn put(&mut self, item: QueueItem) {
        self.take_out(&item.run);
        for state in [None, Some(item.state)] {
            let list = self.lists.entry((item.project.clone(), state)).or_default();
            list.insert(place_of(&item), item.run.clone());
        }
        if item.state == ItemState::Open {
            for by in &item.taken_by {
                *self.open.entry(by.rule.clone()).or_default() += 1;
            }
        }
        self.items.insert(item.run.clone(), item);
    }

    fn take_out(&mut self, run: &RunId) {
        let Some(item) = self.items.remove(run) else {
            return;
        };
        for state in [None, Some(item.state)] {
            if let Some(list) = self.lists.get_mut(&(item.project.clone(), state)) {
                list.remove(&place_of(&item));
            }
        }
        if item.state == ItemState::Open {
            for by in &item.taken_by {
                if let Some(open) = self.open.get_mut(&by.rule) {
                    *open -= 1;
                }
            }
        }
    }

    /// The rules that take a run, and those that skip it.
    fn split(&self, candidates: &[Candidate]) -> (Vec<TakenBy>, Vec<(RuleId, u32)>) {
        let (mut taken, mut skipped) = (Vec::new(), Vec::new());
        for candidate in candidates {
            let open = self.open.get(&candidate.rule).copied().unwrap_or_default();
            if candidate.max_open.is_some_and(|max| open >= max.get()) {
                skipped.push((candidate.rule.clone(), candidate.version));
            } else {
                taken.push(TakenBy {
                    rule: candidate.rule.clone(),
                    version: candidate.version,
                    wants: candidate.wants.clone(),
                });
            }
        }
        (taken, skipped)
    }

    fn item(&self, project: &ProjectId, run: &RunId) -> Option<&QueueItem> {
        self.items.get(run).filter(|item| item.project == *project)
    }

    fn list(
        &self,
        project: &ProjectId,
        filter: &QueueFilter,
        keyset: Option<&Keyset>,
    ) -> Option<QueueSlice> {
        use std::ops::Bound::{Excluded, Unbounded};

        let list = self.lists.get(&(project.clone(), filter.state))?;
        let matching = |run: &RunId| self.items.get(run).filter(|item| filter.matches(item));
        let of_state = QueueFilter {
            state: filter.state,
            ..QueueFilter::default()
        };
        let total = match *filter == of_state {
            true => list.len(),
            false => list.values().filter_map(matching).count(),
        };
        let mut slice = Slice {
            rows: Vec::new(),
            more: false,
        };
        if let Some(keyset) = keyset {
            let after = keyset.after.as_ref().map_or(Unbounded, Excluded);
            let newer = list.range::<Position, _>((after, Unbounded));
            let mut newer = newer.filter_map(|(_, run)| matching(run));
            let limit = usize::from(keyset.limit.get());
            slice.rows = newer.by_ref().take(limit).cloned().collect();
            slice.more = newer.next().is_some();
        }
        let total = total as u64;
        Some(QueueSlice { slice, total })
    }

    /// Clears what is told of a run.
    pub(super) fn erase_run(&mut self, run: &RunId, now: Timestamp) {
        if let Some(telling) = self.told.get_mut(run) {
            telling.agent_version = None;
        }
        if let Some(item) = self.items.get(run).cloned() {
            self.put(erased(item, now));
        }
    }

    /// From now on, runs that ended before an instant are told no more.
    pub(super) fn purge_before(&mut self, before: Timestamp) {
        self.purged_before = self.purged_before.max(Some(before));
    }

    /// The runs that were told and ended before an instant, by age.
    pub(super) fn told_before(&self, before: Timestamp) -> Vec<(Position, RunId)> {
        let age = |(run, told): (&RunId, &Telling)| {
            let age = place(told.at.max(told.ended_at), run.as_str());
            (age, run.clone())
        };
        let mut runs: Vec<_> = self.told.iter().map(age).collect();
        runs.retain(|(age, _)| age.at < before);
        runs.sort();
        runs
    }

    /// Forgets that a run was told.
    pub(super) fn forget(&mut self, run: &RunId) {
        self.told.remove(run);
        self.take_out(run);
    }
}

impl Tenant {
    fn take(
        &mut self,
        run: &EndedRun,
        rules: u64,
        candidates: &[Candidate],
        now: Timestamp,
    ) -> Taken {
        if self.erased.contains(&run.id) {
            return Taken::RunErased;
        }
        if self.queue.told.contains_key(&run.id) {
            return Taken::Known;
        }
        if Some(run.ended_at) < self.queue.purged_before {
            return Taken::BeforePurge;
        }
        if self.rules.revision(&run.project) != rules {
            return Taken::RulesChanged;
        }
        let (taken_by, skipped) = self.queue.split(candidates);
        if taken_by.is_empty() && skipped.is_empty() {
            return Taken::AllSkipped;
        }
        let agent_version = run.subject.agent().map(|_| run.subject.version().clone());
        let telling = Telling {
            at: now,
            ended_at: run.ended_at,
            agent_version,
            skipped,
        };
        self.queue.told.insert(run.id.clone(), telling);
        if taken_by.is_empty() {
            return Taken::AllSkipped;
        }
        let live = self.judgments.live_of(&run.id);
        let item = queued(run, taken_by, &live, now);
        self.queue.put(item.clone());
        Taken::Queued(Box::new(item))
    }

    /// Moves a run's item after its judgments changed.
    pub(super) fn settle(&mut self, run: &RunId) {
        if let Some(item) = self.queue.items.get(run).cloned() {
            let live = self.judgments.live_of(run);
            self.queue.put(settled(item, &live));
        }
    }

    fn dismiss(
        &mut self,
        project: &ProjectId,
        run: &RunId,
        by: &PrincipalRef,
        reason: Option<&DismissReason>,
        now: Timestamp,
    ) -> ItemMoved {
        self.move_item(project, run, |item| dismissed(item, by, reason, now))
    }

    fn reopen(&mut self, project: &ProjectId, run: &RunId, by: &PrincipalRef) -> ItemMoved {
        let live = self.judgments.live_of(run);
        self.move_item(project, run, |item| reopened(item, by, &live))
    }

    fn move_item(
        &mut self,
        project: &ProjectId,
        run: &RunId,
        moved: impl FnOnce(QueueItem) -> Option<QueueItem>,
    ) -> ItemMoved {
        let Some(item) = self.queue.item(project, run).cloned() else {
            return ItemMoved::Missing;
        };
        let state = item.state;
        match moved(item) {
            None => ItemMoved::Not(state),
            Some(item) => {
                self.queue.put(item.clone());
                ItemMoved::Ok(Box::new(item))
            }
        }
    }

    fn results(
        &self,
        project: &ProjectId,
        rule: &RuleId,
        since: Option<Timestamp>,
    ) -> Option<RuleResults> {
        self.rules.latest(project, rule)?;
        let told_since = |telling: &Telling| since.is_none_or(|since| telling.at >= since);
        let mut told = Vec::new();
        let mut classes = HashSet::new();
        for (run, telling) in self.queue.told.iter().filter(|(_, told)| told_since(told)) {
            let agent_version = telling.agent_version.clone();
            let skipped = telling.skipped.iter().find(|(id, _)| id == rule);
            let item = self.queue.items.get(run);
            let taken = item
                .and_then(|item| Some((item, item.taken_by.iter().find(|by| by.rule == *rule)?)));
            let (rule_version, became) = match (taken, skipped) {
                (Some((item, by)), _) => {
                    let state = item.state;
                    let judgments = self.judgments.verdicts_of(run);
                    classes.extend(judgments.iter().filter_map(|(class, _)| class.clone()));
                    (by.version, Became::Taken { state, judgments })
                }
                (None, Some((_, version))) => (*version, Became::Skipped),
                (None, None) => continue,
            };
            told.push(Told {
                rule_version,
                agent_version,
                became,
            });
        }
        let weight = |class| Some((self.classes.weight(&class)?, class));
        let weights = classes.into_iter().filter_map(weight);
        let weights: BTreeMap<_, Weight> = weights.map(|(weight, class)| (class, weight)).collect();
        let counted = count(&told);
        Some(RuleResults { counted, weights })
    }
}

/// The outcome of dismissing, as operations keep it.
#[derive(Clone, Debug)]
pub(super) struct Dismissed(pub(super) ItemMoved);

/// The outcome of reopening, as operations keep it.
#[derive(Clone, Debug)]
pub(super) struct Reopened(pub(super) ItemMoved);

#[async_trait]
impl JudgingQueueStore for MemoryStore {
    async fn take(
        &self,
        write: Write<'_>,
        run: &EndedRun,
        rules: u64,
        candidates: &[Candidate],
    ) -> StoreResult<Taken> {
        Ok(self.change(write.tenant, |tenant| {
            tenant.take(run, rules, candidates, write.now)
        }))
    }

    async fn dismiss(
        &self,
        write: Write<'_>,
        project: &ProjectId,
        run: &RunId,
        by: &PrincipalRef,
        reason: Option<&DismissReason>,
    ) -> StoreResult<Applied<ItemMoved>> {
        let applied = self.change(write.tenant, |tenant| {
            tenant.apply(write, |tenant| {
                Dismissed(tenant.dismiss(project, run, by, reason, write.now))
            })
        });
        Ok(applied.map(|dismissed| dismissed.0))
    }

    async fn reopen(
        &self,
        write: Write<'_>,
        project: &ProjectId,
        run: &RunId,
        by: &PrincipalRef,
    ) -> StoreResult<Applied<ItemMoved>> {
        let applied = self.change(write.tenant, |tenant| {
            tenant.apply(write, |tenant| Reopened(tenant.reopen(project, run, by)))
        });
        Ok(applied.map(|reopened| reopened.0))
    }

    async fn queue_item(
        &self,
        tenant: &TenantId,
        project: &ProjectId,
        run: &RunId,
    ) -> StoreResult<Option<QueueItem>> {
        Ok(self.look(tenant, |tenant| tenant.queue.item(project, run).cloned()))
    }

    async fn queue(
        &self,
        tenant: &TenantId,
        project: &ProjectId,
        filter: &QueueFilter,
        keyset: Option<&Keyset>,
    ) -> StoreResult<QueueSlice> {
        let found = self.look(tenant, |tenant| tenant.queue.list(project, filter, keyset));
        Ok(found.unwrap_or(QueueSlice {
            slice: Slice {
                rows: Vec::new(),
                more: false,
            },
            total: 0,
        }))
    }

    async fn rule_results(
        &self,
        tenant: &TenantId,
        project: &ProjectId,
        rule: &RuleId,
        since: Option<Timestamp>,
    ) -> StoreResult<Option<RuleResults>> {
        Ok(self.look(tenant, |tenant| tenant.results(project, rule, since)))
    }
}
