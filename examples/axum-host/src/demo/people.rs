//! Who may call, by which token, and what each of them may do.
//!
//! A real host asks its own sign-in and its own permissions here, and keeps no token in clear.

use std::{collections::BTreeSet, sync::Arc};

use async_trait::async_trait;
use kindgi_core::{
    HostError,
    host::{Permission, Permissions},
    model::{InvalidText, Principal, ProjectId, Readable, ReviewerRole},
};
use kindgi_tower::{AuthError, Authenticator};

use super::{OTHER_TENANT, SECOND_PROJECT, TENANT};

/// Everyone who may call. Clones share them.
#[derive(Clone, Debug)]
pub struct People(Arc<[Person]>);

#[derive(Debug)]
struct Person {
    token: &'static str,
    principal: Principal,
    rights: Rights,
}

/// What someone may do in the projects they may read.
#[derive(Clone, Debug)]
struct Rights {
    projects: Readable,
    judge: bool,
    write: bool,
    admin: Admin,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Admin {
    Nothing,
    Projects,
    Tenant,
}

/// Why a token lets nobody in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RefusedToken {
    /// Nobody has it.
    Unknown,
    /// It was good for a time that is over.
    Expired,
    /// It was taken back.
    Revoked,
}

impl People {
    /// The people of the demo; the README has the table.
    pub(super) fn new() -> Result<Self, InvalidText> {
        let reads = Rights {
            projects: Readable::All,
            judge: false,
            write: false,
            admin: Admin::Nothing,
        };
        let judges = Rights {
            judge: true,
            ..reads.clone()
        };
        let writes = Rights {
            write: true,
            ..judges.clone()
        };
        let rules_the_tenant = Rights {
            admin: Admin::Tenant,
            ..writes.clone()
        };
        let rules_the_second_project = Rights {
            projects: Readable::Only(BTreeSet::from([SECOND_PROJECT.parse::<ProjectId>()?])),
            admin: Admin::Projects,
            ..writes.clone()
        };
        let user = |id: &str| {
            let tenant = TENANT.parse()?;
            let id = format!("00000000-0000-4000-8000-0000000000{id}");
            Ok::<_, InvalidText>(Principal::user(tenant, id.parse()?))
        };
        let service = Principal::service(TENANT.parse()?, "svc-1".parse()?);
        let stranger = "00000000-0000-4000-8000-0000000000d1";
        let stranger = Principal::user(OTHER_TENANT.parse()?, stranger.parse()?);
        let admin = user("c1")?.with_reviewer_role(ReviewerRole::Admin);
        let judge = user("c2")?.with_reviewer_role(ReviewerRole::Standard);

        let person = |token, principal, rights| Person {
            token,
            principal,
            rights,
        };
        Ok(Self(Arc::new([
            person("test-token", admin, rules_the_tenant.clone()),
            person("judge-token", judge, judges),
            person("reader-token", user("c3")?, reads),
            person("project-token", user("c4")?, rules_the_second_project),
            person("service-token", service, writes),
            person("other-tenant-token", stranger, rules_the_tenant),
        ])))
    }

    /// Whom a token lets in.
    ///
    /// # Errors
    ///
    /// [`RefusedToken`] says why it lets in nobody.
    pub fn by_token(&self, token: &str) -> Result<&Principal, RefusedToken> {
        match self.0.iter().find(|person| person.token == token) {
            Some(person) => Ok(&person.principal),
            None => Err(match token {
                "expired-token" => RefusedToken::Expired,
                "revoked-token" => RefusedToken::Revoked,
                _ => RefusedToken::Unknown,
            }),
        }
    }

    /// Whether this principal may read a project: for the host's own routes.
    pub fn may_read(&self, who: &Principal, project: &ProjectId) -> bool {
        self.rights(who)
            .is_some_and(|rights| rights.projects.contains(project))
    }

    fn rights(&self, who: &Principal) -> Option<&Rights> {
        let known = |person: &&Person| person.principal == *who;
        self.0.iter().find(known).map(|person| &person.rights)
    }
}

#[async_trait]
impl Authenticator for People {
    async fn authenticate(&self, token: &str) -> Result<Principal, AuthError> {
        self.by_token(token)
            .cloned()
            .map_err(|refused| match refused {
                RefusedToken::Unknown => AuthError::unknown(),
                RefusedToken::Expired => AuthError::expired(),
                RefusedToken::Revoked => AuthError::revoked(),
            })
    }
}

#[async_trait]
impl Permissions for People {
    async fn allows(&self, who: &Principal, what: Permission<'_>) -> Result<bool, HostError> {
        let Some(rights) = self.rights(who) else {
            return Ok(false);
        };
        let sees = |project| rights.projects.contains(project);
        Ok(match what {
            Permission::Read { project } => sees(project),
            Permission::Judge { project, .. } => rights.judge && sees(project),
            Permission::Write { project } => rights.write && sees(project),
            Permission::Admin { project } => rights.admin != Admin::Nothing && sees(project),
            Permission::AdminTenant => rights.admin == Admin::Tenant,
            // A permission that this host doesn't know yet is not given.
            _ => false,
        })
    }

    async fn readable_projects(&self, who: &Principal) -> Result<Readable, HostError> {
        Ok(match self.rights(who) {
            Some(rights) => rights.projects.clone(),
            None => Readable::Only(BTreeSet::new()),
        })
    }
}
