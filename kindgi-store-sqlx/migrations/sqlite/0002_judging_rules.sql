-- A judging rule, live or stopped: what all its versions share.
CREATE TABLE {}rules (
    tenant TEXT NOT NULL,
    id TEXT NOT NULL,
    project TEXT NOT NULL,
    latest_version INTEGER NOT NULL,
    -- Version 1's, which the list is ordered by.
    first_created_at INTEGER NOT NULL,
    unregistered_at INTEGER
);

CREATE UNIQUE INDEX {}rules_id ON {}rules (tenant, id);

CREATE INDEX {}rules_list ON {}rules (tenant, project, first_created_at, id)
    WHERE unregistered_at IS NULL;

CREATE TABLE {}rule_versions (
    tenant TEXT NOT NULL,
    rule TEXT NOT NULL,
    version INTEGER NOT NULL,
    name TEXT NOT NULL,
    matching TEXT NOT NULL,
    sample TEXT NOT NULL,
    max_open INTEGER,
    class TEXT,
    enabled INTEGER NOT NULL,
    created_by TEXT,
    created_at INTEGER NOT NULL
);

-- No version twice, and a rule's versions in order.
CREATE UNIQUE INDEX {}rule_versions_version ON {}rule_versions (tenant, rule, version);
