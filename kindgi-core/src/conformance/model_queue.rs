//! The reference for the judging queue. It keeps what happened, and says from that where an item
//! is; only when an item was closed is kept as of then.

use std::{cmp::Reverse, collections::BTreeMap};

use super::{model::Model, model_rules::first_of};
use crate::{
    Timestamp,
    model::{
        ClassProgress, DismissReason, EndedRun, ItemState, JudgeClassId, Judgment, PrincipalRef,
        ProjectId, QueueItem, RuleId, RunId, Subject, TakenBy, TenantId, Verdict, Version, Weight,
    },
    rules::results::{ClassCount, Counted},
    store::{Candidate, ItemMoved, Keyset, QueueFilter, QueueSlice, RuleResults, Slice, Taken},
};

/// A run that was told, and what was done to its item since.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Told {
    pub(super) tenant: TenantId,
    pub(super) run: EndedRun,
    pub(super) at: Timestamp,
    took: Vec<Candidate>,
    skipped: Vec<Candidate>,
    is_dismissed: bool,
    moved_by: Option<PrincipalRef>,
    reason: Option<DismissReason>,
    /// Where its item was after the last write, if it has one, and since when it was closed.
    was: Option<(ItemState, Option<Timestamp>)>,
}

impl Model {
    /// The live judgments of a run.
    pub(super) fn live_of(&self, tenant: &TenantId, run: &RunId) -> Vec<&Judgment> {
        let all = self.judgments.iter().map(|new| &new.judgment);
        let its = all.filter(|it| it.tenant == *tenant && it.run == *run);
        its.filter(|it| it.unregistered_at.is_none()).collect()
    }

    /// Says anew where each of a tenant's items is, after something was written.
    pub(super) fn settle(&mut self, tenant: &TenantId, now: Timestamp) {
        let is = |it: &Told| {
            let its = it.tenant == *tenant && !it.took.is_empty();
            its.then(|| self.place_of(it, now)).or(it.was)
        };
        let are: Vec<_> = self.told.iter().map(is).collect();
        for (it, is) in self.told.iter_mut().zip(are) {
            it.was = is;
        }
    }

    /// Where an item is, and since when it is closed: from the facts, and from where it was.
    fn place_of(&self, it: &Told, now: Timestamp) -> (ItemState, Option<Timestamp>) {
        let live = self.live_of(&it.tenant, &it.run.id);
        let first = |wants: &Option<JudgeClassId>| {
            let meets = live
                .iter()
                .filter(|one| wants.is_none() || one.class == *wants);
            meets.map(|one| one.created_at).min()
        };
        let judged: Option<Vec<_>> = it.took.iter().map(|by| first(&by.wants)).collect();
        let judged_at = judged.and_then(|all| all.into_iter().max());
        let state = if self.is_erased(&it.tenant, &it.run.id) {
            ItemState::Erased
        } else if it.is_dismissed {
            ItemState::Dismissed
        } else if judged_at.is_some() {
            ItemState::Judged
        } else {
            ItemState::Open
        };
        let closed_at = match (it.was, state) {
            (_, ItemState::Open) => None,
            (Some((was, closed_at)), _) if was == state => closed_at,
            (Some((_, Some(closed_at))), ItemState::Erased) => Some(closed_at),
            (_, ItemState::Judged) => judged_at,
            (_, ItemState::Dismissed | ItemState::Erased) => Some(now.max(it.at)),
        };
        (state, closed_at)
    }

    fn item(&self, it: &Told) -> Option<QueueItem> {
        let (state, closed_at) = it.was?;
        let run = &it.run;
        let (agent, flow) = match &run.subject {
            Subject::Agent { id, version } => (Some((id.clone(), version.clone())), None),
            Subject::Flow { id, .. } => (None, Some(id.clone())),
        };
        let flow = flow.or_else(|| run.flow.clone());
        let taken_by = it.took.iter().map(|by| TakenBy {
            rule: by.rule.clone(),
            version: by.version,
            wants: by.wants.clone(),
        });
        let mut taken_by: Vec<TakenBy> = taken_by.collect();
        taken_by.sort_by_key(|by| by.rule.to_string());
        let mut item = QueueItem {
            run: run.id.clone(),
            project: run.project.clone(),
            agent,
            flow: flow.or_else(|| "agent.turn".parse().ok())?,
            completed_at: run.ended_at,
            added_at: it.at,
            taken_by,
            progress: Vec::new(),
            state,
            closed_at,
            closed_by: it.moved_by.clone(),
            reason: it.reason.clone(),
        };
        if state == ItemState::Erased {
            item.agent = None;
            item.reason = None;
            return Some(item);
        }
        let mut counts: BTreeMap<Option<String>, ClassProgress> = BTreeMap::new();
        for judgment in self.live_of(&it.tenant, &run.id) {
            let class = judgment.class.clone();
            let key = class.as_ref().map(ToString::to_string);
            let judgments = 0;
            let count = counts.entry(key);
            let count = count.or_insert(ClassProgress { class, judgments });
            count.judgments += 1;
        }
        item.progress = counts.into_values().collect();
        Some(item)
    }

