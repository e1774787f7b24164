//! What is derived of a batch's records: a row for each rule, and how many items there are.

use std::collections::BTreeMap;

use kindgi_core::{
    Timestamp,
    model::{ItemState, JudgingRule, QueueItem},
};

use super::import::Rows;
use crate::{
    drivers::Connection,
    error::DbError,
    sql::{Cell, Sql},
    store::{CHUNK, Tables, marks, queue_counts},
};

/// What versions of a rule say together: the first one that is new, and the latest.
#[derive(Default)]
pub(super) struct Rules<'r>(BTreeMap<(&'r str, &'r str), (&'r JudgingRule, &'r JudgingRule)>);

impl<'r> Rules<'r> {
    pub(super) fn add(&mut self, rule: &'r JudgingRule) {
        let key = (rule.tenant.as_str(), rule.id.as_str());
        let (_, latest) = self.0.entry(key).or_insert((rule, rule));
        *latest = rule;
    }

    pub(super) async fn store(
        self,
        connection: &mut dyn Connection,
        tables: &Tables,
    ) -> Result<(), DbError> {
        let (rows, later) = self.split();
        connection
            .together(&later.statements(tables, "latest_version = ?"))
            .await?;
        let columns = "tenant, id, project, latest_version, first_created_at, unregistered_at";
        rows.store(connection, &tables.rules, columns).await
    }

    /// The rows of rules that are new, and the latest versions of the others.
    fn split(self) -> (Rows, Alike<'r>) {
        let (mut rows, mut later) = (Rows::default(), Alike::default());
        for ((tenant, id), (first, latest)) in self.0 {
            let version = i64::from(latest.version);
            if first.version > 1 {
                later.add(tenant, id, version);
                continue;
            }
            rows.add(
                "",
                vec![
                    tenant.into(),
                    id.into(),
                    first.project.as_str().into(),
                    version.into(),
                    first.created_at.as_unix_millis().into(),
                    first.unregistered_at.map(Timestamp::as_unix_millis).into(),
                ],
            );
        }
        (rows, later)
    }
}

/// What items count for, and how many are open by rule.
#[derive(Default)]
pub(super) struct Counts<'r> {
    items: queue_counts::Counts<'r>,
    open: BTreeMap<(&'r str, &'r str), i64>,
}

impl<'r> Counts<'r> {
    pub(super) fn add(&mut self, tenant: &'r str, item: &'r QueueItem) {
        self.items.add(tenant, item);
        if item.state == ItemState::Open {
            for by in &item.taken_by {
                let open = self.open.entry((tenant, by.rule.as_str()));
                *open.or_default() += 1;
            }
        }
    }

    pub(super) async fn store(
        self,
        connection: &mut dyn Connection,
        tables: &Tables,
    ) -> Result<(), DbError> {
        connection.together(&self.statements(tables)).await
    }

    /// Few statements, however many projects and rules there are.
    fn statements(self, tables: &Tables) -> Vec<Sql> {
        let mut all = self.items.into_table(&tables.queue_counts);
        let mut open = Alike::default();
        for ((tenant, rule), items) in self.open {
            open.add(tenant, rule, items);
        }
        all.extend(open.statements(tables, "open_items = open_items + ?"));
        all
    }
}

/// Rules of a tenant for which the same number is to be stored.
#[derive(Default)]
struct Alike<'r>(BTreeMap<(&'r str, i64), Vec<&'r str>>);

impl<'r> Alike<'r> {
    fn add(&mut self, tenant: &'r str, rule: &'r str, number: i64) {
        self.0.entry((tenant, number)).or_default().push(rule);
    }

