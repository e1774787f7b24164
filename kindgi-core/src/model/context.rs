//! What a judged run needs besides its input to be replayed.

use std::fmt;

use super::ids::RunId;
use crate::json::{ObjectWriter, Pointer, RawJson};

/// How many of the conversation's messages are kept: the last so many.
pub const MAX_HISTORY: usize = 200;
/// How many of a flow run's tool calls are kept: the first so many.
pub const MAX_FLOW_CALLS: usize = 500;

/// What a judged run needs besides its input to be replayed: for an agent's turn the
/// conversation before it, what its retrievals returned and the decision at its approval gate;
/// for a flow run its tool calls with their results; for both the env values its tools were sent.
///
/// An object of the API's shape (schema `JudgedRunContext`), with the parts that may be any JSON
/// kept verbatim, whatever their size and depth.
///
/// ```
/// use kindgi_core::{json::RawJson, model::RunContext};
///
/// let context = RunContext::parse(&RawJson::parse(
///     r#"{"history": [{"role": "user", "text": "hi"}], "sessionApproval": {"approved": true}}"#,
/// )?)?;
/// assert!(RunContext::parse(&RawJson::parse(r#"{"history": "hi"}"#)?).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunContext(RawJson);

impl RunContext {
    /// Checks the shape, and cuts what is too long: of `history` the last [`MAX_HISTORY`]
    /// messages are kept (`historyTruncated` says so), of `flow.calls` the first
    /// [`MAX_FLOW_CALLS`] (`flow.truncated` says so).
    ///
    /// A field that the API doesn't know is refused; of repeated ones the last counts.
    pub fn parse(context: &RawJson) -> Result<Self, InvalidContext> {
        let mut fault = None;
        let text = RawJson::object(|o| fault = rewrite(context, o).err());
        match fault {
            Some(fault) => Err(fault),
            None => Ok(Self(text)),
        }
    }

    /// From the text that [`as_json`](Self::as_json) gave, for a backend that kept it. Nothing is
    /// checked again.
    pub fn from_stored(text: RawJson) -> Self {
        Self(text)
    }

    /// A context that says only which run was replayed.
    pub fn of_replay(run: &RunId) -> Self {
        Self(RawJson::object(|o| o.str("replayOf", run.as_str())))
    }

    /// The same context, as that of a replay of this run.
    #[must_use]
    pub fn with_replay_of(&self, run: &RunId) -> Self {
        Self(RawJson::object(|o| {
            for (name, value) in self.0.members().unwrap_or_default() {
                if name.lossy() != "replayOf" {
                    o.raw(name.lossy(), &value);
                }
            }
            o.str("replayOf", run.as_str());
        }))
    }

    /// Whether it says that the run was a comparison's replay.
    pub fn is_of_replay(&self) -> bool {
        let members = self.0.members().unwrap_or_default();
        members
            .iter()
            .any(|(name, _)| name.as_str() == Ok("replayOf"))
    }

    /// The object's text.
    pub fn as_json(&self) -> &RawJson {
        &self.0
    }
}

/// A context that isn't of the API's shape.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidContext {
    at: Pointer,
    must: &'static str,
}

impl InvalidContext {
    /// Where the fault is.
    pub fn at(&self) -> &Pointer {
        &self.at
    }
}

impl fmt::Display for InvalidContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "the run's context is invalid at {:?}: {}",
            self.at.as_str(),
            self.must
        )
    }
}

impl std::error::Error for InvalidContext {}

type Checked<T> = Result<T, InvalidContext>;

