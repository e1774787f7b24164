//! Judging rules on the wire.

use kindgi_core::{json::ObjectWriter, model::JudgingRule};

/// `JudgingRule`
pub(crate) fn rule(o: &mut ObjectWriter<'_>, rule: &JudgingRule) {
    o.str("ruleId", rule.id.as_str());
    o.str("projectId", rule.project.as_str());
    o.u64("version", rule.version.into());
    o.str("name", rule.name.as_str());
    o.raw("when", &rule.when.to_json());
    o.f64("sample", rule.sample.get());
    o.opt_u64("maxOpen", rule.max_open.map(|max| max.get().into()));
    o.opt_str("judgeClassId", rule.class.as_ref().map(|c| c.as_str()));
    o.bool("enabled", rule.enabled);
    o.opt_str("createdBy", rule.created_by.as_ref().map(|by| by.as_str()));
    o.str("createdAt", &rule.created_at.to_string());
    let stopped = rule.unregistered_at.map(|at| at.to_string());
    o.opt_str("unregisteredAt", stopped.as_deref());
}
