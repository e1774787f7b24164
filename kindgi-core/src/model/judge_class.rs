//! Judge classes: named kinds of judges, with weights and perhaps restrictions.

use std::hash::Hash;

use super::{
    ids::{AgentId, JudgeClassId, PrincipalId, ProjectId, TenantId},
    principal::{Principal, PrincipalKind, ReviewerRole},
    run::Subject,
    stored::{items, member, name, optional, string},
    text::{InvalidText, free, named, text_type},
};
use crate::{clock::Timestamp, json::RawJson};

/// The most principals a class may name.
pub const MAX_PRINCIPAL_IDS: usize = 100;

text_type!(
    /// A judge class's name: 1 to 100 code points, not only white space, without U+0000.
    ///
    /// Unique among the live classes of one scope, compared exactly: case, accents and trailing
    /// blanks matter.
    ClassName,
    |text| named(text, 100)
);

text_type!(
    /// A judge class's description: any text without U+0000.
    Description,
    |text| free(text, usize::MAX)
);

/// How much a judge class's judgments count: a finite number that isn't negative.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Weight(f64);

impl Weight {
    /// The weight, or `None` when the number is negative or not finite. `-0` becomes `0`.
    pub fn new(weight: f64) -> Option<Self> {
        // Adding zero turns -0 into 0 and nothing else.
        (weight.is_finite() && weight >= 0.0).then_some(Self(weight + 0.0))
    }

    /// The number.
    pub const fn get(self) -> f64 {
        self.0
    }
}

// Never NaN, by construction.
impl Eq for Weight {}

/// Where a judge class applies.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ClassScope {
    /// To every run of the tenant.
    Tenant,
    /// To every run of a project.
    Project(
        /// Which project.
        ProjectId,
    ),
    /// To an agent's runs in a project.
    Agent(
        /// Which project.
        ProjectId,
        /// Which agent.
        AgentId,
    ),
}

impl ClassScope {
    /// `tenant`, `project` or `agent`, as the API writes it.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Tenant => "tenant",
            Self::Project(_) => "project",
            Self::Agent(..) => "agent",
        }
    }

    /// The project, unless the scope is the tenant.
    pub fn project(&self) -> Option<&ProjectId> {
        match self {
            Self::Tenant => None,
            Self::Project(project) | Self::Agent(project, _) => Some(project),
        }
    }

    /// The agent, if the scope is one.
    pub fn agent(&self) -> Option<&AgentId> {
        match self {
            Self::Agent(_, agent) => Some(agent),
            _ => None,
        }
    }

    /// Whether a class of this scope applies to runs of this subject in this project.
    pub fn applies_to(&self, project: &ProjectId, subject: &Subject) -> bool {
        match self {
            Self::Tenant => true,
            Self::Project(own) => own == project,
            Self::Agent(own, agent) => own == project && subject.agent() == Some(agent),
        }
    }
}

/// Who may judge under a class: every part that is set must hold, and at least one is set.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct AssertableBy {
    min_reviewer_role: Option<ReviewerRole>,
    principal_kinds: Vec<PrincipalKind>,
    principal_ids: Vec<PrincipalId>,
}

impl AssertableBy {
    /// A restriction: a least reviewer role, kinds of principals, principals by id. An empty list
    /// is a part that isn't set. At least one part must be, and at most [`MAX_PRINCIPAL_IDS`]
    /// principals may be named. Repeats are dropped; the order stays.
    pub fn new(
        min_reviewer_role: Option<ReviewerRole>,
        principal_kinds: Vec<PrincipalKind>,
        principal_ids: Vec<PrincipalId>,
    ) -> Result<Self, InvalidText> {
        if min_reviewer_role.is_none() && principal_kinds.is_empty() && principal_ids.is_empty() {
            return Err(InvalidText::shape("must set at least one part"));
        }
        if principal_ids.len() > MAX_PRINCIPAL_IDS {
            return Err(InvalidText::shape("must name at most 100 principals"));
        }
        Ok(Self {
            min_reviewer_role,
            principal_kinds: without_repeats(principal_kinds),
            principal_ids: without_repeats(principal_ids),
        })
    }

    /// The least reviewer role, if set.
    pub fn min_reviewer_role(&self) -> Option<ReviewerRole> {
        self.min_reviewer_role
    }

    /// The kinds of principals, if set; else empty.
    pub fn principal_kinds(&self) -> &[PrincipalKind] {
        &self.principal_kinds
    }

    /// The principals, if set; else empty.
    pub fn principal_ids(&self) -> &[PrincipalId] {
        &self.principal_ids
    }

    /// As a backend may keep it: the parts that are set, by the API's names.
    pub fn to_json(&self) -> RawJson {
        RawJson::object(|o| {
            o.opt_str(
                "minReviewerRole",
                self.min_reviewer_role.map(|role| role.as_str()),
            );
            o.array("principalKinds", |a| {
                self.principal_kinds
                    .iter()
                    .for_each(|kind| a.str(kind.as_str()));
            });
            o.array("principalIds", |a| {
                self.principal_ids.iter().for_each(|id| a.str(id.as_str()));
            });
        })
    }

    /// From what [`to_json`](Self::to_json) wrote.
    pub fn from_json(json: &RawJson) -> Result<Self, InvalidText> {
        let role = optional(json, "minReviewerRole")?;
        let kinds = items(&member(json, "principalKinds")?)?;
        let ids = items(&member(json, "principalIds")?)?;
        Self::new(
            role.map(|role| name(&role, ReviewerRole::from_name))
                .transpose()?,
            kinds
                .iter()
                .map(|kind| name(kind, PrincipalKind::from_name))
                .collect::<Result<_, _>>()?,
            ids.iter().map(string).collect::<Result<_, _>>()?,
        )
    }

    /// Whether this principal may judge under the class.
    pub fn is_met_by(&self, who: &Principal) -> bool {
        let role = self
            .min_reviewer_role
            .is_none_or(|min| who.reviewer_role >= Some(min));
        let kind = self.principal_kinds.is_empty() || self.principal_kinds.contains(&who.kind);
        let id = self.principal_ids.is_empty() || self.principal_ids.contains(&who.id);
        role && kind && id
    }
}

fn without_repeats<T: Clone + Eq + Hash>(mut list: Vec<T>) -> Vec<T> {
    let mut seen = std::collections::HashSet::new();
    list.retain(|each| seen.insert(each.clone()));
    list
}

/// A named kind of judge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JudgeClass {
    /// Its id.
    pub id: JudgeClassId,
    /// The customer it belongs to.
    pub tenant: TenantId,
    /// Where it applies.
    pub scope: ClassScope,
    /// Its name, unique among the live classes of its scope.
    pub name: ClassName,
    /// How much its judgments count.
    pub weight: Weight,
    /// What it is for.
    pub description: Option<Description>,
    /// Who may judge under it; `None` lets everyone who may judge the run.
    pub assertable_by: Option<AssertableBy>,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
    /// When it was retired; `None` while it lives.
    pub unregistered_at: Option<Timestamp>,
}

impl JudgeClass {
    /// Whether it takes new judgments.
    pub fn is_live(&self) -> bool {
        self.unregistered_at.is_none()
    }
}
