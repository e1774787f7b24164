//! The operations of the API, without HTTP: each in the API's order of checks, so that none
//! leaks what an earlier one hides.
//!
//! An [`Engine`] is the store, the host and the clock put together. It holds no state of its
//! own, and cloning it is cheap.
//!
//! A future of a write that is dropped leaves all of it done or none; whoever must not lose an
//! acknowledged write lets the future run to its end, as `kindgi-tower` does.

mod access;
mod judge_classes;
mod judging_queue;
mod judging_rules;
mod judgments;
mod keyed;
mod lifecycle;
mod rule_results;

use std::{fmt, sync::Arc};

pub use judge_classes::{AssertableByView, CreateJudgeClass, JudgeClassView, UpdateJudgeClass};
pub use judging_queue::{QueuePage, QueuePageRequest, QueueQuery};
pub use judging_rules::{RulePatch, RuleSpec};
pub use judgments::{JudgmentQuery, ListScope, RecordJudgment};
pub use lifecycle::{BackFilled, Told};
pub use rule_results::{MAX_PREVIEW, Preview, PreviewRule};

use self::keyed::Keyed;
use crate::{
    clock::{Clock, SystemClock},
    error::{Error, ErrorKind},
    host::{ContextCapture, Directory, Permissions, RecentRuns, Runs},
    idempotency::{IdempotencyStore, MemoryIdempotency},
    model::{InvalidText, Page, PageRequest, Position, Principal},
    store::{Keyset, Slice, Store, Write},
};

/// How often a decision is made again when what it was made on changed meanwhile. Each time,
/// somebody else got theirs through; so this many must overtake one before it is given up.
const ATTEMPTS: usize = 1024;

/// The operations of the API on a store, for a host.
///
/// ```
/// # use kindgi_core::{HostError, MemoryStore, json::RawJson, host::*, model::*};
/// # use kindgi_core::engine::{Engine, JudgmentQuery, RecordJudgment};
/// # struct MyRuns;
/// # #[async_trait::async_trait]
/// # impl Runs for MyRuns {
/// #     async fn run(&self, _: &TenantId, id: &RunId) -> Result<Option<Run>, HostError> {
/// #         let subject = Subject::Agent { id: "a".parse().unwrap(), version: "1".parse().unwrap() };
/// #         let run = Run::new(id.clone(), "p".parse().unwrap(), subject);
/// #         Ok(Some(run.completed_with(RawJson::parse(r#"{"score":1.10}"#).unwrap())))
/// #     }
/// # }
/// # struct MyPermissions;
/// # #[async_trait::async_trait]
/// # impl Permissions for MyPermissions {
/// #     async fn allows(&self, _: &Principal, _: Permission<'_>) -> Result<bool, HostError> { Ok(true) }
/// #     async fn readable_projects(&self, _: &Principal) -> Result<Readable, HostError> { Ok(Readable::All) }
/// # }
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let engine = Engine::builder(MemoryStore::new(), MyRuns, MyPermissions).build();
///
/// let ada = Principal::user("acme".parse()?, "ada".parse()?);
/// let item = Item::new("score".parse()?).with_pointer("/score".parse()?);
/// let judgment = engine
///     .record_judgment(&ada, RecordJudgment::new("run-1".parse()?, item, Verdict::Yes))
///     .await?;
///
/// let kept = engine.judgment(&ada, &judgment.id).await?;
/// assert_eq!(kept.item_value.unwrap().as_str(), "1.10");
/// # let page = engine.judgments(&ada, &JudgmentQuery::default(), &PageRequest::default()).await?;
/// # assert_eq!(page.rows, [judgment]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Engine(Arc<Parts>, Option<Keyed>);

struct Parts {
    store: Arc<dyn Store>,
    runs: Arc<dyn Runs>,
    permissions: Arc<dyn Permissions>,
    directory: Option<Arc<dyn Directory>>,
    context: Option<Arc<dyn ContextCapture>>,
    recent_runs: Option<Arc<dyn RecentRuns>>,
    idempotency: Arc<dyn IdempotencyStore>,
    clock: Arc<dyn Clock>,
}

