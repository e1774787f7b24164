//! What was answered is on the disk, whole; and what isn't on the disk was never there.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod scene;

use std::{
    fs,
    path::{Path, PathBuf},
};

use custom_store::{FileStore, Flush};
use kindgi_core::{
    StoreError,
    model::{RunId, TenantId},
    store::Lifecycle as _,
};
use tempfile::TempDir;

use self::scene::{STEPS, everything, step};

const UNFINISHED: &str = "unfinished.tmp";

async fn open(folder: &Path) -> Result<FileStore, StoreError> {
    FileStore::open(folder, Flush::Never).await
}

/// A folder with the first steps of the story, and all that can be read then.
async fn story(steps: usize) -> (TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path()).await.unwrap();
    for number in 0..steps {
        step(&store, number).await.unwrap();
    }
    let said = everything(&store).await;
    (folder, said)
}

/// The tenant's only file.
fn its_file(folder: &Path) -> PathBuf {
    let files = fs::read_dir(folder).unwrap();
    let files: Vec<_> = files.map(|file| file.unwrap().path()).collect();
    let [file] = files.as_slice() else {
        panic!("one tenant has one file, but there are {files:?}");
    };
    file.clone()
}

/// What a store says that is opened on a copy of the folder.
async fn reopened(folder: &Path) -> String {
    let copy = tempfile::tempdir().unwrap();
    let file = its_file(folder);
    fs::copy(&file, copy.path().join(file.file_name().unwrap())).unwrap();
    everything(&open(copy.path()).await.unwrap()).await
}

#[tokio::test]
async fn whatever_was_answered_is_there_when_it_is_opened_again() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path()).await.unwrap();
    let mut before = everything(&store).await;
    for number in 0..STEPS {
        step(&store, number).await.unwrap();
        let said = everything(&store).await;
        // What a purge has gone past can't be read, but it is in the file.
        assert!(
            said != before || number == 9,
            "step {number} changed nothing"
        );
        assert_eq!(reopened(folder.path()).await, said, "after step {number}");
        before = said;
    }
    let text = fs::read_to_string(its_file(folder.path())).unwrap();
    assert!(text.contains(r#"{"record":"purge""#), "{text}");
}

#[tokio::test]
async fn what_is_erased_is_gone_from_the_disk() {
    let (folder, _) = story(7).await;
    let file = its_file(folder.path());
    for id in ["j-1", "j-2", "j-3"] {
        let text = fs::read_to_string(&file).unwrap();
        assert!(text.contains(&format!("the reason of {id}")), "{text}");
    }
    let store = open(folder.path()).await.unwrap();
    step(&store, 7).await.unwrap();
    let text = fs::read_to_string(&file).unwrap();
    assert!(!text.contains("the reason of j-1") && !text.contains("the reason of j-2"));
    step(&store, 8).await.unwrap();
    let text = fs::read_to_string(its_file(folder.path())).unwrap();
    assert!(!text.contains("the reason of") && !text.contains("somebody"));
}

#[tokio::test]
async fn a_write_that_was_cut_off_at_any_byte_never_was() {
    for steps in [0, STEPS - 1] {
        let (old, said) = story(steps).await;
        let (new, _) = story(steps + 1).await;
        let new = fs::read(its_file(new.path())).unwrap();
        for length in 0..=new.len() {
            let unfinished = old.path().join(UNFINISHED);
            fs::write(&unfinished, &new[..length]).unwrap();
            let store = open(old.path()).await.unwrap();
            assert_eq!(everything(&store).await, said, "{length} bytes");
            assert!(!unfinished.exists(), "{length} bytes are left behind");
        }
    }
}

#[tokio::test]
async fn a_file_that_is_not_whole_is_refused() {
    let (folder, said) = story(STEPS).await;
    let file = its_file(folder.path());
    let whole = fs::read_to_string(&file).unwrap();
    for length in 0..whole.len() {
        fs::write(&file, &whole.as_bytes()[..length]).unwrap();
        assert!(open(folder.path()).await.is_err(), "{length} bytes of it");
    }
    let lines: Vec<_> = whole.lines().collect();
    for left_out in 0..lines.len() {
        let mut others = lines.clone();
        others.remove(left_out);
        fs::write(&file, others.join("\n") + "\n").unwrap();
        assert!(
            open(folder.path()).await.is_err(),
            "without line {left_out}"
        );
    }
    fs::write(&file, &whole).unwrap();
    assert_eq!(reopened(folder.path()).await, said);
    fs::copy(&file, folder.path().join("copy.ndjson")).unwrap();
    assert!(open(folder.path()).await.is_err(), "another tenant's file");
}

#[tokio::test]
async fn a_folder_is_open_once() {
    let (folder, said) = story(3).await;
    let first = open(folder.path()).await.unwrap();
    assert!(open(folder.path()).await.unwrap_err().is_busy());
    drop(first);
    assert_eq!(everything(&open(folder.path()).await.unwrap()).await, said);
}

#[tokio::test]
async fn each_tenant_has_a_file_of_its_own_whatever_its_name() {
    let longest = "\u{1f600}".repeat(256);
    let names = ["acme", "ACME", "a/b", "..", "unfinished.tmp", &longest];
    let tenants = names.map(|name| name.parse::<TenantId>().unwrap());
    let runs = [0, 1, 2, 3, 4, 5].map(|run| format!("run-{run}").parse::<RunId>().unwrap());
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path()).await.unwrap();
    for (tenant, run) in tenants.iter().zip(&runs) {
        store.erase_run(scene::write(tenant, 1), run).await.unwrap();
    }
    drop(store);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), names.len());
    let store = open(folder.path()).await.unwrap();
    for (number, tenant) in tenants.iter().enumerate() {
        for (other, run) in runs.iter().enumerate() {
            let is_erased = store.is_erased(tenant, run).await.unwrap();
            assert_eq!(is_erased, number == other, "{tenant:?}, {run:?}");
        }
    }
}

