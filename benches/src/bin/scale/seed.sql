-- A tenant's judgments, runs, queue, rules and classes, with the spread of a busy service: a few
-- projects, agents and classes have most of it, and who has which says nothing of the other.
--
-- Each mark is replaced. A step ends with a semicolon at the end of a line.
--
-- A tenth as many runs as judgments are judged, and the queue has a fifth as many items.

-- Multiplied by odd numbers, the upper bits of a number give numbers of 0 to 9999 that say little of
-- one another.
CREATE TABLE {}seed_dice AS
    SELECT n AS m,
        n * 2654435761 % 4294967296 / 65536 % 10000 AS a,
        n * 2246822519 % 4294967296 / 65536 % 10000 AS b,
        n * 3266489917 % 4294967296 / 65536 % 10000 AS c,
        n * 668265263 % 4294967296 / 65536 % 10000 AS d,
        n * 374761393 % 4294967296 / 65536 % 10000 AS e
    FROM {series:{judgments}} s;

CREATE UNIQUE INDEX {}seed_dice_m ON {}seed_dice (m);

CREATE TABLE {}seed_runs AS
    SELECT m, 'run-' || (10000000 + m) AS run, 1600000000000 + m * 60000 AS at,
        'project-' || CASE WHEN a < 4000 THEN 0 WHEN a < 6000 THEN 1 WHEN a < 7500 THEN 2
            WHEN a < 8500 THEN 3 ELSE 4 + a % 16 END AS project,
        CASE WHEN b < 7500 THEN 'agent' ELSE 'flow' END AS kind,
        CASE WHEN b < 7500
            THEN 'agent.a' || CASE WHEN c < 3000 THEN 0 WHEN c < 5000 THEN 1 ELSE 2 + c % 28 END
            ELSE 'flow.f' || CASE WHEN c < 5000 THEN 0 ELSE 1 + c % 9 END END AS subject,
        '1.' || (d % 5) AS version,
        'flow.f' || CASE WHEN c < 5000 THEN 0 ELSE 1 + c % 9 END AS flow,
        CASE WHEN m % 2 = 0 THEN 'judged' WHEN d < 6000 THEN 'open' WHEN d < 9500 THEN 'dismissed'
            ELSE 'erased' END AS state,
        -- Which of the project's rules took it, and whether the next one did, too, or skipped it.
        CASE WHEN e < 4000 THEN 0 ELSE e % {rules} END AS taker,
        CASE WHEN d % 10 < 3 THEN 0 WHEN d % 10 = 3 THEN 1 END AS next_skipped
    FROM {}seed_dice WHERE m < {judgments} / 5;

CREATE UNIQUE INDEX {}seed_runs_m ON {}seed_runs (m);

-- Some segment paths, and some without; one of twenty is a replay.
INSERT INTO {}runs (tenant, run, erased, project, replay, subject_kind, subject_id, version, input,
    output, context, segments, captured_at)
    SELECT 'acme', run, 0, project, CASE WHEN d % 20 = 0 THEN 1 ELSE 0 END, kind, subject, version,
        '{"question":"Which cases are like mine?"}',
        '{"matches":[{"caseId":"' || run || '","title":"Sons v. Harbour Authority","score":0.875,'
            || '"summary":"A claim for demurrage. The vessel waited eleven days at anchor."}]}',
        CASE WHEN d % 20 = 0 THEN '{"replayOf":"run-0"}' END,
        CASE WHEN e % 5 > 0 THEN '[{"key":"company","value":"c' || (c % 4) || '"},'
            || '{"key":"team","value":"t' || (e % 7) || '"}]' END,
        at
    FROM {}seed_runs r JOIN {}seed_dice USING (m) WHERE m % 2 = 0;

-- The paths are of two segments: the first, and both.
INSERT INTO {}run_paths (tenant, run, project, path, captured_at)
    SELECT tenant, run, project, substr(segments, 1, length(segments) - 1), captured_at
    FROM {}runs WHERE replay = 0 AND segments IS NOT NULL;

INSERT INTO {}run_paths (tenant, run, project, path, captured_at)
    SELECT tenant, run, project, substr(path, 1, 31), captured_at FROM {}run_paths;

INSERT INTO {}runs (tenant, run, erased)
    SELECT 'acme', run, 1 FROM {}seed_runs WHERE state = 'erased';

-- Ten of each judged run, in the hours after it; one in twenty is dead.
INSERT INTO {}judgments (tenant, id, project, run, subject_kind, subject_id, version, item_key,
    pointer, item_rank, verdict, reason, class, restricted, author_kind, author_id, participant,
    created_at, unregistered_at, item_value, live_key)
    SELECT 'acme', 'judgment-' || (10000000 + i.m), r.project, r.run, r.kind, r.subject, r.version,
        'item-' || (i.m % 10), '/matches/' || (i.m % 10), i.m % 10,
        CASE WHEN i.e < 7500 THEN 'yes' ELSE 'no' END,
        CASE WHEN i.d % 5 = 0 THEN 'The vessel was not at anchor but at the berth.' END,
        CASE WHEN i.a < 1500 THEN NULL WHEN i.a < 4500 THEN 'class.c0' WHEN i.a < 6500 THEN 'class.c1'
            ELSE 'class.c' || (2 + i.a % 28) END,
        0, 'user', 'user-' || (i.c % 50),
        CASE WHEN i.b < 5000 THEN NULL WHEN i.b < 6500 THEN 'person.p0'
            ELSE 'person.p' || (1 + i.b % 500) END,
        r.at + (i.m % 10) * 600000 + i.c * 30,
        CASE WHEN i.d < 500 THEN r.at + 86400000 END,
        '{"caseId":"' || r.run || '"}',
        CASE WHEN i.d < 500 THEN NULL ELSE {pad:i.m} END
    FROM {}seed_dice i JOIN {}seed_runs r ON r.m = i.m / 10 * 2;

