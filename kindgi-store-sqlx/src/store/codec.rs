//! Between the model and rows.

pub(super) mod bytes;
pub(super) mod queue;

use std::str::FromStr;

use kindgi_core::{
    Timestamp,
    json::{Pointer, RawJson},
    model::{
        AssertableBy, AssertedBy, ClassScope, Correction, Item, JudgeClass, JudgingRule, Judgment,
        MaxOpen, PrincipalKind, Rank, RuleWhen, RunContext, RunCopy, Sample, Segment, Subject,
        TenantId, Verdict, Weight,
    },
};
use sha2::{Digest, Sha256};

use crate::{
    error::DbError,
    sql::{Cell, Row},
};

/// The columns of a judgment, in the order of [`judgment_cells`].
pub(super) const JUDGMENT: &str = "id, project, run, subject_kind, subject_id, version, item_key, \
     pointer, item_rank, verdict, reason, correction, class, restricted, author_kind, author_id, \
     participant, created_at, unregistered_at, superseded_by";

pub(super) fn judgment_cells(judgment: &Judgment) -> Vec<Cell> {
    let j = judgment;
    vec![
        j.id.as_str().into(),
        j.project.as_str().into(),
        j.run.as_str().into(),
        j.subject.kind().into(),
        j.subject.id().into(),
        j.subject.version().as_str().into(),
        j.item.key.as_str().into(),
        j.item.pointer.as_ref().map(|p| p.as_str()).into(),
        // At most 2^53 - 1.
        j.item
            .rank
            .map(|rank| i64::try_from(rank.get()).unwrap_or(i64::MAX))
            .into(),
        j.verdict.as_str().into(),
        j.reason.as_ref().map(|r| r.as_str()).into(),
        j.correction
            .as_ref()
            .map(|c| c.to_json().to_string())
            .into(),
        j.class.as_ref().map(|c| c.as_str()).into(),
        j.restricted.into(),
        j.asserted_by.kind.as_str().into(),
        j.asserted_by.id.as_str().into(),
        j.participant.as_ref().map(|p| p.as_str()).into(),
        j.created_at.as_unix_millis().into(),
        j.unregistered_at.map(Timestamp::as_unix_millis).into(),
        j.superseded_by.as_ref().map(|id| id.as_str()).into(),
    ]
}

pub(super) fn judgment(tenant: &TenantId, row: &mut Row) -> Result<Judgment, DbError> {
    Ok(Judgment {
        tenant: tenant.clone(),
        id: parse(row.text()?)?,
        project: parse(row.text()?)?,
        run: parse(row.text()?)?,
        subject: subject(row)?,
        item: Item {
            key: parse(row.text()?)?,
            pointer: opt_parse::<Pointer>(row.opt_text()?)?,
            rank: row.opt_int()?.map(rank).transpose()?,
        },
        verdict: named(row.text()?, Verdict::from_name)?,
        reason: opt_parse(row.opt_text()?)?,
        correction: opt_json(row.opt_text()?, Correction::from_json)?,
        class: opt_parse(row.opt_text()?)?,
        restricted: row.int()? != 0,
        asserted_by: AssertedBy {
            kind: named(row.text()?, PrincipalKind::from_name)?,
            id: parse(row.text()?)?,
        },
        participant: opt_parse(row.opt_text()?)?,
        created_at: time(row.int()?)?,
        unregistered_at: row.opt_int()?.map(time).transpose()?,
        superseded_by: opt_parse(row.opt_text()?)?,
    })
}

/// What at most one live judgment has.
pub(super) fn live_key(judgment: &Judgment) -> String {
    let by = &judgment.asserted_by;
    let participant = judgment.participant.as_ref().map(|p| p.as_str());
    hash(&[
        Some(judgment.tenant.as_str()),
        Some(judgment.run.as_str()),
        Some(judgment.item.key.as_str()),
        Some(by.kind.as_str()),
        Some(by.id.as_str()),
        participant,
    ])
}

/// The columns of a copy beside its run, in the order of [`copy_cells`].
pub(super) const COPY: &str =
    "subject_kind, subject_id, version, input, output, context, segments, captured_at";

