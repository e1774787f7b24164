//! Judge classes.

use kindgi_core::model::MAX_PRINCIPAL_IDS;
use schemars::JsonSchema;

use super::{Kind, values::*};

/// A judge class to create.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase", deny_unknown_fields)]
pub(in crate::openapi) struct CreateJudgeClassBody {
    scope: JudgeClassScope,
    /// No other live class of the scope may have it.
    name: ClassName,
    /// How much the class's judgments count.
    weight: Weight,
    #[schemars(skip_serializing_if = "absent")]
    description: FreeText,
    /// `null` is as good as none.
    #[schemars(skip_serializing_if = "absent")]
    assertable_by: Option<JudgeClassAssertableBy>,
}

/// What to change of a judge class.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase", deny_unknown_fields, extend("minProperties" = 1))]
pub(in crate::openapi) struct UpdateJudgeClassBody {
    #[schemars(skip_serializing_if = "absent")]
    weight: Weight,
    #[schemars(skip_serializing_if = "absent")]
    description: FreeText,
    /// `null` lifts the restriction.
    #[schemars(skip_serializing_if = "absent")]
    assertable_by: Option<JudgeClassAssertableBy>,
}

/// Where a judge class applies.
#[derive(JsonSchema)]
#[schemars(
    tag = "kind",
    rename_all = "lowercase",
    rename_all_fields = "camelCase",
    deny_unknown_fields
)]
enum JudgeClassScope {
    /// To the whole tenant.
    Tenant {},
    /// To one project.
    Project { project_id: Id },
    /// To one agent in one project.
    Agent { project_id: Id, agent_id: Id },
}

/// Who may judge under a class. All that is set must hold.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase", deny_unknown_fields, extend("minProperties" = 1))]
struct JudgeClassAssertableBy {
    /// Reviewers of this role or a higher one.
    #[schemars(skip_serializing_if = "absent")]
    min_reviewer_role: ReviewerRole,
    #[schemars(skip_serializing_if = "absent", length(min = 1))]
    principal_kinds: Vec<Kind>,
    #[schemars(skip_serializing_if = "absent", length(min = 1, max = MAX_PRINCIPAL_IDS))]
    principal_ids: Vec<Id>,
}

#[derive(JsonSchema)]
#[schemars(rename_all = "lowercase", inline)]
enum ReviewerRole {
    Standard,
    Senior,
    Admin,
}

/// Who may judge under a class, as far as the caller may know.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase", extend("minProperties" = 1))]
struct JudgeClassAssertableByView {
    #[schemars(skip_serializing_if = "absent")]
    min_reviewer_role: ReviewerRole,
    #[schemars(skip_serializing_if = "absent", length(min = 1))]
    principal_kinds: Vec<Kind>,
    /// Shown to admins of the class's scope alone.
    #[schemars(skip_serializing_if = "absent", length(min = 1, max = MAX_PRINCIPAL_IDS))]
    principal_ids: Vec<Id>,
    /// How many principals are named.
    #[schemars(skip_serializing_if = "absent")]
    principal_count: VersionNumber,
}

/// A judge class.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase")]
pub(in crate::openapi) struct JudgeClass {
    id: Text,
    tenant_id: Text,
    scope: JudgeClassScope,
    name: Text,
    weight: Weight,
    #[schemars(skip_serializing_if = "absent")]
    description: Text,
    #[schemars(skip_serializing_if = "absent")]
    assertable_by: JudgeClassAssertableByView,
    created_at: Time,
    updated_at: Time,
    /// Since when it is retired.
    #[schemars(skip_serializing_if = "absent")]
    unregistered_at: Time,
}

/// One page of judge classes.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase")]
pub(in crate::openapi) struct JudgeClassCollectionPage {
    /// The newest first.
    data: Vec<JudgeClass>,
    has_more: bool,
    /// Where the next page begins; there exactly when `hasMore`.
    #[schemars(skip_serializing_if = "absent")]
    next_cursor: Text,
}

/// The class was retired.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase")]
pub(in crate::openapi) struct UnregisterJudgeClassResult {
    judge_class_id: Text,
    unregistered: True,
}

/// Of which scope to list the classes.
#[derive(JsonSchema)]
#[schemars(rename_all = "lowercase", inline)]
pub(in crate::openapi) enum ClassScopeKind {
    Tenant,
    Project,
    Agent,
}