INSERT INTO {}classes (tenant, id, revision, scope_kind, project, agent, name, weight, created_at,
    updated_at, unregistered_at, live_name)
    SELECT 'acme', 'class.c' || m, 1,
        CASE WHEN m < 10 OR a < 1000 THEN 'tenant' WHEN a < 8000 THEN 'project' ELSE 'agent' END,
        CASE WHEN m < 10 OR a < 1000 THEN NULL WHEN a < 8000 THEN 'project-' || (b % 20)
            ELSE 'project-3' END,
        CASE WHEN m < 10 OR a < 8000 THEN NULL ELSE 'agent.a' || (c % 4) END,
        'Class ' || m, '1', 1600000000000 + m * 1000, 1600000000000 + m * 1000,
        CASE WHEN m >= 30 AND d < 500 THEN 1700000000000 END,
        CASE WHEN m >= 30 AND d < 500 THEN NULL ELSE {pad:m} END
    FROM {}seed_dice WHERE m < {classes};

-- Each project has the same number of rules, in one version. Rule i wants class i, or any judgment.
CREATE TABLE {}seed_rules AS
    SELECT p.n AS p, i.n AS i, 'rule-' || p.n || '-' || i.n AS rule, 'project-' || p.n AS project,
        CASE WHEN i.n % 5 = 1 THEN NULL ELSE 'class.c' || (i.n % 30) END AS class
    FROM {series:20} p CROSS JOIN {series:{rules}} i;

CREATE UNIQUE INDEX {}seed_rules_i ON {}seed_rules (project, i);

INSERT INTO {}rules (tenant, id, project, latest_version, first_created_at)
    SELECT 'acme', rule, project, 1, 1500000000000 + i * 1000 FROM {}seed_rules;

INSERT INTO {}rule_versions (tenant, rule, version, name, matching, sample, class, enabled,
    created_at, project)
    SELECT 'acme', rule, 1, 'Rule ' || i, '{ }', '1', class, 1, 1500000000000 + i * 1000, project
    FROM {}seed_rules;

INSERT INTO {}project_rules (tenant, project, revision)
    SELECT 'acme', 'project-' || n, {rules} FROM {series:20} s;

INSERT INTO {}tellings (tenant, run, rule, project, version, skipped, wants, told_at, age,
    agent_version)
    SELECT 'acme', t.run, u.rule, t.project, 1, 0, u.class, t.at, t.at,
        CASE WHEN t.kind = 'agent' AND t.state <> 'erased' THEN t.version END
    FROM {}seed_runs t JOIN {}seed_rules u ON u.project = t.project AND u.i = t.taker;

INSERT INTO {}tellings (tenant, run, rule, project, version, skipped, wants, told_at, age,
    agent_version)
    SELECT 'acme', t.run, u.rule, t.project, 1, t.next_skipped,
        CASE WHEN t.next_skipped = 0 THEN u.class END, t.at, t.at,
        CASE WHEN t.kind = 'agent' AND t.state <> 'erased' THEN t.version END
    FROM {}seed_runs t JOIN {}seed_rules u ON u.project = t.project
        AND u.i = (t.taker + 1) % {rules}
    WHERE t.next_skipped IS NOT NULL;

INSERT INTO {}queue_items (tenant, run, project, agent, agent_version, flow, completed_at, added_at,
    taken_by, wants_any, progress, state, closed_at, closed_by)
    SELECT 'acme', t.run, t.project,
        CASE WHEN t.kind = 'agent' AND t.state <> 'erased' THEN t.subject END,
        CASE WHEN t.kind = 'agent' AND t.state <> 'erased' THEN t.version END,
        t.flow, t.at, t.at,
        '["' || u.rule || '",{"int":"1"},' || COALESCE('"' || u.class || '"', 'null')
            || COALESCE(',"' || v.rule || '",{"int":"1"},' || COALESCE('"' || v.class || '"', 'null'),
                '') || ']',
        CASE WHEN u.class IS NULL OR (v.rule IS NOT NULL AND v.class IS NULL) THEN 1 ELSE 0 END,
        '[' || COALESCE('"' || u.class || '"', 'null')
            || CASE WHEN t.state = 'judged' THEN ',{"int":"1"}]' ELSE ',{"int":"0"}]' END,
        t.state,
        CASE WHEN t.state <> 'open' THEN t.at + 3600000 + t.m % 1000 * 60000 END,
        CASE WHEN t.state = 'dismissed' THEN 'user:ada' END
    FROM {}seed_runs t JOIN {}seed_rules u ON u.project = t.project AND u.i = t.taker
        LEFT JOIN {}seed_rules v ON v.project = t.project AND v.i = (t.taker + 1) % {rules}
            AND t.next_skipped = 0;

INSERT INTO {}queue_counts (tenant, project, kind, of_id, state, items)
    SELECT tenant, project, kind, of_id, state, COUNT(*) FROM (
        SELECT tenant, project, '' AS kind, '' AS of_id, state FROM {}queue_items
        UNION ALL SELECT tenant, project, 'agent', agent, state FROM {}queue_items
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

UPDATE {}rules SET open_items = (
    SELECT COUNT(*) FROM {}tellings t
        JOIN {}queue_items q ON q.tenant = t.tenant AND q.run = t.run AND q.state = 'open'
    WHERE t.tenant = {}rules.tenant AND t.project = {}rules.project AND t.rule = {}rules.id
        AND t.skipped = 0
);

DROP TABLE {}seed_rules;

DROP TABLE {}seed_runs;

DROP TABLE {}seed_dice;
