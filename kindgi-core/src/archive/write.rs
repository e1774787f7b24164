//! From records to lines.

use super::receipts;
use crate::{
    clock::Timestamp,
    json::{ObjectWriter, RawJson, Writer},
    model::{ItemKey, JudgeClass, JudgingRule, Judgment, QueueItem, RunCopy, Segment, Subject},
    store::{
        Record,
        archive::{CopyRecord, OperationRecord, RunRecord, TellingRecord, hex},
    },
};

/// The names of the kinds of records.
pub(super) const CLASS: &str = "class";
pub(super) const RULE_VERSION: &str = "ruleVersion";
pub(super) const RULES: &str = "rules";
pub(super) const RUN: &str = "run";
pub(super) const JUDGMENT: &str = "judgment";
pub(super) const TELLING: &str = "telling";
pub(super) const PURGE: &str = "purge";
pub(super) const OPERATION: &str = "operation";

pub(super) fn record(record: &Record) -> String {
    Writer::object(|o| {
        let kind = match record {
            Record::Class(_) => CLASS,
            Record::RuleVersion(_) => RULE_VERSION,
            Record::Rules(_) => RULES,
            Record::Run(_) => RUN,
            Record::Judgment(_) => JUDGMENT,
            Record::Telling(_) => TELLING,
            Record::Purge(_) => PURGE,
            Record::Operation(_) => OPERATION,
        };
        o.str("record", kind);
        o.str("tenant", record.tenant().as_str());
        match record {
            Record::Class(class) => {
                o.u64("revision", class.revision);
                self::class(o, &class.value);
            }
            Record::RuleVersion(rule) => rule_version(o, rule),
            Record::Rules(rules) => {
                o.str("project", rules.project.as_str());
                o.u64("revision", rules.revision);
            }
            Record::Run(run) => self::run(o, run),
            Record::Judgment(new) => {
                judgment(o, &new.judgment);
                opt_document(o, "itemValue", new.item_value.as_ref());
            }
            Record::Telling(telling) => self::telling(o, telling),
            Record::Purge(purge) => time(o, "before", purge.before),
            Record::Operation(operation) => self::operation(o, operation),
        }
    })
}

pub(super) fn class(o: &mut ObjectWriter<'_>, class: &JudgeClass) {
    o.str("id", class.id.as_str());
    o.object("scope", |o| {
        o.str("kind", class.scope.kind());
        o.opt_str("project", class.scope.project().map(|it| it.as_str()));
        o.opt_str("agent", class.scope.agent().map(|it| it.as_str()));
    });
    o.str("name", class.name.as_str());
    o.f64("weight", class.weight.get());
    o.opt_str(
        "description",
        class.description.as_ref().map(|it| it.as_str()),
    );
    let by = class.assertable_by.as_ref().map(|by| by.to_json());
    o.opt_raw("assertableBy", by.as_ref());
    time(o, "createdAt", class.created_at);
    time(o, "updatedAt", class.updated_at);
    opt_time(o, "unregisteredAt", class.unregistered_at);
}

pub(super) fn rule_version(o: &mut ObjectWriter<'_>, rule: &JudgingRule) {
    o.str("id", rule.id.as_str());
    o.str("project", rule.project.as_str());
    o.u64("version", rule.version.into());
    o.str("name", rule.name.as_str());
    o.raw("when", &rule.when.to_json());
    o.f64("sample", rule.sample.get());
    o.opt_u64("maxOpen", rule.max_open.map(|max| max.get().into()));
    o.opt_str("class", rule.class.as_ref().map(|it| it.as_str()));
    o.bool("enabled", rule.enabled);
    o.opt_str("createdBy", rule.created_by.as_ref().map(|it| it.as_str()));
    time(o, "createdAt", rule.created_at);
    opt_time(o, "unregisteredAt", rule.unregistered_at);
}

fn run(o: &mut ObjectWriter<'_>, run: &RunRecord) {
    o.str("run", run.run.as_str());
    o.bool("erased", run.erased);
    if let Some(CopyRecord { project, copy }) = &run.copy {
        o.object("copy", |o| {
            o.str("project", project.as_str());
            self::copy(o, copy);
        });
    }
}

fn copy(o: &mut ObjectWriter<'_>, copy: &RunCopy) {
    subject(o, &copy.subject);
    document(o, "input", &copy.input);
    document(o, "output", &copy.output);
    opt_document(
        o,
        "context",
        copy.context.as_ref().map(|context| context.as_json()),
    );
    let segments = copy.segments.as_deref().map(Segment::path_to_json);
    o.opt_raw("segments", segments.as_ref());
    time(o, "capturedAt", copy.captured_at);
}

