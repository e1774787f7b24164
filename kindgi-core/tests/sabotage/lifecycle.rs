//! The end of data with one fault.

use std::{num::NonZeroU16, sync::atomic::Ordering, time::Duration};

use async_trait::async_trait;
use kindgi_core::{
    Timestamp,
    model::{ParticipantId, RunId, TenantId},
    store::{
        JudgedRun, JudgedRunFilter, Keyset, Lifecycle, PurgePosition, Purged, Slice, StoreResult,
        Write,
    },
};

use super::{Fault, Faulty};

#[async_trait]
impl Lifecycle for Faulty {
    async fn erase_run(&self, write: Write<'_>, run: &RunId) -> StoreResult<()> {
        let _writing = self.begin();
        if self.is(Fault::ErasureRaces) && self.is_crowded().await {
            return Ok(());
        }
        if self.is(Fault::UnjudgedRunNotErased) {
            let live = self.live_of(write.tenant, run).await?;
            if live.is_empty() {
                return Ok(());
            }
        }
        if self.is(Fault::DismissReasonsOutliveErasure) {
            // What the fault leaves was said before: so a dismissal that is on its way comes first.
            self.until_others_did(&self.counts.moves, Duration::from_millis(50))
                .await;
        }
        if self.is(Fault::TakeRacesErasure) {
            // Shorter than a telling that has looked waits for this.
            self.until_others_did(&self.counts.take_checks, Duration::from_millis(5))
                .await;
        }
        self.store.erase_run(write, run).await?;
        self.counts.erasures.fetch_add(1, Ordering::SeqCst);
        Ok(())
    }

    async fn is_erased(&self, tenant: &TenantId, run: &RunId) -> StoreResult<bool> {
        self.store.is_erased(tenant, run).await
    }

    async fn erase_participant(
        &self,
        write: Write<'_>,
        participant: &ParticipantId,
        pseudonym: &ParticipantId,
    ) -> StoreResult<u64> {
        let _writing = self.begin();
        let erased = self
            .store
            .erase_participant(write, participant, pseudonym)
            .await?;
        Ok(match self.fault {
            Fault::ParticipantsUncounted => 0,
            _ => erased,
        })
    }

    async fn purge(
        &self,
        write: Write<'_>,
        before: Timestamp,
        from: Option<&PurgePosition>,
        limit: NonZeroU16,
    ) -> StoreResult<Purged> {
        let _writing = self.begin();
        let before = match self.fault {
            Fault::PurgeOfItsInstant => before.saturating_add_millis(1),
            _ => before,
        };
        let mut purged = self.store.purge(write, before, from, limit).await?;
        if self.is(Fault::PurgeEndsEarly) {
            purged.next = purged.next.filter(|next| next.after.is_some());
        }
        if self.is(Fault::PurgeNeverEnds) {
            purged.next = purged.next.or(from.cloned());
        }
        Ok(purged)
    }

    async fn judged_runs(
        &self,
        tenant: &TenantId,
        filter: &JudgedRunFilter,
        keyset: &Keyset,
    ) -> StoreResult<Slice<JudgedRun>> {
        let inner = self.change_keyset(keyset);
        let mut page = self.store.judged_runs(tenant, filter, &inner).await?;
        self.change_page(&mut page, keyset.limit, |row| row.copy.run.as_str());
        Ok(page)
    }
}
