//! Records into rows.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap, HashSet},
    sync::Arc,
};

use kindgi_core::{
    model::{JudgeClass, RuleId, RunContext, RunId, TenantId},
    store::{
        Imported, NewJudgment, Record, Revised,
        archive::{
            ArchivePart, OperationRecord, Present, RecordId, RunRecord, TellingRecord, Unique,
            additions,
        },
    },
};

use super::{
    derived::{Counts, Rules},
    rows::{Which, read, select},
};
use crate::{
    drivers::Connection,
    error::DbError,
    lock::Lock,
    sql::{self, Cell, Sql},
    store::{
        CHUNK, Tables,
        codec::{
            CLASS, COPY, JUDGMENT, RULE_VERSION, class_cells, copy_cells, hex, judgment_cells,
            live_key, live_name, parse,
            queue::{ITEM, item_cells},
            rule_version_cells,
        },
        marks, receipts,
        run_paths::{self, RUN_PATH},
    },
};

/// How many rows one statement adds at most.
const ROWS: usize = 50;

/// How many cells of a copy there are.
const COPY_CELLS: usize = 8;

/// A batch to put in.
#[derive(Clone)]
pub(super) struct Import {
    pub(super) tables: Arc<Tables>,
    pub(super) records: Arc<[Record]>,
}

impl Import {
    /// What the import must be alone with.
    pub(super) fn lock(&self) -> Lock {
        let mut tenants = self.records.iter().map(Record::tenant);
        match tenants.next() {
            Some(first) if tenants.all(|tenant| tenant == first) => {
                Lock::Tenant(first.as_str().to_owned())
            }
            _ => Lock::Tenants,
        }
    }

    /// Looks at all that is there of the batch and of what it needs, and then adds what is new.
    pub(super) async fn run(self, connection: &mut dyn Connection) -> Result<Imported, DbError> {
        let found = self.look(connection).await?;
        let new = match additions(&self.records, &found) {
            Ok(new) => new,
            // Nothing was written yet.
            Err(refused) => return Ok(Imported::Refused(refused)),
        };
        let mut parts = BTreeMap::<ArchivePart, Vec<&Record>>::new();
        for record in &new {
            parts.entry(record.part()).or_default().push(record);
        }
        // Rules before the items that are counted for them.
        for records in parts.values() {
            self.add(connection, records).await?;
        }
        let added = new.len() as u64;
        Ok(Imported::Ok { added })
    }

    async fn look(&self, connection: &mut dyn Connection) -> Result<Found, DbError> {
        let mut found = Found::default();
        let mut wanted = BTreeMap::<(ArchivePart, String), BTreeSet<RecordId>>::new();
        for id in self.records.iter().flat_map(looked_at) {
            let of = (id.part, id.tenant.as_str().to_owned());
            wanted.entry(of).or_default().insert(id);
        }
        for ((part, tenant), ids) in &wanted {
            let ids: Vec<_> = ids.iter().collect();
            for ids in ids.chunks(CHUNK) {
                let these = select(&self.tables, *part, Which::These { tenant, ids });
                for record in read(*part, connection.fetch(&these).await?)? {
                    found.records.insert(record.id(), record);
                }
            }
        }
        self.look_for_runs(connection, &mut found).await?;
        self.look_for_taken(connection, &mut found).await?;
        Ok(found)
    }

