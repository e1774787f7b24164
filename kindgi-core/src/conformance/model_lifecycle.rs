//! The reference for the end of data, and for what is built from it before.

use super::model::{Model, slice};
use crate::{
    Timestamp,
    json::RawJson,
    model::{Judgment, ParticipantId, Position, RunContext, RunCopy, RunId, Subject, TenantId},
    store::{
        ItemMoved, JudgedRun, JudgedRunFilter, Keyset, PurgePart, PurgePosition, Purged, Receipt,
        Recorded, Slice,
    },
};

impl Model {
    pub(super) fn erase(&mut self, tenant: &TenantId, run: &RunId) {
        self.erased.push((tenant.clone(), run.clone()));
        for (.., copy) in self
            .copies
            .iter_mut()
            .filter(|(of, _, copy)| of == tenant && copy.run == *run)
        {
            copy.input = RawJson::null();
            copy.output = RawJson::null();
            copy.context = None;
            copy.segments = None;
        }
        let clear = |judgment: &mut Judgment| {
            let this = judgment.tenant == *tenant && judgment.run == *run;
            if this {
                judgment.reason = None;
                judgment.correction = None;
            }
            this
        };
        for new in &mut self.judgments {
            if clear(&mut new.judgment) {
                new.item_value = None;
            }
        }
        for kept in &mut self.operations {
            match &mut kept.receipt {
                Receipt::Recorded(Recorded::Ok { judgment, .. }) => {
                    clear(judgment);
                }
                Receipt::Dismissed(ItemMoved::Ok(item))
                    if kept.tenant == *tenant && item.run == *run =>
                {
                    item.reason = None;
                }
                _ => {}
            }
        }
    }

    pub(super) fn erase_participant(
        &mut self,
        tenant: &TenantId,
        participant: &ParticipantId,
        pseudonym: &ParticipantId,
    ) -> u64 {
        let mut changed = 0;
        let forget = |judgment: &mut Judgment| {
            let theirs =
                judgment.tenant == *tenant && judgment.participant.as_ref() == Some(participant);
            if theirs {
                judgment.participant = Some(pseudonym.clone());
                judgment.reason = None;
                judgment.correction = None;
            }
            u64::from(theirs)
        };
        for new in &mut self.judgments {
            changed += forget(&mut new.judgment);
        }
        for kept in &mut self.operations {
            if let Receipt::Recorded(Recorded::Ok { judgment, .. }) = &mut kept.receipt {
                forget(judgment);
            }
        }
        changed
    }

    pub(super) fn purge(
        &mut self,
        tenant: &TenantId,
        before: Timestamp,
        from: Option<&PurgePosition>,
        limit: usize,
    ) -> Purged {
        let part = from.map_or(PurgePart::Tellings, |from| from.part);
        let rows: Vec<(Timestamp, String)> = match part {
            PurgePart::Judgments => {
                let its = self.judgments.iter().map(|new| &new.judgment);
                let its = its.filter(|it| it.tenant == *tenant);
                its.map(|it| (it.created_at, it.id.to_string())).collect()
            }
            PurgePart::Tellings => {
                let its = self.told.iter().filter(|it| it.tenant == *tenant);
                let age = |it: &super::model_queue::Told| it.at.max(it.run.ended_at);
                its.map(|it| (age(it), it.run.id.to_string())).collect()
            }
            PurgePart::Classes => {
                let its = self.classes.iter().map(|class| &class.value);
                let its = its.filter(|it| it.tenant == *tenant);
                let retired = its.filter_map(|it| Some((it.unregistered_at?, it.id.to_string())));
                retired.collect()
            }
        };
        let after = from.and_then(|from| from.after.as_ref());
        let after = after.map(|after| (after.at, after.id.to_string()));
        let mut rows: Vec<_> = rows
            .into_iter()
            .filter(|row| row.0 < before && after.as_ref().is_none_or(|after| row > after))
            .collect();
        rows.sort();
        rows.truncate(limit);
        let next = if rows.len() == limit {
            let after = rows.last().map(|(at, id)| Position {
                at: *at,
                id: id.as_str().into(),
            });
            Some(PurgePosition { part, after })
        } else {
            let part = match part {
                PurgePart::Tellings => Some(PurgePart::Judgments),
                PurgePart::Judgments => Some(PurgePart::Classes),
                PurgePart::Classes => None,
            };
            part.map(|part| PurgePosition { part, after: None })
        };
        let removed = rows
            .iter()
            .filter(|row| self.drop_row(tenant, part, &row.1));
        let removed = removed.count() as u64;
        self.purged.push((tenant.clone(), before, next.clone()));
        Purged { removed, next }
    }

