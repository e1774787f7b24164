//! What a run saw besides its input.
//!
//! A real host takes this from its own records: the conversation before an agent's turn, what its
//! retrievals returned, the tool calls of a flow. It is asked once for each judged run.

use async_trait::async_trait;
use kindgi_core::{
    HostError, host,
    json::RawJson,
    model::{Run, RunContext, Subject, TenantId},
};

use super::{AGENT, AGENT_VERSION};

/// Makes up a small context: two messages for an agent's run, one tool call for a flow's.
#[derive(Clone, Copy, Debug)]
pub struct Context;

#[async_trait]
impl host::ContextCapture for Context {
    async fn capture(
        &self,
        _tenant: &TenantId,
        run: &Run,
    ) -> Result<Option<RunContext>, HostError> {
        let context = match run.subject {
            Subject::Agent { .. } => conversation(),
            Subject::Flow { .. } => flow(run),
        };
        RunContext::parse(&context)
            .map(Some)
            .map_err(HostError::new)
    }
}

fn conversation() -> RawJson {
    RawJson::object(|o| {
        o.array("history", |history| {
            history.object(|o| {
                o.str("role", "user");
                o.str("text", "I have a case to compare.");
            });
            history.object(|o| {
                o.str("role", "assistant");
                o.str("text", "Tell me what it is about.");
            });
        });
    })
}

fn flow(run: &Run) -> RawJson {
    RawJson::object(|o| {
        o.object("flow", |o| {
            o.array("calls", |calls| {
                calls.object(|o| {
                    o.str("runId", run.id.as_str());
                    o.str("nodeId", "search");
                    o.str("toolId", "acme.search");
                    o.raw("arguments", &run.input);
                    o.object("result", |o| o.u64("found", 10));
                });
            });
            o.array("steps", |steps| {
                steps.object(|o| {
                    o.str("runId", &format!("{}-step-1", run.id));
                    o.str("nodeId", "rank");
                    o.str("agentId", AGENT);
                    o.str("agentVersion", AGENT_VERSION);
                });
            });
        });
    })
}
