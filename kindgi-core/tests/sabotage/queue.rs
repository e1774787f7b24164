//! The judging queue with one fault.

use std::{sync::atomic::Ordering, time::Duration};

use async_trait::async_trait;
use kindgi_core::{
    Timestamp,
    model::{
        DismissReason, EndedRun, ItemState, MaxOpen, PageSize, Position, PrincipalRef, ProjectId,
        QueueItem, RuleId, RunId, TenantId,
    },
    store::{
        Applied, Candidate, ItemMoved, JudgeClassStore, JudgingQueueStore, JudgingRuleStore,
        Keyset, Lifecycle, QueueFilter, QueueSlice, RuleResults, StoreResult, Taken, Write,
    },
};

use super::{Fault, Faulty};

/// How long a race is waited for that may not come.
const PATIENCE: Duration = Duration::from_millis(20);

/// How an item is moved.
#[derive(Clone, Copy)]
enum Move<'a> {
    Dismiss(&'a PrincipalRef, Option<&'a DismissReason>),
    Reopen(&'a PrincipalRef),
}

/// The rules that somebody locked, up to the end.
struct Locks<'a>(&'a Faulty, Vec<(TenantId, RuleId)>);

impl Drop for Locks<'_> {
    fn drop(&mut self) {
        for key in &self.1 {
            self.0.note(|noted| noted.locked.remove(key));
        }
    }
}

fn every() -> Keyset {
    Keyset {
        after: None,
        limit: PageSize::new(100).unwrap(),
    }
}

/// Whether all rules of an item have a judgment that they want.
fn has_all(
    item: &QueueItem,
    wants: impl Fn(usize) -> Option<kindgi_core::model::JudgeClassId>,
) -> bool {
    (0..item.taken_by.len()).all(|number| {
        let wanted = wants(number);
        let mut progress = item.progress.iter();
        progress.any(|under| wanted.is_none() || under.class == wanted)
    })
}

impl Faulty {
    /// Takes the rules' locks one by one, as they come.
    async fn lock(&self, tenant: &TenantId, candidates: &[Candidate]) -> Locks<'_> {
        let mut locks = Locks(self, Vec::new());
        for candidate in candidates {
            let key = (tenant.clone(), candidate.rule.clone());
            while !self.note(|noted| noted.locked.insert(key.clone())) {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
            locks.1.push(key);
            self.counts.locks.fetch_add(1, Ordering::SeqCst);
            if locks.1.len() == 1 {
                self.until_others_did(&self.counts.locks, PATIENCE).await;
            }
        }
        locks
    }

    /// How many items of a rule there are.
    async fn taken_items(
        &self,
        tenant: &TenantId,
        project: &ProjectId,
        rule: &RuleId,
        matches: impl Fn(&QueueItem) -> bool,
    ) -> StoreResult<u32> {
        let filter = QueueFilter {
            rule: Some(rule.clone()),
            ..QueueFilter::default()
        };
        let page = self
            .store
            .queue(tenant, project, &filter, Some(&every()))
            .await?;
        let count = page.slice.rows.iter().filter(|item| matches(item)).count();
        Ok(count.try_into().unwrap())
    }

