//! From the small numbers of generated commands to calls about judging rules.

use super::{
    Report,
    call::{Answer, Ask, Call},
    command::{Command, RuleBy, What},
    resolve::{Case, keyset, project, row_id},
    texts::{near, near_of},
};
use crate::{
    Timestamp,
    model::{
        AgentId, FlowId, JudgingRule, MaxOpen, PageSize, Principal, PrincipalRef, ProjectId,
        RuleId, RuleWhen, Sample, TenantId, Version, VersionMatch, WhenItems, WhenSubjects,
    },
    store::Keyset,
};

/// What can be read after a call of what it says of rules.
pub(crate) fn readings(ask: &Ask, every: &Keyset) -> Vec<Ask> {
    let (project, id) = match ask {
        Ask::AppendRule { next, .. } => (&next.project, &next.id),
        Ask::StopRule(project, id) => (project, id),
        _ => return Vec::new(),
    };
    vec![
        Ask::Rule(project.clone(), id.clone()),
        Ask::RuleVersions(project.clone(), id.clone(), None, every.limit),
        Ask::Rules(project.clone(), every.clone()),
        Ask::EnabledRules(project.clone()),
        Ask::WantedClasses(project.clone()),
    ]
}

impl Case<'_> {
    /// The call of a command about rules.
    pub(crate) fn rule_call(
        &self,
        tenant: &TenantId,
        number: usize,
        now: Timestamp,
        what: &What,
    ) -> Result<Ask, Report> {
        Ok(match what {
            What::CreateRule(by) => {
                let (project, id) = (project(by.project)?, row_id(number, by.content).parse()?);
                self.append(tenant, number, now, by, (project, id, 1))?
            }
            What::AppendRule {
                pick,
                version,
                elsewhere,
                next,
            } => {
                let (project, id) = self.rule(number, *pick, *elsewhere)?;
                self.append(tenant, number, now, next, (project, id, (*version).into()))?
            }
            What::StopRule { pick, elsewhere } => {
                let (project, id) = self.rule(number, *pick, *elsewhere)?;
                Ask::StopRule(project, id)
            }
            What::Rule { pick, elsewhere } => {
                let (project, id) = self.rule(number, *pick, *elsewhere)?;
                Ask::Rule(project, id)
            }
            What::Rules { project: of, list } => {
                let id = |pick| Ok(self.rule(number, pick, false)?.1.to_string());
                Ask::Rules(project(*of)?, keyset(list, id)?)
            }
            What::RuleVersions {
                pick,
                elsewhere,
                before,
                limit,
            } => {
                let (project, id) = self.rule(number, *pick, *elsewhere)?;
                let limit = PageSize::new((*limit).into()).unwrap_or_default();
                Ask::RuleVersions(project, id, before.map(u32::from), limit)
            }
            _ => return Err(Report::new("the suite took a command for one about rules")),
        })
    }

    /// A picked rule's project, or another, and its id.
    pub(crate) fn rule(
        &self,
        before: usize,
        pick: u8,
        elsewhere: bool,
    ) -> Result<(ProjectId, RuleId), Report> {
        match self.picked(before, pick, |what| matches!(what, What::CreateRule(_))) {
            Some((
                number,
                Command {
                    what: What::CreateRule(by),
                    ..
                },
            )) => {
                let of = by.project.wrapping_add(u8::from(elsewhere));
                Ok((project(of)?, row_id(number, by.content).parse()?))
            }
            _ => Ok((project(0)?, "nothing".parse()?)),
        }
    }

    /// The latest version of a picked rule, or what might have been one.
    pub(crate) fn latest(
        &self,
        tenant: &TenantId,
        number: usize,
        now: Timestamp,
        (pick, content): (u8, u8),
    ) -> Result<JudgingRule, Report> {
        let (project, id) = self.rule(number, pick, false)?;
        let latest = Ask::Rule(project.clone(), id.clone());
        let by = RuleBy {
            project: 0,
            name: content,
            content,
            class: None,
        };
        match self.model.clone().answer(&Call::reading(tenant, latest)) {
            Answer::Rule(Some(rule)) => Ok(*rule),
            _ => match self.append(tenant, number, now, &by, (project, id, 2))? {
                Ask::AppendRule { next, .. } => Ok(*next),
                _ => Err(Report::new("the suite made another call")),
            },
        }
    }

    fn append(
        &self,
        tenant: &TenantId,
        number: usize,
        now: Timestamp,
        by: &RuleBy,
        (project, id, version): (ProjectId, RuleId, u32),
    ) -> Result<Ask, Report> {
        let class = match by.class {
            None => None,
            Some((pick, revision)) => {
                Some((self.class(tenant, number, pick)?.id, u64::from(revision)))
            }
        };
        let content = by.content;
        // A version may name a class whose revision nobody asks about.
        let unasked = (content & 48 == 48).then(|| near("class", content).parse());
        let named = class.as_ref().map(|(id, _)| id.clone());
        let next = JudgingRule {
            id,
            tenant: tenant.clone(),
            project,
            version,
            name: near_of("rule", by.name, 200).parse()?,
            when: when(content)?,
            sample: sample(content)?,
            max_open: match content & 3 {
                0 => None,
                1 => MaxOpen::new(1),
                2 => MaxOpen::new(10_000),
                _ if content & 8 == 8 => MaxOpen::new(2),
                _ => MaxOpen::new(257),
            },
            class: named.or(unasked.transpose()?),
            enabled: content & 4 == 0,
            created_by: created_by(tenant, content)?,
            created_at: now,
            unregistered_at: None,
        };
        Ok(Ask::AppendRule {
            next: Box::new(next),
            class,
        })
    }
}

