//! Moving what a database holds into another one.

use std::{
    fs::File,
    io::{self, Write},
    num::NonZeroU16,
    path::Path,
    process::{Output, Stdio},
    sync::atomic::{AtomicUsize, Ordering},
};

use async_trait::async_trait;
use axum_host::archive::{compare, export, import};
use kindgi_core::{
    MemoryStore, StoreError,
    store::{Archive, ExportPosition, Exported, Imported, Record, StoreResult},
};
use tempfile::TempDir;

use crate::process::{Host, command};

const TOKEN: &str = "test-token";
const JUDGMENTS: &str = "/v1/judgments";

fn url(folder: &TempDir, name: &str) -> String {
    format!("sqlite:{}", folder.path().join(name).display())
}

/// Runs the host's program with these arguments, its input and output in files.
fn run(args: &[&str], input: Option<&Path>, output: Option<&Path>) -> Output {
    let mut command = command(&[]);
    command.args(args).stderr(Stdio::piped());
    command.stdin(match input {
        Some(file) => Stdio::from(File::open(file).unwrap()),
        None => Stdio::null(),
    });
    command.stdout(match output {
        Some(file) => Stdio::from(
            File::options()
                .create(true)
                .append(true)
                .open(file)
                .unwrap(),
        ),
        None => Stdio::piped(),
    });
    command.spawn().unwrap().wait_with_output().unwrap()
}

#[track_caller]
fn assert_ended(output: &Output, code: i32, said: &str) {
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{error}");
    assert!(error.contains(said), "{error}");
}

/// A database with some judgments, one of them superseded and one removed, and a queue.
fn filled(url: &str) -> String {
    let host = Host::start(&[("DATABASE_URL", url), ("SEED_QUEUE", "5")]);
    for run in ["run-1", "run-2", "run-2", "run-3"] {
        assert_eq!(host.judge(run, "/matches/0", TOKEN).status, 201);
    }
    host.judge("run-verbatim", "", TOKEN);
    let listed = host.get(JUDGMENTS, TOKEN).body;
    #[cfg(unix)]
    {
        host.signal("TERM");
        assert!(host.wait().success());
    }
    listed
}

/// Moves one database into another, which then answers as the one did.
fn moves(folder: &TempDir, old: &str, new: &str) {
    let listed = filled(old);
    let file = folder.path().join("house.ndjson");
    let exported = run(&["export", old], None, Some(&file));
    assert_ended(&exported, 0, "records exported");
    let text = std::fs::read_to_string(&file).unwrap();
    let records = text.lines().count() - 1;
    assert!(records > 12, "{text}");

    let imported = run(&["import", new], Some(&file), None);
    let said = format!("{records} records imported, {records} of them new");
    assert_ended(&imported, 0, &said);
    let compared = run(&["compare", old, new], None, None);
    assert_ended(&compared, 0, "both hold the same");
    assert_eq!(compared.stdout, b"");

    let again = run(&["import", new], Some(&file), None);
    assert_ended(
        &again,
        0,
        &format!("{records} records imported, 0 of them new"),
    );
    let compared = run(&["compare", old, new], None, None);
    assert_ended(&compared, 0, "both hold the same");

    let host = Host::start(&[("DATABASE_URL", new)]);
    assert_eq!(host.get(JUDGMENTS, TOKEN).body, listed);
    assert_eq!(host.judge("run-1", "/matches/0", TOKEN).status, 201);
    drop(host);
    let compared = run(&["compare", old, new], None, None);
    assert_ended(&compared, 1, "records differ");
    let differences = String::from_utf8(compared.stdout).unwrap();
    let differs = differences
        .lines()
        .filter(|line| line.starts_with("differs: judgments/"));
    assert_eq!(differs.count(), 1, "{differences}");
    let is_new = |line: &&str| line.starts_with("only in the second: judgments/");
    assert_eq!(
        differences.lines().filter(is_new).count(),
        1,
        "{differences}"
    );
    let compared = run(&["compare", new, old], None, None);
    assert!(String::from_utf8_lossy(&compared.stdout).contains("only in the first: judgments/"));

    // What has changed since is never overwritten.
    let third = run(&["import", new], Some(&file), None);
    assert_ended(&third, 1, "is there, and isn't equal");
}

#[test]
fn a_database_moves_into_another_file() {
    let folder = tempfile::tempdir().unwrap();
    moves(&folder, &url(&folder, "old.db"), &url(&folder, "new.db"));
}

mod postgres {
    use kindgi_test_servers::Postgres;

    #[test]
    fn a_database_moves_from_a_file_to_a_server() {
        let folder = tempfile::tempdir().unwrap();
        let new = Postgres::shared().fresh_database();
        super::moves(&folder, &super::url(&folder, "old.db"), &new);
    }
}

