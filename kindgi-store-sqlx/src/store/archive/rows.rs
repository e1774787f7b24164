//! Records from rows.

use std::num::NonZeroU16;

use kindgi_core::{
    model::{RunId, TenantId},
    store::{
        NewJudgment, OperationId, Record, Revised,
        archive::{
            ArchivePart, CopyRecord, OperationRecord, PurgeRecord, RecordId, RulesRecord,
            RunRecord, TellingRecord,
        },
    },
};

use crate::{
    error::DbError,
    sql::{self, Cell, Row, Sql},
    store::{
        Tables,
        codec::{
            self, CLASS, COPY, JUDGMENT, RULE, RULE_VERSION, parse,
            queue::{self, ITEM, count},
            time,
        },
        columns_of, marks, receipts,
    },
};

/// Which rows of a part.
#[derive(Clone, Copy)]
pub(super) enum Which<'a> {
    /// Those after one, so many at most, in order.
    Page {
        after: Option<&'a RecordId>,
        limit: NonZeroU16,
    },
    /// A tenant's with these ids and, of rules, perhaps others of their versions; at least one.
    These {
        tenant: &'a str,
        ids: &'a [&'a RecordId],
    },
}

/// The statement of records of a part. In an order that the part's unique index gives, so that a
/// page costs the same wherever it is.
pub(super) fn select(tables: &Tables, part: ArchivePart, which: Which<'_>) -> Sql {
    let of = |columns: &str, table: &str, key: &[&str]| {
        let select = Sql::new(format!("SELECT {columns} FROM {table} WHERE "));
        which.push_to(select, key)
    };
    match part {
        ArchivePart::Classes => {
            let columns = format!("tenant, revision, {CLASS}");
            of(&columns, &tables.classes, &["tenant", "id"])
        }
        ArchivePart::RuleVersions => {
            let key = ["tenant", "rule", "version"];
            let page = of("*", &tables.rule_versions, &key);
            Sql::new(format!(
                "SELECT v.tenant, {}, {} FROM ({}) v JOIN {} r \
                 ON r.tenant = v.tenant AND r.id = v.rule ORDER BY v.tenant, v.rule, v.version",
                columns_of("r", RULE),
                columns_of("v", RULE_VERSION),
                page.text,
                tables.rules,
            ))
            .bind_all(page.args)
        }
        ArchivePart::Rules => {
            let (columns, key) = ("tenant, project, revision", ["tenant", "project"]);
            of(columns, &tables.project_rules, &key)
        }
        ArchivePart::Runs => {
            let columns = format!("tenant, run, erased, captured_at IS NOT NULL, project, {COPY}");
            of(&columns, &tables.runs, &["tenant", "run"])
        }
        ArchivePart::Judgments => {
            let columns = format!("tenant, item_value, {JUDGMENT}");
            of(&columns, &tables.judgments, &["tenant", "id"])
        }
        ArchivePart::Tellings => {
            let key = ["tenant", "run"];
            let page = of("DISTINCT tenant, run", &tables.tellings, &key);
            Sql::new(format!(
                "SELECT t.tenant, t.run, t.project, t.told_at, t.age, t.agent_version, t.rule, \
                 t.version, t.skipped, q.run IS NOT NULL, {} FROM ({}) p JOIN {} t \
                 ON t.tenant = p.tenant AND t.run = p.run LEFT JOIN {} q \
                 ON q.tenant = p.tenant AND q.run = p.run ORDER BY t.tenant, t.run, t.rule",
                columns_of("q", ITEM),
                page.text,
                tables.tellings,
                tables.queue_items,
            ))
            .bind_all(page.args)
        }
        ArchivePart::Purges => of("tenant, purged_before", &tables.purges, &["tenant"]),
        ArchivePart::Operations => {
            let columns = "tenant, id, body, keep_until, kind, outcome";
            of(columns, &tables.operations, &["tenant", "id"])
        }
    }
}

impl Which<'_> {
    /// The end of a statement of a table, whose rows have these columns' values each once.
    fn push_to(self, select: Sql, key: &[&str]) -> Sql {
        match self {
            Self::Page { after, limit } => {
                let order = key.join(", ");
                let select = match after {
                    // Where all rows come.
                    None => select.push("1 = 1"),
                    // As one value, so that it is one range of the index.
                    Some(after) => {
                        let place = [
                            after.tenant.as_str().into(),
                            Cell::from(&*after.id),
                            i64::from(after.version).into(),
                        ];
                        let place = place.into_iter().take(key.len());
                        let marks = marks(key.len());
                        let select = select.push(&format!("({order}) > ({marks})"));
                        select.bind_all(place)
                    }
                };
                let select = select.push(&format!(" ORDER BY {order} LIMIT ?"));
                select.bind(i64::from(limit.get()))
            }
            Self::These { tenant, ids } => {
                let mut select = select.push("tenant = ?").bind(tenant);
                if let Some(column) = key.get(1) {
                    let in_these = format!(" AND {column} IN ({})", marks(ids.len()));
                    let ids = ids.iter().map(|id| Cell::from(&*id.id));
                    select = select.push(&in_these).bind_all(ids);
                }
                if let Some(column) = key.get(2) {
                    let in_these = format!(" AND {column} IN ({})", marks(ids.len()));
                    let versions = ids.iter().map(|id| Cell::from(i64::from(id.version)));
                    select = select.push(&in_these).bind_all(versions);
                }
                select
            }
        }
    }
}

