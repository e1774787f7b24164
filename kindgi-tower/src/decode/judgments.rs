//! The bodies and queries of judgments.

use bytes::Bytes;
use kindgi_core::{
    engine::{JudgmentQuery, ListScope, RecordJudgment},
    json::Pointer,
    model::{Args, CorrectedCall, Correction, Item, MAX_CORRECTION_ITEMS, Rank, Verdict},
};

use super::{Decoder, Value, body, query::Query};
use crate::refusal::{Code, Refusal};

/// The body of `judgments.create`.
pub(crate) fn create(bytes: Bytes) -> Result<RecordJudgment, Refusal> {
    let node = body(bytes)?;
    let mut decoder = Decoder::default();
    let judgment = judgment(&mut decoder, &Value::root(&node));
    decoder.finish(judgment)
}

fn judgment(d: &mut Decoder, value: &Value<'_>) -> Option<RecordJudgment> {
    let known = [
        "runId",
        "item",
        "verdict",
        "reason",
        "judgeClassId",
        "participantId",
        "correction",
    ];
    let fields = d.object(value, &known)?;
    // Each before any `?`, so that every unknown field is found.
    let run = d.required(&fields, "runId").and_then(|v| d.text(&v));
    let item = d.required(&fields, "item").and_then(|v| item(d, &v));
    let verdict = d.required(&fields, "verdict").and_then(|v| verdict(d, &v));
    let reason = d.optional(&fields, "reason", |d, v| d.text_unless_empty(v));
    let class = d.optional(&fields, "judgeClassId", |d, v| d.text(v));
    let participant = d.optional(&fields, "participantId", |d, v| d.text(v));
    let correction = d.optional(&fields, "correction", correction);
    let mut judgment = RecordJudgment::new(run?, item?, verdict?);
    judgment.reason = reason?.flatten();
    judgment.class = class?;
    judgment.participant = participant?;
    judgment.correction = correction?;
    Some(judgment)
}

fn item(d: &mut Decoder, value: &Value<'_>) -> Option<Item> {
    let fields = d.object(value, &["key", "pointer", "rank"])?;
    let key = d.required(&fields, "key").and_then(|v| d.text(&v));
    let pointer = d.optional(&fields, "pointer", |d, v| {
        match Pointer::parse(d.string(v)?) {
            Ok(pointer) => Some(pointer),
            Err(e) => d.fault(&v.at, e),
        }
    });
    let rank = d.optional(&fields, "rank", |d, v| {
        let number = d.number(v)?;
        match number.to_u64_exact().and_then(Rank::new) {
            Some(rank) => Some(rank),
            None => d.fault(&v.at, "must be a whole number from 0 to 9007199254740991"),
        }
    });
    let mut item = Item::new(key?);
    item.pointer = pointer?;
    item.rank = rank?;
    Some(item)
}

fn verdict(d: &mut Decoder, value: &Value<'_>) -> Option<Verdict> {
    d.name(value, Verdict::from_name, "must be \"yes\" or \"no\"")
}

fn correction(d: &mut Decoder, value: &Value<'_>) -> Option<Correction> {
    let fields = d.object(value, &["calls", "notCalled"])?;
    let calls = d
        .required(&fields, "calls")
        .and_then(|v| d.list(&v, 0..=MAX_CORRECTION_ITEMS, call));
    let not_called = d
        .required(&fields, "notCalled")
        .and_then(|v| d.list(&v, 0..=MAX_CORRECTION_ITEMS, |d, v| d.text(v)));
    let correction = Correction::new(calls?, not_called?);
    d.valid(&value.at, correction)
}

fn call(d: &mut Decoder, value: &Value<'_>) -> Option<CorrectedCall> {
    let fields = d.object(value, &["tool", "args"])?;
    let tool = d.required(&fields, "tool").and_then(|v| d.text(&v));
    let args = d
        .required(&fields, "args")
        .and_then(|v| d.valid(&v.at, Args::new(v.raw())));
    Some(CorrectedCall {
        tool: tool?,
        args: args?,
    })
}

/// The filters of `judgments.list`.
pub(crate) const LIST: &[&str] = &[
    "limit",
    "cursor",
    "runId",
    "agentId",
    "agentVersion",
    "flowId",
    "verdict",
    "judgeClassId",
    "participantId",
    "scopeKind",
    "scopeId",
];

/// The query of `judgments.list`.
pub(crate) fn list(query: &Query) -> Result<JudgmentQuery, Refusal> {
    let mut list = JudgmentQuery::default();
    let filter = &mut list.filter;
    filter.run = query.text("runId")?;
    filter.agent = query.text("agentId")?;
    filter.agent_version = query.text("agentVersion")?;
    filter.flow = query.text("flowId")?;
    filter.verdict = query.name("verdict", Verdict::from_name, "must be \"yes\" or \"no\"")?;
    filter.class = query.text("judgeClassId")?;
    filter.participant = query.text("participantId")?;
    list.scope = scope(query)?;
    Ok(list)
}

fn scope(query: &Query) -> Result<Option<ListScope>, Refusal> {
    let id = query.get("scopeId");
    let invalid = |field: &str, message| Err(Refusal::new(Code::ScopeInvalid, message).at(field));
    match query.get("scopeKind") {
        None if id.is_some() => invalid("scopeKind", "scopeId needs scopeKind"),
        None => Ok(None),
        Some("tenant") if id.is_some() => invalid("scopeId", "the scope `tenant` takes no scopeId"),
        Some("tenant") => Ok(Some(ListScope::Tenant)),
        Some("org" | "project") if id.is_none() => {
            invalid("scopeId", "the scopes `org` and `project` need scopeId")
        }
        Some("org") => Ok(query.text("scopeId")?.map(ListScope::Org)),
        Some("project") => Ok(query.text("scopeId")?.map(ListScope::Project)),
        Some(_) => invalid("scopeKind", "must be `tenant`, `org` or `project`"),
    }
}
