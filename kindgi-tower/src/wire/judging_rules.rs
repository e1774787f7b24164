//! Judging rules on the wire.

use kindgi_core::{
    Timestamp,
    json::ObjectWriter,
    model::{JudgingRule, RuleId},
    rules::results::Group,
};

use super::judging_queue::class;

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

/// `JudgingRuleResults`
pub(crate) fn results(
    o: &mut ObjectWriter<'_>,
    rule: &RuleId,
    since: Option<Timestamp>,
    groups: &[Group],
) {
    o.str("ruleId", rule.as_str());
    o.opt_str("since", since.map(|at| at.to_string()).as_deref());
    o.array("groups", |a| {
        groups.iter().for_each(|each| a.object(|o| group(o, each)));
    });
}

/// `JudgingResultGroup`
fn group(o: &mut ObjectWriter<'_>, group: &Group) {
    o.u64("ruleVersion", group.rule_version.into());
    match &group.agent_version {
        Some(version) => o.str("agentVersion", version.as_str()),
        None => o.null("agentVersion"),
    }
    o.u64("added", group.added);
    o.u64("open", group.open);
    o.u64("judged", group.judged);
    o.u64("dismissed", group.dismissed);
    o.u64("erased", group.erased);
    o.u64("skippedByCap", group.skipped_by_cap);
    o.u64("judgments", group.judgments);
    o.u64("runsWithJudgments", group.runs_with_judgments);
    match group.yes_share {
        Some(share) => o.f64("yesShare", share),
        None => o.null("yesShare"),
    }
    o.array("byClass", |a| {
        for count in &group.by_class {
            a.object(|o| {
                class(o, count.class.as_ref());
                o.u64("judgments", count.judgments);
                o.u64("yes", count.yes);
            });
        }
    });
}
