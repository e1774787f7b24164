//! Recording, listing, fetching and removing judgments.

use std::{
    collections::BTreeSet,
    future::poll_fn,
    panic::{AssertUnwindSafe, catch_unwind},
    pin::pin,
    sync::Arc,
    task::Poll,
};

use super::{ATTEMPTS, Engine, keyset, overtaken, page};
use crate::{
    error::{Error, ErrorKind, HostError},
    host::Permission,
    json::{Pointer, RawJson},
    model::{
        Correction, Item, ItemKey, JudgeClassId, Judgment, JudgmentId, JudgmentWithCopies, OrgId,
        Page, PageRequest, ParticipantId, Position, Principal, ProjectId, Readable, Reason, Run,
        RunContext, RunCopy, RunId, Verdict,
    },
    store::{ClassAt, JudgmentFilter, JudgmentRemoved, NewJudgment, Receipt, Recorded},
};

/// A judgment to record. Who asserts it is always the caller.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RecordJudgment {
    /// The run.
    pub run: RunId,
    /// What is judged.
    pub item: Item,
    /// Whether it was right.
    pub verdict: Verdict,
    /// Why.
    pub reason: Option<Reason>,
    /// The class to judge under.
    pub class: Option<JudgeClassId>,
    /// On whose behalf.
    pub participant: Option<ParticipantId>,
    /// What the agent should have done; needs an item that points at the whole output.
    pub correction: Option<Correction>,
}

impl RecordJudgment {
    /// A verdict on an item, and nothing else.
    pub fn new(run: RunId, item: Item, verdict: Verdict) -> Self {
        Self {
            run,
            item,
            verdict,
            reason: None,
            class: None,
            participant: None,
            correction: None,
        }
    }

    /// Reserved keys, where a correction may ride, and a pointer that every store can keep.
    fn check(&self) -> Result<(), Error> {
        let refuse =
            |field, message| Err(Error::new(ErrorKind::BadInput, message).with_field(field));
        let key = &self.item.key;
        if key.is_reserved() && key.as_str() != ItemKey::CORRECTION {
            return refuse("/item/key", "keys beginning with `kindgi:` are reserved");
        }
        if key.is_reserved() && self.correction.is_none() {
            return refuse(
                "/item/key",
                "`kindgi:correction` is reserved for a judgment with a correction",
            );
        }
        let pointer = self.item.pointer.as_ref();
        if pointer.is_some_and(|pointer| pointer.as_str().contains('\0')) {
            return refuse("/item/pointer", "must not contain U+0000");
        }
        let whole = pointer.is_some_and(Pointer::is_root);
        if self.correction.is_some() && !whole {
            return refuse(
                "/item/pointer",
                "a correction needs the pointer \"\", the whole output",
            );
        }
        Ok(())
    }
}

/// Which judgments to list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct JudgmentQuery {
    /// Those that match.
    pub filter: JudgmentFilter,
    /// Those of this scope.
    pub scope: Option<ListScope>,
}

/// A scope that a list is narrowed to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ListScope {
    /// The caller's tenant, so no narrowing.
    Tenant,
    /// The projects of an organisation, as the host's directory says.
    Org(OrgId),
    /// One project.
    Project(ProjectId),
}

/// What a judgment was decided on.
struct Decision<'a> {
    output: &'a RawJson,
    item_value: Option<RawJson>,
    class_revision: Option<u64>,
    restricted: bool,
}

impl Engine {
    /// Records a judgment, and supersedes the caller's live one of the same run, item key and
    /// participant.
    ///
    /// The checks, in this order: the item's key and pointer fit the correction
    /// ([`BadInput`](ErrorKind::BadInput)); the run exists and is readable
    /// ([`RunNotFound`](ErrorKind::RunNotFound)); the caller may judge it
    /// ([`PermissionDenied`](ErrorKind::PermissionDenied)); it isn't erased
    /// ([`RunErased`](ErrorKind::RunErased)); it completed with an output
    /// ([`RunNotFinished`](ErrorKind::RunNotFinished)); the class lives and applies
    /// ([`JudgeClassNotApplicable`](ErrorKind::JudgeClassNotApplicable)); the caller meets it
    /// ([`JudgeClassNotAllowed`](ErrorKind::JudgeClassNotAllowed)); the pointer resolves
    /// ([`ItemNotFound`](ErrorKind::ItemNotFound)).
    pub async fn record_judgment(
        &self,
        who: &Principal,
        new: RecordJudgment,
    ) -> Result<Judgment, Error> {
        let recorded = self.record(who, new).await;
        self.unless_done(who, recorded, |receipt| match receipt {
            Receipt::Recorded(Recorded::Ok { judgment, .. }) => Some(*judgment),
            _ => None,
        })
        .await
    }

