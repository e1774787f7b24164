//! Parameters of paths, queries and headers.

use schemars::{JsonSchema, Schema, SchemaGenerator};

use super::{
    operations::SchemaOf,
    schemas::{
        judge_classes::ClassScopeKind,
        judging_queue::JudgingQueueState,
        judgments::{ScopeKind, Verdict},
        values::*,
    },
};

/// A parameter.
#[derive(Clone)]
pub(super) struct Parameter {
    pub(super) name: String,
    /// `path`, `query` or `header`.
    pub(super) place: &'static str,
    pub(super) description: &'static str,
    pub(super) schema: SchemaOf,
}

fn query<T: JsonSchema>(name: &str, description: &'static str) -> Parameter {
    Parameter {
        name: name.to_owned(),
        place: "query",
        description,
        schema: schema::<T>,
    }
}

/// A parameter that stands in a path.
pub(super) fn path(name: &str) -> Parameter {
    let description = match name {
        "projectId" => "The project.",
        "judgmentId" => "The judgment.",
        "judgeClassId" => "The judge class.",
        "ruleId" => "The judging rule.",
        _ => "The run.",
    };
    Parameter {
        name: name.to_owned(),
        place: "path",
        description,
        schema: schema::<Id>,
    }
}

/// What every write takes.
pub(super) fn idempotency_key() -> Parameter {
    Parameter {
        name: "Idempotency-Key".to_owned(),
        place: "header",
        description: "Makes a retry safe: with the same key and the same body it takes no second \
                      effect within 24 hours, and gets the first answer again. Sent at most once.",
        schema: schema::<IdempotencyKey>,
    }
}

/// What every list takes.
pub(super) fn page() -> Vec<Parameter> {
    vec![query::<Limit>("limit", LIMIT), cursor()]
}

const LIMIT: &str = "How many rows at most.";

fn cursor() -> Parameter {
    let description = "What a page's `nextCursor` said. Good for the same caller, list and filters, \
                       for 24 hours.";
    query::<Cursor>("cursor", description)
}

pub(super) fn judgments() -> Vec<Parameter> {
    let mut parameters = page();
    parameters.extend([
        query::<Id>("runId", "Only on this run."),
        query::<Id>("agentId", "Only on this agent's runs."),
        query::<Id>("agentVersion", "Only on runs of this version of the agent."),
        query::<Id>("flowId", "Only on this flow's runs."),
        query::<Verdict>("verdict", "Only with this verdict."),
        query::<Id>("judgeClassId", "Only under this judge class."),
        query::<Id>("participantId", "Only for this participant."),
        query::<ScopeKind>("scopeKind", "Only in these projects."),
        query::<Id>("scopeId", "Which organisation or project."),
    ]);
    parameters
}

pub(super) fn judge_classes() -> Vec<Parameter> {
    let mut parameters = page();
    parameters.extend([
        query::<ClassScopeKind>("scopeKind", "Only of this scope."),
        query::<Id>("projectId", "The scope's project."),
        query::<Id>("agentId", "The scope's agent."),
    ]);
    parameters
}

pub(super) fn results() -> Vec<Parameter> {
    let since = "Only runs that were queued or left out at this instant or later.";
    vec![query::<Time>("since", since)]
}

pub(super) fn preview() -> Vec<Parameter> {
    vec![
        query::<Names>("agentIds", "Agents, with commas between them."),
        query::<Names>("flowIds", "Flows, with commas between them."),
        query::<Names>("versions", "Versions or `live`, with commas between them."),
        query::<Statuses>("status", "Statuses, with commas between them: `completed`."),
        query::<Flag>("includeDryRuns", "Whether dry runs count."),
        query::<PreviewSample>("sample", "How large a share of the runs."),
        query::<Last>("last", "How many of the project's last runs to look at."),
        query::<Id>("ruleId", "The rule whose sampling to use."),
    ]
}

pub(super) fn judging_queue() -> Vec<Parameter> {
    vec![
        query::<JudgingQueueState>("state", "Only in this state."),
        query::<Id>("agentId", "Only runs of this agent."),
        query::<Id>("ruleId", "Only what this rule queued."),
        query::<Id>("judgeClassId", "Only what wants this judge class."),
        query::<Flag>("forMe", "Only what a judgment of the caller can close."),
        query::<Time>(
            "addedAfter",
            "Only what was queued at this instant or later.",
        ),
        query::<Time>(
            "closedAfter",
            "Only what was closed at this instant or later.",
        ),
        query::<QueueLimit>("limit", LIMIT),
        cursor(),
    ]
}

fn schema<T: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<T>()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decode;

    #[test]
    fn the_parameters_are_those_that_queries_are_read_for() {
        for (documented, read) in [
            (judgments(), decode::judgments::LIST),
            (judge_classes(), decode::judge_classes::LIST),
            (results(), decode::judging_rules::RESULTS),
            (preview(), decode::judging_rules::PREVIEW),
            (judging_queue(), decode::judging_queue::LIST),
        ] {
            let mut names: Vec<_> = documented.iter().map(|p| p.name.as_str()).collect();
            let mut read = read.to_vec();
            names.sort_unstable();
            read.sort_unstable();
            assert_eq!(names, read);
        }
    }
}
