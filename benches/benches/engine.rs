//! The engine on the store in memory: recording, and a page of a long list.

#![allow(
    clippy::expect_used,
    reason = "a benchmark that can't be set up must stop"
)]
#![allow(missing_docs, reason = "criterion's macros write undocumented items")]

use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use kindgi_benches::{engine, engine_with, judge, judgment};
use kindgi_core::{engine::JudgmentQuery, model::PageRequest};
use tokio::runtime::{Builder, Runtime};

const ROWS: usize = 100_000;

fn runtime() -> Runtime {
    Builder::new_current_thread().build().expect("a runtime")
}

fn record(c: &mut Criterion) {
    let runtime = runtime();
    let who = judge().expect("a principal");
    let new = judgment("run-1", "item").expect("a judgment");
    let mut group = c.benchmark_group("record");
    group.bench_function("the_first_of_a_run", |b| {
        b.iter_batched(
            || (engine().expect("an engine"), new.clone()),
            |(engine, new)| {
                let made = runtime.block_on(engine.record_judgment(&who, new));
                (made.expect("a judgment"), engine)
            },
            BatchSize::SmallInput,
        );
    });
    group.bench_function("one_that_supersedes", |b| {
        let engine = engine().expect("an engine");
        b.iter_batched(
            || new.clone(),
            |new| {
                runtime
                    .block_on(engine.record_judgment(&who, new))
                    .expect("a judgment")
            },
            BatchSize::SmallInput,
        );
    });
    group.finish();
}

fn list(c: &mut Criterion) {
    let runtime = runtime();
    let who = judge().expect("a principal");
    let engine = runtime.block_on(engine_with(ROWS)).expect("an engine");
    let all = JudgmentQuery::default();
    let first = PageRequest::default();
    let page = |query: &JudgmentQuery, request: &PageRequest| {
        let page = runtime
            .block_on(engine.judgments(&who, query, request))
            .expect("a page");
        assert_eq!(page.rows.len(), 25);
        page
    };

    let mut deep = first.clone();
    for _ in 0..ROWS / 25 / 2 {
        deep.after = page(&all, &deep).next;
    }
    let mut one_run = JudgmentQuery::default();
    one_run.filter.run = Some("run-500".parse().expect("an id"));

    let mut group = c.benchmark_group("list_25_of_100_000");
    group.bench_function("first_page", |b| b.iter(|| page(&all, &first)));
    group.bench_function("page_in_the_middle", |b| b.iter(|| page(&all, &deep)));
    group.bench_function("of_one_run", |b| b.iter(|| page(&one_run, &first)));
    group.finish();
}

criterion_group!(benches, record, list);
criterion_main!(benches);
