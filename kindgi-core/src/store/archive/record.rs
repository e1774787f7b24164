//! What an archive is made of.

use std::sync::Arc;

use super::{
    super::{
        ClassCreated, ClassReplaced, ItemMoved, NewJudgment, OperationId, Receipt, Recorded,
        Revised, RuleAppended,
    },
    position::{ArchivePart, RecordId},
};
use crate::{
    clock::Timestamp,
    model::{
        AssertedBy, ClassName, ClassScope, ItemKey, ItemState, JudgeClass, JudgingRule, Judgment,
        ParticipantId, ProjectId, QueueItem, RuleId, RunCopy, RunId, TenantId, Version,
    },
    rules::queue_state,
};

/// The highest count: databases keep it with a sign.
const MAX_COUNT: u64 = i64::MAX.unsigned_abs();

/// One thing that a store holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Record {
    /// A judge class, live or retired.
    Class(Box<Revised<JudgeClass>>),
    /// A version of a judging rule. When the rule was stopped is said by each of them.
    RuleVersion(Box<JudgingRule>),
    /// What is kept of a project's rules together.
    Rules(RulesRecord),
    /// A run.
    Run(Box<RunRecord>),
    /// A judgment, live or dead, with its item's value.
    Judgment(Box<NewJudgment>),
    /// A run that was told to rules.
    Telling(Box<TellingRecord>),
    /// What was purged of a tenant.
    Purge(PurgeRecord),
    /// An operation that took effect.
    Operation(Box<OperationRecord>),
}

/// The rules of a project, together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RulesRecord {
    /// Whose.
    pub tenant: TenantId,
    /// Which project's.
    pub project: ProjectId,
    /// [Their revision](super::super::EnabledRules::revision). It isn't counted anew, since a
    /// store may once have begun to count with rules that were there.
    pub revision: u64,
}

/// What is kept of a run: a copy, that it is erased, or both.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunRecord {
    /// Whose.
    pub tenant: TenantId,
    /// Which.
    pub run: RunId,
    /// Whether it is erased; it may be without ever having been judged.
    pub erased: bool,
    /// Its copy, if it was judged.
    pub copy: Option<CopyRecord>,
}

/// A run's copy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CopyRecord {
    /// The project the run belonged to when the copy was taken.
    pub project: ProjectId,
    /// The copy.
    pub copy: RunCopy,
}

/// A run that was told to rules: which ones took it and which skipped it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TellingRecord {
    /// Whose.
    pub tenant: TenantId,
    /// Which run.
    pub run: RunId,
    /// Its project.
    pub project: ProjectId,
    /// When it was told.
    pub told_at: Timestamp,
    /// The later of when it was told and when it ended.
    pub age: Timestamp,
    /// Its agent's version; `None` for flows, and once the run is erased.
    pub agent_version: Option<Version>,
    /// The rules that skipped it, with their versions, by their ids.
    pub skipped: Vec<(RuleId, u32)>,
    /// Its item of the queue, which names the rules that took it; `None` if all skipped it.
    pub item: Option<QueueItem>,
}

/// What was purged of a tenant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PurgeRecord {
    /// Whose.
    pub tenant: TenantId,
    /// Runs that ended before this are told no more.
    pub before: Timestamp,
}

/// An operation that took effect. Whom it tells of, for when they are erased, is in its receipt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OperationRecord {
    /// Whose.
    pub tenant: TenantId,
    /// Which.
    pub id: OperationId,
    /// The SHA-256 of the request's body.
    pub body: [u8; 32],
    /// Until when it is kept.
    pub keep_until: Timestamp,
    /// What it came to.
    pub receipt: Receipt,
}

/// What one record of a store has at most.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Unique {
    /// The key of a live judgment: tenant, run, item key, author and participant.
    LiveKey(TenantId, RunId, ItemKey, AssertedBy, Option<ParticipantId>),
    /// The name of a live class in its scope.
    LiveName(TenantId, ClassScope, ClassName),
}

impl Record {
    /// The part it belongs to.
    pub fn part(&self) -> ArchivePart {
        match self {
            Self::Class(_) => ArchivePart::Classes,
            Self::RuleVersion(_) => ArchivePart::RuleVersions,
            Self::Rules(_) => ArchivePart::Rules,
            Self::Run(_) => ArchivePart::Runs,
            Self::Judgment(_) => ArchivePart::Judgments,
            Self::Telling(_) => ArchivePart::Tellings,
            Self::Purge(_) => ArchivePart::Purges,
            Self::Operation(_) => ArchivePart::Operations,
        }
    }

