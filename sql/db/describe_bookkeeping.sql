-- Says in the catalogue what the list of applied migrations is for. Returns nothing. No parameters.
-- Run in the transaction that created it.
COMMENT ON TABLE schema_migrations IS
    'The migrations that were applied and the SHA-256 of their text; written by oncepay migrate up'
