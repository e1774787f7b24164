//! What holds in the tables, whatever happened.

use kindgi_test_servers::Postgres;

use super::support::cell_on;

/// What must not be, and the statement that counts it.
const NEVER: [(&str, &str); 15] = [
    (
        "a key with two live judgments",
        "SELECT COUNT(*) FROM (SELECT 1 FROM kindgi_judgments WHERE unregistered_at IS NULL \
         GROUP BY tenant, run, item_key, author_kind, author_id, participant \
         HAVING COUNT(*) > 1) x",
    ),
    (
        "a judgment with two predecessors",
        "SELECT COUNT(*) FROM (SELECT 1 FROM kindgi_judgments WHERE superseded_by IS NOT NULL \
         GROUP BY tenant, superseded_by HAVING COUNT(*) > 1) x",
    ),
    (
        "a superseded judgment without its successor",
        "SELECT COUNT(*) FROM kindgi_judgments j WHERE superseded_by IS NOT NULL \
         AND NOT EXISTS (SELECT 1 FROM kindgi_judgments s WHERE s.tenant = j.tenant \
         AND s.id = j.superseded_by AND s.run = j.run AND s.item_key = j.item_key \
         AND s.created_at = j.unregistered_at)",
    ),
    (
        "a judgment without its run",
        "SELECT COUNT(*) FROM kindgi_judgments j WHERE NOT EXISTS (SELECT 1 FROM kindgi_runs r \
         WHERE r.tenant = j.tenant AND r.run = j.run AND (r.erased = 1 OR r.captured_at IS NOT NULL))",
    ),
    (
        "a count of items that isn't theirs",
        "SELECT COUNT(*) FROM kindgi_queue_counts c WHERE items <> \
         (SELECT COUNT(*) FROM kindgi_queue_items q WHERE q.tenant = c.tenant \
         AND q.project = c.project AND q.state = c.state AND (c.kind = '' \
         OR (c.kind = 'agent' AND q.agent = c.of_id) OR (c.kind = 'any' AND q.wants_any = 1) \
         OR EXISTS (SELECT 1 FROM kindgi_tellings t WHERE t.tenant = q.tenant AND t.run = q.run \
         AND ((c.kind = 'rule' AND t.rule = c.of_id AND t.skipped = 0) \
         OR (c.kind = 'wants' AND t.wants = c.of_id) \
         OR (c.kind = 'only' AND t.wants = c.of_id AND q.wants_any = 0)))))",
    ),
    (
        "an item that isn't counted",
        "SELECT COUNT(*) FROM (SELECT '' AS kind, COUNT(*) AS n FROM kindgi_queue_items \
         UNION ALL SELECT 'agent', COUNT(agent) FROM kindgi_queue_items \
         UNION ALL SELECT 'any', COUNT(NULLIF(wants_any, 0)) FROM kindgi_queue_items \
         UNION ALL SELECT 'rule', COUNT(NULLIF(skipped, 1)) FROM kindgi_tellings \
         UNION ALL SELECT 'wants', COUNT(wants) FROM kindgi_tellings) e WHERE n <> \
         (SELECT COALESCE(SUM(items), 0) FROM kindgi_queue_counts c WHERE c.kind = e.kind)",
    ),
    (
        "a rule whose number of open items isn't theirs",
        "SELECT COUNT(*) FROM kindgi_rules r WHERE open_items <> \
         (SELECT COUNT(*) FROM kindgi_tellings t JOIN kindgi_queue_items q \
         ON q.tenant = t.tenant AND q.run = t.run WHERE t.tenant = r.tenant \
         AND t.rule = r.id AND t.skipped = 0 AND q.state = 'open')",
    ),
    (
        "a telling of no item",
        "SELECT COUNT(*) FROM kindgi_tellings t WHERE skipped = 0 AND NOT EXISTS \
         (SELECT 1 FROM kindgi_queue_items q WHERE q.tenant = t.tenant \
         AND q.run = t.run AND q.project = t.project AND q.added_at = t.told_at)",
    ),
    (
        "an item that no rule took",
        "SELECT COUNT(*) FROM kindgi_queue_items q WHERE NOT EXISTS \
         (SELECT 1 FROM kindgi_tellings t WHERE t.tenant = q.tenant AND t.run = q.run \
         AND t.skipped = 0)",
    ),
    (
        "a run that was told to a rule twice",
        "SELECT COUNT(*) FROM (SELECT 1 FROM kindgi_tellings GROUP BY tenant, run, rule \
         HAVING COUNT(*) > 1) x",
    ),
    (
        "a rule with a gap in its versions",
        "SELECT COUNT(*) FROM kindgi_rules r WHERE latest_version <> \
         (SELECT COUNT(*) FROM kindgi_rule_versions v WHERE v.tenant = r.tenant \
         AND v.rule = r.id AND v.version BETWEEN 1 AND r.latest_version)",
    ),
    (
        "a version of no rule",
        "SELECT COUNT(*) FROM kindgi_rule_versions v WHERE NOT EXISTS (SELECT 1 FROM \
         kindgi_rules r WHERE r.tenant = v.tenant AND r.id = v.rule \
         AND r.latest_version >= v.version)",
    ),
    (
        "a rule with more open items than it may have",
        "SELECT COUNT(*) FROM kindgi_rules r WHERE open_items > \
         (SELECT MAX(COALESCE(v.max_open, 1000000)) FROM kindgi_rule_versions v \
         WHERE v.tenant = r.tenant AND v.rule = r.id)",
    ),
    (
        "two live classes of one name",
        "SELECT COUNT(*) FROM (SELECT 1 FROM kindgi_classes WHERE unregistered_at IS NULL \
         GROUP BY tenant, scope_kind, project, agent, name HAVING COUNT(*) > 1) x",
    ),
    (
        "something kept about no key",
        "SELECT COUNT(*) FROM (SELECT id FROM kindgi_idempotency_about UNION ALL \
         SELECT id FROM kindgi_idempotency_bars) x WHERE NOT EXISTS \
         (SELECT 1 FROM kindgi_idempotency_keys k WHERE k.id = x.id)",
    ),
];

/// Every invariant of the tables.
pub(crate) fn assert_whole(url: &str) {
    assert_whole_on(Postgres::shared(), url);
}

pub(crate) fn assert_whole_on(server: &Postgres, url: &str) {
    for (what, sql) in NEVER {
        assert_eq!(cell_on(server, url, sql), "0", "there is {what}");
    }
}
