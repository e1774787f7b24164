//! Two stores, and the way from the one into the other.

use std::{future::Future, num::NonZeroU16, sync::Arc};

use super::{ArchiveBackend, House};
use crate::{
    StoreError, archive,
    conformance::{
        Report,
        call::Call,
        lab::Lab,
        model::Model,
        report::{difference, ensure, ensure_eq},
        runner::list,
    },
    store::{
        ExportPosition, Imported, Record, StoreResult,
        archive::{ArchivePart, RecordId},
    },
};

/// How often a store may be busy in a row.
const MAX_BUSY: usize = 200;

/// Where a law of moves is tried.
pub(super) type MovingLab = Lab<()>;

/// Tries a law.
pub(super) fn hold(
    law: &'static str,
    holds: impl FnOnce(&MovingLab) -> Result<(), Report>,
) -> Result<(), Report> {
    Lab::hold_on(law, || async { Ok(((), Arc::new(()))) }, holds)
}

/// Builds both stores for a case.
pub(super) fn with_houses(
    lab: &MovingLab,
    (from, to): (&impl ArchiveBackend, &impl ArchiveBackend),
    case: impl FnOnce(&House, &House) -> Result<(), Report>,
) -> Result<(), Report> {
    let (from_guard, from) = lab.block_on(from.build())?;
    let (to_guard, to) = lab.block_on(to.build())?;
    let held = case(&from, &to);
    let handle = lab.handle();
    let within = handle.enter();
    drop((from, to));
    drop((from_guard, to_guard));
    drop(within);
    held
}

/// Asks again while the store is busy.
pub(super) fn ask<T, F: Future<Output = StoreResult<T>>>(
    lab: &MovingLab,
    once: impl Fn() -> F,
) -> Result<T, Report> {
    lab.block_on(async {
        for _ in 0..MAX_BUSY {
            match once().await {
                Err(e) if StoreError::is_busy(&e) => tokio::task::yield_now().await,
                answer => return Ok(answer?),
            }
        }
        let busy = format!("the store was busy {MAX_BUSY} times in a row");
        Err(Report::new(busy))
    })
}

/// Each of the store's answers must be the model's.
pub(super) fn answers_equal(
    lab: &MovingLab,
    house: &House,
    calls: &[Call],
    model: &mut Model,
) -> Result<(), Report> {
    let mut done = Vec::new();
    for call in calls {
        if model.leaves_open(call) {
            continue;
        }
        done.push(call);
        let should_be = model.answer(call);
        let is = lab.block_on(call.ask(&*house.store))?;
        ensure(is == should_be, || {
            let difference = difference(&should_be, &is);
            format!(
                "the last of these got another answer:\n{}{difference}",
                list(&done)
            )
        })?;
    }
    Ok(())
}

/// All that a store holds, by pages of about so many records, as lines and back.
pub(super) fn export(lab: &MovingLab, house: &House, page: u16) -> Result<Vec<Record>, Report> {
    let sizes = [page, 1, page + 2, 300];
    let mut sizes = sizes.into_iter().filter_map(NonZeroU16::new).cycle();
    let mut records: Vec<Record> = Vec::new();
    let mut from: Option<ExportPosition> = None;
    loop {
        let limit = sizes.next().unwrap_or(NonZeroU16::MIN);
        let exported = ask(lab, || house.archive.export(from.as_ref(), limit))?;
        ensure(exported.records.len() <= limit.get().into(), || {
            format!("a page of {limit} records has more")
        })?;
        for record in exported.records {
            let id = record.id();
            let part = from.as_ref().map_or(ArchivePart::Classes, |it| it.part());
            ensure(id.part == part, || {
                format!("{id} is in a page of {}", part.as_str())
            })?;
            let last = records.last().map(Record::id);
            ensure(last.as_ref().is_none_or(|last| *last < id), || {
                format!("{id} comes after {last:?}")
            })?;
            records.push(through_a_line(&record)?);
        }
        let Some(next) = exported.next else {
            return Ok(records);
        };
        ensure(place(from.as_ref()) < place(Some(&next)), || {
            format!("after {from:?} the export goes on at {next:?}")
        })?;
        let text = next.to_string();
        let read = text.parse();
        from = Some(read.map_err(|e| Report::new(format!("the position {text:?}: {e}")))?);
    }
}

/// Where an export is, to compare.
fn place(
    position: Option<&ExportPosition>,
) -> (
    Option<crate::store::archive::ArchivePart>,
    Option<&RecordId>,
) {
    let part = position.map(ExportPosition::part);
    (part, position.and_then(ExportPosition::after))
}

fn through_a_line(record: &Record) -> Result<Record, Report> {
    let line = archive::to_line(record);
    ensure(!line.contains('\n'), || {
        format!("a record of more than one line: {line}")
    })?;
    let read = archive::from_line(&line);
    let read = read.map_err(|e| Report::new(format!("{e}, in {line}")))?;
    ensure_eq("a record, read from its line", &read, record)?;
    Ok(read)
}

/// Puts a batch in, of which so many are new.
pub(super) fn import(
    lab: &MovingLab,
    house: &House,
    records: &[Record],
    new: usize,
) -> Result<(), Report> {
    let imported = ask(lab, || house.archive.import(records))?;
    let added = new as u64;
    let what = format!("what became of importing {}", ids(records));
    ensure_eq(&what, &imported, &Imported::Ok { added })
}

fn ids(records: &[Record]) -> String {
    let ids = records.iter().map(|record| record.id().to_string());
    ids.collect::<Vec<_>>().join(", ")
}

/// Puts all in, batch by batch, some of them twice.
pub(super) fn import_all(
    lab: &MovingLab,
    house: &House,
    records: &[Record],
    batch: usize,
) -> Result<(), Report> {
    let middle = (records.len() / batch) / 2;
    for (number, batch) in records.chunks(batch).enumerate() {
        import(lab, house, batch, batch.len())?;
        if number == middle {
            import(lab, house, batch, 0)?;
        }
    }
    import(lab, house, records, 0)
}

/// A store must hold these records and no others.
pub(super) fn holds(
    lab: &MovingLab,
    house: &House,
    records: &[Record],
    page: u16,
) -> Result<(), Report> {
    let held = export(lab, house, page)?;
    for (is, should_be) in held.iter().zip(records) {
        ensure_eq(&format!("the record {}", should_be.id()), is, should_be)?;
    }
    let ids = |records: &[Record]| records.iter().map(Record::id).collect::<Vec<_>>();
    ensure_eq("the records", &ids(&held), &ids(records))
}