    /// Which of the runs that the batch's records belong to have a copy, and which are erased.
    async fn look_for_runs(
        &self,
        connection: &mut dyn Connection,
        found: &mut Found,
    ) -> Result<(), DbError> {
        let mut wanted = BTreeMap::<&TenantId, BTreeSet<&RunId>>::new();
        for record in &*self.records {
            let run = match record {
                Record::Judgment(new) => Some(&new.judgment.run),
                _ => record.tells_of(),
            };
            if let Some(run) = run {
                wanted.entry(record.tenant()).or_default().insert(run);
            }
        }
        for (tenant, runs) in wanted {
            let runs: Vec<_> = runs.into_iter().collect();
            for runs in runs.chunks(CHUNK) {
                let select = Sql::new(format!(
                    "SELECT run, erased, captured_at IS NOT NULL FROM {} \
                     WHERE tenant = ? AND run IN ({})",
                    self.tables.runs,
                    marks(runs.len())
                ));
                let ids = runs.iter().map(|run| Cell::from(run.as_str()));
                let select = select.bind(tenant.as_str()).bind_all(ids);
                for mut row in connection.fetch(&select).await? {
                    let run = (tenant.clone(), parse(row.text()?)?);
                    if row.int()? != 0 {
                        found.erased.insert(run.clone());
                    }
                    if row.int()? != 0 {
                        found.copies.insert(run);
                    }
                }
            }
        }
        Ok(())
    }

    /// Which keys and names of live ones are taken.
    async fn look_for_taken(
        &self,
        connection: &mut dyn Connection,
        found: &mut Found,
    ) -> Result<(), DbError> {
        let (judgments, classes) = (&self.tables.judgments, &self.tables.classes);
        for (table, column) in [(judgments, "live_key"), (classes, "live_name")] {
            let of_column = |record: &Record| {
                let (own, hash) = hash_of(record)?;
                (own == column).then_some((hash, record.unique()?))
            };
            let unique: HashMap<_, _> = self.records.iter().filter_map(of_column).collect();
            let hashes: Vec<_> = unique.keys().map(|hash| Cell::from(&**hash)).collect();
            for hashes in hashes.chunks(CHUNK) {
                let select = Sql::new(format!(
                    "SELECT {column} FROM {table} WHERE {column} IN ({})",
                    marks(hashes.len())
                ));
                let rows = connection.fetch(&select.bind_all(hashes.to_vec())).await?;
                for mut row in rows {
                    found.taken.extend(unique.get(&row.text()?).cloned());
                }
            }
        }
        Ok(())
    }

    /// Adds records of one part.
    async fn add(
        &self,
        connection: &mut dyn Connection,
        records: &[&Record],
    ) -> Result<(), DbError> {
        let mut rows = Rows::default();
        let mut rules = Rules::default();
        let mut paths = Rows::default();
        let mut tellings = Vec::new();
        for record in records {
            let tenant = Cell::from(record.tenant().as_str());
            match record {
                Record::Class(class) => rows.add(CLASS, class_row(tenant, class)?),
                Record::RuleVersion(rule) => {
                    rules.add(rule);
                    let mut row = vec![
                        tenant,
                        rule.id.as_str().into(),
                        rule.project.as_str().into(),
                    ];
                    row.extend(rule_version_cells(rule));
                    rows.add(RULE_VERSION, row);
                }
                Record::Rules(of) => {
                    let revision = whole(of.revision)?;
                    rows.add("", vec![tenant, of.project.as_str().into(), revision]);
                }
                Record::Run(run) => {
                    if let Some(kept) = run.copy.as_ref().filter(|_| !run.erased) {
                        let tenant = record.tenant().as_str();
                        for path in run_paths::rows(tenant, &kept.project, &kept.copy) {
                            paths.add("", path);
                        }
                    }
                    rows.add(COPY, run_row(tenant, run));
                }
                Record::Judgment(new) => rows.add(JUDGMENT, judgment_row(tenant, new)),
                Record::Telling(telling) => tellings.push(&**telling),
                Record::Purge(purge) => {
                    rows.add("", vec![tenant, purge.before.as_unix_millis().into()]);
                }
                Record::Operation(operation) => rows.add("", operation_row(tenant, operation)?),
            }
        }
        let tables = &self.tables;
        let (table, columns) = match records.first().map(|record| record.part()) {
            Some(ArchivePart::Classes) => (&tables.classes, "tenant, revision, live_name"),
            Some(ArchivePart::RuleVersions) => {
                rules.store(connection, tables).await?;
                (&tables.rule_versions, "tenant, rule, project")
            }
            Some(ArchivePart::Rules) => (&tables.project_rules, "tenant, project, revision"),
            Some(ArchivePart::Runs) => (&tables.runs, "tenant, run, erased, project, replay"),
            Some(ArchivePart::Judgments) => (&tables.judgments, "tenant, live_key, item_value"),
            Some(ArchivePart::Purges) => (&tables.purges, "tenant, purged_before"),
            Some(ArchivePart::Operations) => (
                &tables.operations,
                "tenant, id, body, keep_until, kind, outcome, run, participant",
            ),
            Some(ArchivePart::Tellings) | None => {
                return self.add_tellings(connection, &tellings).await;
            }
        };
        rows.store(connection, table, columns).await?;
        paths.store(connection, &tables.run_paths, RUN_PATH).await
    }

