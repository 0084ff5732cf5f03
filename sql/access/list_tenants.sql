-- All tenants by name. No parameters. Returns id, name, created_at (RFC 3339, UTC).
SELECT id, name, to_char(created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')
FROM tenants
ORDER BY name
