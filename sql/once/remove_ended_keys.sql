-- Removes those of the given keys whose life or whose lease is over, so that they can be claimed
-- again in this transaction. Rows are locked in the order of their key first, and looked at again
-- once they are locked.
-- $1 uuid[] tenant, $2 text[] key. Returns nothing; rows affected. READ COMMITTED.
WITH ended AS (
    SELECT k.tenant_id, k.key
    FROM idempotency_keys AS k
    WHERE (k.tenant_id, k.key) IN (SELECT * FROM unnest($1::uuid[], $2::text[]))
      AND (k.lease_expires_at IS NULL OR k.lease_expires_at <= clock_timestamp())
      AND (k.expires_at <= clock_timestamp()
           OR (k.status = 'processing' AND k.lease_expires_at IS NOT NULL))
    ORDER BY k.tenant_id, k.key
    FOR UPDATE)
DELETE FROM idempotency_keys AS k
USING ended
WHERE k.tenant_id = ended.tenant_id AND k.key = ended.key
