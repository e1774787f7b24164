//! The judging queue on the wire.

use kindgi_core::{
    engine::QueuePage,
    json::{ArrayWriter, ObjectWriter, Writer},
    model::{ClassProgress, JudgeClassId, QueueItem},
};

use crate::cursor::Binding;

/// `JudgingQueuePage`
pub(crate) fn page(page: &QueuePage, binding: &Binding) -> String {
    Writer::object(|o| {
        o.array("data", |a: &mut ArrayWriter<'_>| {
            for each in &page.items {
                a.object(|o| item(o, each, page.may_write));
            }
        });
        super::next(o, page.next.as_ref(), binding);
        o.u64("total", page.total);
    })
}

/// `JudgingQueueItem`, for a caller who may dismiss and reopen, or may not.
pub(crate) fn item(o: &mut ObjectWriter<'_>, item: &QueueItem, may_write: bool) {
    o.str("runId", item.run.as_str());
    o.str("projectId", item.project.as_str());
    if let Some((agent, version)) = &item.agent {
        o.str("agentId", agent.as_str());
        o.str("agentVersion", version.as_str());
    }
    o.str("flowId", item.flow.as_str());
    // No other run is ever queued.
    o.str("runStatus", "completed");
    o.str("completedAt", &item.completed_at.to_string());
    o.array("rules", |a| {
        for by in &item.taken_by {
            a.object(|o| {
                o.str("ruleId", by.rule.as_str());
                o.u64("version", by.version.into());
            });
        }
    });
    o.array("wantedClassIds", |a| {
        let wanted = item.wanted_classes();
        wanted.iter().for_each(|class| a.str(class.as_str()));
    });
    o.bool("anyJudgment", item.wants_any());
    o.object("progress", |o| progress(o, &item.progress));
    o.str("addedAt", &item.added_at.to_string());
    o.str("state", item.state.as_str());
    let closed = item.closed_at.map(|at| at.to_string());
    o.opt_str("closedAt", closed.as_deref());
    o.opt_str("closedBy", item.closed_by.as_ref().map(|by| by.as_str()));
    o.opt_str("reason", item.reason.as_ref().map(|r| r.as_str()));
    o.object("can", |o| {
        o.bool("dismiss", may_write);
        o.bool("reopen", may_write);
    });
}

fn progress(o: &mut ObjectWriter<'_>, progress: &[ClassProgress]) {
    o.u64("total", progress.iter().map(|by| by.judgments).sum());
    o.array("byClass", |a| {
        for by in progress {
            a.object(|o| {
                class(o, by.class.as_ref());
                o.u64("count", by.judgments);
            });
        }
    });
}

/// `judgeClassId` of what is counted by class: `null` for what is unclassified.
pub(super) fn class(o: &mut ObjectWriter<'_>, class: Option<&JudgeClassId>) {
    match class {
        Some(class) => o.str("judgeClassId", class.as_str()),
        None => o.null("judgeClassId"),
    }
}
