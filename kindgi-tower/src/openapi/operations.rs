//! What the document says of each operation, beside its path and method.

use schemars::{Schema, SchemaGenerator};

use super::schemas::{judge_classes::*, judging_queue::*, judging_rules::*, judgments::*};
use super::{
    parameters::{self, Parameter},
    schemas::values::AnyObject,
};
use crate::{refusal::Code, route::Operation};

/// Makes a type's schema, or a reference to it.
pub(super) type SchemaOf = fn(&mut SchemaGenerator) -> Schema;

/// What the document says of an operation.
pub(super) struct Facts {
    pub(super) id: &'static str,
    pub(super) summary: &'static str,
    pub(super) description: &'static str,
    pub(super) query: Vec<Parameter>,
    /// The body, and whether there must be one.
    pub(super) body: Option<(SchemaOf, bool)>,
    pub(super) status: u16,
    pub(super) answer: SchemaOf,
    /// The error codes that aren't those of every read or every write.
    pub(super) codes: &'static [Code],
}

impl Facts {
    fn new(id: &'static str, summary: &'static str, answer: SchemaOf) -> Self {
        Self {
            id,
            summary,
            description: "",
            query: Vec::new(),
            body: None,
            status: 200,
            answer,
            codes: &[],
        }
    }

    fn created(mut self) -> Self {
        self.status = 201;
        self
    }

    fn described(mut self, description: &'static str) -> Self {
        self.description = description;
        self
    }

    fn query(mut self, query: Vec<Parameter>) -> Self {
        self.query = query;
        self
    }

    fn body(mut self, body: SchemaOf) -> Self {
        self.body = Some((body, true));
        self
    }

    fn optional_body(mut self, body: SchemaOf) -> Self {
        self.body = Some((body, false));
        self
    }

    fn codes(mut self, codes: &'static [Code]) -> Self {
        self.codes = codes;
        self
    }
}

/// The document itself, which isn't among the operations.
pub(super) fn document() -> Facts {
    Facts::new("openapi", "Get this document", schema::<AnyObject>)
        .described("For everyone. It may be cached.")
}

/// What the document says of an operation.
pub(super) fn facts(operation: Operation) -> Facts {
    use Operation as O;
    match operation {
        O::ListJudgments | O::CreateJudgment | O::GetJudgment | O::UnregisterJudgment => {
            judgments(operation)
        }
        O::ListJudgeClasses
        | O::CreateJudgeClass
        | O::GetJudgeClass
        | O::UpdateJudgeClass
        | O::UnregisterJudgeClass => judge_classes(operation),
        O::ListJudgingQueue | O::DismissJudgingItem | O::ReopenJudgingItem => {
            judging_queue(operation)
        }
        _ => judging_rules(operation),
    }
}

fn judgments(operation: Operation) -> Facts {
    match operation {
        Operation::ListJudgments => Facts::new(
            "judgments.list",
            "List live judgments",
            schema::<JudgmentCollectionPage>,
        )
        .described(
            "The newest first, of the projects that the caller may read. `scopeKind` and \
             `scopeId` go together, except that `tenant` takes no id; `agentVersion` needs \
             `agentId`.",
        )
        .query(parameters::judgments())
        .codes(&[Code::ScopeInvalid]),
        Operation::GetJudgment => Facts::new(
            "judgments.get",
            "Get a judgment, live or not, with the copies it was made on",
            schema::<JudgmentWithCopies>,
        )
        .codes(&[Code::JudgmentNotFound]),
        Operation::UnregisterJudgment => Facts::new(
            "judgments.unregister",
            "Remove a live judgment, whoever made it",
            schema::<UnregisterJudgmentResult>,
        )
        .described("None that it superseded comes back.")
        .codes(&[Code::JudgmentNotFound]),
        _ => Facts::new(
            "judgments.create",
            "Record a judgment on an item of a run's output",
            schema::<Judgment>,
        )
        .described(
            "There is at most one live judgment of a run's item by the same caller for the same \
             participant: this one supersedes an earlier one.",
        )
        .created()
        .body(schema::<CreateJudgmentBody>)
        .codes(&[
            Code::ItemNotFound,
            Code::JudgeClassNotApplicable,
            Code::JudgeClassNotAllowed,
            Code::RunNotFound,
            Code::RunNotFinished,
            Code::RunErased,
        ]),
    }
}

