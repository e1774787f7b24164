//! Who calls, and which projects they may read.

use std::{collections::BTreeSet, str::FromStr};

use super::{
    ids::{PrincipalId, ProjectId, TenantId},
    text::InvalidText,
};

/// Who calls, as the host's authentication says.
///
/// ```
/// use kindgi_core::model::{Principal, ReviewerRole};
///
/// let expert = Principal::user("acme".parse()?, "ada".parse()?)
///     .with_reviewer_role(ReviewerRole::Senior);
/// # Ok::<(), kindgi_core::model::InvalidText>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Principal {
    /// The customer they belong to.
    pub tenant: TenantId,
    /// A person or a program.
    pub kind: PrincipalKind,
    /// Who, within the tenant and the kind.
    pub id: PrincipalId,
    /// How experienced a reviewer they are, where the host says.
    pub reviewer_role: Option<ReviewerRole>,
}

impl Principal {
    /// A person.
    pub fn user(tenant: TenantId, id: PrincipalId) -> Self {
        Self::of(PrincipalKind::User, tenant, id)
    }

    /// A program, by its token's or session's id.
    pub fn service(tenant: TenantId, id: PrincipalId) -> Self {
        Self::of(PrincipalKind::Service, tenant, id)
    }

    fn of(kind: PrincipalKind, tenant: TenantId, id: PrincipalId) -> Self {
        Self {
            tenant,
            kind,
            id,
            reviewer_role: None,
        }
    }

    /// Says how experienced a reviewer they are.
    #[must_use]
    pub fn with_reviewer_role(mut self, role: ReviewerRole) -> Self {
        self.reviewer_role = Some(role);
        self
    }

    /// Who they are as the author of a judgment.
    pub fn asserted_by(&self) -> AssertedBy {
        AssertedBy {
            kind: self.kind,
            id: self.id.clone(),
        }
    }
}

/// Who asserted a judgment: always the authenticated caller, never a name in the body.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AssertedBy {
    /// A person or a program.
    pub kind: PrincipalKind,
    /// Who, within the tenant and the kind.
    pub id: PrincipalId,
}

/// Who did something, in one text: `user:<id>` or `service_account:<id>`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PrincipalRef(std::sync::Arc<str>);

impl PrincipalRef {
    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

const USER: &str = "user:";
const SERVICE: &str = "service_account:";

impl From<&Principal> for PrincipalRef {
    fn from(who: &Principal) -> Self {
        let kind = match who.kind {
            PrincipalKind::User => USER,
            PrincipalKind::Service => SERVICE,
        };
        Self(format!("{kind}{}", who.id).into())
    }
}

impl FromStr for PrincipalRef {
    type Err = InvalidText;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let id = [USER, SERVICE]
            .iter()
            .find_map(|kind| text.strip_prefix(kind));
        let kind = InvalidText::shape("must begin with user: or service_account:");
        PrincipalId::from_str(id.ok_or(kind)?)?;
        Ok(Self(text.into()))
    }
}

/// A person or a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PrincipalKind {
    /// A person, signed in.
    User,
    /// A program with a token or session.
    Service,
}

impl PrincipalKind {
    /// Both, in the API's order.
    pub const ALL: [Self; 2] = [Self::User, Self::Service];

    /// As the API writes it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Service => "service",
        }
    }

    /// From what the API writes.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|k| k.as_str() == name)
    }
}

/// How experienced a reviewer is: `standard < senior < admin`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ReviewerRole {
    /// Any reviewer.
    Standard,
    /// An experienced one.
    Senior,
    /// One who runs the reviewing.
    Admin,
}

impl ReviewerRole {
    /// All, lowest first.
    pub const ALL: [Self; 3] = [Self::Standard, Self::Senior, Self::Admin];

    /// As the API writes it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Standard => "standard",
            Self::Senior => "senior",
            Self::Admin => "admin",
        }
    }

    /// From what the API writes.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|r| r.as_str() == name)
    }
}

/// The projects of a tenant that a caller may read.
///
/// Lists are filtered by it inside the store's query, so that pages stay full. Keep an explicit
/// set to what a database takes in one query, a few thousand at most.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Readable {
    /// Every project of the tenant.
    All,
    /// These, perhaps none.
    Only(BTreeSet<ProjectId>),
}

impl Readable {
    /// Whether this project is among them.
    pub fn contains(&self, project: &ProjectId) -> bool {
        match self {
            Self::All => true,
            Self::Only(projects) => projects.contains(project),
        }
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        matches!(self, Self::Only(projects) if projects.is_empty())
    }

    /// Those that are among `projects`, too.
    #[must_use]
    pub fn narrowed_to(&self, projects: BTreeSet<ProjectId>) -> Self {
        match self {
            Self::All => Self::Only(projects),
            Self::Only(own) => Self::Only(own.intersection(&projects).cloned().collect()),
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test")]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn who_did_something_is_read_back_from_its_text(id in "[a-z:é😀]{1,20}") {
            let (tenant, id): (TenantId, PrincipalId) = ("t".parse().unwrap(), id.parse().unwrap());
            let user = Principal::user(tenant.clone(), id.clone());
            for who in [user, Principal::service(tenant, id)] {
                let who = PrincipalRef::from(&who);
                prop_assert_eq!(who.as_str().parse(), Ok(who));
            }
        }
    }

    #[test]
    fn who_did_something_is_a_known_kind_and_a_valid_id() {
        let long = format!("user:{}", "x".repeat(crate::model::MAX_ID_CHARS + 1));
        for text in [
            "",
            "ada",
            "user",
            "user:",
            "User:ada",
            "service:bot",
            &*long,
        ] {
            assert!(text.parse::<PrincipalRef>().is_err(), "{text}");
        }
    }
}
