//! The words of the domain, as types that can't hold what the API forbids.
//!
//! Pure data: nothing here does I/O, tells the time or knows of HTTP or SQL. Every constructor
//! checks what it is given, and nothing is trimmed or normalised.

mod context;
mod correction;
mod ids;
mod judge_class;
mod judging_queue;
mod judging_rule;
mod judgment;
mod page;
mod principal;
mod run;
mod stored;
mod text;

pub use context::{InvalidContext, MAX_FLOW_CALLS, MAX_HISTORY, RunContext};
pub use correction::{
    Args, CorrectedCall, Correction, MAX_ARGS, MAX_ARGS_CHARS, MAX_CORRECTION_ITEMS, ToolName,
};
pub use ids::{
    AgentId, FlowId, ItemKey, JudgeClassId, JudgmentId, MAX_ID_CHARS, OrgId, ParticipantId,
    PrincipalId, ProjectId, RuleId, RunId, TenantId, Version,
};
pub use judge_class::{
    AssertableBy, ClassName, ClassScope, Description, JudgeClass, MAX_PRINCIPAL_IDS, Weight,
};
pub use judging_queue::{
    ClassProgress, DismissReason, EndedRun, ItemState, MAX_DISMISS_REASON_CHARS, QueueItem,
    TakenBy, Via,
};
pub use judging_rule::{
    JudgingRule, MAX_WHEN_ITEMS, MaxOpen, RuleName, RuleWhen, Sample, VersionMatch, WhenItems,
    WhenSubjects,
};
pub use judgment::{
    Item, Judgment, JudgmentWithCopies, MAX_INTEGER, MAX_REASON_CHARS, Rank, Reason, Verdict,
};
pub use page::{Page, PageRequest, PageSize, Position};
pub use principal::{AssertedBy, Principal, PrincipalKind, PrincipalRef, Readable, ReviewerRole};
pub use run::{Run, RunCopy, RunStatus, Segment, SegmentKey, SegmentValue, Subject};
pub use text::InvalidText;
