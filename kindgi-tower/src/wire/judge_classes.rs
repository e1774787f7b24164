//! Judge classes on the wire.

use kindgi_core::{
    engine::{AssertableByView, JudgeClassView},
    json::ObjectWriter,
    model::ClassScope,
};

/// `JudgeClass`
pub(crate) fn class(o: &mut ObjectWriter<'_>, class: &JudgeClassView) {
    o.str("id", class.id.as_str());
    o.str("tenantId", class.tenant.as_str());
    o.object("scope", |o| scope(o, &class.scope));
    o.str("name", class.name.as_str());
    o.f64("weight", class.weight.get());
    o.opt_str(
        "description",
        class.description.as_ref().map(|d| d.as_str()),
    );
    if let Some(by) = &class.assertable_by {
        o.object("assertableBy", |o| assertable_by(o, by));
    }
    o.str("createdAt", &class.created_at.to_string());
    o.str("updatedAt", &class.updated_at.to_string());
    o.opt_str(
        "unregisteredAt",
        class.unregistered_at.map(|at| at.to_string()).as_deref(),
    );
}

fn scope(o: &mut ObjectWriter<'_>, scope: &ClassScope) {
    o.str("kind", scope.kind());
    o.opt_str("projectId", scope.project().map(|p| p.as_str()));
    o.opt_str("agentId", scope.agent().map(|a| a.as_str()));
}

fn assertable_by(o: &mut ObjectWriter<'_>, by: &AssertableByView) {
    o.opt_str(
        "minReviewerRole",
        by.min_reviewer_role.map(|role| role.as_str()),
    );
    if !by.principal_kinds.is_empty() {
        o.array("principalKinds", |a| {
            by.principal_kinds.iter().for_each(|k| a.str(k.as_str()))
        });
    }
    if !by.principal_ids.is_empty() {
        o.array("principalIds", |a| {
            by.principal_ids.iter().for_each(|id| a.str(id.as_str()))
        });
    }
    if by.principal_count > 0 {
        o.u64("principalCount", by.principal_count as u64);
    }
}
