//! What the host may ask beside the API: telling the rules of ended runs, erasing, purging, and
//! reading what was judged.

use std::{num::NonZeroU16, sync::Arc};

use super::{ATTEMPTS, Engine, keyset, overtaken, page};
use crate::{
    clock::Timestamp,
    error::{Error, ErrorKind},
    idempotency::About,
    model::{
        EndedRun, Page, PageRequest, ParticipantId, Position, ProjectId, QueueItem, RunId,
        RunStatus, TenantId,
    },
    rules::{matching, sampling},
    store::{Candidate, JudgedRun, JudgedRunFilter, PurgePosition, Purged, Taken, Write},
};

/// What became of telling the rules of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Told {
    /// It is queued.
    Queued(Box<QueueItem>),
    /// Rules match it and sampled it, but each had as many open items as it may have.
    Skipped,
    /// It was taken or skipped before.
    Known,
    /// No rule matches it and sampled it. It may be told again later.
    NotWanted,
    /// Its content was erased.
    Erased,
    /// It ended before what was purged.
    BeforePurge,
}

/// What became of telling the rules of a project's last runs again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct BackFilled {
    /// How many runs were told.
    pub told: u64,
    /// How many of them are queued now and were not before.
    pub queued: u64,
    /// How many of them are skipped now and were not before.
    pub skipped: u64,
}

impl Engine {
    /// Tells the judging rules that a run ended: those that match and sample it take it, unless
    /// they have as many open items as they may have.
    ///
    /// Safe to call twice, at once, and from several nodes: what a telling took or skipped is
    /// kept, and telling that run again changes nothing. Call it after the run's end is stored on
    /// the host's side, so that whoever finds the run in the queue finds it there, too.
    ///
    /// Where it fails, nothing is kept, and the host calls again: with the kind
    /// [`Busy`](ErrorKind::Busy), also where rules of the project kept changing all the while. A
    /// telling lost in a crash is made up for by [`back_fill`](Self::back_fill).
    pub async fn run_ended(&self, tenant: &TenantId, run: &EndedRun) -> Result<Told, Error> {
        let store = &self.0.store;
        for _ in 0..ATTEMPTS {
            let enabled = store.enabled_rules(tenant, &run.project).await?;
            let takes = enabled.rules.iter().filter(|rule| {
                matching::matches(&rule.when, run)
                    && sampling::takes(rule.sample, &rule.id, &run.id)
            });
            let candidates: Vec<Candidate> = takes.map(Candidate::from).collect();
            if candidates.is_empty() {
                return Ok(Told::NotWanted);
            }
            let write = self.host_write(tenant);
            let taken = store.take(write, run, enabled.revision, &candidates);
            match taken.await? {
                Taken::Queued(item) => return Ok(Told::Queued(item)),
                Taken::AllSkipped => return Ok(Told::Skipped),
                Taken::Known => return Ok(Told::Known),
                Taken::RunErased => return Ok(Told::Erased),
                Taken::BeforePurge => return Ok(Told::BeforePurge),
                Taken::RulesChanged => {}
            }
        }
        Err(overtaken())
    }

    /// Tells the rules of a project's last ended runs again, oldest first, as the host's
    /// [`RecentRuns`](crate::host::RecentRuns) says them: whatever a crash kept from being told.
    ///
    /// For the start of a host, or once a day. A run that a rule took or skipped stays as it is;
    /// one that no rule wanted then is told to the rules of today.
    pub async fn back_fill(
        &self,
        tenant: &TenantId,
        project: &ProjectId,
        last: u16,
    ) -> Result<BackFilled, Error> {
        let mut filled = BackFilled::default();
        let mut runs = self.recent(tenant, project, last).await?;
        runs.reverse();
        for run in &runs {
            let told = self.run_ended(tenant, run).await?;
            filled.told += 1;
            filled.queued += u64::from(matches!(told, Told::Queued(_)));
            filled.skipped += u64::from(told == Told::Skipped);
        }
        Ok(filled)
    }

