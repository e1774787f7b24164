//! What PostgreSQL says it did, read from its log (`auto_explain`).

use std::{
    fs::File,
    io::{Read, Seek, SeekFrom},
    path::{Path, PathBuf},
};

use kindgi_core::{
    BoxError,
    json::{Kind, Node, RawJson},
};

/// The settings of a connection whose statements are explained. Only a superuser may have them.
pub(crate) const EXPLAINED: [(&str, &str); 5] = [
    ("session_preload_libraries", "auto_explain"),
    ("auto_explain.log_min_duration", "0"),
    ("auto_explain.log_analyze", "on"),
    ("auto_explain.log_buffers", "on"),
    ("auto_explain.log_format", "json"),
];

/// How many rows a statement examined, by what it needed them for.
#[derive(Clone, Debug, Default)]
pub(crate) struct Examined {
    /// To find the page.
    pub(crate) page: u64,
    /// To count what is on all pages.
    pub(crate) total: u64,
    /// To show the judgments of the page's runs.
    pub(crate) shown: u64,
    /// The blocks that were read for all of it.
    pub(crate) blocks: u64,
    /// The indexes, and tables without one, in the plan's order.
    pub(crate) by: Vec<String>,
}

/// A server's log.
#[derive(Debug)]
pub(crate) struct Log {
    path: PathBuf,
    read: u64,
}

impl Log {
    /// The log of the server with this folder, from its end on.
    pub(crate) fn of(folder: &Path) -> Result<Self, BoxError> {
        let path = folder.join("log");
        let read = path.metadata()?.len();
        Ok(Self { path, read })
    }

    /// The plans that were logged since the last time.
    pub(crate) fn plans(&mut self) -> Result<Vec<Examined>, BoxError> {
        let mut file = File::open(&self.path)?;
        file.seek(SeekFrom::Start(self.read))?;
        let mut new = String::new();
        self.read += file.read_to_string(&mut new)? as u64;
        let mut plans = Vec::new();
        for part in new.split(" plan:\n").skip(1) {
            let plan: String = part
                .lines()
                .take_while(|line| line.starts_with('\t'))
                .collect();
            plans.push(examined(&plan)?);
        }
        Ok(plans)
    }

    /// The one plan that was logged since the last time.
    pub(crate) fn plan(&mut self) -> Result<Examined, BoxError> {
        let plans = self.plans()?;
        let [plan] = &*plans else {
            return Err(format!("{} plans instead of one", plans.len()).into());
        };
        Ok(plan.clone())
    }
}

/// What a part of a plan is in.
#[derive(Clone, Copy)]
enum In {
    Statement,
    /// The part of a list of runs that finds the page's.
    Page,
    /// A value that the statement needs once, as a total is.
    Value,
}

fn examined(plan: &str) -> Result<Examined, BoxError> {
    let json = RawJson::parse(plan)?;
    let root = Node::parse(&json, 100).map_err(|_| "a plan that is too deep")?;
    let plan = member(&root, "Plan").ok_or("no plan")?;
    let mut examined = Examined {
        blocks: number(plan, "Shared Hit Blocks") + number(plan, "Shared Read Blocks"),
        ..Examined::default()
    };
    add(plan, In::Statement, &mut examined);
    Ok(examined)
}

/// Adds up a part of a plan and the parts below it.
fn add(node: &Node, above: In, sum: &mut Examined) {
    let kind = text(node, "Node Type");
    let within = match text(node, "Subplan Name") {
        name if name.starts_with("CTE") => In::Page,
        name if name.starts_with("InitPlan") => In::Value,
        _ => above,
    };
    if [
        "Seq Scan",
        "Index Scan",
        "Index Only Scan",
        "Bitmap Heap Scan",
        "Bitmap Index Scan",
    ]
    .contains(&kind)
    {
        let each = number(node, "Actual Rows")
            + number(node, "Rows Removed by Filter")
            + number(node, "Rows Removed by Index Recheck");
        let rows = each * number(node, "Actual Loops");
        *match within {
            In::Value => &mut sum.total,
            In::Statement if text(node, "Alias") == "j" => &mut sum.shown,
            In::Statement | In::Page => &mut sum.page,
        } += rows;
        let index = match text(node, "Index Name") {
            "" => text(node, "Relation Name"),
            index => index,
        };
        sum.by.push(index.replace("kindgi_", ""));
    }
    if let Some(Kind::Array(parts)) = member(node, "Plans").map(Node::kind) {
        for part in parts {
            add(part, within, sum);
        }
    }
}

fn member<'n>(node: &'n Node, name: &str) -> Option<&'n Node> {
    let Kind::Object(members) = node.kind() else {
        return None;
    };
    let named = members.iter().find(|(key, _)| key.as_str() == Ok(name));
    named.map(|(_, value)| value)
}

fn text<'n>(node: &'n Node, name: &str) -> &'n str {
    match member(node, name).map(Node::kind) {
        Some(Kind::String(text)) => text.lossy(),
        _ => "",
    }
}

fn number(node: &Node, name: &str) -> u64 {
    match member(node, name).map(Node::kind) {
        Some(Kind::Number(number)) => number.to_f64().unwrap_or_default().round() as u64,
        _ => 0,
    }
}