    /// Whose it is.
    pub fn tenant(&self) -> &TenantId {
        match self {
            Self::Class(class) => &class.value.tenant,
            Self::RuleVersion(rule) => &rule.tenant,
            Self::Rules(rules) => &rules.tenant,
            Self::Run(run) => &run.tenant,
            Self::Judgment(new) => &new.judgment.tenant,
            Self::Telling(telling) => &telling.tenant,
            Self::Purge(purge) => &purge.tenant,
            Self::Operation(operation) => &operation.tenant,
        }
    }

    /// Which one it is.
    pub fn id(&self) -> RecordId {
        let id: Arc<str> = match self {
            Self::Class(class) => class.value.id.as_str().into(),
            Self::RuleVersion(rule) => rule.id.as_str().into(),
            Self::Rules(rules) => rules.project.as_str().into(),
            Self::Run(run) => run.run.as_str().into(),
            Self::Judgment(new) => new.judgment.id.as_str().into(),
            Self::Telling(telling) => telling.run.as_str().into(),
            Self::Purge(_) => "".into(),
            Self::Operation(operation) => hex(&operation.id.0).into(),
        };
        let version = match self {
            Self::RuleVersion(rule) => rule.version,
            _ => 0,
        };
        RecordId {
            part: self.part(),
            tenant: self.tenant().clone(),
            id,
            version,
        }
    }

    /// What it has that only one record may have.
    pub fn unique(&self) -> Option<Unique> {
        match self {
            Self::Class(class) => Unique::of_class(&class.value),
            Self::Judgment(new) => Unique::of_judgment(new),
            _ => None,
        }
    }

    /// The run that it says something of which an [erasure](super::super::Lifecycle::erase_run)
    /// of that run clears: people's words, a value, which agent ran. `None` if it says nothing
    /// such; and for a run itself, which says whether it is erased.
    pub fn tells_of(&self) -> Option<&RunId> {
        match self {
            Self::Judgment(new) => {
                let tells = new.item_value.is_some() || has_words(&new.judgment);
                tells.then_some(&new.judgment.run)
            }
            Self::Telling(telling) => telling.tells().then_some(&telling.run),
            Self::Operation(operation) => words_about(&operation.receipt),
            Self::Class(_)
            | Self::RuleVersion(_)
            | Self::Rules(_)
            | Self::Run(_)
            | Self::Purge(_) => None,
        }
    }

    /// Why no store can have come to hold it.
    pub(super) fn fault(&self) -> Option<&'static str> {
        if self.counts_too_high() {
            return Some("a count is 2^63 - 1 at most");
        }
        match self {
            Self::RuleVersion(rule) => {
                (rule.version == 0).then_some("a rule's versions are counted from 1")
            }
            Self::Run(run) => run.fault(),
            Self::Telling(telling) => telling.fault(),
            Self::Operation(operation) => {
                (!took_effect(&operation.receipt)).then_some("what was refused leaves no receipt")
            }
            Self::Class(_) | Self::Rules(_) | Self::Judgment(_) | Self::Purge(_) => None,
        }
    }

    fn counts_too_high(&self) -> bool {
        let item = match self {
            Self::Class(class) => return class.revision > MAX_COUNT,
            Self::Rules(rules) => return rules.revision > MAX_COUNT,
            Self::Telling(telling) => telling.item.as_ref(),
            Self::Operation(operation) => item_of(&operation.receipt),
            Self::RuleVersion(_) | Self::Run(_) | Self::Judgment(_) | Self::Purge(_) => None,
        };
        let mut progress = item.into_iter().flat_map(|item| &item.progress);
        progress.any(|under| under.judgments > MAX_COUNT)
    }
}

impl Unique {
    fn of_class(class: &JudgeClass) -> Option<Self> {
        let (tenant, scope) = (class.tenant.clone(), class.scope.clone());
        class
            .is_live()
            .then(|| Self::LiveName(tenant, scope, class.name.clone()))
    }

    fn of_judgment(NewJudgment { judgment, .. }: &NewJudgment) -> Option<Self> {
        judgment.is_live().then(|| {
            Self::LiveKey(
                judgment.tenant.clone(),
                judgment.run.clone(),
                judgment.item.key.clone(),
                judgment.asserted_by.clone(),
                judgment.participant.clone(),
            )
        })
    }
}

