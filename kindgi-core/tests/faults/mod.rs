//! Faults that the laws of a suite must notice, and the table of them in `SABOTAGE.md`.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::{Debug, Write as _},
    fs,
    sync::{Mutex, PoisonError},
};

use kindgi_core::conformance::Report;

/// Stamps a test for each law, that it fails on all that `breaks` has for it, and one that they are
/// those of the table. A law that `breaks` has no function for doesn't compile.
macro_rules! fails {
    ([$suite:literal, $Broken:ident] $($law:ident)*) => {
        crate::faults::fails! { [$suite, |law, fault| law(&$Broken(fault))] $($law)* }
    };
    ([$suite:literal, |$of:ident, $fault:ident| $fails:expr] $($law:ident)*) => {
        $(
            #[test]
            fn $law() {
                let broken = |$fault| {
                    let $of = laws::$law;
                    $fails
                };
                crate::faults::all_noticed($suite, stringify!($law), &breaks::$law(), broken);
            }
        )*

        #[test]
        fn the_table_has_these_and_no_others() {
            let faults = [$((stringify!($law), crate::faults::names(&breaks::$law()))),*];
            crate::faults::are_in_the_table($suite, &faults);
        }
    };
}
pub(crate) use fails;

const TABLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/SABOTAGE.md");

/// With this in the environment, whatever it is, the table is brought up to date.
const WRITES: &str = "KINDGI_SABOTAGE_TABLE";

/// The case of a law at which it noticed a fault; none, if it noticed by what it always does.
type Case = Option<u32>;

pub(crate) fn names<F: Debug>(faults: &[F]) -> Vec<String> {
    faults.iter().map(|fault| format!("{fault:?}")).collect()
}

/// The law fails on each fault, and says that it is this law.
pub(crate) fn all_noticed<F: Copy + Debug>(
    suite: &str,
    law: &str,
    faults: &[F],
    broken: impl Fn(F) -> Result<(), Report>,
) {
    assert!(!faults.is_empty());
    let (mut cases, mut unnoticed) = (Vec::new(), Vec::new());
    for fault in faults {
        let Err(report) = broken(*fault) else {
            unnoticed.push(fault);
            continue;
        };
        assert_eq!(report.law(), law);
        for others in ["the suite", "must name"] {
            assert!(!report.to_string().contains(others), "{fault:?}: {report}");
        }
        cases.push(report.case());
    }
    assert!(unnoticed.is_empty(), "went unnoticed: {unnoticed:?}");
    if std::env::var_os(WRITES).is_some() {
        let rows = names(faults).into_iter().zip(cases).collect();
        rewrite(suite, law, rows);
    }
}

/// The table names each fault under its law, and nothing that isn't there.
pub(crate) fn are_in_the_table(suite: &str, faults: &[(&str, Vec<String>)]) {
    let table = Table::read();
    let laws = table.suites.get(suite).into_iter().flatten();
    let rows = laws.flat_map(|(law, rows)| rows.iter().map(move |(fault, _)| (&**law, &**fault)));
    let faults = faults
        .iter()
        .flat_map(|(law, faults)| faults.iter().map(move |fault| (*law, &**fault)));
    let (rows, faults): (BTreeSet<_>, BTreeSet<_>) = (rows.collect(), faults.collect());
    let missing: Vec<_> = faults.difference(&rows).collect();
    let unknown: Vec<_> = rows.difference(&faults).collect();
    assert!(
        missing.is_empty() && unknown.is_empty(),
        "{TABLE} lacks {missing:?} and has {unknown:?}; {WRITES} has it written"
    );
}

/// Replaces what the table has of a law.
fn rewrite(suite: &str, law: &str, rows: Vec<(String, Case)>) {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let _one = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let mut table = Table::read();
    let laws = table.suites.entry(suite.to_owned()).or_default();
    laws.insert(law.to_owned(), rows);
    fs::write(TABLE, table.text()).unwrap();
}

/// The rows of a suite: for each law its faults, in the order of `breaks`.
type Rows = BTreeMap<String, Vec<(String, Case)>>;

struct Table {
    head: String,
    suites: BTreeMap<String, Rows>,
}

impl Table {
    fn read() -> Self {
        let text = fs::read_to_string(TABLE).unwrap();
        let mut parts = text.split("\n## ");
        let head = parts.next().unwrap().to_owned();
        let mut suites = BTreeMap::new();
        for part in parts {
            let (suite, text) = part.split_once('\n').unwrap();
            let mut rows = Rows::new();
            for line in text.lines().filter(|line| line.starts_with("| `")) {
                let cells: Vec<&str> = line.split(" | ").collect();
                let [law, fault, case] = *cells else {
                    panic!("{line}");
                };
                let bare = |cell: &str| cell.trim_matches(['|', ' ', '`']).to_owned();
                let rows = rows.entry(bare(law)).or_default();
                rows.push((bare(fault), bare(case).parse().ok()));
            }
            suites.insert(suite.trim_matches('`').to_owned(), rows);
        }
        Self { head, suites }
    }

    fn text(&self) -> String {
        let mut text = self.head.trim_end().to_owned() + "\n";
        for (suite, laws) in &self.suites {
            let _ = write!(
                text,
                "\n## `{suite}`\n\n| law | fault | case |\n| --- | --- | --: |\n"
            );
            for (law, rows) in laws {
                for (fault, case) in rows {
                    let case = case.map_or("–".to_owned(), |case| case.to_string());
                    let _ = writeln!(text, "| `{law}` | `{fault}` | {case} |");
                }
            }
        }
        text
    }
}
