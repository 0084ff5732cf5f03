-- One account. $1 uuid tenant, $2 text id. Returns id, currency, balance, overdraft limit (NULL =
-- no floor), created in microseconds since 1970, or no row.
SELECT a.id, a.currency, a.balance, a.overdraft_limit,
       (extract(epoch FROM a.created_at) * 1000000)::bigint
FROM accounts AS a
WHERE a.tenant_id = $1::uuid AND a.id = $2::text
