//! The operations of `/v1/projects/{projectId}/judging-rules`.

use std::sync::Arc;

use kindgi_core::{
    json::Writer,
    model::{JudgingRule, Page, Position, ProjectId, RuleId},
};

use super::Call;
use crate::{
    decode,
    decode::query::Query,
    refusal::{Refusal, Stop},
    respond::Answer,
    wire,
};

/// The parameters of a list without filters.
const PAGE: &[&str] = &["limit", "cursor"];

/// `projects.judgingRules.list`
pub(super) async fn list(call: Call) -> Result<Answer, Stop> {
    let query = call.query(PAGE)?;
    let project: ProjectId = call.param("projectId")?;
    let binding = call.binding(&query);
    let request = query.page(&binding)?;
    let page = call
        .engine
        .judging_rules(&call.who, &project, &request)
        .await;
    let page = page.map_err(call.refused())?;
    Ok(Answer::ok(wire::page(
        &page,
        &binding,
        wire::judging_rules::rule,
    )))
}

/// `projects.judgingRules.create`
pub(super) async fn create(call: Call) -> Result<Answer, Stop> {
    call.no_query()?;
    let project: ProjectId = call.param("projectId")?;
    let spec = decode::judging_rules::create(call.body.clone())?;
    let call = call.claim().await?;
    let rule = call
        .engine
        .create_judging_rule(&call.who, &project, spec)
        .await;
    Ok(Answer::created(written(&rule.map_err(call.refused())?)))
}

/// `projects.judgingRules.get`
pub(super) async fn get(call: Call) -> Result<Answer, Stop> {
    call.no_query()?;
    let (project, id) = place(&call)?;
    let rule = call.engine.judging_rule(&call.who, &project, &id).await;
    Ok(Answer::ok(written(&rule.map_err(call.refused())?)))
}

/// `projects.judgingRules.update`
pub(super) async fn update(call: Call) -> Result<Answer, Stop> {
    call.no_query()?;
    let (project, id) = place(&call)?;
    let patch = decode::judging_rules::update(call.body.clone())?;
    let call = call.claim().await?;
    let rule = call
        .engine
        .update_judging_rule(&call.who, &project, &id, patch)
        .await;
    Ok(Answer::ok(written(&rule.map_err(call.refused())?)))
}

/// `projects.judgingRules.unregister`
pub(super) async fn unregister(call: Call) -> Result<Answer, Stop> {
    call.no_query()?;
    let (project, id) = place(&call)?;
    decode::empty(call.body.clone())?;
    let call = call.claim().await?;
    let stopped = call
        .engine
        .unregister_judging_rule(&call.who, &project, &id)
        .await;
    let stopped = stopped.map_err(call.refused())?;
    Ok(Answer::ok(Writer::object(|o| {
        o.str("ruleId", id.as_str());
        o.bool("unregistered", stopped);
    })))
}

/// `projects.judgingRules.versions`
pub(super) async fn versions(call: Call) -> Result<Answer, Stop> {
    let query: Query = call.query(PAGE)?;
    let (project, id) = place(&call)?;
    let binding = call.binding(&query);
    let size = query.size()?;
    // An unknown rule is one whatever the cursor.
    let after = query.after(&binding);
    let position = after.as_ref().ok().and_then(Option::as_ref);
    let before = position.and_then(version_at);
    let engine = &call.engine;
    let found = engine
        .judging_rule_versions(&call.who, &project, &id, before, size)
        .await;
    let (rows, more) = found.map_err(call.refused())?;
    after?;
    let next = rows.last().filter(|_| more).map(position_of);
    let page = Page { rows, next };
    Ok(Answer::ok(wire::page(
        &page,
        &binding,
        wire::judging_rules::rule,
    )))
}

/// `projects.judgingRules.results`
pub(super) async fn results(call: Call) -> Result<Answer, Stop> {
    let query = call.query(decode::judging_rules::RESULTS)?;
    let (project, id) = place(&call)?;
    let since = query.time("since")?;
    let engine = &call.engine;
    let groups = engine
        .judging_rule_results(&call.who, &project, &id, since)
        .await;
    let groups = groups.map_err(call.refused())?;
    Ok(Answer::ok(Writer::object(|o| {
        wire::judging_rules::results(o, &id, since, &groups)
    })))
}

/// `projects.judgingRules.preview`
pub(super) async fn preview(call: Call) -> Result<Answer, Stop> {
    let query = call.query(decode::judging_rules::PREVIEW)?;
    let project: ProjectId = call.param("projectId")?;
    let preview = decode::judging_rules::preview(&query)?;
    let engine = &call.engine;
    let found = engine
        .preview_judging_rule(&call.who, &project, &preview)
        .await;
    let found = found.map_err(call.refused())?;
    Ok(Answer::ok(Writer::object(|o| {
        o.u64("considered", found.considered);
        o.u64("matched", found.matched);
    })))
}

fn place(call: &Call) -> Result<(ProjectId, RuleId), Refusal> {
    Ok((call.param("projectId")?, call.param("ruleId")?))
}

fn written(rule: &JudgingRule) -> String {
    Writer::object(|o| wire::judging_rules::rule(o, rule))
}

/// A version's place in the list of its rule's.
fn position_of(rule: &JudgingRule) -> Position {
    Position {
        at: rule.created_at,
        id: Arc::from(rule.version.to_string()),
    }
}

fn version_at(position: &Position) -> Option<u32> {
    position.id.parse().ok()
}