fn when(content: u8) -> Result<RuleWhen, Report> {
    let subjects = match content >> 3 & 3 {
        0 => WhenSubjects::Any,
        1 => {
            let ids: [AgentId; 2] = [near("z", content).parse()?, near("a", content).parse()?];
            WhenSubjects::Agents(WhenItems::new(ids.to_vec())?)
        }
        2 => {
            let ids = (0..50_u8).map(|number| format!("flow{number}").parse());
            WhenSubjects::Flows(WhenItems::new(ids.collect::<Result<Vec<FlowId>, _>>()?)?)
        }
        _ => WhenSubjects::Flows(WhenItems::new(vec![near("flow", content).parse()?])?),
    };
    let version = |text: &str| Ok::<_, Report>(VersionMatch::from(text.parse::<Version>()?));
    let versions = match content & 5 {
        0 => None,
        1 => Some(vec![VersionMatch::Live]),
        4 => Some(vec![version("LIVE")?, VersionMatch::Live]),
        _ => Some(vec![version(&near("v", content))?]),
    };
    Ok(RuleWhen {
        subjects,
        versions: versions.map(WhenItems::new).transpose()?,
        says_completed: content & 64 == 64,
        include_dry_runs: match content & 34 {
            0 => None,
            2 => Some(false),
            _ => Some(true),
        },
    })
}

/// Shares whose last bit counts, from the least to the greatest.
fn sample(content: u8) -> Result<Sample, Report> {
    let shares = [1.0, 0.1, 5e-324, 1.0 / 3.0, 1.0 - f64::EPSILON / 2.0, 1e-7];
    let share = shares.get(usize::from(content) % shares.len()).copied();
    let sample = Sample::new(share.unwrap_or(1.0));
    sample.ok_or_else(|| Report::new("the suite made a share that isn't one"))
}

fn created_by(tenant: &TenantId, content: u8) -> Result<Option<PrincipalRef>, Report> {
    let (tenant, id) = (tenant.clone(), near("ada", content).parse()?);
    Ok(match content >> 6 {
        0 => None,
        1 => Some(PrincipalRef::from(&Principal::service(tenant, id))),
        _ => Some(PrincipalRef::from(&Principal::user(tenant, id))),
    })
}