    async fn add_tellings(
        &self,
        connection: &mut dyn Connection,
        tellings: &[&TellingRecord],
    ) -> Result<(), DbError> {
        let (mut told, mut queued) = (Rows::default(), Rows::default());
        let mut counts = Counts::default();
        for telling in tellings {
            let tenant = telling.tenant.as_str();
            for row in told_rows(telling) {
                told.add("", row);
            }
            if let Some(item) = &telling.item {
                let mut row = vec![tenant.into(), item.wants_any().into()];
                row.extend(item_cells(item));
                queued.add(ITEM, row);
                counts.add(tenant, item);
            }
        }
        let columns = "tenant, run, project, told_at, age, agent_version, rule, version, skipped, \
             wants";
        told.store(connection, &self.tables.tellings, columns)
            .await?;
        let columns = "tenant, wants_any";
        queued
            .store(connection, &self.tables.queue_items, columns)
            .await?;
        counts.store(connection, &self.tables).await
    }
}

/// The ids of the records that are looked at before one is put in: itself, and what it names.
fn looked_at(record: &Record) -> Vec<RecordId> {
    let mut ids = vec![record.id()];
    match record {
        Record::RuleVersion(rule) => ids.push(RecordId {
            version: rule.version.saturating_sub(1),
            ..record.id()
        }),
        Record::Telling(telling) => ids.extend(telling.rules().map(|rule| RecordId {
            part: ArchivePart::RuleVersions,
            tenant: telling.tenant.clone(),
            id: rule.as_str().into(),
            version: 1,
        })),
        _ => {}
    }
    ids
}

/// The column that says what only one live record has, and what it says of this one.
fn hash_of(record: &Record) -> Option<(&'static str, String)> {
    match record {
        Record::Judgment(new) => Some(("live_key", live_key(&new.judgment))),
        Record::Class(class) => Some(("live_name", live_name(&class.value))),
        _ => None,
    }
}

/// What is there.
#[derive(Default)]
struct Found {
    records: HashMap<RecordId, Record>,
    copies: HashSet<(TenantId, RunId)>,
    erased: HashSet<(TenantId, RunId)>,
    taken: HashSet<Unique>,
}

impl Present for Found {
    fn record(&self, id: &RecordId) -> Option<Record> {
        self.records.get(id).cloned()
    }

    fn has_copy(&self, tenant: &TenantId, run: &RunId) -> bool {
        self.copies.contains(&(tenant.clone(), run.clone()))
    }

    fn is_erased(&self, tenant: &TenantId, run: &RunId) -> bool {
        self.erased.contains(&(tenant.clone(), run.clone()))
    }

    fn is_taken(&self, unique: &Unique) -> bool {
        self.taken.contains(unique)
    }
}

/// Rows of one table.
#[derive(Default)]
pub(super) struct Rows {
    more_columns: &'static str,
    rows: Vec<Vec<Cell>>,
}

impl Rows {
    /// A row that ends with the cells of these columns.
    pub(super) fn add(&mut self, more_columns: &'static str, row: Vec<Cell>) {
        self.more_columns = more_columns;
        self.rows.push(row);
    }

