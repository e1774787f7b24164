//! The operations of `/v1/judge-classes`.

use kindgi_core::{json::Writer, model::JudgeClassId};

use super::Call;
use crate::{decode, refusal::Stop, respond::Answer, wire};

/// `judgeClasses.list`
pub(super) async fn list(call: Call) -> Result<Answer, Stop> {
    let query = call.query(decode::judge_classes::LIST)?;
    let binding = call.binding(&query);
    let filter = decode::judge_classes::list(&query)?;
    let request = query.page(&binding)?;
    let page = call
        .engine
        .judge_classes(&call.who, &filter, &request)
        .await;
    let page = page.map_err(call.refused())?;
    Ok(Answer::ok(wire::page(
        &page,
        &binding,
        wire::judge_classes::class,
    )))
}

/// `judgeClasses.create`
pub(super) async fn create(call: Call) -> Result<Answer, Stop> {
    call.no_query()?;
    let new = decode::judge_classes::create(call.body.clone())?;
    let call = call.claim().await?;
    let class = call.engine.create_judge_class(&call.who, new).await;
    let class = class.map_err(call.refused())?;
    Ok(Answer::created(Writer::object(|o| {
        wire::judge_classes::class(o, &class)
    })))
}

/// `judgeClasses.get`
pub(super) async fn get(call: Call) -> Result<Answer, Stop> {
    call.no_query()?;
    let id: JudgeClassId = call.param("judgeClassId")?;
    let class = call.engine.judge_class(&call.who, &id).await;
    let class = class.map_err(call.refused())?;
    Ok(Answer::ok(Writer::object(|o| {
        wire::judge_classes::class(o, &class)
    })))
}

/// `judgeClasses.update`
pub(super) async fn update(call: Call) -> Result<Answer, Stop> {
    call.no_query()?;
    let id: JudgeClassId = call.param("judgeClassId")?;
    let change = decode::judge_classes::update(call.body.clone())?;
    let call = call.claim().await?;
    let class = call.engine.update_judge_class(&call.who, &id, change).await;
    let class = class.map_err(call.refused())?;
    Ok(Answer::ok(Writer::object(|o| {
        wire::judge_classes::class(o, &class)
    })))
}

/// `judgeClasses.unregister`
pub(super) async fn unregister(call: Call) -> Result<Answer, Stop> {
    call.no_query()?;
    let id: JudgeClassId = call.param("judgeClassId")?;
    decode::empty(call.body.clone())?;
    let call = call.claim().await?;
    let retired = call.engine.unregister_judge_class(&call.who, &id).await;
    retired.map_err(call.refused())?;
    Ok(Answer::ok(wire::unregistered("judgeClassId", id.as_str())))
}
