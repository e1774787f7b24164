//! All that the store holds, out of it and into it.

use std::{collections::HashMap, num::NonZeroU16};

use async_trait::async_trait;

use super::{
    MemoryStore, Tenant,
    judge_classes::{self, name_of},
    judging_queue::Telling,
    judging_rules,
    judgments::{self, KeptRun, live_key},
};
use crate::{
    error::StoreError,
    json::RawJson,
    model::{ProjectId, RunId, TenantId},
    store::{
        Archive, ExportPosition, Exported, Imported, NewJudgment, Operation, OperationId, Record,
        StoreResult,
        archive::{
            ArchivePart, CopyRecord, OperationRecord, Present, PurgeRecord, RecordId, RulesRecord,
            RunRecord, TellingRecord, Unique, additions, hex, unhex,
        },
    },
};

type Tenants = HashMap<TenantId, Tenant>;

/// Each page of an export looks at the ids of all records of its part, and sorts them: where other
/// stores read a bounded part, this one takes longer the more it holds.
#[async_trait]
impl Archive for MemoryStore {
    async fn export(
        &self,
        from: Option<&ExportPosition>,
        limit: NonZeroU16,
    ) -> StoreResult<Exported> {
        let part = from.map_or(ArchivePart::Classes, ExportPosition::part);
        let after = from.and_then(ExportPosition::after);
        let records = page(&self.lock(), part, after, limit.get().into())?;
        Ok(Exported::page(part, records, limit))
    }

    async fn import(&self, records: &[Record]) -> StoreResult<Imported> {
        let mut tenants = self.lock();
        let new = match additions(records, &Held(&tenants)) {
            Ok(new) => new,
            Err(refused) => return Ok(Imported::Refused(refused)),
        };
        let added = new.len() as u64;
        for record in new {
            let tenant = tenants.entry(record.tenant().clone()).or_default();
            tenant.put(record);
        }
        Ok(Imported::Ok { added })
    }
}

/// The records after one, so many at most.
fn page(
    tenants: &Tenants,
    part: ArchivePart,
    after: Option<&RecordId>,
    limit: usize,
) -> StoreResult<Vec<Record>> {
    let mut later: Vec<_> = tenants.iter().collect();
    later.retain(|(name, _)| after.is_none_or(|after| **name >= after.tenant));
    later.sort_by_key(|(name, _)| *name);
    let mut records = Vec::new();
    for (name, tenant) in later {
        let mut ids = tenant.ids(name, part);
        ids.retain(|id| after.is_none_or(|after| id > after));
        ids.sort();
        for id in ids.into_iter().take(limit - records.len()) {
            let lost = || StoreError::other(format!("{id} can't be told"));
            records.push(tenant.archived(&id).ok_or_else(lost)?);
        }
    }
    Ok(records)
}

/// What is there before an import.
struct Held<'a>(&'a Tenants);

impl Present for Held<'_> {
    fn record(&self, id: &RecordId) -> Option<Record> {
        self.0.get(&id.tenant)?.archived(id)
    }

    fn has_copy(&self, tenant: &TenantId, run: &RunId) -> bool {
        let tenant = self.0.get(tenant);
        tenant.is_some_and(|tenant| tenant.judgments.runs.contains_key(run))
    }

    fn is_erased(&self, tenant: &TenantId, run: &RunId) -> bool {
        let tenant = self.0.get(tenant);
        tenant.is_some_and(|tenant| tenant.erased.contains(run))
    }

    fn is_taken(&self, unique: &Unique) -> bool {
        match unique {
            Unique::LiveKey(tenant, run, key, by, participant) => {
                let tenant = self.0.get(tenant);
                let run = tenant.and_then(|tenant| tenant.judgments.runs.get(run));
                let key = (key.clone(), by.clone(), participant.clone());
                run.is_some_and(|run| run.by_key.contains_key(&key))
            }
            Unique::LiveName(tenant, scope, name) => {
                let name = (scope.clone(), name.clone());
                let tenant = self.0.get(tenant);
                tenant.is_some_and(|tenant| tenant.classes.names.contains(&name))
            }
        }
    }
}

