//! The laws. Each is a function that tries it from one backend into another and says why it
//! doesn't hold, if so.

use super::{
    ArchiveBackend, House,
    case::{Case, case},
    made::{MAX_COUNT, Made},
    moving::{MovingLab, answers_equal, ask, export, hold, holds, import, import_all, with_houses},
};
use crate::{
    Timestamp,
    conformance::{
        Report,
        call::Call,
        model::Model,
        report::{ensure, ensure_eq},
        resolve,
        scene::{at, first},
    },
    model::{DismissReason, JudgeClassId, Principal, PrincipalRef},
    store::{
        Applied, Candidate, Imported, ItemMoved, Operation, QueueFilter, Record, Taken, Write,
        archive::{Because, Refused},
    },
};

/// A store that was moved into another holds the same records, in whatever pages they came; and
/// all that can be read of it is the same, receipts of operations included.
pub fn what_was_moved_is_read_alike(
    from: &impl ArchiveBackend,
    to: &impl ArchiveBackend,
) -> Result<(), Report> {
    hold("what_was_moved_is_read_alike", |lab| {
        lab.property(from.cases().min(to.cases()), &case(), |case, _| {
            with_houses(lab, (from, to), |old, new| {
                let moved = Moved::of(lab, case, (old, new))?;
                holds(lab, new, &moved.records, case.page + 1)?;
                holds(lab, old, &moved.records, case.page + 2)?;
                for call in resolve::readings(&moved.calls) {
                    let should_be = lab.block_on(call.ask(&*old.store))?;
                    let is = lab.block_on(call.ask(&*new.store))?;
                    ensure_eq(&format!("the answer to\n  {call}"), &is, &should_be)?;
                }
                let mut before = moved.calls.iter().take(moved.before);
                before.try_for_each(|call| receipts_agree(lab, call, old, new))
            })
        })
    })
}

/// A store that was moved answers what comes after the move as if it had been there before it.
pub fn a_moved_store_goes_on(
    from: &impl ArchiveBackend,
    to: &impl ArchiveBackend,
) -> Result<(), Report> {
    hold("a_moved_store_goes_on", |lab| {
        lab.property(from.cases().min(to.cases()), &case(), |case, _| {
            with_houses(lab, (from, to), |old, new| {
                let Moved {
                    calls,
                    before,
                    mut model,
                    ..
                } = Moved::of(lab, case, (old, new))?;
                let mut after = calls.get(before..).unwrap_or_default().to_vec();
                after.extend(resolve::readings(&calls));
                answers_equal(lab, new, &after, &mut model)
            })
        })
    })
}

/// How many open items a rule has, and how many items of each state there are, moves along: a rule
/// that was full takes none, and takes one again once an item is closed.
pub fn a_moved_rule_keeps_its_cap(
    from: &impl ArchiveBackend,
    to: &impl ArchiveBackend,
) -> Result<(), Report> {
    hold("a_moved_rule_keeps_its_cap", |lab| {
        with_houses(lab, (from, to), |old, new| {
            let made = Made::new(lab)?;
            let records = [
                made.version("rule", 1)?,
                made.version("rule", 2)?,
                made.rules(2)?,
                made.telling("run-1", "rule", true)?,
                made.telling("run-2", "rule", true)?,
                made.telling("run-3", "rule", false)?,
            ];
            import(lab, old, &records, records.len())?;
            let moved = export(lab, old, 2)?;
            import_all(lab, new, &moved, 1)?;

            let rule = made.rule("rule", 2)?;
            let candidates = [Candidate::from(&rule)];
            let take = |run: &str| {
                let run = made.ended(run)?;
                ask(lab, || {
                    new.store.take(write(&made, 4), &run, 2, &candidates)
                })
            };
            let total = |state| {
                let filter = QueueFilter {
                    state,
                    ..QueueFilter::default()
                };
                let project = &rule.project;
                let of = &made.tenant;
                let queue = ask(lab, || new.store.queue(of, project, &filter, None))?;
                Ok::<_, Report>(queue.total)
            };
            use crate::model::ItemState::{Dismissed, Judged, Open};
            for (state, items) in [(None, 3), (Some(Open), 2), (Some(Dismissed), 1)] {
                ensure_eq(&format!("items {state:?}"), &total(state)?, &items)?;
            }
            ensure_eq("a full rule", &take("run-4")?, &Taken::AllSkipped)?;

            let by = Principal::user(made.tenant.clone(), "ada".parse()?);
            let (by, run) = (PrincipalRef::from(&by), "run-1".parse()?);
            let reason: DismissReason = "why".parse()?;
            let dismissed = ask(lab, || {
                let project = &rule.project;
                let write = write(&made, 5);
                new.store.dismiss(write, project, &run, &by, Some(&reason))
            })?;
            let moved = matches!(dismissed, Applied::Done(ItemMoved::Ok(_)));
            ensure(moved, || format!("an open item isn't: {dismissed:?}"))?;
            let taken = take("run-5")?;
            ensure(matches!(taken, Taken::Queued(_)), || {
                format!("a rule with a place took nothing: {taken:?}")
            })?;
            ensure_eq("a full rule", &take("run-6")?, &Taken::AllSkipped)?;
            let totals = [(None, 4), (Some(Open), 2), (Some(Dismissed), 2)];
            for (state, items) in totals.into_iter().chain([(Some(Judged), 0)]) {
                ensure_eq(&format!("items {state:?}"), &total(state)?, &items)?;
            }
            Ok(())
        })
    })
}

