//! Ids: opaque texts of 1 to 256 code points, not only white space, without U+0000.

use super::text::{named, text_type};

/// The most code points an id may have.
pub const MAX_ID_CHARS: usize = 256;

macro_rules! id_type {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        text_type!(
            $(#[$doc])*
            ///
            /// 1 to 256 code points, not only white space, without U+0000; compared exactly.
            $name, |text| named(text, MAX_ID_CHARS)
        );
    )*};
}

id_type! {
    /// The customer a caller belongs to. It comes from authentication alone.
    TenantId;
    /// A group of runs inside a tenant. Never assume a UUID.
    ProjectId;
    /// An organisation, which the host's directory resolves to projects.
    OrgId;
    /// One execution of an agent or a flow, by the host's own id.
    RunId;
    /// An agent, by the host's own id.
    AgentId;
    /// A flow, by the host's own id.
    FlowId;
    /// The version of an agent or a flow.
    Version;
    /// A user's id or, for a service, its token's or session's id.
    PrincipalId;
    /// The app's opaque id for its end user, on whose behalf a principal judges.
    ParticipantId;
    /// The caller's stable id for an item of a run's output.
    ItemKey;
    /// A judgment's id.
    JudgmentId;
    /// A judge class's id.
    JudgeClassId;
    /// A judging rule's id.
    RuleId;
}

impl ItemKey {
    /// The reserved key of a judgment that is only a correction.
    pub const CORRECTION: &'static str = "kindgi:correction";

    /// Whether the key begins with `kindgi:`, which callers may not use for items of their own.
    pub fn is_reserved(&self) -> bool {
        self.as_str().starts_with("kindgi:")
    }
}

impl FlowId {
    /// The flow of an agent's run that its host says nothing of.
    pub const AGENT_TURN: &'static str = "agent.turn";

    /// [`AGENT_TURN`](Self::AGENT_TURN) as an id.
    pub fn agent_turn() -> Self {
        Self(Self::AGENT_TURN.into())
    }
}
