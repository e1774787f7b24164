//! From the small numbers of generated commands to calls.

use super::{
    Report,
    call::{Ask, Call},
    command::{Command, FilterBy, ListBy, RecordBy, What},
    model::Model,
    resolve_queue, resolve_rules,
    scene::{at, operation, position},
    texts::{DOCUMENTS, near, near_of},
};
use crate::{
    Timestamp,
    json::{Pointer, RawJson},
    model::{
        Args, AssertableBy, AssertedBy, ClassScope, CorrectedCall, Correction, Item, JudgeClass,
        Judgment, PageSize, PrincipalKind, ProjectId, Rank, Readable, ReviewerRole, RunContext,
        RunCopy, Segment, Subject, TenantId, Verdict, Weight,
    },
    store::{
        ClassCreated, ClassFilter, ClassReplaced, JudgmentFilter, JudgmentRemoved, Keyset,
        NewJudgment, Receipt, RuleAppended, RuleStopped,
    },
};

/// The commands as calls, each in its place; `None` for those that are off. A row's id has its
/// command's place in it.
///
/// The first `settled` ones are made in order before the others: so many are looked at when a run
/// is told, which is by rules that there are.
pub(crate) fn calls(
    tenants: &[TenantId; 2],
    commands: &[Command],
    settled: usize,
) -> Result<Vec<Option<Call>>, Report> {
    let mut case = Case {
        tenants,
        commands,
        model: Model::default(),
    };
    let mut calls = Vec::new();
    for (number, command) in commands.iter().enumerate() {
        if !command.on {
            calls.push(None);
            continue;
        }
        let call = case.call(number, &case.original(number, command))?;
        if number < settled && !case.model.leaves_open(&call) {
            case.model.answer(&call);
        }
        calls.push(Some(call));
    }
    Ok(calls)
}

/// All that can be read after the calls.
pub(crate) fn readings(calls: &[Call]) -> Vec<Call> {
    let mut readings: Vec<Call> = Vec::new();
    let mut seen = std::collections::HashSet::new();
    let every = Keyset {
        after: None,
        limit: PageSize::new(PageSize::MAX).unwrap_or_default(),
    };
    for call in calls {
        let Call { tenant, ask, .. } = call;
        let mut asks = vec![
            Ask::Judgments(JudgmentFilter::default(), Readable::All, every.clone()),
            Ask::Classes(ClassFilter::default(), Readable::All, every.clone()),
        ];
        asks.extend(resolve_rules::readings(ask, &every));
        asks.extend(resolve_queue::readings(ask, &every));
        match ask {
            Ask::Record { new, .. } => {
                asks.push(Ask::Judgment(new.judgment.id.clone()));
                asks.push(Ask::IsErased(new.judgment.run.clone()));
            }
            Ask::CreateClass(class) => asks.push(Ask::Class(class.id.clone())),
            Ask::EraseRun(run) => asks.push(Ask::IsErased(run.clone())),
            _ => {}
        }
        asks.extend(call.looks_at().map(Ask::Receipt));
        let calls = asks.into_iter().map(|ask| Call::reading(tenant, ask));
        readings.extend(calls.filter(|call| seen.insert(call.to_string())));
    }
    readings
}

/// Stands for what no command of a case makes.
static NOTHING: Command = Command {
    on: false,
    tenant: 0,
    at: 0,
    operation: None,
    what: What::CreateClass {
        scope: 0,
        name: 0,
        content: 0,
    },
};

pub(crate) struct Case<'a> {
    tenants: &'a [TenantId; 2],
    pub(crate) commands: &'a [Command],
    /// What the calls so far came to.
    pub(crate) model: Model,
}