    /// The statements that store the numbers, each rule's in one of them.
    fn statements(&self, tables: &Tables, set: &str) -> Vec<Sql> {
        let mut all = Vec::new();
        for ((tenant, number), rules) in &self.0 {
            for rules in rules.chunks(CHUNK) {
                let update = Sql::new(format!(
                    "UPDATE {} SET {set} WHERE tenant = ? AND id IN ({})",
                    tables.rules,
                    marks(rules.len())
                ));
                let rules = rules.iter().map(|rule| Cell::from(*rule));
                all.push(update.bind(*number).bind(*tenant).bind_all(rules));
            }
        }
        all
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test")]

    use std::collections::BTreeSet;

    use kindgi_core::model::{RuleWhen, Sample, TakenBy};

    use super::*;

    /// More than one statement names.
    const MANY: usize = 4 * CHUNK + 1;

    fn texts(sql: &Sql) -> impl Iterator<Item = &str> {
        sql.args.iter().filter_map(|cell| match cell {
            Cell::Text(text) => Some(text.as_str()),
            _ => None,
        })
    }

    /// All rules that statements name, each once.
    fn named(all: &[Sql]) -> BTreeSet<&str> {
        let mut named = BTreeSet::new();
        let texts = all.iter().flat_map(texts);
        for rule in texts.filter(|text| text.starts_with("rule-")) {
            assert!(named.insert(rule), "{rule}");
        }
        named
    }

    fn item(project: usize, rules: impl Iterator<Item = usize>) -> QueueItem {
        let taken_by = rules.map(|rule| TakenBy {
            rule: format!("rule-{rule}").parse().unwrap(),
            version: 1,
            wants: None,
        });
        QueueItem {
            run: "run".parse().unwrap(),
            project: format!("project-{project}").parse().unwrap(),
            agent: None,
            flow: "flow".parse().unwrap(),
            completed_at: Timestamp::UNIX_EPOCH,
            added_at: Timestamp::UNIX_EPOCH,
            taken_by: taken_by.collect(),
            progress: Vec::new(),
            state: ItemState::Open,
            closed_at: None,
            closed_by: None,
            reason: None,
        }
    }

    #[test]
    fn many_rules_are_counted_for_in_few_statements() {
        // One in three has two items, the others one.
        let items = [
            item(0, 0..MANY),
            item(1, (0..MANY).filter(|rule| rule % 3 == 0)),
        ];
        let mut counts = Counts::default();
        for item in &items {
            counts.add("acme", item);
        }
        let all = counts.statements(&Tables::new("kindgi_"));
        let is_of_items = |sql: &&Sql| sql.text.contains("kindgi_queue_counts");
        let items = all.iter().filter(is_of_items).count();
        let (items, rules) = all.split_at(items);
        let states = items.iter().flat_map(texts).filter(|it| *it == "open");
        // Of all, of those that want any judgment and of each rule, in both projects.
        assert_eq!(states.count(), 2 + 2 + MANY + MANY.div_ceil(3));
        assert_eq!(rules.len(), 3 + 2, "{MANY} rules");
        assert_eq!(named(rules).len(), MANY);
        for sql in rules {
            let Some(Cell::Int(items)) = sql.args.first() else {
                panic!("no number: {sql:?}");
            };
            for rule in texts(sql).filter_map(|text| text.strip_prefix("rule-")) {
                let twice = rule.parse::<usize>().unwrap() % 3 == 0;
                assert_eq!(*items, 1 + i64::from(twice), "{rule}");
            }
        }
    }

    #[test]
    fn many_projects_are_counted_for_in_few_statements() {
        let items: Vec<_> = (0..MANY).map(|project| item(project, 0..1)).collect();
        let mut counts = Counts::default();
        for item in &items {
            counts.add("acme", item);
        }
        let all = counts.statements(&Tables::new("kindgi_"));
        // Of all, of those that want any judgment and of the rule, in each project.
        assert_eq!(all.len(), (3 * MANY).div_ceil(CHUNK) + 1);
        let projects = all.iter().flat_map(texts);
        let projects: BTreeSet<_> = projects.filter(|it| it.starts_with("project-")).collect();
        assert_eq!(projects.len(), MANY);
        assert_eq!(all.last().unwrap().args[0], Cell::Int(MANY as i64));
    }

    #[test]
    fn later_versions_of_many_rules_are_stored_in_few_statements() {
        let rule = |id: usize, version| JudgingRule {
            id: format!("rule-{id}").parse().unwrap(),
            tenant: "acme".parse().unwrap(),
            project: "project".parse().unwrap(),
            version,
            name: "a rule".parse().unwrap(),
            when: RuleWhen::default(),
            sample: Sample::ALL,
            max_open: None,
            class: None,
            enabled: true,
            created_by: None,
            created_at: Timestamp::UNIX_EPOCH,
            unregistered_at: None,
        };
        let later: Vec<_> = (0..MANY).map(|id| rule(id, 2)).collect();
        let new = [rule(MANY, 1), rule(MANY, 2)];
        let mut rules = Rules::default();
        for rule in later.iter().chain(&new) {
            rules.add(rule);
        }
        let (_, later) = rules.split();
        let all = later.statements(&Tables::new("kindgi_"), "latest_version = ?");
        assert_eq!(all.len(), 5);
        assert_eq!(named(&all).len(), MANY);
        assert!(all.iter().all(|sql| sql.args[0] == Cell::Int(2)));
    }
}
