-- A judging rule, live or stopped: what all its versions share.
CREATE TABLE {}rules (
    tenant TEXT COLLATE "C" NOT NULL,
    id TEXT COLLATE "C" NOT NULL,
    project TEXT COLLATE "C" NOT NULL,
    latest_version BIGINT NOT NULL,
    -- Version 1's, which the list is ordered by.
    first_created_at BIGINT NOT NULL,
    unregistered_at BIGINT
);

CREATE UNIQUE INDEX {}rules_id ON {}rules (tenant, id);

CREATE INDEX {}rules_list ON {}rules (tenant, project, first_created_at, id)
    WHERE unregistered_at IS NULL;

CREATE TABLE {}rule_versions (
    tenant TEXT COLLATE "C" NOT NULL,
    rule TEXT COLLATE "C" NOT NULL,
    version BIGINT NOT NULL,
    name TEXT COLLATE "C" NOT NULL,
    matching TEXT COLLATE "C" NOT NULL,
    sample TEXT COLLATE "C" NOT NULL,
    max_open BIGINT,
    class TEXT COLLATE "C",
    enabled BIGINT NOT NULL,
    created_by TEXT COLLATE "C",
    created_at BIGINT NOT NULL
);

-- No version twice, and a rule's versions in order.
CREATE UNIQUE INDEX {}rule_versions_version ON {}rule_versions (tenant, rule, version);
