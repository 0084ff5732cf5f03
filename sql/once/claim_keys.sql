-- Claims keys: the rows returned are ours to decide, in the order in which they were given. A key
-- that is not returned has a row already. Waits for another transaction's uncommitted claim, at
-- most lock_timeout (55P03).
-- $1 uuid[] tenant, $2 text[] key, $3 bytea[] fingerprint, $4 int fingerprint version, $5 bigint
-- retention in seconds.
-- Returns tenant, key, created_at in microseconds since 1970. READ COMMITTED. Arrays sorted by
-- (tenant, key) "C".
INSERT INTO idempotency_keys AS k
    (tenant_id, key, fingerprint, fingerprint_version, status, created_at, expires_at)
SELECT u.tenant_id, u.key, u.fingerprint, $4::int, 'processing', now(),
       now() + make_interval(secs => $5::bigint)
FROM unnest($1::uuid[], $2::text[], $3::bytea[]) AS u (tenant_id, key, fingerprint)
ORDER BY u.tenant_id, u.key COLLATE "C"
ON CONFLICT DO NOTHING
RETURNING k.tenant_id, k.key, (extract(epoch FROM k.created_at) * 1000000)::bigint