    pub(super) fn take(
        &mut self,
        tenant: &TenantId,
        run: &EndedRun,
        rules: u64,
        candidates: &[Candidate],
        now: Timestamp,
    ) -> Taken {
        if self.is_erased(tenant, &run.id) {
            return Taken::RunErased;
        }
        let mut told = self.told.iter();
        if told.any(|it| it.tenant == *tenant && it.run.id == run.id) {
            return Taken::Known;
        }
        let mut purged = self.purged.iter();
        if purged.any(|(of, before, _)| of == tenant && run.ended_at < *before) {
            return Taken::BeforePurge;
        }
        if self.rules.revision(tenant, &run.project) != rules {
            return Taken::RulesChanged;
        }
        let has_room = |candidate: &Candidate| {
            let open = self.told.iter().filter(|it| {
                it.tenant == *tenant
                    && it.was.is_some_and(|(state, _)| state == ItemState::Open)
                    && it.took.iter().any(|by| by.rule == candidate.rule)
            });
            let open = open.count();
            candidate
                .max_open
                .is_none_or(|max| open < max.get() as usize)
        };
        let (took, skipped) = candidates.iter().cloned().partition(has_room);
        let it = Told {
            tenant: tenant.clone(),
            run: run.clone(),
            at: now,
            took,
            skipped,
            is_dismissed: false,
            moved_by: None,
            reason: None,
            was: None,
        };
        self.told.push(it);
        self.settle(tenant, now);
        let item = self.item_of(tenant, &run.project, &run.id);
        item.map_or(Taken::AllSkipped, |item| Taken::Queued(Box::new(item)))
    }

    pub(super) fn dismiss(
        &mut self,
        tenant: &TenantId,
        project: &ProjectId,
        run: &RunId,
        by: &PrincipalRef,
        reason: Option<&DismissReason>,
        now: Timestamp,
    ) -> ItemMoved {
        self.move_item(tenant, project, run, now, ItemState::Open, |it| {
            it.is_dismissed = true;
            it.moved_by = Some(by.clone());
            it.reason = reason.cloned();
        })
    }

    pub(super) fn reopen(
        &mut self,
        tenant: &TenantId,
        project: &ProjectId,
        run: &RunId,
        by: &PrincipalRef,
        now: Timestamp,
    ) -> ItemMoved {
        self.move_item(tenant, project, run, now, ItemState::Dismissed, |it| {
            it.is_dismissed = false;
            it.moved_by = Some(by.clone());
            it.reason = None;
        })
    }

    fn move_item(
        &mut self,
        tenant: &TenantId,
        project: &ProjectId,
        run: &RunId,
        now: Timestamp,
        from: ItemState,
        happen: impl FnOnce(&mut Told),
    ) -> ItemMoved {
        let this = |it: &&mut Told| {
            it.tenant == *tenant && it.run.project == *project && it.run.id == *run
        };
        let Some(it) = self.told.iter_mut().find(this) else {
            return ItemMoved::Missing;
        };
        match it.was {
            None => return ItemMoved::Missing,
            Some((state, _)) if state != from => return ItemMoved::Not(state),
            Some(_) => happen(it),
        }
        self.settle(tenant, now);
        let item = self.item_of(tenant, project, run);
        item.map_or(ItemMoved::Missing, |item| ItemMoved::Ok(Box::new(item)))
    }

    pub(super) fn item_of(
        &self,
        tenant: &TenantId,
        project: &ProjectId,
        run: &RunId,
    ) -> Option<QueueItem> {
        let this =
            |it: &&Told| it.tenant == *tenant && it.run.project == *project && it.run.id == *run;
        self.item(self.told.iter().find(this)?)
    }

    pub(super) fn queue(
        &self,
        tenant: &TenantId,
        project: &ProjectId,
        filter: &QueueFilter,
        keyset: Option<&Keyset>,
    ) -> QueueSlice {
        let its = self.told.iter().filter(|it| it.tenant == *tenant);
        let items = its.filter_map(|it| self.item(it));
        let here = items.filter(|item| item.project == *project);
        let mut rows: Vec<QueueItem> = here.filter(|item| is_wanted(filter, item)).collect();
        let total = rows.len() as u64;
        let place = |row: &QueueItem| (row.added_at, row.run.to_string());
        rows.sort_by_key(place);
        let slice = match keyset {
            None => Slice {
                rows: Vec::new(),
                more: false,
            },
            Some(Keyset { after, limit }) => {
                if let Some(after) = after {
                    rows.retain(|row| place(row) > (after.at, after.id.to_string()));
                }
                first_of(rows, *limit)
            }
        };
        QueueSlice { slice, total }
    }