pub(super) fn judgment(o: &mut ObjectWriter<'_>, judgment: &Judgment) {
    o.str("id", judgment.id.as_str());
    o.str("project", judgment.project.as_str());
    o.str("run", judgment.run.as_str());
    subject(o, &judgment.subject);
    o.object("item", |o| {
        o.str("key", ItemKey::as_str(&judgment.item.key));
        let pointer = judgment.item.pointer.as_ref();
        o.opt_str("pointer", pointer.map(|pointer| pointer.as_str()));
        o.opt_u64("rank", judgment.item.rank.map(|rank| rank.get()));
    });
    o.str("verdict", judgment.verdict.as_str());
    o.opt_str("reason", judgment.reason.as_ref().map(|it| it.as_str()));
    let correction = judgment.correction.as_ref().map(|it| it.to_json());
    o.opt_raw("correction", correction.as_ref());
    o.opt_str("class", judgment.class.as_ref().map(|it| it.as_str()));
    o.bool("restricted", judgment.restricted);
    o.object("assertedBy", |o| {
        o.str("kind", judgment.asserted_by.kind.as_str());
        o.str("id", judgment.asserted_by.id.as_str());
    });
    o.opt_str(
        "participant",
        judgment.participant.as_ref().map(|it| it.as_str()),
    );
    time(o, "createdAt", judgment.created_at);
    opt_time(o, "unregisteredAt", judgment.unregistered_at);
    o.opt_str(
        "supersededBy",
        judgment.superseded_by.as_ref().map(|it| it.as_str()),
    );
}

fn telling(o: &mut ObjectWriter<'_>, telling: &TellingRecord) {
    o.str("run", telling.run.as_str());
    o.str("project", telling.project.as_str());
    time(o, "toldAt", telling.told_at);
    time(o, "age", telling.age);
    o.opt_str(
        "agentVersion",
        telling.agent_version.as_ref().map(|it| it.as_str()),
    );
    o.array("skipped", |a| {
        for (rule, version) in &telling.skipped {
            a.object(|o| {
                o.str("rule", rule.as_str());
                o.u64("version", (*version).into());
            });
        }
    });
    if let Some(item) = &telling.item {
        o.object("item", |o| self::item(o, item));
    }
}

pub(super) fn item(o: &mut ObjectWriter<'_>, item: &QueueItem) {
    o.str("run", item.run.as_str());
    o.str("project", item.project.as_str());
    if let Some((id, version)) = &item.agent {
        o.object("agent", |o| {
            o.str("id", id.as_str());
            o.str("version", version.as_str());
        });
    }
    o.str("flow", item.flow.as_str());
    time(o, "completedAt", item.completed_at);
    time(o, "addedAt", item.added_at);
    o.array("takenBy", |a| {
        for by in &item.taken_by {
            a.object(|o| {
                o.str("rule", by.rule.as_str());
                o.u64("version", by.version.into());
                o.opt_str("wants", by.wants.as_ref().map(|it| it.as_str()));
            });
        }
    });
    o.array("progress", |a| {
        for under in &item.progress {
            a.object(|o| {
                o.opt_str("class", under.class.as_ref().map(|it| it.as_str()));
                o.u64("judgments", under.judgments);
            });
        }
    });
    o.str("state", item.state.as_str());
    opt_time(o, "closedAt", item.closed_at);
    o.opt_str("closedBy", item.closed_by.as_ref().map(|it| it.as_str()));
    o.opt_str("reason", item.reason.as_ref().map(|it| it.as_str()));
}

fn operation(o: &mut ObjectWriter<'_>, operation: &OperationRecord) {
    o.str("id", &hex(&operation.id.0));
    o.str("body", &hex(&operation.body));
    time(o, "keepUntil", operation.keep_until);
    o.object("receipt", |o| receipts::write(o, &operation.receipt));
}

fn subject(o: &mut ObjectWriter<'_>, subject: &Subject) {
    o.object("subject", |o| {
        o.str("kind", subject.kind());
        o.str("id", subject.id());
        o.str("version", subject.version().as_str());
    });
}

fn time(o: &mut ObjectWriter<'_>, name: &str, at: Timestamp) {
    o.raw(name, &RawJson::trusted(at.as_unix_millis().to_string()));
}

fn opt_time(o: &mut ObjectWriter<'_>, name: &str, at: Option<Timestamp>) {
    if let Some(at) = at {
        time(o, name, at);
    }
}

fn document(o: &mut ObjectWriter<'_>, name: &str, document: &RawJson) {
    o.str(name, document.as_str());
}

fn opt_document(o: &mut ObjectWriter<'_>, name: &str, document: Option<&RawJson>) {
    o.opt_str(name, document.map(RawJson::as_str));
}