#[test]
fn an_export_goes_on_after_any_record_and_prints_nothing_twice() {
    let folder = tempfile::tempdir().unwrap();
    let old = url(&folder, "old.db");
    filled(&old);
    let whole = run(&["export", &old], None, None);
    let whole = String::from_utf8(whole.stdout).unwrap();
    let lines: Vec<&str> = whole.lines().collect();
    for (place, line) in lines.iter().enumerate().skip(1) {
        let record = kindgi_core::archive::from_line(line).unwrap();
        let position = record.id().to_string();
        let rest = run(&["export", &old, "--from", &position], None, None);
        let rest = String::from_utf8(rest.stdout).unwrap();
        assert!(
            rest.lines().eq(lines[place + 1..].iter().copied()),
            "{position}"
        );
    }
}

#[test]
fn what_cannot_be_done_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let (missing, new) = (url(&folder, "missing.db"), url(&folder, "new.db"));
    for (args, code, said) in [
        (vec!["move"], 2, "usage"),
        (vec!["export"], 2, "usage"),
        (vec!["import", &new, &new], 2, "usage"),
        (vec!["export", &new, "--from"], 2, "usage"),
        (
            vec!["export", &new, "--from", "there"],
            2,
            "--from: no position",
        ),
        (vec!["export", "memory:"], 2, "in memory"),
        (vec!["import", "mysql://ada:secret@localhost/x"], 2, "mysql"),
        (vec!["export", &missing], 1, "there is no file"),
        (vec!["compare", &missing, &missing], 2, "there is no file"),
        (vec!["import", &new], 1, "nothing to import"),
    ] {
        let output = run(&args, None, None);
        assert_ended(&output, code, said);
        assert!(!String::from_utf8_lossy(&output.stderr).contains("secret"));
        assert_eq!(output.stdout, b"");
    }
    assert!(!folder.path().join("missing.db").exists());
}

/// Some records, as lines.
fn house() -> String {
    let mut text = kindgi_core::archive::first_line() + "\n";
    for number in 100..550 {
        text += &format!(
            r#"{{"record":"run","tenant":"t","run":"r{number}","erased":false,"copy":{{"project":"p","subject":{{"kind":"agent","id":"a","version":"1"}},"input":"null","output":"{{\n \"score\": 1.10}}","capturedAt":0}}}}"#
        );
        text.push('\n');
    }
    text + "{\"record\":\"purge\",\"tenant\":\"t\",\"before\":-1}\n"
}

async fn store() -> MemoryStore {
    let store = MemoryStore::new();
    import(&store, &mut house().as_bytes()).await.unwrap();
    store
}

async fn lines_of(store: &dyn Archive, from: Option<ExportPosition>) -> String {
    let mut out = Vec::new();
    export(store, from, &mut out, &|| false).await.unwrap();
    String::from_utf8(out).unwrap()
}

#[tokio::test]
async fn an_export_that_is_told_to_stop_says_where_to_go_on() {
    let store = store().await;
    // Eight parts; the runs are more than two pages.
    for pages in 0..10 {
        let asked = AtomicUsize::new(0);
        let told = || asked.fetch_add(1, Ordering::Relaxed) == pages;
        let mut out = Vec::new();
        let stopped = export(&store, None, &mut out, &told).await.unwrap_err();
        let text = stopped.to_string();
        match stopped.next() {
            None => assert!(pages == 0 && text.ends_with("; begin again"), "{text}"),
            Some(next) => {
                assert!(text.contains(&format!("--from {next},")), "{text}");
                out.extend(lines_of(&store, Some(next.clone())).await.into_bytes());
                assert_eq!(String::from_utf8(out).unwrap(), house(), "{pages}");
            }
        }
    }
}

/// An output with room for so much.
struct Full(Vec<u8>, usize);

