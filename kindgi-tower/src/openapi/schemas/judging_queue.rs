//! The judging queue.

use schemars::JsonSchema;

use super::{judging_rules::JudgingRunStatus, values::*};

/// Why an item is dismissed, if the caller says.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(in crate::openapi) struct JudgingDismissBody {
    /// An empty one counts as none.
    #[schemars(skip_serializing_if = "absent")]
    reason: DismissReason,
}

/// A run that waits to be judged, or did.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase")]
pub(in crate::openapi) struct JudgingQueueItem {
    run_id: Text,
    project_id: Text,
    /// Absent for a flow's run, and after the run was erased.
    #[schemars(skip_serializing_if = "absent")]
    agent_id: Text,
    #[schemars(skip_serializing_if = "absent")]
    agent_version: Text,
    flow_id: Text,
    run_status: JudgingRunStatus,
    completed_at: Time,
    /// The rules that queued it.
    rules: Vec<JudgingItemRule>,
    /// The judge classes whose judgment is wanted.
    wanted_class_ids: Vec<Text>,
    /// Whether any judgment closes it.
    any_judgment: bool,
    progress: JudgingProgress,
    added_at: Time,
    state: JudgingQueueState,
    /// Since when it isn't open.
    #[schemars(skip_serializing_if = "absent")]
    closed_at: Time,
    /// Who closed it, or reopened it: `user:` or `service_account:`, and an id.
    #[schemars(skip_serializing_if = "absent")]
    closed_by: Text,
    /// Why it was dismissed.
    #[schemars(skip_serializing_if = "absent")]
    reason: Text,
    can: JudgingItemCan,
}

/// A rule that queued an item.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase")]
struct JudgingItemRule {
    rule_id: Text,
    /// Its version then.
    version: VersionNumber,
}

/// The live judgments of an item's run.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase")]
struct JudgingProgress {
    total: Count,
    by_class: Vec<JudgingClassCount>,
}

/// How many of them are under one class.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase")]
struct JudgingClassCount {
    /// `null` for judgments without a class.
    judge_class_id: Option<Text>,
    count: Count,
}

/// Where an item is.
#[derive(JsonSchema)]
#[schemars(rename_all = "lowercase")]
pub(in crate::openapi) enum JudgingQueueState {
    Open,
    Judged,
    Dismissed,
    Erased,
}

/// What the caller's permissions allow with an item, whatever its state.
#[derive(JsonSchema)]
struct JudgingItemCan {
    dismiss: bool,
    reopen: bool,
}

/// One page of the queue.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase")]
pub(in crate::openapi) struct JudgingQueuePage {
    /// Who waits longest is first.
    data: Vec<JudgingQueueItem>,
    has_more: bool,
    /// Where the next page begins; there exactly when `hasMore`.
    #[schemars(skip_serializing_if = "absent")]
    next_cursor: Text,
    /// How many items match on all pages together.
    total: Count,
}