/// Each step of the story meets a disk in trouble, and then one that works.
async fn every_write_fails(break_it: impl Fn(&Path), repair_it: impl Fn(&Path)) {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path()).await.unwrap();
    for number in 0..STEPS {
        let said = everything(&store).await;
        break_it(folder.path());
        assert!(step(&store, number).await.is_err(), "step {number}");
        assert_eq!(everything(&store).await, said, "after step {number} failed");
        repair_it(folder.path());
        if number > 0 {
            assert_eq!(
                reopened(folder.path()).await,
                said,
                "on the disk, step {number}"
            );
        }
        step(&store, number).await.unwrap();
    }
    let (_, said) = story(STEPS).await;
    assert_eq!(everything(&store).await, said);
    assert_eq!(reopened(folder.path()).await, said);
}

#[tokio::test]
async fn where_no_file_can_be_made_an_error_changes_nothing() {
    let unfinished = |folder: &Path| folder.join(UNFINISHED);
    every_write_fails(
        |folder| fs::create_dir(unfinished(folder)).unwrap(),
        |folder| fs::remove_dir(unfinished(folder)).unwrap(),
    )
    .await;
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn on_a_full_disk_an_error_changes_nothing() {
    let unfinished = |folder: &Path| folder.join(UNFINISHED);
    every_write_fails(
        |folder| std::os::unix::fs::symlink("/dev/full", unfinished(folder)).unwrap(),
        |folder| fs::remove_file(unfinished(folder)).unwrap(),
    )
    .await;
}

#[tokio::test]
async fn where_the_file_can_not_be_replaced_an_error_changes_nothing() {
    let (folder, said) = story(STEPS - 1).await;
    let store = open(folder.path()).await.unwrap();
    let file = its_file(folder.path());
    fs::remove_file(&file).unwrap();
    fs::create_dir(&file).unwrap();
    assert!(step(&store, STEPS - 1).await.is_err());
    assert_eq!(everything(&store).await, said);
}
