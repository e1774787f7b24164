//! The bodies and queries of the judging queue.

use bytes::Bytes;
use kindgi_core::{
    engine::{QueuePageRequest, QueueQuery},
    model::{DismissReason, ItemState},
};

use super::{Decoder, Value, body, query::Query};
use crate::{cursor::Binding, refusal::Refusal};

/// The filters of `projects.judgingQueue.list`.
pub(crate) const LIST: &[&str] = &[
    "limit",
    "cursor",
    "state",
    "agentId",
    "ruleId",
    "judgeClassId",
    "forMe",
    "addedAfter",
    "closedAfter",
];

/// The query of `projects.judgingQueue.list`.
pub(crate) fn list(query: &Query) -> Result<QueueQuery, Refusal> {
    let must = "must be \"open\", \"judged\", \"dismissed\" or \"erased\"";
    let mut list = QueueQuery::default();
    list.state = query.name("state", ItemState::from_name, must)?;
    list.agent = query.text("agentId")?;
    list.rule = query.text("ruleId")?;
    list.wants = query.text("judgeClassId")?;
    list.for_me = query.bool("forMe")?.unwrap_or_default();
    list.added_after = query.time("addedAfter")?;
    list.closed_after = query.time("closedAfter")?;
    Ok(list)
}

/// `limit` and `cursor` of `projects.judgingQueue.list`, whose limit may be 0.
pub(crate) fn page(query: &Query, binding: &Binding) -> Result<QueuePageRequest, Refusal> {
    let size = query.size_or_none()?;
    let after = query.after(binding)?;
    Ok(QueuePageRequest { after, size })
}

/// The body of `projects.judgingQueue.dismiss`: none, or an object.
pub(crate) fn dismiss(bytes: Bytes) -> Result<Option<DismissReason>, Refusal> {
    if bytes.is_empty() {
        return Ok(None);
    }
    let node = body(bytes)?;
    let mut decoder = Decoder::default();
    let reason = reason(&mut decoder, &Value::root(&node));
    decoder.finish(reason)
}

fn reason(d: &mut Decoder, value: &Value<'_>) -> Option<Option<DismissReason>> {
    let fields = d.object(value, &["reason"])?;
    let reason = d.optional(&fields, "reason", |d, v| d.text_unless_empty(v));
    reason.map(Option::flatten)
}
