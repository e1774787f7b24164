//! Runs: what the host says of them, and the copy that the first judgment keeps.

use super::{
    context::RunContext,
    ids::{AgentId, FlowId, ProjectId, RunId, Version},
    stored::{items, member, string},
    text::{InvalidText, named, text_type},
};
use crate::{clock::Timestamp, json::RawJson};

/// What a run ran.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Subject {
    /// An agent at a version.
    Agent {
        /// Which agent.
        id: AgentId,
        /// At which version.
        version: Version,
    },
    /// A flow at a version.
    Flow {
        /// Which flow.
        id: FlowId,
        /// At which version.
        version: Version,
    },
}

impl Subject {
    /// `agent` or `flow`, as the API writes it.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Agent { .. } => "agent",
            Self::Flow { .. } => "flow",
        }
    }

    /// The agent's or the flow's id.
    pub fn id(&self) -> &str {
        match self {
            Self::Agent { id, .. } => id.as_str(),
            Self::Flow { id, .. } => id.as_str(),
        }
    }

    /// The agent's or the flow's version.
    pub fn version(&self) -> &Version {
        match self {
            Self::Agent { version, .. } | Self::Flow { version, .. } => version,
        }
    }

    /// The agent, if one ran.
    pub fn agent(&self) -> Option<&AgentId> {
        match self {
            Self::Agent { id, .. } => Some(id),
            Self::Flow { .. } => None,
        }
    }

    /// The flow, if one ran.
    pub fn flow(&self) -> Option<&FlowId> {
        match self {
            Self::Agent { .. } => None,
            Self::Flow { id, .. } => Some(id),
        }
    }
}

/// Where a run is in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum RunStatus {
    /// Not ended yet.
    Running,
    /// Ended well: the only status that can be judged.
    Completed,
    /// Ended by a fault.
    Failed,
    /// Stopped before its end.
    Cancelled,
}

/// A run, as the host tells it.
///
/// ```
/// use kindgi_core::{json::RawJson, model::{Run, Subject}};
///
/// let subject = Subject::Agent { id: "acme.matcher".parse()?, version: "1.2.0".parse()? };
/// let run = Run::new("run-1".parse()?, "project-1".parse()?, subject)
///     .with_input(RawJson::parse(r#"{"question":"…"}"#)?)
///     .completed_with(RawJson::parse(r#"{"score":1.10}"#)?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Run {
    /// The host's id of it.
    pub id: RunId,
    /// The project it belongs to.
    pub project: ProjectId,
    /// What it ran.
    pub subject: Subject,
    /// Where it is in its life.
    pub status: RunStatus,
    /// Whether its content was erased; it can't be judged any more.
    pub erased: bool,
    /// What it was given; `null` unless said.
    pub input: RawJson,
    /// What it answered, if anything yet. JSON's `null` is no output that can be judged.
    pub output: Option<RawJson>,
    /// The segment path it was started with.
    pub segments: Vec<Segment>,
    /// The run it re-ran, when it is a comparison's replay.
    pub replay_of: Option<RunId>,
}

impl Run {
    /// A run that has not ended, without input, output or segments.
    pub fn new(id: RunId, project: ProjectId, subject: Subject) -> Self {
        Self {
            id,
            project,
            subject,
            status: RunStatus::Running,
            erased: false,
            input: RawJson::null(),
            output: None,
            segments: Vec::new(),
            replay_of: None,
        }
    }

    /// Says what it was given.
    #[must_use]
    pub fn with_input(mut self, input: RawJson) -> Self {
        self.input = input;
        self
    }

    /// Says that it ended well, and with what.
    #[must_use]
    pub fn completed_with(mut self, output: RawJson) -> Self {
        self.status = RunStatus::Completed;
        self.output = Some(output);
        self
    }

    /// Says where it is in its life.
    #[must_use]
    pub fn with_status(mut self, status: RunStatus) -> Self {
        self.status = status;
        self
    }

