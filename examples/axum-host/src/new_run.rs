//! Strict decoding of `POST /demo/runs`.
//!
//! `input` and `output` stay the text they came as. A host that decodes with serde's `Value`
//! would round large numbers and drop duplicate keys here, before anything is judged.

use std::{collections::HashSet, str::FromStr};

use kindgi_core::{
    Timestamp,
    json::{Pointer, RawJson},
    model::{AgentId, FlowId, InvalidText, ProjectId, Run, RunId, Segment, Subject, Version, Via},
};

use crate::demo::{AGENT, AGENT_VERSION, FLOW_VERSION, FinishedRun, default_input, default_output};

/// What is wrong with a body, and where.
#[derive(Debug)]
pub(crate) struct Fault {
    /// The error's code, as the API names it.
    pub(crate) code: &'static str,
    /// What it must be instead.
    pub(crate) message: String,
    /// Where, in the body.
    pub(crate) field: Pointer,
}

impl Fault {
    fn bad(field: &Pointer, message: impl Into<String>) -> Self {
        Self {
            code: "bad-input",
            message: message.into(),
            field: field.clone(),
        }
    }

    fn unknown(field: Pointer) -> Self {
        Self {
            code: "unknown-field",
            message: "isn't a known field".to_owned(),
            field,
        }
    }
}

/// A run to finish; what isn't given has a default.
#[derive(Debug, Default)]
pub(crate) struct NewRun {
    pub(crate) id: Option<RunId>,
    pub(crate) project: Option<ProjectId>,
    agent: Option<AgentId>,
    version: Option<Version>,
    flow: Option<FlowId>,
    via: Option<Via>,
    dry_run: bool,
    replay_of: Option<RunId>,
    parent: Option<RunId>,
    segments: Vec<Segment>,
    input: Option<RawJson>,
    output: Option<RawJson>,
}

impl NewRun {
    /// Reads a body. Faults are found in this order: the syntax, duplicate keys, unknown fields,
    /// values.
    pub(crate) fn decode(body: impl Into<Vec<u8>>) -> Result<Self, Fault> {
        let body = RawJson::parse(body)
            .map_err(|error| Fault::bad(&Pointer::root(), error.to_string()))?;
        let mut new = Self::default();
        for (name, value) in fields(&body, &Pointer::root(), &FIELDS)? {
            let at = Pointer::root().child(name);
            match name {
                "runId" => new.id = Some(text(&value, &at)?),
                "projectId" => new.project = Some(text(&value, &at)?),
                "agentId" => new.agent = Some(text(&value, &at)?),
                "agentVersion" => new.version = Some(text(&value, &at)?),
                "flowId" => new.flow = Some(text(&value, &at)?),
                "via" => new.via = Some(via(&value, &at)?),
                "dryRun" => {
                    let given = value.as_bool();
                    new.dry_run = given.ok_or_else(|| Fault::bad(&at, "must be true or false"))?;
                }
                "replayOf" => new.replay_of = Some(text(&value, &at)?),
                "parentRunId" => new.parent = Some(text(&value, &at)?),
                "segments" => new.segments = segments(&value, &at)?,
                "input" => new.input = Some(value.detached()),
                "output" => new.output = Some(value.detached()),
                _ => return Err(Fault::unknown(at)),
            }
        }
        Ok(new)
    }

    /// The run, finished. Without an agent but with a flow it is the flow's run.
    pub(crate) fn finish(
        self,
        id: RunId,
        project: ProjectId,
        now: Timestamp,
    ) -> Result<FinishedRun, InvalidText> {
        let version = |given: Option<Version>, default: &str| match given {
            Some(version) => Ok(version),
            None => default.parse(),
        };
        let (subject, of_flow) = match (self.agent, self.flow) {
            (None, Some(id)) => {
                let version = version(self.version, FLOW_VERSION)?;
                (Subject::Flow { id, version }, None)
            }
            (agent, of_flow) => {
                let id = match agent {
                    Some(id) => id,
                    None => AGENT.parse()?,
                };
                let version = version(self.version, AGENT_VERSION)?;
                (Subject::Agent { id, version }, of_flow)
            }
        };
        let input = self.input.unwrap_or_else(|| default_input(&id));
        let output = self.output.unwrap_or_else(|| default_output(&id));
        let mut run = Run::new(id, project, subject)
            .with_input(input)
            .completed_with(output)
            .with_segments(self.segments);
        if let Some(replayed) = self.replay_of {
            run = run.with_replay_of(replayed);
        }
        let mut finished = FinishedRun::new(run, now);
        finished.of_flow = of_flow;
        finished.via = self.via.unwrap_or(Via::Live);
        finished.dry_run = self.dry_run;
        finished.parent = self.parent;
        Ok(finished)
    }
}

