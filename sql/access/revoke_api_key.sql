-- Ends an API key; one that was revoked before keeps its time. $1 uuid id. Returns the id, or no
-- row when there is no such key.
UPDATE api_keys
SET revoked_at = coalesce(revoked_at, now())
WHERE id = $1
RETURNING id
