//! What a migration is given, and what it does with it.

use kindgi_core::{
    model::{RunCopy, Segment},
    store::NewJudgment,
};

use super::made::judgment;

/// Judgments of runs with segments of all lengths and all kinds of text.
pub(crate) fn judgments_with_segments() -> Vec<(NewJudgment, RunCopy)> {
    let long = "\u{1f980}".repeat(120);
    let texts = [
        "plain",
        "a \"quoted\" \\ one",
        "brackets ]},{[",
        "tab\tnewline\n",
        "\u{1}\u{7f}\u{2028}",
        "caf\u{e9}",
        "cafe\u{301}",
        "?",
        "$1 {} %_",
        &long,
    ];
    let path = |length: usize, first: usize| -> Vec<_> {
        let segment = |n| Segment::new(&format!("key{n}"), texts[n % texts.len()]).unwrap();
        (first..first + length).map(segment).collect()
    };
    let paths =
        (0..texts.len()).flat_map(|first| [0, 1, 2, 5, 40].map(|length| path(length, first)));
    // Of one run, paths that end alike.
    let again = vec![Segment::new("again", &long).unwrap(); 3];
    let paths = paths.chain([again]);
    let runs = paths.enumerate().map(|(n, path)| {
        let (new, mut copy) = judgment(&format!("j{n}"), &format!("run{n}"), "key");
        copy.segments = Some(path);
        (new, copy)
    });
    runs.collect()
}

/// The statement of a migration that fills a table from the rows that are there.
pub(crate) fn fills(migration: &str, table: &str) -> String {
    let migration = migration.replace("{}", "kindgi_");
    let begins = format!("INSERT INTO kindgi_{table}");
    let mut statements = migration.split(";\n").map(str::trim);
    let fills = statements.find(|sql| sql.contains(&begins));
    fills.unwrap().to_owned()
}
