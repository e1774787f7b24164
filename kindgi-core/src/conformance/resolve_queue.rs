//! From the small numbers of generated commands to calls about the judging queue and the end of
//! data.

use std::num::NonZeroU16;

use super::{
    Report,
    call::Ask,
    command::{JudgedFilterBy, QueueFilterBy, TakeBy, What},
    resolve::{Case, instant, keyset, project, segment, subject},
    texts::{near, near_of},
};
use crate::{
    model::{
        EndedRun, ItemState, MAX_DISMISS_REASON_CHARS, Principal, PrincipalRef, ProjectId, RunId,
        TenantId, Via,
    },
    store::{Candidate, JudgedRunFilter, Keyset, QueueFilter},
};

/// A revision that no case's rules come to.
const NEVER: u64 = 1_000_000;

/// What can be read after a call of what it says of the queue, and of judged runs.
pub(super) fn readings(ask: &Ask, every: &Keyset) -> Vec<Ask> {
    let queue = |project: &ProjectId, state| {
        let filter = QueueFilter {
            state,
            ..QueueFilter::default()
        };
        Ask::Queue(project.clone(), Box::new(filter), Some(every.clone()))
    };
    let mut asks = Vec::new();
    match ask {
        Ask::Take {
            run, candidates, ..
        } => {
            asks.push(queue(&run.project, None));
            let each = ItemState::ALL.iter();
            asks.extend(each.map(|state| queue(&run.project, Some(*state))));
            asks.push(Ask::QueueItem(run.project.clone(), run.id.clone()));
            let results =
                |it: &Candidate| Ask::RuleResults(run.project.clone(), it.rule.clone(), None);
            asks.extend(candidates.iter().map(results));
        }
        Ask::Record { new, .. } => {
            let (project, run) = (&new.judgment.project, &new.judgment.run);
            asks.push(Ask::QueueItem(project.clone(), run.clone()));
            asks.push(Ask::JudgedRuns(JudgedRunFilter::default(), every.clone()));
        }
        _ => {}
    }
    asks
}

