//! The bodies and queries of judge classes.

use bytes::Bytes;
use kindgi_core::{
    engine::{CreateJudgeClass, UpdateJudgeClass},
    model::{AssertableBy, ClassScope, MAX_PRINCIPAL_IDS, PrincipalKind, ReviewerRole, Weight},
    store::ClassFilter,
};

use super::{Decoder, Value, body, query::Query};
use crate::refusal::{Code, Refusal};

/// The body of `judgeClasses.create`.
pub(crate) fn create(bytes: Bytes) -> Result<CreateJudgeClass, Refusal> {
    let node = body(bytes)?;
    let mut decoder = Decoder::default();
    let class = class(&mut decoder, &Value::root(&node));
    decoder.finish(class)
}

fn class(d: &mut Decoder, value: &Value<'_>) -> Option<CreateJudgeClass> {
    let known = ["scope", "name", "weight", "description", "assertableBy"];
    let fields = d.object(value, &known)?;
    let scope = d.required(&fields, "scope").and_then(|v| scope(d, &v));
    let name = d.required(&fields, "name").and_then(|v| d.text(&v));
    let weight = d.required(&fields, "weight").and_then(|v| weight(d, &v));
    let description = d.optional(&fields, "description", |d, v| d.text(v));
    let assertable_by = d.optional(&fields, "assertableBy", |d, v| d.nullable(v, assertable_by));
    let mut class = CreateJudgeClass::new(scope?, name?, weight?);
    class.description = description?;
    class.assertable_by = assertable_by?.flatten();
    Some(class)
}

/// The body of `judgeClasses.update`.
pub(crate) fn update(bytes: Bytes) -> Result<UpdateJudgeClass, Refusal> {
    let node = body(bytes)?;
    let mut decoder = Decoder::default();
    let change = change(&mut decoder, &Value::root(&node));
    decoder.finish(change)
}

fn change(d: &mut Decoder, value: &Value<'_>) -> Option<UpdateJudgeClass> {
    let fields = d.object(value, &["weight", "description", "assertableBy"])?;
    let weight = d.optional(&fields, "weight", weight);
    let description = d.optional(&fields, "description", |d, v| d.text(v));
    let assertable_by = d.optional(&fields, "assertableBy", |d, v| d.nullable(v, assertable_by));
    let mut change = UpdateJudgeClass::default();
    change.weight = weight?;
    change.description = description?;
    change.assertable_by = assertable_by?;
    if change == UpdateJudgeClass::default() {
        return d.fault(&value.at, "must change at least one field");
    }
    Some(change)
}

fn scope(d: &mut Decoder, value: &Value<'_>) -> Option<ClassScope> {
    // What is known depends on the kind: a project's id in the tenant's scope is unknown.
    let known: &[&str] = match value.peek("kind") {
        Some("tenant") => &["kind"],
        Some("project") => &["kind", "projectId"],
        _ => &["kind", "projectId", "agentId"],
    };
    let fields = d.object(value, known)?;
    let kind = d.required(&fields, "kind")?;
    match d.string(&kind)? {
        "tenant" => Some(ClassScope::Tenant),
        "project" => {
            let project = d.required(&fields, "projectId").and_then(|v| d.text(&v));
            project.map(ClassScope::Project)
        }
        "agent" => {
            let project = d.required(&fields, "projectId").and_then(|v| d.text(&v));
            let agent = d.required(&fields, "agentId").and_then(|v| d.text(&v));
            Some(ClassScope::Agent(project?, agent?))
        }
        _ => d.fault(&kind.at, "must be \"tenant\", \"project\" or \"agent\""),
    }
}

fn weight(d: &mut Decoder, value: &Value<'_>) -> Option<Weight> {
    let number = d.number(value)?;
    match number.to_f64().and_then(Weight::new) {
        Some(weight) => Some(weight),
        None => d.fault(&value.at, "must be a finite number that isn't negative"),
    }
}

fn assertable_by(d: &mut Decoder, value: &Value<'_>) -> Option<AssertableBy> {
    let known = ["minReviewerRole", "principalKinds", "principalIds"];
    let fields = d.object(value, &known)?;
    let role = d.optional(&fields, "minReviewerRole", |d, v| {
        let must = "must be \"standard\", \"senior\" or \"admin\"";
        d.name(v, ReviewerRole::from_name, must)
    });
    let kinds = d.optional(&fields, "principalKinds", |d, v| {
        d.list(v, 1..=usize::MAX, |d, v| {
            d.name(
                v,
                PrincipalKind::from_name,
                "must be \"user\" or \"service\"",
            )
        })
    });
    let ids = d.optional(&fields, "principalIds", |d, v| {
        d.list(v, 1..=MAX_PRINCIPAL_IDS, |d, v| d.text(v))
    });
    let by = AssertableBy::new(role?, kinds?.unwrap_or_default(), ids?.unwrap_or_default());
    d.valid(&value.at, by)
}

/// The filters of `judgeClasses.list`.
pub(crate) const LIST: &[&str] = &["limit", "cursor", "scopeKind", "projectId", "agentId"];

/// The query of `judgeClasses.list`: a scope with exactly the ids it takes.
pub(crate) fn list(query: &Query) -> Result<ClassFilter, Refusal> {
    let project = query.text("projectId")?;
    let agent = query.text("agentId")?;
    let takes = match query.get("scopeKind") {
        None | Some("tenant") => (false, false),
        Some("project") => (true, false),
        Some("agent") => (true, true),
        Some(_) => {
            let message = "must be `tenant`, `project` or `agent`";
            return Err(Refusal::new(Code::ScopeInvalid, message).at("scopeKind"));
        }
    };
    for (field, takes, given) in [
        ("projectId", takes.0, project.is_some()),
        ("agentId", takes.1, agent.is_some()),
    ] {
        if takes != given {
            let message = match takes {
                true => "is missing for this scopeKind",
                false => "doesn't go with this scopeKind",
            };
            return Err(Refusal::bad_input(field, message));
        }
    }
    let scope = match (query.get("scopeKind"), project, agent) {
        (None, ..) => None,
        (_, Some(project), Some(agent)) => Some(ClassScope::Agent(project, agent)),
        (_, Some(project), None) => Some(ClassScope::Project(project)),
        (_, None, _) => Some(ClassScope::Tenant),
    };
    Ok(ClassFilter { scope })
}
