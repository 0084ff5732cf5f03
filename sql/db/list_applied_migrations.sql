-- What was applied, in order. Returns version, name, checksum, applied_at (RFC 3339, UTC).
-- No parameters. The bookkeeping table exists.
SELECT version, name, checksum,
       to_char(applied_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')
FROM schema_migrations
ORDER BY version