pub(super) fn copy_cells(copy: &RunCopy) -> Vec<Cell> {
    vec![
        copy.subject.kind().into(),
        copy.subject.id().into(),
        copy.subject.version().as_str().into(),
        copy.input.as_str().into(),
        copy.output.as_str().into(),
        copy.context.as_ref().map(|c| c.as_json().as_str()).into(),
        copy.segments
            .as_deref()
            .map(|s| Segment::path_to_json(s).to_string())
            .into(),
        copy.captured_at.as_unix_millis().into(),
    ]
}

pub(super) fn copy(run: kindgi_core::model::RunId, row: &mut Row) -> Result<RunCopy, DbError> {
    Ok(RunCopy {
        run,
        subject: subject(row)?,
        input: json(row.text()?),
        output: json(row.text()?),
        context: row
            .opt_text()?
            .map(|text| RunContext::from_stored(json(text))),
        segments: opt_json(row.opt_text()?, Segment::path_from_json)?,
        captured_at: time(row.int()?)?,
    })
}

/// The columns of a class, in the order of [`class_cells`].
pub(super) const CLASS: &str = "id, scope_kind, project, agent, name, weight, description, \
     assertable_by, created_at, updated_at, unregistered_at";

pub(super) fn class_cells(class: &JudgeClass) -> Vec<Cell> {
    vec![
        class.id.as_str().into(),
        class.scope.kind().into(),
        class.scope.project().map(|p| p.as_str()).into(),
        class.scope.agent().map(|a| a.as_str()).into(),
        class.name.as_str().into(),
        // The shortest text that reads back as the same number.
        class.weight.get().to_string().into(),
        class.description.as_ref().map(|d| d.as_str()).into(),
        class
            .assertable_by
            .as_ref()
            .map(|by| by.to_json().to_string())
            .into(),
        class.created_at.as_unix_millis().into(),
        class.updated_at.as_unix_millis().into(),
        class.unregistered_at.map(Timestamp::as_unix_millis).into(),
    ]
}

pub(super) fn class(tenant: &TenantId, row: &mut Row) -> Result<JudgeClass, DbError> {
    let corrupt = || DbError::corrupt("a judge class");
    Ok(JudgeClass {
        tenant: tenant.clone(),
        id: parse(row.text()?)?,
        scope: {
            let kind = row.text()?;
            let project = opt_parse(row.opt_text()?)?;
            let agent = opt_parse(row.opt_text()?)?;
            match (&*kind, project, agent) {
                ("tenant", None, None) => ClassScope::Tenant,
                ("project", Some(project), None) => ClassScope::Project(project),
                ("agent", Some(project), Some(agent)) => ClassScope::Agent(project, agent),
                _ => return Err(corrupt()),
            }
        },
        name: parse(row.text()?)?,
        weight: row
            .text()?
            .parse()
            .ok()
            .and_then(Weight::new)
            .ok_or_else(corrupt)?,
        description: opt_parse(row.opt_text()?)?,
        assertable_by: opt_json(row.opt_text()?, AssertableBy::from_json)?,
        created_at: time(row.int()?)?,
        updated_at: time(row.int()?)?,
        unregistered_at: row.opt_int()?.map(time).transpose()?,
    })
}

/// What at most one live class has.
pub(super) fn live_name(class: &JudgeClass) -> String {
    hash(&[
        Some(class.tenant.as_str()),
        Some(class.scope.kind()),
        class.scope.project().map(|p| p.as_str()),
        class.scope.agent().map(|a| a.as_str()),
        Some(class.name.as_str()),
    ])
}

/// The columns of a rule that its versions share; with [`RULE_VERSION`] after them in the order of
/// [`rule_cells`].
pub(super) const RULE: &str = "id, project, unregistered_at";

/// The columns of a rule's version, in the order of [`rule_version_cells`].
pub(super) const RULE_VERSION: &str =
    "version, name, matching, sample, max_open, class, enabled, created_by, created_at";

pub(super) fn rule_cells(rule: &JudgingRule) -> Vec<Cell> {
    let mut cells = vec![
        rule.id.as_str().into(),
        rule.project.as_str().into(),
        rule.unregistered_at.map(Timestamp::as_unix_millis).into(),
    ];
    cells.extend(rule_version_cells(rule));
    cells
}

