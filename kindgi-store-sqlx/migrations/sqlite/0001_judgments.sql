-- Times are milliseconds since the Unix epoch; ids and documents are text, compared bytewise.

CREATE TABLE {}judgments (
    tenant TEXT NOT NULL,
    id TEXT NOT NULL,
    project TEXT NOT NULL,
    run TEXT NOT NULL,
    subject_kind TEXT NOT NULL,
    subject_id TEXT NOT NULL,
    version TEXT NOT NULL,
    item_key TEXT NOT NULL,
    pointer TEXT,
    item_rank INTEGER,
    verdict TEXT NOT NULL,
    reason TEXT,
    correction TEXT,
    class TEXT,
    restricted INTEGER NOT NULL,
    author_kind TEXT NOT NULL,
    author_id TEXT NOT NULL,
    participant TEXT,
    created_at INTEGER NOT NULL,
    unregistered_at INTEGER,
    superseded_by TEXT,
    item_value TEXT,
    -- A hash of tenant, run, item key, author and participant (or none) while the judgment lives,
    -- else NULL: at most one is live.
    live_key TEXT,
    CHECK ((live_key IS NULL) = (unregistered_at IS NOT NULL))
);

CREATE UNIQUE INDEX {}judgments_id ON {}judgments (tenant, id);

CREATE UNIQUE INDEX {}judgments_live_key ON {}judgments (live_key) WHERE live_key IS NOT NULL;

-- One for each filter of the list: what it is equal to, then the list's order.
CREATE INDEX {}judgments_list ON {}judgments (tenant, created_at, id)
    WHERE unregistered_at IS NULL;

CREATE INDEX {}judgments_project ON {}judgments (tenant, project, created_at, id)
    WHERE unregistered_at IS NULL;

CREATE INDEX {}judgments_run ON {}judgments (tenant, run, created_at, id)
    WHERE unregistered_at IS NULL;

CREATE INDEX {}judgments_subject ON {}judgments (tenant, subject_id, subject_kind, created_at, id)
    WHERE unregistered_at IS NULL;

CREATE INDEX {}judgments_version ON {}judgments
    (tenant, subject_id, subject_kind, version, created_at, id)
    WHERE unregistered_at IS NULL;

CREATE INDEX {}judgments_verdict ON {}judgments (tenant, verdict, created_at, id)
    WHERE unregistered_at IS NULL;

CREATE INDEX {}judgments_class ON {}judgments (tenant, class, created_at, id)
    WHERE unregistered_at IS NULL;

CREATE INDEX {}judgments_participant ON {}judgments (tenant, participant, created_at, id)
    WHERE unregistered_at IS NULL;

-- For erasing a run, whose dead judgments count, too.
CREATE INDEX {}judgments_of_run ON {}judgments (tenant, run);

-- A run's copy, or what is left of it: an erased run has a row even if it was never judged, and
-- then no copy.
CREATE TABLE {}runs (
    tenant TEXT NOT NULL,
    run TEXT NOT NULL,
    erased INTEGER NOT NULL,
    subject_kind TEXT,
    subject_id TEXT,
    version TEXT,
    input TEXT,
    output TEXT,
    context TEXT,
    segments TEXT,
    captured_at INTEGER
);

CREATE UNIQUE INDEX {}runs_run ON {}runs (tenant, run);

CREATE TABLE {}classes (
    tenant TEXT NOT NULL,
    id TEXT NOT NULL,
    revision INTEGER NOT NULL,
    scope_kind TEXT NOT NULL,
    project TEXT,
    agent TEXT,
    name TEXT NOT NULL,
    weight TEXT NOT NULL,
    description TEXT,
    assertable_by TEXT,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    unregistered_at INTEGER,
    -- A hash of tenant, scope and name while the class lives, else NULL: the name is unique.
    live_name TEXT,
    CHECK ((live_name IS NULL) = (unregistered_at IS NOT NULL))
);

CREATE UNIQUE INDEX {}classes_id ON {}classes (tenant, id);

CREATE UNIQUE INDEX {}classes_live_name ON {}classes (live_name) WHERE live_name IS NOT NULL;

CREATE INDEX {}classes_list ON {}classes (tenant, created_at, id)
    WHERE unregistered_at IS NULL;

CREATE INDEX {}classes_scope ON {}classes (tenant, scope_kind, project, agent, created_at, id)
    WHERE unregistered_at IS NULL;

-- Operations that took effect, with their outcomes.
CREATE TABLE {}operations (
    tenant TEXT NOT NULL,
    id TEXT NOT NULL,
    body TEXT NOT NULL,
    kind TEXT NOT NULL,
    outcome TEXT NOT NULL,
    run TEXT,
    keep_until INTEGER NOT NULL
);

CREATE UNIQUE INDEX {}operations_id ON {}operations (tenant, id);

CREATE INDEX {}operations_run ON {}operations (tenant, run) WHERE run IS NOT NULL;