impl RunRecord {
    fn fault(&self) -> Option<&'static str> {
        match &self.copy {
            None if !self.erased => Some("a run that isn't erased has a copy"),
            Some(kept) if kept.copy.run != self.run => Some("the copy is another run's"),
            Some(kept) if self.erased && kept.copy != kept.copy.erased() => {
                Some("the copy of an erased run has no content")
            }
            _ => None,
        }
    }
}

impl TellingRecord {
    /// The rules that took the run or skipped it.
    pub fn rules(&self) -> impl Iterator<Item = &RuleId> {
        let took = self.item.iter().flat_map(|item| &item.taken_by);
        let took = took.map(|by| &by.rule);
        took.chain(self.skipped.iter().map(|(rule, _)| rule))
    }

    /// Whether it says something that goes once the run is erased.
    fn tells(&self) -> bool {
        self.agent_version.is_some() || self.item.as_ref().is_some_and(item_tells)
    }

    fn fault(&self) -> Option<&'static str> {
        let ascending = |rules: &[&RuleId]| rules.is_sorted_by(|a, b| a < b);
        let skipped: Vec<_> = self.skipped.iter().map(|(rule, _)| rule).collect();
        if !ascending(&skipped) {
            return Some("the rules that skipped the run are in order, each once");
        }
        let Some(item) = &self.item else {
            let nothing = skipped.is_empty();
            return nothing.then_some("a rule took or skipped the run");
        };
        let took: Vec<_> = item.taken_by.iter().map(|by| &by.rule).collect();
        if took.is_empty() || !ascending(&took) {
            return Some("the rules that took the run are in order, each once");
        }
        if took.iter().any(|rule| skipped.contains(rule)) {
            return Some("no rule both took and skipped the run");
        }
        if item.run != self.run || item.project != self.project {
            return Some("the item is another run's");
        }
        if item.added_at != self.told_at {
            return Some("the item is added when its run is told");
        }
        if (item.state == ItemState::Open) != item.closed_at.is_none() {
            return Some("what isn't open was closed at some time");
        }
        if item.state == ItemState::Erased && item_tells(item) {
            return Some("an erased item says nothing of its run");
        }
        None
    }
}

/// Whether an item says something that goes once its run is erased.
fn item_tells(item: &QueueItem) -> bool {
    queue_state::erased(item.clone(), item.added_at) != *item
}

fn took_effect(receipt: &Receipt) -> bool {
    match receipt {
        Receipt::Recorded(it) => matches!(it, Recorded::Ok { .. }),
        Receipt::ClassCreated(it) => matches!(it, ClassCreated::Ok(_)),
        Receipt::ClassReplaced(it) => matches!(it, ClassReplaced::Ok(_)),
        Receipt::RuleAppended(it) => matches!(it, RuleAppended::Ok(_)),
        Receipt::Dismissed(it) | Receipt::Reopened(it) => matches!(it, ItemMoved::Ok(_)),
        // What finds nothing to do may have been done by the operation itself.
        Receipt::JudgmentRemoved(_) | Receipt::RuleStopped(_) => true,
    }
}

fn has_words(judgment: &Judgment) -> bool {
    judgment.reason.is_some() || judgment.correction.is_some()
}

/// The run that a receipt has somebody's words about.
fn words_about(receipt: &Receipt) -> Option<&RunId> {
    if let Receipt::Recorded(Recorded::Ok { judgment, .. }) = receipt {
        return has_words(judgment).then_some(&judgment.run);
    }
    let item = item_of(receipt)?;
    item.reason.is_some().then_some(&item.run)
}

/// The item that a receipt shows.
fn item_of(receipt: &Receipt) -> Option<&QueueItem> {
    match receipt {
        Receipt::Dismissed(ItemMoved::Ok(item)) | Receipt::Reopened(ItemMoved::Ok(item)) => {
            Some(item)
        }
        _ => None,
    }
}

/// Bytes in lower-case hexadecimal digits, which are in the same order.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// From what [`hex`] wrote of 32 bytes.
pub(crate) fn unhex(text: &str) -> Option<[u8; 32]> {
    let lower = |byte: &u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    if text.len() != 64 || !text.as_bytes().iter().all(lower) {
        return None;
    }
    let mut bytes = [0; 32];
    for (byte, digits) in bytes.iter_mut().zip(text.as_bytes().chunks(2)) {
        let digits = std::str::from_utf8(digits).ok()?;
        *byte = u8::from_str_radix(digits, 16).ok()?;
    }
    Some(bytes)
}