impl Write for Full {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let room = self.1 - self.0.len();
        if room == 0 {
            return Err(io::Error::other("the disk is full"));
        }
        let written = bytes.len().min(room);
        self.0.extend_from_slice(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[tokio::test]
async fn an_output_that_is_full_is_cut_where_the_export_says_and_goes_on() {
    let store = store().await;
    let whole = house();
    for room in (0..whole.len()).step_by(1999) {
        let mut out = Full(Vec::new(), room);
        let stopped = export(&store, None, &mut out, &|| false).await.unwrap_err();
        let text = stopped.to_string();
        let (_, after) = text.split_once("keep the first ").unwrap();
        let lines: usize = after.split(' ').next().unwrap().parse().unwrap();
        let written = String::from_utf8(out.0).unwrap();
        let mut kept: String = written.split_inclusive('\n').take(lines).collect();
        assert_eq!(kept.matches('\n').count(), lines);
        kept += &lines_of(&store, stopped.next().cloned()).await;
        assert_eq!(kept, whole);
    }
}

/// A store that can be asked so many times.
struct Failing(MemoryStore, AtomicUsize);

#[async_trait]
impl Archive for Failing {
    async fn export(
        &self,
        from: Option<&ExportPosition>,
        limit: NonZeroU16,
    ) -> StoreResult<Exported> {
        if self.1.fetch_sub(1, Ordering::Relaxed) == 0 {
            return Err(StoreError::busy("locked"));
        }
        self.0.export(from, limit).await
    }

    async fn import(&self, records: &[Record]) -> StoreResult<Imported> {
        if self.1.fetch_sub(1, Ordering::Relaxed) == 0 {
            return Err(StoreError::busy("locked"));
        }
        self.0.import(records).await
    }
}

#[tokio::test]
async fn a_database_that_fails_leaves_a_place_to_go_on() {
    let failing = Failing(store().await, AtomicUsize::new(5));
    let mut out = Vec::new();
    let stopped = export(&failing, None, &mut out, &|| false)
        .await
        .unwrap_err();
    assert!(
        stopped
            .to_string()
            .starts_with("the database can't be read; go on with --from runs/")
    );
    let rest = lines_of(&failing.0, stopped.next().cloned()).await;
    assert_eq!(String::from_utf8(out).unwrap() + &rest, house());

    let failing = Failing(MemoryStore::new(), AtomicUsize::new(0));
    let failed = import(&failing, &mut house().as_bytes()).await.unwrap_err();
    assert!(failed.to_string().contains("import the same lines again"));
    let counts = import(&failing.0, &mut house().as_bytes()).await.unwrap();
    assert_eq!((counts.read, counts.added), (451, 451));
    assert_eq!(lines_of(&failing.0, None).await, house());
}

#[tokio::test]
async fn a_wrong_line_is_named_and_what_came_before_may_be_put_in_again() {
    let whole = house();
    let store = MemoryStore::new();
    for (from, to, said) in [
        ("kindgi-archive", "another", "line 1: `format` must"),
        (
            "\"r101\",\"erased\":false",
            "\"r101\",\"erased\":1",
            "line 3: `erased` must",
        ),
        ("\"r101\"", "\"r100\"", "line 3: runs/t/r100 is there"),
        ("r549", "r549\",\"x\":\"", "line 451: `x` is not known"),
    ] {
        let wrong = whole.replacen(from, to, 1);
        assert_ne!(wrong, whole);
        let wrong = wrong.replacen("\"capturedAt\":0", "\"capturedAt\":1", 1);
        let failed = import(&store, &mut wrong.as_bytes()).await.unwrap_err();
        assert!(failed.to_string().starts_with(said), "{failed}");
        assert_eq!(lines_of(&store, None).await.lines().count(), 1);
    }
    // A line that was cut off.
    let cut = &whole[..whole.len() - 3];
    let failed = import(&store, &mut cut.as_bytes()).await.unwrap_err();
    assert!(
        failed
            .to_string()
            .starts_with("line 452: the line is no JSON"),
        "{failed}"
    );

    import(&store, &mut whole.as_bytes()).await.unwrap();
    let wrong = whole.replacen("\"capturedAt\":0", "\"capturedAt\":1", 1);
    let failed = import(&store, &mut wrong.as_bytes()).await.unwrap_err();
    let said = "line 2: runs/t/r100 is there, and isn't equal";
    assert_eq!(failed.to_string(), said);
    assert_eq!(lines_of(&store, None).await, whole);
}

#[tokio::test]
async fn a_comparison_names_each_difference() {
    let (one, other) = (store().await, MemoryStore::new());
    let changed = house().replacen("\"capturedAt\":0", "\"capturedAt\":1", 1);
    let changed = changed
        .replace("r549", "r550")
        .replace("\"before\":-1", "\"before\":1");
    import(&other, &mut changed.as_bytes()).await.unwrap();
    let mut out = Vec::new();
    assert_eq!(compare(&one, &other, &mut out).await.unwrap(), 4);
    assert_eq!(
        String::from_utf8(out).unwrap(),
        "differs: runs/t/r100\nonly in the first: runs/t/r549\nonly in the second: runs/t/r550\n\
         differs: purges/t/\n"
    );
    let mut out = Vec::new();
    assert_eq!(compare(&one, &one, &mut out).await.unwrap(), 0);
    assert!(out.is_empty());
}