    async fn record(&self, who: &Principal, new: RecordJudgment) -> Result<Judgment, Error> {
        new.check()?;
        let run = self.readable_run(who, &new.run).await?;
        let (project, id) = (&run.project, &run.id);
        let judge = Permission::Judge { project, run: id };
        self.require(who, judge, "you may not judge this run")
            .await?;
        if run.erased {
            return Err(erased());
        }
        let id = self.new_id::<JudgmentId>()?;
        let mut copy = None;
        for _ in 0..ATTEMPTS {
            let decision = match self.decide(who, &run, &new).await {
                Ok(decision) => decision,
                Err(refusal) => return Err(self.unless_erased(who, &run, refusal).await?),
            };
            let write = self.write(who);
            let class = new.class.as_ref().zip(decision.class_revision);
            let class = class.map(|(id, revision)| ClassAt { id, revision });
            let judgment = NewJudgment {
                judgment: judgment(who, &run, &new, &decision, id.clone(), write.now),
                item_value: decision.item_value,
            };
            let recorded = self
                .0
                .store
                .record(write, &judgment, copy.as_ref(), class)
                .await?;
            match self.done(recorded)? {
                Recorded::Ok { judgment, .. } => return Ok(*judgment),
                Recorded::RunErased => return Err(erased()),
                Recorded::NeedsCopy => copy = Some(self.copy(who, &run, decision.output).await),
                Recorded::ClassChanged => {}
            }
        }
        Err(overtaken())
    }

    /// The live judgments that match, newest first: `created_at`, then id, both descending.
    pub async fn judgments(
        &self,
        who: &Principal,
        query: &JudgmentQuery,
        request: &PageRequest,
    ) -> Result<Page<Judgment>, Error> {
        let filter = &query.filter;
        if filter.agent_version.is_some() && filter.agent.is_none() {
            let message = "agentVersion needs agentId";
            return Err(Error::new(ErrorKind::BadInput, message).with_field("agentVersion"));
        }
        let readable = self.readable_in(who, query.scope.as_ref()).await?;
        if readable.is_empty() {
            return Ok(Page::empty());
        }
        let keyset = keyset(request);
        let slice = self
            .0
            .store
            .judgments(&who.tenant, filter, &readable, &keyset)
            .await?;
        Ok(page(slice, |judgment| Position {
            at: judgment.created_at,
            id: Arc::from(judgment.id.as_str()),
        }))
    }

    /// A judgment, live or not, with its copies.
    pub async fn judgment(
        &self,
        who: &Principal,
        id: &JudgmentId,
    ) -> Result<JudgmentWithCopies, Error> {
        if let Some(found) = self.0.store.judgment(&who.tenant, id).await?
            && self.may_read(who, &found.judgment.project).await?
        {
            return Ok(found);
        }
        Err(no_judgment())
    }

    /// Removes a live judgment. Nothing revives: judging again starts anew.
    pub async fn unregister_judgment(&self, who: &Principal, id: &JudgmentId) -> Result<(), Error> {
        let removed = self.remove(who, id).await;
        self.unless_done(who, removed, |receipt| match receipt {
            Receipt::JudgmentRemoved(_) => Some(()),
            _ => None,
        })
        .await
    }

    async fn remove(&self, who: &Principal, id: &JudgmentId) -> Result<(), Error> {
        let found = self.judgment(who, id).await?.judgment;
        let write = Permission::Write {
            project: &found.project,
        };
        self.require(who, write, "you may not remove judgments of this project")
            .await?;
        match self.done(self.0.store.remove(self.write(who), id).await?)? {
            JudgmentRemoved::Ok => Ok(()),
            JudgmentRemoved::NotLive => Err(no_judgment()),
        }
    }

