-- A project that counts its items in one state counts them in all: what moves an item finds both.
INSERT INTO {}queue_counts (tenant, project, state, items)
    SELECT DISTINCT tenant, project, 'open', 0 FROM {}queue_counts
    WHERE true
    ON CONFLICT (tenant, project, state) DO NOTHING;

INSERT INTO {}queue_counts (tenant, project, state, items)
    SELECT DISTINCT tenant, project, 'judged', 0 FROM {}queue_counts
    WHERE true
    ON CONFLICT (tenant, project, state) DO NOTHING;

INSERT INTO {}queue_counts (tenant, project, state, items)
    SELECT DISTINCT tenant, project, 'dismissed', 0 FROM {}queue_counts
    WHERE true
    ON CONFLICT (tenant, project, state) DO NOTHING;

INSERT INTO {}queue_counts (tenant, project, state, items)
    SELECT DISTINCT tenant, project, 'erased', 0 FROM {}queue_counts
    WHERE true
    ON CONFLICT (tenant, project, state) DO NOTHING;
