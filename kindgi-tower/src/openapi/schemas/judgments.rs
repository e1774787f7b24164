//! Judgments.

use schemars::JsonSchema;

use super::{Kind, values::*};

/// A verdict to record on an item of a run's output.
#[derive(JsonSchema)]
#[schemars(
    rename_all = "camelCase",
    deny_unknown_fields,
    // A correction is of the whole output, and the reserved key is a correction's.
    extend(
        "dependentSchemas" = { "correction": { "properties": { "item": {
            "required": ["pointer"],
            "properties": { "pointer": { "const": "" } },
        } } } },
        "if" = { "properties": { "item": { "properties": { "key": { "const": "kindgi:correction" } } } } },
        "then" = { "required": ["correction"] },
    )
)]
pub(in crate::openapi) struct CreateJudgmentBody {
    /// The run. It must have completed, with an output that isn't `null`.
    run_id: Id,
    item: JudgedItem,
    verdict: Verdict,
    /// Why. An empty one counts as none.
    #[schemars(skip_serializing_if = "absent")]
    reason: Reason,
    /// The judge class to judge under.
    #[schemars(skip_serializing_if = "absent")]
    judge_class_id: Id,
    /// The app's own id of the end user on whose behalf the caller judges.
    #[schemars(skip_serializing_if = "absent")]
    participant_id: Id,
    #[schemars(skip_serializing_if = "absent")]
    correction: JudgmentCorrection,
}

/// The part of a run's output that a judgment is about.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase", deny_unknown_fields)]
struct JudgedItem {
    /// The caller's own stable name for it. `kindgi:correction` goes with a correction alone, and
    /// other keys with that prefix aren't taken.
    key: ItemKey,
    /// Where it is in the output, as a JSON Pointer; the empty one is the whole output.
    #[schemars(skip_serializing_if = "absent")]
    pointer: Pointer,
    /// Its place among the items that were shown, from 0.
    #[schemars(skip_serializing_if = "absent")]
    rank: Rank,
}

#[derive(JsonSchema)]
#[schemars(rename_all = "lowercase", inline)]
pub(in crate::openapi) enum Verdict {
    Yes,
    No,
}

/// What the agent should have done. The item's pointer must then be the empty one.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase", deny_unknown_fields)]
struct JudgmentCorrection {
    /// The calls it should have made, in order.
    #[schemars(length(max = kindgi_core::model::MAX_CORRECTION_ITEMS))]
    calls: Vec<CorrectedCall>,
    /// The tools it should have left alone.
    #[schemars(length(max = kindgi_core::model::MAX_CORRECTION_ITEMS))]
    not_called: Vec<ToolName>,
}

#[derive(JsonSchema)]
#[schemars(deny_unknown_fields, inline)]
struct CorrectedCall {
    tool: ToolName,
    /// The arguments, by name: at most 4000 characters, written with sorted keys and without white
    /// space.
    #[schemars(extend("maxProperties" = kindgi_core::model::MAX_ARGS))]
    args: AnyObject,
}

/// A judgment.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase")]
pub(in crate::openapi) struct Judgment {
    id: Text,
    tenant_id: Text,
    project_id: Text,
    run_id: Text,
    subject: JudgedSubject,
    item: JudgedItem,
    verdict: Verdict,
    #[schemars(skip_serializing_if = "absent")]
    reason: Text,
    #[schemars(skip_serializing_if = "absent")]
    correction: JudgmentCorrection,
    #[schemars(skip_serializing_if = "absent")]
    judge_class_id: Text,
    /// There where the class was restricted when the caller judged under it.
    #[schemars(skip_serializing_if = "absent")]
    restricted: True,
    asserted_by: JudgmentAssertedBy,
    /// After the participant was erased, a pseudonym.
    #[schemars(skip_serializing_if = "absent")]
    participant_id: Text,
    created_at: Time,
    /// Since when it is no longer live.
    #[schemars(skip_serializing_if = "absent")]
    unregistered_at: Time,
    /// The judgment that took its place, which may have been purged since.
    #[schemars(skip_serializing_if = "absent")]
    superseded_by: Text,
}

/// A judgment with what it was made on.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase")]
pub(in crate::openapi) struct JudgmentWithCopies {
    #[schemars(flatten)]
    judgment: Judgment,
    run: JudgedRunCopy,
    /// The value at the item's pointer when it was judged; absent where there was no pointer, and
    /// after the run was erased.
    #[schemars(skip_serializing_if = "absent")]
    item_value: Anything,
}

