-- The keys: one row claims an operation for a tenant, and later holds the answer to it.
-- The primary key is the arbiter of INSERT … ON CONFLICT DO NOTHING.

CREATE TABLE idempotency_keys (
    tenant_id           uuid        NOT NULL,
    key                 text        NOT NULL COLLATE "C",
    fingerprint         bytea       NOT NULL,
    fingerprint_version smallint    NOT NULL,
    status              text        NOT NULL DEFAULT 'processing',
    resource_id         text,
    answer_status       smallint,
    answer_content_type text,
    answer_location     text,
    answer_body         bytea,
    lease_owner         text,
    lease_expires_at    timestamptz,
    created_at          timestamptz NOT NULL,
    completed_at        timestamptz,
    expires_at          timestamptz NOT NULL,
    CONSTRAINT idempotency_keys_pkey PRIMARY KEY (tenant_id, key),
    CONSTRAINT idempotency_keys_key_length CHECK (octet_length(key) BETWEEN 1 AND 255),
    CONSTRAINT idempotency_keys_fingerprint_length CHECK (octet_length(fingerprint) = 32),
    CONSTRAINT idempotency_keys_status_known CHECK (status IN ('processing', 'completed')),
    CONSTRAINT idempotency_keys_answer_when_completed CHECK (
        (status = 'completed') = (answer_status IS NOT NULL AND answer_content_type IS NOT NULL
                                  AND answer_body IS NOT NULL AND completed_at IS NOT NULL)),
    CONSTRAINT idempotency_keys_lifetime CHECK (expires_at > created_at)
) WITH (fillfactor = 70,
        autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_insert_scale_factor = 0.05,
        autovacuum_analyze_scale_factor = 0.05, autovacuum_vacuum_cost_delay = 1);
-- Freshness is checked in the query: an index predicate cannot hold now().
CREATE INDEX idempotency_keys_expiry ON idempotency_keys (expires_at);
COMMENT ON TABLE idempotency_keys IS
    'Claims and stored answers; expires_at by the database''s clock decides when a key is absent';
COMMENT ON COLUMN idempotency_keys.answer_body IS 'The body''s bytes as they were first sent';
COMMENT ON COLUMN idempotency_keys.resource_id IS
    'What the operation made: a payment''s id, or accounts/ and an account''s id';