impl Tenant {
    /// The ids of all records of a part.
    fn ids(&self, name: &TenantId, part: ArchivePart) -> Vec<RecordId> {
        let of = |id: &str, version| RecordId {
            part,
            tenant: name.clone(),
            id: id.into(),
            version,
        };
        match part {
            ArchivePart::Classes => {
                let ids = self.classes.rows.keys();
                ids.map(|id| of(id.as_str(), 0)).collect()
            }
            ArchivePart::RuleVersions => {
                let versions = self.rules.versions.values().flatten();
                versions
                    .map(|rule| of(rule.id.as_str(), rule.version))
                    .collect()
            }
            ArchivePart::Rules => {
                let projects = self.rules.revisions.keys();
                projects.map(|project| of(project.as_str(), 0)).collect()
            }
            ArchivePart::Runs => {
                let erased = self.erased.iter();
                let copied = self.judgments.runs.keys();
                let copied = copied.filter(|run| !self.erased.contains(*run));
                erased
                    .chain(copied)
                    .map(|run| of(run.as_str(), 0))
                    .collect()
            }
            ArchivePart::Judgments => {
                let ids = self.judgments.rows.keys();
                ids.map(|id| of(id.as_str(), 0)).collect()
            }
            ArchivePart::Tellings => {
                let told = self.queue.told.keys();
                told.map(|run| of(run.as_str(), 0)).collect()
            }
            ArchivePart::Purges => {
                let purged = self.queue.purged_before.iter();
                purged.map(|_| of("", 0)).collect()
            }
            ArchivePart::Operations => {
                let ids = self.operations.kept.keys();
                ids.map(|id| of(&hex(&id.0), 0)).collect()
            }
        }
    }

    fn archived(&self, record: &RecordId) -> Option<Record> {
        let tenant = record.tenant.clone();
        let id = &*record.id;
        Some(match record.part {
            ArchivePart::Classes => {
                let class = self.classes.rows.get(&id.parse().ok()?)?;
                Record::Class(Box::new(class.clone()))
            }
            ArchivePart::RuleVersions => {
                let mut versions = self.rules.versions.get(&id.parse().ok()?)?.iter();
                let version = versions.find(|rule| rule.version == record.version)?;
                Record::RuleVersion(Box::new(version.clone()))
            }
            ArchivePart::Rules => {
                let project = id.parse().ok()?;
                let revision = *self.rules.revisions.get(&project)?;
                Record::Rules(RulesRecord {
                    tenant,
                    project,
                    revision,
                })
            }
            ArchivePart::Runs => Record::Run(Box::new(self.run(tenant, id.parse().ok()?)?)),
            ArchivePart::Judgments => {
                let judgment = self.judgments.rows.get(&id.parse().ok()?)?;
                Record::Judgment(Box::new(judgment.clone()))
            }
            ArchivePart::Tellings => {
                Record::Telling(Box::new(self.telling(tenant, id.parse().ok()?)?))
            }
            ArchivePart::Purges => {
                let before = self.queue.purged_before?;
                Record::Purge(PurgeRecord { tenant, before })
            }
            ArchivePart::Operations => {
                let id = OperationId(unhex(id)?);
                let kept = self.operations.kept.get(&id)?;
                Record::Operation(Box::new(OperationRecord {
                    tenant,
                    id,
                    body: kept.body,
                    keep_until: kept.keep_until,
                    receipt: kept.receipt.clone(),
                }))
            }
        })
    }

    fn run(&self, tenant: TenantId, run: RunId) -> Option<RunRecord> {
        let erased = self.erased.contains(&run);
        let kept = self.judgments.runs.get(&run);
        let copy = kept.map(|kept| CopyRecord {
            project: kept.project.clone(),
            copy: kept.copy.clone(),
        });
        (erased || copy.is_some()).then_some(RunRecord {
            tenant,
            run,
            erased,
            copy,
        })
    }

