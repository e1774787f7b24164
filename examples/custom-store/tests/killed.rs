//! A process that is killed loses nothing that it was answered.
//!
//! In a file of its own: a process that is being started has the folders open, and locked, that
//! tests beside this one want to open again.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[expect(dead_code, reason = "the story is for other tests")]
mod scene;

use std::{
    env,
    io::{BufRead as _, BufReader, Write as _},
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use custom_store::{FileStore, Flush};
use kindgi_core::{
    model::{PageSize, Position, Readable},
    store::{JudgmentFilter, JudgmentStore as _, Keyset},
};

use self::scene::{acme, record};

/// The folder of the process that is killed, in its environment.
const VICTIM: &str = "CUSTOM_STORE_VICTIM";

/// Starts itself as a process that records and says so, again and again; kills it; and looks.
#[tokio::test]
async fn a_process_that_is_killed_loses_nothing_it_was_answered() {
    if let Some(folder) = env::var_os(VICTIM) {
        return write_until_killed(&PathBuf::from(folder)).await;
    }
    let folder = tempfile::tempdir().unwrap();
    let mut recorded = 0;
    for answers in [1, 2, 3, 5, 8, 13, 21] {
        let mut victim = Command::new(env::current_exe().unwrap())
            .args([
                "--exact",
                "a_process_that_is_killed_loses_nothing_it_was_answered",
            ])
            .env(VICTIM, folder.path())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut said = BufReader::new(victim.stderr.take().unwrap()).lines();
        let last = said.by_ref().take(answers).last().unwrap().unwrap();
        victim.kill().unwrap();
        assert!(!victim.wait().unwrap().success());
        // It may have said more before it was dead; the last line may be cut off.
        let more = said
            .map_while(Result::ok)
            .filter(|line| line.ends_with('.'));
        let last = more.last().unwrap_or(last);
        let answered: usize = last.trim_end_matches('.').parse().unwrap();
        assert!(answered >= recorded + answers, "{answered}");

        recorded = count(&open(folder.path()).await).await;
        let possible = answered..=answered + 1;
        assert!(possible.contains(&recorded), "{recorded} of {possible:?}");
    }
}

async fn open(folder: &Path) -> FileStore {
    FileStore::open(folder, Flush::EachWrite).await.unwrap()
}

async fn write_until_killed(folder: &Path) {
    let store = open(folder).await;
    for number in count(&store).await + 1.. {
        let id = format!("j-{number}");
        record(&store, &id, &format!("run of {id}"), 1)
            .await
            .unwrap();
        let mut stderr = std::io::stderr();
        stderr.write_all(format!("{number}.\n").as_bytes()).unwrap();
    }
}

/// How many judgments there are, which must be whole and the first ones.
async fn count(store: &FileStore) -> usize {
    let (filter, readable) = (JudgmentFilter::default(), Readable::All);
    let mut keyset = Keyset {
        after: None,
        limit: PageSize::default(),
    };
    let mut number = 0;
    loop {
        let page = store.judgments(&acme(), &filter, &readable, &keyset).await;
        let page = page.unwrap();
        number += page.rows.len();
        for judgment in &page.rows {
            let read = store.judgment(&acme(), &judgment.id).await.unwrap();
            assert_eq!(read.unwrap().run.run, judgment.run);
        }
        if !page.more {
            break;
        }
        let last = page.rows.last().unwrap();
        keyset.after = Some(Position {
            at: last.created_at,
            id: last.id.as_str().into(),
        });
    }
    for number in 1..=number {
        let id = format!("j-{number}").parse().unwrap();
        assert!(store.judgment(&acme(), &id).await.unwrap().is_some());
    }
    number
}