pub(super) fn rule_version_cells(rule: &JudgingRule) -> Vec<Cell> {
    vec![
        i64::from(rule.version).into(),
        rule.name.as_str().into(),
        rule.when.to_json().as_str().into(),
        // The shortest text that reads back as the same number.
        rule.sample.get().to_string().into(),
        rule.max_open.map(|max| i64::from(max.get())).into(),
        rule.class.as_ref().map(|class| class.as_str()).into(),
        rule.enabled.into(),
        rule.created_by.as_ref().map(|by| by.as_str()).into(),
        rule.created_at.as_unix_millis().into(),
    ]
}

pub(super) fn rule(tenant: &TenantId, row: &mut Row) -> Result<JudgingRule, DbError> {
    let corrupt = || DbError::corrupt("a judging rule");
    let max_open = |max: i64| u32::try_from(max).ok().and_then(MaxOpen::new);
    Ok(JudgingRule {
        tenant: tenant.clone(),
        id: parse(row.text()?)?,
        project: parse(row.text()?)?,
        unregistered_at: row.opt_int()?.map(time).transpose()?,
        version: row.int()?.try_into().map_err(|_| corrupt())?,
        name: parse(row.text()?)?,
        when: document(row.text()?, RuleWhen::from_json)?,
        sample: row
            .text()?
            .parse()
            .ok()
            .and_then(Sample::new)
            .ok_or_else(corrupt)?,
        max_open: row
            .opt_int()?
            .map(|max| max_open(max).ok_or_else(corrupt))
            .transpose()?,
        class: opt_parse(row.opt_text()?)?,
        enabled: row.int()? != 0,
        created_by: opt_parse(row.opt_text()?)?,
        created_at: time(row.int()?)?,
    })
}

/// A hash that is equal only for equal parts, each there or not.
fn hash(parts: &[Option<&str>]) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        match part {
            None => hash.update([0]),
            Some(text) => {
                hash.update([1]);
                hash.update((text.len() as u64).to_be_bytes());
                hash.update(text);
            }
        }
    }
    hex(&hash.finalize())
}

pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn subject(row: &mut Row) -> Result<Subject, DbError> {
    let kind = row.text()?;
    let id = row.text()?;
    let version = parse(row.text()?)?;
    match &*kind {
        "agent" => parse(id).map(|id| Subject::Agent { id, version }),
        "flow" => parse(id).map(|id| Subject::Flow { id, version }),
        _ => Err(DbError::corrupt("a subject")),
    }
}

pub(super) fn parse<T: FromStr>(text: String) -> Result<T, DbError> {
    text.parse().map_err(|_| DbError::corrupt("a text"))
}

fn opt_parse<T: FromStr>(text: Option<String>) -> Result<Option<T>, DbError> {
    text.map(parse).transpose()
}

fn named<T>(text: String, from_name: impl Fn(&str) -> Option<T>) -> Result<T, DbError> {
    from_name(&text).ok_or_else(|| DbError::corrupt("a name"))
}

fn rank(rank: i64) -> Result<Rank, DbError> {
    let rank = u64::try_from(rank).ok().and_then(Rank::new);
    rank.ok_or_else(|| DbError::corrupt("a rank"))
}

pub(super) fn time(millis: i64) -> Result<Timestamp, DbError> {
    Timestamp::from_unix_millis(millis).ok_or_else(|| DbError::corrupt("a time"))
}

/// A document as it was kept; it was checked when it came in.
pub(super) fn json(text: String) -> RawJson {
    RawJson::from_stored(text)
}

fn opt_json<T, E>(
    text: Option<String>,
    decode: impl FnOnce(&RawJson) -> Result<T, E>,
) -> Result<Option<T>, DbError> {
    text.map(|text| document(text, decode)).transpose()
}

fn document<T, E>(
    text: String,
    decode: impl FnOnce(&RawJson) -> Result<T, E>,
) -> Result<T, DbError> {
    decode(&json(text)).map_err(|_| DbError::corrupt("a document"))
}
