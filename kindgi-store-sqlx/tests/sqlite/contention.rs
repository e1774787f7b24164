//! Many writers at once.

use std::sync::{Arc, Barrier};

use crate::support::{Folder, assert_unbroken_chains, live, number, record};

#[test]
fn twenty_writers_at_once_never_see_a_locked_database() {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .unwrap();
    let folder = Folder::new();
    let store = runtime.block_on(folder.store());
    let barrier = Arc::new(Barrier::new(20));
    let writers: Vec<_> = (0..20)
        .map(|writer| {
            let (store, barrier) = (store.clone(), Arc::clone(&barrier));
            let handle = runtime.handle().clone();
            std::thread::spawn(move || {
                barrier.wait();
                // Half of them fight for one key, the others have their own.
                for n in 0..25 {
                    let key = if writer % 2 == 0 {
                        "one".to_owned()
                    } else {
                        format!("{writer}-{n}")
                    };
                    handle.block_on(record(&store, &format!("{writer}-{n}"), "run", &key));
                }
            })
        })
        .collect();
    writers
        .into_iter()
        .for_each(|writer| writer.join().unwrap());
    runtime.block_on(async {
        let pool = folder.pool().await;
        assert_eq!(
            number(&pool, "SELECT COUNT(*) FROM kindgi_judgments").await,
            500
        );
        assert_eq!(live(&store).await.len(), 251);
        assert_unbroken_chains(&pool).await;
    });
}
