//! Judging rules: which of a project's runs are put before a person as they end.

use super::{
    ids::{AgentId, FlowId, JudgeClassId, ProjectId, RuleId, TenantId, Version},
    principal::PrincipalRef,
    stored::{items, name, optional, string},
    text::{InvalidText, named, text_type},
};
use crate::{
    clock::Timestamp,
    json::{ObjectWriter, RawJson},
};

/// The most agents, flows or versions that a rule may name.
pub const MAX_WHEN_ITEMS: usize = 50;

text_type!(
    /// A judging rule's name: 1 to 200 code points, not only white space, without U+0000.
    RuleName,
    |text| named(text, 200)
);

/// How large a share of the runs that match is taken: above 0, at most 1.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Sample(f64);

impl Sample {
    /// Every run.
    pub const ALL: Self = Self(1.0);

    /// The share, or `None` unless it is above 0 and at most 1.
    pub fn new(share: f64) -> Option<Self> {
        (share > 0.0 && share <= 1.0).then_some(Self(share))
    }

    /// The share.
    pub const fn get(self) -> f64 {
        self.0
    }
}

// Never NaN, by construction.
impl Eq for Sample {}

/// How many open items a rule may have before it takes no more: 1 to 10 000.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MaxOpen(u32);

impl MaxOpen {
    /// The number, or `None` outside 1 to 10 000.
    pub const fn new(items: u32) -> Option<Self> {
        if items == 0 || items > 10_000 {
            return None;
        }
        Some(Self(items))
    }

    /// The number.
    pub const fn get(self) -> u32 {
        self.0
    }
}

/// A version that a rule names.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum VersionMatch {
    /// Runs that got the live version, not one that the caller named (`live`).
    Live,
    /// Runs of exactly this version. One called `live` can't be named: made
    /// [from a version](Self::from), that is [`Live`](Self::Live).
    Exact(Version),
}

impl VersionMatch {
    /// As the API writes it.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Live => "live",
            Self::Exact(version) => version.as_str(),
        }
    }
}

impl From<Version> for VersionMatch {
    fn from(version: Version) -> Self {
        match version.as_str() {
            "live" => Self::Live,
            _ => Self::Exact(version),
        }
    }
}

/// The agents or the flows that a rule names; not both.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum WhenSubjects {
    /// Any.
    #[default]
    Any,
    /// Runs of one of these agents.
    Agents(
        /// 1 to 50, without repeats.
        WhenItems<AgentId>,
    ),
    /// Runs of one of these flows.
    Flows(
        /// 1 to 50, without repeats.
        WhenItems<FlowId>,
    ),
}

/// 1 to 50 things that a rule names, without repeats, in order.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct WhenItems<T>(Vec<T>);

impl<T: PartialEq> WhenItems<T> {
    /// The items with repeats dropped; 1 to [`MAX_WHEN_ITEMS`] must be given.
    pub fn new(items: Vec<T>) -> Result<Self, InvalidText> {
        if !(1..=MAX_WHEN_ITEMS).contains(&items.len()) {
            return Err(InvalidText::shape("must have 1 to 50 items"));
        }
        let mut kept = Vec::with_capacity(items.len());
        for item in items {
            if !kept.contains(&item) {
                kept.push(item);
            }
        }
        Ok(Self(kept))
    }

    /// The items.
    pub fn as_slice(&self) -> &[T] {
        &self.0
    }
}

/// Which of a project's runs a rule matches as they end. Every part narrows.
///
/// Whatever it says, only completed, top-level runs that replay nothing match.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct RuleWhen {
    /// The agents or flows.
    pub subjects: WhenSubjects,
    /// The versions; `None` for any.
    pub versions: Option<WhenItems<VersionMatch>>,
    /// Whether the rule says that the run must have completed. It must in any case.
    pub says_completed: bool,
    /// Whether dry runs match, too: not unless said.
    pub include_dry_runs: Option<bool>,
}

impl RuleWhen {
    /// As the API writes it, and as a backend may keep it: the parts that are set.
    pub fn to_json(&self) -> RawJson {
        RawJson::object(|o| {
            match &self.subjects {
                WhenSubjects::Any => {}
                WhenSubjects::Agents(ids) => texts(o, "agentIds", ids, AgentId::as_str),
                WhenSubjects::Flows(ids) => texts(o, "flowIds", ids, FlowId::as_str),
            }
            if let Some(versions) = &self.versions {
                texts(o, "versions", versions, VersionMatch::as_str);
            }
            if self.says_completed {
                o.array("status", |a| a.str(COMPLETED));
            }
            if let Some(include) = self.include_dry_runs {
                o.bool("includeDryRuns", include);
            }
        })
    }

    /// From what [`to_json`](Self::to_json) wrote.
    pub fn from_json(json: &RawJson) -> Result<Self, InvalidText> {
        let completed = |status: RawJson| match &*items(&status)? {
            [only] => name(only, |name| (name == COMPLETED).then_some(())),
            _ => Err(InvalidText::shape("must have one item")),
        };
        let truth = |value: RawJson| {
            let value = value.as_bool();
            value.ok_or(InvalidText::shape("must be true or false"))
        };
        let subjects = match (optional(json, "agentIds")?, optional(json, "flowIds")?) {
            (None, None) => WhenSubjects::Any,
            (Some(ids), None) => WhenSubjects::Agents(some(&ids, string)?),
            (None, Some(ids)) => WhenSubjects::Flows(some(&ids, string)?),
            (Some(_), Some(_)) => {
                return Err(InvalidText::shape("must not name agents and flows"));
            }
        };
        let version = |version: &RawJson| string::<Version>(version).map(VersionMatch::from);
        Ok(Self {
            subjects,
            versions: optional(json, "versions")?
                .map(|versions| some(&versions, version))
                .transpose()?,
            says_completed: optional(json, "status")?
                .map(completed)
                .transpose()?
                .is_some(),
            include_dry_runs: optional(json, "includeDryRuns")?.map(truth).transpose()?,
        })
    }
}

/// The one status that a rule may name.
const COMPLETED: &str = "completed";

fn texts<T>(o: &mut ObjectWriter<'_>, key: &str, list: &WhenItems<T>, text: fn(&T) -> &str) {
    o.array(key, |a| list.0.iter().for_each(|each| a.str(text(each))));
}

fn some<T: PartialEq>(
    array: &RawJson,
    item: impl Fn(&RawJson) -> Result<T, InvalidText>,
) -> Result<WhenItems<T>, InvalidText> {
    WhenItems::new(items(array)?.iter().map(item).collect::<Result<_, _>>()?)
}

/// One version of a judging rule. The latest one of a live rule applies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JudgingRule {
    /// The rule's id, the same in all versions.
    pub id: RuleId,
    /// The customer it belongs to.
    pub tenant: TenantId,
    /// The project whose runs it is about.
    pub project: ProjectId,
    /// 1, 2, 3, … without gap or repeat.
    pub version: u32,
    /// Its name.
    pub name: RuleName,
    /// Which runs.
    pub when: RuleWhen,
    /// How large a share of them.
    pub sample: Sample,
    /// How many open items at most; `None` for no cap.
    pub max_open: Option<MaxOpen>,
    /// Whose judgment it wants; `None` for anyone's.
    pub class: Option<JudgeClassId>,
    /// Whether it takes runs.
    pub enabled: bool,
    /// Who wrote this version.
    pub created_by: Option<PrincipalRef>,
    /// When this version was written.
    pub created_at: Timestamp,
    /// When the rule was stopped; `None` while it lives.
    pub unregistered_at: Option<Timestamp>,
}