impl Case<'_> {
    /// What a command stands for that is an earlier one again.
    fn original(&self, number: usize, command: &Command) -> Command {
        let (mut place, mut it) = (number, command);
        while let What::Again { pick } = it.what {
            // Always an earlier place, so this ends.
            let earlier = place.checked_sub(1 + usize::from(pick % 4));
            place = earlier.unwrap_or_default();
            it = earlier
                .and_then(|place| self.commands.get(place))
                .unwrap_or(&NOTHING);
        }
        let tenant = if it.on { it.tenant } else { command.tenant };
        Command {
            at: command.at,
            tenant,
            ..it.clone()
        }
    }

    fn call(&self, number: usize, command: &Command) -> Result<Call, Report> {
        let [first, second] = self.tenants;
        let tenant = if command.tenant == 0 { first } else { second };
        let now = instant(command.at);
        let ask = match &command.what {
            // Resolved before.
            What::Again { .. } => return Err(Report::new("the suite repeats nothing")),
            What::Record(by) => self.record(tenant, number, now, by)?,
            What::Remove { pick } => Ask::Remove(self.judgment_id(number, *pick)?.parse()?),
            What::Judgment { pick } => Ask::Judgment(self.judgment_id(number, *pick)?.parse()?),
            What::Judgments { filter, list } => {
                let keyset = keyset(list, |pick| self.judgment_id(number, pick))?;
                Ask::Judgments(self.filter(number, filter)?, readable(list)?, keyset)
            }
            What::CreateClass { .. } => Ask::CreateClass(Box::new(class(tenant, number, command)?)),
            What::ReplaceClass {
                pick,
                revision,
                content,
                retire,
            } => {
                let mut next = self.class(tenant, number, *pick)?;
                dress(&mut next, *content)?;
                next.updated_at = now;
                next.unregistered_at = retire.then_some(now);
                Ask::ReplaceClass(u64::from(*revision), Box::new(next))
            }
            What::Class { pick } => Ask::Class(self.class(tenant, number, *pick)?.id),
            What::Classes {
                scope: wanted,
                list,
            } => {
                let scope = wanted.map(scope).transpose()?;
                let keyset = keyset(list, |pick| {
                    Ok(self.class(tenant, number, pick)?.id.to_string())
                })?;
                Ask::Classes(ClassFilter { scope }, readable(list)?, keyset)
            }
            What::CreateRule(_)
            | What::AppendRule { .. }
            | What::StopRule { .. }
            | What::Rule { .. }
            | What::Rules { .. }
            | What::RuleVersions { .. } => self.rule_call(tenant, number, now, &command.what)?,
            What::Take(_)
            | What::Dismiss { .. }
            | What::Reopen { .. }
            | What::QueueItem { .. }
            | What::Queue { .. }
            | What::RuleResults { .. }
            | What::EnabledRules { .. }
            | What::WantedClasses { .. } => self.queue_call(tenant, number, &command.what)?,
            What::EraseParticipant { .. } | What::Purge { .. } | What::JudgedRuns { .. } => {
                self.lifecycle_call(tenant, number, &command.what)?
            }
            What::Receipt(by) => Ask::Receipt(operation(by.id, by.body, instant(by.until))),
            What::Keep {
                kind,
                pick,
                content,
            } => Ask::Keep(Box::new(self.unchanged(
                tenant,
                number,
                now,
                (*kind, *pick, *content),
            )?)),
            What::EraseRun { run } => Ask::EraseRun(near("run", *run).parse()?),
            What::IsErased { run } => Ask::IsErased(near("run", *run).parse()?),
        };
        let operation = command
            .operation
            .map(|by| operation(by.id, by.body, instant(by.until)));
        let call = Call {
            tenant: tenant.clone(),
            now,
            operation,
            ask,
        };
        let operation = call.operation.filter(|_| call.writes());
        Ok(Call { operation, ..call })
    }

    /// The command that makes what is picked, with its place: one before this place, if there is.
    pub(crate) fn picked(
        &self,
        before: usize,
        pick: u8,
        makes: fn(&What) -> bool,
    ) -> Option<(usize, &Command)> {
        let made = || {
            self.commands
                .iter()
                .enumerate()
                .filter(|(_, one)| makes(&one.what))
        };
        let earlier = made().take_while(|(place, _)| *place < before).count();
        let count = if earlier > 0 { earlier } else { made().count() };
        made().nth(usize::from(pick).checked_rem(count)?)
    }

    fn judgment_id(&self, before: usize, pick: u8) -> Result<String, Report> {
        match self.picked(before, pick, |what| matches!(what, What::Record(_))) {
            Some((
                number,
                Command {
                    what: What::Record(by),
                    ..
                },
            )) => Ok(row_id(number, by.content)),
            _ => Ok("nothing".to_owned()),
        }
    }

    /// The class as it was created, with this tenant.
    pub(crate) fn class(
        &self,
        tenant: &TenantId,
        before: usize,
        pick: u8,
    ) -> Result<JudgeClass, Report> {
        let made = self.picked(before, pick, |what| {
            matches!(what, What::CreateClass { .. })
        });
        let (number, command) = made.unwrap_or((usize::MAX, &NOTHING));
        class(tenant, number, command)
    }

    fn record(
        &self,
        tenant: &TenantId,
        number: usize,
        now: Timestamp,
        by: &RecordBy,
    ) -> Result<Ask, Report> {
        let class = match by.class {
            None => None,
            Some((pick, revision)) => {
                Some((self.class(tenant, number, pick)?.id, u64::from(revision)))
            }
        };
        let content = by.content;
        let judgment = Judgment {
            id: row_id(number, content).parse()?,
            tenant: tenant.clone(),
            project: project(by.run)?,
            run: near("run", by.run).parse()?,
            subject: subject(by.run)?,
            item: Item {
                key: near("item", by.key).parse()?,
                pointer: (content & 1 == 1).then(|| Pointer::root().child("a/b~").child_index(7)),
                rank: Rank::new(u64::from(content & 2)),
            },
            verdict: if content & 4 == 0 {
                Verdict::Yes
            } else {
                Verdict::No
            },
            reason: if content & 8 == 0 {
                None
            } else {
                Some(near("why", content).parse()?)
            },
            correction: correction(content)?,
            class: class.as_ref().map(|(id, _)| id.clone()),
            restricted: class.is_some() && content & 1 == 1,
            asserted_by: AssertedBy {
                kind: if by.author == 1 {
                    PrincipalKind::Service
                } else {
                    PrincipalKind::User
                },
                id: near("ada", by.author.saturating_sub(1)).parse()?,
            },
            participant: participant(by.participant)?,
            created_at: now,
            unregistered_at: None,
            superseded_by: None,
        };
        let item_value = if content & 2 == 0 {
            Some(document(content)?)
        } else {
            None
        };
        let copy = by
            .copy
            .map(|content| copy(by.run, content, now))
            .transpose()?;
        Ok(Ask::Record {
            new: Box::new(NewJudgment {
                judgment,
                item_value,
            }),
            copy: copy.map(Box::new),
            class,
        })
    }

    /// The receipt of what found everything as it was to be.
    fn unchanged(
        &self,
        tenant: &TenantId,
        number: usize,
        now: Timestamp,
        (kind, pick, content): (u8, u8, u8),
    ) -> Result<Receipt, Report> {
        let class = || {
            let mut class = self.class(tenant, number, pick)?;
            dress(&mut class, content)?;
            Ok::<_, Report>(Box::new(class))
        };
        Ok(match kind {
            0 => Receipt::JudgmentRemoved(JudgmentRemoved::Ok),
            1 => Receipt::JudgmentRemoved(JudgmentRemoved::NotLive),
            2 => Receipt::ClassCreated(ClassCreated::Ok(class()?)),
            3 => Receipt::ClassReplaced(ClassReplaced::Ok(class()?)),
            4 => Receipt::RuleStopped(RuleStopped::Ok),
            5 => Receipt::RuleStopped(RuleStopped::NotLive),
            _ => {
                let rule = self.latest(tenant, number, now, (pick, content))?;
                Receipt::RuleAppended(RuleAppended::Ok(Box::new(rule)))
            }
        })
    }

    fn filter(&self, number: usize, by: &FilterBy) -> Result<JudgmentFilter, Report> {
        let mut filter = JudgmentFilter::default();
        if let Some(run) = by.run {
            filter.run = Some(near("run", run).parse()?);
        }
        if let Some((agent, version)) = by.agent {
            filter.agent = Some(near("agent", agent).parse()?);
            filter.agent_version = version.map(|v| near("v", v).parse()).transpose()?;
        }
        if let Some(flow) = by.flow {
            filter.flow = Some(near("flow", flow).parse()?);
        }
        filter.verdict = by
            .verdict
            .map(|yes| if yes { Verdict::Yes } else { Verdict::No });
        if let (Some(pick), [tenant, _]) = (by.class, self.tenants) {
            filter.class = Some(self.class(tenant, number, pick)?.id);
        }
        if let Some(one) = by.participant {
            filter.participant = Some(near("participant", one).parse()?);
        }
        Ok(filter)
    }
}

