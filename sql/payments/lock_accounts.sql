-- Locks the accounts of a batch in the order of their primary key and returns them as they are once
-- locked.
-- $1 uuid[] tenant, $2 text[] id, distinct. Returns tenant, id, currency, balance, overdraft limit
-- (NULL = no floor), in that order; unknown accounts have no row. READ COMMITTED: a row that
-- changed while we waited is read again.
SELECT a.tenant_id, a.id, a.currency, a.balance, a.overdraft_limit
FROM accounts AS a
WHERE (a.tenant_id, a.id) IN (SELECT * FROM unnest($1::uuid[], $2::text[]))
ORDER BY a.tenant_id, a.id
FOR NO KEY UPDATE
