//! Judgments on the wire.

use kindgi_core::{
    json::ObjectWriter,
    model::{Item, Judgment, JudgmentWithCopies, RunCopy, Segment, Subject},
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
    o.opt_raw(
        "correction",
        judgment.correction.as_ref().map(|c| c.to_json()).as_ref(),
    );
    o.opt_str("judgeClassId", judgment.class.as_ref().map(|c| c.as_str()));
    if judgment.restricted {
        o.bool("restricted", true);
    }
    o.object("assertedBy", |o| {
        o.str("kind", judgment.asserted_by.kind.as_str());
        o.str("id", judgment.asserted_by.id.as_str());
    });
    o.opt_str(
        "participantId",
        judgment.participant.as_ref().map(|p| p.as_str()),
    );
    o.str("createdAt", &judgment.created_at.to_string());
    o.opt_str(
        "unregisteredAt",
        judgment.unregistered_at.map(|at| at.to_string()).as_deref(),
    );
    o.opt_str(
        "supersededBy",
        judgment.superseded_by.as_ref().map(|id| id.as_str()),
    );
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

fn run(o: &mut ObjectWriter<'_>, run: &RunCopy) {
    o.str("runId", run.run.as_str());
    o.object("subject", |o| subject(o, &run.subject));
    o.raw("input", &run.input);
    o.opt_raw("context", run.context.as_ref().map(|c| c.as_json()));
    o.raw("output", &run.output);
    let segments = run.segments.as_deref().map(Segment::path_to_json);
    o.opt_raw("segments", segments.as_ref());
    o.str("capturedAt", &run.captured_at.to_string());
}
