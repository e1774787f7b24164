//! The operations of `/v1/judgments`.

use kindgi_core::{idempotency::About, json::Writer, model::JudgmentId};

use super::Call;
use crate::{decode, refusal::Stop, respond::Answer, wire};

/// `judgments.list`
pub(super) async fn list(call: Call) -> Result<Answer, Stop> {
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
pub(super) async fn create(call: Call) -> Result<Answer, Stop> {
    call.no_query()?;
    let new = decode::judgments::create(call.body.clone())?;
    let call = call.claim().await?;
    let judgment = call.engine.record_judgment(&call.who, new).await;
    let judgment = judgment.map_err(call.refused())?;
    let mut answer = Answer::created(Writer::object(|o| wire::judgments::judgment(o, &judgment)));
    answer = answer.about(About::Run(judgment.run.clone()));
    if let Some(participant) = &judgment.participant {
        answer = answer.about(About::Participant(participant.clone()));
    }
    Ok(answer)
}

/// `judgments.get`
pub(super) async fn get(call: Call) -> Result<Answer, Stop> {
    call.no_query()?;
    let id: JudgmentId = call.param("judgmentId")?;
    let found = call.engine.judgment(&call.who, &id).await;
    let found = found.map_err(call.refused())?;
    Ok(Answer::ok(Writer::object(|o| {
        wire::judgments::with_copies(o, &found)
    })))
}

/// `judgments.unregister`
pub(super) async fn unregister(call: Call) -> Result<Answer, Stop> {
    call.no_query()?;
    let id: JudgmentId = call.param("judgmentId")?;
    decode::empty(call.body.clone())?;
    let call = call.claim().await?;
    let removed = call.engine.unregister_judgment(&call.who, &id).await;
    removed.map_err(call.refused())?;
    Ok(Answer::ok(wire::unregistered("judgmentId", id.as_str())))
}