/// An item that several rules want the same class for is found by it once, also after a move.
pub fn a_moved_item_is_listed_once(
    from: &impl ArchiveBackend,
    to: &impl ArchiveBackend,
) -> Result<(), Report> {
    hold("a_moved_item_is_listed_once", |lab| {
        with_houses(lab, (from, to), |old, new| {
            let made = Made::new(lab)?;
            let class: JudgeClassId = "class".parse()?;
            let mut records = vec![
                made.class("class", "experts")?,
                made.version("rule-1", 1)?,
                made.version("rule-2", 1)?,
                made.rules(2)?,
                made.telling("run", "rule-1", true)?,
            ];
            if let Some(Record::Telling(telling)) = records.last_mut()
                && let Some(item) = &mut telling.item
            {
                item.taken_by = ["rule-1", "rule-2"]
                    .into_iter()
                    .map(|rule| made.taker(rule, Some(&class)))
                    .collect::<Result<_, _>>()?;
            }
            import(lab, old, &records, records.len())?;
            let moved = export(lab, old, 1)?;
            import(lab, new, &moved, records.len())?;
            let filter = QueueFilter {
                wants: Some(class),
                ..QueueFilter::default()
            };
            let (project, of) = ("project".parse()?, &made.tenant);
            for house in [old, new] {
                let (store, every) = (&house.store, first(100));
                let list = ask(lab, || store.queue(of, &project, &filter, Some(&every)))?;
                ensure_eq("the items that want it", &list.total, &1)?;
                ensure_eq("those on the page", &list.slice.rows.len(), &1)?;
            }
            Ok(())
        })
    })
}

/// That runs of before a purge are told no more moves along, and so does that a run is erased.
pub fn what_was_over_before_the_move_stays_over(
    from: &impl ArchiveBackend,
    to: &impl ArchiveBackend,
) -> Result<(), Report> {
    hold("what_was_over_before_the_move_stays_over", |lab| {
        with_houses(lab, (from, to), |old, new| {
            let made = Made::new(lab)?;
            let rule = made.rule("rule", 1)?;
            let records = [
                made.version("rule", 1)?,
                made.rules(1)?,
                made.run_without_copy("erased", true)?,
                made.purge(2),
            ];
            import(lab, old, &records, records.len())?;
            let moved = export(lab, old, 1)?;
            import(lab, new, &moved, records.len())?;
            let candidates = [Candidate::from(&rule)];
            for house in [old, new] {
                let take = |run: &str, ended: i64| {
                    let mut run = made.ended(run)?;
                    run.ended_at = at(ended);
                    let store = &house.store;
                    ask(lab, || store.take(write(&made, 4), &run, 1, &candidates))
                };
                ensure_eq("a run of before", &take("run-1", 1)?, &Taken::BeforePurge)?;
                ensure_eq("an erased run", &take("erased", 3)?, &Taken::RunErased)?;
                let taken = take("run-2", 2)?;
                ensure(matches!(taken, Taken::Queued(_)), || {
                    format!("a run of after a purge isn't taken: {taken:?}")
                })?;
            }
            Ok(())
        })
    })
}

/// A record that is there and differs is named, and nothing of its batch is kept.
pub fn a_record_that_differs_is_refused_with_its_batch(
    from: &impl ArchiveBackend,
    to: &impl ArchiveBackend,
) -> Result<(), Report> {
    let law = "a_record_that_differs_is_refused_with_its_batch";
    hold(law, |lab| {
        lab.property(from.cases().min(to.cases()), &case(), |case, _| {
            with_houses(lab, (from, to), |old, new| {
                let (calls, before) = calls(lab, case)?;
                let calls = calls.get(..before).unwrap_or_default();
                answers_equal(lab, old, calls, &mut Model::default())?;
                let records = export(lab, old, case.page)?;
                let half = records.len().div_ceil(2);
                let (there, rest) = records.split_at(half);
                import(lab, new, there, half)?;
                let Some(known) = there.get(usize::from(case.pick) % half.max(1)) else {
                    return Ok(());
                };
                let mut batch = rest.to_vec();
                let at = usize::from(case.pick) % (batch.len() + 1);
                batch.insert(at, altered(known)?);
                let refused = Refused {
                    record: known.id(),
                    because: Because::Differs,
                };
                is_refused(lab, new, &batch, refused)?;
                holds(lab, new, there, case.page)?;
                import(lab, new, rest, rest.len())?;
                holds(lab, new, &records, case.page)
            })
        })
    })
}

