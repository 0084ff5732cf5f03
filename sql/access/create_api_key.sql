-- Makes an API key of the tenant with that name. Returns its id, or no row when there is no such
-- tenant. $1 uuid id, $2 bytea SHA-256 of the key, $3 text[] scopes, $4 text tenant name.
-- Tenants are never removed, so the row that is read here cannot vanish before the insert.
INSERT INTO api_keys (tenant_id, id, digest, scopes)
SELECT t.id, $1::uuid, $2::bytea, $3::text[]
FROM tenants AS t
WHERE t.name = $4
RETURNING id
