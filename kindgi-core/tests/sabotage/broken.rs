//! A store in memory with one fault.

mod judgments;
mod lifecycle;
mod operations;
mod queue;
mod reopened;
mod rules;

use std::{
    collections::{HashMap, HashSet},
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use async_trait::async_trait;
use kindgi_core::{
    BoxError, MemoryStore, Timestamp,
    conformance::Backend,
    json::{RawJson, canonical},
    model::{
        ClassScope, ItemKey, JudgeClass, JudgeClassId, JudgingRule, Judgment, JudgmentId, PageSize,
        Position, ProjectId, QueueItem, Readable, RuleId, RunCopy, RunId, TenantId,
    },
    store::{
        Applied, ClassCreated, ClassFilter, ClassReplaced, ItemMoved, JudgeClassStore,
        JudgmentFilter, JudgmentStore, Keyset, NewJudgment, Operation, OperationId, Recorded,
        Revised, RuleAppended, Slice, Store, StoreResult, Write,
    },
};

use super::fault::Fault;

/// The backend with this fault.
pub(crate) struct Broken(pub(crate) Fault);

impl Backend for Broken {
    /// What is in the store.
    type Guard = MemoryStore;

    async fn build(&self) -> Result<(MemoryStore, Arc<dyn Store>), BoxError> {
        let store = Faulty::new(self.0, MemoryStore::new());
        Ok((store.store.clone(), Arc::new(store)))
    }

    async fn reopen(
        &self,
        inside: &mut MemoryStore,
        store: Arc<dyn Store>,
    ) -> Result<Arc<dyn Store>, BoxError> {
        let Fault::ReopenLoses(lost) = self.0 else {
            return Ok(store);
        };
        *inside = reopened::without(inside, lost).await;
        Ok(Arc::new(Faulty::new(self.0, inside.clone())))
    }
}

type Of<T> = (TenantId, T);

struct Faulty {
    fault: Fault,
    store: MemoryStore,
    writing: AtomicUsize,
    rule_reads: AtomicUsize,
    class_checks: AtomicUsize,
    counts: Counts,
    noted: Mutex<Noted>,
}

/// What others did so far.
#[derive(Default)]
struct Counts {
    judgment_reads: AtomicUsize,
    removal_reads: AtomicUsize,
    item_reads: AtomicUsize,
    take_checks: AtomicUsize,
    takes: AtomicUsize,
    moves: AtomicUsize,
    erasures: AtomicUsize,
    locks: AtomicUsize,
}

/// What the faults need to know beside the store.
#[derive(Default)]
struct Noted {
    tenants: Vec<TenantId>,
    unfinished: HashSet<Of<JudgmentId>>,
    copies: HashMap<Of<RunId>, RunCopy>,
    removed: HashMap<Of<JudgmentId>, Timestamp>,
    item_values: HashMap<Of<JudgmentId>, RawJson>,
    answers: HashMap<Of<OperationId>, Recorded>,
    used: HashMap<OperationId, TenantId>,
    names: HashSet<Of<(ClassScope, String)>>,
    versions: HashMap<Of<RuleId>, Vec<JudgingRule>>,
    rule_answers: HashMap<Of<OperationId>, RuleAppended>,
    rules_stopped: HashMap<Of<RuleId>, Timestamp>,
    half_stopped: HashSet<Of<RuleId>>,
    unlisted: HashSet<Of<RuleId>>,
    projects: HashSet<ProjectId>,
    retired: Vec<JudgeClassId>,
    stops: HashMap<Of<ProjectId>, u64>,
    items: HashMap<Of<RunId>, QueueItem>,
    judged: HashMap<Of<RunId>, QueueItem>,
    unsettled: HashMap<Of<RunId>, QueueItem>,
    unqueued: HashSet<Of<RunId>>,
    ignoring: HashSet<Of<RunId>>,
    skipped: HashSet<Of<RunId>>,
    locked: HashSet<Of<RuleId>>,
    moves: HashMap<Of<OperationId>, ItemMoved>,
    bodies: HashMap<Of<OperationId>, [u8; 32]>,
    half_kept: HashSet<Of<OperationId>>,
}

/// One of those who write now.
struct Writing<'a>(&'a AtomicUsize);

impl Drop for Writing<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Faulty {
    fn new(fault: Fault, store: MemoryStore) -> Self {
        Self {
            fault,
            store,
            writing: AtomicUsize::new(0),
            rule_reads: AtomicUsize::new(0),
            class_checks: AtomicUsize::new(0),
            counts: Counts::default(),
            noted: Mutex::default(),
        }
    }