/// A field's shape. `history` and `flow` are handled where they are cut.
#[derive(Clone, Copy)]
enum Shape {
    Any,
    Bool,
    Text,
    Object(&'static [Field]),
    List(&'static [Field]),
    Env,
    History,
    Flow,
}

#[derive(Clone, Copy)]
struct Field {
    name: &'static str,
    shape: Shape,
    required: bool,
}

const fn optional(name: &'static str, shape: Shape) -> Field {
    Field {
        name,
        shape,
        required: false,
    }
}

const fn required(name: &'static str, shape: Shape) -> Field {
    Field {
        name,
        shape,
        required: true,
    }
}

const CONTEXT: &[Field] = &[
    optional("history", Shape::History),
    optional("historyTruncated", Shape::Bool),
    optional("retrieved", Shape::Any),
    optional("recalled", Shape::Any),
    optional("sessionApproval", Shape::Object(APPROVAL)),
    optional("flow", Shape::Flow),
    optional("toolEnv", Shape::Env),
    optional("replayOf", Shape::Text),
];

const APPROVAL: &[Field] = &[
    required("approved", Shape::Bool),
    optional("rationale", Shape::Text),
];

const FLOW: &[Field] = &[
    required("calls", Shape::List(CALL)),
    required("steps", Shape::List(STEP)),
    optional("truncated", Shape::Bool),
];

const CALL: &[Field] = &[
    required("runId", Shape::Text),
    optional("nodeId", Shape::Text),
    optional("scope", Shape::Text),
    required("toolId", Shape::Text),
    optional("arguments", Shape::Any),
    optional("result", Shape::Any),
    optional("fromEvent", Shape::Bool),
];

const STEP: &[Field] = &[
    required("runId", Shape::Text),
    optional("nodeId", Shape::Text),
    optional("scope", Shape::Text),
    required("agentId", Shape::Text),
    required("agentVersion", Shape::Text),
    optional("retrieved", Shape::Any),
    optional("recalled", Shape::Any),
];

/// Writes the context's members in the API's order, checked and cut.
fn rewrite(context: &RawJson, o: &mut ObjectWriter<'_>) -> Checked<()> {
    let members = fields(context, CONTEXT, &Pointer::root())?;
    let mut history_cut = false;
    for (field, value) in &members {
        match field.shape {
            Shape::History => {
                let items = value.items().unwrap_or_default();
                let kept = items.get(items.len().saturating_sub(MAX_HISTORY)..);
                let kept = kept.unwrap_or_default();
                history_cut = kept.len() < items.len();
                o.array(field.name, |a| kept.iter().for_each(|item| a.raw(item)));
                if history_cut {
                    o.bool("historyTruncated", true);
                }
            }
            Shape::Flow => o.raw(field.name, &cut_flow(value)),
            _ if field.name == "historyTruncated" && history_cut => {}
            _ => o.raw(field.name, value),
        }
    }
    Ok(())
}

fn cut_flow(flow: &RawJson) -> RawJson {
    let calls = flow
        .members()
        .unwrap_or_default()
        .into_iter()
        .rfind(|(name, _)| name.lossy() == "calls");
    let calls = calls
        .and_then(|(_, calls)| calls.items())
        .unwrap_or_default();
    let Some(kept) = calls
        .get(..MAX_FLOW_CALLS)
        .filter(|kept| kept.len() < calls.len())
    else {
        return flow.clone();
    };
    RawJson::object(|o| {
        o.array("calls", |a| kept.iter().for_each(|call| a.raw(call)));
        for (name, value) in flow.members().unwrap_or_default() {
            if !matches!(name.lossy(), "calls" | "truncated") {
                o.raw(name.lossy(), &value);
            }
        }
        o.bool("truncated", true);
    })
}

/// The members of an object of these fields, in the fields' order, each checked.
fn fields(
    object: &RawJson,
    known: &'static [Field],
    at: &Pointer,
) -> Checked<Vec<(Field, RawJson)>> {
    let members = object
        .members()
        .ok_or_else(|| fault(at, "must be an object"))?;
    for (name, _) in &members {
        if !known.iter().any(|field| name.as_str() == Ok(field.name)) {
            return Err(fault(&at.child(name.lossy()), "isn't a known field"));
        }
    }
    let mut found = Vec::new();
    for field in known {
        let last = members
            .iter()
            .rfind(|(name, _)| name.as_str() == Ok(field.name));
        match last {
            Some((_, value)) => {
                check(value, field.shape, &at.child(field.name))?;
                found.push((*field, value.clone()));
            }
            None if field.required => return Err(fault(&at.child(field.name), "is missing")),
            None => {}
        }
    }
    Ok(found)
}

fn check(value: &RawJson, shape: Shape, at: &Pointer) -> Checked<()> {
    let right = |is: bool, must| if is { Ok(()) } else { Err(fault(at, must)) };
    match shape {
        Shape::Any => Ok(()),
        Shape::Bool => right(value.as_bool().is_some(), "must be true or false"),
        Shape::Text => right(value.as_text().is_some(), "must be a string"),
        Shape::Object(known) => fields(value, known, at).map(drop),
        Shape::Flow => fields(value, FLOW, at).map(drop),
        Shape::History => right(value.items().is_some(), "must be an array"),
        Shape::List(known) => {
            let items = value.items().ok_or_else(|| fault(at, "must be an array"))?;
            for (index, item) in items.iter().enumerate() {
                fields(item, known, &at.child_index(index))?;
            }
            Ok(())
        }
        Shape::Env => {
            for (tool, env) in value
                .members()
                .ok_or_else(|| fault(at, "must be an object"))?
            {
                let at = at.child(tool.lossy());
                for (name, text) in env
                    .members()
                    .ok_or_else(|| fault(&at, "must be an object"))?
                {
                    if text.as_text().is_none() {
                        return Err(fault(&at.child(name.lossy()), "must be a string"));
                    }
                }
            }
            Ok(())
        }
    }
}

fn fault(at: &Pointer, must: &'static str) -> InvalidContext {
    InvalidContext {
        at: at.clone(),
        must,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<String, InvalidContext> {
        let context = RunContext::parse(&RawJson::parse(text).unwrap())?;
        Ok(context.as_json().to_string())
    }

    #[test]
    fn what_may_be_any_json_stays_as_it_is() {
        let whole = concat!(
            r#"{"history":[{"a": 1.10},1e400],"historyTruncated":false,"retrieved": null,"#,
            r#""recalled":[ ],"sessionApproval":{"approved":false,"rationale":"no"},"#,
            r#""flow":{"calls":[{"runId":"r","toolId":"t","result":{"x":1,"x":2}}],"#,
            r#""steps":[{"runId":"r","agentId":"a","agentVersion":"1","recalled":"\ud83d"}]},"#,
            r#""toolEnv":{"t":{"KEY":"v"}},"replayOf":"run-1"}"#
        );
        let kept = whole.replace(r#""retrieved": null"#, r#""retrieved":null"#);
        assert_eq!(parse(whole), Ok(kept));
        assert_eq!(parse("{}"), Ok("{}".to_owned()));
    }

    #[test]
    fn a_wrong_shape_is_refused_where_it_is() {
        for (text, at) in [
            ("[]", ""),
            (r#"{"history":{}}"#, "/history"),
            (r#"{"historyTruncated":1}"#, "/historyTruncated"),
            (r#"{"histori":[]}"#, "/histori"),
            (r#"{"sessionApproval":{}}"#, "/sessionApproval/approved"),
            (
                r#"{"sessionApproval":{"approved":"yes"}}"#,
                "/sessionApproval/approved",
            ),
            (r#"{"flow":{"calls":[]}}"#, "/flow/steps"),
            (
                r#"{"flow":{"steps":[],"calls":[{"runId":"r"}]}}"#,
                "/flow/calls/0/toolId",
            ),
            (r#"{"flow":{"calls":[],"steps":[1]}}"#, "/flow/steps/0"),
            (r#"{"toolEnv":{"a/b":[]}}"#, "/toolEnv/a~1b"),
            (r#"{"toolEnv":{"t":{"K":1}}}"#, "/toolEnv/t/K"),
            (r#"{"replayOf":null}"#, "/replayOf"),
        ] {
            assert_eq!(parse(text).unwrap_err().at().as_str(), at, "{text}");
        }
    }

    #[test]
    fn the_last_messages_and_the_first_calls_are_kept() {
        let history: Vec<String> = (0..201).map(|n| n.to_string()).collect();
        let text = format!(
            r#"{{"historyTruncated":false,"history":[{}]}}"#,
            history.join(",")
        );
        let kept = format!(
            r#"{{"history":[{}],"historyTruncated":true}}"#,
            history[1..].join(",")
        );
        assert_eq!(parse(&text), Ok(kept));

        let call = |n| format!(r#"{{"runId":"r","toolId":"t{n}"}}"#);
        let calls: Vec<String> = (0..501).map(call).collect();
        let flow = |calls: &[String], rest| {
            format!(r#"{{"flow":{{"calls":[{}]{rest}}}}}"#, calls.join(","))
        };
        let text = flow(&calls, r#","truncated":false,"steps":[]"#);
        assert_eq!(
            parse(&text),
            Ok(flow(&calls[..500], r#","steps":[],"truncated":true"#))
        );
        let text = flow(&calls[..500], r#","steps":[]"#);
        assert_eq!(parse(&text), Ok(text));
    }

    #[test]
    fn a_replay_says_of_which_run() {
        let context =
            RunContext::parse(&RawJson::parse(r#"{"replayOf":"no","retrieved":1}"#).unwrap());
        let context = context.unwrap().with_replay_of(&"run-1".parse().unwrap());
        assert_eq!(
            context.as_json().as_str(),
            r#"{"retrieved":1,"replayOf":"run-1"}"#
        );
    }
}
