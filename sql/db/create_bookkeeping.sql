-- The list of applied migrations. Returns nothing. No parameters.
-- Run only while the migration lock is held and find_bookkeeping said no: two CREATE TABLE at once
-- would fail in the catalogue even with IF NOT EXISTS.
CREATE TABLE schema_migrations (
    version    integer     NOT NULL,
    name       text        NOT NULL,
    checksum   text        NOT NULL,
    applied_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    CONSTRAINT schema_migrations_pkey PRIMARY KEY (version)
)