const FIELDS: [&str; 12] = [
    "runId",
    "projectId",
    "agentId",
    "agentVersion",
    "flowId",
    "via",
    "dryRun",
    "replayOf",
    "parentRunId",
    "segments",
    "input",
    "output",
];

/// The members of an object, each once and each one of `known`.
fn fields(
    object: &RawJson,
    at: &Pointer,
    known: &[&'static str],
) -> Result<Vec<(&'static str, RawJson)>, Fault> {
    let members = object
        .members()
        .ok_or_else(|| Fault::bad(at, "must be an object"))?;
    let mut seen = HashSet::new();
    for (name, _) in &members {
        if !seen.insert(name) {
            let at = at.child(name.lossy());
            return Err(Fault::bad(&at, "is there more than once"));
        }
    }
    let mut found = Vec::new();
    for (name, value) in &members {
        match known.iter().find(|known| name.as_str() == Ok(**known)) {
            Some(name) => found.push((*name, value.clone())),
            None => return Err(Fault::unknown(at.child(name.lossy()))),
        }
    }
    Ok(found)
}

fn text<T: FromStr<Err = InvalidText>>(value: &RawJson, at: &Pointer) -> Result<T, Fault> {
    let text = value
        .as_text()
        .ok_or_else(|| Fault::bad(at, "must be a string"))?;
    let text = text
        .as_str()
        .map_err(|error| Fault::bad(at, error.to_string()))?;
    text.parse()
        .map_err(|error: InvalidText| Fault::bad(at, error.to_string()))
}

fn via(value: &RawJson, at: &Pointer) -> Result<Via, Fault> {
    match value.as_text() {
        Some(text) if text.as_str() == Ok("live") => Ok(Via::Live),
        Some(text) if text.as_str() == Ok("named") => Ok(Via::Named),
        _ => Err(Fault::bad(at, "must be \"live\" or \"named\"")),
    }
}

fn segments(value: &RawJson, at: &Pointer) -> Result<Vec<Segment>, Fault> {
    let items = value
        .items()
        .ok_or_else(|| Fault::bad(at, "must be an array"))?;
    let segment = |(index, item): (usize, &RawJson)| {
        let at = at.child_index(index);
        let (mut key, mut of) = (None, None);
        for (name, value) in fields(item, &at, &["key", "value"])? {
            let at = at.child(name);
            match name {
                "key" => key = Some(text(&value, &at)?),
                _ => of = Some(text(&value, &at)?),
            }
        }
        Ok(Segment {
            key: key.ok_or_else(|| Fault::bad(&at.child("key"), "is missing"))?,
            value: of.ok_or_else(|| Fault::bad(&at.child("value"), "is missing"))?,
        })
    };
    items.iter().enumerate().map(segment).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// JSON texts in spellings that a value in memory would lose.
    fn json() -> impl Strategy<Value = String> {
        let leaf = prop_oneof![
            Just("null".to_owned()),
            Just(r#""\u00e9\ud83d""#.to_owned()),
            "-?[1-9][0-9]{0,30}(\\.[0-9]{1,5})?([eE][+-]?[0-9]{1,4})?",
            "\"[a-zé ]{0,8}\"",
        ];
        leaf.prop_recursive(4, 32, 4, |inner| {
            let items = prop::collection::vec(inner, 0..4);
            prop_oneof![
                items
                    .clone()
                    .prop_map(|items| format!("[ {}]", items.join(" ,"))),
                items.prop_map(|items| {
                    // Every key is the same.
                    let members = items.iter().map(|item| format!("\"k\": {item}"));
                    format!("{{{}}}", members.collect::<Vec<_>>().join(","))
                }),
            ]
        })
    }

    proptest! {
        #[test]
        fn input_and_output_stay_the_text_they_came_as(input in json(), output in json()) {
            let body = format!("{{\"input\": {input} ,\"output\":{output}}}");
            let new = NewRun::decode(body).map_err(|fault| fault.message).unwrap();
            let run = new.finish("r".parse().unwrap(), "p".parse().unwrap(), Timestamp::UNIX_EPOCH).unwrap().run;
            prop_assert_eq!(run.input.as_str(), input);
            let kept = run.output.unwrap();
            prop_assert_eq!(kept.as_str(), output);
        }

        #[test]
        fn any_bytes_are_a_run_or_a_fault(
            bytes in prop_oneof![
                prop::collection::vec(any::<u8>(), 0..64),
                "\\{\"(via|runId|segments|dryRun|x)\":[\\[\\]{}\":,a-z0-9\\\\]{0,12}\\}"
                    .prop_map(String::into_bytes),
            ]
        ) {
            let is_object = RawJson::parse(bytes.as_slice())
                .is_ok_and(|json| json.members().is_some());
            match NewRun::decode(bytes) {
                Ok(_) => prop_assert!(is_object),
                Err(fault) => prop_assert!(matches!(fault.code, "bad-input" | "unknown-field")),
            }
        }
    }
}