    /// Removes a row; not a class that something names.
    fn drop_row(&mut self, tenant: &TenantId, part: PurgePart, id: &str) -> bool {
        match part {
            PurgePart::Judgments => {
                let this = |of: &Judgment| of.tenant == *tenant && of.id.as_str() == id;
                self.judgments.retain(|new| !this(&new.judgment));
                let judgments = &self.judgments;
                let judged = |run: &RunId| {
                    let mut all = judgments.iter().map(|new| &new.judgment);
                    all.any(|it| it.tenant == *tenant && it.run == *run)
                };
                let erased = |run: &RunId| self.erased.contains(&(tenant.clone(), run.clone()));
                self.copies
                    .retain(|(of, _, copy)| of != tenant || judged(&copy.run) || erased(&copy.run));
            }
            PurgePart::Tellings => {
                self.told
                    .retain(|it| it.tenant != *tenant || it.run.id.as_str() != id);
            }
            PurgePart::Classes => {
                let named = self.judgments.iter().any(|new| {
                    let class = new.judgment.class.as_ref();
                    new.judgment.tenant == *tenant && class.is_some_and(|it| it.as_str() == id)
                });
                let this =
                    |it: &crate::model::JudgeClass| it.tenant == *tenant && it.id.as_str() == id;
                let mut classes = self.classes.iter();
                let found = classes.find(|class| this(&class.value));
                let ruled = found.is_some_and(|it| self.rules.name(tenant, None, &it.value.id));
                if named || ruled {
                    return false;
                }
                self.classes.retain(|class| !this(&class.value));
            }
        }
        true
    }

    pub(super) fn judged_runs(
        &self,
        tenant: &TenantId,
        filter: &JudgedRunFilter,
        keyset: &Keyset,
    ) -> Slice<JudgedRun> {
        let mut runs = Vec::new();
        for (of, project, copy) in &self.copies {
            let context = copy.context.as_ref();
            let replays = context.is_some_and(RunContext::is_of_replay);
            if of != tenant || replays || self.is_erased(tenant, &copy.run) {
                continue;
            }
            let live = self.live_of(tenant, &copy.run);
            let mut judgments: Vec<Judgment> = live.into_iter().cloned().collect();
            judgments.sort_by_key(|it| std::cmp::Reverse((it.created_at, it.id.to_string())));
            let of_project = filter.project.as_ref().is_none_or(|it| it == project);
            if !judgments.is_empty() && of_project && is_wanted(filter, copy) {
                runs.push(JudgedRun {
                    project: project.clone(),
                    copy: copy.clone(),
                    judgments,
                });
            }
        }
        let place = |run: &JudgedRun| (run.copy.captured_at, run.copy.run.to_string());
        slice(runs, keyset, place)
    }
}

fn is_wanted(filter: &JudgedRunFilter, copy: &RunCopy) -> bool {
    let (agent, version, flow) = match &copy.subject {
        Subject::Agent { id, version } => (Some(id), Some(version), None),
        Subject::Flow { id, .. } => (None, None, Some(id)),
    };
    let path = copy.segments.clone().unwrap_or_default();
    let begins = filter.segments.len() <= path.len()
        && filter
            .segments
            .iter()
            .zip(&path)
            .all(|(want, is)| want == is);
    filter.agent.as_ref().is_none_or(|it| agent == Some(it))
        && filter
            .agent_version
            .as_ref()
            .is_none_or(|it| version == Some(it))
        && filter.flow.as_ref().is_none_or(|it| flow == Some(it))
        && filter.since.is_none_or(|at| at <= copy.captured_at)
        && filter.until.is_none_or(|at| copy.captured_at < at)
        && begins
}
