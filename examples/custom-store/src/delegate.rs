//! The methods of a store, each in one line: reads ask the tenant's data as it is, writes a copy
//! of it, which then takes its place.

use std::num::NonZeroU16;

use async_trait::async_trait;
use kindgi_core::{
    Timestamp,
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

use crate::FileStore;

macro_rules! store {
    ($($trait:ident {
        $(write $write:ident($($given:ident: $of:ty),*) -> $outcome:ty;)*
        $(read $read:ident($($asked:ident: $by:ty),*) -> $answer:ty;)*
    })*) => {$(
        #[async_trait]
        impl $trait for FileStore {
            $(async fn $write(&self, write: Write<'_>, $($given: $of),*) -> StoreResult<$outcome> {
                let change = self.change(write.tenant).await?;
                let outcome = change.next.$write(write, $($given),*).await?;
                change.done(outcome).await
            })*

            $(async fn $read(&self, tenant: &TenantId, $($asked: $by),*) -> StoreResult<$answer> {
                self.tenant(tenant).$read(tenant, $($asked),*).await
            })*
        }
    )*};
}

store! {
    JudgmentStore {
        write record(new: &NewJudgment, copy: Option<&RunCopy>, class: Option<ClassAt<'_>>) -> Applied<Recorded>;
        write remove(id: &JudgmentId) -> Applied<JudgmentRemoved>;
        read judgment(id: &JudgmentId) -> Option<JudgmentWithCopies>;
        read judgments(filter: &JudgmentFilter, readable: &Readable, keyset: &Keyset) -> Slice<Judgment>;
    }
    JudgeClassStore {
        write create_class(class: &JudgeClass) -> Applied<ClassCreated>;
        write replace_class(at: u64, next: &JudgeClass) -> Applied<ClassReplaced>;
        read class(id: &JudgeClassId) -> Option<Revised<JudgeClass>>;
        read classes(filter: &ClassFilter, readable: &Readable, keyset: &Keyset) -> Slice<JudgeClass>;
    }
    JudgingRuleStore {
        write append_rule_version(next: &JudgingRule, class: Option<ClassAt<'_>>) -> Applied<RuleAppended>;
        write stop_rule(project: &ProjectId, id: &RuleId) -> Applied<RuleStopped>;
        read rule(project: &ProjectId, id: &RuleId) -> Option<JudgingRule>;
        read rules(project: &ProjectId, keyset: &Keyset) -> Slice<ListedRule>;
        read rule_versions(project: &ProjectId, id: &RuleId, before: Option<u32>, limit: PageSize) -> Option<Slice<JudgingRule>>;
        read enabled_rules(project: &ProjectId) -> EnabledRules;
        read wanted_classes(project: &ProjectId) -> Vec<JudgeClass>;
    }
    JudgingQueueStore {
        write take(run: &EndedRun, rules: u64, candidates: &[Candidate]) -> Taken;
        write dismiss(project: &ProjectId, run: &RunId, by: &PrincipalRef, reason: Option<&DismissReason>) -> Applied<ItemMoved>;
        write reopen(project: &ProjectId, run: &RunId, by: &PrincipalRef) -> Applied<ItemMoved>;
        read queue_item(project: &ProjectId, run: &RunId) -> Option<QueueItem>;
        read queue(project: &ProjectId, filter: &QueueFilter, keyset: Option<&Keyset>) -> QueueSlice;
        read rule_results(project: &ProjectId, rule: &RuleId, since: Option<Timestamp>) -> Option<RuleResults>;
    }
    OperationStore {
        write keep(receipt: &Receipt) -> Applied<Receipt>;
        read receipt(now: Timestamp, operation: Operation<'_>) -> Option<KnownOperation>;
    }
    Lifecycle {
        write erase_run(run: &RunId) -> ();
        write erase_participant(participant: &ParticipantId, pseudonym: &ParticipantId) -> u64;
        write purge(before: Timestamp, from: Option<&PurgePosition>, limit: NonZeroU16) -> Purged;
        read is_erased(run: &RunId) -> bool;
        read judged_runs(filter: &JudgedRunFilter, keyset: &Keyset) -> Slice<JudgedRun>;
    }
}
