-- Makes a tenant. $1 uuid id, $2 text name. Returns id, name, created_at (RFC 3339, UTC), or no row
-- when the name is taken. The unique name decides, so two calls at once cannot both win.
INSERT INTO tenants (id, name)
VALUES ($1, $2)
ON CONFLICT (name) DO NOTHING
RETURNING id, name, to_char(created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')
