//! Judgments: a verdict on an item of a run's output.

use super::{
    correction::Correction,
    ids::{ItemKey, JudgeClassId, JudgmentId, ParticipantId, ProjectId, RunId, TenantId},
    principal::AssertedBy,
    run::{RunCopy, Subject},
    text::{InvalidText, free, text_type},
};
use crate::{
    clock::Timestamp,
    json::{Pointer, RawJson},
};

/// The most code points of a reason.
pub const MAX_REASON_CHARS: usize = 4000;
/// The largest whole number the API takes: 2^53 − 1, the largest that every client can hold.
pub const MAX_INTEGER: u64 = (1 << 53) - 1;

/// Whether the item was right.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Verdict {
    /// It was right.
    Yes,
    /// It was wrong.
    No,
}

impl Verdict {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Yes, Self::No];

    /// As the API writes it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Yes => "yes",
            Self::No => "no",
        }
    }

    /// From what the API writes.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|v| v.as_str() == name)
    }
}

text_type!(
    /// Why a judge decided as they did: at most 4000 code points, without U+0000.
    ///
    /// An empty reason is no reason: leave it out.
    Reason,
    |text| {
        if text.is_empty() {
            return Err(InvalidText::shape("must not be empty; leave it out"));
        }
        free(text, MAX_REASON_CHARS)
    }
);

/// A place in a ranked list: 0 is the first, [`MAX_INTEGER`] the last there can be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rank(u64);

impl Rank {
    /// The place, or `None` beyond [`MAX_INTEGER`].
    pub const fn new(rank: u64) -> Option<Self> {
        if rank > MAX_INTEGER {
            return None;
        }
        Some(Self(rank))
    }

    /// The place, counted from 0.
    pub const fn get(self) -> u64 {
        self.0
    }
}

/// The part of a run's output that is judged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// The caller's stable id for it.
    pub key: ItemKey,
    /// Where it is in the run's output; the root is the whole output.
    pub pointer: Option<Pointer>,
    /// Its place in a ranked list.
    pub rank: Option<Rank>,
}

impl Item {
    /// An item that says neither where it is nor its rank.
    pub fn new(key: ItemKey) -> Self {
        Self {
            key,
            pointer: None,
            rank: None,
        }
    }

    /// Says where it is in the run's output.
    #[must_use]
    pub fn with_pointer(mut self, pointer: Pointer) -> Self {
        self.pointer = Some(pointer);
        self
    }

    /// Says its place in a ranked list.
    #[must_use]
    pub fn with_rank(mut self, rank: Rank) -> Self {
        self.rank = Some(rank);
        self
    }
}

/// A verdict on an item, by an authenticated caller.
///
/// At most one judgment is live for each tenant, run, item key, author and participant (or none);
/// recording another supersedes it. Backends build it from what they stored, so its fields are
/// public and a new one is a breaking change, on purpose.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judgment {
    /// Its id.
    pub id: JudgmentId,
    /// The customer it belongs to.
    pub tenant: TenantId,
    /// The run's project.
    pub project: ProjectId,
    /// The run.
    pub run: RunId,
    /// What the run ran.
    pub subject: Subject,
    /// What was judged.
    pub item: Item,
    /// Whether it was right.
    pub verdict: Verdict,
    /// Why.
    pub reason: Option<Reason>,
    /// What the agent should have done.
    pub correction: Option<Correction>,
    /// The class it is recorded under; `None` counts with weight 1.
    pub class: Option<JudgeClassId>,
    /// Whether the class was restricted at that moment, so that the judge was checked against it.
    pub restricted: bool,
    /// Who asserted it.
    pub asserted_by: AssertedBy,
    /// On whose behalf.
    pub participant: Option<ParticipantId>,
    /// When it was recorded; never before the judgment it superseded.
    pub created_at: Timestamp,
    /// When it was removed or superseded; `None` while it lives.
    pub unregistered_at: Option<Timestamp>,
    /// What superseded it.
    pub superseded_by: Option<JudgmentId>,
}

impl Judgment {
    /// Whether it counts: neither removed nor superseded.
    pub fn is_live(&self) -> bool {
        self.unregistered_at.is_none()
    }
}

/// A judgment with the copies of what was judged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JudgmentWithCopies {
    /// The judgment.
    pub judgment: Judgment,
    /// The copy its run's first judgment kept.
    pub run: RunCopy,
    /// The item's value when it was judged; `None` where the judgment points at nothing, or once
    /// erased.
    pub item_value: Option<RawJson>,
}
