//! Judgments on the wire.

use kindgi_core::{
    json::ObjectWriter,
    model::{Correction, Item, Judgment, JudgmentWithCopies, RunCopy, Subject},
};

/// `Judgment`
pub(crate) fn judgment(o: &mut ObjectWriter<'_>, judgment: &Judgment) {
    o.str("id", judgment.id.as_str());
    o.str("tenantId", judgment.tenant.as_str());
    o.str("projectId", judgment.project.as_str());
    o.str("runId", judgment.run.as_str());
    o.object("subject", |o| subject(o, &judgment.subject));
    o.object("item", |o| item(o, &judgment.item));
    o.str("verdict", judgment.verdict.as_str());
    o.opt_str("reason", judgment.reason.as_ref().map(|r| r.as_str()));
    if let Some(given) = &judgment.correction {
        o.object("correction", |o| correction(o, given));
    }
    o.opt_str("judgeClassId", judgment.class.as_ref().map(|c| c.as_str()));
    if judgment.restricted {
        o.bool("restricted", true);
    }
    o.object("assertedBy", |o| {
        o.str("kind", judgment.asserted_by.kind.as_str());
        o.str("id", judgment.asserted_by.id.as_str());
    });
    o.opt_str("participantId", judgment.participant.as_ref().map(|p| p.as_str()));
    o.str("createdAt", &judgment.created_at.to_string());
    o.opt_str(
        "unregisteredAt",
        judgment.unregistered_at.map(|at| at.to_string()).as_deref(),
    );
    o.opt_str("supersededBy", judgment.superseded_by.as_ref().map(|id| id.as_str()));
}

/// `JudgmentWithCopies`
pub(crate) fn with_copies(o: &mut ObjectWriter<'_>, found: &JudgmentWithCopies) {
    judgment(o, &found.judgment);
    o.object("run", |o| run(o, &found.run));
    o.opt_raw("itemValue", found.item_value.as_ref());
}

fn subject(o: &mut ObjectWriter<'_>, subject: &Subject) {
    o.str("kind", subject.kind());
    o.str("id", subject.id());
    o.str("version", subject.version().as_str());
}

fn item(o: &mut ObjectWriter<'_>, item: &Item) {
    o.str("key", item.key.as_str());
    o.opt_str("pointer", item.pointer.as_ref().map(|p| p.as_str()));
    o.opt_u64("rank", item.rank.map(|rank| rank.get()));
}

fn correction(o: &mut ObjectWriter<'_>, correction: &Correction) {
    o.array("calls", |a| {
        for call in correction.calls() {
            a.object(|o| {
                o.str("tool", call.tool.as_str());
                o.raw("args", call.args.as_json());
            });
        }
    });
    o.array("notCalled", |a| correction.not_called().iter().for_each(|t| a.str(t.as_str())));
}

fn run(o: &mut ObjectWriter<'_>, run: &RunCopy) {
    o.str("runId", run.run.as_str());
    o.object("subject", |o| subject(o, &run.subject));
    o.raw("input", &run.input);
    o.opt_raw("context", run.context.as_ref().map(|c| c.as_json()));
    o.raw("output", &run.output);
    if let Some(segments) = &run.segments {
        o.array("segments", |a| {
            for segment in segments {
                a.object(|o| {
                    o.str("key", segment.key.as_str());
                    o.str("value", segment.value.as_str());
                });
            }
        });
    }
    o.str("capturedAt", &run.captured_at.to_string());
}
