//! From lines to records.

use super::{
    InvalidLine,
    fields::{Field, Fields},
    receipts, write,
};
use crate::{
    model::{
        AssertableBy, AssertedBy, ClassProgress, ClassScope, Correction, Item, ItemState,
        JudgeClass, JudgingRule, Judgment, MaxOpen, PrincipalKind, QueueItem, Rank, RuleId,
        RuleWhen, RunContext, RunCopy, RunId, Sample, Segment, Subject, TakenBy, TenantId, Verdict,
        Weight,
    },
    store::{
        NewJudgment, OperationId, Record, Revised,
        archive::{
            CopyRecord, OperationRecord, PurgeRecord, RulesRecord, RunRecord, TellingRecord, unhex,
        },
    },
};

pub(super) fn record(mut fields: Fields) -> Result<Record, InvalidLine> {
    let kind = fields.required("record")?;
    let tenant: TenantId = fields.parse("tenant")?;
    let f = &mut fields;
    let record = match &*kind.text()? {
        write::CLASS => Record::Class(Box::new(Revised {
            revision: f.required("revision")?.number()?,
            value: class(&tenant, f)?,
        })),
        write::RULE_VERSION => Record::RuleVersion(Box::new(rule_version(&tenant, f)?)),
        write::RULES => Record::Rules(RulesRecord {
            tenant,
            project: f.parse("project")?,
            revision: f.required("revision")?.number()?,
        }),
        write::RUN => Record::Run(Box::new(run(tenant, f)?)),
        write::JUDGMENT => Record::Judgment(Box::new(NewJudgment {
            judgment: judgment(&tenant, f)?,
            item_value: f
                .optional("itemValue")
                .map(|it| it.document())
                .transpose()?,
        })),
        write::TELLING => Record::Telling(Box::new(telling(tenant, f)?)),
        write::PURGE => Record::Purge(PurgeRecord {
            tenant,
            before: f.time("before")?,
        }),
        write::OPERATION => Record::Operation(Box::new(operation(tenant, f)?)),
        _ => return Err(kind.must("be a kind of record")),
    };
    fields.end()?;
    Ok(record)
}

pub(super) fn class(tenant: &TenantId, f: &mut Fields) -> Result<JudgeClass, InvalidLine> {
    let weight = f.required("weight")?;
    Ok(JudgeClass {
        tenant: tenant.clone(),
        id: f.parse("id")?,
        scope: scope(&f.required("scope")?)?,
        name: f.parse("name")?,
        weight: Weight::new(weight.number()?)
            .ok_or_else(|| weight.must("be finite and not negative"))?,
        description: f.opt_parse("description")?,
        assertable_by: f
            .optional("assertableBy")
            .map(|by| by.json(AssertableBy::from_json))
            .transpose()?,
        created_at: f.time("createdAt")?,
        updated_at: f.time("updatedAt")?,
        unregistered_at: f.opt_time("unregisteredAt")?,
    })
}

fn scope(field: &Field) -> Result<ClassScope, InvalidLine> {
    let mut f = field.fields()?;
    let kind = f.required("kind")?;
    let scope = match &*kind.text()? {
        "tenant" => ClassScope::Tenant,
        "project" => ClassScope::Project(f.parse("project")?),
        "agent" => ClassScope::Agent(f.parse("project")?, f.parse("agent")?),
        _ => return Err(kind.must("be tenant, project or agent")),
    };
    f.end()?;
    Ok(scope)
}

pub(super) fn rule_version(tenant: &TenantId, f: &mut Fields) -> Result<JudgingRule, InvalidLine> {
    let sample = f.required("sample")?;
    let max_open = |max: Field| {
        let items = MaxOpen::new(max.number()?);
        items.ok_or_else(|| max.must("be from 1 to 10000"))
    };
    Ok(JudgingRule {
        id: f.parse("id")?,
        tenant: tenant.clone(),
        project: f.parse("project")?,
        version: f.required("version")?.number()?,
        name: f.parse("name")?,
        when: f.required("when")?.json(RuleWhen::from_json)?,
        sample: Sample::new(sample.number()?)
            .ok_or_else(|| sample.must("be above 0 and at most 1"))?,
        max_open: f.optional("maxOpen").map(max_open).transpose()?,
        class: f.opt_parse("class")?,
        enabled: f.required("enabled")?.truth()?,
        created_by: f.opt_parse("createdBy")?,
        created_at: f.time("createdAt")?,
        unregistered_at: f.opt_time("unregisteredAt")?,
    })
}

fn run(tenant: TenantId, f: &mut Fields) -> Result<RunRecord, InvalidLine> {
    let run: RunId = f.parse("run")?;
    let copy = f.optional("copy").map(|copy| self::copy(&run, &copy));
    Ok(RunRecord {
        tenant,
        erased: f.required("erased")?.truth()?,
        copy: copy.transpose()?,
        run,
    })
}

fn copy(run: &RunId, field: &Field) -> Result<CopyRecord, InvalidLine> {
    let mut f = field.fields()?;
    let context = |context: Field| {
        let document = context.document()?;
        match document.members() {
            // It was checked when it was kept, and is as it was then.
            Some(_) => Ok(RunContext::from_stored(document)),
            None => Err(context.must("be an object's text")),
        }
    };
    let copy = CopyRecord {
        project: f.parse("project")?,
        copy: RunCopy {
            run: run.clone(),
            subject: subject(&f.required("subject")?)?,
            input: f.required("input")?.document()?,
            output: f.required("output")?.document()?,
            context: f.optional("context").map(context).transpose()?,
            segments: f
                .optional("segments")
                .map(|path| path.json(Segment::path_from_json))
                .transpose()?,
            captured_at: f.time("capturedAt")?,
        },
    };
    f.end()?;
    Ok(copy)
}

