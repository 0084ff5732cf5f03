-- Who may call: tenants and their API keys.

CREATE TABLE tenants (
    id         uuid        NOT NULL,
    name       text        NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT tenants_pkey PRIMARY KEY (id),
    CONSTRAINT tenants_name_unique UNIQUE (name),
    CONSTRAINT tenants_name_length CHECK (char_length(name) BETWEEN 1 AND 100)
);
COMMENT ON TABLE tenants IS 'One caller with accounts, payments and idempotency keys of its own';

CREATE TABLE api_keys (
    tenant_id  uuid        NOT NULL,
    id         uuid        NOT NULL,
    digest     bytea       NOT NULL,
    scopes     text[]      NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    revoked_at timestamptz,
    CONSTRAINT api_keys_pkey PRIMARY KEY (tenant_id, id),
    CONSTRAINT api_keys_tenant FOREIGN KEY (tenant_id) REFERENCES tenants (id),
    CONSTRAINT api_keys_digest_length CHECK (octet_length(digest) = 32),
    CONSTRAINT api_keys_scopes_known
        CHECK (scopes <@ ARRAY['read', 'write'] AND cardinality(scopes) > 0)
);
CREATE INDEX api_keys_digest ON api_keys (digest);
COMMENT ON TABLE api_keys IS
    'API keys as SHA-256 digests; the key itself is shown once and not stored';