    async fn change_candidate(
        &self,
        tenant: &TenantId,
        project: &ProjectId,
        candidate: &mut Candidate,
    ) -> StoreResult<()> {
        let Some(max) = candidate.max_open.map(MaxOpen::get) else {
            return Ok(());
        };
        let (rule, version) = (&candidate.rule, candidate.version);
        let is_open = |item: &QueueItem| item.state == ItemState::Open;
        match self.fault {
            Fault::CapOneMore => candidate.max_open = MaxOpen::new(max + 1),
            Fault::CapOneLess => candidate.max_open = MaxOpen::new((max - 1).max(1)),
            Fault::CapRaces if self.taken_items(tenant, project, rule, is_open).await? < max => {
                candidate.max_open = None;
                self.until_others_did(&self.counts.takes, PATIENCE).await;
            }
            Fault::CapPerVersion => {
                let of_version = |item: &QueueItem| {
                    is_open(item)
                        && item
                            .taken_by
                            .iter()
                            .any(|by| by.rule == *rule && by.version == version)
                };
                if self.taken_items(tenant, project, rule, of_version).await? < max {
                    candidate.max_open = None;
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// An item as it is read.
    async fn shown(&self, tenant: &TenantId, item: QueueItem) -> StoreResult<QueueItem> {
        let key = (tenant.clone(), item.run.clone());
        let mut item = self
            .note(|noted| noted.unsettled.get(&key).cloned())
            .unwrap_or(item);
        let as_taken = |number: usize| item.taken_by[number].wants.clone();
        let closed_at = item.closed_at.or(Some(item.added_at));
        match (self.fault, item.state) {
            (Fault::DismissedBecomesJudged, ItemState::Dismissed) if has_all(&item, as_taken) => {
                item.state = ItemState::Judged;
            }
            (Fault::JudgedForever, ItemState::Judged) => {
                self.note(|noted| noted.judged.insert(key, item.clone()));
            }
            (Fault::JudgedForever, ItemState::Open) => {
                let judged = self.note(|noted| noted.judged.get(&key).cloned());
                item = judged.unwrap_or(item);
            }
            (Fault::ClosedAtMoves, ItemState::Judged) => {
                let live = self.live_of(tenant, &item.run).await?;
                item.closed_at = live.first().map(|newest| newest.created_at);
            }
            (Fault::AnyJudgmentSettles, ItemState::Open) if !item.progress.is_empty() => {
                item.state = ItemState::Judged;
                item.closed_at = closed_at;
            }
            (Fault::EarlierJudgmentsIgnored, ItemState::Judged)
                if self.note(|noted| noted.ignoring.contains(&key)) =>
            {
                item.state = ItemState::Open;
                item.closed_at = None;
            }
            (Fault::LatestVersionDecides, ItemState::Open) => {
                let mut wants = Vec::new();
                for by in &item.taken_by {
                    let latest = self.store.rule(tenant, &item.project, &by.rule).await?;
                    wants.push(latest.and_then(|rule| rule.class));
                }
                if has_all(&item, |number| wants[number].clone()) {
                    item.state = ItemState::Judged;
                    item.closed_at = closed_at;
                }
            }
            (Fault::ItemsOutliveErasure, ItemState::Erased) => {
                let kept = self.note(|noted| noted.items.get(&key).cloned());
                item.agent = kept.and_then(|item| item.agent);
            }
            _ => {}
        }
        Ok(item)
    }

    /// The operation's refusal, or an outcome that nobody cleared.
    fn kept_move(&self, write: &Write<'_>) -> Option<ItemMoved> {
        let key = (write.tenant.clone(), *write.operation?.id);
        self.note(|noted| noted.moves.get(&key).cloned())
    }

    fn keep_move(&self, write: &Write<'_>, applied: &Applied<ItemMoved>) {
        let keeps = match (self.fault, applied) {
            (Fault::MoveRefusalKept, Applied::Done(moved)) => !matches!(moved, ItemMoved::Ok(_)),
            (Fault::DismissReasonsOutliveErasure, Applied::Done(ItemMoved::Ok(_))) => true,
            _ => false,
        };
        if let (true, Some(operation), Applied::Done(moved)) = (keeps, write.operation, applied) {
            let key = (write.tenant.clone(), *operation.id);
            self.note(|noted| noted.moves.insert(key, moved.clone()));
        }
    }

    /// Moves an item with one fault.
    async fn change_move(
        &self,
        write: Write<'_>,
        (project, run): (&ProjectId, &RunId),
        moves: Move<'_>,
    ) -> StoreResult<Applied<ItemMoved>> {
        let _writing = self.begin();
        let kept = self.kept_move(&write);
        if let (Fault::MoveRefusalKept, Some(kept)) = (self.fault, &kept) {
            return Ok(Applied::Replayed(kept.clone()));
        }
        let was = self.store.queue_item(write.tenant, project, run).await?;
        let from = match moves {
            Move::Dismiss(..) => ItemState::Open,
            Move::Reopen(_) => ItemState::Dismissed,
        };
        let could = was.as_ref().is_some_and(|item| item.state == from);
        if could && self.is(Fault::MoveRaces) && self.is_crowded().await {
            self.until_others_did(&self.counts.moves, PATIENCE).await;
        }
        let operation = self.operation(&write).await;
        let operation = operation.filter(|_| !self.is(Fault::MoveOperationForgotten));
        let inner = Write { operation, ..write };
        let mut applied = match moves {
            Move::Dismiss(by, reason) => {
                self.store.dismiss(inner, project, run, by, reason).await?
            }
            Move::Reopen(by) => self.store.reopen(inner, project, run, by).await?,
        };
        self.counts.moves.fetch_add(1, Ordering::SeqCst);
        self.keep_move(&write, &applied);
        let key = (write.tenant.clone(), run.clone());
        match (self.fault, &mut applied, was) {
            (Fault::MoveRaces, Applied::Done(ItemMoved::Not(_)), Some(was)) if could => {
                applied = Applied::Done(ItemMoved::Ok(Box::new(was)));
            }
            (Fault::MoveInTwoSteps, Applied::Done(ItemMoved::Ok(_)), Some(was)) => {
                self.note(|noted| noted.unsettled.insert(key.clone(), was));
                tokio::task::yield_now().await;
                self.note(|noted| noted.unsettled.remove(&key));
            }
            (Fault::DismissReasonsOutliveErasure, Applied::Replayed(moved), _) => {
                *moved = kept.unwrap_or_else(|| moved.clone());
            }
            _ => {}
        }
        Ok(applied)
    }
}

#[async_trait]
impl JudgingQueueStore for Faulty {
    async fn take(
        &self,
        write: Write<'_>,
        run: &EndedRun,
        rules: u64,
        candidates: &[Candidate],
    ) -> StoreResult<Taken> {
        let _writing = self.begin();
        let (tenant, project) = (write.tenant, &run.project);
        let key = (tenant.clone(), run.id.clone());
        self.note(|noted| noted.tenants.push(tenant.clone()));
        let _locks = match self.fault {
            Fault::RulesLockedInGivenOrder => Some(self.lock(tenant, candidates).await),
            _ => None,
        };
        let mut candidates = candidates.to_vec();
        for candidate in &mut candidates {
            self.change_candidate(tenant, project, candidate).await?;
            if let (Fault::ClosedItemsKeepPlaces, Some(max)) = (self.fault, candidate.max_open)
                && self
                    .taken_items(tenant, project, &candidate.rule, |_| true)
                    .await?
                    >= max.get()
            {
                return Ok(Taken::AllSkipped);
            }
        }
        let current = self.store.enabled_rules(tenant, project).await?.revision;
        let was_told = self
            .store
            .queue_item(tenant, project, &run.id)
            .await?
            .is_some();
        let was_erased = self.store.is_erased(tenant, &run.id).await?;
        let rules = match self.fault {
            Fault::RulesRevisionUnchecked => current,
            Fault::StopKeepsRevision => {
                let key = (tenant.clone(), project.clone());
                rules + self.note(|noted| noted.stops.get(&key).copied().unwrap_or_default())
            }
            Fault::RulesRevisionRaces if rules == current => {
                // Whoever changes the rules meanwhile looks for the item afterwards.
                self.counts.take_checks.fetch_add(1, Ordering::SeqCst);
                self.until_others_did(&self.counts.item_reads, PATIENCE)
                    .await;
                self.store.enabled_rules(tenant, project).await?.revision
            }
            _ => rules,
        };
        match self.fault {
            Fault::TellingRaces if !was_told => {
                self.until_others_did(&self.counts.takes, PATIENCE).await;
            }
            Fault::TakeRacesErasure if !was_erased => {
                self.counts.take_checks.fetch_add(1, Ordering::SeqCst);
                self.until_others_did(&self.counts.erasures, PATIENCE).await;
            }
            _ => {}
        }
        let mut taken = self.store.take(write, run, rules, &candidates).await?;
        self.counts.takes.fetch_add(1, Ordering::SeqCst);
        match (self.fault, &mut taken) {
            (Fault::TellingRaces, Taken::Known) if !was_told => {
                let item = self.store.queue_item(tenant, project, &run.id).await?;
                taken = item.map_or(Taken::AllSkipped, |item| Taken::Queued(Box::new(item)));
            }
            (Fault::TakeRacesErasure, Taken::RunErased) if !was_erased => {
                taken = Taken::AllSkipped;
            }
            (Fault::BeforePurgeIsKnown, Taken::BeforePurge) => taken = Taken::Known,
            (Fault::SkippedToldAgain, Taken::AllSkipped) => {
                self.note(|noted| noted.skipped.insert(key));
            }
            (Fault::SkippedToldAgain, Taken::Known)
                if self.note(|noted| noted.skipped.contains(&key)) =>
            {
                taken = Taken::AllSkipped;
            }
            (Fault::EarlierJudgmentsIgnored, Taken::Queued(item)) => {
                self.note(|noted| noted.ignoring.insert(key));
                **item = self.shown(tenant, (**item).clone()).await?;
            }
            (Fault::ItemsOutliveErasure, Taken::Queued(item)) => {
                self.note(|noted| noted.items.insert(key, (**item).clone()));
            }
            (Fault::TakeInTwoSteps, Taken::Queued(_)) => {
                self.note(|noted| noted.unqueued.insert(key.clone()));
                tokio::task::yield_now().await;
                self.note(|noted| noted.unqueued.remove(&key));
            }
            _ => {}
        }
        Ok(taken)
    }

    async fn dismiss(
        &self,
        write: Write<'_>,
        project: &ProjectId,
        run: &RunId,
        by: &PrincipalRef,
        reason: Option<&DismissReason>,
    ) -> StoreResult<Applied<ItemMoved>> {
        let trimmed = |reason: &DismissReason| reason.as_str().trim().parse().unwrap();
        let trimmed: Option<DismissReason> = match self.fault {
            Fault::DismissReasonTrimmed => reason.map(trimmed),
            _ => reason.cloned(),
        };
        let reason = trimmed.as_ref();
        let moves = Move::Dismiss(by, reason);
        let mut applied = self.change_move(write, (project, run), moves).await?;
        if let (Fault::DismissedBeforeItBegan, Applied::Done(ItemMoved::Ok(item))) =
            (self.fault, &mut applied)
        {
            item.closed_at = Some(write.now);
        }
        Ok(applied)
    }

    async fn reopen(
        &self,
        write: Write<'_>,
        project: &ProjectId,
        run: &RunId,
        by: &PrincipalRef,
    ) -> StoreResult<Applied<ItemMoved>> {
        let was = self.store.queue_item(write.tenant, project, run).await?;
        let dismissed = was.filter(|item| item.state == ItemState::Dismissed);
        if let (Fault::ReopeningNeedsAPlace, Some(item)) = (self.fault, &dismissed) {
            for by in &item.taken_by {
                let is_open = |item: &QueueItem| item.state == ItemState::Open;
                let open = self
                    .taken_items(write.tenant, project, &by.rule, is_open)
                    .await?;
                let rule = self.store.rule(write.tenant, project, &by.rule).await?;
                let max = rule.and_then(|rule| rule.max_open);
                if max.is_some_and(|max| open >= max.get()) {
                    return Ok(Applied::Done(ItemMoved::Not(ItemState::Dismissed)));
                }
            }
        }
        let moves = Move::Reopen(by);
        let mut applied = self.change_move(write, (project, run), moves).await?;
        if let (Fault::ReopenedStaysOpen, Applied::Done(ItemMoved::Ok(item))) =
            (self.fault, &mut applied)
        {
            item.state = ItemState::Open;
            item.closed_at = None;
        }
        Ok(applied)
    }

    async fn queue_item(
        &self,
        tenant: &TenantId,
        project: &ProjectId,
        run: &RunId,
    ) -> StoreResult<Option<QueueItem>> {
        let folded = run.as_str().to_lowercase().parse().unwrap();
        let run = match self.fault {
            Fault::RunsFolded => &folded,
            _ => run,
        };
        let mut found = self.store.queue_item(tenant, project, run).await?;
        self.counts.item_reads.fetch_add(1, Ordering::SeqCst);
        if found.is_none() && self.is(Fault::QueueTenantIgnored) {
            for other in self.note(|noted| noted.tenants.clone()) {
                found = found.or(self.store.queue_item(&other, project, run).await?);
            }
        }
        match found {
            None => Ok(None),
            Some(item) => self.shown(tenant, item).await.map(Some),
        }
    }

    async fn queue(
        &self,
        tenant: &TenantId,
        project: &ProjectId,
        filter: &QueueFilter,
        keyset: Option<&Keyset>,
    ) -> StoreResult<QueueSlice> {
        let mut inner = keyset.cloned();
        let mut wanted = filter.clone();
        let millisecond = |at: Timestamp| at.saturating_add_millis(1);
        match self.fault {
            Fault::QueueTiesSkipped => {
                if let Some(after) = inner.as_mut().and_then(|keyset| keyset.after.as_mut()) {
                    *after = Position {
                        at: after.at,
                        id: "\u{10ffff}".into(),
                    };
                }
            }
            Fault::RowsWithoutKeyset => inner = inner.or(Some(every())),
            Fault::QueueFilteredAfterPaging => wanted.agent = None,
            Fault::ClosedAfterExclusive => {
                wanted.closed_after = wanted.closed_after.map(millisecond);
            }
            Fault::CursorItemMustMatch => {
                let after = keyset.and_then(|keyset| keyset.after.as_ref());
                if let Some(after) = after {
                    let run = after.id.parse().unwrap();
                    let item = self.store.queue_item(tenant, project, &run).await?;
                    if !item.is_some_and(|item| filter.matches(&item)) {
                        wanted.added_after =
                            Some(Timestamp::UNIX_EPOCH.saturating_add_millis(i64::MAX));
                    }
                }
            }
            _ => {}
        }
        let mut page = self
            .store
            .queue(tenant, project, &wanted, inner.as_ref())
            .await?;
        let rows = &mut page.slice.rows;
        let unqueued = self.note(|noted| noted.unqueued.clone());
        rows.retain(|item| !unqueued.contains(&(tenant.clone(), item.run.clone())));
        match (self.fault, &filter.wants_any_or) {
            (Fault::QueueTotalOfPage, _) if keyset.is_some() => page.total = rows.len() as u64,
            (Fault::QueueTotalOfTheRest, _) => {
                if let Some(keyset) = keyset {
                    let rest = Keyset {
                        limit: every().limit,
                        ..keyset.clone()
                    };
                    let rest = self
                        .store
                        .queue(tenant, project, filter, Some(&rest))
                        .await?;
                    page.total = rest.slice.rows.len() as u64;
                }
            }
            (Fault::QueueFilteredAfterPaging, _) => rows.retain(|item| filter.matches(item)),
            (Fault::WantsAnyForgotten, Some(classes)) => {
                let mine = |item: &QueueItem| {
                    item.wanted_classes()
                        .into_iter()
                        .any(|class| classes.contains(class))
                };
                rows.retain(mine);
            }
            _ => {}
        }
        for item in rows.iter_mut() {
            *item = self.shown(tenant, item.clone()).await?;
        }
        let limit = keyset.map_or(every().limit, |keyset| keyset.limit);
        self.change_page(&mut page.slice, limit, |item| item.run.as_str());
        Ok(page)
    }

    async fn rule_results(
        &self,
        tenant: &TenantId,
        project: &ProjectId,
        rule: &RuleId,
        since: Option<Timestamp>,
    ) -> StoreResult<Option<RuleResults>> {
        let since = match self.fault {
            Fault::SinceExcludesItsInstant => since.map(|at| at.saturating_add_millis(1)),
            _ => since,
        };
        let found = self
            .store
            .rule_results(tenant, project, rule, since)
            .await?;
        let Some(mut results) = found else {
            return Ok(None);
        };
        match self.fault {
            Fault::WeightsOfLiveClassesOnly => {
                let mut live = Vec::new();
                for class in results.weights.keys() {
                    let found = self.store.class(tenant, class).await?;
                    live.extend(found.filter(|it| it.value.is_live()).map(|it| it.value.id));
                }
                results.weights.retain(|class, _| live.contains(class));
            }
            Fault::NoVersionFirst => results
                .counted
                .sort_by_key(|group| (group.rule_version, group.agent_version.clone())),
            Fault::ErasedRunsUncounted => {
                results
                    .counted
                    .iter_mut()
                    .for_each(|group| group.states[3] = 0);
            }
            Fault::SkipsUncounted => {
                results
                    .counted
                    .iter_mut()
                    .for_each(|group| group.skipped_by_cap = 0);
            }
            _ => {}
        }
        Ok(Some(results))
    }
}
