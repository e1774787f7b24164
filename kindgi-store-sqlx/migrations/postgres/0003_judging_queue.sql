-- How many items of the queue that the rule took are open.
ALTER TABLE {}rules ADD COLUMN open_items BIGINT NOT NULL DEFAULT 0;

-- The rule's.
ALTER TABLE {}rule_versions ADD COLUMN project TEXT COLLATE "C" NOT NULL DEFAULT '';

-- Which classes the rules of a project want, and whether any rule names a class.
CREATE INDEX {}rule_versions_class ON {}rule_versions (tenant, class, project)
    WHERE class IS NOT NULL;

-- The rules of a project, together: the revision moves with each change of one of them.
CREATE TABLE {}project_rules (
    tenant TEXT COLLATE "C" NOT NULL,
    project TEXT COLLATE "C" NOT NULL,
    revision BIGINT NOT NULL
);

CREATE UNIQUE INDEX {}project_rules_project ON {}project_rules (tenant, project);

-- The runs that rules took, each once.
CREATE TABLE {}queue_items (
    tenant TEXT COLLATE "C" NOT NULL,
    run TEXT COLLATE "C" NOT NULL,
    project TEXT COLLATE "C" NOT NULL,
    agent TEXT COLLATE "C",
    agent_version TEXT COLLATE "C",
    flow TEXT COLLATE "C" NOT NULL,
    completed_at BIGINT NOT NULL,
    added_at BIGINT NOT NULL,
    taken_by TEXT COLLATE "C" NOT NULL,
    -- Whether one of those that took it wants any judgment.
    wants_any BIGINT NOT NULL,
    progress TEXT COLLATE "C" NOT NULL,
    state TEXT COLLATE "C" NOT NULL,
    closed_at BIGINT,
    closed_by TEXT COLLATE "C",
    reason TEXT COLLATE "C",
    CHECK ((closed_at IS NULL) = (state = 'open'))
);

CREATE UNIQUE INDEX {}queue_items_run ON {}queue_items (tenant, run);

CREATE INDEX {}queue_items_list ON {}queue_items (tenant, project, added_at, run);

CREATE INDEX {}queue_items_state ON {}queue_items (tenant, project, state, added_at, run);

CREATE INDEX {}queue_items_agent ON {}queue_items (tenant, project, agent, added_at, run)
    WHERE agent IS NOT NULL;

CREATE INDEX {}queue_items_closed ON {}queue_items (tenant, project, closed_at, state)
    WHERE closed_at IS NOT NULL;

-- How many items of a project are in a state.
CREATE TABLE {}queue_counts (
    tenant TEXT COLLATE "C" NOT NULL,
    project TEXT COLLATE "C" NOT NULL,
    state TEXT COLLATE "C" NOT NULL,
    items BIGINT NOT NULL,
    CHECK (items >= 0)
);

CREATE UNIQUE INDEX {}queue_counts_state ON {}queue_counts (tenant, project, state);

-- What each rule that a run was told to did: it took it or skipped it.
CREATE TABLE {}tellings (
    tenant TEXT COLLATE "C" NOT NULL,
    run TEXT COLLATE "C" NOT NULL,
    rule TEXT COLLATE "C" NOT NULL,
    project TEXT COLLATE "C" NOT NULL,
    version BIGINT NOT NULL,
    skipped BIGINT NOT NULL,
    -- The class that the run's item wants because of this rule. NULL if it wants any judgment, if
    -- it skipped the run, and if another row of the run says it.
    wants TEXT COLLATE "C",
    told_at BIGINT NOT NULL,
    -- The later of when the run was told and when it ended.
    age BIGINT NOT NULL,
    -- NULL for flows, and once the run is erased.
    agent_version TEXT COLLATE "C"
);

CREATE UNIQUE INDEX {}tellings_run ON {}tellings (tenant, run, rule);

CREATE INDEX {}tellings_rule ON {}tellings (tenant, project, rule, skipped, told_at, run);

CREATE INDEX {}tellings_wants ON {}tellings (tenant, project, wants, told_at, run)
    WHERE wants IS NOT NULL;

CREATE INDEX {}tellings_age ON {}tellings (tenant, age, run);

-- Runs that ended before this are told no more.
CREATE TABLE {}purges (
    tenant TEXT COLLATE "C" NOT NULL,
    purged_before BIGINT NOT NULL
);

CREATE UNIQUE INDEX {}purges_tenant ON {}purges (tenant);

-- The project that the run belonged to when its copy was taken.
ALTER TABLE {}runs ADD COLUMN project TEXT COLLATE "C";

-- Whether the run is a comparison's replay.
ALTER TABLE {}runs ADD COLUMN replay BIGINT NOT NULL DEFAULT 0;

-- For the list of judged runs.
CREATE INDEX {}runs_list ON {}runs (tenant, captured_at, run)
    WHERE erased = 0 AND replay = 0;

CREATE INDEX {}runs_project ON {}runs (tenant, project, captured_at, run)
    WHERE erased = 0 AND replay = 0;

CREATE INDEX {}runs_subject ON {}runs (tenant, subject_id, subject_kind, captured_at, run)
    WHERE erased = 0 AND replay = 0;

-- All that is counted of a run's live judgments, so that their rows need not be read. The last
-- column is always NULL, and asked for.
CREATE INDEX {}judgments_counted ON {}judgments
    (tenant, run, class, verdict, created_at, unregistered_at)
    WHERE unregistered_at IS NULL;

-- For purging dead ones, oldest first; live ones have an index in this order.
CREATE INDEX {}judgments_dead ON {}judgments (tenant, created_at, id)
    WHERE unregistered_at IS NOT NULL;

CREATE INDEX {}classes_retired ON {}classes (tenant, unregistered_at, id)
    WHERE unregistered_at IS NOT NULL;

-- Whether a dead judgment names a class, and the dead ones of a participant.
CREATE INDEX {}judgments_dead_class ON {}judgments (tenant, class)
    WHERE class IS NOT NULL AND unregistered_at IS NOT NULL;

CREATE INDEX {}judgments_dead_participant ON {}judgments (tenant, participant)
    WHERE participant IS NOT NULL AND unregistered_at IS NOT NULL;

-- On whose behalf the judgment in the outcome was made.
ALTER TABLE {}operations ADD COLUMN participant TEXT COLLATE "C";

CREATE INDEX {}operations_participant ON {}operations (tenant, participant)
    WHERE participant IS NOT NULL;

-- For dropping those that have ended.
CREATE INDEX {}operations_ended ON {}operations (tenant, keep_until, id);
