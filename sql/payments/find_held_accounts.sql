-- Finds those of the given accounts whose rows another transaction holds now, without waiting. It
-- locks the others on the way, so it runs under a savepoint that is rolled back.
-- $1 uuid[] tenant, $2 text[] id, distinct. Returns tenant and id of each held account; unknown
-- accounts have no row. READ COMMITTED.
WITH free AS (
    SELECT a.tenant_id, a.id
    FROM accounts AS a
    WHERE (a.tenant_id, a.id) IN (SELECT * FROM unnest($1::uuid[], $2::text[]))
    FOR NO KEY UPDATE SKIP LOCKED
)
SELECT a.tenant_id, a.id
FROM accounts AS a
WHERE (a.tenant_id, a.id) IN (SELECT * FROM unnest($1::uuid[], $2::text[]))
EXCEPT
SELECT free.tenant_id, free.id FROM free