pub(super) fn judgment(tenant: &TenantId, f: &mut Fields) -> Result<Judgment, InvalidLine> {
    Ok(Judgment {
        id: f.parse("id")?,
        tenant: tenant.clone(),
        project: f.parse("project")?,
        run: f.parse("run")?,
        subject: subject(&f.required("subject")?)?,
        item: judged_item(&f.required("item")?)?,
        verdict: f.required("verdict")?.name(Verdict::from_name)?,
        reason: f.opt_parse("reason")?,
        correction: f
            .optional("correction")
            .map(|it| it.json(Correction::from_json))
            .transpose()?,
        class: f.opt_parse("class")?,
        restricted: f.required("restricted")?.truth()?,
        asserted_by: {
            let mut by = f.required("assertedBy")?.fields()?;
            let asserted_by = AssertedBy {
                kind: by.required("kind")?.name(PrincipalKind::from_name)?,
                id: by.parse("id")?,
            };
            by.end()?;
            asserted_by
        },
        participant: f.opt_parse("participant")?,
        created_at: f.time("createdAt")?,
        unregistered_at: f.opt_time("unregisteredAt")?,
        superseded_by: f.opt_parse("supersededBy")?,
    })
}

fn judged_item(field: &Field) -> Result<Item, InvalidLine> {
    let mut f = field.fields()?;
    let rank = |rank: Field| {
        let place = Rank::new(rank.number()?);
        place.ok_or_else(|| rank.must("be at most 2^53 - 1"))
    };
    let item = Item {
        key: f.parse("key")?,
        pointer: f.opt_parse("pointer")?,
        rank: f.optional("rank").map(rank).transpose()?,
    };
    f.end()?;
    Ok(item)
}

fn telling(tenant: TenantId, f: &mut Fields) -> Result<TellingRecord, InvalidLine> {
    let skipped = |field: Field| -> Result<(RuleId, u32), InvalidLine> {
        let mut f = field.fields()?;
        let skipped = (f.parse("rule")?, f.required("version")?.number()?);
        f.end()?;
        Ok(skipped)
    };
    let item = f.optional("item").map(|field| {
        let mut f = field.fields()?;
        let item = item(&mut f)?;
        f.end()?;
        Ok(item)
    });
    Ok(TellingRecord {
        tenant,
        run: f.parse("run")?,
        project: f.parse("project")?,
        told_at: f.time("toldAt")?,
        age: f.time("age")?,
        agent_version: f.opt_parse("agentVersion")?,
        skipped: f.required("skipped")?.items(skipped)?,
        item: item.transpose()?,
    })
}

pub(super) fn item(f: &mut Fields) -> Result<QueueItem, InvalidLine> {
    let agent = f.optional("agent").map(|field| {
        let mut f = field.fields()?;
        let agent = (f.parse("id")?, f.parse("version")?);
        f.end()?;
        Ok(agent)
    });
    let taken_by = |field: Field| {
        let mut f = field.fields()?;
        let by = TakenBy {
            rule: f.parse("rule")?,
            version: f.required("version")?.number()?,
            wants: f.opt_parse("wants")?,
        };
        f.end()?;
        Ok(by)
    };
    let progress = |field: Field| {
        let mut f = field.fields()?;
        let under = ClassProgress {
            class: f.opt_parse("class")?,
            judgments: f.required("judgments")?.number()?,
        };
        f.end()?;
        Ok(under)
    };
    Ok(QueueItem {
        run: f.parse("run")?,
        project: f.parse("project")?,
        agent: agent.transpose()?,
        flow: f.parse("flow")?,
        completed_at: f.time("completedAt")?,
        added_at: f.time("addedAt")?,
        taken_by: f.required("takenBy")?.items(taken_by)?,
        progress: f.required("progress")?.items(progress)?,
        state: f.required("state")?.name(ItemState::from_name)?,
        closed_at: f.opt_time("closedAt")?,
        closed_by: f.opt_parse("closedBy")?,
        reason: f.opt_parse("reason")?,
    })
}

fn operation(tenant: TenantId, f: &mut Fields) -> Result<OperationRecord, InvalidLine> {
    let mut receipt = f.required("receipt")?.fields()?;
    let kept = receipts::read(&tenant, &mut receipt)?;
    receipt.end()?;
    Ok(OperationRecord {
        tenant,
        id: OperationId(bytes(&f.required("id")?)?),
        body: bytes(&f.required("body")?)?,
        keep_until: f.time("keepUntil")?,
        receipt: kept,
    })
}

fn bytes(field: &Field) -> Result<[u8; 32], InvalidLine> {
    let bytes = unhex(&field.text()?);
    bytes.ok_or_else(|| field.must("be 64 lower-case hexadecimal digits"))
}

fn subject(field: &Field) -> Result<Subject, InvalidLine> {
    let mut f = field.fields()?;
    let kind = f.required("kind")?;
    let version = f.parse("version")?;
    let subject = match &*kind.text()? {
        "agent" => Subject::Agent {
            id: f.parse("id")?,
            version,
        },
        "flow" => Subject::Flow {
            id: f.parse("id")?,
            version,
        },
        _ => return Err(kind.must("be agent or flow")),
    };
    f.end()?;
    Ok(subject)
}