    fn telling(&self, tenant: TenantId, run: RunId) -> Option<TellingRecord> {
        let telling = self.queue.told.get(&run)?;
        let item = self.queue.items.get(&run).cloned();
        let mut skipped = telling.skipped.clone();
        skipped.sort();
        let project = match &item {
            Some(item) => item.project.clone(),
            None => self.project_of(telling)?,
        };
        Some(TellingRecord {
            tenant,
            run,
            project,
            told_at: telling.at,
            age: telling.at.max(telling.ended_at),
            agent_version: telling.agent_version.clone(),
            skipped,
            item,
        })
    }

    /// The project of the rules that skipped a run, which is the run's.
    fn project_of(&self, telling: &Telling) -> Option<ProjectId> {
        let (rule, _) = telling.skipped.first()?;
        let first = self.rules.versions.get(rule)?.first()?;
        Some(first.project.clone())
    }

    /// Puts in what isn't there.
    fn put(&mut self, record: &Record) {
        match record {
            Record::Class(class) => {
                let value = &class.value;
                if value.is_live() {
                    let place = judge_classes::place_of(value);
                    self.classes.live.insert(place, value.id.clone());
                    self.classes.names.insert(name_of(value));
                }
                let class = class.as_ref().clone();
                self.classes.rows.insert(class.value.id.clone(), class);
            }
            Record::RuleVersion(rule) => {
                if rule.version == 1 && rule.unregistered_at.is_none() {
                    let live = self.rules.live.entry(rule.project.clone()).or_default();
                    live.insert(judging_rules::place_of(rule), rule.id.clone());
                }
                let versions = self.rules.versions.entry(rule.id.clone()).or_default();
                versions.push(rule.as_ref().clone());
            }
            Record::Rules(rules) => {
                let revisions = &mut self.rules.revisions;
                revisions.insert(rules.project.clone(), rules.revision);
            }
            Record::Run(run) => {
                if run.erased {
                    self.erased.insert(run.run.clone());
                }
                if let Some(kept) = &run.copy {
                    let kept = KeptRun::of(&kept.project, &kept.copy);
                    self.judgments.runs.insert(run.run.clone(), kept);
                }
            }
            Record::Judgment(new) => self.put_judgment(new),
            Record::Telling(telling) => self.put_telling(telling),
            Record::Purge(purge) => self.queue.purged_before = Some(purge.before),
            Record::Operation(operation) => {
                let of = Operation {
                    id: &operation.id,
                    body: &operation.body,
                    keep_until: operation.keep_until,
                };
                self.operations.keep_receipt(of, operation.receipt.clone());
            }
        }
    }

    fn put_judgment(&mut self, new: &NewJudgment) {
        let judgment = &new.judgment;
        let (id, place) = (&judgment.id, judgments::place_of(judgment));
        if let Some(run) = self.judgments.runs.get_mut(&judgment.run) {
            run.judgments.push(id.clone());
            if judgment.is_live() {
                run.live.insert(place.clone(), id.clone());
                run.by_key.insert(live_key(judgment), id.clone());
            }
        }
        if judgment.is_live() {
            self.judgments.live.insert(place, id.clone());
        }
        let new = NewJudgment {
            judgment: judgment.clone(),
            item_value: new.item_value.as_ref().map(RawJson::detached),
        };
        self.judgments.rows.insert(id.clone(), new);
    }

    fn put_telling(&mut self, record: &TellingRecord) {
        let telling = Telling {
            at: record.told_at,
            // All that is asked of it is the later of both.
            ended_at: record.age,
            agent_version: record.agent_version.clone(),
            skipped: record.skipped.clone(),
        };
        self.queue.told.insert(record.run.clone(), telling);
        if let Some(item) = &record.item {
            self.queue.put(item.clone());
        }
    }
}
