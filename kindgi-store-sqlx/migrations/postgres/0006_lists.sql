-- Judged runs of one version.
CREATE INDEX {}runs_version ON {}runs (tenant, subject_id, subject_kind, version, captured_at, run)
    WHERE erased = 0 AND replay = 0;

CREATE INDEX {}runs_project_version ON {}runs
    (tenant, project, subject_id, subject_kind, version, captured_at, run)
    WHERE erased = 0 AND replay = 0;

-- The paths that the segments of judged runs begin with, for finding the runs by one: of 32
-- segments at most, as JSON without its last bracket, and of that the last 100 characters.
CREATE TABLE {}run_paths (
    tenant TEXT COLLATE "C" NOT NULL,
    run TEXT COLLATE "C" NOT NULL,
    project TEXT COLLATE "C",
    path TEXT COLLATE "C" NOT NULL,
    captured_at BIGINT NOT NULL
);

CREATE UNIQUE INDEX {}run_paths_list ON {}run_paths (tenant, path, captured_at, run);

CREATE INDEX {}run_paths_project ON {}run_paths (tenant, project, path, captured_at, run);

-- For erasing a run.
CREATE INDEX {}run_paths_run ON {}run_paths (tenant, run);

INSERT INTO {}run_paths (tenant, run, project, path, captured_at)
    SELECT DISTINCT tenant, run, project, right(path, 100), captured_at FROM (
        SELECT r.tenant, r.run, r.project, r.captured_at, '[' || string_agg(e.value::text, ',')
            OVER (PARTITION BY r.tenant, r.run ORDER BY e.n) AS path
        FROM {}runs r CROSS JOIN LATERAL json_array_elements(r.segments::json)
            WITH ORDINALITY e(value, n)
        WHERE r.erased = 0 AND r.replay = 0 AND r.segments IS NOT NULL AND e.n <= 32
    ) p;

-- Items that want any judgment, which suit everybody.
CREATE INDEX {}queue_items_any ON {}queue_items (tenant, project, added_at, run)
    WHERE wants_any = 1;

-- By scope, an empty text standing for a project or agent that a scope has none of: a NULL that is
-- asked for doesn't lead to the order.
CREATE INDEX {}classes_of_scope ON {}classes
    (tenant, scope_kind, COALESCE(project, ''), COALESCE(agent, ''), created_at, id)
    WHERE unregistered_at IS NULL;

-- The tenant's, and a project's with those of its agents.
CREATE INDEX {}classes_project ON {}classes (tenant, COALESCE(project, ''), created_at, id)
    WHERE unregistered_at IS NULL;

DROP INDEX {}classes_scope;

-- How many items of a project are in a state also by what one filter asks for: an agent, a rule that
-- took them, a class they want, those that want any judgment, or one class and not any.
ALTER TABLE {}queue_counts ADD COLUMN kind TEXT COLLATE "C" NOT NULL DEFAULT '';

ALTER TABLE {}queue_counts ADD COLUMN of_id TEXT COLLATE "C" NOT NULL DEFAULT '';

DROP INDEX {}queue_counts_state;

CREATE UNIQUE INDEX {}queue_counts_state ON {}queue_counts (tenant, project, kind, of_id, state);

INSERT INTO {}queue_counts (tenant, project, kind, of_id, state, items)
    SELECT tenant, project, kind, of_id, state, COUNT(*) FROM (
        SELECT tenant, project, 'agent' AS kind, agent AS of_id, state FROM {}queue_items
            WHERE agent IS NOT NULL
        UNION ALL SELECT tenant, project, 'any', '', state FROM {}queue_items WHERE wants_any = 1
        UNION ALL SELECT q.tenant, q.project, 'rule', t.rule, q.state FROM {}queue_items q
            JOIN {}tellings t ON t.tenant = q.tenant AND t.run = q.run WHERE t.skipped = 0
        UNION ALL SELECT q.tenant, q.project, 'wants', t.wants, q.state FROM {}queue_items q
            JOIN {}tellings t ON t.tenant = q.tenant AND t.run = q.run
            WHERE t.wants IS NOT NULL
        UNION ALL SELECT q.tenant, q.project, 'only', t.wants, q.state FROM {}queue_items q
            JOIN {}tellings t ON t.tenant = q.tenant AND t.run = q.run
            WHERE t.wants IS NOT NULL AND q.wants_any = 0
    ) c GROUP BY tenant, project, kind, of_id, state;
