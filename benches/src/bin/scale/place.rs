//! Where a page of a list begins, found without walking the pages before it.
//!
//! The condition is spelled in the plainest way, apart from the store's own statements. Each is
//! used once for a page, outside of what is measured.

use std::fmt::Display;

use kindgi_core::{
    BoxError, Timestamp,
    model::{ClassScope, PageSize, Position, Readable, Segment},
    store::{ClassFilter, JudgedRunFilter, JudgmentFilter, QueueFilter},
};

use crate::lists::{LARGE, List};

/// Where a page begins.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    /// The page's number, from 1.
    pub(crate) number: usize,
    /// How many rows it has.
    pub(crate) rows: usize,
    /// The row before it.
    pub(crate) after: Option<Position>,
}

/// The rows of a list, for SQL.
struct Rows {
    table: &'static str,
    at: &'static str,
    id: &'static str,
    way: &'static str,
    conditions: Vec<String>,
}

impl List {
    /// Where the page of this number begins, or the last full one before it. `query` has a
    /// statement's rows, each of a number and a text.
    pub(crate) async fn place(
        &self,
        page: usize,
        query: impl AsyncFn(String) -> Result<Vec<(i64, String)>, BoxError>,
    ) -> Result<Place, BoxError> {
        let each = usize::from(PageSize::default().get());
        let Rows {
            table,
            at,
            id,
            way,
            conditions,
        } = rows(self);
        let matching = format!("FROM kindgi_{table} WHERE {}", conditions.join(" AND "));
        let all = query(format!("SELECT COUNT(*), '' {matching}")).await?;
        let all = all.first().map_or(0, |(all, _)| *all);
        let all = usize::try_from(all)?;
        let number = page.min(all / each).max(1);
        let before = (number - 1) * each;
        let after = match before.checked_sub(1) {
            None => None,
            Some(last) => {
                let sql = format!(
                    "SELECT {at}, {id} {matching} ORDER BY {at} {way}, {id} {way} \
                     LIMIT 1 OFFSET {last}"
                );
                let (at, id) = query(sql).await?.pop().ok_or("no such row")?;
                let at = Timestamp::from_unix_millis(at).ok_or("no such instant")?;
                Some(Position { at, id: id.into() })
            }
        };
        Ok(Place {
            number,
            rows: (all - before).min(each),
            after,
        })
    }
}

fn rows(list: &List) -> Rows {
    let (table, at, id, way, conditions) = match list {
        List::Judgments(filter, readable) => {
            let conditions = judgments(filter, readable);
            ("judgments", "created_at", "id", "DESC", conditions)
        }
        List::Queue(filter) => ("queue_items", "added_at", "run", "ASC", queue(filter)),
        List::Runs(filter) => ("runs", "captured_at", "run", "DESC", runs(filter)),
        List::Classes(filter, readable) => {
            let conditions = classes(filter, readable);
            ("classes", "created_at", "id", "DESC", conditions)
        }
        List::Rules => {
            let live = "unregistered_at IS NULL".to_owned();
            let conditions = vec![is("project", LARGE), live];
            ("rules", "first_created_at", "id", "ASC", conditions)
        }
    };
    let mut conditions: Vec<String> = conditions;
    conditions.push(is("tenant", "acme"));
    Rows {
        table,
        at,
        id,
        way,
        conditions,
    }
}

fn is(column: &str, value: impl Display) -> String {
    format!("{column} = '{value}'")
}

fn of_kind(kind: &str, subject: impl Display) -> [String; 2] {
    [is("subject_kind", kind), is("subject_id", subject)]
}

fn judgments(f: &JudgmentFilter, readable: &Readable) -> Vec<String> {
    let mut all = vec!["unregistered_at IS NULL".to_owned()];
    all.extend(f.run.iter().map(|run| is("run", run.as_str())));
    all.extend(f.class.iter().map(|class| is("class", class.as_str())));
    let participant = f.participant.iter();
    all.extend(participant.map(|person| is("participant", person.as_str())));
    let agent = f.agent.iter();
    all.extend(agent.flat_map(|agent| of_kind("agent", agent.as_str())));
    let version = f.agent_version.iter();
    all.extend(version.map(|version| is("version", version.as_str())));
    all.extend(
        f.flow
            .iter()
            .flat_map(|flow| of_kind("flow", flow.as_str())),
    );
    all.extend(
        f.verdict
            .iter()
            .map(|verdict| is("verdict", verdict.as_str())),
    );
    all.extend(readable_by(readable));
    all
}