    /// The checks that depend on the run's output and the class.
    async fn decide<'a>(
        &self,
        who: &Principal,
        run: &'a Run,
        new: &RecordJudgment,
    ) -> Result<Decision<'a>, Error> {
        let Some(output) = run.judgeable_output() else {
            let message = "the run has no output to judge";
            return Err(Error::new(ErrorKind::RunNotFinished, message));
        };
        let mut class_revision = None;
        let mut restricted = false;
        if let Some(id) = &new.class {
            let class = self.0.store.class(&who.tenant, id).await?;
            let class = class.filter(|class| {
                class.value.is_live() && class.value.scope.applies_to(&run.project, &run.subject)
            });
            let Some(class) = class else {
                let kind = ErrorKind::JudgeClassNotApplicable;
                let message = "no such judge class applies to this run";
                return Err(Error::new(kind, message).with_field("/judgeClassId"));
            };
            class_revision = Some(class.revision);
            if let Some(by) = &class.value.assertable_by {
                restricted = true;
                if !by.is_met_by(who) {
                    let kind = ErrorKind::JudgeClassNotAllowed;
                    let message = "you may not judge under this judge class";
                    return Err(Error::new(kind, message).with_field("/judgeClassId"));
                }
            }
        }
        let item_value = match &new.item.pointer {
            None => None,
            Some(pointer) => match pointer.resolve(output) {
                Some(value) => Some(value.detached()),
                None => {
                    let message = "the pointer resolves to nothing in the run's output";
                    let error = Error::new(ErrorKind::ItemNotFound, message);
                    return Err(error.with_field("/item/pointer"));
                }
            },
        };
        Ok(Decision {
            output,
            item_value,
            class_revision,
            restricted,
        })
    }

    /// A refusal tells about the run's content, so an erasure that only the store knows of must
    /// come before it.
    async fn unless_erased(
        &self,
        who: &Principal,
        run: &Run,
        refusal: Error,
    ) -> Result<Error, Error> {
        let by_store = matches!(refusal.kind(), ErrorKind::Busy | ErrorKind::Internal);
        if !by_store && self.0.store.is_erased(&who.tenant, &run.id).await? {
            return Ok(erased());
        }
        Ok(refusal)
    }

    async fn copy(&self, who: &Principal, run: &Run, output: &RawJson) -> RunCopy {
        let mut context = match &self.0.context {
            // A failed capture costs the context, never the judgment; so does one that panics.
            Some(context) => caught(context.capture(&who.tenant, run)).await,
            None => None,
        };
        if let Some(replayed) = &run.replay_of {
            context = Some(match context {
                Some(context) => context.with_replay_of(replayed),
                None => RunContext::of_replay(replayed),
            });
        }
        RunCopy {
            run: run.id.clone(),
            subject: run.subject.clone(),
            input: run.input.clone(),
            output: output.clone(),
            context,
            segments: Some(run.segments.clone()),
            captured_at: self.0.clock.now(),
        }
    }

    async fn readable_in(
        &self,
        who: &Principal,
        scope: Option<&ListScope>,
    ) -> Result<Readable, Error> {
        let readable = self.readable(who).await?;
        let projects = match scope {
            None | Some(ListScope::Tenant) => return Ok(readable),
            Some(ListScope::Project(project)) => BTreeSet::from([project.clone()]),
            Some(ListScope::Org(org)) => match &self.0.directory {
                Some(directory) => directory.projects_of_org(&who.tenant, org).await?,
                None => BTreeSet::new(),
            },
        };
        Ok(readable.narrowed_to(projects))
    }
}

/// What a capture gives, or nothing.
async fn caught(
    capture: impl Future<Output = Result<Option<RunContext>, HostError>>,
) -> Option<RunContext> {
    let mut capture = pin!(capture);
    let polled = poll_fn(|cx| {
        // Nothing of the capture is looked at after a panic.
        let poll = catch_unwind(AssertUnwindSafe(|| capture.as_mut().poll(cx)));
        poll.unwrap_or(Poll::Ready(Ok(None)))
    });
    polled.await.unwrap_or_default()
}

fn judgment(
    who: &Principal,
    run: &Run,
    new: &RecordJudgment,
    decision: &Decision<'_>,
    id: JudgmentId,
    now: crate::Timestamp,
) -> Judgment {
    Judgment {
        id,
        tenant: who.tenant.clone(),
        project: run.project.clone(),
        run: run.id.clone(),
        subject: run.subject.clone(),
        item: new.item.clone(),
        verdict: new.verdict,
        reason: new.reason.clone(),
        correction: new.correction.clone(),
        class: new.class.clone(),
        restricted: decision.restricted,
        asserted_by: who.asserted_by(),
        participant: new.participant.clone(),
        created_at: now,
        unregistered_at: None,
        superseded_by: None,
    }
}

fn erased() -> Error {
    Error::new(ErrorKind::RunErased, "the run's content was erased")
}

fn no_judgment() -> Error {
    Error::new(ErrorKind::JudgmentNotFound, "no such judgment")
}