    /// Adds the rows to a table, whose columns are these and then those of their ends.
    pub(super) async fn store(
        self,
        connection: &mut dyn Connection,
        table: &str,
        columns: &str,
    ) -> Result<(), DbError> {
        let comma = if self.more_columns.is_empty() {
            ""
        } else {
            ", "
        };
        let columns = format!("{columns}{comma}{}", self.more_columns);
        let mut rows = self.rows.into_iter().peekable();
        while rows.peek().is_some() {
            let some: Vec<_> = rows.by_ref().take(ROWS).collect();
            let values: Vec<_> = some
                .iter()
                .map(|row| format!("({})", marks(row.len())))
                .collect();
            let values = values.join(", ");
            let insert = Sql::new(format!("INSERT INTO {table} ({columns}) VALUES {values}"));
            let insert = insert.bind_all(some.into_iter().flatten());
            connection.execute(&insert).await?;
        }
        Ok(())
    }
}

fn whole(number: u64) -> Result<Cell, DbError> {
    let too_large = |_| DbError::other("a revision beyond what the database counts to");
    i64::try_from(number).map(Cell::from).map_err(too_large)
}

fn class_row(tenant: Cell, class: &Revised<JudgeClass>) -> Result<Vec<Cell>, DbError> {
    let value = &class.value;
    let name = value.is_live().then(|| live_name(value));
    let mut row = vec![tenant, whole(class.revision)?, name.into()];
    row.extend(class_cells(value));
    Ok(row)
}

fn run_row(tenant: Cell, run: &RunRecord) -> Vec<Cell> {
    let mut row = vec![tenant, run.run.as_str().into(), run.erased.into()];
    match &run.copy {
        Some(kept) => {
            let context = kept.copy.context.as_ref();
            let replays = context.is_some_and(RunContext::is_of_replay);
            row.extend([kept.project.as_str().into(), replays.into()]);
            row.extend(copy_cells(&kept.copy));
        }
        None => {
            row.extend([Cell::Null, false.into()]);
            row.extend(vec![Cell::Null; COPY_CELLS]);
        }
    }
    row
}

fn judgment_row(tenant: Cell, new: &NewJudgment) -> Vec<Cell> {
    let judgment = &new.judgment;
    let key = judgment.is_live().then(|| live_key(judgment));
    let value = new.item_value.as_ref().map(|value| value.as_str());
    let mut row = vec![tenant, key.into(), value.into()];
    row.extend(judgment_cells(judgment));
    row
}

fn operation_row(tenant: Cell, operation: &OperationRecord) -> Result<Vec<Cell>, DbError> {
    let kept = receipts::encode(&operation.receipt);
    let kept = kept.ok_or_else(|| DbError::other("what was refused leaves no receipt"))?;
    Ok(vec![
        tenant,
        hex(&operation.id.0).into(),
        hex(&operation.body).into(),
        operation.keep_until.as_unix_millis().into(),
        kept.kind.into(),
        sql::to_json(&kept.cells).into(),
        kept.about.run.into(),
        kept.about.participant.into(),
    ])
}

/// What each rule did with a run.
fn told_rows(telling: &TellingRecord) -> Vec<Vec<Cell>> {
    let mut wanted = BTreeSet::new();
    let takers = telling.item.iter().flat_map(|item| &item.taken_by);
    let took = takers.map(|by| {
        // Of several that want a class, the first one says so.
        let wants = by.wants.as_ref().filter(|class| wanted.insert(*class));
        let wants = wants.map(|class| class.as_str());
        (&by.rule, by.version, false, wants)
    });
    let skipped = telling.skipped.iter();
    let skipped = skipped.map(|(rule, version)| (rule, *version, true, None));
    let row = |(rule, version, skipped, wants): (&RuleId, u32, bool, Option<&str>)| {
        vec![
            telling.tenant.as_str().into(),
            telling.run.as_str().into(),
            telling.project.as_str().into(),
            telling.told_at.as_unix_millis().into(),
            telling.age.as_unix_millis().into(),
            telling.agent_version.as_ref().map(|it| it.as_str()).into(),
            rule.as_str().into(),
            i64::from(version).into(),
            skipped.into(),
            wants.into(),
        ]
    };
    took.chain(skipped).map(row).collect()
}