/// Some at the same moment, some before 1970, and both ends of time.
pub(crate) fn instant(number: u8) -> Timestamp {
    match number {
        6 => Timestamp::UNIX_EPOCH.saturating_add_millis(-1),
        7 => Timestamp::UNIX_EPOCH.saturating_add_millis(i64::MIN),
        8 => Timestamp::UNIX_EPOCH.saturating_add_millis(i64::MAX),
        255 => at(86_400_000),
        number => at(i64::from(number)),
    }
}

/// Ids whose order isn't that of their numbers, nor a dictionary's.
pub(crate) fn row_id(number: usize, content: u8) -> String {
    let head = ["a", "B", "b", "\u{e9}", "Z", "\u{1d11e}", "\u{ff5a}", "-"];
    let head = head
        .get(usize::from(content & 7))
        .copied()
        .unwrap_or_default();
    format!("{head}{number}")
}

pub(crate) fn project(run: u8) -> Result<ProjectId, Report> {
    Ok(near("project", run % 3).parse()?)
}

pub(crate) fn subject(run: u8) -> Result<Subject, Report> {
    let version = near("v", run % 2).parse()?;
    Ok(match run {
        1 | 4 => Subject::Flow {
            id: near("flow", run).parse()?,
            version,
        },
        _ => Subject::Agent {
            id: near("agent", run).parse()?,
            version,
        },
    })
}

fn participant(number: u8) -> Result<Option<crate::model::ParticipantId>, Report> {
    let number = number.checked_sub(1);
    Ok(number
        .map(|number| near("participant", number).parse())
        .transpose()?)
}

