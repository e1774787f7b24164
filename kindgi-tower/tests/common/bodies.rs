//! Bodies of requests, as text: what they are is what the service sees.

use kindgi_core::json::RawJson;

pub(crate) fn raw(text: &str) -> RawJson {
    RawJson::parse(text).unwrap()
}

/// A JSON string.
pub(crate) fn quoted(text: &str) -> String {
    RawJson::string(text).to_string()
}

/// A judgment's body; `more` are further members of the item, such as `"pointer":""`.
pub(crate) fn judgment(run: &str, key: &str, more: &str) -> String {
    let comma = if more.is_empty() { "" } else { "," };
    let (run, key) = (quoted(run), quoted(key));
    format!(r#"{{"runId":{run},"item":{{"key":{key}{comma}{more}}},"verdict":"yes"}}"#)
}

/// A judge class's body of weight 2; `more` are further members.
pub(crate) fn class(scope: &str, name: &str, more: &str) -> String {
    let comma = if more.is_empty() { "" } else { "," };
    let name = quoted(name);
    format!(r#"{{"scope":{scope},"name":{name},"weight":2{comma}{more}}}"#)
}

/// A judging rule's body that matches every run; `more` are further members.
pub(crate) fn rule(name: &str, more: &str) -> String {
    let comma = if more.is_empty() { "" } else { "," };
    let name = quoted(name);
    format!(r#"{{"name":{name},"when":{{}}{comma}{more}}}"#)
}

/// The path of a project's judging rules.
pub(crate) fn rules(project: &str) -> String {
    format!("/v1/projects/{project}/judging-rules")
}

/// The path of a project's judging queue.
pub(crate) fn queue(project: &str) -> String {
    format!("/v1/projects/{project}/judging-queue")
}

pub(crate) fn project_scope(project: &str) -> String {
    format!(r#"{{"kind":"project","projectId":{}}}"#, quoted(project))
}

pub(crate) fn agent_scope(project: &str, agent: &str) -> String {
    let (project, agent) = (quoted(project), quoted(agent));
    format!(r#"{{"kind":"agent","projectId":{project},"agentId":{agent}}}"#)
}
