-- A page of the payments that were made with one idempotency key, newest first, older than $2 if
-- that is given: more than one where the key came again after its expiry.
-- $1 uuid tenant, $2 uuid before id or NULL, $3 text status or NULL, $4 text account or NULL, $5
-- bigint rows at most,
-- $6 text idempotency key. Returns the columns of a payment.
SELECT p.id, p.status, p.decline_reason, p.amount, p.currency, p.source, p.destination,
       p.description, p.metadata, (extract(epoch FROM p.created_at) * 1000000)::bigint
FROM payments AS p
WHERE p.tenant_id = $1::uuid AND p.idempotency_key = $6::text
  AND p.id < coalesce($2::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff')
  AND ($3::text IS NULL OR p.status = $3)
  AND ($4::text IS NULL OR p.source = $4 OR p.destination = $4)
ORDER BY p.id DESC
LIMIT $5::bigint
