//! The operations of `/v1/judgments`.

use kindgi_core::{json::Writer, model::JudgmentId};

use super::Call;
use crate::{decode, refusal::Refusal, respond::Answer, wire};

/// `judgments.list`
pub(super) async fn list(call: Call) -> Result<Answer, Refusal> {
    let query = call.query(decode::judgments::LIST)?;
    let binding = call.binding(&query);
    let list = decode::judgments::list(&query)?;
    let request = query.page(&binding)?;
    let page = call.engine.judgments(&call.who, &list, &request).await;
    let page = page.map_err(call.refused())?;
    Ok(Answer::ok(wire::page(
        &page,
        &binding,
        wire::judgments::judgment,
    )))
}

/// `judgments.create`
pub(super) async fn create(call: Call) -> Result<Answer, Refusal> {
    call.no_query()?;
    let new = decode::judgments::create(call.body.clone())?;
    call.idempotency_key()?;
    let judgment = call.engine.record_judgment(&call.who, new).await;
    let judgment = judgment.map_err(call.refused())?;
    Ok(Answer::created(Writer::object(|o| {
        wire::judgments::judgment(o, &judgment)
    })))
}

/// `judgments.get`
pub(super) async fn get(call: Call) -> Result<Answer, Refusal> {
    call.no_query()?;
    let id: JudgmentId = call.param("judgmentId")?;
    let found = call.engine.judgment(&call.who, &id).await;
    let found = found.map_err(call.refused())?;
    Ok(Answer::ok(Writer::object(|o| {
        wire::judgments::with_copies(o, &found)
    })))
}

/// `judgments.unregister`
pub(super) async fn unregister(call: Call) -> Result<Answer, Refusal> {
    call.no_query()?;
    let id: JudgmentId = call.param("judgmentId")?;
    decode::empty(call.body.clone())?;
    call.idempotency_key()?;
    let removed = call.engine.unregister_judgment(&call.who, &id).await;
    removed.map_err(call.refused())?;
    Ok(Answer::ok(wire::unregistered("judgmentId", id.as_str())))
}
