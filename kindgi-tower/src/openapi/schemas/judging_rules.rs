//! Judging rules, and what came of them.

use kindgi_core::model::MAX_WHEN_ITEMS;
use schemars::JsonSchema;

use super::values::*;

/// A judging rule to create.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase", deny_unknown_fields)]
pub(in crate::openapi) struct JudgingRuleSpec {
    name: RuleName,
    when: JudgingRuleWhen,
    /// How large a share of the matching runs to take; 1, which is all of them, unless given.
    #[schemars(skip_serializing_if = "absent")]
    sample: Sample,
    /// How many open items the rule may have before it takes no more; any number unless given.
    #[schemars(skip_serializing_if = "absent")]
    max_open: MaxOpen,
    /// The judge class whose judgment closes an item; any judgment does unless given.
    #[schemars(skip_serializing_if = "absent")]
    judge_class_id: Id,
    /// Whether it takes runs; `true` unless given.
    #[schemars(skip_serializing_if = "absent")]
    enabled: bool,
}

/// What the rule's next version has that is new. What changes nothing makes no version.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase", deny_unknown_fields)]
pub(in crate::openapi) struct JudgingRulePatch {
    #[schemars(skip_serializing_if = "absent")]
    name: RuleName,
    /// The whole condition, in place of the old one.
    #[schemars(skip_serializing_if = "absent")]
    when: JudgingRuleWhen,
    #[schemars(skip_serializing_if = "absent")]
    sample: Sample,
    /// `null` takes the limit away.
    #[schemars(skip_serializing_if = "absent")]
    max_open: Option<MaxOpen>,
    /// `null` takes the class away: then any judgment closes an item.
    #[schemars(skip_serializing_if = "absent")]
    judge_class_id: Option<Id>,
    #[schemars(skip_serializing_if = "absent")]
    enabled: bool,
}

/// Which runs a rule is about. What isn't given doesn't narrow, except that dry runs count only
/// when they are asked for.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase", deny_unknown_fields)]
struct JudgingRuleWhen {
    /// Not together with `flowIds`.
    #[schemars(skip_serializing_if = "absent", length(min = 1, max = MAX_WHEN_ITEMS))]
    agent_ids: Vec<Id>,
    /// Not together with `agentIds`.
    #[schemars(skip_serializing_if = "absent", length(min = 1, max = MAX_WHEN_ITEMS))]
    flow_ids: Vec<Id>,
    /// Exact versions, or `live` for runs that got whatever version was live.
    #[schemars(skip_serializing_if = "absent", length(min = 1, max = MAX_WHEN_ITEMS))]
    versions: Vec<Id>,
    /// Only `completed` is taken: no other run can be judged.
    #[schemars(skip_serializing_if = "absent", length(min = 1))]
    status: Vec<JudgingRunStatus>,
    #[schemars(skip_serializing_if = "absent")]
    include_dry_runs: bool,
}

/// How a run ended.
#[derive(JsonSchema)]
#[schemars(rename_all = "lowercase")]
pub(super) enum JudgingRunStatus {
    Completed,
    Failed,
    Cancelled,
}

/// A judging rule at one of its versions.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase")]
pub(in crate::openapi) struct JudgingRule {
    rule_id: Text,
    project_id: Text,
    /// From 1, without gaps.
    version: VersionNumber,
    name: RuleName,
    when: JudgingRuleWhen,
    sample: Sample,
    #[schemars(skip_serializing_if = "absent")]
    max_open: MaxOpen,
    #[schemars(skip_serializing_if = "absent")]
    judge_class_id: Text,
    enabled: bool,
    /// Who made the version: `user:` or `service_account:`, and an id.
    #[schemars(skip_serializing_if = "absent")]
    created_by: Text,
    created_at: Time,
    /// Since when the rule is stopped.
    #[schemars(skip_serializing_if = "absent")]
    unregistered_at: Time,
}

/// One page of judging rules, or of one rule's versions.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase")]
pub(in crate::openapi) struct JudgingRulePage {
    data: Vec<JudgingRule>,
    has_more: bool,
    /// Where the next page begins; there exactly when `hasMore`.
    #[schemars(skip_serializing_if = "absent")]
    next_cursor: Text,
}

/// Whether this request stopped the rule.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase")]
pub(in crate::openapi) struct JudgingRuleUnregisterResult {
    rule_id: Text,
    /// `false` when it was stopped before.
    unregistered: bool,
}

/// What a rule would have taken.
#[derive(JsonSchema)]
pub(in crate::openapi) struct JudgingRulePreview {
    /// How many runs were looked at.
    considered: Count,
    /// How many of those it would have taken.
    matched: Count,
}

/// What came of a rule.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase")]
pub(in crate::openapi) struct JudgingRuleResults {
    rule_id: Text,
    /// The beginning that was asked for.
    #[schemars(skip_serializing_if = "absent")]
    since: Time,
    /// The rule's newest version first.
    groups: Vec<JudgingResultGroup>,
}

/// What came of one version of a rule with one version of an agent.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase")]
struct JudgingResultGroup {
    rule_version: VersionNumber,
    /// `null` for runs that weren't an agent's.
    agent_version: Option<Text>,
    /// The runs it queued: the next four together.
    added: Count,
    open: Count,
    judged: Count,
    dismissed: Count,
    erased: Count,
    /// The runs it left out because too many items were open.
    skipped_by_cap: Count,
    judgments: Count,
    #[schemars(skip_serializing_if = "absent")]
    runs_with_judgments: Count,
    /// The share of `yes`, each judgment counted by the weight of its class; `null` when nothing
    /// weighs anything.
    yes_share: Option<AnyNumber>,
    by_class: Vec<JudgingClassResult>,
}

/// The judgments under one class.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase")]
struct JudgingClassResult {
    /// `null` for judgments without a class.
    judge_class_id: Option<Text>,
    judgments: Count,
    yes: Count,
}
