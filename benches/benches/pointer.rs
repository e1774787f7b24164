//! Looking up one value of a large document, against building a tree of it first.

#![allow(
    clippy::expect_used,
    reason = "a benchmark that can't be set up must stop"
)]
#![allow(missing_docs, reason = "criterion's macros write undocumented items")]

use std::hint::black_box;

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use kindgi_core::json::{Pointer, RawJson};

const ONE_MB: usize = 1_000_000;

fn pointer(c: &mut Criterion) {
    let document = kindgi_benches::document(ONE_MB);
    let count = document.as_str().matches("caseId").count();
    let last = Pointer::parse("/last").expect("a pointer");
    let middle = format!("/items/{}/score", count / 2);
    let middle = Pointer::parse(&middle).expect("a pointer");

    let mut group = c.benchmark_group("one_mb");
    group.throughput(Throughput::Bytes(document.as_str().len() as u64));
    group.bench_function("check", |b| {
        let text = || document.as_str().to_owned();
        b.iter_batched(text, RawJson::parse, BatchSize::LargeInput);
    });
    group.bench_function("resolve_in_the_middle", |b| {
        b.iter(|| middle.resolve(black_box(&document)).expect("a value"));
    });
    group.bench_function("resolve_the_last_member", |b| {
        b.iter(|| last.resolve(black_box(&document)).expect("a value"));
    });
    group.bench_function("serde_json_value_and_pointer", |b| {
        #[allow(
            clippy::disallowed_types,
            reason = "this is what resolving over the text is measured against"
        )]
        b.iter(|| {
            let tree: serde_json::Value =
                serde_json::from_str(black_box(document.as_str())).expect("a document");
            tree.pointer(middle.as_str()).cloned().expect("a value")
        });
    });
    group.finish();
}

criterion_group!(benches, pointer);
criterion_main!(benches);
