//! Corrections: what the agent should have done.

use super::{
    stored::{items, member, string},
    text::{InvalidText, named, text_type},
};
use crate::json::{self, Kind, Node, RawJson};

/// The most calls, and the most tools that should not have been called, in a correction.
pub const MAX_CORRECTION_ITEMS: usize = 50;
/// The most arguments one corrected call may compare.
pub const MAX_ARGS: usize = 100;
/// The most code points of a call's arguments in [canonical form](crate::json::canonical).
pub const MAX_ARGS_CHARS: usize = 4000;
/// How deep arguments may nest: what a request's body may.
const MAX_ARGS_DEPTH: usize = 128;

text_type!(
    /// A tool's name: 1 to 200 code points, not only white space, without U+0000.
    ToolName,
    |text| named(text, 200)
);

/// An expert's correction of a run's decisions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Correction {
    calls: Vec<CorrectedCall>,
    not_called: Vec<ToolName>,
}

impl Correction {
    /// The calls the agent should have made, and the tools that should not have been called at
    /// all: at most [`MAX_CORRECTION_ITEMS`] each.
    pub fn new(calls: Vec<CorrectedCall>, not_called: Vec<ToolName>) -> Result<Self, InvalidText> {
        if calls.len().max(not_called.len()) > MAX_CORRECTION_ITEMS {
            return Err(InvalidText::shape("must have at most 50 items"));
        }
        Ok(Self { calls, not_called })
    }

    /// The calls the agent should have made.
    pub fn calls(&self) -> &[CorrectedCall] {
        &self.calls
    }

    /// The tools that should not have been called at all.
    pub fn not_called(&self) -> &[ToolName] {
        &self.not_called
    }

    /// As the API writes it, and as a backend may keep it.
    pub fn to_json(&self) -> RawJson {
        RawJson::object(|o| {
            o.array("calls", |a| {
                for call in &self.calls {
                    a.object(|o| {
                        o.str("tool", call.tool.as_str());
                        o.raw("args", call.args.as_json());
                    });
                }
            });
            o.array("notCalled", |a| {
                self.not_called.iter().for_each(|tool| a.str(tool.as_str()))
            });
        })
    }

    /// From what [`to_json`](Self::to_json) wrote.
    pub fn from_json(json: &RawJson) -> Result<Self, InvalidText> {
        let call = |call: &RawJson| {
            Ok(CorrectedCall {
                tool: string(&member(call, "tool")?)?,
                args: Args::new(member(call, "args")?)?,
            })
        };
        let calls = items(&member(json, "calls")?)?;
        let not_called = items(&member(json, "notCalled")?)?;
        Self::new(
            calls.iter().map(call).collect::<Result<_, InvalidText>>()?,
            not_called.iter().map(string).collect::<Result<_, _>>()?,
        )
    }
}

/// A call the agent should have made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CorrectedCall {
    /// The tool.
    pub tool: ToolName,
    /// The arguments to compare.
    pub args: Args,
}

/// The top-level argument fields to compare, by value; an empty object asks only that the tool
/// was called.
///
/// An object of at most [`MAX_ARGS`] distinct properties and [`MAX_ARGS_CHARS`] code points in
/// canonical form (keys sorted, no white space, numbers as sent). Kept as it was sent, to the digit and in its order,
/// but for the white space between its tokens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Args(RawJson);

impl Args {
    /// The arguments, or what is wrong with them.
    pub fn new(args: RawJson) -> Result<Self, InvalidText> {
        let Ok(node) = Node::parse(&args, MAX_ARGS_DEPTH) else {
            return Err(InvalidText::shape("must not nest deeper than 128"));
        };
        let Kind::Object(members) = node.kind() else {
            return Err(InvalidText::shape("must be an object"));
        };
        if members.len() > MAX_ARGS {
            return Err(InvalidText::shape("must have at most 100 properties"));
        }
        if node.first_duplicate_key().is_some() {
            return Err(InvalidText::shape("must not repeat a key"));
        }
        if json::canonical(&args).chars().count() > MAX_ARGS_CHARS {
            return Err(InvalidText::shape(
                "must have at most 4000 characters in canonical form",
            ));
        }
        Ok(Self(args.compact()))
    }

    /// The object's text, as it was given but for white space.
    pub fn as_json(&self) -> &RawJson {
        &self.0
    }
}