fn judge_classes(operation: Operation) -> Facts {
    match operation {
        Operation::ListJudgeClasses => Facts::new(
            "judgeClasses.list",
            "List live judge classes",
            schema::<JudgeClassCollectionPage>,
        )
        .described(
            "The newest first. `scopeKind` narrows to exactly that scope, and takes the ids that \
             the scope has: none for `tenant`, `projectId` for `project`, both for `agent`.",
        )
        .query(parameters::judge_classes())
        .codes(&[Code::ScopeInvalid]),
        Operation::GetJudgeClass => Facts::new(
            "judgeClasses.get",
            "Get a judge class, retired ones too",
            schema::<JudgeClass>,
        )
        .codes(&[Code::JudgeClassNotFound]),
        Operation::UpdateJudgeClass => Facts::new(
            "judgeClasses.update",
            "Change a live judge class",
            schema::<JudgeClass>,
        )
        .described("At least one field must be given.")
        .body(schema::<UpdateJudgeClassBody>)
        .codes(&[Code::JudgeClassNotFound]),
        Operation::UnregisterJudgeClass => Facts::new(
            "judgeClasses.unregister",
            "Retire a judge class",
            schema::<UnregisterJudgeClassResult>,
        )
        .described("Its judgments stay; no more can be made under it.")
        .codes(&[Code::JudgeClassNotFound]),
        _ => Facts::new(
            "judgeClasses.create",
            "Create a judge class",
            schema::<JudgeClass>,
        )
        .created()
        .body(schema::<CreateJudgeClassBody>)
        .codes(&[Code::ProjectNotFound, Code::JudgeClassNameTaken]),
    }
}

fn judging_rules(operation: Operation) -> Facts {
    const RULE: &[Code] = &[Code::ProjectNotFound, Code::JudgingRuleNotFound];
    match operation {
        Operation::ListJudgingRules => Facts::new(
            "projects.judgingRules.list",
            "List a project's live judging rules",
            schema::<JudgingRulePage>,
        )
        .described("Each at its latest version, the oldest rule first.")
        .query(parameters::page())
        .codes(&[Code::ProjectNotFound]),
        Operation::GetJudgingRule => Facts::new(
            "projects.judgingRules.get",
            "Get a judging rule at its latest version, stopped ones too",
            schema::<JudgingRule>,
        )
        .codes(RULE),
        Operation::UpdateJudgingRule => Facts::new(
            "projects.judgingRules.update",
            "Change a live judging rule",
            schema::<JudgingRule>,
        )
        .described("Makes the rule's next version, unless nothing changes.")
        .body(schema::<JudgingRulePatch>)
        .codes(&[
            Code::ProjectNotFound,
            Code::JudgingRuleNotFound,
            Code::JudgeClassNotFound,
        ]),
        Operation::UnregisterJudgingRule => Facts::new(
            "projects.judgingRules.unregister",
            "Stop a judging rule",
            schema::<JudgingRuleUnregisterResult>,
        )
        .described("What it queued stays queued. Stopping it again does nothing.")
        .codes(RULE),
        Operation::ListJudgingRuleVersions => Facts::new(
            "projects.judgingRules.versions",
            "List a judging rule's versions",
            schema::<JudgingRulePage>,
        )
        .described("The newest first.")
        .query(parameters::page())
        .codes(RULE),
        Operation::JudgingRuleResults => Facts::new(
            "projects.judgingRules.results",
            "See what came of a judging rule",
            schema::<JudgingRuleResults>,
        )
        .described("One group for each version of the rule and of the agents.")
        .query(parameters::results())
        .codes(RULE),
        Operation::PreviewJudgingRule => Facts::new(
            "projects.judgingRules.preview",
            "See how many recent runs a judging rule would have taken",
            schema::<JudgingRulePreview>,
        )
        .described(
            "Exact for the rule that `ruleId` names, and an estimate without. `agentIds` and \
             `flowIds` don't go together.",
        )
        .query(parameters::preview())
        .codes(RULE),
        _ => Facts::new(
            "projects.judgingRules.create",
            "Create a judging rule, at version 1",
            schema::<JudgingRule>,
        )
        .created()
        .body(schema::<JudgingRuleSpec>)
        .codes(&[Code::ProjectNotFound, Code::JudgeClassNotFound]),
    }
}

fn judging_queue(operation: Operation) -> Facts {
    const ITEM: &[Code] = &[
        Code::ProjectNotFound,
        Code::JudgingItemNotFound,
        Code::JudgingItemNotOpen,
    ];
    match operation {
        Operation::DismissJudgingItem => Facts::new(
            "projects.judgingQueue.dismiss",
            "Dismiss an open item",
            schema::<JudgingQueueItem>,
        )
        .optional_body(schema::<JudgingDismissBody>)
        .codes(ITEM),
        Operation::ReopenJudgingItem => Facts::new(
            "projects.judgingQueue.reopen",
            "Reopen a dismissed item",
            schema::<JudgingQueueItem>,
        )
        .codes(ITEM),
        _ => Facts::new(
            "projects.judgingQueue.list",
            "List the runs that a project's rules queued",
            schema::<JudgingQueuePage>,
        )
        .described("Who waits longest is first. `limit=0` gives only the total.")
        .query(parameters::judging_queue())
        .codes(&[Code::ProjectNotFound]),
    }
}

fn schema<T: schemars::JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<T>()
}
