-- Whose key this is. $1 bytea SHA-256 of the key. Returns tenant id, may read, may write; no row
-- when the key is unknown or revoked. Read on the primary: a revocation counts at once.
SELECT tenant_id, 'read' = ANY (scopes), 'write' = ANY (scopes)
FROM api_keys
WHERE digest = $1 AND revoked_at IS NULL
