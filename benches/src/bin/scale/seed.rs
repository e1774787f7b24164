//! The rows, and the numbers that go with them.

/// How many there are of what.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Size {
    pub(crate) judgments: u64,
}

impl Size {
    /// Instants are milliseconds after the first run's, which is this many after the epoch.
    const FIRST_RUN: i64 = 1_600_000_000_000;

    /// How many items the queue has.
    pub(crate) fn items(self) -> u64 {
        self.judgments / 5
    }

    /// How many rules each project has.
    fn rules(self) -> u64 {
        (self.judgments / 4000).max(5)
    }

    fn classes(self) -> u64 {
        (self.judgments / 200).max(30)
    }

    /// An instant when so many hundredths of the runs have ended.
    pub(crate) fn instant(self, hundredths: u64) -> i64 {
        let runs = self.items() * hundredths / 100;
        Self::FIRST_RUN + i64::try_from(runs).unwrap_or_default() * 60_000
    }

    /// The steps that fill a database, whose tables begin with `kindgi_`. `series` is a table of
    /// `n` from 0 to one less than what it is given, `pad` a text of 64.
    pub(crate) fn steps(
        self,
        series: impl Fn(&str) -> String,
        pad: impl Fn(&str) -> String,
    ) -> Vec<String> {
        let sql = include_str!("seed.sql")
            .replace("{judgments}", &self.judgments.to_string())
            .replace("{rules}", &self.rules().to_string())
            .replace("{classes}", &self.classes().to_string())
            .replace("{}", "kindgi_");
        let sql = filled(&filled(&sql, "{series:", series), "{pad:", pad);
        sql.split_inclusive(";\n").map(str::to_owned).collect()
    }

    /// The steps for PostgreSQL.
    pub(crate) fn postgres_steps(self) -> Vec<String> {
        self.steps(
            |count| {
                format!("(SELECT g AS n FROM generate_series(CAST(0 AS BIGINT), {count} - 1) AS g)")
            },
            |value| format!("lpad(CAST({value} AS TEXT), 64, '0')"),
        )
    }

    /// The steps for SQLite.
    pub(crate) fn sqlite_steps(self) -> Vec<String> {
        self.steps(
            |count| {
                format!(
                    "(WITH RECURSIVE g(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM g \
                     WHERE n + 1 < {count}) SELECT n FROM g)"
                )
            },
            |value| format!("printf('%064d', {value})"),
        )
    }
}

/// The text with what stands after each mark, up to a `}`, replaced.
fn filled(text: &str, mark: &str, by: impl Fn(&str) -> String) -> String {
    let mut parts = text.split(mark);
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |done, part| match part.split_once('}') {
        Some((value, rest)) => done + &by(value) + rest,
        None => done + mark + part,
    })
}

/// The first run whose project is this one.
pub(crate) fn run_of(project: u64) -> Option<String> {
    // As the rows are made.
    let die = |m: u64| m * 2_654_435_761 % 4_294_967_296 / 65_536 % 10_000;
    let of = |m: u64| match die(m) {
        0..4000 => 0,
        4000..6000 => 1,
        6000..7500 => 2,
        7500..8500 => 3,
        a => 4 + a % 16,
    };
    let judged = (100..).step_by(2).take(1000);
    let run = judged.into_iter().find(|m| of(*m) == project);
    run.map(|m| format!("run-{}", 10_000_000 + m))
}