fn document(number: u8) -> Result<RawJson, Report> {
    let number = usize::from(number) % DOCUMENTS.len();
    Ok(RawJson::parse(
        DOCUMENTS.get(number).copied().unwrap_or("null"),
    )?)
}

fn correction(content: u8) -> Result<Option<Correction>, Report> {
    if content & 16 == 0 {
        return Ok(None);
    }
    let args = Args::new(RawJson::parse("{\"n\" : 1.0,\"m\":\"\\u0041\"}")?)?;
    let call = CorrectedCall {
        tool: near_of("tool", content, 200).parse()?,
        args,
    };
    Ok(Some(Correction::new(
        vec![call.clone(), call],
        vec!["other".parse()?],
    )?))
}

fn copy(run: u8, content: u8, now: Timestamp) -> Result<RunCopy, Report> {
    let context = match content & 9 {
        9 => r#"{"replayOf":"another"}"#,
        _ => r#"{"retrieved":{"n":1.0,"n":[1e999]}}"#,
    };
    let context = RunContext::parse(&RawJson::parse(context)?);
    let context = context.map_err(|e| Report::new(e.to_string()))?;
    let segment = segment(content)?;
    Ok(RunCopy {
        run: near("run", run).parse()?,
        subject: subject(run)?,
        input: document(content)?,
        output: document(content.wrapping_add(5))?,
        context: (content & 1 == 1).then_some(context),
        segments: match content & 6 {
            0 => None,
            2 => Some(Vec::new()),
            _ => Some(vec![segment.clone(), segment]),
        },
        captured_at: now,
    })
}

pub(crate) fn segment(number: u8) -> Result<Segment, Report> {
    Ok(Segment::new("company", &near("acme", number))?)
}

fn scope(number: u8) -> Result<ClassScope, Report> {
    Ok(match number {
        0 => ClassScope::Tenant,
        1 | 3 => ClassScope::Project(project(number)?),
        number => ClassScope::Agent(project(number)?, near("agent", number).parse()?),
    })
}

fn class(tenant: &TenantId, number: usize, command: &Command) -> Result<JudgeClass, Report> {
    let What::CreateClass {
        scope: number_of_scope,
        name,
        content,
    } = &command.what
    else {
        return Err(Report::new("not a class"));
    };
    let now = instant(command.at);
    let mut class = JudgeClass {
        id: row_id(number, *content).parse()?,
        tenant: tenant.clone(),
        scope: scope(*number_of_scope)?,
        name: near_of("expert", *name, 100).parse()?,
        weight: weight(0.0)?,
        description: None,
        assertable_by: None,
        created_at: now,
        updated_at: now,
        unregistered_at: None,
    };
    dress(&mut class, *content)?;
    Ok(class)
}

/// Sets what a class may change.
fn dress(class: &mut JudgeClass, content: u8) -> Result<(), Report> {
    let weights = [0.0, 1.0, 0.1, 5e-324, f64::MAX, 1.0 / 3.0, 2.5, 1e23];
    class.weight = weight(
        weights
            .get(usize::from(content & 7))
            .copied()
            .unwrap_or(1.0),
    )?;
    class.description = match content & 3 {
        0 => None,
        1 => Some("".parse()?),
        _ => Some(near("what for", content).parse()?),
    };
    class.assertable_by = match content >> 3 {
        0 => None,
        1 => Some(AssertableBy::new(
            Some(ReviewerRole::Senior),
            Vec::new(),
            Vec::new(),
        )?),
        2 => Some(AssertableBy::new(
            None,
            vec![PrincipalKind::Service],
            Vec::new(),
        )?),
        _ => {
            let kinds = vec![PrincipalKind::Service, PrincipalKind::User];
            let ids = vec![near("z", 3).parse()?, near("a", content).parse()?];
            Some(AssertableBy::new(Some(ReviewerRole::Admin), kinds, ids)?)
        }
    };
    Ok(())
}

fn weight(weight: f64) -> Result<Weight, Report> {
    Weight::new(weight).ok_or_else(|| Report::new("not a weight"))
}

fn readable(list: &ListBy) -> Result<Readable, Report> {
    let Some(bits) = list.readable else {
        return Ok(Readable::All);
    };
    let among = (0..3_u8).filter(|bit| bits >> bit & 1 == 1);
    Ok(Readable::Only(
        among.map(project).collect::<Result<_, _>>()?,
    ))
}

pub(crate) fn keyset(
    list: &ListBy,
    id: impl Fn(u8) -> Result<String, Report>,
) -> Result<Keyset, Report> {
    let after = match list.after {
        None => None,
        Some((at, pick)) => Some(position(instant(at), &id(pick)?)),
    };
    let limit = PageSize::new(u16::from(list.limit)).unwrap_or_default();
    Ok(Keyset { after, limit })
}