/// The records of the rows of [`select`].
pub(super) fn read(part: ArchivePart, rows: Vec<Row>) -> Result<Vec<Record>, DbError> {
    if part == ArchivePart::Tellings {
        return tellings(rows);
    }
    let read = |mut row: Row| {
        let tenant: TenantId = parse(row.text()?)?;
        record(part, tenant, &mut row)
    };
    rows.into_iter().map(read).collect()
}

fn record(part: ArchivePart, tenant: TenantId, row: &mut Row) -> Result<Record, DbError> {
    Ok(match part {
        ArchivePart::Classes => Record::Class(Box::new(Revised {
            revision: count(row.int()?)?,
            value: codec::class(&tenant, row)?,
        })),
        ArchivePart::RuleVersions => Record::RuleVersion(Box::new(codec::rule(&tenant, row)?)),
        ArchivePart::Rules => Record::Rules(RulesRecord {
            tenant,
            project: parse(row.text()?)?,
            revision: count(row.int()?)?,
        }),
        ArchivePart::Runs => Record::Run(Box::new(run(tenant, row)?)),
        ArchivePart::Judgments => Record::Judgment(Box::new(NewJudgment {
            item_value: row.opt_text()?.map(codec::json),
            judgment: codec::judgment(&tenant, row)?,
        })),
        // Several rows each.
        ArchivePart::Tellings => return Err(DbError::corrupt("a telling")),
        ArchivePart::Purges => Record::Purge(PurgeRecord {
            tenant,
            before: time(row.int()?)?,
        }),
        ArchivePart::Operations => Record::Operation(Box::new(operation(tenant, row)?)),
    })
}

fn run(tenant: TenantId, row: &mut Row) -> Result<RunRecord, DbError> {
    let run: RunId = parse(row.text()?)?;
    let erased = row.int()? != 0;
    let has_copy = row.int()? != 0;
    let project = row.opt_text()?;
    let copy = match has_copy {
        false => None,
        true => Some(CopyRecord {
            project: parse(project.ok_or_else(|| DbError::corrupt("a copy"))?)?,
            copy: codec::copy(run.clone(), row)?,
        }),
    };
    Ok(RunRecord {
        tenant,
        run,
        erased,
        copy,
    })
}

fn operation(tenant: TenantId, row: &mut Row) -> Result<OperationRecord, DbError> {
    let id = OperationId(bytes(&row.text()?)?);
    let body = bytes(&row.text()?)?;
    let keep_until = time(row.int()?)?;
    let kind = row.text()?;
    let mut outcome = Row::new(sql::from_json(row.text()?)?);
    Ok(OperationRecord {
        receipt: receipts::decode(&tenant, &kind, &mut outcome)?,
        tenant,
        id,
        body,
        keep_until,
    })
}

/// What [`codec::hex`] wrote.
fn bytes(text: &str) -> Result<[u8; 32], DbError> {
    let corrupt = || DbError::corrupt("a hash");
    let digit = |digit: &u8| char::from(*digit).to_digit(16);
    let byte = |pair: &[u8]| match pair {
        [high, low] => u8::try_from(digit(high)? * 16 + digit(low)?).ok(),
        _ => None,
    };
    let pairs = text.as_bytes().chunks(2);
    let bytes: Option<Vec<u8>> = pairs.map(byte).collect();
    let bytes = bytes.ok_or_else(corrupt)?;
    bytes.try_into().map_err(|_| corrupt())
}

/// Rows that are in order of runs, one for each rule, as records.
fn tellings(rows: Vec<Row>) -> Result<Vec<Record>, DbError> {
    let mut tellings: Vec<TellingRecord> = Vec::new();
    for mut row in rows {
        let mut telling = TellingRecord {
            tenant: parse(row.text()?)?,
            run: parse(row.text()?)?,
            project: parse(row.text()?)?,
            told_at: time(row.int()?)?,
            age: time(row.int()?)?,
            agent_version: row.opt_text()?.map(parse).transpose()?,
            skipped: Vec::new(),
            item: None,
        };
        let rule = parse(row.text()?)?;
        let version = row.int()?.try_into();
        let version = version.map_err(|_| DbError::corrupt("a rule's version"))?;
        let skipped = row.int()? != 0;
        let last = tellings.last_mut();
        let of_last = last.filter(|it| it.run == telling.run && it.tenant == telling.tenant);
        if let Some(last) = of_last {
            if skipped {
                last.skipped.push((rule, version));
            }
            continue;
        }
        if skipped {
            telling.skipped.push((rule, version));
        }
        let is_queued = row.int()? != 0;
        telling.item = is_queued.then(|| queue::item(&mut row)).transpose()?;
        tellings.push(telling);
    }
    let record = |telling| Record::Telling(Box::new(telling));
    Ok(tellings.into_iter().map(record).collect())
}