    /// Says which segment path it was started with.
    #[must_use]
    pub fn with_segments(mut self, segments: Vec<Segment>) -> Self {
        self.segments = segments;
        self
    }

    /// Says which run it replays.
    #[must_use]
    pub fn with_replay_of(mut self, run: RunId) -> Self {
        self.replay_of = Some(run);
        self
    }

    /// Says that its content was erased.
    #[must_use]
    pub fn erased(mut self) -> Self {
        self.erased = true;
        self.input = RawJson::null();
        self.output = None;
        self
    }

    /// Its output, if it can be judged: completed, and not `null`.
    pub fn judgeable_output(&self) -> Option<&RawJson> {
        let output = self.output.as_ref().filter(|o| !o.is_null())?;
        (self.status == RunStatus::Completed).then_some(output)
    }
}

text_type!(
    /// The key of a segment: a lower-case letter, then at most 63 of `a-z`, `0-9`, `_`, `-`.
    SegmentKey,
    segment_key
);

text_type!(
    /// The value of a segment: 1 to 256 code points, not only white space, without U+0000.
    SegmentValue,
    |text| named(text, 256)
);

fn segment_key(text: &str) -> Result<(), InvalidText> {
    let mut bytes = text.bytes();
    let head = bytes.next().is_some_and(|b| b.is_ascii_lowercase());
    let tail = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || matches!(b, b'_' | b'-');
    if head && text.len() <= 64 && bytes.all(tail) {
        return Ok(());
    }
    Err(InvalidText::shape(
        "must be a lower-case letter and at most 63 more of a-z, 0-9, _ and -",
    ))
}

/// One step of the segment path a run was started with, such as `company` = `acme`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Segment {
    /// Which kind of segment.
    pub key: SegmentKey,
    /// Which one.
    pub value: SegmentValue,
}

impl Segment {
    /// A segment, or what is wrong with its key or its value.
    pub fn new(key: &str, value: &str) -> Result<Self, InvalidText> {
        Ok(Self {
            key: key.parse()?,
            value: value.parse()?,
        })
    }

    /// A segment path as the API writes it, and as a backend may keep it.
    pub fn path_to_json(path: &[Self]) -> RawJson {
        RawJson::array(|a| {
            for segment in path {
                a.object(|o| {
                    o.str("key", segment.key.as_str());
                    o.str("value", segment.value.as_str());
                });
            }
        })
    }

    /// From what [`path_to_json`](Self::path_to_json) wrote.
    pub fn path_from_json(json: &RawJson) -> Result<Vec<Self>, InvalidText> {
        let segment = |segment: &RawJson| {
            Ok(Self {
                key: string(&member(segment, "key")?)?,
                value: string(&member(segment, "value")?)?,
            })
        };
        items(json)?.iter().map(segment).collect()
    }
}

/// The copy of a run that its first judgment keeps, verbatim.
///
/// It never changes afterwards, except by [erasure](crate::store::Lifecycle::erase_run), which
/// leaves `null` for the input and the output and nothing else of the content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunCopy {
    /// The run.
    pub run: RunId,
    /// What it ran.
    pub subject: Subject,
    /// What it was given.
    pub input: RawJson,
    /// What it answered.
    pub output: RawJson,
    /// What it needs besides its input to be replayed, where the host captured it.
    pub context: Option<RunContext>,
    /// The segment path it was started with; `None` once erased.
    pub segments: Option<Vec<Segment>>,
    /// When the copy was taken.
    pub captured_at: Timestamp,
}

impl RunCopy {
    /// The same copy with its content cleared.
    #[must_use]
    pub fn erased(&self) -> Self {
        Self {
            run: self.run.clone(),
            subject: self.subject.clone(),
            input: RawJson::null(),
            output: RawJson::null(),
            context: None,
            segments: None,
            captured_at: self.captured_at,
        }
    }
}
