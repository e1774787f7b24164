//! The operations of `/v1/projects/{projectId}/judging-queue`.

use kindgi_core::{
    idempotency::About,
    json::Writer,
    model::{ProjectId, QueueItem, RunId},
};

use super::Call;
use crate::{
    decode,
    refusal::{Refusal, Stop},
    respond::Answer,
    wire,
};

/// `projects.judgingQueue.list`
pub(super) async fn list(call: Call) -> Result<Answer, Stop> {
    let query = call.query(decode::judging_queue::LIST)?;
    let project: ProjectId = call.param("projectId")?;
    let binding = call.binding(&query);
    let list = decode::judging_queue::list(&query)?;
    let request = decode::judging_queue::page(&query, &binding)?;
    let page = call
        .engine
        .judging_queue(&call.who, &project, &list, &request)
        .await;
    let page = page.map_err(call.refused())?;
    Ok(Answer::ok(wire::judging_queue::page(&page, &binding)))
}

/// `projects.judgingQueue.dismiss`
pub(super) async fn dismiss(call: Call) -> Result<Answer, Stop> {
    call.no_query()?;
    let (project, run) = place(&call)?;
    let reason = decode::judging_queue::dismiss(call.body.clone())?;
    let call = call.claim().await?;
    let item = call
        .engine
        .dismiss_judging_item(&call.who, &project, &run, reason.as_ref())
        .await;
    Ok(written(&item.map_err(call.refused())?))
}

/// `projects.judgingQueue.reopen`
pub(super) async fn reopen(call: Call) -> Result<Answer, Stop> {
    call.no_query()?;
    let (project, run) = place(&call)?;
    decode::empty(call.body.clone())?;
    let call = call.claim().await?;
    let item = call
        .engine
        .reopen_judging_item(&call.who, &project, &run)
        .await;
    Ok(written(&item.map_err(call.refused())?))
}

fn place(call: &Call) -> Result<(ProjectId, RunId), Refusal> {
    Ok((call.param("projectId")?, call.param("runId")?))
}

/// An item that the caller moved, so one that they may move.
fn written(item: &QueueItem) -> Answer {
    let answer = Answer::ok(Writer::object(|o| wire::judging_queue::item(o, item, true)));
    answer.about(About::Run(item.run.clone()))
}
