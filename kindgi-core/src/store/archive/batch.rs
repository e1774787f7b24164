//! What a batch adds, or why it can't.

use std::{
    collections::{HashMap, HashSet},
    fmt,
};

use super::{
    position::{ArchivePart, RecordId},
    record::{Record, RunRecord, TellingRecord, Unique},
};
use crate::model::{JudgingRule, RunId, TenantId};

/// What a store holds before a batch is put in, as far as [`additions`] asks.
pub trait Present {
    /// The record with this id.
    fn record(&self, id: &RecordId) -> Option<Record>;

    /// Whether a run has a copy, erased or not.
    fn has_copy(&self, tenant: &TenantId, run: &RunId) -> bool;

    /// Whether a run is erased, with a copy or without one.
    fn is_erased(&self, tenant: &TenantId, run: &RunId) -> bool;

    /// Whether a record has this.
    fn is_taken(&self, unique: &Unique) -> bool;
}

/// Why a record can't be put in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// Which one.
    pub record: RecordId,
    /// Why not.
    pub because: Because,
}

/// Why a record can't be put in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Because {
    /// One with the same id is there, and isn't equal.
    Differs,
    /// Another record has what only one can have: the key of a live judgment, or the name of a
    /// live class in its scope.
    Taken,
    /// What it belongs to isn't there: a judgment's copy of its run, the version of a rule before
    /// it, a rule that took or skipped a run.
    Missing,
    /// It [tells of](Record::tells_of) a run that is erased, and would bring back what the erasure
    /// cleared.
    Erased,
    /// No store can have held it, for this reason.
    Impossible(&'static str),
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let record = &self.record;
        match self.because {
            Because::Differs => write!(f, "{record} is there, and isn't equal"),
            Because::Taken => write!(
                f,
                "{record} has a key or a name that another live one there has"
            ),
            Because::Missing => write!(f, "what {record} belongs to isn't there"),
            Because::Erased => write!(
                f,
                "{record} tells of a run that is erased, which it would bring back"
            ),
            Because::Impossible(why) => write!(f, "{record} can't be: {why}"),
        }
    }
}

/// The records of a batch that are new, in order; or the first that can't be put in. The earlier
/// ones of the batch count as there.
pub fn additions<'r>(
    records: &'r [Record],
    present: &impl Present,
) -> Result<Vec<&'r Record>, Refused> {
    let mut batch = Batch {
        present,
        records: HashMap::new(),
        unique: HashSet::new(),
    };
    let mut new = Vec::new();
    for record in records {
        let id = record.id();
        let refused = |because| Refused {
            record: id.clone(),
            because,
        };
        if let Some(fault) = record.fault() {
            return Err(refused(Because::Impossible(fault)));
        }
        match batch.record(&id) {
            Some(known) if known == *record => continue,
            Some(_) => return Err(refused(Because::Differs)),
            None => {}
        }
        if let Some(unique) = record.unique() {
            if batch.is_taken(&unique) {
                return Err(refused(Because::Taken));
            }
            batch.unique.insert(unique);
        }
        if !batch.has_what_it_needs(record) {
            return Err(refused(Because::Missing));
        }
        if let Some(run) = record.tells_of()
            && batch.is_erased(record.tenant(), run)
        {
            return Err(refused(Because::Erased));
        }
        batch.records.insert(id, record);
        new.push(record);
    }
    Ok(new)
}

/// What is there, with what the batch has added so far.
struct Batch<'r, P> {
    present: &'r P,
    records: HashMap<RecordId, &'r Record>,
    unique: HashSet<Unique>,
}

impl<P: Present> Batch<'_, P> {
    fn record(&self, id: &RecordId) -> Option<Record> {
        match self.records.get(id) {
            Some(record) => Some((*record).clone()),
            None => self.present.record(id),
        }
    }

    fn is_taken(&self, unique: &Unique) -> bool {
        self.unique.contains(unique) || self.present.is_taken(unique)
    }

    fn has_what_it_needs(&self, record: &Record) -> bool {
        match record {
            Record::Judgment(new) => self.has_copy(&new.judgment.tenant, &new.judgment.run),
            Record::RuleVersion(rule) => self.goes_on(rule),
            Record::Telling(telling) => self.has_rules(telling),
            _ => true,
        }
    }

    /// A run that the batch adds.
    fn new_run(&self, tenant: &TenantId, run: &RunId) -> Option<&RunRecord> {
        let id = RecordId {
            part: ArchivePart::Runs,
            tenant: tenant.clone(),
            id: run.as_str().into(),
            version: 0,
        };
        match self.records.get(&id) {
            Some(Record::Run(run)) => Some(run),
            _ => None,
        }
    }

    fn has_copy(&self, tenant: &TenantId, run: &RunId) -> bool {
        match self.new_run(tenant, run) {
            Some(run) => run.copy.is_some(),
            None => self.present.has_copy(tenant, run),
        }
    }

    fn is_erased(&self, tenant: &TenantId, run: &RunId) -> bool {
        match self.new_run(tenant, run) {
            Some(run) => run.erased,
            None => self.present.is_erased(tenant, run),
        }
    }

    fn version(&self, tenant: &TenantId, rule: &str, version: u32) -> Option<Box<JudgingRule>> {
        let id = RecordId {
            part: ArchivePart::RuleVersions,
            tenant: tenant.clone(),
            id: rule.into(),
            version,
        };
        match self.record(&id)? {
            Record::RuleVersion(rule) => Some(rule),
            _ => None,
        }
    }

    /// Whether a version comes after the one before it, of the same rule.
    fn goes_on(&self, rule: &JudgingRule) -> bool {
        if rule.version == 1 {
            return true;
        }
        let before = rule.version.saturating_sub(1);
        let before = self.version(&rule.tenant, rule.id.as_str(), before);
        before.is_some_and(|before| {
            before.project == rule.project && before.unregistered_at == rule.unregistered_at
        })
    }

    fn has_rules(&self, telling: &TellingRecord) -> bool {
        let mut rules = telling.rules();
        rules.all(|rule| {
            let first = self.version(&telling.tenant, rule.as_str(), 1);
            first.is_some_and(|first| first.project == telling.project)
        })
    }
}