/// What ran.
#[derive(JsonSchema)]
struct JudgedSubject {
    kind: SubjectKind,
    id: Text,
    version: Text,
}

#[derive(JsonSchema)]
#[schemars(rename_all = "lowercase", inline)]
enum SubjectKind {
    Agent,
    Flow,
}

/// Who judged.
#[derive(JsonSchema)]
struct JudgmentAssertedBy {
    kind: Kind,
    id: Text,
}

/// The run as it was at its first judgment.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase")]
struct JudgedRunCopy {
    run_id: Text,
    subject: JudgedSubject,
    /// `null` after the run was erased.
    input: Anything,
    #[schemars(skip_serializing_if = "absent")]
    context: JudgedRunContext,
    /// `null` after the run was erased.
    output: Anything,
    /// Absent after the run was erased.
    #[schemars(skip_serializing_if = "absent")]
    segments: Vec<ScopeSegment>,
    captured_at: Time,
}

/// One step of the path that a run was started with.
#[derive(JsonSchema)]
struct ScopeSegment {
    key: SegmentKey,
    value: SegmentValue,
}

/// What a replay of the run needs besides its input.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase")]
struct JudgedRunContext {
    /// The conversation before the turn: its last 200 messages.
    #[schemars(skip_serializing_if = "absent")]
    history: Vec<Anything>,
    /// Whether the conversation was longer.
    #[schemars(skip_serializing_if = "absent")]
    history_truncated: bool,
    /// What the turn's retrievals gave.
    #[schemars(skip_serializing_if = "absent")]
    retrieved: Anything,
    /// What the turn's memory gave.
    #[schemars(skip_serializing_if = "absent")]
    recalled: Anything,
    #[schemars(skip_serializing_if = "absent")]
    session_approval: SessionApproval,
    #[schemars(skip_serializing_if = "absent")]
    flow: FlowContext,
    /// The environment values that tools were sent, by tool.
    #[schemars(skip_serializing_if = "absent")]
    tool_env: ToolEnv,
    /// The run that this one replays.
    #[schemars(skip_serializing_if = "absent")]
    replay_of: Text,
}

/// What was decided at the turn's approval.
#[derive(JsonSchema)]
#[schemars(inline)]
struct SessionApproval {
    approved: bool,
    #[schemars(skip_serializing_if = "absent")]
    rationale: Text,
}

/// What a flow's run did.
#[derive(JsonSchema)]
#[schemars(inline)]
struct FlowContext {
    /// Its tool calls: the first 500.
    calls: Vec<FlowCall>,
    steps: Vec<FlowStep>,
    /// Whether there were more calls.
    #[schemars(skip_serializing_if = "absent")]
    truncated: bool,
}

#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase", inline)]
struct FlowCall {
    run_id: Text,
    #[schemars(skip_serializing_if = "absent")]
    node_id: Text,
    #[schemars(skip_serializing_if = "absent")]
    scope: Text,
    tool_id: Text,
    #[schemars(skip_serializing_if = "absent")]
    arguments: Anything,
    #[schemars(skip_serializing_if = "absent")]
    result: Anything,
    /// Whether it is known from an event alone.
    #[schemars(skip_serializing_if = "absent")]
    from_event: bool,
}

#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase", inline)]
struct FlowStep {
    run_id: Text,
    #[schemars(skip_serializing_if = "absent")]
    node_id: Text,
    #[schemars(skip_serializing_if = "absent")]
    scope: Text,
    agent_id: Text,
    agent_version: Text,
    #[schemars(skip_serializing_if = "absent")]
    retrieved: Anything,
    #[schemars(skip_serializing_if = "absent")]
    recalled: Anything,
}

/// One page of judgments.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase")]
pub(in crate::openapi) struct JudgmentCollectionPage {
    /// The newest first.
    data: Vec<Judgment>,
    has_more: bool,
    /// Where the next page begins; there exactly when `hasMore`.
    #[schemars(skip_serializing_if = "absent")]
    next_cursor: Text,
}

/// The judgment was removed.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase")]
pub(in crate::openapi) struct UnregisterJudgmentResult {
    judgment_id: Text,
    unregistered: True,
}

/// Which projects' judgments to list.
#[derive(JsonSchema)]
#[schemars(rename_all = "lowercase")]
pub(in crate::openapi) enum ScopeKind {
    Tenant,
    Org,
    Project,
}
