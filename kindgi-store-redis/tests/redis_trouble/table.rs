//! `TROUBLE.md` names every test of this target, and no other.

use std::collections::BTreeSet;

#[test]
fn the_table_of_trouble_names_these_tests() {
    let table = include_str!("../../TROUBLE.md");
    let rows = table.lines().filter(|line| line.starts_with('|'));
    let last = rows.filter_map(|row| row.trim_end_matches('|').rsplit('|').next());
    let named: BTreeSet<&str> = last
        .flat_map(|cell| cell.split('`').skip(1).step_by(2))
        .collect();
    let sources = [
        include_str!("cut_off.rs"),
        include_str!("late.rs"),
        include_str!("leases.rs"),
        include_str!("outage.rs"),
        include_str!("refusals.rs"),
        include_str!("scripts.rs"),
    ];
    let mut tests = BTreeSet::new();
    for source in sources {
        let parts = source.split("\n#[tokio::test").skip(1);
        let of_file = parts.filter_map(|part| {
            let (_, from_name) = part.split_once("async fn ")?;
            Some(from_name.split_once('(')?.0)
        });
        tests.extend(of_file);
    }
    assert!(tests.len() > 20, "{tests:?}");
    assert_eq!(named, tests);
}
