//! What came of a rule's runs.

use std::collections::BTreeMap;

use kindgi_core::{
    Timestamp,
    model::{ItemState, ProjectId, RuleId, TenantId, Version, Weight},
    rules::results::{ClassCount, Counted},
    store::RuleResults,
};

use super::{
    Tables,
    codec::{self, queue::count},
    of_run,
};
use crate::{
    dialect::Dialect,
    error::DbError,
    sql::{Row, Sql},
};

/// What a row of the statement tells.
const RULE: i64 = 0;
const TAKEN: i64 = 1;
const SKIPPED: i64 = 2;
const JUDGED: i64 = 3;

/// The statement: a row if the rule is there, and rows of each kind for what is counted. It reads
/// the rule's own tellings, and of judgments those of the runs that the rule took.
pub(super) fn statement(
    tables: &Tables,
    dialect: &Dialect,
    tenant: &TenantId,
    project: &ProjectId,
    rule: &RuleId,
    since: Option<Timestamp>,
) -> Sql {
    let Tables {
        judgments,
        classes,
        rules,
        tellings,
        queue_items,
        ..
    } = tables;
    let (tenant, project, rule) = (tenant.as_str(), project.as_str(), rule.as_str());
    // Of a rule's tellings `t`, those that took the run, or those that skipped it.
    let told = |sql: Sql, skipped: bool| {
        let sql = sql
            .push(&format!(
                " WHERE t.tenant = ? AND t.project = ? AND t.rule = ? AND t.skipped = {}",
                i64::from(skipped)
            ))
            .bind(tenant)
            .bind(project)
            .bind(rule);
        match since {
            Some(since) => sql.push(" AND t.told_at >= ?").bind(since.as_unix_millis()),
            None => sql,
        }
    };
    let of_t = |table: &str| of_run(dialect, table, "t");
    let live = format!("{} AND j.unregistered_at IS NULL", of_t("j"));
    let sql = Sql::new(format!(
        "SELECT {RULE}, 0, NULL, NULL, NULL, 0, 0 FROM {rules} \
         WHERE tenant = ? AND id = ? AND project = ?"
    ))
    .bind(tenant)
    .bind(rule)
    .bind(project);
    let sql = sql.push(&format!(
        " UNION ALL SELECT {TAKEN}, t.version, t.agent_version, q.state, NULL, COUNT(*), \
         COUNT(CASE WHEN EXISTS (SELECT 1 FROM {judgments} j WHERE {live}) THEN 1 END) \
         FROM {tellings} t JOIN {queue_items} q ON {}",
        of_t("q")
    ));
    let sql = told(sql, false).push(" GROUP BY t.version, t.agent_version, q.state");
    let sql = sql.push(&format!(
        " UNION ALL SELECT {SKIPPED}, t.version, t.agent_version, NULL, NULL, COUNT(*), 0 \
         FROM {tellings} t"
    ));
    let sql = told(sql, true).push(" GROUP BY t.version, t.agent_version");
    let sql = sql.push(&format!(
        " UNION ALL SELECT {JUDGED}, g.version, g.agent_version, g.class, c.weight, g.judgments, \
         g.yes FROM (SELECT t.version, t.agent_version, j.class, COUNT(*) AS judgments, \
         COUNT(CASE WHEN j.verdict = 'yes' THEN 1 END) AS yes \
         FROM {tellings} t JOIN {judgments} j ON {live}"
    ));
    let sql = told(sql, false).push(" GROUP BY t.version, t.agent_version, j.class) g");
    sql.push(&format!(
        " LEFT JOIN {classes} c ON c.tenant = ? AND c.id = g.class"
    ))
    .bind(tenant)
}

/// From the statement's rows; `None` if the rule isn't there.
pub(super) fn read(rows: Vec<Row>) -> Result<Option<RuleResults>, DbError> {
    let corrupt = || DbError::corrupt("results");
    let mut found = false;
    let mut weights = BTreeMap::new();
    let mut groups: BTreeMap<(u32, Option<Version>), Counted> = BTreeMap::new();
    for mut row in rows {
        let kind = row.int()?;
        if kind == RULE {
            found = true;
            continue;
        }
        let version = row.int()?.try_into().map_err(|_| corrupt())?;
        let agent: Option<Version> = row.opt_text()?.map(codec::parse).transpose()?;
        let name = row.opt_text()?;
        let weight = row.opt_text()?;
        let (counted, of_them) = (count(row.int()?)?, count(row.int()?)?);
        let group = groups
            .entry((version, agent.clone()))
            .or_insert_with(|| Counted::nothing(version, agent));
        match kind {
            TAKEN => {
                let state = name.as_deref().and_then(ItemState::from_name);
                let states = group.states.iter_mut().zip(ItemState::ALL);
                for (states, _) in states.filter(|(_, each)| Some(*each) == state) {
                    *states += counted;
                }
                group.runs_with_judgments += of_them;
            }
            SKIPPED => group.skipped_by_cap += counted,
            _ => {
                let class = name.map(codec::parse).transpose()?;
                if let (Some(class), Some(weight)) = (&class, weight) {
                    let weight = weight.parse().ok().and_then(Weight::new);
                    weights.insert(Clone::clone(class), weight.ok_or_else(corrupt)?);
                }
                group.by_class.push(ClassCount {
                    class,
                    judgments: counted,
                    yes: of_them,
                });
            }
        }
    }
    let mut counted: Vec<_> = groups.into_values().collect();
    for group in &mut counted {
        group.by_class.sort_by(|a, b| a.class.cmp(&b.class));
    }
    counted.sort_by_cached_key(Counted::place);
    Ok(found.then_some(RuleResults { counted, weights }))
}
