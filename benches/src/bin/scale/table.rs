//! What was measured, as Markdown.

use std::{fmt::Write, time::Duration};

use crate::{
    lists::{Case, List},
    plans::Examined,
};

/// The most rows that a page of 25 may examine.
const BOUND: u64 = 4 * 25;
/// How many times as long a page of the large size may take as one of the small.
const FLAT: f64 = 1.2;

/// A page in one size.
#[derive(Clone, Debug, Default)]
pub(crate) struct Page {
    pub(crate) number: usize,
    pub(crate) rows: usize,
    pub(crate) custom: Option<Examined>,
    pub(crate) auto: Option<Examined>,
    pub(crate) generic: Option<Examined>,
    pub(crate) median: Duration,
    /// How long the total alone takes, where there is one.
    pub(crate) total: Duration,
}

/// A page of a list in each size, the smallest first.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    pub(crate) case: Case,
    pub(crate) pages: Vec<Page>,
}

impl Line {
    pub(crate) fn ratio(&self) -> f64 {
        let median = |page: Option<&Page>| page.map_or(0.0, |page| page.median.as_secs_f64());
        median(self.pages.last()) / median(self.pages.first())
    }

    /// Whether the pages are as long in each size, so that their times can be compared.
    fn is_alike(&self) -> bool {
        let rows = |page: Option<&Page>| page.map(|page| page.rows);
        rows(self.pages.first()) == rows(self.pages.last())
    }

    fn large(&self) -> Page {
        self.pages.last().cloned().unwrap_or_default()
    }

    pub(crate) fn name(&self) -> String {
        format!(
            "{}: {}, page {}",
            self.case.list.name(),
            self.case.filters,
            self.large().number
        )
    }
}

pub(crate) fn tables(lines: &[Line]) -> String {
    let mut out = String::new();
    for (is_single, title) in [
        (true, "One filter, alone and with one project"),
        (false, "Several filters"),
    ] {
        let _ = write!(
            out,
            "\n### {title}\n\n\
             | list | filters | page | rows | examined | counted | blocks | index | small | large | ratio | total: small | large |\n\
             | --- | --- | ---: | ---: | ---: | ---: | ---: | --- | ---: | ---: | ---: | ---: | ---: |\n"
        );
        let of = lines.iter().filter(|line| line.case.is_single == is_single);
        of.for_each(|line| row(&mut out, line));
    }
    let _ = write!(
        out,
        "\n### Plans for any values\n\n| list | as connect has it | after ten uses | for any values |\n| --- | ---: | ---: | ---: |\n"
    );
    for line in lines {
        let page = line.large();
        let (Some(custom), Some(auto), Some(generic)) = (page.custom, page.auto, page.generic)
        else {
            continue;
        };
        let all = |examined: &Examined| examined.page + examined.total + examined.shown;
        let (custom, auto, generic) = (all(&custom), all(&auto), all(&generic));
        if auto > 2 * custom || generic > 2 * custom {
            let _ = writeln!(out, "| {} | {custom} | {auto} | {generic} |", line.name());
        }
    }
    let single = lines.iter().filter(|line| line.case.is_single);
    let over = single.clone().filter(|line| {
        let custom = line.large().custom;
        custom.is_some_and(|examined| examined.page > BOUND)
    });
    let steep = single.filter(|line| line.ratio() > FLAT && line.is_alike());
    for (title, found) in [
        ("Over 4 × 25 rows", over.map(Line::name).collect::<Vec<_>>()),
        ("Not flat", steep.map(Line::name).collect()),
    ] {
        let _ = write!(out, "\n{title}: {}\n", found.len());
        for line in found {
            let _ = writeln!(out, "- {line}");
        }
    }
    out
}

fn row(out: &mut String, line: &Line) {
    let millis = |time: Duration| format!("{:.2} ms", time.as_secs_f64() * 1000.0);
    let page = line.large();
    let examined = page.custom.clone().unwrap_or_default();
    let number = |number: u64| match page.custom {
        Some(_) => number.to_string(),
        None => "–".to_owned(),
    };
    let mut index = examined.by.clone();
    index.dedup();
    let times: Vec<_> = line.pages.iter().map(|page| millis(page.median)).collect();
    let totals: Vec<_> = line.pages.iter().map(|page| millis(page.total)).collect();
    let totals = match line.case.list {
        List::Queue(_) => totals.join(" | "),
        _ => vec!["–"; totals.len()].join(" | "),
    };
    let _ = writeln!(
        out,
        "| {} | {} | {} | {} | {} | {} | {} | {} | {} | {:.2} | {totals} |",
        line.case.list.name(),
        line.case.filters,
        page.number,
        page.rows,
        match examined.shown {
            0 => number(examined.page),
            shown => format!("{} + {shown}", examined.page),
        },
        number(examined.total),
        number(examined.blocks),
        index.join(", "),
        times.join(" | "),
        line.ratio(),
    );
}