    fn is(&self, fault: Fault) -> bool {
        self.fault == fault
    }

    fn note<T>(&self, note: impl FnOnce(&mut Noted) -> T) -> T {
        note(&mut self.noted.lock().unwrap())
    }

    fn begin(&self) -> Writing<'_> {
        self.writing.fetch_add(1, Ordering::SeqCst);
        Writing(&self.writing)
    }

    /// Lets others in, and says whether one of them writes.
    async fn is_crowded(&self) -> bool {
        let crowded = || self.writing.load(Ordering::SeqCst) > 1;
        for times in 0..200 {
            if times >= 20 && crowded() {
                break;
            }
            std::thread::yield_now();
        }
        tokio::task::yield_now().await;
        crowded()
    }

    /// Waits until others counted further, but not for ever: there may be nobody.
    async fn until_others_did(&self, count: &AtomicUsize, patience: Duration) {
        let (before, began) = (count.load(Ordering::SeqCst), Instant::now());
        while count.load(Ordering::SeqCst) == before && began.elapsed() < patience {
            tokio::task::yield_now().await;
            std::thread::yield_now();
        }
    }

    async fn operation<'a>(&self, write: &Write<'a>) -> Option<Operation<'a>> {
        static NO_BODY: [u8; 32] = [0; 32];
        let mut operation = write.operation?;
        self.note(|noted| {
            let key = (write.tenant.clone(), *operation.id);
            noted.bodies.entry(key).or_insert(*operation.body);
        });
        match self.fault {
            Fault::OperationForgotten => return None,
            Fault::OperationRaces if self.is_crowded().await => return None,
            Fault::BodyIgnored => operation.body = &NO_BODY,
            Fault::OperationEnds(i64::MAX) => {
                operation.keep_until = write.now.saturating_add_millis(i64::MAX);
            }
            Fault::OperationEnds(late) => {
                operation.keep_until = operation.keep_until.saturating_add_millis(late);
            }
            _ => {}
        }
        Some(operation)
    }

    fn change_new(&self, new: &mut NewJudgment, crowded: bool) {
        let judgment = &mut new.judgment;
        let apart = |key: &ItemKey| {
            let long = format!("{}{key}", judgment.id)
                .chars()
                .take(256)
                .collect::<String>();
            long.parse().unwrap()
        };
        match self.fault {
            Fault::SupersedeForgotten => judgment.item.key = apart(&judgment.item.key),
            Fault::SupersedeRaces if crowded => judgment.item.key = apart(&judgment.item.key),
            Fault::ParticipantFolded => {
                let fold = |it: kindgi_core::model::ParticipantId| {
                    it.as_str().to_lowercase().parse().unwrap()
                };
                judgment.participant = judgment.participant.take().map(fold);
            }
            Fault::ReasonTrimmed => {
                let trim = |it: kindgi_core::model::Reason| it.as_str().trim().parse().unwrap();
                judgment.reason = judgment.reason.take().map(trim);
            }
            Fault::ReasonWithinBmp => {
                let cut = |it: kindgi_core::model::Reason| {
                    it.as_str()
                        .replace(|c: char| c > '\u{ffff}', "?")
                        .parse()
                        .unwrap()
                };
                judgment.reason = judgment.reason.take().map(cut);
            }
            _ => {}
        }
    }

    fn change_copy(&self, copy: &mut RunCopy) {
        match self.fault {
            Fault::JsonRewritten => copy.input = RawJson::parse(canonical(&copy.input)).unwrap(),
            Fault::DuplicateKeysDropped => {
                if let Some(members) = copy.output.members() {
                    let last = members
                        .iter()
                        .map(|(name, value)| (name.lossy().to_owned(), value.clone()));
                    let last: HashMap<_, _> = last.collect();
                    if last.len() < members.len() {
                        copy.output =
                            RawJson::object(|o| last.iter().for_each(|(k, v)| o.raw(k, v)));
                    }
                }
            }
            _ => {}
        }
    }

    fn change_page<T>(&self, page: &mut Slice<T>, limit: PageSize, id: fn(&T) -> &str) {
        let limit = usize::from(limit.get());
        match self.fault {
            Fault::MoreIsGuessed => page.more = page.rows.len() == limit,
            Fault::PageOneShort if page.more => page.rows.truncate(limit.saturating_sub(1).max(1)),
            Fault::OrderedByCollation => {
                page.rows
                    .sort_by_key(|row| std::cmp::Reverse(id(row).to_lowercase()));
            }
            _ => {}
        }
    }

    /// A run's live judgments, newest first.
    async fn live_of(&self, tenant: &TenantId, run: &RunId) -> StoreResult<Vec<Judgment>> {
        let filter = JudgmentFilter {
            run: Some(run.clone()),
            ..JudgmentFilter::default()
        };
        let all = Keyset {
            after: None,
            limit: PageSize::new(100).unwrap(),
        };
        let live = self
            .store
            .judgments(tenant, &filter, &Readable::All, &all)
            .await?;
        Ok(live.rows)
    }

    fn change_keyset(&self, keyset: &Keyset) -> Keyset {
        let mut keyset = keyset.clone();
        if self.is(Fault::TiesSkipped) {
            keyset.after = keyset.after.map(|after| Position {
                at: after.at,
                id: "".into(),
            });
        }
        if self.is(Fault::CursorRowRepeated) {
            keyset.after = keyset.after.map(|after| Position {
                id: format!("{}\0", after.id).into(),
                ..after
            });
        }
        keyset
    }

    fn change_readable(&self, readable: &Readable) -> Readable {
        match self.fault {
            Fault::ReadableIgnored | Fault::ReadableAfterPaging => Readable::All,
            _ => readable.clone(),
        }
    }
}

