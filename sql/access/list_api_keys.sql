-- All API keys, those of a tenant together. No parameters. Returns id, tenant name, may read, may
-- write, created_at, revoked_at (both RFC 3339, UTC; NULL = not revoked).
SELECT k.id, t.name, 'read' = ANY (k.scopes), 'write' = ANY (k.scopes),
       to_char(k.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
       to_char(k.revoked_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')
FROM api_keys AS k
JOIN tenants AS t ON t.id = k.tenant_id
ORDER BY t.name, k.id