    pub(super) fn results(
        &self,
        tenant: &TenantId,
        project: &ProjectId,
        rule: &RuleId,
        since: Option<Timestamp>,
    ) -> Option<RuleResults> {
        self.rules.latest(tenant, project, rule)?;
        let mut groups: BTreeMap<(Reverse<u32>, bool, Option<String>), Counted> = BTreeMap::new();
        let mut weights: BTreeMap<JudgeClassId, Weight> = BTreeMap::new();
        let counts = |it: &&Told| it.tenant == *tenant && since.is_none_or(|since| it.at >= since);
        for it in self.told.iter().filter(counts) {
            let by = |all: &[Candidate]| all.iter().find(|by| by.rule == *rule).cloned();
            let (took, skipped) = (by(&it.took), by(&it.skipped));
            let Some(version) = took.as_ref().or(skipped.as_ref()).map(|by| by.version) else {
                continue;
            };
            let agent = match &it.run.subject {
                Subject::Agent { version, .. } if !self.is_erased(tenant, &it.run.id) => {
                    Some(version.clone())
                }
                _ => None,
            };
            let name = agent.as_ref().map(Version::to_string);
            let group = groups.entry((Reverse(version), name.is_none(), name));
            let group = group.or_insert(Counted {
                rule_version: version,
                agent_version: agent,
                states: [0; 4],
                skipped_by_cap: 0,
                runs_with_judgments: 0,
                by_class: Vec::new(),
            });
            if took.is_none() {
                group.skipped_by_cap += 1;
                continue;
            }
            let [open, judged, dismissed, erased] = &mut group.states;
            match it.was.map(|(state, _)| state) {
                Some(ItemState::Judged) => *judged += 1,
                Some(ItemState::Dismissed) => *dismissed += 1,
                Some(ItemState::Erased) => *erased += 1,
                Some(ItemState::Open) | None => *open += 1,
            }
            let live = self.live_of(tenant, &it.run.id);
            group.runs_with_judgments += u64::from(!live.is_empty());
            for judgment in live {
                add(&mut group.by_class, judgment);
                let mut classes = self.classes.iter().map(|class| &class.value);
                let class = judgment.class.as_ref().and_then(|id| {
                    classes.find(|class| class.tenant == *tenant && class.id == *id)
                });
                if let Some(class) = class {
                    weights.insert(class.id.clone(), class.weight);
                }
            }
        }
        let counted = groups.into_values().collect();
        Some(RuleResults { counted, weights })
    }
}

fn add(counts: &mut Vec<ClassCount>, judgment: &Judgment) {
    let yes = u64::from(judgment.verdict == Verdict::Yes);
    match counts
        .iter_mut()
        .find(|count| count.class == judgment.class)
    {
        Some(count) => {
            count.judgments += 1;
            count.yes += yes;
        }
        None => counts.push(ClassCount {
            class: judgment.class.clone(),
            judgments: 1,
            yes,
        }),
    }
    counts.sort_by_key(|count| count.class.as_ref().map(ToString::to_string));
}

/// Whether an item matches: not what a backend may use, so that both can be wrong.
pub(super) fn is_wanted(filter: &QueueFilter, item: &QueueItem) -> bool {
    let QueueFilter {
        state,
        agent,
        rule,
        wants,
        wants_any_or,
        added_after,
        closed_after,
    } = filter;
    let any = |of: &dyn Fn(&TakenBy) -> bool| item.taken_by.iter().any(of);
    let mut fits = state.is_none_or(|state| state == item.state);
    if let Some(agent) = agent {
        fits &= matches!(&item.agent, Some((id, _)) if id == agent);
    }
    if let Some(rule) = rule {
        fits &= any(&|by| by.rule == *rule);
    }
    if wants.is_some() {
        fits &= any(&|by| by.wants == *wants);
    }
    if let Some(classes) = wants_any_or {
        fits &= any(&|by| match &by.wants {
            None => true,
            Some(class) => classes.iter().any(|one| one == class),
        });
    }
    fits && added_after.is_none_or(|at| at <= item.added_at)
        && closed_after.is_none_or(|at| item.closed_at.is_some_and(|closed| at <= closed))
}
