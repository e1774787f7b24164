-- Idempotency keys: held by a request, or answered.
CREATE TABLE {}idempotency_keys (
    -- A hash over the tenant, the caller, the method, the path and the key.
    id TEXT COLLATE "C" NOT NULL,
    tenant TEXT COLLATE "C" NOT NULL,
    -- The hash of the request's body.
    body TEXT COLLATE "C" NOT NULL,
    -- Who holds the key. NULL once it is answered.
    token TEXT COLLATE "C",
    -- From then on the row counts no more.
    ends_at BIGINT NOT NULL,
    answered_at BIGINT,
    status BIGINT,
    -- NULL if the answer is withheld.
    headers TEXT COLLATE "C",
    answer TEXT COLLATE "C",
    CHECK ((token IS NULL) = (answered_at IS NOT NULL)),
    CHECK ((token IS NULL) = (status IS NOT NULL)),
    CHECK ((headers IS NULL) = (answer IS NULL))
);

CREATE UNIQUE INDEX {}idempotency_keys_id ON {}idempotency_keys (id);

-- For dropping those that have ended.
CREATE INDEX {}idempotency_keys_ended ON {}idempotency_keys (ends_at, id);

-- The requests of a tenant that are in flight.
CREATE INDEX {}idempotency_keys_held ON {}idempotency_keys (tenant, ends_at, id)
    WHERE token IS NOT NULL;

-- What kept answers are about.
CREATE TABLE {}idempotency_about (
    id TEXT COLLATE "C" NOT NULL,
    tenant TEXT COLLATE "C" NOT NULL,
    kind TEXT COLLATE "C" NOT NULL,
    thing TEXT COLLATE "C" NOT NULL
);

CREATE UNIQUE INDEX {}idempotency_about_thing ON {}idempotency_about (tenant, kind, thing, id);

CREATE INDEX {}idempotency_about_id ON {}idempotency_about (id);

-- What was forgotten while a request held its key. They go when the key does.
CREATE TABLE {}idempotency_bars (
    id TEXT COLLATE "C" NOT NULL,
    kind TEXT COLLATE "C" NOT NULL,
    thing TEXT COLLATE "C" NOT NULL
);

CREATE UNIQUE INDEX {}idempotency_bars_id ON {}idempotency_bars (id, kind, thing);

-- For dropping operations of all tenants that have ended.
CREATE INDEX {}operations_all_ended ON {}operations (keep_until, tenant, id);