    /// The project's last ended runs that are runs of their own and replay nothing, newest first.
    pub(super) async fn recent(
        &self,
        tenant: &TenantId,
        project: &ProjectId,
        last: u16,
    ) -> Result<Vec<EndedRun>, Error> {
        let Some(recent) = &self.0.recent_runs else {
            return Ok(Vec::new());
        };
        let mut runs = recent.last_ended(tenant, project, last).await?;
        runs.retain(|run| {
            run.project == *project
                && run.status != RunStatus::Running
                && run.top_level
                && !run.replay
        });
        runs.truncate(last.into());
        Ok(runs)
    }

    /// Erases a run: see [`Lifecycle::erase_run`](crate::store::Lifecycle::erase_run). Answers
    /// about it that are kept for idempotency keys are forgotten. After an error call it again: it may
    /// have been done by half.
    ///
    /// Erase the content on the host's own side first, so that no judgment meanwhile copies it
    /// again. A run that the host purges for good is erased here, too.
    pub async fn erase_run(&self, tenant: &TenantId, run: &RunId) -> Result<(), Error> {
        let write = self.host_write(tenant);
        self.0.store.erase_run(write, run).await?;
        let about = About::Run(run.clone());
        Ok(self.0.idempotency.forget(tenant, &about).await?)
    }

    /// Erases a participant, an app's end user: see
    /// [`Lifecycle::erase_participant`](crate::store::Lifecycle::erase_participant). How many
    /// judgments changed. After an error call it again: it may have been done by half, and answers
    /// that are kept for idempotency keys not be forgotten yet.
    ///
    /// The pseudonym in their id's place is random, so that nothing leads back to them.
    pub async fn erase_participant(
        &self,
        tenant: &TenantId,
        participant: &ParticipantId,
    ) -> Result<u64, Error> {
        let pseudonym = self.new_id::<ParticipantId>()?;
        let write = self.host_write(tenant);
        let changed = self
            .0
            .store
            .erase_participant(write, participant, &pseudonym)
            .await?;
        let about = About::Participant(participant.clone());
        self.0.idempotency.forget(tenant, &about).await?;
        Ok(changed)
    }

    /// One step of removing for good what is older than `before`: see
    /// [`Lifecycle::purge`](crate::store::Lifecycle::purge).
    ///
    /// ```
    /// # use kindgi_core::{Error, Timestamp, engine::Engine, model::TenantId};
    /// # async fn example(engine: Engine, tenant: TenantId, before: Timestamp) -> Result<(), Error> {
    /// let limit = std::num::NonZeroU16::new(500).unwrap();
    /// let mut from = None;
    /// loop {
    ///     let step = engine.purge(&tenant, before, from.as_ref(), limit).await?;
    ///     from = step.next;
    ///     if from.is_none() {
    ///         break;
    ///     }
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// `before` may not be in the future ([`BadInput`](ErrorKind::BadInput)).
    pub async fn purge(
        &self,
        tenant: &TenantId,
        before: Timestamp,
        from: Option<&PurgePosition>,
        limit: NonZeroU16,
    ) -> Result<Purged, Error> {
        let write = self.host_write(tenant);
        if before > write.now {
            let message = "must not be in the future";
            return Err(Error::new(ErrorKind::BadInput, message).with_field("before"));
        }
        Ok(self.0.store.purge(write, before, from, limit).await?)
    }

    /// The judged runs that match, with their copies and live judgments, newest first: see
    /// [`Lifecycle::judged_runs`](crate::store::Lifecycle::judged_runs).
    pub async fn judged_runs(
        &self,
        tenant: &TenantId,
        filter: &JudgedRunFilter,
        request: &PageRequest,
    ) -> Result<Page<JudgedRun>, Error> {
        let store = &self.0.store;
        let slice = store.judged_runs(tenant, filter, &keyset(request)).await?;
        Ok(page(slice, |run| Position {
            at: run.copy.captured_at,
            id: Arc::from(run.copy.run.as_str()),
        }))
    }

    fn host_write<'a>(&self, tenant: &'a TenantId) -> Write<'a> {
        Write {
            tenant,
            now: self.0.clock.now(),
            operation: None,
        }
    }
}
