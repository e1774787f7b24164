-- Times are milliseconds since the Unix epoch; ids and documents are text, compared bytewise (collation "C").

CREATE TABLE {}judgments (
    tenant TEXT COLLATE "C" NOT NULL,
    id TEXT COLLATE "C" NOT NULL,
    project TEXT COLLATE "C" NOT NULL,
    run TEXT COLLATE "C" NOT NULL,
    subject_kind TEXT COLLATE "C" NOT NULL,
    subject_id TEXT COLLATE "C" NOT NULL,
    version TEXT COLLATE "C" NOT NULL,
    item_key TEXT COLLATE "C" NOT NULL,
    pointer TEXT COLLATE "C",
    item_rank BIGINT,
    verdict TEXT COLLATE "C" NOT NULL,
    reason TEXT COLLATE "C",
    correction TEXT COLLATE "C",
    class TEXT COLLATE "C",
    restricted BIGINT NOT NULL,
    author_kind TEXT COLLATE "C" NOT NULL,
    author_id TEXT COLLATE "C" NOT NULL,
    participant TEXT COLLATE "C",
    created_at BIGINT NOT NULL,
    unregistered_at BIGINT,
    superseded_by TEXT COLLATE "C",
    item_value TEXT COLLATE "C",
    -- A hash of tenant, run, item key, author and participant (or none) while the judgment lives,
    -- else NULL: at most one is live.
    live_key TEXT COLLATE "C",
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
    tenant TEXT COLLATE "C" NOT NULL,
    run TEXT COLLATE "C" NOT NULL,
    erased BIGINT NOT NULL,
    subject_kind TEXT COLLATE "C",
    subject_id TEXT COLLATE "C",
    version TEXT COLLATE "C",
    input TEXT COLLATE "C",
    output TEXT COLLATE "C",
    context TEXT COLLATE "C",
    segments TEXT COLLATE "C",
    captured_at BIGINT
);

CREATE UNIQUE INDEX {}runs_run ON {}runs (tenant, run);

CREATE TABLE {}classes (
    tenant TEXT COLLATE "C" NOT NULL,
    id TEXT COLLATE "C" NOT NULL,
    revision BIGINT NOT NULL,
    scope_kind TEXT COLLATE "C" NOT NULL,
    project TEXT COLLATE "C",
    agent TEXT COLLATE "C",
    name TEXT COLLATE "C" NOT NULL,
    weight TEXT COLLATE "C" NOT NULL,
    description TEXT COLLATE "C",
    assertable_by TEXT COLLATE "C",
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    unregistered_at BIGINT,
    -- A hash of tenant, scope and name while the class lives, else NULL: the name is unique.
    live_name TEXT COLLATE "C",
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
    tenant TEXT COLLATE "C" NOT NULL,
    id TEXT COLLATE "C" NOT NULL,
    body TEXT COLLATE "C" NOT NULL,
    kind TEXT COLLATE "C" NOT NULL,
    outcome TEXT COLLATE "C" NOT NULL,
    run TEXT COLLATE "C",
    keep_until BIGINT NOT NULL
);

CREATE UNIQUE INDEX {}operations_id ON {}operations (tenant, id);

CREATE INDEX {}operations_run ON {}operations (tenant, run) WHERE run IS NOT NULL;
