//! Receipts of operations with one fault.

use async_trait::async_trait;
use kindgi_core::{
    Timestamp,
    model::TenantId,
    store::{
        Applied, KnownOperation, Operation, OperationId, OperationStore, Receipt, RuleStopped,
        StoreResult, Write,
    },
};

use super::{Fault, Faulty};

impl Faulty {
    /// What there is to tell of an operation.
    async fn found(
        &self,
        tenant: &TenantId,
        now: Timestamp,
        operation: Operation<'_>,
    ) -> StoreResult<Option<KnownOperation>> {
        let key = (tenant.clone(), *operation.id);
        let now = match self.fault {
            Fault::ReceiptOutlivesItsEnd => Timestamp::UNIX_EPOCH.saturating_add_millis(i64::MIN),
            _ => now,
        };
        let mut found = self.store.receipt(tenant, now, operation).await?;
        match (self.fault, &mut found) {
            (Fault::ReceiptBodyIgnored, Some(KnownOperation::OtherBody)) => {
                let first = self.note(|noted| noted.bodies.get(&key).copied());
                let body = &first.unwrap_or(*operation.body);
                let operation = Operation { body, ..operation };
                found = self.store.receipt(tenant, now, operation).await?;
            }
            (Fault::ReceiptTenantIgnored, None) => {
                for other in self.note(|noted| noted.tenants.clone()) {
                    if found.is_none() {
                        found = self.store.receipt(&other, now, operation).await?;
                    }
                }
            }
            (Fault::ReceiptKeptByAsking, None) => {
                let nothing = Receipt::RuleStopped(RuleStopped::NotLive);
                let operation = Some(operation);
                let write = Write {
                    tenant,
                    now,
                    operation,
                };
                self.store.keep(write, &nothing).await?;
            }
            (Fault::ReceiptsForgotten, _) => found = None,
            (
                Fault::ReceiptsOfMovesForgotten,
                Some(KnownOperation::Done(Receipt::Dismissed(_) | Receipt::Reopened(_))),
            ) => found = None,
            (
                Fault::ReceiptsOutliveErasure,
                Some(KnownOperation::Done(Receipt::Recorded(recorded))),
            ) => {
                let kept = self.note(|noted| noted.answers.get(&key).cloned());
                *recorded = kept.unwrap_or_else(|| recorded.clone());
            }
            (Fault::KeepInTwoSteps, Some(_))
                if self.note(|noted| noted.half_kept.contains(&key)) =>
            {
                found = Some(KnownOperation::OtherBody);
            }
            _ => {}
        }
        Ok(found)
    }
}

#[async_trait]
impl OperationStore for Faulty {
    async fn receipt(
        &self,
        tenant: &TenantId,
        now: Timestamp,
        operation: Operation<'_>,
    ) -> StoreResult<Option<KnownOperation>> {
        let mut other = OperationId([0; 32]);
        if self.is(Fault::KeepApart)
            && let Some(found) = self
                .found(tenant, now, apart(operation, &mut other))
                .await?
        {
            return Ok(Some(found));
        }
        self.found(tenant, now, operation).await
    }

    async fn keep(&self, write: Write<'_>, receipt: &Receipt) -> StoreResult<Applied<Receipt>> {
        let _writing = self.begin();
        let mut other = OperationId([0; 32]);
        let operation = self.operation(&write).await;
        let operation = match self.fault {
            Fault::KeepForgotten => None,
            Fault::KeepApart => operation.map(|it| apart(it, &mut other)),
            _ => operation,
        };
        let known = match operation {
            Some(operation) => self.found(write.tenant, write.now, operation).await?,
            None => None,
        };
        if self.is(Fault::KeepRaces) && known.is_none() && self.is_crowded().await {
            let inner = Write { operation, ..write };
            self.store.keep(inner, receipt).await?;
            return Ok(Applied::Done(receipt.clone()));
        }
        let inner = Write { operation, ..write };
        let applied = self.store.keep(inner, receipt).await?;
        match (self.fault, &applied, known, operation) {
            (Fault::KeepTakesTheLast, Applied::Replayed(_), ..) => {
                return Ok(Applied::Replayed(receipt.clone()));
            }
            (Fault::KeepKindIgnored, Applied::OtherBody, Some(KnownOperation::Done(kept)), _) => {
                return Ok(Applied::Replayed(kept));
            }
            (Fault::KeepInTwoSteps, Applied::Done(_), _, Some(operation)) => {
                let key = (write.tenant.clone(), *operation.id);
                self.note(|noted| noted.half_kept.insert(key.clone()));
                tokio::task::yield_now().await;
                self.note(|noted| noted.half_kept.remove(&key));
            }
            _ => {}
        }
        Ok(applied)
    }
}

/// Another operation, of which those who write know nothing.
fn apart<'a>(operation: Operation<'a>, other: &'a mut OperationId) -> Operation<'a> {
    *other = OperationId(operation.id.0.map(|byte| !byte));
    Operation {
        id: other,
        ..operation
    }
}