#[async_trait]
impl JudgeClassStore for Faulty {
    async fn create_class(
        &self,
        write: Write<'_>,
        class: &JudgeClass,
    ) -> StoreResult<Applied<ClassCreated>> {
        let _writing = self.begin();
        let mut class = class.clone();
        let all = Keyset {
            after: None,
            limit: PageSize::new(100).unwrap(),
        };
        let every = ClassFilter::default();
        let live = self
            .store
            .classes(write.tenant, &every, &Readable::All, &all)
            .await?
            .rows;
        let own = (
            write.tenant.clone(),
            (class.scope.clone(), class.name.to_string()),
        );
        let taken = match self.fault {
            Fault::NamesFolded(fold) => live.iter().any(|it| {
                it.scope == class.scope && fold.of(it.name.as_str()) == fold.of(class.name.as_str())
            }),
            Fault::NamesSharedByScopes => live.iter().any(|it| it.name == class.name),
            Fault::NameNeverFreed => !self.note(|noted| noted.names.insert(own)),
            _ => false,
        };
        if taken {
            return Ok(Applied::Done(ClassCreated::NameTaken));
        }
        if self.is(Fault::NameRaces) && self.is_crowded().await {
            class.name = format!("{} {}", class.name, class.id).parse().unwrap();
        }
        let inner = Write {
            operation: self.operation(&write).await,
            ..write
        };
        self.store.create_class(inner, &class).await
    }

    async fn replace_class(
        &self,
        write: Write<'_>,
        at: u64,
        next: &JudgeClass,
    ) -> StoreResult<Applied<ClassReplaced>> {
        let _writing = self.begin();
        let mut at = at;
        if self.is(Fault::RevisionUnchecked) {
            let now = self.store.class(write.tenant, &next.id).await?;
            at = now.map_or(at, |now| now.revision);
        }
        if [Fault::RuleClassRaces, Fault::RecordClassRaces].contains(&self.fault) {
            self.until_others_did(&self.class_checks, Duration::from_millis(20))
                .await;
        }
        let inner = Write {
            operation: self.operation(&write).await,
            ..write
        };
        if !next.is_live() {
            self.note(|noted| noted.retired.push(next.id.clone()));
        }
        self.store.replace_class(inner, at, next).await
    }

    async fn class(
        &self,
        tenant: &TenantId,
        id: &JudgeClassId,
    ) -> StoreResult<Option<Revised<JudgeClass>>> {
        self.store.class(tenant, id).await
    }

    async fn classes(
        &self,
        tenant: &TenantId,
        filter: &ClassFilter,
        readable: &Readable,
        keyset: &Keyset,
    ) -> StoreResult<Slice<JudgeClass>> {
        let inner = self.change_keyset(keyset);
        let all = self.change_readable(readable);
        let mut page = self.store.classes(tenant, filter, &all, &inner).await?;
        if self.is(Fault::TenantClassesForNobody) && readable.is_empty() {
            page = self
                .store
                .classes(tenant, filter, &Readable::All, &inner)
                .await?;
            page.rows.retain(|class| class.scope == ClassScope::Tenant);
        }
        self.change_page(&mut page, keyset.limit, |row| row.id.as_str());
        Ok(page)
    }
}
