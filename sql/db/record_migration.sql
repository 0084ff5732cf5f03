-- Notes a migration in the transaction that applied it. Returns nothing.
-- $1 integer version, $2 text name, $3 text checksum (SHA-256 in hex). The primary key refuses a
-- second row for a version, should the migration lock ever fail.
INSERT INTO schema_migrations (version, name, checksum)
VALUES ($1, $2, $3)