/// A record without what it belongs to, with what only one can have, or with what an erasure
/// cleared, is named, and nothing of its batch is kept.
pub fn a_record_that_fits_nowhere_is_refused_with_its_batch(
    from: &impl ArchiveBackend,
    to: &impl ArchiveBackend,
) -> Result<(), Report> {
    let law = "a_record_that_fits_nowhere_is_refused_with_its_batch";
    hold(law, |lab| {
        with_houses(lab, (from, to), |_, new| {
            use Because::{Missing, Taken};
            let made = Made::new(lab)?;
            let there = vec![
                made.class("class", "experts")?,
                made.version("rule", 1)?,
                made.run("run")?,
                made.run_without_copy("run-erased", true)?,
                made.judgment("judgment", "run")?,
            ];
            import(lab, new, &there, there.len())?;
            let mut elsewhere = made.rule("rule", 2)?;
            elsewhere.project = "another".parse()?;
            let mut stopped = made.rule("rule", 2)?;
            stopped.unregistered_at = Some(at(1));
            let wrong = [
                (made.class("class-2", "experts")?, Taken),
                (made.judgment("judgment-2", "run")?, Taken),
                (made.judgment("judgment-2", "nothing")?, Missing),
                (made.judgment("judgment-2", "run-erased")?, Missing),
                (made.version("rule", 3)?, Missing),
                (made.version("rule-2", 2)?, Missing),
                (Record::RuleVersion(Box::new(elsewhere)), Missing),
                (Record::RuleVersion(Box::new(stopped)), Missing),
                (made.telling("run", "nothing", true)?, Missing),
            ];
            let fine = [made.run("run-2")?, made.judgment("judgment-3", "run-2")?];
            for (wrong, because) in wrong {
                let record = wrong.id();
                let mut batch = fine.to_vec();
                batch.push(wrong);
                is_refused(lab, new, &batch, Refused { record, because })?;
                holds(lab, new, &there, 3)?;
            }
            // Within one batch, too.
            let twice = made.judgment("judgment-4", "run-2")?;
            let erased = made.run_without_copy("run-3", true)?;
            let judged = made.judgment("judgment-4", "run-3")?;
            for (batch, because) in [
                (
                    fine.iter().cloned().chain([twice]).collect::<Vec<_>>(),
                    Taken,
                ),
                (vec![erased, judged], Missing),
            ] {
                let last = batch.last().map(Record::id);
                let record = last.ok_or_else(|| Report::new("no record"))?;
                is_refused(lab, new, &batch, Refused { record, because })?;
            }
            for impossible in made.impossible()? {
                let imported = ask(lab, || {
                    new.archive.import(std::slice::from_ref(&impossible))
                })?;
                let refused = matches!(
                    &imported,
                    Imported::Refused(Refused { record, because: Because::Impossible(_) })
                        if *record == impossible.id()
                );
                ensure(refused, || {
                    format!("what can't be is there: {impossible:?}, {imported:?}")
                })?;
            }
            holds(lab, new, &there, 3)?;
            import(lab, new, &fine, fine.len())?;
            let highest = made.counts(MAX_COUNT)?;
            import(lab, new, &highest, highest.len())?;
            import(lab, new, &highest, 0)
        })?;
        with_houses(lab, (from, to), |_, new| nothing_comes_back(lab, new))
    })
}