impl Case<'_> {
    /// The call of a command about the queue.
    pub(super) fn queue_call(
        &self,
        tenant: &TenantId,
        number: usize,
        what: &What,
    ) -> Result<Ask, Report> {
        Ok(match what {
            What::Take(by) => self.take(tenant, by)?,
            What::Dismiss {
                run,
                elsewhere,
                content,
            } => {
                let (project, run) = run_of(*run, *elsewhere)?;
                let reason = near_of("why", *content, MAX_DISMISS_REASON_CHARS).parse();
                Ask::Dismiss {
                    project,
                    run,
                    by: who(tenant, *content)?,
                    reason: (*content >= 4).then_some(reason).transpose()?,
                }
            }
            What::Reopen {
                run,
                elsewhere,
                content,
            } => {
                let (project, run) = run_of(*run, *elsewhere)?;
                let by = who(tenant, *content)?;
                Ask::Reopen { project, run, by }
            }
            What::QueueItem { run, elsewhere } => {
                let (project, run) = run_of(*run, *elsewhere)?;
                Ask::QueueItem(project, run)
            }
            What::Queue {
                project: of,
                filter,
                list,
            } => {
                let filter = self.queue_filter(tenant, number, filter)?;
                let keyset = list
                    .as_ref()
                    .map(|list| keyset(list, |run| Ok(near("run", run))));
                Ask::Queue(project(*of)?, Box::new(filter), keyset.transpose()?)
            }
            What::RuleResults {
                pick,
                elsewhere,
                since,
            } => {
                let (project, rule) = self.rule(number, *pick, *elsewhere)?;
                Ask::RuleResults(project, rule, since.map(instant))
            }
            What::EnabledRules { project: of } => Ask::EnabledRules(project(*of)?),
            What::WantedClasses { project: of } => Ask::WantedClasses(project(*of)?),
            _ => return Err(Report::new("the suite took a command for one of the queue")),
        })
    }

    /// Tells a run to rules that are enabled, as they are; or to what there never was, at a
    /// revision that is passed or never comes.
    fn take(&self, tenant: &TenantId, by: &TakeBy) -> Result<Ask, Report> {
        let mut run = EndedRun::new(
            near("run", by.run).parse()?,
            project(by.run)?,
            subject(by.run)?,
            instant(by.ended),
        );
        if by.content & 1 == 1 {
            run.flow = Some(near("flow", by.content).parse()?);
            run.via = Some(Via::Named);
        }
        let enabled = self.model.enabled(tenant, &run.project);
        let all: Vec<Candidate> = enabled.rules.iter().map(Candidate::from).collect();
        let chosen = |number: usize| by.which >> (number % 8) & 1 == 1;
        let some = all.iter().enumerate().filter(|(number, _)| chosen(*number));
        let mut candidates: Vec<Candidate> = some.map(|(_, rule)| rule.clone()).collect();
        if candidates.is_empty() {
            candidates = all;
        }
        let before = enabled.revision.checked_sub(1);
        let mut rules = match by.stale {
            true if by.content & 2 == 2 => before.unwrap_or(NEVER),
            true => NEVER,
            false => enabled.revision,
        };
        if candidates.is_empty() {
            rules = NEVER;
            candidates.push(Candidate {
                rule: "nothing".parse()?,
                version: 1,
                max_open: None,
                wants: None,
            });
        }
        Ok(Ask::Take {
            run: Box::new(run),
            rules,
            candidates,
        })
    }

    fn queue_filter(
        &self,
        tenant: &TenantId,
        number: usize,
        by: &QueueFilterBy,
    ) -> Result<QueueFilter, Report> {
        let class = |pick: u8| Ok::<_, Report>(self.class(tenant, number, pick)?.id);
        let any_or = by.wants_any_or.as_ref();
        let any_or = any_or.map(|picks| picks.iter().map(|pick| class(*pick)).collect());
        Ok(QueueFilter {
            state: by
                .state
                .and_then(|state| ItemState::ALL.get(usize::from(state)).copied()),
            agent: by
                .agent
                .map(|agent| near("agent", agent).parse())
                .transpose()?,
            rule: by
                .rule
                .map(|pick| Ok::<_, Report>(self.rule(number, pick, false)?.1))
                .transpose()?,
            wants: by.wants.map(class).transpose()?,
            wants_any_or: any_or.transpose()?,
            added_after: by.added_after.map(instant),
            closed_after: by.closed_after.map(instant),
        })
    }

    /// The call of a command about the end of data, or judged runs.
    pub(super) fn lifecycle_call(
        &self,
        tenant: &TenantId,
        number: usize,
        what: &What,
    ) -> Result<Ask, Report> {
        Ok(match what {
            What::EraseParticipant { participant } => Ask::EraseParticipant {
                participant: near("participant", *participant).parse()?,
                // Nobody else has this place.
                pseudonym: format!("nobody {number}").parse()?,
            },
            What::Purge {
                before,
                limit,
                goes_on,
            } => {
                let mut steps = self.model.purged.iter().rev();
                let last = steps.find(|(of, ..)| of == tenant).filter(|_| *goes_on);
                let (before, from) = match last {
                    Some((_, before, Some(from))) => (*before, Some(from.clone())),
                    _ => (instant(*before), None),
                };
                let limit = NonZeroU16::new((*limit).into()).unwrap_or(NonZeroU16::MIN);
                Ask::Purge {
                    before,
                    from,
                    limit,
                }
            }
            What::JudgedRuns { filter, list } => {
                let keyset = keyset(list, |run| Ok(near("run", run)))?;
                Ask::JudgedRuns(judged_filter(filter)?, keyset)
            }
            _ => return Err(Report::new("the suite took a command for another")),
        })
    }
}

/// A run, and its project or another.
fn run_of(run: u8, elsewhere: bool) -> Result<(ProjectId, RunId), Report> {
    let of = run.wrapping_add(u8::from(elsewhere));
    Ok((project(of)?, near("run", run).parse()?))
}

fn who(tenant: &TenantId, content: u8) -> Result<PrincipalRef, Report> {
    let (tenant, id) = (tenant.clone(), near("ada", content).parse()?);
    Ok(PrincipalRef::from(&match content & 1 {
        0 => Principal::user(tenant, id),
        _ => Principal::service(tenant, id),
    }))
}

fn judged_filter(by: &JudgedFilterBy) -> Result<JudgedRunFilter, Report> {
    let mut filter = JudgedRunFilter {
        project: by.project.map(project).transpose()?,
        since: by.since.map(instant),
        until: by.until.map(instant),
        ..JudgedRunFilter::default()
    };
    if let Some((agent, version)) = by.agent {
        filter.agent = Some(near("agent", agent).parse()?);
        filter.agent_version = version.map(|v| near("v", v).parse()).transpose()?;
    }
    if let Some(flow) = by.flow {
        filter.flow = Some(near("flow", flow).parse()?);
    }
    if let Some((number, length)) = by.segments {
        filter.segments = vec![segment(number)?; length.into()];
    }
    Ok(filter)
}