fn readable_by(readable: &Readable) -> Option<String> {
    let Readable::Only(projects) = readable else {
        return None;
    };
    let projects = projects
        .iter()
        .map(|project| format!("'{}'", project.as_str()));
    let projects: Vec<_> = projects.collect();
    Some(format!("project IN ({})", projects.join(", ")))
}

fn queue(f: &QueueFilter) -> Vec<String> {
    let told = |what: &str| {
        format!(
            "run IN (SELECT run FROM kindgi_tellings \
             WHERE tenant = 'acme' AND project = '{LARGE}' AND {what})"
        )
    };
    let mut all = vec![is("project", LARGE)];
    all.extend(f.state.iter().map(|state| is("state", state.as_str())));
    all.extend(f.agent.iter().map(|agent| is("agent", agent.as_str())));
    let rule = f.rule.iter().map(|rule| is("rule", rule.as_str()));
    all.extend(rule.map(|rule| told(&format!("{rule} AND skipped = 0"))));
    let wants = f.wants.iter().map(|class| is("wants", class.as_str()));
    all.extend(wants.map(|wants| told(&wants)));
    all.extend(f.wants_any_or.iter().map(|classes| {
        let classes = classes.iter().map(|class| is("wants", class.as_str()));
        let any = classes.map(|wants| format!(" OR {}", told(&wants)));
        format!("(wants_any = 1{})", any.collect::<String>())
    }));
    for (column, since) in [("added_at", f.added_after), ("closed_at", f.closed_after)] {
        all.extend(since.map(|since| format!("{column} >= {}", since.as_unix_millis())));
    }
    all
}

fn runs(f: &JudgedRunFilter) -> Vec<String> {
    let mut all = vec![
        "erased = 0 AND replay = 0".to_owned(),
        "EXISTS (SELECT 1 FROM kindgi_judgments j WHERE j.tenant = kindgi_runs.tenant \
         AND j.run = kindgi_runs.run AND j.unregistered_at IS NULL)"
            .to_owned(),
    ];
    let agent = f.agent.iter();
    all.extend(agent.flat_map(|agent| of_kind("agent", agent.as_str())));
    let version = f.agent_version.iter();
    all.extend(version.map(|version| is("version", version.as_str())));
    all.extend(
        f.flow
            .iter()
            .flat_map(|flow| of_kind("flow", flow.as_str())),
    );
    all.extend(
        f.project
            .iter()
            .map(|project| is("project", project.as_str())),
    );
    all.extend(
        f.since
            .map(|at| format!("captured_at >= {}", at.as_unix_millis())),
    );
    all.extend(
        f.until
            .map(|at| format!("captured_at < {}", at.as_unix_millis())),
    );
    if !f.segments.is_empty() {
        let path = Segment::path_to_json(&f.segments).to_string();
        let goes_on = path.replace(']', ",");
        all.push(format!(
            "(segments = '{path}' OR substr(segments, 1, {}) = '{goes_on}')",
            goes_on.len()
        ));
    }
    all
}

fn classes(f: &ClassFilter, readable: &Readable) -> Vec<String> {
    let mut all = vec!["unregistered_at IS NULL".to_owned()];
    all.extend(f.scope.iter().map(|scope| is("scope_kind", scope.kind())));
    let project = f.scope.iter().filter_map(ClassScope::project);
    all.extend(project.map(|project| is("project", project.as_str())));
    let agent = f.scope.iter().filter_map(ClassScope::agent);
    all.extend(agent.map(|agent| is("agent", agent.as_str())));
    // A tenant's are everyone's.
    let readable = readable_by(readable);
    all.extend(readable.map(|readable| format!("(scope_kind = 'tenant' OR {readable})")));
    all
}