impl fmt::Debug for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Engine").finish_non_exhaustive()
    }
}

/// Puts an [`Engine`] together.
pub struct EngineBuilder(Parts);

impl fmt::Debug for EngineBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EngineBuilder").finish_non_exhaustive()
    }
}

impl EngineBuilder {
    /// Adds what the host knows of its projects and organisations. Without it every project id
    /// is taken for a project, and no organisation has any.
    #[must_use]
    pub fn directory(mut self, directory: impl Directory) -> Self {
        self.0.directory = Some(Arc::new(directory));
        self
    }

    /// Adds what captures a run's context at its first judgment. Without it copies have none.
    #[must_use]
    pub fn context_capture(mut self, context: impl ContextCapture) -> Self {
        self.0.context = Some(Arc::new(context));
        self
    }

    /// Adds the host's recent runs, for previews of rules and for telling the rules again what a
    /// crash kept from them. Without it a preview considers no runs.
    #[must_use]
    pub fn recent_runs(mut self, recent: impl RecentRuns) -> Self {
        self.0.recent_runs = Some(Arc::new(recent));
        self
    }

    /// Where idempotency keys are kept. Without it they are kept in memory, so that nodes don't
    /// share them, and a restart loses them; the receipts in the store keep effects at most once
    /// all the same.
    #[must_use]
    pub fn idempotency(mut self, keys: impl IdempotencyStore) -> Self {
        self.0.idempotency = Arc::new(keys);
        self
    }

    /// Replaces the machine's clock.
    #[must_use]
    pub fn clock(mut self, clock: impl Clock) -> Self {
        self.0.clock = Arc::new(clock);
        self
    }

    /// The engine.
    #[must_use]
    pub fn build(self) -> Engine {
        Engine(Arc::new(self.0), None)
    }
}

impl Engine {
    /// Begins with what every engine needs: a store, the host's runs and its permissions.
    pub fn builder(
        store: impl Store,
        runs: impl Runs,
        permissions: impl Permissions,
    ) -> EngineBuilder {
        EngineBuilder(Parts {
            store: Arc::new(store),
            runs: Arc::new(runs),
            permissions: Arc::new(permissions),
            directory: None,
            context: None,
            recent_runs: None,
            idempotency: Arc::new(MemoryIdempotency::new()),
            clock: Arc::new(SystemClock),
        })
    }

    /// The clock that the engine goes by.
    pub fn clock(&self) -> &dyn Clock {
        &*self.0.clock
    }

    /// A new id of any kind; only a clock of the host's own can fail to make one.
    fn new_id<T: TryFrom<String, Error = InvalidText>>(&self) -> Result<T, Error> {
        T::try_from(self.0.clock.new_id())
            .map_err(|e| Error::new(ErrorKind::Internal, "the clock made no id").with_source(e))
    }

    /// The store of idempotency keys.
    pub fn idempotency(&self) -> &Arc<dyn IdempotencyStore> {
        &self.0.idempotency
    }

    fn write<'a>(&'a self, who: &'a Principal) -> Write<'a> {
        let now = self.0.clock.now();
        Write {
            tenant: &who.tenant,
            now,
            operation: self.1.as_ref().map(|keyed| keyed.operation(now)),
        }
    }
}

/// A decision that was overtaken every time.
fn overtaken() -> Error {
    Error::new(
        ErrorKind::Busy,
        "others kept changing what this depends on; try again",
    )
}

fn keyset(page: &PageRequest) -> Keyset {
    Keyset {
        after: page.after.clone(),
        limit: page.size,
    }
}

/// A slice as a page, with the last row's place where more follow.
fn page<T>(slice: Slice<T>, place: impl Fn(&T) -> Position) -> Page<T> {
    let next = slice.rows.last().filter(|_| slice.more).map(place);
    Page {
        rows: slice.rows,
        next,
    }
}
