//! Listing the judging queue, and dismissing and reopening its items.

use std::sync::Arc;

use super::Engine;
use crate::{
    clock::Timestamp,
    error::{Error, ErrorKind},
    host::Permission,
    model::{
        AgentId, DismissReason, ItemState, JudgeClassId, PageSize, Position, Principal,
        PrincipalRef, ProjectId, QueueItem, RuleId, RunId,
    },
    store::{ItemMoved, Keyset, QueueFilter, Receipt},
};

/// Which items of a queue. Every part that is set must hold.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct QueueQuery {
    /// In this state.
    pub state: Option<ItemState>,
    /// Of this agent's own runs; an erased item shows none.
    pub agent: Option<AgentId>,
    /// Taken by any version of this rule.
    pub rule: Option<RuleId>,
    /// Wanting this class's judgment.
    pub wants: Option<JudgeClassId>,
    /// Wanting any judgment, or that of a live class which the caller may assert.
    pub for_me: bool,
    /// Queued at that instant or later.
    pub added_after: Option<Timestamp>,
    /// Closed at that instant or later.
    pub closed_after: Option<Timestamp>,
}

/// Which page of a queue.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct QueuePageRequest {
    /// The last item of the page before; `None` asks for the first page.
    pub after: Option<Position>,
    /// How many items at most; `None` asks only how many match.
    pub size: Option<PageSize>,
}

impl Default for QueuePageRequest {
    fn default() -> Self {
        let size = Some(PageSize::default());
        Self { after: None, size }
    }
}

/// A page of a queue.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct QueuePage {
    /// The items, oldest first.
    pub items: Vec<QueueItem>,
    /// Where the next page begins; `None` on the last one.
    pub next: Option<Position>,
    /// How many items match, on all pages together.
    pub total: u64,
    /// Whether the caller may dismiss and reopen.
    pub may_write: bool,
}

impl Engine {
    /// The items of a project's queue that match, oldest first: when they were queued, then the
    /// run's id.
    pub async fn judging_queue(
        &self,
        who: &Principal,
        project: &ProjectId,
        query: &QueueQuery,
        request: &QueuePageRequest,
    ) -> Result<QueuePage, Error> {
        self.readable_project(who, project).await?;
        let store = &self.0.store;
        let wants_any_or = match query.for_me {
            false => None,
            true => {
                let classes = store.wanted_classes(&who.tenant, project).await?;
                let mine = classes.into_iter().filter(|class| {
                    let by = class.assertable_by.as_ref();
                    by.is_none_or(|by| by.is_met_by(who))
                });
                Some(mine.map(|class| class.id).collect())
            }
        };
        let filter = QueueFilter {
            state: query.state,
            agent: query.agent.clone(),
            rule: query.rule.clone(),
            wants: query.wants.clone(),
            wants_any_or,
            added_after: query.added_after,
            closed_after: query.closed_after,
        };
        let keyset = request.size.map(|limit| Keyset {
            after: request.after.clone(),
            limit,
        });
        let found = store
            .queue(&who.tenant, project, &filter, keyset.as_ref())
            .await?;
        let last = found.slice.rows.last().filter(|_| found.slice.more);
        let next = last.map(|item| Position {
            at: item.added_at,
            id: Arc::from(item.run.as_str()),
        });
        Ok(QueuePage {
            next,
            items: found.slice.rows,
            total: found.total,
            may_write: self.allows(who, Permission::Write { project }).await?,
        })
    }

    /// Dismisses an open item. The checks, in this order: the project exists and is readable
    /// ([`ProjectNotFound`](ErrorKind::ProjectNotFound)); the run has an item in it
    /// ([`JudgingItemNotFound`](ErrorKind::JudgingItemNotFound)); the caller may write
    /// ([`PermissionDenied`](ErrorKind::PermissionDenied)); the item is open
    /// ([`JudgingItemNotOpen`](ErrorKind::JudgingItemNotOpen)).
    pub async fn dismiss_judging_item(
        &self,
        who: &Principal,
        project: &ProjectId,
        run: &RunId,
        reason: Option<&DismissReason>,
    ) -> Result<QueueItem, Error> {
        let dismissed = self.dismiss(who, project, run, reason).await;
        self.unless_done(who, dismissed, |receipt| match receipt {
            Receipt::Dismissed(ItemMoved::Ok(item)) => Some(*item),
            _ => None,
        })
        .await
    }

    async fn dismiss(
        &self,
        who: &Principal,
        project: &ProjectId,
        run: &RunId,
        reason: Option<&DismissReason>,
    ) -> Result<QueueItem, Error> {
        self.movable(who, project, run).await?;
        let (store, by) = (&self.0.store, PrincipalRef::from(who));
        let applied = store
            .dismiss(self.write(who), project, run, &by, reason)
            .await?;
        moved(self.done(applied)?, "only an open item can be dismissed")
    }

    /// Reopens a dismissed item, whatever its rules' caps say. It is judged at once if it has what
    /// it wants by now. The checks are those of
    /// [`dismiss_judging_item`](Self::dismiss_judging_item), for a dismissed item.
    pub async fn reopen_judging_item(
        &self,
        who: &Principal,
        project: &ProjectId,
        run: &RunId,
    ) -> Result<QueueItem, Error> {
        let reopened = self.reopen(who, project, run).await;
        self.unless_done(who, reopened, |receipt| match receipt {
            Receipt::Reopened(ItemMoved::Ok(item)) => Some(*item),
            _ => None,
        })
        .await
    }

    async fn reopen(
        &self,
        who: &Principal,
        project: &ProjectId,
        run: &RunId,
    ) -> Result<QueueItem, Error> {
        self.movable(who, project, run).await?;
        let (store, by) = (&self.0.store, PrincipalRef::from(who));
        let applied = store.reopen(self.write(who), project, run, &by).await?;
        moved(self.done(applied)?, "only a dismissed item can be reopened")
    }

    /// The checks before an item's state.
    async fn movable(
        &self,
        who: &Principal,
        project: &ProjectId,
        run: &RunId,
    ) -> Result<(), Error> {
        self.readable_project(who, project).await?;
        let item = self.0.store.queue_item(&who.tenant, project, run).await?;
        item.ok_or_else(no_item)?;
        let message = "you may not dismiss or reopen items of this project's queue";
        self.require(who, Permission::Write { project }, message)
            .await
    }
}

fn moved(outcome: ItemMoved, message: &'static str) -> Result<QueueItem, Error> {
    match outcome {
        ItemMoved::Ok(item) => Ok(*item),
        ItemMoved::Not(state) => {
            let message = format!("{message}, but this one is {}", state.as_str());
            Err(Error::new(ErrorKind::JudgingItemNotOpen, message))
        }
        ItemMoved::Missing => Err(no_item()),
    }
}

fn no_item() -> Error {
    Error::new(
        ErrorKind::JudgingItemNotFound,
        "the run is not in this project's judging queue",
    )
}