/// What an erasure cleared is refused, whether the run was erased in the store or is by a record
/// before.
fn nothing_comes_back(lab: &MovingLab, new: &House) -> Result<(), Report> {
    let made = Made::new(lab)?;
    let run = "run".parse()?;
    let before = [made.version("rule", 1)?, made.run("run")?];
    import(lab, new, &before, before.len())?;
    ask(lab, || new.store.erase_run(write(&made, 4), &run))?;
    let mut there = vec![made.version("rule", 1)?, made.erased_run("run")?];
    holds(lab, new, &there, 3)?;
    let erased = |record: &Record| Refused {
        record: record.id(),
        because: Because::Erased,
    };
    let fine = [made.run("run-2")?, made.judgment("judgment", "run-2")?];
    for cleared in made.cleared("run")? {
        let refused = erased(&cleared);
        let mut batch = fine.to_vec();
        batch.push(cleared);
        is_refused(lab, new, &batch, refused)?;
        holds(lab, new, &there, 3)?;
    }
    for cleared in made.cleared("run-3")? {
        let refused = erased(&cleared);
        let batch = [made.erased_run("run-3")?, cleared];
        is_refused(lab, new, &batch, refused)?;
        holds(lab, new, &there, 3)?;
    }
    // Erased in the new store before it came.
    let unknown = "run-4".parse()?;
    ask(lab, || new.store.erase_run(write(&made, 4), &unknown))?;
    there.push(made.run_without_copy("run-4", true)?);
    let run = made.run("run-4")?;
    let refused = Refused {
        record: run.id(),
        because: Because::Differs,
    };
    is_refused(lab, new, &[run], refused)?;
    holds(lab, new, &there, 3)?;
    // What an erasure leaves is taken.
    let left = made.left("run")?;
    import(lab, new, &left, left.len())?;
    there.extend(left);
    holds(lab, new, &there, 3)
}

/// A case, moved.
struct Moved {
    calls: Vec<Call>,
    /// How many of them came before the move.
    before: usize,
    model: Model,
    records: Vec<Record>,
}

impl Moved {
    fn of(lab: &MovingLab, case: &Case, (old, new): (&House, &House)) -> Result<Self, Report> {
        let (calls, before) = calls(lab, case)?;
        let mut model = Model::default();
        let first = calls.get(..before).unwrap_or_default();
        answers_equal(lab, old, first, &mut model)?;
        let records = export(lab, old, case.page)?;
        import_all(lab, new, &records, case.batch)?;
        Ok(Self {
            calls,
            before,
            model,
            records,
        })
    }
}

/// A case's calls, and how many of them come before the move.
fn calls(lab: &MovingLab, case: &Case) -> Result<(Vec<Call>, usize), Report> {
    let tenants = [lab.tenant()?, lab.tenant()?];
    let calls = resolve::calls(&tenants, &case.commands, case.commands.len())?;
    let calls: Vec<Call> = calls.into_iter().flatten().collect();
    let before = case.before(calls.len());
    Ok((calls, before))
}

/// What is kept of a call's operation must be the same, now and at other times.
fn receipts_agree(lab: &MovingLab, call: &Call, old: &House, new: &House) -> Result<(), Report> {
    let Some(by) = call.operation else {
        return Ok(());
    };
    let other_body = by.body.map(|byte| byte ^ 1);
    for body in [&by.body, &other_body] {
        let (id, keep_until) = (&by.id, by.keep_until);
        let operation = Operation {
            id,
            body,
            keep_until,
        };
        for now in [Timestamp::UNIX_EPOCH, call.now, at(3), by.keep_until] {
            let kept = |house: &House| {
                let store = &house.store;
                ask(lab, || store.receipt(&call.tenant, now, operation))
            };
            let what = format!("what is kept at {now} of\n  {call}");
            ensure_eq(&what, &kept(new)?, &kept(old)?)?;
        }
    }
    Ok(())
}

fn is_refused(
    lab: &MovingLab,
    house: &House,
    batch: &[Record],
    refused: Refused,
) -> Result<(), Report> {
    let imported = ask(lab, || house.archive.import(batch))?;
    ensure_eq("the import", &imported, &Imported::Refused(refused))
}

fn write(made: &Made, now: i64) -> Write<'_> {
    Write {
        tenant: &made.tenant,
        now: at(now),
        operation: None,
    }
}

/// The same record with something changed that no other one must agree with.
fn altered(record: &Record) -> Result<Record, Report> {
    let later = |at: Timestamp| match at.saturating_add_millis(1) {
        // The last instant there is.
        same if same == at => at.saturating_add_millis(-1),
        later => later,
    };
    let mut altered = record.clone();
    match &mut altered {
        Record::Class(class) => class.revision += 1,
        Record::RuleVersion(rule) => rule.enabled = !rule.enabled,
        Record::Rules(rules) => rules.revision += 1,
        Record::Run(run) => match &mut run.copy {
            Some(kept) => kept.copy.captured_at = later(kept.copy.captured_at),
            None => {
                let (tenant, id) = (run.tenant.clone(), run.run.as_str());
                if let Record::Run(other) = (Made { tenant }).erased_run(id)? {
                    run.copy = other.copy;
                }
            }
        },
        Record::Judgment(new) => new.judgment.restricted = !new.judgment.restricted,
        Record::Telling(telling) => {
            telling.told_at = later(telling.told_at);
            if let Some(item) = &mut telling.item {
                item.added_at = telling.told_at;
            }
        }
        Record::Purge(purge) => purge.before = later(purge.before),
        Record::Operation(operation) => operation.body = operation.body.map(|byte| byte ^ 1),
    }
    Ok(altered)
}
